package rootcause

import "fmt"

// burstRise is the factor by which samples of a batch must exceed all of the record
// before it, and the size from which on they have run away.
const burstRise = 1e5

// batchBursts is the part of X3 for a batch of which some samples are not finite and
// others, finite still, are decades above all of the record before it: what overflows
// leaves some on the way, a formula that leaves its domain does not.
func (c *Case) batchBursts(r *step) (Feature, bool) {
	if !r.is(loss, grad, value, logProb, monitor) || !nonFinite(r.class) {
		return Feature{}, false
	}
	for _, f := range c.fields {
		i := f.upTo(r.tick)
		if f.kind != value || f.PerEnv || f.rows != 1 || f.Clock != r.f.Clock || f.to-f.from < batchWidth || i < 1 || f.frames.Ticks[i] != r.tick {
			continue
		}
		was, is := f.cell(i-1, 0), f.cell(i, 0)
		if was.bad > 0 || is.bad == 0 || is.max < burstRise || is.max < burstRise*max(was.max, f.base) {
			continue
		}
		out := found(yes, fmt.Sprintf("samples of %s are up to %s in the record in which %s is %s, and were at most %s in the one before: they ran away, and some past what a number can hold", f.Name, num(is.max), r.name, words[r.class], num(was.max)))
		out.Measured, out.Baseline = is.max, was.max
		return out.in(f, -1, int(is.arg), r.tick), true
	}
	return Feature{}, false
}

// recurs is the value of X3 for a recurrent state that multiplies itself.
const recurs = "recurs"

// recurrence is the part of X3 for what a policy carries from step to step: it grew by a
// steady factor over decades, and no action followed it.
func (c *Case) recurrence(r *step) (Feature, bool) {
	if !r.is(mean) || nonFinite(r.class) || r.row < 0 || !c.unheeded(r) {
		return Feature{}, false
	}
	return c.grewSteadily(r, recurs, "while the actions stayed in their usual range: a state of the network that multiplies itself, with a gain above one and nothing that bounds it")
}

// unheeded reports whether a part of the policy grew, and the actions that are recorded
// beside it never left their usual range: what is inside a network (a recurrent state)
// drives no physics unless an action follows it.
func (c *Case) unheeded(r *step) bool {
	if !r.is(mean) || about(r.name, "mean", "action", "loc") { // what an action is drawn from may be squashed or clipped
		return false
	}
	seen := false
	for _, a := range c.fields {
		row := a.row(r.env)
		if a.kind != action && a.kind != ctrl || a.len() == 0 || row < 0 {
			continue
		}
		seen = true
		for i := max(a.upTo(r.tick), 0); i < a.len(); i++ {
			if s := a.state(i, row); s != "" && !nonFinite(s) {
				return false
			}
		}
	}
	return seen
}
