package rootcause

import (
	"math"
	"slices"
)

// The values of a yes/no feature. F1 and F8 have values of their own.
const (
	yes     = "yes"
	no      = "no"
	unknown = "unknown"
)

// Feature is one measured property of a case. Unknown is not evidence: it adds
// nothing for or against any cause.
type Feature struct {
	ID       FeatureID          // F1..F15 as in docs/causes.md, X1.. for the rest
	Value    string             // "yes", "no", "unknown", or the class of F1 and F8
	Text     string             // the fact in words; for unknown, what was not recorded
	Measured float64            // the statistic, 0 where the feature is no number
	Baseline float64            // what it was compared with
	Base     float64            // base rate among healthy envs, 0 where none is used
	Half     bool               // what the root read is not recorded: worth half
	Hidden   map[string]float64 // F1: stages that were not recorded and in which it may have begun, with weights
	Recorded bool               // unknown although its inputs are there: nothing to judge
	Field    string
	Env      int // -1: none
	Col      int
	Column   string
	Tick     *int64
}

// known reports whether the feature says anything.
func (f *Feature) known() bool { return f.Value != unknown }

// rule is a feature of the catalogue: how it is measured, which correlated
// group it belongs to and what to record or run where it is unknown.
type rule struct {
	id      FeatureID
	name    string
	means   string // what "yes" is, or the values
	group   string
	measure func(*Case) Feature
	ask     string
}

// rules lists the features in the order of docs/causes.md. F13 and F14 need a
// second run and stay unknown here: they are what a next step may ask for.
var rules = []rule{
	{F1, "stage of the root", "phys, sensor, reward, obsnorm, std_logp, loss_grad, or multi: everything bad in the first record", "what", (*Case).onsetClass, "record every stage with the guard (qpos, qvel, obs, each reward term, action, policy.std, loss), so that the first bad one is known"},
	{F2, "physics precursor", "speeds ran away before the first non-finite value, cut at resets", "physics", (*Case).physicsGrowth, "record qvel on the substep clock"},
	{F3, "solver at its limit", "in the last five substeps; worth what the other envs show (base rate)", "physics", (*Case).solverStress, "record solver_niter and ncon on the substep clock"},
	{F4, "capacity", "a buffer was full in the ten steps before it began (\"said\": the exception says so); a symptom once the speeds rose", "physics", (*Case).capacity, "record nefc and ncon, and the facts sim.njmax and sim.nconmax"},
	{F5, "extreme action", "three times the 99.9th percentile of all others, in the five steps before", "F5", (*Case).extremeAction, "record action"},
	{F6, "reward over quiet physics", "a term non-finite or out of proportion while speeds were fine; a spike alone is nothing", "what", (*Case).rewardSpike, "record every reward term by name, and qvel beside them"},
	{F7, "early", "fewer than ten learner iterations, or 1e4 normalizer samples", "F7", (*Case).early, "record the update clock (guard.Check on \"update\")"},
	{F8, "extent", "few, some or all envs where it began; not asked where the physics of all envs grows (X13)", "F8", (*Case).extent, "dump through the guard, which counts the bad envs of the whole run"},
	{F9, "low variance", "the columns that went bad hardly vary, or their running variance is below zero", "F9", (*Case).lowVariance, "record obs.<group>.normalized and normalizer.var"},
	{F10, "std", "at or below zero, at its clamp, non-finite from finite inputs, or blown up on the way from root to trip", "F10", (*Case).stdAnomaly, "record policy.std, or the std parameter itself"},
	{F11, "parameters", "non-finite before the step", "F11", (*Case).paramsBad, "record param.<layer> (a norm is enough) on the minibatch clock"},
	{F12, "stale address", "a graph was replayed over an array that had moved", "F12", (*Case).staleAddress, "note graph_capture and buffer_moved events, and the facts address.<field> and graph.<name>.replays"},
	{F13, "second run", "the same seed goes bad elsewhere: cannot be in a dump; a next step may ask for it", "F13", notMeasured("a second run with the same seed"), "run again with the same seed and compare where it starts"},
	{F14, "without graphs", "gone with CUDA graphs off: cannot be in a dump; a next step may ask for it", "F14", notMeasured("a run with CUDA graphs off"), "run again with CUDA graphs off"},
	{F15, "event near", "randomisation, push or curriculum within two env steps", "F15", (*Case).eventNear, "note randomisation, pushes and curriculum steps as events"},
	{X1, "model changed", "in this env and few others, (\"recent\") in all of them just before, or (\"felt\") so and all went bad at once", "X1", (*Case).modelEvent, "note each randomisation of a model array as a \"dr\" event with its envs"},
	{X2, "no constraint", "none was active in the substep where it ran away, or while the speeds grew further; or (\"air\") nothing was near the ground, the only thing to touch", "contact", (*Case).constraintFree, "record nefc on the substep clock"},
	{X3, "learner", "learning rate, weights, loss or gradient ran away with envs that were fine; (\"unstepped\") an output of a network leapt by ten decades with parameters and gradients small in the update before it", "X3", (*Case).learnerBlowUp, "record grad_norm, lr and param.<layer>"},
	{X4, "again", "the same env ran away in earlier episodes, no other did", "episodes", (*Case).again, "keep more frames, so that earlier episodes of the env are in the file"},
	{X5, "after a reset", "bad in the first record after it (\"wild\": of speeds that no substep makes; \"obs\": but not the state), \"written\" into a state between two steps, or \"seen\" in the observation right after it", "reset", (*Case).afterReset, "check the physics once more right after a reset"},
	{X6, "model audit", "impossible (below zero, not finite, a moving body without mass), unstable (sqrt(kp/inertia)·dt or explicit damping·dt/inertia above 2, a motor that turns its joint by a rad in one step) or shaky (half of that), at a step that its contacts bear", "X6", (*Case).modelAudit, "put the .mjb beside the dump"},
	{X14, "contact audit", "hard (direct stiffness: sqrt(k)·dt above 1.5), coarse (time constant shorter than a step), rough (than two), none: nothing can touch, or \"never\": nothing ever did until then", "contact", (*Case).contactModel, "put the .mjb beside the dump"},
	{X15, "driven hard", "the middle of the speeds in the 50 frames before it ran away is above 50 rad/s", "episodes", (*Case).excitement, "keep more frames before the end"},
	{X16, "leap", "out of ordinary motion by 3.6 decades within one frame", "reset", (*Case).leap, "record qvel on the substep clock"},
	{X7, "action leads", "it left the range before the physics did", "X7", (*Case).actionLeads, "record action and ctrl"},
	{X8, "frozen", "controls or sensors stand still, bit for bit, while what they are made from goes on, or (\"part\") some columns of an observation do in all envs", "X8", (*Case).frozen, "record ctrl beside action"},
	{X12, "dropping", "counts above their limit, or overflow flags set, in a quarter of all checks, long before; flags once where nothing else went wrong", "physics", (*Case).dropping, "record nefc and ncon over the whole run, and the facts sim.njmax and sim.nconmax"},
	{X13, "shared growth", "the physics of all envs ran away at once; or (\"struck\") that of many became non-finite within one frame", "X13", (*Case).sharedGrowth, "dump more envs, healthy ones among them"},
	{X17, "replaced", "the run says so (\"named\": and of what); or the largest finite number, a run of exact zeros, speeds pinned at one number, a clock that turns back", "X17", (*Case).maskedValues, "count what is replaced (nan_to_num, skipped steps, auto-resets) as nan_replaced events"},
	{X18, "filler rows", "the bad rows are exactly those whose episode is over (\"all\": and there are no others), or of a value that only these have, exactly the others; or (\"unwritten\") all that is stored of few samples of a batch is not finite", "X18", (*Case).fillerRows, "record done beside the observations and rewards"},
	{X19, "normalizer forgot", "its count fell, it is as new in an old run, or z jumped when a checkpoint was loaded", "X19", (*Case).normalizerLost, "record normalizer.count, and checkpoint_loaded as an event"},
	{X20, "ranks", "one rank is apart from the others, or nothing keeps them together; \"elsewhere\": bad here with finite losses of its own", "X20", (*Case).ranks, "dump on every rank before the all-reduce, and record grad_norm per rank"},
	{X21, "stands still", "a temperature, a target network, a count or a position does not move by a bit in low precision while what drives it does", "X21", (*Case).precision, "record alpha (or log_alpha), entropy and its target, and the facts amp.enabled and amp.dtype"},
	{X22, "gradient alone", "NaN at once while every loss is finite", "X22", (*Case).gradientAlone, "record the loss terms and grad_norm on the minibatch clock"},
	{X23, "density", "a log-probability not finite from a finite action, mean and std; (\"control\") a control from a finite action and state; (\"optimizer\") a parameter from a finite loss and finite gradients", "X23", (*Case).density, "record action, ctrl, policy.mean, policy.std and log_prob, and gradients beside the parameters"},
	{X24, "deaf", "gradients flow and no parameter moves by a bit", "X24", (*Case).deaf, "record gradients and parameters on the minibatch clock"},
	{X25, "telltale", "\"ascent\": a learning rate below zero; \"floor\": every std at its clamp from the first record on; \"flip\": a solref that changed its sign; \"spikes\": stray readings of one env's sensor; \"reset\": a column out of all proportion after each reset", "X25", (*Case).telltale, "record lr, policy.std, every sensor and the model arrays that are randomised"},
	{X9, "message", "what the exception says: weak, torch says \"std >= 0\" for NaN too", "X9", (*Case).message, "keep the exception's text as a note"},
	{X10, "column", "of a bad observation: a sensor's, a formula's (\"term\"), or many that share the state", "X10", (*Case).sensorColumn, "label the columns of obs"},
	{X11, "outside write", "positions and speeds that no integration step connects", "reset", (*Case).outsideWrite, "put the .mjb beside the dump, and record qpos and qvel"},
}

// ruleOf returns the rule of a feature; one that is not among them stands for
// itself, in a group of its own.
func ruleOf(id FeatureID) rule {
	if i := slices.IndexFunc(rules, func(r rule) bool { return r.id == id }); i >= 0 {
		return rules[i]
	}
	return rule{id: id, name: string(id), group: string(id)}
}

// measureFeatures measures every rule once.
func (c *Case) measureFeatures() {
	for _, r := range rules {
		f := r.measure(c)
		f.ID = r.id
		if f.Value == "" {
			f.Value = unknown
		}
		c.features = append(c.features, f)
	}
}

// feature returns a measured feature by id.
func (c *Case) feature(id FeatureID) *Feature {
	for i := range c.features {
		if c.features[i].ID == id {
			return &c.features[i]
		}
	}
	return &Feature{ID: id, Value: unknown, Env: -1}
}

// Features returns the measured features, in the order of docs/causes.md.
func (c *Case) Features() []Feature { return c.features }

// coverage returns the share of F1 to F15 whose inputs are recorded.
func (c *Case) coverage() float64 {
	n := 0
	for i := range c.features {
		if f := &c.features[i]; f.ID[0] == 'F' && (f.known() || f.Recorded) {
			n++
		}
	}
	return float64(n) / 15
}

// unmeasured returns an unknown feature that says what was not recorded.
func unmeasured(what string) Feature {
	return Feature{Value: unknown, Text: "not recorded: " + what, Env: -1}
}

// idle returns an unknown feature whose inputs are recorded: there was nothing
// to judge by it.
func idle(why string) Feature { return Feature{Value: unknown, Text: why, Env: -1, Recorded: true} }

// unblamed returns an unknown feature for want of an env to judge: idle when no
// env is to blame, unmeasured when the field or its rows are missing.
func (c *Case) unblamed(f *field, what string) Feature {
	if f.len() > 0 && len(c.culprits) == 0 {
		return idle("no env to blame")
	}
	return unmeasured(what + " of the env to blame")
}

// notMeasured returns the measure of a feature that one dump cannot hold.
func notMeasured(text string) func(*Case) Feature {
	return func(*Case) Feature { return unmeasured(text) }
}

// found returns a feature without a place.
func found(value, text string) Feature { return Feature{Value: value, Text: text, Env: -1} }

// in puts the place of a row's column into the feature.
func (f Feature) in(g *field, env, col int, tick int64) Feature {
	f.Field, f.Env, f.Tick = g.Name, env, &tick
	if col >= 0 {
		f.Col, f.Column = g.from+col, g.column(col)
	}
	return f
}

// onset puts the place of an onset into the feature.
func (f Feature) onset(o *onset) Feature {
	f.Field, f.Env, f.Tick = o.field, o.env, &o.tick
	if o.f != nil && o.col >= 0 {
		f.Col, f.Column = o.f.from+o.col, o.f.column(o.col)
	}
	return f
}

// deadline returns the tick before which evidence counts: that of the first
// non-finite value, or the end of the file.
func (c *Case) deadline() int64 {
	if c.tripped != nil {
		return c.tripped.tick
	}
	last := int64(0)
	for _, f := range c.fields {
		if n := f.len(); n > 0 {
			last = max(last, f.frames.Ticks[n-1])
		}
	}
	return last + 1
}

// beginning returns the tick at which it began: the root's, else the deadline.
func (c *Case) beginning() int64 {
	if r := c.root(); r != nil {
		return r.tick
	}
	return c.deadline()
}

// window returns the frames of f with ticks in [from, to), at most n of them,
// the last ones.
func (f *field) window(from, to int64, n int) (lo, hi int) {
	hi = f.upTo(to-1) + 1
	lo = max(f.upTo(from-1)+1, hi-n)
	return min(lo, hi), hi
}

// decimation returns how many substeps make an env step, 1 when not known.
func (c *Case) decimation() int {
	if v, ok := c.fact("sim.decimation"); ok && v >= 1 {
		return int(v)
	}
	return 1
}

// lastReset returns the tick after the last reset of env before t, or the start of time.
func (c *Case) lastReset(env int, t int64) int64 {
	if r := lastBefore(c.resets[env], t); r < t {
		return r + 1
	}
	return start
}

// start is a tick before every other, far enough from the end of the range for
// arithmetic.
const start = math.MinInt64 / 2
