package rootcause

import (
	"fmt"
	"slices"
)

// networkFormula is the part of X23 for what a policy computes in one env: its
// output is NaN there although what it read of that env is finite, and finite in
// the others. One set of weights makes them all, so it is no weight and no update,
// but a formula in the policy that has no value for what this env sees. A value is
// left out: a critic often reads more than the policy, and what is not recorded.
func (c *Case) networkFormula(r *step) (Feature, bool) {
	if !r.is(mean, std, action) || r.class != "nan" || r.row < 0 || !c.lone(r) {
		return Feature{}, false
	}
	if r.frame > 0 && r.f.state(r.frame-1, r.row) != "" || !c.readFine(r) {
		return Feature{}, false
	}
	what := "what the policy read of it"
	if r.is(action) && c.first(mean).len() > 0 {
		what = "its mean"
	}
	return found("network", fmt.Sprintf("%s is NaN in env %d although %s is finite and ordinary, and it is finite in other envs: one set of weights makes them all, so a formula in the policy has no value for this env (a softmax over nothing but -inf, a division by a norm of zero, a recurrent state of that env)",
		r.f.label(max(r.col, 0)), r.env, what)).in(r.f, r.env, max(r.col, 0), r.tick), true
}

// lone reports whether a step is of one env, and few others of the run went bad
// with it: at most a quarter of them.
func (c *Case) lone(r *step) bool {
	return r.placed() && r.f.PerEnv && r.env >= 0 && c.man.NumEnvs >= manyEnvs && 4*c.countBad(r) <= c.man.NumEnvs
}

// readFine reports whether what a policy's output was made from is recorded in the
// step of the env, and all of it finite and ordinary.
func (c *Case) readFine(r *step) bool {
	if r.is(action) && c.first(mean).len() > 0 {
		return c.allFine(r, mean)
	}
	return c.seesFine(r)
}

// seesFine reports whether observations are recorded in the step of an env, and all of
// them finite and ordinary.
func (c *Case) seesFine(r *step) bool { return c.allFine(r, obs, obsNorm) }

// allFine reports whether fields of some kinds are recorded in the step of an env, and
// all of them finite and ordinary.
func (c *Case) allFine(r *step, kinds ...kind) bool {
	seen := false
	for _, g := range c.fields {
		i, row := g.upTo(r.tick), g.row(r.env)
		if !slices.Contains(kinds, g.kind) || g.Clock != r.f.Clock || i < 0 || row < 0 {
			continue
		}
		if g.state(i, row) != "" {
			return false
		}
		seen = true
	}
	return seen
}

// partly reports whether some outputs of a policy are NaN and others of the same
// env are finite. A layer that is dense spreads a NaN over all of its outputs, so it
// arose behind the last one.
func (s *step) partly() bool {
	if !s.is(mean, action, std) || s.class != "nan" || s.row < 0 || !s.f.PerEnv {
		return false
	}
	return int(s.f.cell(s.frame, s.row).bad) < s.f.to-s.f.from
}
