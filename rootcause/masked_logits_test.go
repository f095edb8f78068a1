package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// masks is a run of a policy of three actions, of which one is not allowed at times.
func masks(name string) *loopRun {
	return newRun(60).drop("policy.mean", "policy.std", "param.std").with(name, dump.StagePolicy, sometimes(math.Inf(-1)))
}

// TestMaskedLogits: actions that are masked with -inf are a healthy run, whether the
// guard tripped on them or not; a row of nothing else is not.
func TestMaskedLogits(t *testing.T) {
	inf := math.Inf(-1)
	for _, name := range []string{"policy.logits", "policy.action_logits", "policy.masked"} {
		r := masks(name)
		_, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, d.Warnings)
		r = masks(name)
		r.untold = true
		_, d = r.judge()
		assert.Equal(t, Clean, d.Verdict, name)

		c, d := masks(name).set(name, -2, 1, 0, inf).set(name, -2, 1, 1, inf).set(name, -2, 1, 2, inf).set("log_prob", -1, 1, 0, nan).judge()
		assert.Equal(t, byZero, c.feature(X23).Value, "%s: %s", name, c.feature(X23).Text)
		assert.Equal(t, MathDomain, d.Verdict, name)
	}
	for name, r := range map[string]*loopRun{
		"NaN beside them":        masks("policy.logits").set("policy.logits", -2, 1, 0, nan),
		"+inf":                   masks("policy.logits").set("policy.logits", -2, 1, 0, -inf),
		"an ordinary mean":       masks("policy.mean_head"),
		"a log that underflows":  masks("policy.logits").set("policy.logits", 2, 1, 0, -95, -95, -95),
		"only once, at the last": newRun(60).with("policy.logits", dump.StagePolicy, func(i, row, col int) float64 { return hash(i, row, col) }).set("policy.logits", -1, 1, 0, inf),
	} {
		_, d := r.judge()
		assert.NotEqual(t, Clean, d.Verdict, name)
	}
}

// TestNoActionElsewhere: logits that are NaN in one env that the file lacks, of a policy
// that masks actions and whose observations are fine, had no action left; NaN in all envs,
// or in one of a policy that masks none, is another matter.
func TestNoActionElsewhere(t *testing.T) {
	run := func(r *loopRun, bad float64) *loopRun {
		r.traced("policy.logits")
		tr := r.traces["policy.logits"]
		for i := range tr.AbsMax {
			tr.AbsMax[i], tr.NegInf[i] = 2, 5
		}
		tr.AbsMax[len(tr.NaN)-1], tr.NaN[len(tr.NaN)-1] = 2, bad
		return r
	}
	c, _ := run(masks("policy.logits"), 3).judge()
	assert.Equal(t, byZero, c.feature(X23).Value, c.feature(X23).Text)
	c, _ = run(masks("policy.logits"), 3*48).judge()
	assert.NotEqual(t, byZero, c.feature(X23).Value, "all envs")
	c, _ = run(masks("policy.logits").set("obs.policy", -1, 1, 0, nan), 3).judge()
	assert.NotEqual(t, byZero, c.feature(X23).Value, "an observation was NaN")
	plain := newRun(60).drop("policy.mean", "policy.std", "param.std").with("policy.logits", dump.StagePolicy, func(i, row, col int) float64 { return hash(i, row, col) })
	c, _ = run(plain, 3).judge()
	assert.NotEqual(t, byZero, c.feature(X23).Value, "nothing is masked")
}
