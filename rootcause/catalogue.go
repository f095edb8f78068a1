package rootcause

import "slices"

// The ids of the causes. They are stable: scripts read them.
const (
	ContactDivergence = "contact-divergence"
	RewardOverflow    = "reward-overflow"
	NormalizerCold    = "normalizer-cold"
	PolicyStd         = "policy-std"
	StaleGraph        = "stale-graph"
	ContactCapacity   = "contact-capacity"
	BadModel          = "bad-model"
	BadSensor         = "bad-sensor"
	BadReset          = "bad-reset"
	ActionExplosion   = "action-explosion"
	LearnerExplosion  = "learner-explosion"
	MathDomain        = "math-domain"
	PrecisionLoss     = "precision-loss"
	PaddingRows       = "padding-rows"
	NormalizerLost    = "normalizer-lost"
	RankDesync        = "rank-desync"
	SimKernel         = "sim-kernel"
	AutodiffSingular  = "autodiff-singularity"
	Backend           = "backend"
	Masked            = "masked"
	UnknownCause      = "unknown"
)

// Clean is the verdict of a dump in which nothing is wrong.
const Clean = "clean"

// cause is one entry of the catalogue.
type cause struct {
	id    string
	title string
	prior [3]float64 // by Prior; zero for causes that enter only on evidence
	// enters reports whether a cause outside the first five has evidence of its
	// own; nil means that it is always ranked.
	enters func(*Case) bool
	fix    func(*Case) string
	// like is the cause whose column of the likelihood table stands in for a
	// cause that has none of its own; rare says where it differs.
	like string
}

// catalogue lists the causes that are ranked: the brief's five, then those that
// enter on evidence, then the rest of the world. The textbook's prior knows
// nothing of the middle ones: theirs are set by hand, of the size of one of the
// parts of its "anything else", and count only once a cause has entered.
var catalogue = []cause{
	{id: ContactDivergence, title: "contact or constraint solver diverges", prior: [3]float64{.27, .10, 1}, fix: fixContact},
	{id: RewardOverflow, title: "division by zero or overflow in a reward term", prior: [3]float64{.225, .0033, 1}, fix: fixReward},
	{id: NormalizerCold, title: "observation normalizer not warmed up", prior: [3]float64{.18, .02, 1}, fix: fixNormalizer},
	{id: PolicyStd, title: "policy std at or below zero, or blown up", prior: [3]float64{.135, .05, 1}, fix: fixStd},
	{id: StaleGraph, title: "CUDA graph or buffer stale", prior: [3]float64{.09, .10, 1}, fix: fixGraph},
	{id: ContactCapacity, title: "contact or constraint buffers overflow", prior: [3]float64{.06, .12, 1}, fix: fixCapacity, enters: entersCapacity},
	{id: BadModel, title: "model values invalid or unstable", prior: [3]float64{.14, .12, 1}, fix: fixModel, enters: entersModel},
	{id: BadSensor, title: "sensor or terrain ray invalid", prior: [3]float64{.06, .07, 1}, fix: fixSensor, enters: entersSensor},
	{id: BadReset, title: "reset leaves bad values behind", prior: [3]float64{.06, .10, 1}, fix: fixReset, enters: entersReset},
	{id: ActionExplosion, title: "actions drive the physics out", prior: [3]float64{.12, .05, 1}, fix: fixAction, enters: entersAction},
	{id: LearnerExplosion, title: "the learner explodes with finite envs", prior: [3]float64{.08, .05, 1}, fix: fixLearner, enters: entersLearner},
	{id: MathDomain, title: "a formula leaves its domain (acos, log, sqrt)", prior: [3]float64{.05, .02, 1}, fix: fixMath, enters: entersMath},
	{id: PrecisionLoss, title: "low precision swallows the signal", prior: [3]float64{.02, .02, 1}, fix: fixPrecision, enters: entersPrecision, like: LearnerExplosion},
	{id: PaddingRows, title: "filler in done or padded rows reaches the learner", prior: [3]float64{.02, .02, 1}, fix: fixPadding, enters: entersPadding, like: BadSensor},
	{id: NormalizerLost, title: "normalizer state lost or re-initialised", prior: [3]float64{.02, .0033, 1}, fix: fixLost, enters: entersLost, like: NormalizerCold},
	{id: RankDesync, title: "ranks differ, or one rank's NaN reached the others", prior: [3]float64{.02, .0033, 1}, fix: fixRanks, enters: entersRanks, like: LearnerExplosion},
	{id: SimKernel, title: "simulator numerics without contact", prior: [3]float64{.03, .0033, 1}, fix: fixKernel, enters: entersKernel, like: BadModel},
	{id: AutodiffSingular, title: "the gradient of a finite value is not finite", prior: [3]float64{.02, .0033, 1}, fix: fixAutodiff, enters: entersAutodiff, like: LearnerExplosion},
	{id: Backend, title: "one GPU, driver or compiler version", prior: [3]float64{.04, .05, 1}, fix: fixBackend, enters: entersBackend, like: StaleGraph},
	{id: Masked, title: "the evidence was erased before it was recorded", prior: [3]float64{.05, .10, 1}, fix: fixMasked, enters: entersMasked, like: UnknownCause},
	{id: UnknownCause, title: "none of these explains what is recorded", prior: [3]float64{.10, .20, 1}, fix: fixUnknown},
}

// indexOf returns the place of a cause in the catalogue.
func indexOf(id string) int {
	return slices.IndexFunc(catalogue, func(k cause) bool { return k.id == id })
}

// is reports whether a feature has one of some values.
func (c *Case) is(id FeatureID, values ...string) bool {
	return slices.Contains(values, c.feature(id).Value)
}

func entersCapacity(c *Case) bool { return c.is(F4, yes, "said") || c.is(X12, yes) }

// entersModel always lets the model in where the physics ran away: contacts are not
// the only thing that does that, and without a rival they would be believed for
// want of one. Where nothing can touch, and the model was audited, sim-kernel is
// that rival.
func entersModel(c *Case) bool {
	return c.modelShown() || c.is(F1, onPhysics) && !(entersKernel(c) && c.is(X6, no))
}

// modelShown reports whether something of its own speaks of the model.
func (c *Case) modelShown() bool {
	return c.is(X25, flipped) || c.is(F1, onPhysics, onMultiple) && (c.is(X1, yes, "recent", "felt") || c.is(X2, yes, "air") || c.is(X4, yes) ||
		c.is(X6, "impossible", "unstable", "shaky") || c.is(X28, beyondPhysics, apart, fragile) || (c.is(F8, "all", "some") || c.is(X13, yes)) && c.is(F2, yes))
}

func entersSensor(c *Case) bool {
	return c.is(F1, onSensor) || c.is(X8, "part") || c.is(X25, spikes, atReset)
}

func entersMath(c *Case) bool {
	return c.is(F1, onSensor) || c.is(X23, yes, "control", "optimizer", "network", "flat", "bound", byZero) || c.is(F1, onLearner) && (c.is(X3, "partial") || c.is(X3, "sudden") && c.root().f.kind == loss)
}

func entersReset(c *Case) bool {
	return c.is(X25, atReset) || c.is(X5, yes, "wild", "obs", "written", "seen") || c.is(X29, yes) || c.is(X11, "pose", "velocity", "state")
}

// entersAction also lets actions in where nobody recorded them and the model
// has been looked at without finding a fault: they are what is left.
func entersAction(c *Case) bool {
	unseen := c.first(ctrl, action).len() == 0 && c.is(F2, yes) && c.is(X6, no) && c.is(X14, no, "none", "never")
	return c.is(X7, yes) || c.is(F5, yes) && c.is(F1, onPhysics, onStd) || unseen && c.is(F1, onPhysics)
}

func entersLearner(c *Case) bool {
	return c.is(F1, onLearner) || c.is(X3, yes, recurs) || c.is(X25, ascends) || c.is(F11, yes)
}

// The causes that are rare need their own fact; nothing else lets them in.
func entersPrecision(c *Case) bool { return c.is(X21, yes, "half") }

func entersPadding(c *Case) bool  { return c.is(X18, yes, "all", "unwritten") || c.is(X3, "partial") }
func entersLost(c *Case) bool     { return c.is(X19, yes) }
func entersRanks(c *Case) bool    { return c.is(X20, yes, "elsewhere") }
func entersAutodiff(c *Case) bool { return c.is(X22, yes) }
func entersBackend(c *Case) bool  { return c.is(X9, "cuda", "backend") }
func entersMasked(c *Case) bool   { return c.is(X17, yes, "named", "shown") || c.is(X24, halted) }

// entersKernel lets the simulator's own numerics in where no contact was active
// and the model that was looked at has no fault.
func entersKernel(c *Case) bool {
	return c.is(F1, onPhysics) && (c.is(X2, yes, "air") || c.is(X14, "none", "never") || c.contactAudit().Value == "none") && !c.is(X6, "impossible", "unstable")
}
