package gpu

import (
	"unsafe"

	"github.com/nanguard/nanguard/detect/scan/kernel"
)

// align rounds n up to a multiple of to, a power of two.
func align(n, to int) int { return (n + to - 1) &^ (to - 1) }

// plan says where everything lies in one piece of memory, as offsets from its
// start. The first piece begins with what there is once, the state at 0.
type plan struct {
	table, envKeys   int // of the first piece
	bitmaps, zeroEnd int // what lies before zeroEnd begins as zeros
	perField         []fieldPlan
	size             int
}

// fieldPlan is the part of a plan for one field.
type fieldPlan struct{ bitmap, partials, trace, ring int }

// place returns the plan of the first piece, with room in the table of fields
// for so many. Each field has at most so many readers.
func place(c *Config, places, readers int) plan {
	var p plan
	p.take(int(unsafe.Sizeof(kernel.State{})))
	p.table = p.take(places * int(unsafe.Sizeof(kernel.Field{})))
	p.envKeys = p.take(c.NumEnvs * 8)
	p.takeFields(c.Fields, readers)
	return p
}

// placeLate returns the plan of a further piece.
func placeLate(fields []Field, readers int) plan {
	var p plan
	p.takeFields(fields, readers)
	return p
}

// take returns where n bytes lie.
func (p *plan) take(n int) int {
	at := p.size
	p.size += align(n, 256)
	return at
}

// takeFields takes what the fields need.
func (p *plan) takeFields(fields []Field, readers int) {
	p.perField = make([]fieldPlan, len(fields))
	p.bitmaps = p.size
	for i := range fields {
		p.perField[i].bitmap = p.take(bitmapWords(fields[i].Rows) * 4)
	}
	p.zeroEnd = p.size
	for i := range fields {
		p.perField[i].partials = p.take(2 * kernel.PartialBytes * maxReaders(&fields[i], readers))
	}
	for i := range fields {
		p.perField[i].trace = p.take(fields[i].TraceLen * int(unsafe.Sizeof(kernel.Row{})))
	}
	for i := range fields {
		p.perField[i].ring = p.take(fields[i].Slots * fields[i].slotBytes())
	}
}

// bitmapWords returns how many 32-bit words a bit for each row takes.
func bitmapWords(rows int) int { return (rows + 31) / 32 }

// maxReaders returns how many readers a field has when there are at most so
// many of all fields together.
func maxReaders(f *Field, readers int) int { return min(readers, max(1, f.tiles())) }

// fewerFrames halves what the rings keep and reports whether that helps. A
// ring that has only one frame keeps it.
func fewerFrames(fields []Field) bool {
	helped := false
	for i := range fields {
		if s := &fields[i].Slots; *s > 1 {
			*s, helped = (*s+1)/2, true
		}
	}
	return helped
}
