package rootcause

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// lastOf gives the last record of a batch of 32 samples another law.
func lastOf(r *loopRun, usual, last func(i, col int) float64) func(i, col int) float64 {
	end := len(r.fields["loss.total"].v) - 1
	return func(i, col int) float64 {
		if i == end {
			return last(i, col)
		}
		return usual(i, col)
	}
}

// one gives one sample of a batch a value of its own.
func one(v float64, others func(i, col int) float64) func(i, col int) float64 {
	return func(i, col int) float64 {
		if col == 17 {
			return v
		}
		return others(i, col)
	}
}

// ordered moves the field that was added last to another place in the loop.
func (r *loopRun) ordered(order float64) *loopRun {
	spec := &r.man.Fields[len(r.man.Fields)-1]
	spec.Order, r.fields[spec.Name].spec.Order = order, order
	return r
}

func ordinary(i, col int) float64 { return 1.5 + hash(i, col) }

func constantly(v float64) func(i, col int) float64 {
	return func(int, int) float64 { return v }
}

// TestWeightByZero: a weight of a sample that is infinite beside ordinary ones is one
// over a priority of zero, and so is a NaN beside nothing but zeros; an exponential that
// overflows, and a weight of a layer, are not.
func TestWeightByZero(t *testing.T) {
	inf := math.Inf(1)
	run := func(name string, stage dump.Stage, last func(i, col int) float64) *loopRun {
		r := newRun(60)
		return r.batchOn(name, stage, lastOf(r, ordinary, last)).set("loss.total", -1, 0, 0, nan)
	}
	for name, r := range map[string]*loopRun{
		"of a buffer":      run("weight.is", dump.StageValue, one(inf, ordinary)),
		"among the losses": run("loss.per_weights", dump.StageLoss, one(inf, ordinary)),
		"normalized":       run("weight.is", dump.StageValue, one(nan, constantly(0))),
	} {
		r.ordered(79)
		c, d := r.judge()
		assert.Equal(t, byZero, c.feature(X23).Value, "%s: %s", name, c.feature(X23).Text)
		assert.Equal(t, MathDomain, d.Verdict, name)
	}
	for name, r := range map[string]*loopRun{
		"an exponential": run("weight.adv", dump.StageValue, one(inf, ordinary)),
		"spread by decades": run("weight.is", dump.StageValue, one(inf, func(i, col int) float64 {
			return math.Pow(10, float64(col))
		})),
		"NaN beside ordinary ones": run("weight.is", dump.StageValue, one(nan, ordinary)),
		"a value":                  run("value.batch", dump.StageValue, one(inf, ordinary)),
	} {
		r.ordered(79)
		c, _ := r.judge()
		assert.NotEqual(t, byZero, c.feature(X23).Value, "%s: %s", name, c.feature(X23).Text)
	}
}

// TestZeroBeside: samples that are infinite exactly where another number of theirs is
// zero are divided by it, or are its logarithm.
func TestZeroBeside(t *testing.T) {
	run := func(v float64, beside func(i, col int) float64) *loopRun {
		r := newRun(60)
		r.batchOn("loss.distance", dump.StageLoss, lastOf(r, ordinary, beside))
		r.ordered(78)
		r.batchOn("loss.samples", dump.StageLoss, lastOf(r, ordinary, one(v, ordinary)))
		r.ordered(79)
		return r.set("loss.total", -1, 0, 0, nan)
	}
	for _, v := range []float64{math.Inf(1), math.Inf(-1)} {
		c, d := run(v, one(0, ordinary)).judge()
		assert.Equal(t, byZero, c.feature(X23).Value, c.feature(X23).Text)
		assert.Equal(t, MathDomain, d.Causes[0].ID)
	}
	for name, r := range map[string]*loopRun{
		"zero elsewhere too": run(math.Inf(1), func(i, col int) float64 { return float64(col % 17) }),
		"nowhere":            run(math.Inf(1), ordinary),
		"a flag":             run(math.Inf(1), one(0, constantly(1))),
		"NaN":                run(nan, one(0, ordinary)),
	} {
		c, _ := r.judge()
		assert.NotEqual(t, byZero, c.feature(X23).Value, "%s: %s", name, c.feature(X23).Text)
	}
}

// TestZeroVariance: a loss that is NaN while the variance of the returns is still zero is
// divided by its root; where that went well before, there is an epsilon.
func TestZeroVariance(t *testing.T) {
	run := func(name string, variance func(i, col int) float64) *loopRun {
		r := newRun(60).add(name, dump.StageNormalizer, nil, variance)
		r.ordered(79)
		return r.tail("loss.total", 2, nan).tail("grad_norm", 2, nan)
	}
	late := func(before, last float64) func(i, _ int) float64 {
		n := len(newRun(60).fields["loss.total"].v)
		return func(i, _ int) float64 {
			if i >= n-2 {
				return last
			}
			return before
		}
	}
	for _, name := range []string{"normalizer.return.var", "normalizer.reward.var", "normalizer.value_target.var"} {
		c, d := run(name, late(0.3, 0)).judge()
		assert.Equal(t, byZero, c.feature(X23).Value, c.feature(X23).Text)
		assert.Equal(t, MathDomain, d.Verdict, name)
	}
	for name, r := range map[string]*loopRun{
		"all along":         run("normalizer.return.var", constantly(0)),
		"small":             run("normalizer.return.var", late(0.3, 1e-4)),
		"of an observation": run("normalizer.obs.var", late(0.3, 0)),
	} {
		c, _ := r.judge()
		assert.NotEqual(t, byZero, c.feature(X23).Value, "%s: %s", name, c.feature(X23).Text)
	}
}

// discrete is a run whose policy chooses by logits that differ by a gap, and of which a
// number about it is NaN at the end.
func discrete(gap float64, name string) *loopRun {
	stage := dump.StagePolicy
	if strings.HasPrefix(name, "loss.") {
		stage = dump.StageLoss
	}
	r := newRun(60).drop("policy.mean", "policy.std", "param.std").with("policy.logits", dump.StagePolicy, func(i, row, col int) float64 {
		if col == 2 && row == 1 {
			return -gap
		}
		return hash(i, row, col)
	})
	end := len(r.fields["loss.total"].v) - 1
	return r.add(name, stage, nil, func(i, _ int) float64 {
		if i == end {
			return nan
		}
		return 0.4
	}).ordered(79).set("loss.total", -1, 0, 0, nan)
}

// TestUnderflow: an entropy of logits so far apart that a probability is zero has no
// value if it is written as p*log(p); one of ordinary logits is NaN for another reason.
func TestUnderflow(t *testing.T) {
	for _, name := range []string{"policy.entropy", "loss.entropy", "loss.kl", "policy.log_prob.new"} {
		c, d := discrete(150, name).judge()
		assert.Equal(t, byZero, c.feature(X23).Value, "%s: %s", name, c.feature(X23).Text)
		assert.Equal(t, MathDomain, d.Causes[0].ID, name)
		assert.Equal(t, no, c.feature(F10).Value, "it has no std")
	}
	c, _ := discrete(60, "policy.entropy").judge()
	assert.NotEqual(t, byZero, c.feature(X23).Value, "exp(-60) is a number")
	c, _ = discrete(math.Inf(1), "policy.entropy").judge()
	assert.NotEqual(t, byZero, c.feature(X23).Value, "an action that is not allowed")
	r := discrete(150, "policy.entropy")
	r.set("policy.entropy", -1, 0, 0, 0.4).set("loss.total", -1, 0, 0, 0.4)
	_, d := r.judge()
	assert.Equal(t, Clean, d.Verdict, "a policy that is sure of itself")
}

// TestSameTargets: a loss that is NaN at once over returns that are all the same.
func TestSameTargets(t *testing.T) {
	run := func(name string, value func(i, col int) float64) *loopRun {
		r := newRun(60)
		r.batchOn(name, dump.StageValue, lastOf(r, ordinary, value))
		r.ordered(79)
		return r.set("loss.total", -1, 0, 0, nan).set("grad_norm", -1, 0, 0, nan)
	}
	for _, name := range []string{"return", "advantage", "returns.batch"} {
		c, d := run(name, constantly(0)).judge()
		assert.Equal(t, "flat", c.feature(X23).Value, c.feature(X23).Text)
		assert.Equal(t, MathDomain, d.Verdict, name)
	}
	c, _ := run("return", one(0.5, constantly(0))).judge()
	assert.NotEqual(t, "flat", c.feature(X23).Value, "one differs")
	r := run("return", constantly(0))
	for col := range 32 {
		r.set("return", 3, 0, col, 7)
	}
	c, _ = r.judge()
	assert.NotEqual(t, "flat", c.feature(X23).Value, "that went well before")
}
