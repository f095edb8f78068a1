package rootcause

import "fmt"

// unsteppedRise is the factor by which an output of a network must leap to be out
// of reach of parameters of ordinary size.
const unsteppedRise = 1e10

// unstepped finds a policy's mean or a value that leapt by tens of decades while
// the parameters, gradients and learning rate of the last update before it were of
// an ordinary size: no step of the learner stands behind that.
func (c *Case) unstepped(r *step) (Feature, bool) {
	if !r.is(mean, value) || r.class != huge || r.row < 0 || r.first() {
		return Feature{}, false
	}
	if was := r.f.cell(r.frame-1, r.row).max; r.size < unsteppedRise*max(was, r.f.base) || !c.learnerFine(r.tick) {
		return Feature{}, false
	}
	return found("unstepped", fmt.Sprintf("%s leapt to %s although parameters, gradients and learning rate were small in the last update before it: no step of the learner did that, something else wrote to memory",
		r.name, num(r.size))).in(r.f, r.env, max(r.col, 0), r.tick), true
}

// learnerFine reports whether parameters and gradients were recorded in frames
// before a tick, and nothing of the last update was out of its usual range.
func (c *Case) learnerFine(t int64) bool {
	seen := map[kind]bool{}
	for _, f := range c.fields {
		i := f.upTo(t - 1)
		if f.kind != param && f.kind != grad && f.kind != lr || i < 0 {
			continue
		}
		if f.badRows(i) > 0 {
			return false
		}
		seen[f.kind] = true
	}
	return seen[param] && seen[grad]
}

// newborn reports whether the first record that the file holds of a step's field
// is the first that there was: others of its clock have frames from before it.
func (c *Case) newborn(s *step) bool {
	if !s.first() || s.f.len() == 0 || s.f.trace != nil && len(s.f.trace.Ticks) > 0 && s.f.trace.Ticks[0] < s.tick {
		return false
	}
	for _, g := range c.fields {
		if g.Clock == s.f.Clock && g.len() > s.f.len() && g.frames.Ticks[0] < s.tick {
			return true
		}
	}
	return false
}
