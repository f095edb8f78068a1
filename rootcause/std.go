package rootcause

import (
	"fmt"
	"math"
	"slices"

	"github.com/nanguard/nanguard/dump"
)

// The clamp of RSL-RL's std; a std that sits there stopped being learned.
const stdClamp = 1e-6

// stdAnomaly is F10: a policy std at or below zero, at its clamp, or non-finite
// from finite inputs. What an exception says is no evidence for it: torch says
// "std >= 0" for NaN too. A large std is none either: clipped actions hide it
// for hundreds of healthy steps.
func (c *Case) stdAnomaly() Feature {
	var fields []*field
	for _, f := range c.fields {
		if (f.kind == std || f.kind == paramStd || f.kind == logStd) && f.len() > 0 {
			fields = append(fields, f)
		}
	}
	if len(fields) == 0 {
		if f := c.logits(); f != nil && c.root() != nil {
			return found(no, fmt.Sprintf("the policy chooses by %s: it has no std", f.Name))
		}
		return unmeasured("policy.std or its parameter")
	}
	if c.root() == nil {
		if f := c.stdAdrift(); f.Value == yes {
			return f
		}
	}
	best := unmeasured("the std before it began")
	for _, f := range fields {
		out, ok := c.judgeStd(f)
		if ok {
			return out
		}
		if !best.known() {
			best = out
		}
	}
	return best
}

// logits returns the logits of a policy that chooses one of several actions, nil
// without any.
func (c *Case) logits() *field {
	for _, f := range c.fields {
		if f.kind == mean && about(f.Name, "logit") && f.to-f.from >= 2 && f.len() > 0 {
			return f
		}
	}
	return nil
}

// judgeStd judges one field of std. ok is true when it is anomalous.
func (c *Case) judgeStd(f *field) (Feature, bool) {
	if out, ok := c.stdBroken(f); ok {
		return out, true
	}
	i := f.upTo(c.deadline() - 1)
	if i < 0 {
		i = f.upTo(c.deadline())
	}
	if i < 0 {
		return unmeasured(f.Name + " before it began"), false
	}
	least, row := math.Inf(1), 0
	for r := range f.rows {
		cell := f.cell(i, r)
		if cell.bad > 0 {
			return found(no, fmt.Sprintf("%s is %s, from inputs that were bad before", f.Name, cell.class)), false
		}
		if cell.min < least {
			least, row = cell.min, r
		}
	}
	if c.inChain(f) {
		row := c.chainRow(f, row)
		if cell := f.cell(i, row); f.state(i, row) == growing || f.state(i, row) == huge {
			text := fmt.Sprintf("%s is %s at tick %d%s: it blew up before what it drives did", f.label(int(cell.arg)), num(f.at(i, row, int(cell.arg))), f.frames.Ticks[i], f.trend(i, row, int(cell.arg)))
			return found(yes, text).in(f, f.env(row), int(cell.arg), f.frames.Ticks[i]), true
		}
	}
	if r := c.root(); r != nil && r.f == f && r.row < 0 && (r.class == growing || r.class == huge) {
		out := found(yes, fmt.Sprintf("%s rose to %s by tick %d%s, by the trace over all envs (healthy: %s): it blew up before what it drives did", f.Name, num(r.size), r.tick, inEnv(r.env), num(f.base)))
		out.Measured, out.Baseline = r.size, f.base
		return out.in(f, r.env, -1, r.tick), true
	}
	if f.kind == logStd {
		return found(no, fmt.Sprintf("the smallest %s was %s", f.Name, num(least))), false
	}
	col := f.lowest(i, row)
	value, text := no, fmt.Sprintf("the smallest %s was %s, above zero and its clamp", f.Name, num(least))
	switch {
	case least <= 0 && f.cell(i, row).max > 0:
		value = yes
		text = fmt.Sprintf("%s is %s at tick %d%s: a sampler refuses a std below zero", f.label(col), num(least), f.frames.Ticks[i], f.trend(i, row, col)) + c.tellSchedule()
	case least <= 1.01*stdClamp && least > 0:
		value = yes
		text = fmt.Sprintf("%s sits at its clamp (%s)", f.label(col), num(least))
	}
	if value == no && c.stdSinks(f, i) {
		value, text = sinking, fmt.Sprintf("%s was %s%s and fell by more than that in the update before: at that pace it is below zero in the one in which %s went bad, and no sampler or logarithm takes that", f.label(col), num(least), f.trend(i, row, col), c.root().name)
	} else if value == no && c.stdMayFall(f, least) {
		value, text = "low", fmt.Sprintf("%s was %s in the last rollout%s, and what the update after it made of that is not recorded", f.label(col), num(least), f.trend(i, row, col))
	}
	out := found(value, text).in(f, f.env(row), col, f.frames.Ticks[i])
	out.Measured, out.Baseline = least, 10*stdClamp
	return out, value == yes || value == sinking
}

// sinking is the value of F10 for a raw std that was about to cross zero.
const sinking = "sinking"

// stdSinks reports whether a raw std that is recorded between updates was on its way
// down, with less left than the last update took, and a part of the learner became NaN
// in the update after it, of which the std is not recorded.
func (c *Case) stdSinks(f *field, i int) bool {
	r := c.root()
	if f.kind != paramStd || f.Clock != dump.ClockUpdate || c.stdParam() != "scalar" || i < 3 || !r.is(loss, logProb, grad, param, paramStd, monitor) || r.class != "nan" || f.frames.Ticks[i] >= r.tick {
		return false
	}
	if i+1 < f.len() && (f.frames.Ticks[i+1] < r.tick || f.cell(i+1, 0).bad == 0) {
		return false
	}
	for col := range f.to - f.from {
		left, falls := f.at(i, 0, col), true
		for k := i - 2; k <= i; k++ {
			falls = falls && f.at(k, 0, col) < f.at(k-1, 0, col)
		}
		if falls && left > 0 && left < f.at(i-1, 0, col)-left {
			return true
		}
	}
	return false
}

// lowStd is a std so small that the next update may take it below zero.
const lowStd = 0.02

// stdMayFall reports whether a std that was low in the rollout may have crossed
// zero in the update after it, of which nothing is recorded.
func (c *Case) stdMayFall(f *field, least float64) bool {
	if f.Clock != dump.ClockStep || least >= lowStd || c.stdParam() == "log" {
		return false
	}
	return !slices.ContainsFunc(c.fields, func(g *field) bool { return g.kind == paramStd && (g.len() > 0 || g.trace != nil) })
}

// fallenBy is by how much a std must have come down for its fall to explain what else
// happened.
const fallenBy = 10.0

// stdFell returns the std that came down to where the next update may take it below
// zero, of which nothing is recorded.
func (c *Case) stdFell() (*field, bool) {
	for _, f := range c.fields {
		i := f.upTo(c.deadline() - 1)
		if i >= 0 && c.stdSinks(f, i) {
			return f, true
		}
		if f.kind != std || i < 0 {
			continue
		}
		for row := range f.rows {
			cell := f.cell(i, row)
			if cell.bad == 0 && cell.min > 0 && c.stdMayFall(f, cell.min) && fallenBy*cell.min < f.at(0, row, f.lowest(i, row)) {
				return f, true
			}
		}
	}
	return nil, false
}

// The bounds of a std that went astray without anything going wrong: a policy
// that no longer explores at all, or one that is nothing but noise.
const (
	frozenStd = 1e-5
	noisyStd  = 50.0
	noisyRise = 30.0 // over what it was
)

// stdAdrift is the part of F10 that a silent failure shows: every std of every env
// has collapsed, or has risen out of all proportion.
func (c *Case) stdAdrift() Feature {
	if f, ok := c.stdAtFloor(); ok {
		f.Value = yes
		return f
	}
	for _, f := range c.fields {
		if f.kind != std && f.kind != paramStd || f.len() == 0 {
			continue
		}
		last, least, most := f.len()-1, math.Inf(1), 0.0
		for row := range f.rows {
			cell := f.cell(last, row)
			if cell.bad > 0 || cell.min <= 0 {
				return found(no, "the std is not positive: judged elsewhere")
			}
			least, most = math.Min(least, cell.max), math.Max(most, cell.max)
		}
		tick := f.frames.Ticks[last]
		switch was := f.earliest(); {
		case most < frozenStd && was > 100*most && c.learnsWith(f):
			return found(yes, fmt.Sprintf("every std of %s is below %s at tick %d (it was %s): the policy no longer explores", f.Name, num(frozenStd), tick, num(was))).in(f, -1, 0, tick)
		case least > noisyStd && was > 0 && least > noisyRise*was:
			return found(yes, fmt.Sprintf("%s is %s at tick %d, %s what it was: the actions are noise", f.Name, num(most), tick, times(most/was))).in(f, -1, 0, tick)
		}
	}
	return found(no, "the std is of an ordinary size")
}

// learnsWith reports whether a std that collapsed is one that the policy learns with: a
// parameter, or one of whose actions a density is recorded, and a loss goes on after it
// collapsed. The noise of a deterministic policy is annealed to nothing, and what is
// evaluated has none.
func (c *Case) learnsWith(f *field) bool {
	if f.kind == paramStd {
		return true
	}
	i := f.len() - 1
	for i > 0 && f.cell(i-1, 0).max < frozenStd {
		i--
	}
	return c.first(logProb) != nil && slices.ContainsFunc(c.fields, func(g *field) bool {
		return g.kind == loss && g.len() > 0 && g.frames.Ticks[g.len()-1] >= f.frames.Ticks[i]
	})
}

// inChain reports whether the way from the root to the trip leads through a
// field.
func (c *Case) inChain(f *field) bool {
	return slices.ContainsFunc(c.chain, func(s step) bool { return s.f == f })
}

// variesByEnv reports whether the rows of a field differ in the frame before i:
// then a network makes it from what each env observes.
func (c *Case) variesByEnv(f *field, i int) bool {
	for row := 1; row < f.rows && i > 0; row++ {
		for col := range f.to - f.from {
			if a, b := f.at(i-1, row, col), f.at(i-1, 0, col); finite(a) && finite(b) && a != b {
				return true
			}
		}
	}
	return false
}

// chainRow returns the row in which the way from the root to the trip leads
// through a field, or another where the file does not hold it.
func (c *Case) chainRow(f *field, row int) int {
	for i := range c.chain {
		if s := &c.chain[i]; s.f == f && s.row >= 0 {
			return s.row
		}
	}
	return row
}

// stdBroken reports whether a std is non-finite from finite inputs: where it
// all began.
func (c *Case) stdBroken(f *field) (Feature, bool) {
	r := c.root()
	if r == nil || r.f != f || !nonFinite(r.class) {
		return Feature{}, false
	}
	return found(yes, fmt.Sprintf("%s is %s from finite inputs", f.Name, words[r.class])).in(f, r.env, r.col, r.tick), true
}

// trend says how a std came down: " (from 0.98 in 50 minibatches)".
func (f *field) trend(i, row, col int) string {
	if i == 0 {
		return ""
	}
	return fmt.Sprintf(" (from %s, %s earlier)", num(f.at(0, row, col)), f.clockWord(i))
}
