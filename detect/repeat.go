package detect

import (
	"sync"

	"github.com/nanguard/nanguard/detect/scan/gpu"
	"github.com/nanguard/nanguard/tensor"
)

// Repeater makes checks of fields on a GPU that the guard has made before, once
// more and without the guard: from C the way into Go takes several times as long
// as the launch. It may do so between Go and Stop, as long as the GPU has no news,
// outside of captures and on the one stream.
//
// The guard calls it with its lock held.
type Repeater interface {
	// Stop returns once no check is being made that way, and none will be until Go.
	// Unless it is told to wait it returns false instead of waiting.
	Stop(wait bool) bool
	// Made tells, after Stop, of the checks that were made since it told last.
	Made(to Ledger)
	// Learn takes in the check that was just made.
	Learn(c Learned)
	// Forget drops what was learned.
	Forget()
	// Go lets checks be made.
	Go(s Steady)
}

// Learned is a check that can be made again.
type Learned struct {
	gpu.Repeat
	Clock int    // as a Ledger counts it
	Fixed uint64 // a bit for each field: a graph reads it, so that the guard must know when it moves
}

// Ledger is where a repeater writes down what it did.
type Ledger interface {
	// Count takes in that a check was made so many times.
	Count(times int64, clock int, advance bool)
	// Unmarked takes in that nothing marks the end of the latest one on its stream.
	Unmarked()
	// Address takes in where a field of such a check was the last time. Of checks with
	// the same field, the latest tells last.
	Address(id FieldID, address uintptr)
}

// Steady is the state in which checks may be made again.
type Steady struct {
	Stream  uintptr
	News    *uint32 // is Seen as long as the GPU has no news
	Seen    uint32
	Tripped bool // there is a verdict, of a trip that was dealt with
}

// lock is a guard's lock. While somebody holds it, no check is made behind the
// guard's back, and the guard knows of all that were.
type lock struct {
	mu sync.Mutex
	g  *Guard
}

// Lock takes the lock.
func (l *lock) Lock() {
	l.mu.Lock()
	if r := l.g.repeater; r != nil {
		r.Stop(true)
		r.Made(ledger{l.g})
	}
}

// TryLock takes the lock if that needs no waiting.
func (l *lock) TryLock() bool {
	if !l.mu.TryLock() {
		return false
	}
	r := l.g.repeater
	if r == nil {
		return true
	}
	if !r.Stop(false) {
		l.mu.Unlock()
		return false
	}
	r.Made(ledger{l.g})
	return true
}

// Unlock gives the lock back.
func (l *lock) Unlock() {
	if r := l.g.repeater; r != nil {
		if s, ok := l.g.steady(); ok {
			r.Go(s)
		}
	}
	l.mu.Unlock()
}

// ledger is a guard's.
type ledger struct{ g *Guard }

func (l ledger) Count(times int64, clock int, advance bool) {
	at := &l.g.rec.(*device).at
	at.tick += times
	if advance {
		at.counts[clock] += times
	}
	l.g.capture = false
}

func (l ledger) Unmarked() {
	if err := l.g.rec.(*device).engine.Mark(); err != nil {
		l.g.giveUp(err) //nolint:errcheck // the next check returns it
	}
}

func (l ledger) Address(id FieldID, address uintptr) { l.g.fields[id].address = address }

// teach tells the repeater of the check that was just made, if it can be repeated:
// in one launch, and with every field on the GPU.
func (g *Guard) teach(r *request, refs []FieldRef) {
	d, onGPU := g.rec.(*device)
	if g.repeater == nil || !onGPU || r.capturing || len(refs) == 0 || len(g.given) != len(refs) {
		return
	}
	repeat, ok := d.engine.Repeat()
	if !ok {
		return
	}
	c := Learned{Repeat: repeat, Clock: r.clock}
	for i := range refs {
		if refs[i].Ref.Mem == tensor.Host {
			return
		}
		if g.fields[refs[i].ID].captured != 0 {
			c.Fixed |= 1 << i
		}
	}
	g.repeater.Learn(c)
}

// forget has the repeater learn anew.
func (g *Guard) forget() {
	if g.repeater != nil {
		g.repeater.Forget()
	}
}

// steady returns the state in which checks may be made without the guard; ok is
// false when there is more to do in one than to launch it.
func (g *Guard) steady() (s Steady, ok bool) {
	d, onGPU := g.rec.(*device)
	goesOn := g.phase == recording || g.phase == spent // until something is found, or for ever
	if !onGPU || !goesOn || g.broken != nil || len(g.untold) > 0 || g.recorded != len(g.fields) {
		return s, false
	}
	stream, begun := d.engine.Stream()
	if !begun || d.asked.pending {
		return s, false
	}
	return Steady{Stream: uintptr(stream), News: d.engine.News(), Seen: d.heard, Tripped: g.verdict.Load() != nil}, true
}
