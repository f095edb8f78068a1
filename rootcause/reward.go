package rootcause

import (
	"fmt"
	"math"

	"github.com/nanguard/nanguard/dump"
)

// fellThrough is a penetration in m that no solver leaves in a healthy run.
const fellThrough = 0.1

// rewardSpike is F6: a reward that is non-finite, or out of all proportion,
// over physics that is finite and quiet. A spike alone is no evidence: contact
// impulses make rewards of 1e5 in healthy runs.
func (c *Case) rewardSpike() Feature {
	if c.first(term, reward) == nil {
		return unmeasured("the reward")
	}
	r := c.root()
	if !r.is(term, reward) {
		return found(no, "no reward term went bad before anything else did")
	}
	v := c.velocity()
	if v.len() == 0 {
		v = c.first(obs)
	}
	if v.len() == 0 {
		return unmeasured("the physics under the reward")
	}
	if v.Clock == dump.ClockStep && r.f.Clock == dump.ClockStep && c.endedAt(r) {
		return unmeasured("the physics under the reward: what is beside it is of the next episode")
	}
	if v.upTo(r.tick) < 0 && v.entryBefore(r.tick+1) < 0 {
		return unmeasured("the physics under the reward: the frames of " + v.Name + " begin after it")
	}
	if e, ok := c.sunkUnseen(); ok {
		return unmeasured(fmt.Sprintf("the depth of contacts under the reward: the simulator reported a full buffer (%s) at tick %d, and bodies whose contacts are dropped sink at an ordinary speed", e.Name, e.Tick))
	}
	if !c.quietAt(v, r.env, r.tick) {
		return found(no, fmt.Sprintf("%s went bad over physics that had run away", r.name))
	}
	if d := c.counterNamed("dist"); r.env >= 0 && d.len() > 0 {
		if p := c.penetration(d, r.env); p.Measured > fellThrough {
			return found(no, fmt.Sprintf("%s went bad over bodies that sank into each other: %s", r.name, p.Text))
		}
	}
	if f, ok := c.zeroed(); ok {
		return unmeasured("what the reward was made from: " + f.Text)
	}
	text := fmt.Sprintf("%s%s is %s at tick %d over quiet physics", r.name, inEnv(r.env), words[r.class], r.tick)
	if !nonFinite(r.class) {
		text = fmt.Sprintf("%s%s is %s at tick %d over quiet physics; it is usually %s", r.name, inEnv(r.env), num(r.size), r.tick, num(r.f.base))
		if eps := overEpsilon(r.size); eps > 0 {
			text += fmt.Sprintf(", and %s is what dividing by a distance of zero plus %s gives", num(r.size), num(eps))
		}
	}
	out := found(yes, text).in(r.f, r.env, max(r.col, 0), r.tick)
	out.Measured, out.Baseline = r.size, r.f.base
	return out
}

// quietAt reports whether the speeds of an env were fine at a tick; of all envs
// in the file when the env is not known.
func (c *Case) quietAt(v *field, env int, tick int64) bool {
	i := v.upTo(tick)
	if i < 0 {
		j := v.entryBefore(tick + 1)
		return j < 0 || v.traced(j) == ""
	}
	for _, row := range c.lookAt(v, env) {
		if v.state(i, row) != "" {
			return false
		}
	}
	return true
}

// epsilons are the small numbers that people add to a denominator.
var epsilons = []float64{1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12}

// overEpsilon returns the epsilon over which a size is one; 0 when there is none.
func overEpsilon(v float64) float64 {
	for _, e := range epsilons {
		if math.Abs(math.Abs(v)*e-1) < atEpsilon {
			return e
		}
	}
	return 0
}

// endedAt reports whether the env of a step was reset in the very env step.
func (c *Case) endedAt(r *step) bool {
	return r.env >= 0 && cutBetween(c.resets[r.env], c.stepsBefore(r.tick, 1)+1, r.tick+1)
}

// The bounds of a reward that sits at one over its own epsilon: how close it must
// be to it, how much larger than the quiet part of it, how often, and from what
// size of a loss on it has ruined the learner.
const (
	atEpsilon  = 1e-3
	aboveQuiet = 1e3
	ruined     = 1e12
)

// divided finds a reward that is finite and yet one over the small number that was
// added to its denominator, again and again, while a loss is beyond any use: the
// distance was zero. A large reward by itself is no fault.
func (c *Case) divided() (step, bool) {
	if c.largestLoss() < ruined {
		return step{}, false
	}
	for _, f := range c.fields {
		if f.kind != term && f.kind != reward || f.len() == 0 || !f.PerEnv {
			continue
		}
		if s, ok := c.atBound(f); ok {
			return s, true
		}
	}
	return step{}, false
}

// atBound returns the first of several values of a field that are at such a bound,
// in the rows of the file or, by the trace, in any env.
func (c *Case) atBound(f *field) (step, bool) {
	n, first, row := 0, -1, -1
	for i := range f.len() {
		for r := range f.rows {
			if v := f.cell(i, r).max; overEpsilon(v) > 0 && v > aboveQuiet*f.base {
				if n++; n == 1 {
					first, row = i, r
				}
			}
		}
	}
	seen, entry := 0, -1
	for j := 0; f.trace != nil && j < len(f.trace.Ticks); j++ {
		if v := at(f.trace.AbsMax, j); overEpsilon(v) > 0 && v > aboveQuiet*f.base {
			if seen++; seen == 1 {
				entry = j
			}
		}
	}
	var s step
	switch {
	case seen >= 3:
		s = f.inTrace(entry, -1)
	case n >= 3:
		s = c.inFrame(f, first, row)
	default:
		return step{}, false
	}
	s.class = huge
	return s, true
}
