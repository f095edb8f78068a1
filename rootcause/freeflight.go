package rootcause

import "fmt"

// flightRise is how many times the speeds must grow while nothing is touched, so
// that it is growth and not the flight of what a contact threw.
const flightRise = 2.0

// constraintFree is X2: what contactFree says of the substep in which it ran
// away, or where its frames are gone, of the growth that the frames do hold, in
// the env to blame and in every other that ran away.
func (c *Case) constraintFree() Feature {
	out := c.contactFree()
	if out.known() {
		return out
	}
	if !c.root().is(body...) {
		return out
	}
	if f, ok := c.freeGrowth(); ok {
		return f
	}
	return out
}

// freeGrowth finds an env whose speeds, past every limit already, went on growing
// over frames in which no constraint was active.
func (c *Case) freeGrowth() (Feature, bool) {
	v, n := c.first(qvel), c.constraints()
	if v.len() == 0 || n.len() == 0 || !n.PerEnv {
		return Feature{}, false
	}
	first, ok := c.focus()
	if ok && v.row(first) >= 0 {
		if f, ok := c.freeGrowthOf(v, n, v.row(first)); ok {
			return f, true
		}
	}
	for row := range v.rows {
		if f, ok := c.freeGrowthOf(v, n, row); ok {
			return f, true
		}
	}
	return Feature{}, false
}

// freeGrowthOf is freeGrowth for one row.
func (c *Case) freeGrowthOf(v, n *field, row int) (Feature, bool) {
	env := v.env(row)
	touched := func(i int) bool {
		k, at := n.upTo(v.frames.Ticks[i]), n.row(env)
		return k < 0 || at < 0 || n.frames.Ticks[k] != v.frames.Ticks[i] || n.cell(k, at).max > 0
	}
	from := 0
	for from < v.len() && (v.cell(from, row).bad > 0 || v.state(from, row) == "") {
		from++
	}
	to, most := from, 0.0
	for to < v.len() && v.cell(to, row).bad == 0 && !touched(to) && !(to > from && cutBetween(c.resets[env], v.frames.Ticks[to-1], v.frames.Ticks[to])) {
		most = max(most, v.cell(to, row).max)
		to++
	}
	if to-from < 3 || most < flightRise*v.cell(from, row).max {
		return Feature{}, false
	}
	f := found(yes, fmt.Sprintf("%s of env %d grew from %s to %s in %d frames in which nothing was touched (%s 0)", v.Name, env, num(v.cell(from, row).max), num(most), to-from, n.Name))
	f.Measured, f.Baseline = most, v.cell(from, row).max
	return f.in(v, env, int(v.cell(to-1, row).arg), v.frames.Ticks[to-1]), true
}

// untouched is X14 where the model does not say it: no env of the run ever had a
// contact or another active constraint until it ran away, by records that begin
// with the run.
func (c *Case) untouched() (Feature, bool) {
	r, n := c.root(), c.constraints()
	if !r.is(body...) || n == nil || n.trace == nil || len(n.trace.Ticks) < enough {
		return Feature{}, false
	}
	if first := n.trace.Counts; len(first) == 0 || first[0] > 1 {
		return Feature{}, false
	}
	over, all, _ := n.above(0, r.tick+1)
	if over > 0 || all < enough {
		return Feature{}, false
	}
	f := found("never", fmt.Sprintf("%s was 0 in every env in all %d checks from the start of the run until it ran away: nothing ever touched anything", n.Name, all))
	f.Measured, f.Baseline = 0, float64(all)
	return f.in(n, -1, 0, r.tick), true
}

// contactModel is X14: what the model says of its contacts, and where that is
// nothing against them, whether there ever was one.
func (c *Case) contactModel() Feature {
	out := c.contactAudit()
	if out.known() && out.Value != no {
		return out
	}
	if f, ok := c.untouched(); ok {
		f.Half = !out.known() // a scene without anything to touch says little of why it ran away
		return f
	}
	return out
}
