package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestBatchBursts: a batch of which some samples are NaN and others decades above all
// that there was ran away; a NaN beside ordinary samples did not.
func TestBatchBursts(t *testing.T) {
	run := func(name string, last func(i, col int) float64) *loopRun {
		r := newRun(60)
		return r.batchOn(name, dump.StageValue, lastOf(r, ordinary, last)).set("loss.total", -1, 0, 0, nan).set("grad_norm", -1, 0, 0, nan)
	}
	decades := func(i, col int) float64 { return -math.Pow(10, float64(col%10)) }
	for _, name := range []string{"value.next", "q.target", "value.batch"} {
		for _, v := range []float64{nan, math.Inf(-1)} {
			c, d := run(name, one(v, decades)).judge()
			assert.Equal(t, yes, c.feature(X3).Value, "%s: %s", name, c.feature(X3).Text)
			assert.Contains(t, c.feature(X3).Text, "past what a number can hold")
			assert.Equal(t, LearnerExplosion, d.Causes[0].ID, name)
		}
	}
	for name, r := range map[string]*loopRun{
		"beside ordinary samples": run("value.next", one(nan, ordinary)),
		"none is bad":             run("value.next", decades),
	} {
		c, _ := r.judge()
		assert.NotContains(t, c.feature(X3).Text, "past what a number can hold", name)
	}
}

// TestRecurrence: a recurrent state that multiplies itself is the network's doing while
// the actions stay where they were; a mean that does so drives what it commands.
func TestRecurrence(t *testing.T) {
	run := func(name string, by float64) *loopRun {
		return newRun(80).with(name, dump.StagePolicy, func(i, row, col int) float64 {
			return (1 + 0.1*hash(row, col)) * math.Pow(by, float64(max(0, i-20)))
		})
	}
	for _, name := range []string{"policy.hidden", "policy.lstm_c", "policy.rnn_state"} {
		c, d := run(name, 1.9).judge()
		assert.Equal(t, recurs, c.feature(X3).Value, "%s: %s", name, c.feature(X3).Text)
		assert.Equal(t, LearnerExplosion, d.Verdict, name)
		assert.NotEqual(t, yes, c.feature(X7).Value)
	}
	c, _ := run("policy.mean", 1.9).judge()
	assert.NotEqual(t, recurs, c.feature(X3).Value, "the mean of the actions")
	r := run("policy.hidden", 1.9)
	for i := 30; i < 80; i++ {
		r.all("action", i, 2e4*math.Pow(1.9, float64(i-30)))
	}
	c, _ = r.judge()
	assert.NotEqual(t, recurs, c.feature(X3).Value, "the actions followed")
	_, d := run("policy.hidden", 1.01).judge()
	assert.Equal(t, Clean, d.Verdict, "a leaky state that still fills up")
}
