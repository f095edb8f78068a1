package rootcause

import (
	"fmt"
	"slices"
)

// undecided are two causes that look the same in what a dump holds: neither earns a
// verdict while both are in the running, however much the one is believed.
type undecided struct {
	a, b   string
	why    string // what leaves both standing
	ask    string // what would tell them apart
	oneWay bool   // b may still earn one: a has no sign of its own
}

// undecided returns the pairs that the dump cannot tell apart.
func (c *Case) undecided() (out []undecided) {
	r := c.root()
	if e, ok := c.sunkUnseen(); ok && r.is(reward, term) {
		out = append(out, undecided{
			a: RewardOverflow, b: ContactCapacity,
			why: fmt.Sprintf("The simulator reported a full buffer (%s) at tick %d, and what sinks for want of contacts looks well in all that is recorded", e.Name, e.Tick),
			ask: "record contact.dist, and ncon and nefc, on the substep clock",
		})
	}
	if c.contactUntold() {
		out = append(out, undecided{
			a: ContactDivergence, b: BadModel,
			why: "Neither contacts nor the model are in the dump, and both run away like this",
			ask: "put the .mjb beside the dump, or record nefc and solver_niter on the substep clock",
		})
	}
	if c.is(X18, yes) && c.is(X5, yes, "seen") && r.is(obs) && c.first(body...) == nil {
		out = append(out, undecided{
			a: PaddingRows, b: BadReset,
			why: "The observation of an env whose episode is over is the first of the next one too, and the state that the reset left is not recorded",
			ask: "record qpos and qvel right after the reset",
		})
	}
	if c.is(X5, yes, "wild") && c.is(X2, no) && !c.is(X29, yes) {
		out = append(out, undecided{
			a: BadReset, b: ContactDivergence,
			why: "The first record after the reset has contacts and a substep behind it: either may have thrown the env",
			ask: "record qpos and qvel right after the reset, before the first substep",
		})
	}
	return append(out, c.undecidedLearner(r)...)
}

// undecidedLearner returns those of the pairs that are about the learner.
func (c *Case) undecidedLearner(r *step) (out []undecided) {
	if c.is(X20, "elsewhere") && c.is(X22, yes) {
		out = append(out, undecided{
			a: RankDesync, b: AutodiffSingular,
			why: "Gradients are recorded behind the all-reduce alone, so this rank may have made the NaN itself or been sent it",
			ask: "record the gradient of each rank before the all-reduce (grad_norm.local)",
		})
	}
	if c.first(grad) == nil {
		for _, other := range []string{MathDomain, LearnerExplosion} {
			out = append(out, undecided{
				a: AutodiffSingular, b: other, oneWay: true,
				why: "No gradient is recorded, so whether one was the first to go bad is not known",
				ask: "record grad_norm beside the loss terms on the minibatch clock",
			})
		}
	}
	if c.is(X20, "elsewhere") && r.is(normMean, normVar) {
		out = append(out, undecided{
			a: NormalizerCold, b: RankDesync,
			why: r.name + " went bad at once while every observation of this rank is fine, so those of another may be in it",
			ask: "record the statistics of each rank before they are shared, or look at the other ranks' dumps",
		})
	}
	if c.is(X21, "half") {
		out = append(out, undecided{
			a: PrecisionLoss, b: AutodiffSingular,
			why: "In float16 the scale of the loss makes a NaN as well as a derivative without a value does",
			ask: "run that update again in float32 or bfloat16: what stays NaN is the derivative",
		})
	}
	return out
}

// contactUntold reports whether nothing that is recorded tells contacts from a model
// that runs away by itself.
func (c *Case) contactUntold() bool {
	for _, id := range []FeatureID{F3, F4, X1, X2, X6, X11, X12, X14, X15, X16, X25, X26, X28, X30} {
		if !c.is(id, unknown) {
			return false
		}
	}
	return true
}

// between returns the pair that the first of the ranked causes is of, if the other
// is in the running too.
func between(pairs []undecided, ranked []candidate) (undecided, bool) {
	for _, u := range pairs {
		other := ""
		switch ranked[0].id {
		case u.a:
			other = u.b
		case u.b:
			other = u.a
		default:
			continue
		}
		if u.oneWay && other == u.a {
			continue
		}
		if slices.ContainsFunc(ranked, func(k candidate) bool { return k.id == other }) {
			return u, true
		}
	}
	return undecided{}, false
}

// say says that two causes cannot be told apart, with the beliefs in them.
func (u *undecided) say(ranked []candidate) string {
	belief := map[string]float64{}
	for _, k := range ranked {
		belief[k.id] = 100 * k.post
	}
	a, b := u.a, u.b
	if belief[b] > belief[a] {
		a, b = b, a
	}
	return fmt.Sprintf("%s: the dump cannot tell %s (%.0f %%) from %s (%.0f %%). To tell them apart, %s.", u.why, a, belief[a], b, belief[b], u.ask)
}
