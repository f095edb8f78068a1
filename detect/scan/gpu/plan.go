package gpu

import (
	"unsafe"

	"github.com/nanguard/nanguard/detect/scan/kernel"
)

// align rounds n up to a multiple of to, a power of two.
func align(n, to int) int { return (n + to - 1) &^ (to - 1) }

// plan says where everything lies in the engine's one piece of memory, as
// offsets from its start.
type plan struct {
	fields, envKeys, bitmaps int // the state itself is at 0
	zeroEnd                  int // what lies before it begins as zeros
	perField                 []fieldPlan
	size                     int
}

// fieldPlan is the part of a plan for one field.
type fieldPlan struct{ bitmap, partials, trace, ring int }

// place returns a plan for the fields, each of which has at most so many readers.
func place(c *Config, readers int) plan {
	p := plan{perField: make([]fieldPlan, len(c.Fields))}
	take := func(n int) int {
		at := p.size
		p.size += align(n, 256)
		return at
	}
	take(int(unsafe.Sizeof(kernel.State{})))
	p.fields = take(len(c.Fields) * int(unsafe.Sizeof(kernel.Field{})))
	p.bitmaps = p.size
	for i := range c.Fields {
		p.perField[i].bitmap = take(bitmapWords(c.Fields[i].Rows) * 4)
	}
	p.zeroEnd = p.size
	p.envKeys = take(c.NumEnvs * 8)
	for i := range c.Fields {
		p.perField[i].partials = take(2 * kernel.PartialBytes * maxReaders(&c.Fields[i], readers))
	}
	for i := range c.Fields {
		p.perField[i].trace = take(c.Fields[i].TraceLen * int(unsafe.Sizeof(kernel.Row{})))
	}
	for i := range c.Fields {
		p.perField[i].ring = take(c.Fields[i].Slots * c.Fields[i].slotBytes())
	}
	return p
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
