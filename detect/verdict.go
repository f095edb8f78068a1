package detect

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/nanguard/nanguard/dump"
)

// Poll returns the verdict of the latest trip, if there was one. It never
// waits.
func (g *Guard) Poll() (Verdict, bool) {
	if g.mu.TryLock() {
		t := g.lookAtGPU()
		g.mu.Unlock()
		g.tell(t)
	}
	return g.verdictNow()
}

// verdictNow returns the verdict as it stands.
func (g *Guard) verdictNow() (Verdict, bool) {
	if v := g.verdict.Load(); v != nil {
		return *v, true
	}
	return Verdict{}, false
}

// Wait is Poll after waiting for the checks and for the dump under way, if there
// are any. It does not wait for the frames that are still to be recorded after a
// trip.
func (g *Guard) Wait() (Verdict, bool) {
	g.settle()
	g.mu.Lock()
	t := g.lookAtGPU()
	g.mu.Unlock()
	g.tell(t)
	g.mu.Lock()
	g.awaitDump()
	g.mu.Unlock()
	return g.verdictNow()
}

// look takes note of what the recorder says: of a trip, and that its frames are
// complete. The caller holds the lock.
func (g *Guard) look() {
	switch {
	case g.rec == nil || g.broken != nil:
		return
	case g.phase == recording, g.phase == recordingPost, g.phase == writingDump && g.trip == nil:
	default:
		return
	}
	tripped, complete := g.rec.poll()
	if tripped && g.trip == nil {
		g.enter(g.rec.trip())
	}
	if tripped && complete && g.phase == recordingPost {
		g.phase = frozen
	}
}

// news returns the trips that OnTrip is to be told of. When there are none and the
// frames of one are complete, its dump begins. The caller holds the lock.
func (g *Guard) news() []dump.Trip {
	trips := g.untold
	g.untold = nil
	if trips == nil && g.phase == frozen {
		g.startDump()
	}
	return trips
}

// lookAtGPU is look and news for those who are not the loop: on the host Check
// is never late.
func (g *Guard) lookAtGPU() []dump.Trip {
	if g.gpu == nil {
		return nil
	}
	g.protect(g.look)
	return g.news()
}

// tell calls OnTrip for each trip and lets a dump begin after that, come what may.
func (g *Guard) tell(trips []dump.Trip) {
	if len(trips) == 0 {
		return
	}
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.untold = slices.Concat(trips, g.untold) // those behind one that made OnTrip panic
		if g.phase == frozen {
			g.startDump()
		}
	}()
	for len(trips) > 0 {
		t := trips[0]
		trips = trips[1:]
		if g.cfg.OnTrip != nil {
			g.cfg.OnTrip(t)
		}
	}
}

// protect runs f. Neither a bug of ours nor memory that is gone must end a run
// of days: then the guard is off.
func (g *Guard) protect(f func()) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			g.turnOff(fmt.Errorf("%v", r))
		}
	}()
	f()
}

// giveUp is turnOff after a last look: a trip that the GPU told before it was lost
// often is why it was.
func (g *Guard) giveUp(reason error) error {
	g.look()
	return g.turnOff(reason)
}

// turnOff turns the recorder off for good. What it holds can still be dumped, and
// that of a trip is: no more frames will come.
func (g *Guard) turnOff(reason error) error {
	if g.broken == nil {
		g.broken = fmt.Errorf("check: the guard is off since tick %d: %w", g.now().tick, reason)
		g.events.add(dump.Event{Tick: g.now().tick, Kind: dump.EventWarning, Detail: g.broken.Error()})
	}
	if g.phase == recordingPost {
		g.phase = frozen
	}
	return g.broken
}

// settle waits for the checks under way, without the lock.
func (g *Guard) settle() {
	g.mu.Lock()
	rec, off := g.rec, g.broken != nil || g.phase == closed
	g.mu.Unlock()
	if rec == nil || off {
		return
	}
	if err := rec.settle(); errors.Is(err, ErrContextLost) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.protect(func() { g.giveUp(err) }) //nolint:errcheck // there is no check to return it from
	}
}
