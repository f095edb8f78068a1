package detect

import (
	"fmt"
	"runtime/debug"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// Check advances the clock by one and captures fields: those given, at the
// addresses given, or every bound field of that clock.
//
// A trip is no error: ask Poll. An error is a *MisuseError, and nothing was
// captured; or, should reading a field fault (memory that its owner gave back),
// it says that the guard is off from now on.
func (g *Guard) Check(clock dump.Clock, refs ...FieldRef) error {
	return g.check(clock, 1, refs)
}

// CheckSame is Check without advancing the clock: for what belongs to the step
// under way (the policy's outputs before the env steps) or for a second look
// (the warm start right after a reset).
func (g *Guard) CheckSame(clock dump.Clock, refs ...FieldRef) error {
	return g.check(clock, 0, refs)
}

// check is Check or CheckSame, with what follows from a trip.
func (g *Guard) check(clock dump.Clock, advance int64, refs []FieldRef) error {
	trip, err := g.record(clock, advance, refs)
	if trip == nil {
		return err
	}
	defer g.startFrozenDump()
	if g.cfg.OnTrip != nil {
		g.cfg.OnTrip(trip.trip)
	}
	return err
}

// record captures the fields of one check and returns the trip when this check
// tripped.
func (g *Guard) record(clock dump.Clock, advance int64, refs []FieldRef) (trip *tripped, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	// Neither a bug of ours nor memory that is gone must end a run of days.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			trip, err = nil, g.giveUp(r)
		}
	}()
	c, err := g.admit(clock, refs)
	if err != nil {
		return nil, err
	}
	g.tick++
	g.counts[c] += advance
	if !g.phase.records() {
		return nil, nil
	}
	g.captureAll(c, refs)
	if len(g.bad) > 0 {
		if trip = g.judge(); trip != nil {
			g.enter(trip)
		}
	}
	if g.phase == recordingPost && g.counts[g.trip.clock] >= g.trip.until && g.trip.clock == c {
		g.phase = frozen
		if trip == nil {
			g.startDump()
		}
	}
	return trip, nil
}

// giveUp turns the recorder off for good after a panic. What it holds can still
// be dumped.
func (g *Guard) giveUp(reason any) error {
	g.broken = fmt.Errorf("check: the guard is off since tick %d: %v", g.tick, reason)
	g.events.add(dump.Event{Tick: g.tick, Kind: dump.EventWarning, Detail: g.broken.Error()})
	return g.broken
}

// enter makes t the trip of the guard.
func (g *Guard) enter(t *tripped) {
	g.trip, g.phase = t, recordingPost
	g.verdict.Store(&Verdict{Trip: t.trip})
}

// admit looks at the arguments of a check and returns the index of its clock.
func (g *Guard) admit(clock dump.Clock, refs []FieldRef) (int, error) {
	c := clockIndex(clock)
	if c < 0 {
		return c, misuse("check", "", "unknown clock %q", clock)
	}
	if g.phase == closed {
		return c, &MisuseError{Call: "check", Err: ErrClosed}
	}
	if g.broken != nil {
		return c, g.broken
	}
	if !g.allotted && g.phase == recording {
		if err := g.allot(); err != nil {
			return c, err
		}
	}
	for i := range refs {
		if err := g.admitField(c, refs[i].ID, refs[i].Ref); err != nil {
			return c, err
		}
	}
	if len(refs) > 0 {
		return c, nil
	}
	for id, f := range g.fields {
		if f.clock == c {
			if err := g.admitField(c, FieldID(id), f.ref); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// admitField looks at one field of a check of clock c.
func (g *Guard) admitField(c int, id FieldID, ref tensor.Ref) error {
	if id < 0 || int(id) >= len(g.fields) {
		return misuse("check", "", "%w: id %d", ErrUnknownField, id)
	}
	f := g.fields[id]
	if f.clock != c {
		return misuse("check", f.spec.Name, "%w: its clock is %q, not %q", ErrUnknownField, f.spec.Clock, clocks[c])
	}
	return f.accepts(ref)
}

// captureAll captures the fields of an admitted check and leaves those with a
// bad value in g.bad. A field that is given twice is captured once.
func (g *Guard) captureAll(c int, refs []FieldRef) {
	g.bad = g.bad[:0]
	for i := range refs {
		g.capture(g.fields[refs[i].ID], refs[i].Ref)
	}
	if len(refs) > 0 {
		return
	}
	for _, f := range g.fields {
		if f.clock == c {
			g.capture(f, f.ref)
		}
	}
}

// capture captures one field. One that was bound since the trip has no ring yet.
func (g *Guard) capture(f *field, ref tensor.Ref) {
	if f.seen == g.tick || f.ring.ticks == nil {
		return
	}
	f.seen = g.tick
	if a := ref.Address(); a != f.address {
		g.movedTo(f, a)
	}
	if !f.capture(ref, g.tick, g.counts[f.clock]) {
		g.bad = append(g.bad, f)
	}
}
