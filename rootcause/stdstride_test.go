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

// TestStdSinks is F10 for a raw std that is recorded between updates and has less left
// than the last of them took when the learner becomes NaN in the next.
func TestStdSinks(t *testing.T) {
	run := func(param string, last ...float64) *loopRun {
		r := newRun(200).drop("policy.std", "grad_norm", "log_prob")
		r.man.Facts["policy.std_param"] = param
		f, g := r.fields["param.std"], &loopField{}
		f.spec.Clock = dump.ClockUpdate
		for i := 1; i < len(f.v); i += 2 { // the second gradient step of each update
			k := len(g.v)
			g.ticks, g.counts, g.v = append(g.ticks, f.ticks[i]), append(g.counts, int64(k+1)), append(g.v, [][]float64{{0.8, 0.5 - 0.01*float64(k), 0.7}})
		}
		g.spec = f.spec
		r.fields["param.std"] = g
		for k := range r.man.Fields {
			if r.man.Fields[k].Name == "param.std" {
				r.man.Fields[k].Clock = dump.ClockUpdate
			}
		}
		r.set("param.std", -1-len(last), 0, 1, last...).set("param.std", -1, 0, -1, nan)
		return r.set("loss.total", -2, 0, 0, nan, nan)
	}
	c, d := run("scalar", 0.026, 0.015, 0.004).judge()
	assert.Equal(t, sinking, c.feature(F10).Value, c.feature(F10).Text)
	assert.Equal(t, PolicyStd, d.Verdict)
	assert.Equal(t, Implicated, d.Checklist[8].Status)
	for name, r := range map[string]*loopRun{
		"it nears a floor":             run("scalar", 0.0045, 0.0042, 0.0041),
		"it came up again":             run("scalar", 0.026, 0.004, 0.006),
		"it is large":                  run("scalar", 0.5, 0.4, 0.3),
		"its logarithm is learned":     run("log", 0.026, 0.015, 0.004),
		"the loss is infinite":         run("scalar", 0.026, 0.015, 0.004).set("loss.total", -2, 0, 0, inf, inf),
		"it lived through that update": run("scalar", 0.026, 0.015, 0.004).set("param.std", -1, 0, -1, 0.003),
		"a reward went bad":            run("scalar", 0.026, 0.015, 0.004).set("reward", -9, 0, 0, nan),
	} {
		c, d := r.judge()
		assert.NotEqual(t, sinking, c.feature(F10).Value, name)
		assert.NotEqual(t, PolicyStd, d.Verdict, name)
	}
	_, d = run("scalar", 0.026, 0.015, 0.004).set("param.std", -1, 0, -1, 0.003).set("loss.total", -2, 0, 0, 0.3, 0.3).judge()
	assert.Equal(t, Clean, d.Verdict, "it only sinks")
}
