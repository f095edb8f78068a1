package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// throwing is a run in which one env after the other is reset, with an observation that
// leaps there; answer says by how much the mean of the policy leaps at a step, and move
// by how much it moves anyway.
func throwing(reset bool, answer, move func(i int) float64) *loopRun {
	r := newRun(80)
	o, m := r.fields["obs.policy"], r.fields["policy.mean"]
	m.ticks, m.counts, m.v = o.ticks, o.counts, nil
	level, mean := make([]float64, 5), make([]float64, 5)
	for i := range o.v {
		frame := make([][]float64, 5)
		for row := range level {
			level[row] += 0.01 * (1 + 0.2*hash(i, row))
			mean[row] += move(i) * (1 + 0.2*hash(i, row, 2))
			if i%8 == 4 && row == i/8%5 {
				level[row] += 2
				mean[row] += answer(i)
				if reset {
					r.event(dump.Event{Tick: o.ticks[i-1], Kind: dump.EventReset, Envs: []int{r.man.EnvIDs[row]}, Count: 1})
				}
			}
			for col := range o.v[i][row] {
				o.v[i][row][col] = level[row] + 0.1*float64(col)
			}
			frame[row] = []float64{mean[row], 0.5 * mean[row], -mean[row]}
		}
		m.v = append(m.v, frame)
	}
	return r.drop("obs.policy.normalized", "normalizer.mean", "normalizer.var", "ctrl", "sensordata")
}

// TestDeafened is X8 for a policy that no longer sees what it is given.
func TestDeafened(t *testing.T) {
	until := func(n int, then, after float64) func(i int) float64 {
		return func(i int) float64 {
			if i < n {
				return then
			}
			return after
		}
	}
	steady := until(0, 0, 0.01)
	c, d := throwing(true, until(48, 0.4, 0), steady).judge()
	assert.Equal(t, yes, c.feature(X8).Value, c.feature(X8).Text)
	assert.Contains(t, c.feature(X8).Text, "at each of 6 resets")
	assert.Equal(t, StaleGraph, d.Causes[0].ID)
	for name, r := range map[string]*loopRun{
		"a policy that answers":         throwing(true, until(0, 0, 0.4), steady),
		"one that never did":            throwing(true, until(0, 0, 0), steady),
		"one that answers less":         throwing(true, until(48, 0.4, 0.06), steady),
		"one that answers now and then": throwing(true, func(i int) float64 { return 0.4 * float64(i/8%2) }, steady),
		"one at its bounds":             throwing(true, until(48, 0.4, 0), until(48, 0.01, 1e-4)),
		"twice without an answer":       throwing(true, until(64, 0.4, 0), steady),
		"leaps without a reset":         throwing(false, until(48, 0.4, 0), steady),
	} {
		c, d := r.judge()
		assert.NotEqual(t, yes, c.feature(X8).Value, name)
		assert.Equal(t, Clean, d.Verdict, name)
	}
}
