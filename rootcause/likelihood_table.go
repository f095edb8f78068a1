package rootcause

// The likelihoods: P(feature has this value | cause), as data.
//
// The columns of the first five causes and of "unknown" (C1 to C5 and C0) for
// F1 to F15 are the table of the working specification: starting values from
// reading and small experiments. One number of it is changed: F12 of the causes
// other than the stale graph is .003, not .01, for a graph that is replayed over
// an array that moved is a measured defect, whatever else is wrong. The other
// causes' columns and the X features were set by hand for the first version,
// from what the causes mean and from labelled dumps: the nine mjlab runs of
// shared/dumps and 42 dumps of mjlab, MuJoCo and its relatives made for tuning.
// docs/causes.md says how well all of it did on dumps that it was not set from.
//
// b stands for the base rate that the feature measured among healthy envs: what
// any cause but its own would show. A yes/no feature has the row of "yes" only,
// and "no" is what that leaves.

// likelihoods is the table.
var likelihoods = []row{
	{F1, onPhysics, likes{
		contact: .80, reward: .01, normalizer: .03, std: .02, graph: .50,
		capacity: .80, model: .88, sensor: .03, reset: .50, action: .55, learner: .03, math: .02, unknown: .20,
	}},
	{F1, onSensor, likes{
		contact: .08, reward: .01, normalizer: .01, std: .01, graph: .15,
		capacity: .02, model: .03, sensor: .85, reset: .20, action: .01, learner: .01, math: .60, unknown: .05,
	}},
	{F1, onReward, likes{
		contact: .01, reward: .80, normalizer: .01, std: .01, graph: .08,
		capacity: .03, model: .01, sensor: .05, reset: .05, action: .02, learner: .02, math: .20, unknown: .10,
	}},
	{F1, onObsNorm, likes{
		contact: .01, reward: .01, normalizer: .72, std: .02, graph: .07,
		capacity: .01, model: .01, sensor: .01, reset: .05, action: .02, learner: .01, math: .05, unknown: .10,
	}},
	{F1, onStd, likes{
		contact: .01, reward: .01, normalizer: .03, std: .75, graph: .03,
		capacity: .01, model: .01, sensor: .01, reset: .02, action: .10, learner: .20, math: .03, unknown: .10,
	}},
	{F1, onLearner, likes{
		contact: .02, reward: .10, normalizer: .15, std: .15, graph: .05,
		capacity: .03, model: .01, sensor: .01, reset: .03, action: .25, learner: .70, math: .14, unknown: .35,
	}},
	{F1, onMultiple, likes{
		contact: .07, reward: .06, normalizer: .05, std: .04, graph: .12,
		capacity: .10, model: .05, sensor: .04, reset: .15, action: .05, learner: .03, math: .03, unknown: .10,
	}},

	{F2, yes, likes{
		contact: .75, reward: .03, normalizer: .10, std: .10, graph: .35,
		capacity: .70, model: .80, sensor: .05, reset: .50, action: .80, learner: .10, math: .05, unknown: .15,
	}},
	{F3, yes, likes{
		contact: .65, reward: b, normalizer: b, std: b, graph: .15,
		capacity: .60, model: .45, sensor: b, reset: .20, action: .30, learner: b, math: b, unknown: b,
	}},
	{F4, yes, likes{
		contact: .30, reward: b, normalizer: b, std: b, graph: .05,
		capacity: .80, model: .15, sensor: b, reset: b, action: b, learner: b, math: b, unknown: b,
	}},
	{F4, "said", likes{
		contact: .006, reward: .002, normalizer: .002, std: .002, graph: .004,
		capacity: .15, model: .004, sensor: .002, reset: .002, action: .002, learner: .002, math: .002, unknown: .004,
	}},
	{F4, no, likes{
		contact: .69, reward: .95, normalizer: .95, std: .95, graph: .94,
		capacity: .05, model: .84, sensor: .95, reset: .95, action: .95, learner: .95, math: .95, unknown: .95,
	}},
	{F5, yes, likes{
		contact: .35, reward: .08, normalizer: .50, std: .50, graph: .08,
		capacity: .10, model: .10, sensor: .05, reset: .08, action: .95, learner: .60, math: .08, unknown: .15,
	}},
	{F6, yes, likes{
		contact: .05, reward: .75, normalizer: .02, std: .02, graph: .02,
		capacity: .02, model: .02, sensor: .02, reset: .02, action: .02, learner: .02, math: .25, unknown: .02,
	}},
	{F7, yes, likes{
		contact: .10, reward: .15, normalizer: .75, std: .03, graph: .30,
		capacity: .15, model: .50, sensor: .30, reset: .40, action: .30, learner: .30, math: .30, unknown: .15,
	}},

	{F8, "few", likes{
		contact: .90, reward: .80, normalizer: .10, std: .03, graph: .35,
		capacity: .60, model: .60, sensor: .60, reset: .70, action: .45, learner: .05, math: .55, unknown: .40,
	}},
	{F8, "some", likes{
		contact: .08, reward: .12, normalizer: .20, std: .07, graph: .40,
		capacity: .30, model: .15, sensor: .20, reset: .20, action: .20, learner: .05, math: .20, unknown: .20,
	}},
	{F8, "all", likes{
		contact: .02, reward: .08, normalizer: .70, std: .90, graph: .25,
		capacity: .10, model: .25, sensor: .20, reset: .10, action: .35, learner: .90, math: .25, unknown: .40,
	}},

	{F9, yes, likes{
		contact: .02, reward: .02, normalizer: .70, std: .02, graph: .02,
		capacity: .02, model: .02, sensor: .02, reset: .02, action: .02, learner: .02, math: .02, unknown: .02,
	}},
	{F10, yes, likes{
		contact: .02, reward: .02, normalizer: .05, std: .85, graph: .02,
		capacity: .02, model: .02, sensor: .02, reset: .02, action: .10, learner: .65, math: .02, unknown: .10,
	}},
	{F10, "low", likes{
		contact: .02, reward: .02, normalizer: .02, std: .12, graph: .02,
		capacity: .02, model: .02, sensor: .02, reset: .02, action: .02, learner: .05, math: .02, unknown: .04,
	}},
	{F10, sinking, likes{
		contact: .0005, reward: .0005, normalizer: .0005, std: .05, graph: .0005,
		capacity: .0005, model: .0005, sensor: .0005, reset: .0005, action: .0005, learner: .0025, math: .001, unknown: .002,
	}},
	{F10, no, likes{
		contact: .959, reward: .959, normalizer: .93, std: .03, graph: .959,
		capacity: .959, model: .959, sensor: .959, reset: .959, action: .88, learner: .30, math: .959, unknown: .86,
	}},
	{F11, yes, likes{
		contact: .02, reward: .05, normalizer: .10, std: .30, graph: .03,
		capacity: .02, model: .02, sensor: .02, reset: .02, action: .05, learner: .60, math: .05, unknown: .50,
	}},
	{F12, yes, likes{
		contact: .003, reward: .003, normalizer: .003, std: .003, graph: .85,
		capacity: .003, model: .003, sensor: .003, reset: .003, action: .003, learner: .003, math: .003, unknown: .003,
	}},
	{F13, yes, likes{
		contact: .35, reward: .05, normalizer: .05, std: .05, graph: .80,
		capacity: .40, model: .10, sensor: .10, reset: .10, action: .10, learner: .10, math: .05, unknown: .30,
	}},
	{F14, yes, likes{
		contact: .10, reward: .03, normalizer: .03, std: .03, graph: .95,
		capacity: .05, model: .03, sensor: .03, reset: .05, action: .03, learner: .03, math: .03, unknown: .03,
	}},
	{F15, yes, likes{
		contact: .35, reward: .25, normalizer: .10, std: .05, graph: .60,
		capacity: .30, model: .50, sensor: .20, reset: .30, action: .20, learner: .10, math: .15, unknown: .15,
	}},

	{X1, yes, likes{
		contact: b, reward: b, normalizer: b, std: b, graph: b,
		capacity: b, model: .50, sensor: b, reset: b, action: b, learner: b, math: b, unknown: b,
	}},
	{X1, "recent", likes{
		contact: b, reward: b, normalizer: b, std: b, graph: .35,
		capacity: b, model: .32, sensor: b, reset: b, action: b, learner: b, math: b, unknown: b,
	}},
	{X1, "felt", likes{
		contact: .005, reward: .005, normalizer: .005, std: .005, graph: .02,
		capacity: .005, model: .20, sensor: .005, reset: .01, action: .005, learner: .005, math: .005, unknown: .01,
	}},
	{X1, no, likes{
		contact: .90, reward: .90, normalizer: .90, std: .90, graph: .58,
		capacity: .90, model: .08, sensor: .90, reset: .90, action: .90, learner: .90, math: .90, unknown: .90,
	}},
	{X2, yes, likes{
		contact: .06, reward: .30, normalizer: .30, std: .30, graph: .30,
		capacity: .02, model: .60, sensor: .30, reset: .40, action: .40, learner: .30, math: .30, unknown: .30,
	}},
	{X2, "air", likes{
		contact: .02, reward: .05, normalizer: .05, std: .05, graph: .05,
		capacity: .01, model: .10, sensor: .05, reset: .06, action: .07, learner: .05, math: .05, unknown: .05,
	}},
	{X2, no, likes{
		contact: .92, reward: .65, normalizer: .65, std: .65, graph: .65,
		capacity: .97, model: .30, sensor: .65, reset: .54, action: .53, learner: .65, math: .65, unknown: .65,
	}},
	{X3, yes, likes{
		contact: .05, reward: .10, normalizer: .05, std: .04, graph: .05,
		capacity: .05, model: .05, sensor: .05, reset: .05, action: .10, learner: .85, math: .05, unknown: .10,
	}},
	{X3, "sudden", likes{
		contact: .02, reward: .03, normalizer: .03, std: .10, graph: .05,
		capacity: .02, model: .02, sensor: .02, reset: .02, action: .03, learner: .10, math: .22, unknown: .10,
	}},
	{X3, "partial", likes{
		contact: .005, reward: .01, normalizer: .005, std: .005, graph: .01,
		capacity: .005, model: .005, sensor: .01, reset: .005, action: .005, learner: .005, math: .12, unknown: .03,
	}},
	{X3, "unstepped", likes{
		contact: .0005, reward: .0005, normalizer: .0005, std: .0005, graph: .01,
		capacity: .0005, model: .0005, sensor: .0005, reset: .0005, action: .0005, learner: .0005, math: .0005, unknown: .03,
	}},
	{X3, recurs, likes{
		contact: .0003, reward: .0003, normalizer: .0003, std: .0003, graph: .0003,
		capacity: .0003, model: .0003, sensor: .0003, reset: .0003, action: .0003, learner: .02, math: .0003, unknown: .001,
	}},
	{X3, no, likes{
		contact: .925, reward: .86, normalizer: .915, std: .855, graph: .89,
		capacity: .925, model: .925, sensor: .92, reset: .925, action: .865, learner: .045, math: .61, unknown: .77,
	}},
	{X4, yes, likes{
		contact: .15, reward: .05, normalizer: .05, std: .03, graph: .05,
		capacity: .20, model: .60, sensor: .10, reset: .50, action: .35, learner: .03, math: .05, unknown: .10,
	}},
	{X5, "written", likes{
		contact: .002, reward: .002, normalizer: .002, std: .002, graph: .01,
		capacity: .002, model: .002, sensor: .005, reset: .35, action: .002, learner: .002, math: .005, unknown: .01,
	}},
	{X5, yes, likes{
		contact: .025, reward: .03, normalizer: .03, std: .02, graph: .08,
		capacity: .05, model: .06, sensor: .05, reset: .36, action: .03, learner: .02, math: .03, unknown: .05,
	}},
	{X5, "wild", likes{
		contact: .006, reward: .004, normalizer: .004, std: .004, graph: .01,
		capacity: .006, model: .03, sensor: .004, reset: .14, action: .006, learner: .004, math: .004, unknown: .01,
	}},
	{X5, "obs", likes{
		contact: .025, reward: .03, normalizer: .03, std: .02, graph: .03,
		capacity: .05, model: .06, sensor: .05, reset: .09, action: .03, learner: .02, math: .03, unknown: .05,
	}},
	{X5, "seen", likes{
		contact: .002, reward: .002, normalizer: .002, std: .002, graph: .01,
		capacity: .002, model: .002, sensor: .01, reset: .10, action: .002, learner: .002, math: .005, unknown: .01,
	}},
	{X5, no, likes{
		contact: .942, reward: .934, normalizer: .934, std: .954, graph: .87,
		capacity: .892, model: .848, sensor: .891, reset: .06, action: .932, learner: .954, math: .931, unknown: .88,
	}},
	{X6, "impossible", likes{
		contact: .0015, reward: .0015, normalizer: .0015, std: .0015, graph: .0015,
		capacity: .0015, model: .20, sensor: .0015, reset: .0015, action: .0015, learner: .0015, math: .0015, unknown: .0015,
	}},
	{X6, "unstable", likes{
		contact: .03, reward: .02, normalizer: .02, std: .02, graph: .02,
		capacity: .03, model: .30, sensor: .02, reset: .02, action: .04, learner: .02, math: .02, unknown: .02,
	}},
	{X6, "shaky", likes{
		contact: .05, reward: .06, normalizer: .06, std: .06, graph: .06,
		capacity: .06, model: .18, sensor: .06, reset: .06, action: .06, learner: .06, math: .06, unknown: .06,
	}},
	{X6, no, likes{
		contact: .90, reward: .92, normalizer: .92, std: .92, graph: .92,
		capacity: .90, model: .34, sensor: .92, reset: .92, action: .90, learner: .92, math: .92, unknown: .92,
	}},
	{X14, "hard", likes{
		contact: .30, reward: .02, normalizer: .02, std: .02, graph: .02,
		capacity: .04, model: .03, sensor: .02, reset: .04, action: .03, learner: .02, math: .02, unknown: .03,
	}},
	{X14, "coarse", likes{
		contact: .25, reward: .02, normalizer: .02, std: .02, graph: .02,
		capacity: .03, model: .05, sensor: .02, reset: .02, action: .02, learner: .02, math: .02, unknown: .02,
	}},
	{X14, "rough", likes{
		contact: .08, reward: .05, normalizer: .05, std: .05, graph: .05,
		capacity: .05, model: .06, sensor: .05, reset: .05, action: .05, learner: .05, math: .05, unknown: .05,
	}},
	{X14, "none", likes{
		contact: .002, reward: .02, normalizer: .02, std: .02, graph: .02,
		capacity: .002, model: .03, sensor: .02, reset: .02, action: .03, learner: .02, math: .02, unknown: .02,
	}},
	{X14, "never", likes{
		contact: .004, reward: .02, normalizer: .02, std: .02, graph: .02,
		capacity: .002, model: .03, sensor: .02, reset: .02, action: .03, learner: .02, math: .02, unknown: .02,
	}},
	{X14, no, likes{
		contact: .40, reward: .89, normalizer: .89, std: .89, graph: .89,
		capacity: .88, model: .82, sensor: .89, reset: .87, action: .87, learner: .89, math: .89, unknown: .88,
	}},
	{X15, yes, likes{
		contact: .12, reward: .15, normalizer: .15, std: .15, graph: .15,
		capacity: .15, model: .60, sensor: .15, reset: .10, action: .65, learner: .15, math: .15, unknown: .10,
	}},
	{X16, yes, likes{
		contact: .02, reward: .02, normalizer: .02, std: .02, graph: .04,
		capacity: .02, model: .04, sensor: .02, reset: .25, action: .02, learner: .02, math: .02, unknown: .50,
	}},
	{X7, yes, likes{
		contact: .05, reward: .03, normalizer: .15, std: .15, graph: .05,
		capacity: .05, model: .05, sensor: .03, reset: .03, action: .85, learner: .25, math: .03, unknown: .08,
	}},
	{X8, yes, likes{
		contact: .02, reward: .02, normalizer: .02, std: .02, graph: .25,
		capacity: .02, model: .02, sensor: .03, reset: .03, action: .02, learner: .02, math: .02, unknown: .02,
	}},
	{X8, "part", likes{
		contact: .004, reward: .004, normalizer: .004, std: .004, graph: .06,
		capacity: .004, model: .004, sensor: .15, reset: .004, action: .004, learner: .004, math: .004, unknown: .03,
	}},
	{X8, no, likes{
		contact: .976, reward: .976, normalizer: .976, std: .976, graph: .69,
		capacity: .976, model: .976, sensor: .82, reset: .966, action: .976, learner: .976, math: .976, unknown: .95,
	}},

	{X12, yes, likes{
		contact: .05, reward: .02, normalizer: .02, std: .02, graph: .02,
		capacity: .85, model: .03, sensor: .02, reset: .02, action: .02, learner: .02, math: .02, unknown: .03,
	}},
	{X13, yes, likes{
		contact: .20, reward: .05, normalizer: .10, std: .10, graph: .06,
		capacity: .20, model: .45, sensor: .05, reset: .06, action: .30, learner: .10, math: .05, unknown: .08,
	}},
	{X13, "struck", likes{
		contact: .002, reward: .01, normalizer: .03, std: .03, graph: .25,
		capacity: .002, model: .006, sensor: .01, reset: .01, action: .01, learner: .02, math: .01, unknown: .12,
	}},
	{X13, no, likes{
		contact: .798, reward: .94, normalizer: .87, std: .87, graph: .69,
		capacity: .798, model: .53, sensor: .94, reset: .93, action: .69, learner: .88, math: .94, unknown: .8,
	}},

	{X17, yes, likes{
		contact: .008, reward: .006, normalizer: .006, std: .006, graph: .006,
		capacity: .006, model: .006, sensor: .008, reset: .02, action: .006, learner: .006, math: .006, unknown: .03,
	}},
	{X17, "named", likes{
		contact: .004, reward: .03, normalizer: .004, std: .004, graph: .004,
		capacity: .004, model: .004, sensor: .03, reset: .004, action: .004, learner: .004, math: .02, unknown: .01,
	}},
	{X17, "shown", likes{
		contact: .0005, reward: .002, normalizer: .001, std: .001, graph: .001,
		capacity: .001, model: .0005, sensor: .02, reset: .001, action: .001, learner: .001, math: .002, unknown: .001,
	}},
	{X17, no, likes{
		contact: .986, reward: .96, normalizer: .988, std: .988, graph: .988,
		capacity: .988, model: .988, sensor: .932, reset: .974, action: .988, learner: .988, math: .97, unknown: .958,
	}},
	{X18, yes, likes{
		contact: .001, reward: .001, normalizer: .001, std: .001, graph: .001,
		capacity: .001, model: .001, sensor: .001, reset: .001, action: .001, learner: .001, math: .001, unknown: .001,
	}},
	{X18, "all", likes{
		contact: .003, reward: .003, normalizer: .003, std: .003, graph: .003,
		capacity: .003, model: .003, sensor: .003, reset: .003, action: .003, learner: .003, math: .003, unknown: .006,
	}},
	{X18, "unwritten", likes{
		contact: .0003, reward: .0003, normalizer: .0003, std: .0003, graph: .001,
		capacity: .0003, model: .0003, sensor: .0003, reset: .0003, action: .0003, learner: .0003, math: .0003, unknown: .001,
	}},
	{X18, no, likes{
		contact: .9957, reward: .9957, normalizer: .9957, std: .9957, graph: .995,
		capacity: .9957, model: .9957, sensor: .9957, reset: .9957, action: .9957, learner: .9957, math: .9957, unknown: .992,
	}},
	{X19, yes, likes{
		contact: .0005, reward: .0005, normalizer: .002, std: .0005, graph: .0005,
		capacity: .0005, model: .0005, sensor: .0005, reset: .0005, action: .0005, learner: .0005, math: .0005, unknown: .0005,
	}},
	{X20, yes, likes{
		contact: .0005, reward: .0005, normalizer: .0005, std: .0005, graph: .0005,
		capacity: .0005, model: .0005, sensor: .0005, reset: .0005, action: .0005, learner: .001, math: .0005, unknown: .0005,
	}},
	{X20, "elsewhere", likes{
		contact: .02, reward: .02, normalizer: .02, std: .02, graph: .02,
		capacity: .02, model: .02, sensor: .02, reset: .02, action: .02, learner: .06, math: .02, unknown: .02,
	}},
	{X20, no, likes{
		contact: .979, reward: .979, normalizer: .979, std: .979, graph: .979,
		capacity: .979, model: .979, sensor: .979, reset: .979, action: .979, learner: .939, math: .979, unknown: .979,
	}},
	{X21, yes, likes{
		contact: .0005, reward: .0005, normalizer: .0005, std: .0005, graph: .002,
		capacity: .0005, model: .0005, sensor: .0005, reset: .0005, action: .0005, learner: .0005, math: .0005, unknown: .0005,
	}},
	{X21, "half", likes{
		contact: .002, reward: .002, normalizer: .002, std: .002, graph: .002,
		capacity: .002, model: .002, sensor: .002, reset: .002, action: .002, learner: .004, math: .002, unknown: .004,
	}},
	{X21, no, likes{
		contact: .9975, reward: .9975, normalizer: .9975, std: .9975, graph: .996,
		capacity: .9975, model: .9975, sensor: .9975, reset: .9975, action: .9975, learner: .9955, math: .9975, unknown: .9955,
	}},
	{X23, yes, likes{
		contact: .01, reward: .01, normalizer: .02, std: .10, graph: .03,
		capacity: .01, model: .01, sensor: .01, reset: .01, action: .05, learner: .15, math: .45, unknown: .03,
	}},
	{X23, "control", likes{
		contact: .002, reward: .002, normalizer: .002, std: .002, graph: .01,
		capacity: .002, model: .002, sensor: .002, reset: .002, action: .005, learner: .002, math: .15, unknown: .02,
	}},
	{X23, "optimizer", likes{
		contact: .001, reward: .001, normalizer: .001, std: .002, graph: .005,
		capacity: .001, model: .001, sensor: .001, reset: .001, action: .001, learner: .01, math: .1, unknown: .01,
	}},
	{X23, "network", likes{
		contact: .001, reward: .001, normalizer: .002, std: .002, graph: .005,
		capacity: .001, model: .001, sensor: .005, reset: .001, action: .002, learner: .003, math: .10, unknown: .02,
	}},
	{X23, "flat", likes{
		contact: .001, reward: .001, normalizer: .001, std: .001, graph: .001,
		capacity: .001, model: .001, sensor: .001, reset: .001, action: .001, learner: .005, math: .08, unknown: .003,
	}},
	{X23, "bound", likes{
		contact: .001, reward: .001, normalizer: .001, std: .002, graph: .001,
		capacity: .001, model: .001, sensor: .001, reset: .001, action: .001, learner: .006, math: .06, unknown: .002,
	}},
	{X23, byZero, likes{
		contact: .00004, reward: .00004, normalizer: .00004, std: .00004, graph: .00004,
		capacity: .00004, model: .00004, sensor: .00004, reset: .00004, action: .00004, learner: .00013, math: .01, unknown: .00025,
	}},
	{X23, no, likes{
		contact: .987, reward: .987, normalizer: .977, std: .896, graph: .955,
		capacity: .987, model: .987, sensor: .987, reset: .987, action: .944, learner: .83, math: .17, unknown: .9,
	}},
	{X22, yes, likes{
		contact: .02, reward: .04, normalizer: .02, std: .02, graph: .02,
		capacity: .02, model: .02, sensor: .02, reset: .02, action: .02, learner: .04, math: .1, unknown: .05,
	}},

	{X24, yes, likes{
		contact: .001, reward: .001, normalizer: .001, std: .001, graph: .02,
		capacity: .001, model: .001, sensor: .001, reset: .001, action: .001, learner: .002, math: .001, unknown: .05,
	}},
	{X24, halted, likes{
		contact: .001, reward: .001, normalizer: .001, std: .001, graph: .002,
		capacity: .001, model: .001, sensor: .001, reset: .001, action: .001, learner: .01, math: .005, unknown: .06,
	}},
	{X24, no, likes{
		contact: .998, reward: .998, normalizer: .998, std: .998, graph: .978,
		capacity: .998, model: .998, sensor: .998, reset: .998, action: .998, learner: .988, math: .994, unknown: .92,
	}},

	{X25, "ascent", likes{
		contact: .001, reward: .001, normalizer: .001, std: .001, graph: .001,
		capacity: .001, model: .001, sensor: .001, reset: .001, action: .001, learner: .30, math: .001, unknown: .001,
	}},
	{X25, "floor", likes{
		contact: .001, reward: .001, normalizer: .001, std: .30, graph: .001,
		capacity: .001, model: .001, sensor: .001, reset: .001, action: .001, learner: .02, math: .001, unknown: .001,
	}},
	{X25, "flip", likes{
		contact: .02, reward: .001, normalizer: .001, std: .001, graph: .001,
		capacity: .001, model: .30, sensor: .001, reset: .001, action: .001, learner: .001, math: .001, unknown: .001,
	}},
	{X25, "spikes", likes{
		contact: .001, reward: .001, normalizer: .001, std: .001, graph: .001,
		capacity: .001, model: .001, sensor: .30, reset: .001, action: .001, learner: .001, math: .001, unknown: .001,
	}},
	{X25, "reset", likes{
		contact: .001, reward: .001, normalizer: .001, std: .001, graph: .001,
		capacity: .001, model: .001, sensor: .02, reset: .30, action: .001, learner: .001, math: .001, unknown: .001,
	}},

	{X25, no, likes{
		contact: .976, reward: .995, normalizer: .995, std: .696, graph: .995,
		capacity: .995, model: .696, sensor: .677, reset: .696, action: .995, learner: .677, math: .995, unknown: .995,
	}},

	{X26, yes, likes{
		contact: .20, reward: .05, normalizer: .05, std: .05, graph: .05,
		capacity: .08, model: .20, sensor: .05, reset: .08, action: .15, learner: .05, math: .05, unknown: .06,
	}},

	{X27, yes, likes{
		contact: .50, reward: .30, normalizer: .30, std: .30, graph: .45,
		capacity: .50, model: .45, sensor: .30, reset: .50, action: .04, learner: .30, math: .30, unknown: .40,
	}},
	{X27, "open", likes{
		contact: .25, reward: .25, normalizer: .25, std: .25, graph: .25,
		capacity: .25, model: .25, sensor: .25, reset: .25, action: .85, learner: .25, math: .25, unknown: .25,
	}},
	{X27, no, likes{
		contact: .25, reward: .45, normalizer: .45, std: .45, graph: .30,
		capacity: .25, model: .30, sensor: .45, reset: .25, action: .11, learner: .45, math: .45, unknown: .35,
	}},

	{X28, beyondPhysics, likes{
		contact: .0015, reward: .0015, normalizer: .0015, std: .0015, graph: .0015,
		capacity: .0015, model: .25, sensor: .0015, reset: .0015, action: .0015, learner: .0015, math: .0015, unknown: .0015,
	}},
	{X28, apart, likes{
		contact: .02, reward: .01, normalizer: .01, std: .01, graph: .01,
		capacity: .01, model: .20, sensor: .01, reset: .01, action: .01, learner: .01, math: .01, unknown: .02,
	}},
	{X28, fragile, likes{
		contact: .01, reward: .005, normalizer: .005, std: .005, graph: .005,
		capacity: .005, model: .20, sensor: .005, reset: .005, action: .01, learner: .005, math: .005, unknown: .005,
	}},
	{X28, no, likes{
		contact: .9685, reward: .9835, normalizer: .9835, std: .9835, graph: .9835,
		capacity: .9835, model: .35, sensor: .9835, reset: .9835, action: .9785, learner: .9835, math: .9835, unknown: .9735,
	}},

	{X29, yes, likes{
		contact: .003, reward: .002, normalizer: .002, std: .002, graph: .005,
		capacity: .003, model: .002, sensor: .002, reset: .25, action: .002, learner: .002, math: .002, unknown: .005,
	}},

	{X30, yes, likes{
		contact: .005, reward: .01, normalizer: .01, std: .01, graph: .01,
		capacity: .005, model: .20, sensor: .01, reset: .01, action: .06, learner: .01, math: .01, unknown: .02,
	}},

	{X9, "std", likes{
		contact: .20, reward: .15, normalizer: .20, std: .30, graph: .15,
		capacity: .15, model: .20, sensor: .15, reset: .15, action: .20, learner: .25, math: .15, unknown: .18,
	}},
	{X9, "cuda", likes{
		contact: .03, reward: .01, normalizer: .01, std: .01, graph: .40,
		capacity: .05, model: .01, sensor: .01, reset: .01, action: .01, learner: .01, math: .01, unknown: .10,
	}},
	{X9, "backend", likes{
		contact: .01, reward: .01, normalizer: .01, std: .01, graph: .06,
		capacity: .01, model: .01, sensor: .01, reset: .01, action: .01, learner: .01, math: .01, unknown: .03,
	}},
	{X9, "other", likes{
		contact: .77, reward: .84, normalizer: .79, std: .69, graph: .45,
		capacity: .80, model: .79, sensor: .84, reset: .84, action: .79, learner: .74, math: .84, unknown: .72,
	}},

	{X11, "velocity", likes{
		contact: .02, reward: .02, normalizer: .02, std: .02, graph: .20,
		capacity: .02, model: .02, sensor: .02, reset: .10, action: .02, learner: .02, math: .02, unknown: .60,
	}},
	{X11, "pose", likes{
		contact: b, reward: b, normalizer: b, std: b, graph: b,
		capacity: b, model: b, sensor: b, reset: .40, action: b, learner: b, math: b, unknown: b,
	}},
	{X11, "state", likes{
		contact: .003, reward: .003, normalizer: .003, std: .003, graph: .01,
		capacity: .003, model: .003, sensor: .003, reset: .35, action: .003, learner: .003, math: .003, unknown: .02,
	}},
	{X11, no, likes{
		contact: .92, reward: .92, normalizer: .92, std: .92, graph: .74,
		capacity: .92, model: .92, sensor: .92, reset: .15, action: .92, learner: .92, math: .92, unknown: .33,
	}},

	{X10, "sensor", likes{
		contact: .30, reward: .20, normalizer: .20, std: .20, graph: .30,
		capacity: .30, model: .30, sensor: .90, reset: .15, action: .20, learner: .20, math: .10, unknown: .30,
	}},
	{X10, "term", likes{
		contact: .30, reward: .60, normalizer: .60, std: .60, graph: .40,
		capacity: .30, model: .30, sensor: .05, reset: .15, action: .60, learner: .60, math: .86, unknown: .40,
	}},
	{X10, "state", likes{
		contact: .40, reward: .20, normalizer: .20, std: .20, graph: .30,
		capacity: .40, model: .40, sensor: .05, reset: .70, action: .20, learner: .20, math: .04, unknown: .30,
	}},
}

// rare holds what a cause without a column of its own makes of a feature, by outcome, where that differs from the cause that stands in for it.
var rare = map[string]map[outcome]float64{
	PrecisionLoss: {
		{X21, yes}: .88, {X21, "half"}: .05, {X21, no}: .07, {X22, yes}: .30, {X24, yes}: .30, {X24, halted}: .02, {X24, no}: .68, {X3, yes}: .20, {X3, "sudden"}: .10, {X3, recurs}: .0003, {X3, no}: .70, {F10, yes}: .05,
		{F10, no}: .90, {F11, yes}: .05,
	},
	PaddingRows: {
		{X18, yes}: .60, {X18, "all"}: .12, {X18, "unwritten"}: .23, {X18, no}: .15, {F1, onReward}: .10, {F6, yes}: .15, {X3, yes}: .03, {X3, "sudden"}: .05, {X3, "partial"}: .30, {X3, no}: .62, {F1, onSensor}: .70, {F1, onLearner}: .15, {F8, "few"}: .20, {F8, "some"}: .60, {F8, "all"}: .20, {X10, "sensor"}: .30, {X10, "term"}: .30,
		{X10, "state"}: .40,
	},
	NormalizerLost: {
		{X19, yes}: .85, {F7, yes}: .10, {F9, yes}: .20,
	},
	RankDesync: {
		{X20, yes}: .55, {X20, "elsewhere"}: .40, {X20, no}: .05, {X22, yes}: .60, {X3, yes}: .25, {X3, "sudden"}: .65, {X3, recurs}: .0003,
		{X3, no}: .10, {F10, yes}: .10, {F10, no}: .85, {F11, yes}: .20, {F1, onObsNorm}: .10,
	},
	SimKernel: {
		{X2, yes}: .78, {X2, "air"}: .14, {X2, no}: .08, {X6, "shaky"}: .06, {X6, "unstable"}: .02, {X6, "impossible"}: .0015, {X6, no}: .92, {X14, "none"}: .15, {X14, "never"}: .12, {X14, no}: .64,
		{X1, yes}: .05, {X1, "recent"}: .10, {X1, "felt"}: .02, {X1, no}: .85, {X28, beyondPhysics}: .02, {X28, apart}: .05, {X28, fragile}: .02, {X28, no}: .91,
	},
	AutodiffSingular: {
		{X22, yes}: .90, {X21, "half"}: .01, {F1, onPhysics}: .01, {F1, onSensor}: .01, {F1, onReward}: .01, {F1, onObsNorm}: .01,
		{F1, onStd}: .04, {F1, onLearner}: .90, {F1, onMultiple}: .02, {X3, yes}: .10, {X3, "sudden"}: .80, {X3, recurs}: .0003, {X3, no}: .10,
		{F10, yes}: .08, {F10, "low"}: .02, {F10, sinking}: .001, {F10, no}: .90, {F11, yes}: .20,
		{X20, "elsewhere"}: .40, {X20, no}: .55,
	},
	Backend: {
		{F12, yes}: .003, {X1, "recent"}: .10, {X1, no}: .80, {X9, "cuda"}: .40, {X9, "backend"}: .45, {X9, "other"}: .08, {X9, "std"}: .07, {X8, yes}: .05, {X8, "part"}: .02, {X8, no}: .93,
	},
	Masked: {
		{X3, yes}: .05, {X3, "sudden"}: .05, {X3, no}: .90, {F10, no}: .93, {F11, yes}: .10, {X17, yes}: .45, {X24, halted}: .08, {X24, no}: .92,
		{X17, "named"}: .10, {X17, "shown"}: .40, {X17, no}: .05, {F1, onPhysics}: .27, {F1, onSensor}: .27,
		{F1, onReward}: .27, {F1, onObsNorm}: .03, {F1, onStd}: .03, {F1, onLearner}: .05, {F1, onMultiple}: .08, {F2, yes}: .40, {F6, yes}: .30,
	},
}
