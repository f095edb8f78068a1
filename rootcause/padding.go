package rootcause

import (
	"fmt"
	"math"
)

// fillerWords are in the names of what has no value once an episode is over.
var fillerWords = []string{"next", "terminal", "final", "pad", "bootstrap"}

// doneRows is X18: the rows that are not finite are exactly those whose episode
// is over. That is filler for rows that nobody should read, unless the physics
// of these rows is bad itself, which ends an episode too.
func (c *Case) doneRows() Feature {
	d, o := c.byName["done"], c.tripped
	if d == nil {
		d = c.first(done)
	}
	if o == nil || o.f == nil || !o.f.PerEnv || o.f.kind.isBody() {
		return idle("no row of an env went bad outside the physics")
	}
	if d.len() == 0 || !d.PerEnv || o.f.len() == 0 {
		return unmeasured("done beside what went bad")
	}
	if c.root().is(body...) {
		return found(no, "the physics of the bad rows is bad itself")
	}
	both, bad, over := c.matchDone(o.f, d, start, math.MaxInt64)
	if bad > 0 { // what came of it may be bad elsewhere
		both, bad, over = c.matchDone(o.f, d, start, o.tick)
	}
	text := fmt.Sprintf("of the rows of %s in the file, %d are bad where an episode ended, %d where it did not, and %d are fine where one ended", o.f.Name, both, bad, over)
	whole := c.wholeRow(o)
	if whole && over > 0 { // filler may be finite at times, but not beside one that is not
		_, _, over = c.matchDone(o.f, d, o.tick, o.tick)
	}
	switch {
	case bad > 0 || both == 0 || over > 0:
		return found(no, text)
	case both == 1 && !about(o.f.Name, fillerWords...) && !whole:
		return idle("a single bad row whose episode is over may be either's doing")
	}
	rows := "in one row, the only one"
	if both > 1 {
		rows = fmt.Sprintf("in %d rows, exactly those", both)
	}
	f := found(yes, fmt.Sprintf("%s is %s %s whose episode is over", o.f.Name, words[o.class], rows))
	f.Measured, f.Baseline = float64(both), float64(over)
	if o.f.kind != obs && c.allOver(o) {
		f.Value = "all"
	}
	return f.onset(o)
}

// wholeRow reports whether every column of an observation is non-finite where it
// went bad: a formula spoils one, filler all.
func (c *Case) wholeRow(o *onset) bool {
	i, row := o.f.upTo(o.tick), o.f.row(o.env)
	return o.f.kind == obs && i >= 0 && row >= 0 && o.f.to-o.f.from >= 3 && int(o.f.cell(i, row).bad) == o.f.to-o.f.from
}

// matchDone counts, over the frames of f with ticks in [from, until], the rows that are bad and
// done, bad only, and done only.
func (c *Case) matchDone(f, d *field, from, until int64) (both, badOnly, doneOnly int) {
	for i := range f.upTo(until) + 1 {
		j, before := d.upTo(f.frames.Ticks[i]), -1
		if i > 0 {
			before = d.upTo(f.frames.Ticks[i-1])
		}
		if j < 0 || f.frames.Ticks[i] < from || before == j {
			continue
		}
		if f.Clock == d.Clock {
			before = j - 1
		}
		for row := range f.rows {
			other := d.row(f.env(row))
			if other < 0 {
				continue
			}
			bad, over := f.cell(i, row).bad > 0, d.anyAbove(before+1, j, other)
			switch {
			case bad && over:
				both++
			case bad:
				badOnly++
			case over:
				doneOnly++
			}
		}
	}
	return both, badOnly, doneOnly
}

// anyAbove reports whether a row is above zero in one of the frames [from, to]:
// what a rollout made holds all the episodes that ended in it.
func (f *field) anyAbove(from, to, row int) bool {
	for i := from; i <= to; i++ {
		if f.cell(i, row).max > 0 {
			return true
		}
	}
	return false
}
