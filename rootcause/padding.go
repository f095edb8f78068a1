package rootcause

import (
	"fmt"
	"math"
	"slices"

	"github.com/nanguard/nanguard/dump"
)

// fillerWords are in the names of what has no value once an episode is over.
var fillerWords = []string{"next", "terminal", "final", "pad", "bootstrap"}

// doneRows is X18: the rows that are not finite are exactly those whose episode
// is over, or of which another flag says so: cut off by time, padded.
func (c *Case) doneRows() Feature {
	d := c.byName["done"]
	if d == nil {
		d = c.first(done)
	}
	best := c.rowsOf(d)
	for _, g := range c.fields {
		if best.is(yes, "all") {
			break
		}
		if flag := g.kind == done || about(g.Name, maskWords...); g == d || !flag || !g.PerEnv || g.len() == 0 || about(g.Name, madeOfNaN...) || !g.binary() {
			continue
		}
		if f := c.rowsOf(g); f.is(yes, "all") {
			best = f
		}
	}
	return best
}

// maskWords are in the names of flags that say which rows count.
var maskWords = []string{"mask", "pad", "valid", "alive", "trunc", "timeout", "time_out"}

// binary reports whether a field holds zeros and ones only, one per row.
func (f *field) binary() bool {
	if f.to-f.from != 1 {
		return false
	}
	for i := range f.cells {
		if cell := &f.cells[i]; cell.bad > 0 || cell.min != cell.max && cell.max != 0 || cell.max != 0 && cell.max != 1 || cell.min < 0 {
			return false
		}
	}
	return true
}

// rowsOf compares the rows that are not finite with those that a flag marks. Equal,
// they are filler for rows that nobody should read, unless the physics of these rows
// is bad itself, which ends an episode too.
func (c *Case) rowsOf(d *field) Feature {
	o := c.tripped
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
	text := fmt.Sprintf("of the rows of %s in the file, %d are bad where an episode ended (%s), %d where it did not, and %d are fine where one ended", o.f.Name, both, d.Name, bad, over)
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
	f := found(yes, fmt.Sprintf("%s is %s %s whose episode is over (%s)", o.f.Name, words[o.class], rows, d.Name))
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

// fillerRows is X18: rows that hold what nobody should read, because their slot
// of a buffer was never written, or because their episode is over.
func (c *Case) fillerRows() Feature {
	if f, ok := c.unwritten(); ok {
		return f
	}
	if f, ok := c.neverFilled(); ok {
		return f
	}
	if f, ok := c.unfilled(c.tripped); ok {
		return f
	}
	if f, ok := c.maskedSamples(); ok {
		return f
	}
	return c.doneRows()
}

// unwritten finds samples of a batch of which everything that was stored is
// non-finite at once, observation, reward and flag alike, while the others are fine:
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
		stored := f.kind == obs || f.kind == term || f.kind == reward || f.kind == done
		i := f.upTo(o.tick)
		if !stored || f.PerEnv || i < 0 || f.frames.Ticks[i] != o.tick || f.to-f.from < batchWidth {
			continue
		}
		bad := f.badColumns(i)
		if f.kind == done && len(bad) == 0 { // most are stored as what holds no NaN
			continue
		}
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

// unfilled finds a value that exists only for rows whose episode is over, and is
// not finite in exactly the other rows of the run: nobody filled these in.
func (c *Case) unfilled(o *onset) (Feature, bool) {
	if o == nil || o.f == nil || !o.f.PerEnv || o.f.len() == 0 || o.f.kind.isBody() || !about(o.f.Name, fillerWords...) {
		return Feature{}, false
	}
	i := o.f.upTo(o.tick)
	if i < 0 || o.f.frames.Ticks[i] != o.tick {
		return Feature{}, false
	}
	for _, d := range c.fields {
		if d.kind != done || !d.PerEnv || d.len() == 0 || !c.complements(o, i, d) {
			continue
		}
		f := found(yes, fmt.Sprintf("%s is %s in %d of %d rows, exactly those whose episode is not over (%s): it is filled in for the others only", o.f.Name, words[o.class], o.envs, c.man.NumEnvs, d.Name))
		f.Measured, f.Baseline = float64(o.envs), float64(c.man.NumEnvs)
		return f.onset(o), true
	}
	return Feature{}, false
}

// complements reports whether the bad rows of frame i are those in which an
// end-of-episode flag is not set, and some episode of the run did end.
func (c *Case) complements(o *onset, i int, d *field) bool {
	j := d.upTo(o.tick)
	if j < 0 {
		return false
	}
	over := 0
	for row := range o.f.rows {
		other := d.row(o.f.env(row))
		if other < 0 {
			return false
		}
		ended := d.cell(j, other).max > 0
		if ended == (o.f.cell(i, row).bad > 0) {
			return false
		}
		if ended {
			over++
		}
	}
	return over > 0 || o.envs < c.man.NumEnvs && c.ended(d, j) == c.man.NumEnvs-o.envs
}

// ended returns how many envs of the run were reset between the flag's frames
// before j and j, by the events.
func (c *Case) ended(d *field, j int) int {
	n, since := 0, int64(-1)
	for _, f := range c.fields {
		if k := f.upTo(d.frames.Ticks[j] - 1); f.Clock == d.Clock && k >= 0 {
			since = max(since, f.frames.Ticks[k])
		}
	}
	for _, e := range c.man.Events {
		if e.Kind == dump.EventReset && e.Tick > since && e.Tick <= d.frames.Ticks[j] {
			n += max(e.Count, len(e.Envs))
		}
	}
	return n
}
