package rootcause

import (
	"slices"

	"github.com/nanguard/nanguard/dump"
)

// hardly is what is left of the prior of a cause of which the dump holds no sign
// where it would, or of which a fact of the dump says that it was not that.
const hardly = 0.1

// unshown is what is left of the prior of a cause that is in the running only
// because it must not be left out. Between a half and a sixth the tuning half of
// fixtures and captured dumps is about as little surprised, whichever of them are
// left out of the fit; at one it is more so.
const unshown = 0.5

// ruledOut corrects the prior of a cause by facts that belong to no other cause.
func (c *Case) ruledOut(cause string) float64 {
	if c.toldOnly() && c.fineToTheEnd(sparedBy(cause)...) {
		return hardly
	}
	if (cause == ContactDivergence || cause == RewardOverflow) && c.quietFailure() && c.fineToTheEnd(sparedBy(cause)...) {
		return hardly // neither of them leaves every number in order
	}
	switch cause {
	case BadModel:
		if c.is(F1, onPhysics) && !c.modelShown() {
			return unshown
		}
	case StaleGraph:
		if !c.graphSigns() {
			return hardly
		}
	case NormalizerCold:
		if c.root().is(normMean) && c.is(X20, yes) || c.root().is(normMean, normVar) && c.is(X20, "elsewhere") {
			return hardly // another rank's normalizer
		}
		if r := c.root(); r.placed() && !c.is(F9, yes) && (c.siblingFine(r) || r.f.kind.isLearner() && c.rolloutFine(r)) {
			return hardly // what else was made of the same observations is fine
		}
		if n, ok := c.normalizerCount(); ok && n >= earlyCount && !c.is(F9, yes) {
			return hardly // warm
		}
	case RewardOverflow:
		if c.policyAlone() {
			return hardly
		}
	case AutodiffSingular:
		if !c.is(X22, yes) && (c.man.Run.WorldSize > 1 || c.severalRanks()) {
			return unshown // another rank's NaN looks the same, and of that there is a sign
		}
	case LearnerExplosion:
		if c.is(X3, "unstepped") || c.amidRollout() {
			return hardly
		}
	}
	return 1
}

// quietFailure reports whether something is wrong, and it is no number out of its range
// and nothing that the run or a guard complained of.
func (c *Case) quietFailure() bool {
	return c.root() == nil && c.tripped == nil && !c.guardFired() && c.said == 0 && len(c.wrong) > 0
}

// amidRollout reports whether a policy's output became NaN between two steps of a
// rollout, out of an ordinary range: the learner, which is recorded, made no step in
// between, so it did not do that.
func (c *Case) amidRollout() bool {
	r := c.root()
	if !r.is(mean, std, action, logProb) || r.class != "nan" || r.row < 0 || r.first() || r.f.Clock != dump.ClockStep || r.f.badRows(r.frame-1) > 0 {
		return false
	}
	seen := false
	for _, f := range c.fields {
		i := f.upTo(r.tick)
		if f.kind != loss && f.kind != grad && f.kind != param || i < 0 {
			continue
		}
		if f.frames.Ticks[i] > r.before || f.badRows(i) > 0 {
			return false
		}
		seen = true
	}
	return seen
}

// policyAlone reports whether it began in what a policy or a normalizer makes for
// one env, non-finite or running away, while most others were fine. A reward reaches these by way of the learner
// only, which changes them in all envs.
func (c *Case) policyAlone() bool {
	r := c.root()
	return r.is(obsNorm, mean, std, action, logProb, value) && r.f.Clock == dump.ClockStep && c.lone(r)
}

// graphSigns reports whether anything speaks of a graph or of memory that moved:
// an event, an address, values that stand still or turn up from nowhere, or an
// exception of CUDA's.
func (c *Case) graphSigns() bool {
	return c.graphDeclared() || c.is(X1, "recent") || c.is(X8, yes, "part") || c.is(X9, "cuda", "backend") || c.is(X11, "velocity") || c.is(X13, "struck")
}

// graphDeclared reports whether the run says anything of CUDA graphs or of arrays
// that moved.
func (c *Case) graphDeclared() bool {
	kinds := []string{dump.EventGraphCapture, dump.EventGraphReplay, dump.EventBufferMoved}
	if slices.ContainsFunc(c.man.Events, func(e dump.Event) bool { return slices.Contains(kinds, e.Kind) }) {
		return true
	}
	for name := range c.man.Facts {
		if about(name, "graph", "address.") {
			return true
		}
	}
	return false
}
