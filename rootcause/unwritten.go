package rootcause

import (
	"fmt"
	"slices"
)

// fillerRows is X18: rows that hold what nobody should read, because their slot
// of a buffer was never written, or because their episode is over.
func (c *Case) fillerRows() Feature {
	if f, ok := c.unwritten(); ok {
		return f
	}
	if f, ok := c.unfilled(c.tripped); ok {
		return f
	}
	return c.doneRows()
}

// unwritten finds samples of a batch of which everything that was stored is
// non-finite at once, observation and reward alike, while the others are fine:
// no formula spoils what another part of the loop has stored.
func (c *Case) unwritten() (Feature, bool) {
	o := c.tripped
	if o == nil || o.f != nil && o.f.kind.isBody() {
		return Feature{}, false
	}
	var samples []int
	var names []string
	kinds := map[kind]bool{}
	for _, f := range c.fields {
		stored := f.kind == obs || f.kind == term || f.kind == reward
		i := f.upTo(o.tick)
		if !stored || f.PerEnv || i < 0 || f.frames.Ticks[i] != o.tick || f.to-f.from < batchWidth {
			continue
		}
		bad := f.badColumns(i)
		if len(bad) == 0 || 2*len(bad) > f.to-f.from || names != nil && !slices.Equal(bad, samples) {
			return Feature{}, false
		}
		samples, names, kinds[f.kind] = bad, append(names, f.Name), true
	}
	if len(kinds) < 2 {
		return Feature{}, false
	}
	f := found("unwritten", fmt.Sprintf("all that is stored of samples %s of the batch is not finite (%s), and that of the others is fine: slots that were never written", ids(samples, 5), list(names)))
	f.Measured, f.Tick = float64(len(samples)), &o.tick
	return f, true
}

// badColumns returns the columns of a frame of a field of the whole run that are
// not finite.
func (f *field) badColumns(i int) []int {
	var bad []int
	for col := range f.to - f.from {
		if !finite(f.at(i, 0, col)) {
			bad = append(bad, col)
		}
	}
	return bad
}

// allOver reports whether every row of the file went bad, and ended, in the same
// record: with no row beside them that is neither, the match tells little, and a
// value that is not finite may be what ended them.
func (c *Case) allOver(o *onset) bool {
	i := o.f.upTo(o.tick)
	for row := 0; i >= 0 && row < o.f.rows; row++ {
		if o.f.cell(i, row).bad == 0 {
			return false
		}
	}
	return i >= 0 && o.f.rows > 1
}

// endedAt reports whether the env of a step was reset in the very env step.
func (c *Case) endedAt(r *step) bool {
	return r.env >= 0 && cutBetween(c.resets[r.env], c.stepsBefore(r.tick, 1)+1, r.tick+1)
}
