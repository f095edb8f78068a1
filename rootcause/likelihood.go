package rootcause

import "slices"

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
// any cause but its own would show.

// b marks a likelihood that is the feature's own base rate.
const b = -1

// row holds the likelihoods of one value of a feature, in the order of the
// catalogue. A yes/no feature has the row of "yes" only.
type row struct {
	feature string
	value   string
	p       [13]float64
}

// likelihoods is the table. Columns:
//
//	contact reward norm  std  graph | capac model sensor reset action learner math | unknown
var likelihoods = []row{
	{"F1", onPhysics, [13]float64{.80, .01, .03, .02, .50, .80, .88, .03, .50, .55, .03, .02, .20}},
	{"F1", onSensor, [13]float64{.08, .01, .01, .01, .15, .02, .03, .85, .20, .01, .01, .60, .05}},
	{"F1", onReward, [13]float64{.01, .80, .01, .01, .08, .03, .01, .05, .05, .02, .02, .20, .10}},
	{"F1", onObsNorm, [13]float64{.01, .01, .72, .02, .07, .01, .01, .01, .05, .02, .01, .05, .10}},
	{"F1", onStd, [13]float64{.01, .01, .03, .75, .03, .01, .01, .01, .02, .10, .20, .03, .10}},
	{"F1", onLearner, [13]float64{.02, .10, .15, .15, .05, .03, .01, .01, .03, .25, .70, .07, .35}},
	{"F1", onMultiple, [13]float64{.07, .06, .05, .04, .12, .10, .05, .04, .15, .05, .03, .03, .10}},

	{"F2", yes, [13]float64{.75, .03, .10, .10, .35, .70, .80, .05, .50, .80, .10, .05, .15}},
	{"F3", yes, [13]float64{.65, b, b, b, .15, .60, .45, b, .20, .30, b, b, b}},
	{"F4", yes, [13]float64{.30, b, b, b, .05, .95, .15, b, b, b, b, b, b}},
	{"F5", yes, [13]float64{.35, .08, .50, .50, .08, .10, .10, .05, .08, .95, .60, .08, .15}},
	{"F6", yes, [13]float64{.05, .75, .02, .02, .02, .02, .02, .02, .02, .02, .02, .25, .02}},
	{"F7", yes, [13]float64{.10, .15, .75, .03, .30, .15, .50, .30, .40, .30, .30, .30, .15}},

	{"F8", "few", [13]float64{.90, .80, .10, .03, .35, .60, .60, .60, .70, .45, .05, .55, .40}},
	{"F8", "some", [13]float64{.08, .12, .20, .07, .40, .30, .15, .20, .20, .20, .05, .20, .20}},
	{"F8", "all", [13]float64{.02, .08, .70, .90, .25, .10, .25, .20, .10, .35, .90, .25, .40}},

	{"F9", yes, [13]float64{.02, .02, .70, .02, .02, .02, .02, .02, .02, .02, .02, .02, .02}},
	{"F10", yes, [13]float64{.02, .02, .05, .85, .02, .02, .02, .02, .02, .10, .65, .02, .10}},
	{"F10", "low", [13]float64{.02, .02, .02, .12, .02, .02, .02, .02, .02, .02, .05, .02, .04}},
	{"F10", no, [13]float64{.96, .96, .93, .03, .96, .96, .96, .96, .96, .88, .30, .96, .86}},
	{"F11", yes, [13]float64{.02, .05, .10, .30, .03, .02, .02, .02, .02, .05, .60, .05, .50}},
	{"F12", yes, [13]float64{.003, .003, .003, .003, .85, .003, .003, .003, .003, .003, .003, .003, .003}},
	{"F13", yes, [13]float64{.35, .05, .05, .05, .80, .40, .10, .10, .10, .10, .10, .05, .30}},
	{"F14", yes, [13]float64{.10, .03, .03, .03, .95, .05, .03, .03, .05, .03, .03, .03, .03}},
	{"F15", yes, [13]float64{.35, .25, .10, .05, .60, .30, .50, .20, .30, .20, .10, .15, .15}},

	{"X1", yes, [13]float64{b, b, b, b, b, b, .90, b, b, b, b, b, b}},
	{"X2", yes, [13]float64{.06, .30, .30, .30, .30, .02, .60, .30, .40, .40, .30, .30, .30}},
	{"X3", yes, [13]float64{.05, .10, .05, .04, .05, .05, .05, .05, .05, .10, .85, .05, .10}},
	{"X3", "sudden", [13]float64{.02, .03, .03, .10, .05, .02, .02, .02, .02, .03, .10, .10, .15}},
	{"X3", no, [13]float64{.93, .87, .92, .86, .90, .93, .93, .93, .93, .87, .05, .85, .75}},
	{"X4", yes, [13]float64{.15, .05, .05, .03, .05, .20, .60, .10, .50, .35, .03, .05, .10}},
	{"X5", "written", [13]float64{.002, .002, .002, .002, .01, .002, .002, .005, .55, .002, .002, .005, .01}},
	{"X5", yes, [13]float64{.025, .03, .03, .02, .08, .05, .06, .05, .35, .03, .02, .03, .05}},
	{"X5", no, [13]float64{.97, .965, .965, .975, .90, .945, .935, .94, .10, .965, .975, .96, .92}},
	{"X6", "impossible", [13]float64{.0015, .0015, .0015, .0015, .0015, .0015, .20, .0015, .0015, .0015, .0015, .0015, .0015}},
	{"X6", "unstable", [13]float64{.03, .02, .02, .02, .02, .03, .30, .02, .02, .04, .02, .02, .02}},
	{"X6", "shaky", [13]float64{.05, .06, .06, .06, .06, .06, .18, .06, .06, .06, .06, .06, .06}},
	{"X6", no, [13]float64{.90, .92, .92, .92, .92, .90, .34, .92, .92, .90, .92, .92, .92}},
	{"X14", "hard", [13]float64{.30, .02, .02, .02, .02, .04, .03, .02, .04, .03, .02, .02, .03}},
	{"X14", "coarse", [13]float64{.22, .02, .02, .02, .02, .03, .06, .02, .02, .02, .02, .02, .02}},
	{"X14", "rough", [13]float64{.08, .05, .05, .05, .05, .05, .06, .05, .05, .05, .05, .05, .05}},
	{"X14", "none", [13]float64{.002, .02, .02, .02, .02, .002, .03, .02, .02, .03, .02, .02, .02}},
	{"X14", no, [13]float64{.40, .89, .89, .89, .89, .88, .82, .89, .87, .87, .89, .89, .88}},
	{"X15", yes, [13]float64{.12, .15, .15, .15, .15, .15, .60, .15, .10, .65, .15, .15, .10}},
	{"X16", yes, [13]float64{.02, .02, .02, .02, .04, .02, .04, .02, .25, .02, .02, .02, .50}},
	{"X7", yes, [13]float64{.05, .03, .15, .15, .05, .05, .05, .03, .03, .85, .25, .03, .08}},
	{"X8", yes, [13]float64{.02, .02, .02, .02, .25, .02, .02, .03, .03, .02, .02, .02, .02}},

	{"X12", yes, [13]float64{.05, .02, .02, .02, .02, .85, .03, .02, .02, .02, .02, .02, .03}},
	{"X13", yes, [13]float64{.20, .05, .10, .10, .06, .20, .45, .05, .06, .30, .10, .05, .08}},

	{"X17", yes, [13]float64{.008, .006, .006, .006, .006, .006, .006, .008, .02, .006, .006, .006, .03}},
	{"X17", "named", [13]float64{.004, .03, .004, .004, .004, .004, .004, .03, .004, .004, .004, .02, .01}},
	{"X17", "shown", [13]float64{.001, .002, .001, .001, .001, .001, .001, .02, .001, .001, .001, .002, .001}},
	{"X17", no, [13]float64{.986, .96, .988, .988, .988, .988, .988, .932, .974, .988, .988, .97, .958}},
	{"X18", yes, [13]float64{.001, .001, .001, .001, .001, .001, .001, .001, .001, .001, .001, .001, .001}},
	{"X19", yes, [13]float64{.0005, .0005, .002, .0005, .0005, .0005, .0005, .0005, .0005, .0005, .0005, .0005, .0005}},
	{"X20", yes, [13]float64{.0005, .0005, .0005, .0005, .0005, .0005, .0005, .0005, .0005, .0005, .001, .0005, .0005}},
	{"X20", "elsewhere", [13]float64{.02, .02, .02, .02, .02, .02, .02, .02, .02, .02, .06, .02, .02}},
	{"X20", no, [13]float64{.979, .979, .979, .979, .979, .979, .979, .979, .979, .979, .939, .979, .979}},
	{"X21", yes, [13]float64{.0005, .0005, .0005, .0005, .002, .0005, .0005, .0005, .0005, .0005, .0005, .0005, .0005}},
	{"X23", yes, [13]float64{.01, .01, .02, .10, .03, .01, .01, .01, .01, .05, .15, .45, .05}},
	{"X22", yes, [13]float64{.02, .04, .02, .02, .02, .02, .02, .02, .02, .02, .04, .1, .05}},

	{"X9", "std", [13]float64{.20, .15, .20, .30, .15, .15, .20, .15, .15, .20, .25, .15, .18}},
	{"X9", "cuda", [13]float64{.03, .01, .01, .01, .40, .05, .01, .01, .01, .01, .01, .01, .10}},
	{"X9", "backend", [13]float64{.01, .01, .01, .01, .06, .01, .01, .01, .01, .01, .01, .01, .03}},
	{"X9", "other", [13]float64{.77, .84, .79, .69, .45, .80, .79, .84, .84, .79, .74, .84, .72}},

	{"X11", "velocity", [13]float64{.02, .02, .02, .02, .20, .02, .02, .02, .10, .02, .02, .02, .60}},
	{"X11", "pose", [13]float64{b, b, b, b, b, b, b, b, .40, b, b, b, b}},
	{"X11", "state", [13]float64{.003, .003, .003, .003, .01, .003, .003, .003, .35, .003, .003, .003, .02}},
	{"X11", no, [13]float64{.92, .92, .92, .92, .74, .92, .92, .92, .15, .92, .92, .92, .33}},

	{"X10", "sensor", [13]float64{.30, .20, .20, .20, .30, .30, .30, .90, .15, .20, .20, .10, .30}},
	{"X10", "term", [13]float64{.30, .60, .60, .60, .40, .30, .30, .05, .15, .60, .60, .86, .40}},
	{"X10", "state", [13]float64{.40, .20, .20, .20, .30, .40, .40, .05, .70, .20, .20, .04, .30}},
}

// columns are the causes of the table's columns.
var columns = []string{
	ContactDivergence, RewardOverflow, NormalizerCold, PolicyStd, StaleGraph, ContactCapacity, BadModel,
	BadSensor, BadReset, ActionExplosion, LearnerExplosion, MathDomain, UnknownCause,
}

// rare holds what a cause without a column of its own makes of a feature, by
// "feature value", where that differs from the cause that stands in for it.
var rare = map[string]map[string]float64{
	PrecisionLoss:    {"X21 yes": .90, "F1 loss_grad": .30, "X3 yes": .20, "X3 sudden": .10, "X3 no": .70, "F10 yes": .05, "F10 no": .90, "F11 yes": .05},
	PaddingRows:      {"X18 yes": .85, "F8 few": .20, "F8 some": .60, "F8 all": .20, "X10 sensor": .30, "X10 term": .30, "X10 state": .40},
	NormalizerLost:   {"X19 yes": .85, "F7 yes": .10, "F9 yes": .20},
	RankDesync:       {"X20 yes": .55, "X20 elsewhere": .40, "X20 no": .05, "X22 yes": .60, "X3 yes": .25, "X3 sudden": .65, "X3 no": .10, "F10 yes": .10, "F10 no": .85, "F11 yes": .20},
	SimKernel:        {"X2 yes": .55, "X6 shaky": .06, "X6 unstable": .02, "X6 impossible": .0015, "X14 none": .15, "X1 yes": .05},
	AutodiffSingular: {"X22 yes": .90, "F1 loss_grad": .90, "X3 yes": .10, "X3 sudden": .80, "X3 no": .10, "X20 elsewhere": .40, "X20 no": .55},
	Backend:          {"F12 yes": .003, "X9 cuda": .40, "X9 backend": .60, "X8 yes": .05},
	Masked:           {"X3 yes": .05, "X3 sudden": .05, "X3 no": .90, "F10 no": .93, "F11 yes": .10, "X17 yes": .45, "X17 named": .10, "X17 shown": .40, "X17 no": .05, "F1 phys": .40, "F1 sensor": .40, "F1 reward": .40, "F2 yes": .40, "F6 yes": .30},
}

// likelihood returns P(value | cause) of a feature for every cause of the
// catalogue, and whether the table has the value. A "no" without a row of its
// own is what "yes" leaves; base stands in for b.
func likelihood(feature, value string, base float64) (p []float64, ok bool) {
	r := find(feature, value)
	negate := r == nil && value == no
	if negate {
		r = find(feature, yes)
	}
	if r == nil {
		return nil, false
	}
	p = make([]float64, len(catalogue))
	for j := range catalogue {
		if p[j] = r.of(&catalogue[j]); p[j] == b {
			p[j] = base
		}
		if negate {
			p[j] = 1 - p[j]
		}
	}
	return p, true
}

// of returns the likelihood of the row's value under a cause.
func (r *row) of(k *cause) float64 {
	if v, ok := rare[k.id][r.feature+" "+r.value]; ok {
		return v
	}
	name := k.id
	if k.like != "" {
		name = k.like
	}
	return r.p[slices.Index(columns, name)]
}

// find returns the row of a value, nil when there is none.
func find(feature, value string) *row {
	for i := range likelihoods {
		if r := &likelihoods[i]; r.feature == feature && r.value == value {
			return r
		}
	}
	return nil
}

// values returns the values that the table has for a feature, "no" included.
func values(feature string) []string {
	var v []string
	for i := range likelihoods {
		if r := &likelihoods[i]; r.feature == feature {
			v = append(v, r.value)
		}
	}
	if len(v) == 1 && v[0] == yes {
		v = append(v, no)
	}
	return v
}
