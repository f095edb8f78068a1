package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestColdColumn: a column that never varied is divided by nothing and takes the
// policy with it; a large z that the policy does not follow is none.
func TestColdColumn(t *testing.T) {
	touched := func(variance, z, says float64) *loopRun {
		r := newRun(60)
		for i := range r.fields["normalizer.var"].v {
			r.set("normalizer.var", i, 0, 2, variance)
		}
		for i := 45; i < 60; i++ {
			r.set("obs.policy.normalized", i, 1, 2, z).set("policy.mean", i, 1, 0, says)
		}
		return r
	}
	c, d := touched(0, 1e4, 90).judge()
	assert.Equal(t, yes, c.feature(F9).Value, c.feature(F9).Text)
	assert.Equal(t, NormalizerCold, d.Verdict)
	for name, r := range map[string]*loopRun{
		"it varies":                   touched(0.3, 1e4, 90),
		"a z that is clipped":         touched(0, 10, 90),
		"the policy does not care":    touched(0, 1e4, 0.3),
		"the policy says little":      touched(0, 1e4, 9.5),
		"the policy says that anyway": touched(0, 1e4, 90).set("policy.mean", 10, 2, 0, 40),
		"once":                        newRun(60).all("normalizer.var", 0, 0).set("obs.policy.normalized", 50, 1, 2, 1e4).set("policy.mean", 50, 1, 0, 90),
		"another z is as large":       touched(0, 1e4, 90).set("obs.policy.normalized", 10, 2, 1, 2e3),
	} {
		_, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, name)
	}
}

// TestRunsAway: weights, losses and gradients beyond all bounds when the file ends;
// two of them may be so by nature.
func TestRunsAway(t *testing.T) {
	wild := func(names ...string) *loopRun {
		r := newRun(200)
		for _, name := range names {
			size := map[string]float64{"param.actor": 600, "loss.total": 2e7, "grad_norm": 3e8}[name]
			r.set(name, -1, 0, 0, size)
		}
		return r
	}
	_, d := wild("param.actor", "loss.total", "grad_norm").judge()
	assert.Equal(t, LearnerExplosion, d.Verdict)
	for _, names := range [][]string{{"param.actor", "loss.total"}, {"param.actor", "grad_norm"}, {"loss.total", "grad_norm"}} {
		_, d := wild(names...).judge()
		assert.Equal(t, Clean, d.Verdict, "%v", names)
	}
	over := newRun(200).set("param.actor", -9, 0, 0, 600).set("loss.total", -9, 0, 0, 2e7).set("grad_norm", -9, 0, 0, 3e8)
	_, d = over.judge()
	assert.Equal(t, Clean, d.Verdict, "it came back")
	large := wild("param.actor", "loss.total", "grad_norm").all("param.actor", 0, 600)
	_, d = large.judge()
	assert.Equal(t, Clean, d.Verdict, "weights of that size from the start")
}
