package dump

import (
	"fmt"
	"runtime"
)

// budget is the running account of the memory that one file takes: its arrays
// and whatever else grows with what stands in it. A third of Options.MaxBytes
// is kept for the runtime and for garbage that is not collected yet.
type budget struct{ max, used, garbage int64 }

// newBudget returns the account of a file whose reading may take maxBytes.
func newBudget(maxBytes int64) *budget { return &budget{max: maxBytes - maxBytes/3} }

// What things other than arrays take, measured on the worst of their kind.
const (
	entryCost  = 512 // an entry of the zip, in bytes
	labelCost  = 48  // the label of a column, without the name of its field
	jsonCost   = 24  // a byte of JSON, decoded
	pickleCost = 96  // an object of a pickle
	sortCost   = 32  // a frame that is put in order, on top of itself
)

// Limits of what is counted rather than weighed. A frame of more columns, an
// array of more rows or frames is no recording of a training loop.
const (
	maxCols   = 1 << 20
	maxRows   = 1 << 20
	maxFrames = 1 << 20
)

// take books n bytes, or says in words why they are not to be had.
func (b *budget) take(n int64) error {
	if n < 0 || n > b.max-b.used {
		return fmt.Errorf("needs %s, and %s of the limit are left; --max-bytes raises it",
			byteSize(n), byteSize(b.max-b.used))
	}
	b.used += n
	return nil
}

// give returns n bytes that take booked. What was given back still lies in
// memory until it is collected, which with the runtime's pace would be at twice
// the live heap: too late for a limit.
func (b *budget) give(n int64) {
	b.used -= n
	if b.garbage += n; b.garbage > b.max/8 {
		b.garbage = 0
		runtime.GC()
	}
}

// text is the most bytes that one entry of text (a manifest, a pickle) may have.
func (b *budget) text() int64 { return max(b.max/40, 1<<16) }

// directory is the most bytes of the zip's directory: a record becomes some six
// times its length.
func (b *budget) directory() int64 { return max(b.max/10, 1<<20) }

// byteSize returns n in the unit that reads best.
func byteSize(n int64) string {
	switch {
	case n < 0:
		return "more bytes than can be counted"
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
