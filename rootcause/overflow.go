package rootcause

import "fmt"

// flagged judges the simulator's own overflow flags: what it sets them for was
// dropped, whatever the counters say. In a run in which something ran away they
// are evidence of all-time dropping only when they were set in a quarter of the
// checks before it; where nothing did, once is enough.
func (c *Case) flagged() (Feature, bool) {
	f := c.counterNamed("overflow")
	if f == nil {
		return Feature{}, false
	}
	set, all, since := f.above(0, c.beginning())
	if set == 0 || c.root() != nil && (all < enough || 4*set < all) {
		return Feature{}, false
	}
	out := found(yes, fmt.Sprintf("%s is set in %d of %d checks, first at tick %d: the simulator itself says that contacts or constraints did not fit and were dropped", f.Name, set, all, since))
	out.Measured, out.Baseline = float64(set), float64(all)
	return out.in(f, -1, 0, since), true
}

// above counts the checks before a tick in which some value of a field is above a
// bound, by the trace where there is one, and says when that was first so.
func (f *field) above(bound float64, end int64) (over, all int, since int64) {
	take := func(tick int64, is bool) {
		if all++; !is {
			return
		}
		if over++; over == 1 {
			since = tick
		}
	}
	if t := f.trace; t != nil && len(t.AbsMax) == len(t.Ticks) {
		for j := 0; j < len(t.Ticks) && t.Ticks[j] < end; j++ {
			take(t.Ticks[j], t.AbsMax[j] > bound)
		}
		return over, all, since
	}
	for i := 0; i < f.len() && f.frames.Ticks[i] < end; i++ {
		most := 0.0
		for row := range f.rows {
			most = max(most, f.cell(i, row).max)
		}
		take(f.frames.Ticks[i], most > bound)
	}
	return over, all, since
}
