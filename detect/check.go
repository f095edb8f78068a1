package detect

import (
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// Check advances the clock by one and captures fields: those given, at the
// addresses given, or every bound field of that clock. Fields in memory of a GPU
// are read in the order of its default stream: see CheckOn.
//
// A trip is no error: ask Poll. An error is a *MisuseError, and nothing was
// captured; or, should reading a field fault (memory that its owner gave back)
// or the GPU be lost, it says that the guard is off from now on.
func (g *Guard) Check(clock dump.Clock, refs ...FieldRef) error {
	return g.check(request{stream: 0, advance: 1}, clock, refs)
}

// CheckSame is Check without advancing the clock: for what belongs to the step
// under way (the policy's outputs before the env steps) or for a second look
// (the warm start right after a reset).
func (g *Guard) CheckSame(clock dump.Clock, refs ...FieldRef) error {
	return g.check(request{stream: 0, advance: 0}, clock, refs)
}

// CheckOn is Check on a CUDA stream (a CUstream, as torch's cuda_stream; 0 is
// the default stream): fields in memory of the GPU are read when the stream
// comes to it, which nobody waits for, and their memory must live until then in
// the order of the stream. Fields in memory of the host are read before the
// call returns.
//
// While the stream is being captured, the check becomes part of the graph and
// happens each time that it runs, at the same addresses; fields in memory of the
// host are left out, which an event tells. An event graph_capture names the
// addresses.
func (g *Guard) CheckOn(stream uintptr, clock dump.Clock, refs ...FieldRef) error {
	return g.check(request{stream: stream, advance: 1}, clock, refs)
}

// CheckSameOn is CheckSame on a CUDA stream.
func (g *Guard) CheckSameOn(stream uintptr, clock dump.Clock, refs ...FieldRef) error {
	return g.check(request{stream: stream, advance: 0}, clock, refs)
}

// check is a check with what follows from a trip.
func (g *Guard) check(r request, clock dump.Clock, refs []FieldRef) (err error) {
	g.mu.Lock()
	wasOff := g.broken != nil
	g.protect(func() { err = g.record(&r, clock, refs) })
	if g.broken != nil && !wasOff {
		err = g.broken
	}
	t := g.news()
	g.mu.Unlock()
	g.tell(t)
	return err
}

// record captures the fields of one check and looks at what is known by then.
func (g *Guard) record(r *request, clock dump.Clock, refs []FieldRef) error {
	if err := g.admit(r, clock, refs); err != nil {
		return err
	}
	g.choose(r, refs)
	if err := g.rec.check(*r, g.given); err != nil {
		return g.giveUp(err)
	}
	g.followAddresses(r)
	g.teach(r, refs)
	clear(g.given) // it must not keep anybody's memory
	g.look()
	return nil
}

// admit looks at the arguments of a check and makes the recorder ready for it.
func (g *Guard) admit(r *request, clock dump.Clock, refs []FieldRef) error {
	r.clock = clockIndex(clock)
	switch {
	case r.clock < 0:
		return misuse("check", "", "unknown clock %q", clock)
	case g.phase == closed:
		return &MisuseError{Call: "check", Err: ErrClosed}
	case g.broken != nil:
		return g.broken
	}
	if err := g.ready(r); err != nil {
		return err
	}
	for i := range refs {
		if err := g.admitField(r, refs[i].ID, &refs[i].Ref); err != nil {
			return err
		}
	}
	if len(refs) > 0 {
		return nil
	}
	for id, f := range g.fields {
		if f.clock == r.clock {
			if err := g.admitField(r, FieldID(id), &f.ref); err != nil {
				return err
			}
		}
	}
	return nil
}

// admitField looks at one field of a check.
func (g *Guard) admitField(r *request, id FieldID, ref *tensor.Ref) error {
	if id < 0 || int(id) >= len(g.fields) {
		return misuse("check", "", "%w: id %d", ErrUnknownField, id)
	}
	f := g.fields[id]
	if f.clock != r.clock {
		return misuse("check", f.spec.Name, "%w: its clock is %q, not %q", ErrUnknownField, f.spec.Clock, clocks[r.clock])
	}
	if r.capturing && int(id) >= g.recorded {
		if err := g.unknown(f); err != nil {
			return err
		}
	}
	return f.accepts(ref)
}

// ready takes the memory for fields that have none yet, and arms a guard that
// has rested. Neither can be done while a graph is being captured, but for the
// first memory on a GPU.
func (g *Guard) ready(r *request) (err error) {
	if g.rec == nil {
		if err := g.allot(); err != nil {
			return err
		}
	}
	if r.capturing, err = g.rec.capturing(r.stream); err != nil {
		return g.giveUp(err)
	}
	if r.capturing {
		return nil
	}
	if g.phase == resting && g.hasRested() {
		if err := g.rearm(r.stream); err != nil {
			return g.giveUp(err)
		}
	}
	if g.recorded == len(g.fields) || g.phase != recording || g.unfit == len(g.fields) {
		return nil
	}
	if err := g.allot(); err != nil {
		return err
	}
	// A recorder on the host, which this one may have come after, knew of no captures.
	if r.capturing, err = g.rec.capturing(r.stream); err != nil {
		return g.giveUp(err)
	}
	return nil
}

// choose fills g.given with the fields of an admitted check, each once: a field
// that is given twice is captured once, and one that was bound since the trip is
// not known to the recorder yet.
func (g *Guard) choose(r *request, refs []FieldRef) {
	g.checks++
	g.given = g.given[:0]
	for i := range refs {
		g.give(r, refs[i].ID, &refs[i].Ref)
	}
	if len(refs) > 0 {
		return
	}
	for id, f := range g.fields {
		if f.clock == r.clock {
			g.give(r, FieldID(id), &f.ref)
		}
	}
}

// give adds a field to g.given.
func (g *Guard) give(r *request, id FieldID, ref *tensor.Ref) {
	f := g.fields[id]
	if f.seen == g.checks || int(id) >= g.recorded {
		return
	}
	f.seen = g.checks
	if r.capturing && ref.Mem == tensor.Host {
		g.leaveOut(f, "lies in memory of the host, which a graph does not watch: only checks outside of graphs record it")
		return
	}
	g.given = append(g.given, FieldRef{id, *ref})
}
