package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// feedback is a run of n steps whose actions answer the state: they grow by the factor gain of
// their env in each step from a step on, and the speeds follow within it by what rise says of
// each substep. The last column of the observation holds the last action.
func feedback(n, from int, gain func(row int) float64, rise func(sub int) float64) *loopRun {
	r := newRun(n).only("action", "obs.policy", "qvel", "qpos", "reward.reach")
	a, o, v := r.fields["action"], r.fields["obs.policy"], r.fields["qvel"]
	for i := range a.v {
		for row := range a.v[i] {
			if i >= from {
				a.v[i][row][0] = 20 * math.Pow(gain(row), float64(i-from)) * (1 + 0.1*hash(3, i, row, 0))
				for sub := range decimation {
					v.v[i*decimation+sub][row][0] = 0.02 * a.v[i][row][0] * rise(sub)
				}
			}
			o.v[i][row][4] = a.v[i][row][0]
		}
	}
	return r.set("reward.reach", -1, 1, 0, math.Inf(-1))
}

// TestTheLoopMultiplies is X7 for actions that answer the state with a gain above one, and
// for what looks like it: a state that runs away by itself, and a single env.
func TestTheLoopMultiplies(t *testing.T) {
	every := func(int) float64 { return 60 }
	evenly := func(sub int) float64 { return float64(sub+1) / decimation }
	itself := func(sub int) float64 { return math.Pow(60, float64(sub+1-decimation)/decimation) }
	c, d := feedback(12, 6, every, evenly).judge()
	assert.Equal(t, yes, c.feature(X7).Value, c.feature(X7).Text)
	assert.Contains(t, c.feature(X7).Text, "in every env")
	assert.Equal(t, ActionExplosion, d.Causes[0].ID)
	for name, r := range map[string]*loopRun{
		"a state that runs away by itself": feedback(12, 6, every, itself),
		"one env": feedback(12, 6, func(row int) float64 {
			if row == 1 {
				return 60
			}
			return 1
		}, evenly),
		"by less": feedback(12, 6, func(int) float64 { return 6 }, evenly),
	} {
		c, _ := r.judge()
		for i := range c.fields {
			if a := c.fields[i]; a.kind == action {
				s := c.inFrame(a, 7, 1)
				s.class = growing
				_, ok := c.multiplies(&s)
				assert.False(t, ok, name)
			}
		}
	}
}

// TestEchoToTheBit: in a short file an observation repeats the action only where it does so to
// the last bit, at another number each time.
func TestEchoToTheBit(t *testing.T) {
	for name, of := range map[string]struct {
		value func(i, row int, was float64) float64
		want  bool
	}{
		"the last action":     {func(_, _ int, was float64) float64 { return was }, true},
		"almost":              {func(_, _ int, was float64) float64 { return was * (1 + 2e-6) }, false},
		"one number for long": {func(i, _ int, was float64) float64 { return math.Max(was, 0) * float64(i/7) }, false},
	} {
		r := newRun(12)
		for i, frame := range r.fields["action"].v {
			for row := range frame {
				frame[row][2] = of.value(i, row, 5+hash(7, i, row))
				r.fields["obs.policy"].v[i][row][0] = 5 + hash(7, i, row)
				if name == "one number for long" {
					r.fields["obs.policy"].v[i][row][0] = frame[row][2]
				}
			}
		}
		c, _ := r.set("obs.policy", 11, 1, 0, 3e4).set("action", 11, 1, 2, of.value(11, 1, 3e4)).judge()
		o := c.byName["obs.policy"]
		s := c.inFrame(o, o.len()-1, 1)
		s.col = 0
		_, ok := c.echoed(&s)
		assert.Equal(t, of.want, ok, name)
	}
}
