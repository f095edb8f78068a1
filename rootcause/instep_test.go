package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// commanded is a run of n steps whose commands are what of says of step, row and column, held
// over the substeps; the speeds of a step are what made says of its commands, until they
// are not finite.
func commanded(n int, of func(i, row, col int) float64, made func(u float64, i, row, col int) float64) *loopRun {
	r := newRun(n).only("action", "ctrl", "qvel", "qpos", "qacc", "obs.policy")
	a, u, v := r.fields["action"], r.fields["ctrl"], r.fields["qvel"]
	for i := range a.v {
		for row := range a.v[i] {
			for col := range a.v[i][row] {
				a.v[i][row][col] = hash(9, i, row, col)
			}
			for sub := range decimation {
				k := i*decimation + sub
				for col := range u.v[k][row] {
					u.v[k][row][col] = of(i, row, col)
				}
				for col := range v.v[k][row] {
					v.v[k][row][col] = made(of(i, row, col%len(u.v[k][row])), i, row, col) * (1 + float64(sub)/decimation)
				}
			}
		}
	}
	return r.set("qvel", -1, 0, -1, nan).set("qacc", -1, 0, -1, nan)
}

// asAction records the commands as actions, and no controls.
func (r *loopRun) asAction() *loopRun {
	a, u := r.fields["action"], r.fields["ctrl"]
	for i := range a.v {
		for row := range a.v[i] {
			copy(a.v[i][row], u.v[i*decimation][row])
		}
	}
	return r.drop("ctrl")
}

// TestInStep is X7 for commands that are made of the last ones, and what looks like it:
// a state that runs away with actions that answer it, and a single env.
func TestInStep(t *testing.T) {
	filter := func(g float64) func(i, row, col int) float64 {
		return func(i, row, col int) float64 {
			return math.Pow(g, float64(i))*(hash(1, row, col)+math.Copysign(0.2, hash(1, row, col))) + 0.1*hash(2, i, row, col)
		}
	}
	driven := func(u float64, i, row, col int) float64 {
		return 30*u*(1+0.8*hash(3, i, row, col)) + hash(4, i, row, col)
	}
	for name, r := range map[string]*loopRun{
		"targets that sum up an answer to themselves": commanded(16, filter(1.9), driven),
		"a filter with a pole above one":              commanded(50, filter(1.25), driven),
		"an action that repeats the last one louder":  commanded(30, filter(1.4), driven).asAction(),
	} {
		c, d := r.judge()
		assert.Equal(t, yes, c.feature(X7).Value, "%s: %s", name, c.feature(X7).Text)
		assert.Contains(t, c.feature(X7).Text, "a gain above one", name)
		assert.Equal(t, unknown, c.feature(F5).Value, name)
		assert.Equal(t, ActionExplosion, d.Causes[0].ID, name)
	}
	alike := func(u float64, i, row, col int) float64 { return 30*u + 1e-3*hash(4, i, row, col) }
	mode := func(i, row, col int) float64 { // one joint runs away, and all actions answer it
		return math.Pow(1.9, float64(i)) * hash(1, row, 0) * hash(1, 9, col)
	}
	for name, r := range map[string]*loopRun{
		"a state of which the actions are made": commanded(16, filter(1.9), alike),
		"a joint that runs away":                commanded(16, mode, driven),
		"ordinary commands":                     commanded(16, func(i, row, col int) float64 { return hash(i, row, col) }, func(_ float64, i, row, col int) float64 { return math.Pow(1.9, float64(i)) * hash(5, row, col) }),
		"one env": commanded(16, func(i, row, col int) float64 {
			if row == 1 {
				return filter(1.9)(i, row, col)
			}
			return hash(i, row, col)
		}, driven),
	} {
		c, _ := r.judge()
		f, ok := c.inStep(c.root())
		assert.False(t, ok, "%s: %s", name, f.Text)
	}
}
