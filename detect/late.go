package detect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nanguard/nanguard/detect/scan/gpu"
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// On a GPU, fields that are bound after the first check join a recorder at work.
// It keeps some of the ring's memory and of the places for fields back for them,
// because graphs hold the addresses of what there is, which therefore cannot
// move or shrink.
const (
	lateShare  = 8  // one part in so many of the ring's memory is kept back
	latePlaces = 64 // and at least so many places
)

// reserve returns how much of the ring's memory is kept back from these fields.
func (g *Guard) reserve(fields []*field) int64 {
	if g.gpu == nil {
		return 0
	}
	return max(0, min(g.cfg.RingBytes/lateShare, g.cfg.RingBytes-g.leastBytes(fields)))
}

// leastFrames is how many frames every field keeps at least.
func (g *Guard) leastFrames() int { return minFrames + g.cfg.PostFrames }

// leastBytes returns what the fields need at least.
func (g *Guard) leastBytes(fields []*field) int64 {
	n := 0.0 // which no number of frames overflows
	for _, f := range fields {
		n += float64(g.leastFrames()) * float64(f.ref.Bytes())
	}
	return int64(min(n, 1<<62))
}

// late returns the fields that were bound since the recorder took its memory.
func (g *Guard) late() []*field { return g.fields[g.recorded:] }

// joinable returns the recorder when late fields can join it, else nil and why
// they cannot.
func (g *Guard) joinable() (d *device, why string) {
	d, onGPU := g.rec.(*device)
	late := g.late()
	need := g.leastBytes(late)
	switch {
	case !onGPU:
		return nil, "the guard recorded on the host"
	case len(late) > d.engine.Places():
		return nil, fmt.Sprintf("%d fields joined already, and there are no more places", len(d.fields)-d.began)
	case need > d.reserve:
		return nil, fmt.Sprintf("%s are left of the %s that the ring keeps back for fields bound after the first check, and %s are needed",
			inUnits(d.reserve), inUnits(g.cfg.RingBytes/lateShare), inUnits(need))
	}
	return d, ""
}

// admitLate looks, when a field is bound to a guard at work, whether it can be
// recorded.
func (g *Guard) admitLate(name string) error {
	why := ""
	if g.gpu != nil {
		var d *device
		if d, why = g.joinable(); d != nil {
			return nil
		}
	}
	if g.inGraph {
		return misuse("bind", name, "%w, so that rings cannot be laid out anew, and %s: "+
			"bind it before the first capture, or give the guard a larger ring", ErrInGraph, why)
	}
	if _, err := g.plan(); err != nil {
		return &MisuseError{Call: "bind", Field: name, Err: errors.Unwrap(err)}
	}
	return nil
}

// lateMemory returns how much of what is kept back late fields get: as much as
// their part of the places, and an eighth in any case, so that something is left
// for those that come after them.
func (g *Guard) lateMemory(d *device) int64 {
	n, places := int64(len(g.late())), int64(d.engine.Places())
	return max(g.leastBytes(g.late()), d.reserve/8, d.reserve*n/max(1, places))
}

// join lets late fields join the recorder. What cannot be done for want of memory
// costs those fields and not the loop.
func (g *Guard) join(d *device) error {
	late := g.late()
	rankLate(g.fields)
	frames := g.shareOut(late, g.lateMemory(d))
	err := d.add(late, frames, g.cfg.TraceLen)
	switch {
	case errors.Is(err, ErrContextLost):
		return g.giveUp(err)
	case err != nil:
		g.unfit = len(g.fields)
		g.happened(dump.Event{
			Kind: dump.EventWarning,
			Detail: fmt.Sprintf("not watched: %s, for want of memory on GPU %d (%s): %v",
				names(late), g.gpu.device.Ordinal, g.gpu.device.Name, err),
		})
		return nil
	}
	first := g.recorded
	g.recordedAll()
	g.noteShort(d.isShort(first, frames))
	return nil
}

// add takes further fields in.
func (d *device) add(fields []*field, frames []int, traceLen int) error {
	room := d.staging.room
	var late []gpu.Field
	for i, f := range fields {
		late = append(late, engineField(f, frames[i], traceLen))
		if f.ref.Mem == tensor.Host {
			room += stagingBytes(f)
		}
	}
	if err := d.staging.grow(room); err != nil {
		return err
	}
	if err := d.engine.Add(late); err != nil {
		return err
	}
	for _, f := range fields {
		d.reserve -= int64(d.engine.Slots(len(d.fields))) * int64(f.ref.Bytes())
		d.fields = append(d.fields, f)
	}
	d.reserve = max(0, d.reserve)
	d.args = slices.Grow(d.args, len(d.fields))
	return nil
}

// unknown says why a field that the recorder does not know cannot be in a check
// that is captured. Where nothing could have been done about it, it is left out.
func (g *Guard) unknown(f *field) error {
	switch {
	case g.unfit == len(g.fields):
		return nil
	case g.phase != recording:
		g.leaveOut(f, "was bound after the trip, and the graph was captured before the guard was armed again: the graph does not watch it")
		return nil
	}
	return misuse("check", f.spec.Name, "%w: it is first seen while a graph is being captured, when no memory can be taken for it: "+
		"check it once before the capture", ErrInGraph)
}

// rankStep returns how far apart n ranks stand: between them is room for fields
// that are bound later.
func rankStep(n int) int { return gpu.MaxRank / (n + 1) }

// rankAll gives fields their places in the loop.
func rankAll(fields []*field) {
	for i, f := range inOrder(fields) {
		f.rank = (i + 1) * rankStep(len(fields))
	}
}

// rankLate gives places to fields that have none, between those that do: their
// ranks are in the memory of the GPU and in what it says. A new field stands an
// eighth of the way from the one before it to the one after it, so that dozens
// fit one after the other. Where there is no room, the next free place has to do.
func rankLate(fields []*field) {
	taken := map[int]bool{}
	for _, f := range fields {
		taken[f.rank] = f.rank != 0
	}
	list := inOrder(fields)
	low := 0
	for i, f := range list {
		if f.rank == 0 {
			f.rank = freeRank(low, highAfter(list[i+1:]), taken)
			taken[f.rank] = true
		}
		low = f.rank
	}
}

// highAfter returns the rank of the first field that has one.
func highAfter(fields []*field) int {
	for _, f := range fields {
		if f.rank != 0 {
			return f.rank
		}
	}
	return gpu.MaxRank
}

// freeRank returns a rank between two others or, failing that, the free one next
// to the lower.
func freeRank(low, high int, taken map[int]bool) int {
	rank := low + max(1, (high-low)/8)
	for rank < gpu.MaxRank && taken[rank] {
		rank++
	}
	for rank >= gpu.MaxRank || taken[rank] {
		rank--
	}
	return rank
}

// names returns the names of fields.
func names(fields []*field) string {
	var list []string
	for _, f := range fields {
		list = append(list, f.spec.Name)
	}
	return strings.Join(list, ", ")
}
