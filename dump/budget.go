package dump

import "fmt"

// budget is the running account of the memory that the arrays of one file take.
// A quarter of Options.MaxBytes is kept for what is not an array: the
// directory, metadata, labels and the runtime itself.
type budget struct{ max, used int64 }

// newBudget returns the account of a file whose reading may take maxBytes.
func newBudget(maxBytes int64) *budget { return &budget{max: maxBytes - maxBytes/4} }

// take books n bytes, or says in words why they are not to be had.
func (b *budget) take(n int64) error {
	if n < 0 || n > b.max-b.used {
		return fmt.Errorf("needs %s, and arrays may take %s more of the limit; --max-bytes raises it",
			byteSize(n), byteSize(b.max-b.used))
	}
	b.used += n
	return nil
}

// give returns n bytes that take booked.
func (b *budget) give(n int64) { b.used -= n }

// text is the most bytes that one entry of text (a manifest, a pickle) may
// have: decoded JSON takes some twenty times its length at worst.
func (b *budget) text() int64 { return max(b.max/48, 1<<16) }

// directory is the most bytes that the zip's directory may have: an entry
// takes some six times its record.
func (b *budget) directory() int64 { return max(b.max/12, 1<<20) }

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
