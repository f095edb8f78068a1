package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestStdAlone is X3 where the parameter of the std strides away: alone, it is not the
// learning rate that is to blame, for that moves every weight.
func TestStdAlone(t *testing.T) {
	cols := make([]string, 16)
	run := func(stride, weights float64) *loopRun {
		r := newRun(200).drop("param.std", "policy.std", "param.actor")
		r.man.Facts["policy.std_param"] = "log"
		n := len(r.fields["loss.total"].v)
		r.add("param.std", dump.StageParam, []string{"a", "b"}, func(i, col int) float64 { return 0.2 + stride*float64(i) }).
			add("param.actor", dump.StageParam, cols, func(i, col int) float64 { return 0.3*hash(col) + weights*float64(i)*hash(col, 5) })
		return r.set("log_prob", -1, 0, 0, -inf).set("loss.total", n-1, 0, 0, inf)
	}
	c, d := run(0.9, 1e-3).judge()
	assert.Equal(t, no, c.feature(X3).Value, c.feature(X3).Text)
	assert.Equal(t, PolicyStd, d.Verdict)

	for name, r := range map[string]*loopRun{
		"the weights stride as well": run(0.9, 0.4),
		"no weights are recorded":    run(0.9, 1e-3).drop("param.actor"),
	} {
		c, d = r.judge()
		assert.Equal(t, yes, c.feature(X3).Value, "%s: %s", name, c.feature(X3).Text)
		assert.NotEqual(t, PolicyStd, d.Verdict, name)
	}
	_, d = run(1e-3, 1e-3).set("log_prob", -1, 0, 0, -5).set("loss.total", -1, 0, 0, 0.3).judge()
	assert.Equal(t, Clean, d.Verdict)
}
