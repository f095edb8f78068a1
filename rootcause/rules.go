package rootcause

import "slices"

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
	{
		id: F1, name: "stage of the root", group: "what", measure: (*Case).onsetClass,
		means: "phys, sensor, reward, obsnorm, std_logp, loss_grad, or multi: everything bad in the first record",
		ask:   "record every stage with the guard (qpos, qvel, obs, each reward term, action, policy.std, loss), so that the first bad one is known",
	},
	{
		id: F2, name: "physics precursor", group: "physics", measure: (*Case).physicsGrowth,
		means: "speeds ran away before the first non-finite value, cut at resets",
		ask:   "record qvel on the substep clock",
	},
	{
		id: F3, name: "solver at its limit", group: "physics", measure: (*Case).solverStress,
		means: "in the last five substeps, or contacts deeper than 1 cm and no deeper than 1 m; worth what the other envs show (base rate)",
		ask:   "record solver_niter and ncon on the substep clock",
	},
	{
		id: F4, name: "capacity", group: "physics", measure: (*Case).capacity,
		means: "a buffer was full in the ten steps before it began (\"said\": the exception says so); a symptom once the speeds rose",
		ask:   "record nefc and ncon, and the facts sim.njmax and sim.nconmax",
	},
	{
		id: F5, name: "extreme action", group: "F5", measure: (*Case).extremeAction,
		means: "three times the 99.9th percentile of all others, in the five steps before",
		ask:   "record action",
	},
	{
		id: F6, name: "reward over quiet physics", group: "what", measure: (*Case).rewardSpike,
		means: "a term non-finite or out of proportion while speeds were fine; a spike alone is nothing",
		ask:   "record every reward term by name, and qvel beside them",
	},
	{
		id: F7, name: "early", group: "F7", measure: (*Case).early,
		means: "fewer than ten learner iterations, or 1e4 normalizer samples",
		ask:   "record the update clock (guard.Check on \"update\")",
	},
	{
		id: F8, name: "extent", group: "F8", measure: (*Case).extent,
		means: "few, some or all envs where it began; not asked where the physics of all envs grows (X13)",
		ask:   "dump through the guard, which counts the bad envs of the whole run",
	},
	{
		id: F9, name: "low variance", group: "F9", measure: (*Case).lowVariance,
		means: "the columns that went bad hardly vary, or their running variance is below zero",
		ask:   "record obs.<group>.normalized and normalizer.var",
	},
	{
		id: F10, name: "std", group: "F10", measure: (*Case).stdAnomaly,
		means: "at or below zero, at its clamp, non-finite from finite inputs, or blown up on the way from root to trip; (\"sinking\") a raw std with less left than its last update took, where the learner became NaN in the next",
		ask:   "record policy.std, or the std parameter itself",
	},
	{
		id: F11, name: "parameters", group: "F11", measure: (*Case).paramsBad,
		means: "non-finite before the step",
		ask:   "record param.<layer> (a norm is enough) on the minibatch clock",
	},
	{
		id: F12, name: "stale address", group: "F12", measure: (*Case).staleAddress,
		means: "a graph was replayed over an array that had moved",
		ask:   "note graph_capture and buffer_moved events, and the facts address.<field> and graph.<name>.replays",
	},
	{
		id: F13, name: "second run", group: "F13", measure: notMeasured("a second run with the same seed"),
		means: "the same seed goes bad elsewhere: cannot be in a dump; a next step may ask for it",
		ask:   "run again with the same seed and compare where it starts",
	},
	{
		id: F14, name: "without graphs", group: "F14", measure: notMeasured("a run with CUDA graphs off"),
		means: "gone with CUDA graphs off: cannot be in a dump; a next step may ask for it",
		ask:   "run again with CUDA graphs off",
	},
	{
		id: F15, name: "event near", group: "F15", measure: (*Case).eventNear,
		means: "randomisation, push or curriculum within two env steps",
		ask:   "note randomisation, pushes and curriculum steps as events",
	},
	{
		id: X1, name: "model changed", group: "X1", measure: (*Case).modelEvent,
		means: "in this env and few others, (\"recent\") in all of them just before, or (\"felt\") so and all went bad at once",
		ask:   "note each randomisation of a model array as a \"dr\" event with its envs",
	},
	{
		id: X2, name: "no constraint", group: "contact", measure: (*Case).constraintFree,
		means: "none was active in the substep where it ran away, or while the speeds grew further, or until they were past any step; or (\"air\") nothing was near the ground, the only thing to touch",
		ask:   "record nefc on the substep clock",
	},
	{
		id: X3, name: "learner", group: "X3", measure: (*Case).learnerBlowUp,
		means: "learning rate, weights, loss or gradient ran away with envs that were fine; (\"unstepped\") an output of a network leapt by ten decades with parameters and gradients small in the update before it; (\"recurs\") a recurrent state grew by a steady factor over decades and no action followed",
		ask:   "record grad_norm, lr and param.<layer>",
	},
	{
		id: X4, name: "again", group: "episodes", measure: (*Case).again,
		means: "the same env ran away in earlier episodes, no other did",
		ask:   "keep more frames, so that earlier episodes of the env are in the file",
	},
	{
		id: X5, name: "after a reset", group: "reset", measure: (*Case).afterReset,
		means: "bad in the first record after it (\"wild\": of speeds that no substep makes; \"obs\": but not the state), \"written\" into a state between two steps, or \"seen\" in the observation right after it",
		ask:   "check the physics once more right after a reset",
	},
	{
		id: X6, name: "model audit", group: "X6", measure: (*Case).modelAudit,
		means: "impossible (below zero, not finite, a moving body without mass), unstable (sqrt(kp/inertia)·dt or explicit damping·dt/inertia above 2, a motor that turns its joint by a rad in one step) or shaky (half of that), at a step that its contacts bear",
		ask:   "put the .mjb beside the dump",
	},
	{
		id: X14, name: "contact audit", group: "contact", measure: (*Case).contactModel,
		means: "hard (direct stiffness: sqrt(k)·dt above 1.5), coarse (time constant shorter than a step), rough (than two), none: nothing can touch, or \"never\": nothing ever did until then",
		ask:   "put the .mjb beside the dump",
	},
	{
		id: X15, name: "driven hard", group: "episodes", measure: (*Case).excitement,
		means: "the middle of the speeds in the 50 frames before it ran away is above 50 rad/s",
		ask:   "keep more frames before the end",
	},
	{
		id: X16, name: "leap", group: "reset", measure: (*Case).leap,
		means: "out of ordinary motion by 3.6 decades within one frame",
		ask:   "record qvel on the substep clock",
	},
	{
		id: X7, name: "action leads", group: "X7", measure: (*Case).actionLeads,
		means: "it left the range before the physics did",
		ask:   "record action and ctrl",
	},
	{
		id: X8, name: "frozen", group: "X8", measure: (*Case).frozen,
		means: "controls or sensors stand still, bit for bit, while what they are made from goes on, or rewards do over resets, or a policy no longer answers the leap of its observation at a reset; or (\"part\") some columns of an observation do in all envs",
		ask:   "record ctrl beside action",
	},
	{
		id: X12, name: "dropping", group: "physics", measure: (*Case).dropping,
		means: "counts above their limit, or overflow flags set, in a quarter of all checks, long before; flags once where nothing else went wrong",
		ask:   "record nefc and ncon over the whole run, and the facts sim.njmax and sim.nconmax",
	},
	{
		id: X13, name: "shared growth", group: "X13", measure: (*Case).sharedGrowth,
		means: "the physics of all envs ran away at once; or (\"struck\") that of many became non-finite within one frame",
		ask:   "dump more envs, healthy ones among them",
	},
	{
		id: X17, name: "replaced", group: "X17", measure: (*Case).maskedValues,
		means: "the run says so (\"named\": and of what); or the largest finite number, a run of exact zeros, speeds pinned at one number, or a count of skipped steps that rises in most of the last minibatches where no parameter moves",
		ask:   "count what is replaced (nan_to_num, skipped steps, auto-resets) as nan_replaced events",
	},
	{
		id: X18, name: "filler rows", group: "X18", measure: (*Case).fillerRows,
		means: "the bad rows are exactly those whose episode is over, or the bad samples of a batch those for which a mask of zeros and ones says so (\"all\": and there are no others), or of a value that only these have, exactly the others; or (\"unwritten\") all that is stored of few samples of a batch is not finite, or of most is zero and never is where it is collected",
		ask:   "record done beside the observations and rewards",
	},
	{
		id: X19, name: "normalizer forgot", group: "X19", measure: (*Case).normalizerLost,
		means: "its count fell, it is as new in an old run, nobody ever updated it, it is applied twice, its statistics were left out of a load, all became one number, changed places or became a root or square of themselves, or z jumped when a checkpoint was loaded",
		ask:   "record normalizer.count, and checkpoint_loaded as an event",
	},
	{
		id: X20, name: "ranks", group: "X20", measure: (*Case).ranks,
		means: "one rank is apart from the others, their normalizers hold means more than two std apart, or nothing keeps them together; \"elsewhere\": bad here with finite losses of its own",
		ask:   "dump on every rank before the all-reduce, and record grad_norm per rank",
	},
	{
		id: X21, name: "stands still", group: "X21", measure: (*Case).precision,
		means: "a temperature, a target network, a count or a position does not move by a bit in low precision while what drives it does; or a target whose moving average is rounded away; or a batch holds an observation in steps as large as all that varies in it; or all gradients are zero, or their norm is subnormal while half of the weights rest, in float16 without a scaler; or the scale of the loss overflowed the gradients of float16 (\"half\": or made a NaN of them)",
		ask:   "record alpha (or log_alpha), entropy and its target, and the facts amp.enabled and amp.dtype",
	},
	{
		id: X22, name: "gradient alone", group: "X22", measure: (*Case).gradientAlone,
		means: "NaN at once while every loss is finite",
		ask:   "record the loss terms and grad_norm on the minibatch clock",
	},
	{
		id: X23, name: "density", group: "X23", measure: (*Case).density,
		means: "a log-probability not finite from a finite action, mean and std; (\"control\") a control from a finite action and state; (\"optimizer\") a parameter from a finite loss and finite gradients; (\"network\") an output of the policy in few envs from finite inputs; (\"flat\") a loss or advantage of one sample, or of values that are all the same; (\"bound\") a loss infinite at once while actions of a tanh are exactly at its bound; (\"zero\") what is divided by zero or is its logarithm: samples infinite where another number of theirs is zero, weights of a priority of zero, a variance of returns of zero, a probability that underflows, logits without an action that is allowed",
		ask:   "record action, ctrl, policy.mean, policy.std and log_prob, and gradients beside the parameters",
	},
	{
		id: X24, name: "deaf", group: "X24", measure: (*Case).deaf,
		means: "gradients flow and no parameter moves by a bit; (\"halted\") the gradient became exactly zero and all parameters stopped, while the loss goes on",
		ask:   "record gradients and parameters on the minibatch clock",
	},
	{
		id: X25, name: "telltale", group: "X25", measure: (*Case).telltale,
		means: "\"ascent\": a learning rate below zero, a discount above one that the targets of a critic show, values a million times every reward that still grow, returns that grow by decades and leave the values behind, a temperature that grows by decades while the entropy rests, or weights that move ten times as far as the learning rate lets Adam; \"floor\": every std at its clamp from the first record on; \"flip\": a solref that changed its sign, or gains of zero in envs that do not move; \"spikes\": readings of one env's sensor that are stray, or repeat the last ones bit for bit while it moves, or are at their model's cutoff nearly always; \"reset\": a column out of all proportion after each reset, or resets that leave the speeds, the state of a recurrent policy, or a line of delayed actions, as they were",
		ask:   "record lr, policy.std, every sensor and the model arrays that are randomised",
	},
	{
		id: X26, name: "tunnelling", group: "contact", measure: (*Case).tunnelling,
		means: "a body moved further than its own smallest half-width in one step, before its speeds ran away",
		ask:   "put the .mjb beside the dump, and record qpos and qvel on the substep clock",
	},
	{
		id: X27, name: "out of reach", group: "X27", measure: (*Case).outOfReach,
		means: "without commands in the dump: a joint gained ten times what gravity and its limited actuators can give in a step; or (\"open\") an actuator has no limit at all",
		ask:   "record action and ctrl",
	},
	{
		id: X28, name: "randomised", group: "X28", measure: (*Case).randomised,
		means: "a recorded model array holds what none can in the env that ran away (\"impossible\": a mass, inertia, damping or stiffness below zero, or what is not finite), something that makes the model unstable (\"unstable\", as X6), or something far from all envs that stayed well (\"apart\")",
		ask:   "record the model arrays that are randomised (guard.watch at stage \"model\")",
	},
	{
		id: X29, name: "born inside", group: "reset", measure: (*Case).bornInside,
		means: "its first contacts after its reset were deeper than a step can make, and those of most other envs after theirs were not; or its reset left a joint half a turn past its range; or the first step after most resets finds contacts and speeds far beyond all before",
		ask:   "record contact.dist (the smallest of each env) on the substep clock, and resets as events",
	},
	{
		id: X30, name: "feedback", group: "X30", measure: (*Case).feedback,
		means: "the speed that ran away gained more in each of eight steps or more, always in one direction, up to where no healthy one is",
		ask:   "record qvel on the substep clock",
	},
	{
		id: X9, name: "message", group: "X9", measure: (*Case).message,
		means: "what the exception says: weak, torch says \"std >= 0\" for NaN too",
		ask:   "keep the exception's text as a note",
	},
	{
		id: X10, name: "column", group: "X10", measure: (*Case).sensorColumn,
		means: "of a bad observation: a sensor's, a formula's (\"term\"), or many that share the state",
		ask:   "label the columns of obs",
	},
	{
		id: X11, name: "outside write", group: "reset", measure: (*Case).outsideWrite,
		means: "positions and speeds that no integration step connects",
		ask:   "put the .mjb beside the dump, and record qpos and qvel",
	},
}

// ruleOf returns the rule of a feature; one that is not among them stands for
// itself, in a group of its own.
func ruleOf(id FeatureID) rule {
	if i := slices.IndexFunc(rules, func(r rule) bool { return r.id == id }); i >= 0 {
		return rules[i]
	}
	return rule{id: id, name: string(id), group: string(id)}
}
