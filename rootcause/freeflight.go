package rootcause

import (
	"fmt"
	"math"
)

// flightRise is how many times the speeds must grow while nothing is touched, so
// that it is growth and not the flight of what a contact threw.
const flightRise = 2.0

// constraintFree is X2: what contactFree says of the substep in which it ran
// away, or where its frames are gone, of the growth that the frames do hold, in
// the env to blame and in every other that ran away.
func (c *Case) constraintFree() Feature {
	out := c.contactFree()
	if out.known() || out.Recorded {
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

// contactFree is X2: whether any constraint was active in the substep in which
// the speeds ran away. A solver with nothing to solve cannot diverge.
func (c *Case) contactFree() Feature {
	r := c.root()
	f := c.constraints()
	if f.len() == 0 && r.is(body...) && r.row >= 0 {
		if out, ok := c.inTheAir(r); ok {
			return out
		}
	}
	if !r.is(body...) || r.row < 0 || f.len() == 0 {
		return unmeasured("nefc (or ncon) where the physics ran away")
	}
	row, i := f.row(r.env), f.upTo(r.tick)
	if row < 0 || i < 0 || f.frames.Ticks[i] != r.tick || r.first() && !r.earliest() {
		return unmeasured("nefc (or ncon) where the physics ran away")
	}
	if n := f.cell(i, row).max; n > 0 {
		if out, ok := c.beforeContact(r, f); ok {
			return out
		}
		if out, ok := c.wildBefore(r, f); ok {
			return out
		}
		if k := c.counterNamed("ncon"); k.len() > 0 && k != f && k.zeroAt(r) && !c.is(F3, yes) {
			return idle(fmt.Sprintf("%s was %s in env %d when it ran away, and %s 0: joints at their limits or equalities, no contact, and the solver had no trouble with them", f.Name, num(n), r.env, k.Name))
		}
		return found(no, fmt.Sprintf("%s was %s in env %d when it ran away", f.Name, num(n), r.env)).in(f, r.env, 0, r.tick)
	}
	if out, ok := c.setOutTouching(r, f); ok {
		return out
	}
	if c.undriven(r) && c.fastBefore(r) && f.everAbove(row, i) {
		return idle(fmt.Sprintf("nothing was touched in env %d when it ran away, but what did has no actuator and was already fast: a contact before that threw it", r.env))
	}
	none := "no contact and no limit"
	if !about(f.Name, "nefc") {
		none = "no contact"
	}
	return found(yes, fmt.Sprintf("%s was active in env %d when it ran away (%s 0)", none, r.env, f.Name)).in(f, r.env, 0, r.tick)
}

// fastBefore reports whether an env was fast for all frames that lead up to a step.
func (c *Case) fastBefore(r *step) bool {
	v := c.first(qvel)
	row, k := v.row(r.env), v.upTo(r.tick)
	if row < 0 || k < 3 {
		return false
	}
	return v.median(row, max(0, k-calmFor), k) > excited
}

// everAbove reports whether a counter of a row was above zero in a frame before i.
func (f *field) everAbove(row, i int) bool {
	for k := range i {
		if f.cell(k, row).max > 0 {
			return true
		}
	}
	return false
}

// touchedShare is the share of the growth, in decades, above which a way up was made
// while something was touched.
const touchedShare = 0.5

// setOutTouching is X2 for an env that was free of contact in the very substep in
// which it ran away, and grew in those before it in which it was not: what a bad
// contact throws spins on in the air.
func (c *Case) setOutTouching(r *step, n *field) (Feature, bool) {
	v := c.first(qvel)
	g, ok := c.growthOf(v, r.env, r.tick+1)
	row := n.row(r.env)
	if !ok || row < 0 {
		return Feature{}, false
	}
	in, all := 0.0, 0.0
	for i := max(1, g.from+1); i <= g.to; i++ {
		was, is := v.cell(i-1, g.row).max, v.cell(i, g.row).max
		k := n.upTo(v.frames.Ticks[i])
		if was <= 0 || is <= was || k < 0 || n.frames.Ticks[k] != v.frames.Ticks[i] {
			continue
		}
		rise := math.Log(is / was)
		all += rise
		if n.cell(k, row).max > 0 {
			in += rise
		}
	}
	if all <= 0 || in < touchedShare*all {
		return Feature{}, false
	}
	f := found(no, fmt.Sprintf("%s was 0 in env %d when it ran away, but %.0f %% of its way up came in substeps in which it was not", n.Name, r.env, 100*in/all))
	f.Measured, f.Baseline = in/all, touchedShare
	return f.in(n, r.env, 0, r.tick), true
}

// How a way up shows that it set out before anything was touched: each step at
// least doubles the speeds, ten times in all, from twice what a healthy env has.
const (
	flightDoubles = 2.0
	flightFactor  = 10.0
	flightFrom    = 2.0
)

// beforeContact finds steps on the way up to a runaway in which no constraint was
// active and the speeds multiplied: what was touched later did not start it. What
// a contact threw flies on at its speed, and a command adds to a speed that is
// low; neither multiplies one that is high already.
func (c *Case) beforeContact(r *step, n *field) (Feature, bool) {
	v := c.first(qvel)
	g, ok := c.growthOf(v, r.env, r.tick+1)
	if !ok || n.row(r.env) < 0 {
		return Feature{}, false
	}
	row, free := n.row(r.env), g.to
	for i := g.to; i > 0 && i >= g.from-1; i-- {
		k := n.upTo(v.frames.Ticks[i])
		was, is := v.cell(i-1, g.row).max, v.cell(i, g.row).max
		if k < 0 || n.frames.Ticks[k] != v.frames.Ticks[i] || n.cell(k, row).max > 0 || is < flightDoubles*was || was < flightFrom*v.base {
			free = i - 1
			continue
		}
		if end := v.cell(free, g.row).max; end >= flightFactor*was && free-i >= 1 {
			f := found(yes, fmt.Sprintf("qvel of env %d grew from %s to %s in %d steps in which nothing was touched (%s 0), before any contact", r.env, num(was), num(end), free-i+1, n.Name))
			f.Measured, f.Baseline = end, was
			return f.in(v, r.env, int(v.cell(free, g.row).arg), v.frames.Ticks[free]), true
		}
	}
	return Feature{}, false
}

// zeroAt reports whether a counter is zero in the env and at the tick of a step.
func (f *field) zeroAt(r *step) bool {
	row, i := f.row(r.env), f.upTo(r.tick)
	return row >= 0 && i >= 0 && f.frames.Ticks[i] == r.tick && f.cell(i, row).bad == 0 && f.cell(i, row).max == 0
}

// wildTurn is how far a joint may turn in one step, in rad: a whole turn is no motion
// that a step can follow.
const wildTurn = 2 * math.Pi

// wildBefore finds speeds that were past any step already before a constraint was
// active for the first time in the episode: limits and contacts came after.
func (c *Case) wildBefore(r *step, n *field) (Feature, bool) {
	v, dt := c.first(qvel), c.timestep()
	vrow, row, k := v.row(r.env), n.row(r.env), n.upTo(r.tick)
	if v.len() == 0 || vrow < 0 || row < 0 || k < 1 || dt <= 0 {
		return Feature{}, false
	}
	since := c.lastReset(r.env, r.tick)
	for i := k - 1; i >= 0 && n.frames.Ticks[i] >= since; i-- {
		if n.cell(i, row).max > 0 {
			return Feature{}, false
		}
		if since == start && i == 0 && tickCount(n.frames.Counts, 0) > 1 {
			return Feature{}, false // what came before is not in the file
		}
	}
	t := n.frames.Ticks[k-1]
	i := v.upTo(t)
	if i < 0 || v.frames.Ticks[i] != t || t < since || v.cell(i, vrow).bad > 0 || v.cell(i, vrow).max*dt < wildTurn {
		return Feature{}, false
	}
	cell := v.cell(i, vrow)
	f := found(yes, fmt.Sprintf("%s of env %d was %s at tick %d, more than a turn or six metres in one step of %s s, and no constraint had been active until then (%s 0): limits and contacts came after",
		v.label(int(cell.arg)), r.env, c.quantity(v, int(cell.arg), cell.max), t, num(dt), n.Name))
	f.Measured, f.Baseline = cell.max*dt, wildTurn
	return f.in(v, r.env, int(cell.arg), t), true
}

// constraints returns the count of active constraints, or that of contacts where
// it is not recorded.
func (c *Case) constraints() *field {
	rows, contacts := c.counterNamed("nefc"), c.counterNamed("ncon")
	if rows.len() == 0 && contacts != nil {
		return contacts
	}
	return rows
}

// inTheAir is X2 where no counter of constraints is recorded: whether the env was
// clear of the ground in the last frame in which it was fine.
func (c *Case) inTheAir(r *step) (Feature, bool) {
	q := c.first(qpos)
	i, row := q.upTo(r.tick-1), q.row(r.env)
	m, ok := c.clearance(q, i, row)
	if !ok {
		return Feature{}, false
	}
	if m < air {
		return Feature{}, false // near it: a contact is possible, and not more
	}
	f := found("air", fmt.Sprintf("every part of env %d was at least %s m above the ground before it ran away, and can touch nothing else", r.env, num(m)))
	f.Measured, f.Baseline = m, air
	return f.in(q, r.env, -1, q.frames.Ticks[i]), true
}
