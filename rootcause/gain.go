package rootcause

import (
	"fmt"
	"math"
)

// A loop whose gain is above one multiplies the actions of every env by at least loopGain in
// each of loopFor env steps on end, by four decades in all; while the first of them is held,
// the speeds rise by at most heldRise of that, in e-foldings: what diverges by itself rises in
// each substep alike.
const (
	loopGain = 10.0
	loopFor  = 4
	heldRise = 0.4
)

// multiplies is steadily for the actions of all envs, whose own state answers them: then
// the factor is no steady one, and the other envs are no measure.
func (c *Case) multiplies(s *step) (Feature, bool) {
	if !s.is(action, mean) || nonFinite(s.class) || s.row < 0 || s.f.rows < 2 || !s.f.PerEnv {
		return Feature{}, false
	}
	from, last := max(s.frame-1, 0), 0
	for row := range s.f.rows {
		if last = s.f.tenfold(row, from); last < from+loopFor || !c.linear(s.f, row, from) {
			return Feature{}, false
		}
	}
	last = s.f.tenfold(s.row, from)
	was, is := s.f.cell(from, s.row).max, s.f.cell(last, s.row).max
	if is < was*math.Exp(steadyRise) {
		return Feature{}, false
	}
	f := found(yes, fmt.Sprintf("%s%s grew from %s to %s in %s, more than tenfold each time, and so in every env, while the speeds rose by much less as long as one was held: what answers the state drives it further each time",
		s.name, inEnv(s.env), num(was), num(is), s.f.clockWord(last-from)))
	f.Measured, f.Baseline = math.Log(is/was), steadyRise
	return f.in(s.f, s.env, max(s.col, 0), s.tick), true
}

// tenfold returns the last frame to which a row grows by loopGain in each from a frame on.
func (f *field) tenfold(row, from int) int {
	i := from
	for i+1 < f.len() && f.cell(i+1, row).bad == 0 && f.cell(i, row).max > 0 && f.cell(i+1, row).max >= loopGain*f.cell(i, row).max {
		i++
	}
	return i
}

// linear reports whether the speeds of an env rise much less while the action of a frame is
// held than the next action does.
func (c *Case) linear(a *field, row, i int) bool {
	v := c.first(qvel)
	vrow := v.row(a.env(row))
	if v.len() == 0 || vrow < 0 || i+1 >= a.len() {
		return false
	}
	lo, hi := v.upTo(a.frames.Ticks[i])+1, v.upTo(a.frames.Ticks[i+1])
	if hi <= lo || v.cell(lo, vrow).bad+v.cell(hi, vrow).bad > 0 || !(v.cell(lo, vrow).max > 0) {
		return false
	}
	rise := math.Log(v.cell(hi, vrow).max / v.cell(lo, vrow).max)
	return rise < heldRise*math.Log(a.cell(i+1, row).max/a.cell(i, row).max)
}
