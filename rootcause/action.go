package rootcause

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// spikeSteps is how many env steps before it began an action may lie that set it
// off: what it throws about takes a while to break.
const spikeSteps = 5

// farAction is how many times the 99.9th percentile of all others is extreme.
const farAction = 3.0

// The bounds of actions that creep: over how many frames they must rise, by what
// factor and over what multiple of their healthy size, and from what multiple on
// they and the state count as having set out.
const (
	creepFor  = 10
	creepRise = 20.0
	setOutAt  = 5.0
)

// extremeAction is F5: an action or a control far outside what all others give,
// in the last steps before it began.
func (c *Case) extremeAction() Feature {
	env, ok := c.focus()
	a := c.first(action, ctrl)
	if r := c.root(); r.is(ctrl) {
		a = r.f
	}
	if a.len() == 0 || !ok {
		return c.unblamed(a, "action or ctrl")
	}
	if out, ok := c.steadily(c.root()); ok {
		return out
	}
	worst := unmeasured("a finite action of the env before it began")
	for _, f := range []*field{a, c.first(ctrl)} {
		out := c.spike(f, env)
		switch {
		case !out.known():
		case !worst.known(), out.Value == yes && (worst.Value != yes || out.Measured*worst.Baseline > worst.Measured*out.Baseline):
			worst = out
		}
	}
	if worst.Value == no {
		if out, ok := c.allGrew(c.root()); ok {
			return idle("the commands of all envs grew together, so those of the others are no measure: " + out.Text)
		}
		if out, ok := c.drivenTooHard(c.root()); ok {
			return idle("all envs may be driven too hard, so the others are no measure: " + out.Text)
		}
	}
	return worst
}

// spike judges the largest value of one field of actions in the steps before it
// began.
func (c *Case) spike(f *field, env int) Feature {
	row, i := f.row(env), f.upTo(c.beginning())
	if r := c.root(); r.placed() && !r.is(action, mean, ctrl) && i >= 0 && f.frames.Ticks[i] == r.tick && f.pos > r.f.pos {
		i-- // made of what had gone bad
	}
	if row < 0 || i < 0 || f.cell(i, row).bad > 0 {
		return unmeasured("a finite action of the env before it began")
	}
	from := max(c.stepsBefore(c.beginning(), spikeSteps), c.lastReset(env, c.beginning()))
	for k := i; k >= 0 && f.frames.Ticks[k] > from; k-- {
		if f.cell(k, row).bad == 0 && f.cell(k, row).max > f.cell(i, row).max {
			i = k
		}
	}
	p := f.population(i, row)
	if p == 0 {
		return unmeasured("other actions to compare with")
	}
	cell := f.cell(i, row)
	out := found(no, fmt.Sprintf("%s%s was at most %s in the %d steps before it began, as usual (99.9 %% of all: below %s)", f.Name, inEnv(env), num(cell.max), spikeSteps, num(p)))
	switch {
	case f.state(i, row) != "":
		out = found(yes, fmt.Sprintf("%s%s was %s before it began, beyond any sensible action", f.label(int(cell.arg)), inEnv(env), num(cell.max)))
	case c.kicks(f, i, row):
		out = found(yes, fmt.Sprintf("%s%s was %s at tick %d, and the speeds rose at that moment", f.label(int(cell.arg)), inEnv(env), num(cell.max), f.frames.Ticks[i]))
	case cell.max > farAction*p:
		out = found(yes, fmt.Sprintf("%s%s was %s before it began, %s the 99.9th percentile of all others", f.label(int(cell.arg)), inEnv(env), num(cell.max), times(cell.max/p)))
	}
	out.Measured, out.Baseline = cell.max, p
	return out.in(f, env, int(cell.arg), f.frames.Ticks[i])
}

// A kick is a control this many times its usual size at which the speeds of the
// env rise this many times over what they were.
const (
	kickSize = 10.0
	kickRise = 4.0
)

// kicks reports whether the speeds of a row rose in the very frame in which its
// control did.
func (c *Case) kicks(f *field, i, row int) bool {
	v := c.velocity()
	vrow := v.row(f.env(row))
	if v.len() == 0 || v.kind == state || f.kind != ctrl || vrow < 0 {
		return false
	}
	for i > 0 && f.cell(i-1, row).max > f.cell(i, row).max/2 { // where it came in
		i--
	}
	k := v.upTo(f.frames.Ticks[i])
	if k < 5 || i < 5 || v.cell(k, vrow).bad > 0 || v.cell(k, vrow).max > v.limit {
		return false
	}
	return f.cell(i, row).max > kickSize*f.median(row, max(0, i-calmFor), i) && v.cell(k, vrow).max > kickRise*v.median(vrow, max(0, k-calmFor), k) &&
		v.cell(k, vrow).max > 2*v.cell(k-1, vrow).max
}

// kicked is X7 where a control threw the env about in the steps before it ran
// away.
func (c *Case) kicked(f *field, row, end int) (Feature, bool) {
	from := max(c.stepsBefore(c.beginning(), spikeSteps), c.lastReset(f.env(row), c.beginning()))
	for k := end; k >= 0 && f.frames.Ticks[k] > from; k-- {
		if f.cell(k, row).bad == 0 && c.kicks(f, k, row) {
			cell := f.cell(k, row)
			return found(yes, fmt.Sprintf("%s%s was %s at tick %d, and the speeds rose at that moment, before anything ran away", f.label(int(cell.arg)), inEnv(f.env(row)), num(cell.max), f.frames.Ticks[k])).
				in(f, f.env(row), int(cell.arg), f.frames.Ticks[k]), true
		}
	}
	return Feature{}, false
}

// population returns the 99.9th percentile of a field's sizes in the other rows;
// where those are too few, also in the row itself up to ten frames before frame i.
func (f *field) population(i, row int) float64 {
	var v []float64
	alone := (f.rows-1)*min(i+1, f.len()) < enough
	for j := range min(i+1, f.len()) {
		for r := range f.rows {
			if c := f.cell(j, r); (r != row || j < i-10 && alone) && c.bad == 0 {
				v = append(v, c.max)
			}
		}
	}
	if len(v) < 3 {
		return 0
	}
	slices.Sort(v)
	return stat.Quantile(0.999, stat.Empirical, v, nil)
}

// actionLeads is X7: targets that no joint can reach came before the speeds
// rose, from a policy whose inputs were fine.
func (c *Case) actionLeads() Feature {
	r := c.root()
	if !r.placed() {
		return idle("nothing ran away")
	}
	if f, ok := c.steadily(r); ok {
		return f
	}
	if s := c.drives(); s != nil {
		return found(yes, fmt.Sprintf("%s%s left every sensible range (%s) at tick %d, and the physics followed", s.name, inEnv(s.env), num(s.size), s.tick)).in(s.f, s.env, s.col, s.tick)
	}
	if f, ok := c.commandLed(r); ok {
		return f
	}
	if f, ok := c.inStep(r); ok {
		return f
	}
	f := c.first(ctrl)
	if f.len() == 0 && (r.f.kind == obs || r.f.kind == reward) {
		if out, ok := c.actionCreeps(); ok {
			return out
		}
	}
	if !r.f.kind.isBody() || f.len() == 0 {
		return unmeasured("ctrl before the physics ran away")
	}
	row, i := f.row(r.env), f.upTo(r.tick)
	if row < 0 || i < 0 || f.cell(i, row).bad > 0 {
		return unmeasured("ctrl before the physics ran away")
	}
	if out, ok := c.kicked(f, row, i); ok {
		return out
	}
	if c.servoTargets(f, i) {
		if d, col := c.reach(f, i, row); d > 2*math.Pi {
			out := found(yes, fmt.Sprintf("the target of %s%s was %s rad when it ran away, more than a turn beyond any usual position", f.label(col), inEnv(r.env), num(math.Abs(f.at(i, row, col)))))
			out.Measured, out.Baseline = d, 2*math.Pi
			return out.in(f, r.env, col, r.tick)
		}
	}
	if out, ok := c.tooStrong(f, row, i); ok {
		return out
	}
	if out, ok := c.actionCreeps(); ok {
		return out
	}
	if out, ok := c.allGrew(r); ok {
		return out
	}
	return found(no, fmt.Sprintf("ctrl%s was in its usual range (up to %s) when the physics ran away", inEnv(r.env), num(f.cell(i, row).max)))
}

// drives returns the finite action at which the way from the root to the trip
// enters the physics, nil when it does not enter it from there.
func (c *Case) drives() *step {
	if _, ok := c.multiplies(c.root()); ok {
		return c.root() // and the state that answers it
	}
	var last *step
	for i := range c.chain {
		s := &c.chain[i]
		switch {
		case s.f == nil:
		case s.f.kind == action || s.f.kind == ctrl || s.f.kind == mean:
			last = s
		case s.f.kind.isBody() && last != nil && !nonFinite(last.class):
			return last
		}
	}
	return nil
}

// servoTargets reports whether controls are the targets of joints: the model
// says so, or in the other envs they lie close to the joints of the same names.
func (c *Case) servoTargets(f *field, i int) bool {
	if s := c.servos(); len(s) > 0 {
		return !slices.ContainsFunc(s, func(s servo) bool { return s.kp <= 0 })
	}
	q := c.first(qpos)
	if q.len() == 0 {
		return false
	}
	j := q.upTo(f.frames.Ticks[i])
	var all []float64
	for col := range f.to - f.from {
		k := q.named(f.column(col))
		for r := 0; r < f.rows && k >= 0 && j >= 0; r++ {
			if qr := q.row(f.env(r)); qr >= 0 {
				all = append(all, math.Abs(f.at(i, r, col)-q.at(j, qr, k)))
			}
		}
	}
	return len(all) > 0 && quiet(all, true) < math.Pi/2
}

// reach returns by how much the largest target of a row exceeds the positions
// that its joint usually has, with its column; 0 when the names do not match.
func (c *Case) reach(f *field, i, row int) (worst float64, at int) {
	q := c.first(qpos)
	if q.len() == 0 {
		return 0, 0
	}
	for col := range f.to - f.from {
		k := q.named(f.column(col))
		if k < 0 {
			continue
		}
		var usual []float64
		for j := range q.len() {
			for r := range q.rows {
				usual = append(usual, math.Abs(q.at(j, r, k)))
			}
		}
		if d := math.Abs(f.at(i, row, col)) - quiet(usual, true); finite(d) && d > worst {
			worst, at = d, col
		}
	}
	return worst, at
}

// actionCreeps reports whether the actions grew for a long time and set out
// before the state did. A falling robot draws every action tail after it, so
// the lead must be clear.
func (c *Case) actionCreeps() (Feature, bool) {
	for _, a := range []*field{c.first(action, mean), c.first(ctrl)} {
		if f, ok := c.creeps(a); ok {
			return f, true
		}
	}
	return Feature{}, false
}

// creeps is actionCreeps for one field.
func (c *Case) creeps(a *field) (Feature, bool) {
	v := c.first(qvel, state, obs)
	env, ok := c.focus()
	if a.len() < creepFor || v.len() < creepFor || !ok {
		return Feature{}, false
	}
	g, ok := c.growthOf(a, env, c.deadline())
	if !ok || g.factor() < creepRise || g.end < creepRise*a.base || g.frames() < creepFor {
		return Feature{}, false
	}
	mine, theirs := a.crosses(env, setOutAt, g.to), v.crosses(env, setOutAt, v.len()-1)
	if mine < 0 || theirs >= 0 && theirs <= mine {
		return Feature{}, false
	}
	f := found(yes, fmt.Sprintf("%s%s grew %s over %s, and set out before %s did (tick %d)", a.label(g.lead), inEnv(env), times(g.factor()), a.clockWord(g.frames()), v.Name, mine))
	f.Measured, f.Baseline = g.end, a.base
	return f.in(a, env, g.lead, a.frames.Ticks[g.to]), true
}

// crosses returns the tick since when a row of an env stayed above a multiple of
// the healthy size until frame end, -1 when it does not at the end.
func (f *field) crosses(env int, times float64, end int) int64 {
	row, since := f.row(env), int64(-1)
	if row < 0 {
		return -1
	}
	for i := end; i >= 0; i-- {
		if f.cell(i, row).max <= times*f.base {
			break
		}
		since = f.frames.Ticks[i]
	}
	return since
}

// named returns the column whose label ends with a name, -1 when there is none.
func (f *field) named(name string) int {
	return slices.IndexFunc(f.names, func(s string) bool {
		return s == name || strings.HasSuffix(s, " "+name)
	})
}

// An action that grows steadily rises by at least this many e-foldings in all, in
// at least enough frames, and each time by about the same factor.
const (
	steadyRise  = 9.2 // four decades
	steadyRatio = 2.0
)

// steadily is F5 and X7 where the action is the root and the physics need not have
// followed: it grew by a steady factor over decades, as what is multiplied again
// at each step does.
func (c *Case) steadily(r *step) (Feature, bool) {
	if !r.is(action, mean) || nonFinite(r.class) || r.row < 0 || c.unheeded(r) {
		return Feature{}, false
	}
	if f, ok := c.multiplies(r); ok {
		return f, true
	}
	return c.grewSteadily(r, yes, "before anything else did")
}

// grewSteadily says by how much a part of the policy grew by a steady factor, if it did.
func (c *Case) grewSteadily(r *step, value, beside string) (Feature, bool) {
	sum, last, ok := c.steadyGrowth(r)
	if !ok {
		return Feature{}, false
	}
	f := found(value, fmt.Sprintf("%s%s grew from %s to %s in %s, by about the same factor each time, %s",
		r.name, inEnv(r.env), num(r.f.cell(r.frame, r.row).max), num(r.f.cell(last, r.row).max), r.f.clockWord(last-r.frame), beside))
	f.Measured, f.Baseline = sum, steadyRise
	return f.in(r.f, r.env, max(r.col, 0), r.tick), true
}

// steadyGrowth returns the e-foldings by which the row of a step grew from there on, and
// until which frame; ok is true where that is decades, by about the same factor each time.
func (c *Case) steadyGrowth(r *step) (sum float64, last int, ok bool) {
	var rises []float64
	last = r.frame
	for i := r.frame + 1; i < r.f.len(); i++ {
		was, is := r.f.cell(i-1, r.row), r.f.cell(i, r.row)
		if was.bad > 0 || is.bad > 0 || was.max <= 0 || is.max <= 0 {
			break
		}
		rises, last = append(rises, math.Log(is.max/was.max)), i
		sum += rises[len(rises)-1]
	}
	if len(rises) < enough || sum < steadyRise {
		return sum, last, false
	}
	slices.Sort(rises)
	low, high := rises[len(rises)/10], rises[len(rises)*9/10]
	if low <= 0 || high > steadyRatio*low {
		return sum, last, false
	}
	return sum, last, true
}

// commandLed is X7 where it all began in a finite control or action that no
// robot is given: the physics of that env went bad after it, so it was driven.
func (c *Case) commandLed(r *step) (Feature, bool) {
	if !r.is(ctrl, action, mean) || nonFinite(r.class) || r.env < 0 {
		return Feature{}, false
	}
	for _, v := range c.fields {
		row := v.row(r.env)
		if v.len() == 0 || !v.kind.isBody() || row < 0 {
			continue
		}
		for i := v.upTo(r.tick) + 1; i < v.len(); i++ {
			if v.state(i, row) == "" {
				continue
			}
			return found(yes, fmt.Sprintf("%s%s was %s at tick %d, and %s followed at tick %d", r.f.label(max(r.col, 0)), inEnv(r.env), num(r.size), r.tick, v.Name, v.frames.Ticks[i])).
				in(r.f, r.env, r.col, r.tick), true
		}
	}
	return Feature{}, false
}

// heard returns what can be behind a finite value of a step although the step
// does not read it: an observation grows with the commands that shake its state.
func (s *step) heard() []kind {
	if s.f.kind == obs && !nonFinite(s.class) {
		return []kind{ctrl}
	}
	return nil
}
