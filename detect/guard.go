package detect

import (
	"sync/atomic"
	"time"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// Guard watches the fields of one training loop. Bind, the Checks, Note and Fact
// are for the goroutine of the loop; Poll, Wait, Dump, Plan and Close may be
// called from any.
type Guard struct {
	cfg Config

	mu       lock     // all below but verdict
	fields   []*field // by FieldID
	byName   map[string]FieldID
	gpu      *hardware // nil as long as every field lies in memory of the host
	rec      recorder  // nil before the first check
	repeater Repeater  // nil when there is none, or the guard is closed
	recorded int       // so many of fields are known to rec
	unfit    int       // with so many bound, those that rec does not know found no memory; 0: they were not tried
	short    bool      // rings hold less than was asked for
	checks   uint64
	given    []FieldRef // scratch of a check
	inGraph  bool       // a graph holds checks
	capture  bool       // the latest check went into a graph
	events   eventLog
	facts    map[string]any

	phase   phase
	broken  error // what put an end to all checks
	trip    *tripped
	trips   int           // so far
	untold  []dump.Trip   // that OnTrip has not been called for
	rested  time.Time     // when a resting guard may be armed again
	dumps   int           // written so far
	path    string        // of the latest
	writing chan struct{} // closed when the dump under way is written; nil when none is
	done    chan struct{} // closed by Close
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
	for _, v := range []int{
		int(cfg.RingBytes), cfg.MaxFrames, cfg.TraceLen, cfg.PostFrames, cfg.MaxEnvs, cfg.ControlEnvs, cfg.MaxDumps, int(cfg.Cooldown),
	} {
		if v < 0 {
			return nil, misuse("new", "", "negative number in %+v", cfg)
		}
	}
	g := &Guard{cfg: cfg, repeater: cfg.Repeater, byName: map[string]FieldID{}, facts: map[string]any{}, done: make(chan struct{})}
	g.mu.g = g
	return g, nil
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
//
// The first field in memory of a GPU makes the guard one of that GPU, and all
// fields are recorded there. An eighth of RingBytes and at least 64 places are
// kept for fields that are bound to it after the first Check: they join at the
// next check outside of a capture, and neither frames nor graphs that hold checks
// are touched. A field for which there is no room left makes all rings and traces
// start anew, which an event tells; once a graph holds a check, Bind refuses it
// (ErrInGraph). The error matches ErrUnsupported when the machine cannot use
// CUDA.
func (g *Guard) Bind(name string, ref tensor.Ref, o FieldOptions) (FieldID, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.awaitDump()
	if g.phase == closed {
		return -1, &MisuseError{Call: "bind", Field: name, Err: ErrClosed}
	}
	f, err := newField(name, ref, o, &g.cfg)
	if err != nil {
		return -1, err
	}
	was := g.gpu
	if err := g.admitBinding(f); err != nil {
		return -1, err
	}
	f.id = len(g.fields)
	g.fields = append(g.fields, f)
	if g.rec != nil {
		if err := g.admitLate(name); err != nil {
			g.fields, g.gpu = g.fields[:f.id], was
			return -1, err
		}
	}
	g.byName[name] = FieldID(f.id)
	return FieldID(f.id), nil
}

// admitBinding looks at what the other fields have to say of a new one.
func (g *Guard) admitBinding(f *field) error {
	name := f.spec.Name
	for _, other := range g.fields {
		if other.collides(name) {
			return misuse("bind", name, "its entries would collide with those of %q", other.spec.Name)
		}
	}
	if f.ref.Mem == tensor.Host {
		return nil
	}
	return g.useGPU(f)
}

// Note records an event at the present tick, unless it has a tick of its own.
// Once a graph holds checks, the present tick is that of the last check that the
// GPU has done, which it tells later: nobody waits for it. The latest 4,096 events are kept; of older ones resets are
// dropped first. A detail that JSON cannot hold is replaced by a text that says
// so.
func (g *Guard) Note(e dump.Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e.Tick != 0 {
		g.note(e)
		return
	}
	g.happened(e)
}

// happened keeps an event of now.
func (g *Guard) happened(e dump.Event) {
	e.Tick = g.now().tick
	g.note(e).later = g.later()
}

// note keeps an event.
func (g *Guard) note(e dump.Event) *event {
	g.events.add(e)
	kept := &g.events.list[len(g.events.list)-1]
	if e.Kind == dump.EventGraphCapture {
		g.noteCapture(kept.Event)
	}
	return kept
}

// later returns what tells the tick of now once it is known, or nil.
func (g *Guard) later() func() (tick int64, ok bool) {
	if g.rec == nil {
		return nil
	}
	return g.rec.later()
}

// now returns the guard's time.
func (g *Guard) now() moment {
	if g.rec == nil {
		return moment{}
	}
	return g.rec.now()
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

// Close writes the dump of a trip that no file has yet, waits for a dump under
// way and releases the memory. Checks under way on a GPU are waited for first;
// graphs that hold checks must not run any more. It may be called twice; its
// error is that of the dump that it waited for.
func (g *Guard) Close() error {
	g.settle()
	untold, err := g.end()
	g.tell(untold)
	return err
}

// end is Close but for telling of the trips that nobody was told of.
func (g *Guard) end() (untold []dump.Trip, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.protect(g.look)
	if g.phase == recordingPost || g.phase == frozen || g.phase == unwritten {
		g.startDump()
	}
	waited := g.writing != nil
	g.awaitDump()
	if g.phase == closed {
		return nil, nil
	}
	untold, g.untold = g.untold, nil
	g.phase, g.repeater = closed, nil
	close(g.done)
	for _, f := range g.fields {
		f.ref.Base = nil
	}
	if g.rec != nil {
		err = g.rec.close()
	}
	if v, tripped := g.verdictNow(); tripped && waited && v.Error != nil {
		err = v.Error
	}
	return untold, err
}
