package detect

import (
	"cmp"
	"math"
	"slices"
	"unsafe"

	"github.com/nanguard/nanguard/detect/scan"
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// host is the recorder for fields in memory of the host. What it does is what
// the kernel of package detect/scan/kernel does on a GPU.
type host struct {
	fields  []*hostField // by FieldID
	at      moment
	post    int64 // frames to record after the trip
	tripped *dump.Trip
	until   int64 // count of the tripping clock whose frames are the last
	frozen  bool
	stopped moment // when it was frozen
	badEnvs badEnvs

	bad  []*hostField // scratch of check: fields with a bad value
	rows []int        // scratch of check: bad rows of one of them
}

// hostField is a field with what is kept of it.
type hostField struct {
	*field
	ring  ring
	trace trace
	last  scan.Summary // of the latest check
	over  *over        // what broke a limit in the latest check
	first *dump.FirstBad
}

// over is a finite value above its bound.
type over struct {
	row, col int
	class    string
}

func newHost(cfg *Config) *host {
	return &host{
		post: int64(cfg.PostFrames), badEnvs: newBadEnvs(cfg.NumEnvs), rows: make([]int, 0, cfg.NumEnvs),
	}
}

// fit gives every field its ring. Those that have one keep the newest frames.
func (h *host) fit(fields []*field, frames []int, traceLen int) {
	for i, f := range fields {
		if i == len(h.fields) {
			h.fields = append(h.fields, &hostField{field: f, trace: trace{rows: make([]traceRow, traceLen)}})
		}
		k := h.fields[i]
		k.ring = k.ring.resized(frames[i], f.ref.Bytes())
	}
	h.bad = make([]*hostField, 0, len(fields))
}

func (h *host) capturing(uintptr) (bool, error) { return false, nil }
func (h *host) poll() (tripped, frozen bool)    { return h.tripped != nil, h.frozen }
func (h *host) trip() dump.Trip                 { return *h.tripped }
func (h *host) now() moment                     { return h.at }
func (h *host) later() func() (int64, bool)     { return nil }
func (h *host) frames(id int) int               { return len(h.fields[id].ring.ticks) }
func (h *host) settle() error                   { return nil }

// close lets go of all that the recorder holds.
func (h *host) close() error {
	h.fields = nil
	return nil
}

// freeze ends the recording.
func (h *host) freeze() error {
	h.frozen, h.stopped = true, h.at
	return nil
}

// check counts and captures.
func (h *host) check(r request, refs []FieldRef) error {
	h.at.tick++
	h.at.counts[r.clock] += r.advance
	if h.frozen {
		return nil
	}
	h.bad = h.bad[:0]
	for i := range refs {
		if f := h.fields[refs[i].ID]; !h.capture(f, refs[i].Ref) {
			h.bad = append(h.bad, f)
		}
	}
	if len(h.bad) > 0 {
		h.judge()
	}
	if h.tripped != nil && h.tripped.Clock == clocks[r.clock] && h.at.counts[r.clock] >= h.until {
		return h.freeze()
	}
	return nil
}

// capture copies a field into its ring and summarises the copy, so that what is
// recorded is what was judged even when another thread writes meanwhile. It
// reports whether every value is finite and within bounds.
func (h *host) capture(f *hostField, ref tensor.Ref) bool {
	tick, count := h.at.tick, h.at.counts[f.clock]
	slot := f.ring.room()
	f.last = scan.Capture(slot, ref)
	f.over = nil
	if bound := f.bound(); f.last.AbsMax > bound {
		f.over = f.findOver(slot, bound)
	}
	f.ring.push(tick, count)
	f.trace.push(tick, count, &f.last)
	return f.last.First.Class == tensor.Finite && f.over == nil
}

// judge looks at the fields of one check that have a bad value. It keeps the
// first of each and trips when there was no trip before. A value that is not
// finite goes before one that is out of bounds.
func (h *host) judge() {
	slices.SortFunc(h.bad, func(a, b *hostField) int { return cmp.Compare(a.rank, b.rank) })
	var first, runner *hostField
	for _, f := range h.bad {
		finite := f.last.First.Class == tensor.Finite
		if !finite && f.first == nil {
			f.first = h.firstBad(f)
		}
		switch {
		case !finite && f.spec.Stage != dump.StageMonitor:
			first = cmp.Or(first, f)
			h.markEnvs(f)
		case f.over != nil:
			runner = cmp.Or(runner, f)
		}
	}
	if f := cmp.Or(first, runner); f != nil && h.tripped == nil {
		h.enter(f, f == first)
	}
}

// markEnvs takes note of the envs that are bad in the latest frame.
func (h *host) markEnvs(f *hostField) {
	if f.spec.PerEnv {
		h.rows = scan.BadRows(h.rows[:0], f.view(f.ring.newest()))
		h.badEnvs.add(h.rows, h.at.tick)
	}
}

// firstBad returns the entry of the first_bad list for the latest check of f.
func (h *host) firstBad(f *hostField) *dump.FirstBad {
	at := f.last.First
	return &dump.FirstBad{
		Field: f.spec.Name, Tick: h.at.tick, Clock: f.spec.Clock, Count: h.at.counts[f.clock],
		Env: f.envOf(at.Row), Col: at.Col, Class: at.Class.String(), EnvsBad: at.Rows,
	}
}

// enter trips on the latest check of f.
func (h *host) enter(f *hostField, bad bool) {
	count := h.at.counts[f.clock]
	at := over{f.last.First.Row, f.last.First.Col, f.last.First.Class.String()}
	if !bad {
		at = *f.over
	}
	h.tripped = &dump.Trip{
		Tick: h.at.tick, Clock: f.spec.Clock, Count: count, Field: f.spec.Name, Env: f.envOf(at.row), Col: at.col, Class: at.class,
	}
	h.until = count + h.post
}

// rearm forgets the trip, or only goes on where there was none. Traces stay.
func (h *host) rearm(_ uintptr, tripped bool) error {
	h.frozen = false
	if !tripped {
		return nil
	}
	h.tripped = nil
	h.badEnvs.clear()
	for _, f := range h.fields {
		f.ring.clear()
		f.first = nil
	}
	return nil
}

func (h *host) rearmInGraphs(bool) (bool, error) { return false, nil }
func (h *host) empty() bool                      { return false }

// story returns what the frozen recorder holds.
func (h *host) story() (*story, error) {
	s := &story{moment: h.stopped, trip: h.tripped, badEnvs: h.badEnvs.order, frames: h.fetch}
	for _, f := range h.fields {
		s.fields = append(s.fields, told{ticks: f.ring.ticksHeld(), trace: f.trace.draft(), first: f.first})
	}
	return s, nil
}

// fetch returns frames.
func (h *host) fetch(id int, rows []int) (*dump.Series, error) { return h.fields[id].series(rows), nil }

// view returns a slot of the ring as an array.
func (f *hostField) view(slot []byte) tensor.Ref {
	size := f.ref.DType.Size()
	return tensor.Ref{
		Base: unsafe.Pointer(unsafe.SliceData(slot)), DType: f.ref.DType,
		Rows: f.ref.Rows, Cols: f.ref.Cols, RowStride: f.ref.Cols * size, ColStride: size,
	}
}

// series returns the captured frames of the given rows, oldest first.
func (f *hostField) series(rows []int) *dump.Series {
	s := &dump.Series{Values: tensor.NewArray(f.ref.DType, f.ring.n, len(rows), f.ref.Cols)}
	row := f.ref.Cols * f.ref.DType.Size()
	to := s.Values.Data
	for i := range f.ring.n {
		k := f.ring.oldest(i)
		s.Ticks = append(s.Ticks, f.ring.ticks[k])
		s.Counts = append(s.Counts, f.ring.counts[k])
		slot := f.ring.slot(k)
		for _, r := range rows {
			copy(to, slot[r*row:(r+1)*row])
			to = to[row:]
		}
	}
	return s
}

// bound returns the absolute value above which the next frame trips.
func (f *hostField) bound() float64 {
	bound := math.Inf(1)
	if f.limit > 0 {
		bound = f.limit
	}
	if k := f.growth.Frames; k > 0 && f.trace.n >= k {
		bound = min(bound, max(f.growth.Factor*f.trace.back(k).absMax, f.growth.Floor))
	}
	return bound
}

// findOver returns the first finite value of a frame that is above a bound.
func (f *hostField) findOver(slot []byte, bound float64) *over {
	d := f.ref.DType
	for i := range f.ref.Rows * f.ref.Cols {
		bits := d.Bits(slot[i*d.Size():])
		if v := math.Abs(d.Float64(bits)); v > bound && d.Classify(bits) == tensor.Finite {
			return &over{i / f.ref.Cols, i % f.ref.Cols, f.brokenBy(v)}
		}
	}
	return nil
}
