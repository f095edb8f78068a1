package rootcause

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/nanguard/nanguard/dump"
)

// The bounds of commands that wind up: how many times they grow over how many
// checks in how many parts of the run, each no smaller than the one before by more
// than a tenth, while the actions they are made of stay within a half of what they
// were and the speeds grow less than half as much.
const (
	windRise  = 4.0
	windFor   = 40
	windParts = 5
	windDip   = 0.9
	windHeld  = 1.5
)

// What tells the two apart in words, and in what to do about them.
const (
	windsUpWords = "what is added up at each step is not limited"
	climbsWords  = "grew from update to update"
)

// series is the largest value of all envs over time, by the trace, or by the
// frames where there is none, up to and not including a tick.
type series struct {
	ticks []int64
	sizes []float64
}

// before returns what the file holds of a field before a tick: its finite sizes.
func (f *field) before(end int64) series {
	var s series
	switch {
	case f == nil:
	case f.trace != nil:
		for j, t := range f.trace.Ticks {
			if t < end && !nonFinite(f.traced(j)) {
				s.ticks, s.sizes = append(s.ticks, t), append(s.sizes, at(f.trace.AbsMax, j))
			}
		}
	case f.frames != nil:
		for i, t := range f.frames.Ticks {
			most, bad := 0.0, int32(0)
			for row := range f.rows {
				most, bad = max(most, f.cell(i, row).max), bad+f.cell(i, row).bad
			}
			if t < end && bad == 0 {
				s.ticks, s.sizes = append(s.ticks, t), append(s.sizes, most)
			}
		}
	}
	return s
}

// between returns the median of the sizes with ticks in [from, to), 0 without any.
func (s *series) between(from, to int64) float64 {
	lo, _ := slices.BinarySearch(s.ticks, from)
	hi, _ := slices.BinarySearch(s.ticks, to)
	if lo >= hi {
		return 0
	}
	v := slices.Clone(s.sizes[lo:hi])
	slices.Sort(v)
	return stat.Quantile(0.5, stat.Empirical, v, nil)
}

// allGrew is X7 where the commands of all envs grew together before the physics ran
// away: no single env stands out then.
func (c *Case) allGrew(r *step) (Feature, bool) {
	return c.firstOf(
		func(c *Case) (Feature, bool) { return c.windsUp(r) },
		func(c *Case) (Feature, bool) { return c.inStep(r) },
		func(c *Case) (Feature, bool) { return c.outputClimbs(r) })
}

// windsUp is X7 where the controls of all envs grew for a long time while the
// actions that they are made of did not: what is added up at each step and never
// limited. Controls that follow the state grow with it, not before it.
func (c *Case) windsUp(r *step) (Feature, bool) {
	u, a, v := c.first(ctrl), c.first(action, mean), c.velocity()
	if !r.is(body...) || u == nil || a == nil || v == nil {
		return Feature{}, false
	}
	us, as, vs := u.before(r.tick), a.before(r.tick), v.before(r.tick)
	n := len(us.ticks)
	if n < windFor {
		return Feature{}, false
	}
	var levels [windParts]float64
	part := func(k int) (int64, int64) { return us.ticks[k*n/windParts], us.ticks[(k+1)*n/windParts-1] + 1 }
	for k := range levels {
		if levels[k] = us.between(part(k)); k > 0 && levels[k] < windDip*levels[k-1] {
			return Feature{}, false
		}
	}
	first, last := us.between(us.ticks[0], us.ticks[n/10]+1), us.between(us.ticks[n-1-n/10], us.ticks[n-1]+1)
	acted, acts := as.between(part(0)), as.between(part(windParts-1))
	moved, moves := vs.between(part(0)), vs.between(part(windParts-1))
	switch {
	case first <= 0 || last < windRise*first:
		return Feature{}, false
	case acted <= 0 || acts > windHeld*acted:
		return Feature{}, false
	case !c.scaled(u, a, r) && (moved <= 0 || moves/moved > last/first/2):
		return Feature{}, false
	}
	why := windsUpWords
	if c.scaled(u, a, r) {
		why = "what it is multiplied by grew with the run"
	}
	f := found(yes, fmt.Sprintf("%s grew %s, from %s to %s over %s, while %s stayed at %s: %s", u.Name, times(last/first), num(first), num(last), u.clockWord(n), a.Name, num(acts), why))
	f.Measured, f.Baseline = last, first
	return f.in(u, r.env, -1, us.ticks[n-1]), true
}

// alongside is the cosine from which on a control points where its action does.
const alongside = 0.95

// scaled reports whether the controls of an env are its actions times a number, in
// the middle of the frames before a step: then nothing but that number grew, and
// the speeds may well grow with it.
func (c *Case) scaled(u, a *field, r *step) bool {
	row, arow := u.row(r.env), a.row(r.env)
	n := u.to - u.from
	if u.len() == 0 || a.len() == 0 || row < 0 || arow < 0 || n < 2 || a.to-a.from != n {
		return false
	}
	var cosines []float64
	for i := range u.upTo(r.tick) {
		k := a.upTo(u.frames.Ticks[i])
		if k < 0 {
			continue
		}
		dot, uu, aa := 0.0, 0.0, 0.0
		for col := range n {
			x, y := u.at(i, row, col), a.at(k, arow, col)
			dot, uu, aa = dot+x*y, uu+x*x, aa+y*y
		}
		if cos := dot / math.Sqrt(uu*aa); finite(cos) {
			cosines = append(cosines, cos)
		}
	}
	if len(cosines) < enough {
		return false
	}
	slices.Sort(cosines)
	return cosines[len(cosines)/2] > alongside
}

// The bounds of a policy that runs off: its output after the last update against
// that in the first rollout and in the one before, and how large it is at least,
// in the units of an action, which a fresh policy keeps well below one.
const (
	runsOff   = 10.0
	runsOn    = 1.5
	farOutput = 5.0
)

// outputClimbs is X7 where the output of the policy grew with each update, to a
// size that no action has, before the physics ran away.
func (c *Case) outputClimbs(r *step) (Feature, bool) {
	m := c.first(mean, action)
	if !r.is(body...) || m == nil {
		return Feature{}, false
	}
	s := m.before(r.tick)
	levels := c.perRollout(&s)
	n := len(levels)
	if n < 2 {
		return Feature{}, false
	}
	first, was, is := levels[0], levels[n-2], levels[n-1]
	if is < farOutput || is < runsOff*first || n > 2 && is < runsOn*was {
		return Feature{}, false
	}
	if u := c.first(ctrl); u != nil {
		if us := u.before(r.tick); us.between(s.ticks[len(s.ticks)-1], r.tick) < farOutput {
			return Feature{}, false // clipped, or scaled to what the motors bear
		}
	}
	f := found(yes, fmt.Sprintf("%s "+climbsWords+", from %s in the first rollout to %s in the last, %s, and reached the physics unclipped", m.Name, num(first), num(is), times(is/max(first, 1e-9))))
	f.Measured, f.Baseline = is, first
	return f.in(m, r.env, -1, s.ticks[len(s.ticks)-1]), true
}

// perRollout returns the median size of each rollout: of what lies between two
// updates of the learner.
func (c *Case) perRollout(s *series) []float64 {
	var updates []int64
	for _, f := range c.fields {
		if (f.kind == loss || f.kind == grad || f.kind == param) && f.Clock != dump.ClockStep {
			updates = append(updates, f.allTicks()...)
		}
	}
	slices.Sort(updates)
	var levels []float64
	for i := 0; i < len(s.ticks); {
		k := i + 1
		for k < len(s.ticks) && !cutBetween(updates, s.ticks[k-1], s.ticks[k]) {
			k++
		}
		levels = append(levels, s.between(s.ticks[i], s.ticks[k-1]+1))
		i = k
	}
	return levels
}

// allTicks returns the ticks of a field's trace, or of its frames.
func (f *field) allTicks() []int64 {
	switch {
	case f.trace != nil:
		return f.trace.Ticks
	case f.frames != nil:
		return f.frames.Ticks
	}
	return nil
}

// drivenTooHard is tooStrong for the controls in the frame in which it began.
func (c *Case) drivenTooHard(r *step) (Feature, bool) {
	f := c.first(ctrl)
	if !r.is(body...) || f.len() == 0 {
		return Feature{}, false
	}
	row, i := f.row(r.env), f.upTo(r.tick)
	if row < 0 || i < 0 {
		return Feature{}, false
	}
	return c.tooStrong(f, row, i)
}

// tooStrong is X7 for a motor without limits and a command that throws its joint
// about within a single step: the action drives it harder than a step can follow.
func (c *Case) tooStrong(f *field, row, i int) (Feature, bool) {
	inv, dt := c.inverses(), c.timestep()
	if inv == nil || dt <= 0 || f.to-f.from != len(c.model.Actuators) {
		return Feature{}, false
	}
	for col := range c.model.Actuators {
		a := &c.model.Actuators[col]
		if a.Joint < 0 || a.Joint >= len(c.model.Joints) || a.CtrlLimited || a.ForceLimited || a.BiasPrm[1] != 0 {
			continue
		}
		joint := &c.model.Joints[a.Joint]
		dof := joint.DofAdr
		if dof < 0 || dof >= len(inv) {
			continue
		}
		u := math.Abs(f.at(i, row, col))
		held := dt * inv[dof] * (c.damping(dof) + dt*math.Max(joint.Stiffness, 0)) // no further than its spring gives way
		turn := dt * dt * inv[dof] * math.Abs(a.Gear*a.GainPrm0) * u / (1 + held)
		if !finite(turn) || turn <= wild {
			continue
		}
		out := found(yes, fmt.Sprintf("%s of env %d was %s when it ran away; nothing limits that motor, and so much turns its joint by %s rad or m within one step of %s s from rest", f.label(col), f.env(row), num(f.at(i, row, col)), num(turn), num(dt)))
		out.Measured, out.Baseline = turn, wild
		return out.in(f, f.env(row), col, f.frames.Ticks[i]), true
	}
	return Feature{}, false
}
