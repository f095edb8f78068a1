package detect

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// Guard watches the fields of one training loop. Bind, Check, CheckSame, Note
// and Fact are for the goroutine of the loop; Poll, Wait, Dump, Plan and Close
// may be called from any.
type Guard struct {
	cfg Config

	mu       sync.Mutex // all below but verdict
	fields   []*field   // by FieldID
	byName   map[string]FieldID
	allotted bool // every field that may have one has a ring
	tick     int64
	counts   [len(clocks)]int64
	events   eventLog
	facts    map[string]any

	bad     []*field // scratch of Check: fields with a bad value
	badRows []int    // scratch of Check: rows of one of them
	badEnvs badEnvs  // that went bad since the guard was armed

	phase   phase
	broken  error // what put an end to all checks
	trip    *tripped
	dumps   int           // written so far
	path    string        // of the latest
	writing chan struct{} // closed when the dump under way is written; nil when none is
	verdict atomic.Pointer[Verdict]
}

// New returns a guard with nothing bound.
func New(cfg Config) (*Guard, error) {
	def := DefaultConfig()
	setDefault(&cfg.Dir, def.Dir)
	setDefault(&cfg.RingBytes, def.RingBytes)
	setDefault(&cfg.MaxFrames, def.MaxFrames)
	setDefault(&cfg.TraceLen, def.TraceLen)
	setDefault(&cfg.MaxEnvs, def.MaxEnvs)
	setDefault(&cfg.MaxDumps, def.MaxDumps)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NumEnvs <= 0 {
		return nil, misuse("new", "", "NumEnvs %d, want at least 1", cfg.NumEnvs)
	}
	for _, v := range []int{int(cfg.RingBytes), cfg.MaxFrames, cfg.TraceLen, cfg.PostFrames, cfg.MaxEnvs, cfg.ControlEnvs, cfg.MaxDumps} {
		if v < 0 {
			return nil, misuse("new", "", "negative number in %+v", cfg)
		}
	}
	return &Guard{
		cfg: cfg, byName: map[string]FieldID{}, facts: map[string]any{},
		badEnvs: newBadEnvs(cfg.NumEnvs),
	}, nil
}

// setDefault gives *v a value when it is zero.
func setDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// Bind adds a field under a name of the dump format ("qvel", "reward.upright",
// "policy.std"). The ref gives dtype and shape; a ref with an address is also
// what Check reads when it is called without one.
//
// The first Check takes the memory. A field that is bound later gets its share
// at the next Check, from the oldest frames of the others where there is none
// left; Bind refuses it when not even that would do, and waits for a dump under
// way. Between a trip and the end of its dump no frame is given up: a field
// bound then is recorded once the guard is armed again.
func (g *Guard) Bind(name string, ref tensor.Ref, o FieldOptions) (FieldID, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.awaitDump()
	if g.phase == closed {
		return -1, &MisuseError{Call: "bind", Field: name, Err: ErrClosed}
	}
	f, err := newField(name, ref, o, g.cfg.NumEnvs)
	if err != nil {
		return -1, err
	}
	for _, other := range g.fields {
		if other.collides(name) {
			return -1, misuse("bind", name, "its entries would collide with those of %q", other.spec.Name)
		}
	}
	g.fields = append(g.fields, f)
	if g.tick > 0 {
		if _, err := g.plan(); err != nil {
			g.fields = g.fields[:len(g.fields)-1]
			return -1, err
		}
	}
	g.allotted = false
	id := FieldID(len(g.fields) - 1)
	g.byName[name] = id
	return id, nil
}

// Note records an event at the present tick, unless it has a tick of its own.
// The latest 4,096 events are kept; of older ones resets are dropped first. A
// detail that JSON cannot hold is replaced by a text that says so.
func (g *Guard) Note(e dump.Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e.Tick == 0 {
		e.Tick = g.tick
	}
	g.events.add(e)
	if e.Kind == dump.EventGraphCapture {
		g.noteCapture(g.events.list[len(g.events.list)-1])
	}
}

// Fact records what the run declared: numbers, strings and bools only. A fact
// that is stated again takes the new value.
func (g *Guard) Fact(name string, v any) error {
	if err := dump.CheckFact(name, v); err != nil {
		return &MisuseError{Call: "fact", Err: err}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.facts[name] = v
	return nil
}

// Poll returns the verdict of the latest trip, if there was one. It never
// waits.
func (g *Guard) Poll() (Verdict, bool) {
	if v := g.verdict.Load(); v != nil {
		return *v, true
	}
	return Verdict{}, false
}

// Wait is Poll after waiting for the dump under way, if there is one. It does
// not wait for the frames that are still to be recorded after a trip.
func (g *Guard) Wait() (Verdict, bool) {
	g.mu.Lock()
	g.awaitDump()
	g.mu.Unlock()
	return g.Poll()
}

// Close writes the dump of a trip whose frames were still being recorded, waits
// for a dump under way and releases the memory. It may be called twice; its
// error is that of the dump that it waited for.
func (g *Guard) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.phase == recordingPost || g.phase == frozen {
		g.startDump()
	}
	waited := g.writing != nil
	g.awaitDump()
	g.phase = closed
	for _, f := range g.fields {
		f.ring, f.trace, f.ref.Base = ring{}, trace{}, nil
	}
	if v, tripped := g.Poll(); tripped && waited {
		return v.Error
	}
	return nil
}
