package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestSeenAfterReset is X5 by the observation between a reset and the substep in
// which it ran away.
func TestSeenAfterReset(t *testing.T) {
	at := func(left float64) *loopRun {
		r := newRun(40)
		v, o := r.fields["qvel"], r.fields["obs.policy"]
		r.set("obs.policy", -2, 0, 1, left)
		r.set("qvel", -4, 0, 1, 7e4, 3e6, 4e8, nan).set("qacc", -4, 0, 1, 2e9, 3e10, 4e11, nan)
		for _, f := range r.fields { // the env goes on after the reset in the last step
			for i, tick := range f.ticks {
				if tick > v.ticks[len(v.ticks)-1] && f.spec.Clock == dump.ClockStep {
					f.v, f.ticks, f.counts = f.v[:i], f.ticks[:i], f.counts[:i]
					break
				}
			}
		}
		return r.set("obs.policy", -1, 0, 1, left).event(dump.Event{Tick: o.ticks[len(o.ticks)-1] - 1, Kind: dump.EventReset, Envs: []int{7}, Count: 1})
	}
	c, d := at(4e4).judge()
	assert.Equal(t, "seen", c.feature(X5).Value, c.feature(X5).Text)
	assert.Equal(t, BadReset, d.Causes[0].ID)
	c, _ = at(2).judge()
	assert.NotEqual(t, "seen", c.feature(X5).Value, c.feature(X5).Text)
}

// TestWilderResets is X5 for resets that begin wilder and wilder, until the physics is bad in
// the first record after one.
func TestWilderResets(t *testing.T) {
	run := func(from, to []float64) *Case {
		r := newRun(40)
		o, v := r.fields["obs.policy"], r.fields["qvel"]
		for k, step := range []int{9, 19, 29} {
			for col := range o.v[step+1][0] {
				o.v[step+1][0][col] = from[k] * (0.5 + 0.1*float64(col))
			}
			r.event(dump.Event{Tick: o.ticks[step+1] - 1, Kind: dump.EventReset, Envs: []int{7}, Count: 1})
		}
		at := len(o.v) - 2
		for col := range o.v[at][0] {
			o.v[at][0][col] = to[0]
		}
		r.event(dump.Event{Tick: o.ticks[at] - 1, Kind: dump.EventReset, Envs: []int{7}, Count: 1})
		i := 0
		for v.ticks[i] < o.ticks[at] {
			i++
		}
		c, _ := r.set("qvel", i, 0, 1, to[1], 3e9, nan).set("qacc", i, 0, 1, 1e3*to[1], 4e15, nan).judge()
		return c
	}
	for name, of := range map[string][2][]float64{
		"a curriculum of speeds":   {{2, 12, 90}, {700, 4e8}},
		"the last one much wilder": {{1, 2, 3}, {400, 4e8}},
		"a little each time":       {{3, 20, 100}, {150, 4e7}},
	} {
		c := run(of[0], of[1])
		assert.Equal(t, "seen", c.feature(X5).Value, "%s: %s", name, c.feature(X5).Text)
	}
	for name, of := range map[string][2][]float64{
		"resets that are alike":        {{600, 650, 700}, {720, 4e8}},
		"now and then a wild one":      {{2, 300, 4}, {700, 4e8}},
		"small ones that grow":         {{0.1, 0.5, 2}, {9, 4e8}},
		"it went bad some steps later": {{2, 12, 90}, {700, 40}},
	} {
		c := run(of[0], of[1])
		assert.NotEqual(t, "seen", c.feature(X5).Value, "%s: %s", name, c.feature(X5).Text)
	}
}

// TestManyColumnsAfterReset is X10 for an observation without labels.
func TestManyColumnsAfterReset(t *testing.T) {
	bad := func(cols int) *loopRun {
		r := newRun(40).only("obs.policy", "reward", "done", "policy.mean", "action", "normalizer.var")
		ticks := r.fields["obs.policy"].ticks
		for col := range cols {
			r.set("obs.policy", -1, 0, col, inf)
		}
		return r.event(dump.Event{Tick: ticks[len(ticks)-1] - 1, Kind: dump.EventReset, Envs: []int{7}, Count: 1})
	}
	c, d := bad(4).judge()
	assert.Equal(t, "state", c.feature(X10).Value, c.feature(X10).Text)
	assert.Equal(t, BadReset, d.Causes[0].ID)
	c, _ = bad(1).judge()
	assert.Equal(t, "sensor", c.feature(X10).Value, "a single ray that missed")
}

// TestTotalAlone: a total that is NaN over finite terms has no hidden physics
// behind it; with a bad term beside it there may be.
func TestTotalAlone(t *testing.T) {
	total := func() *loopRun {
		r := newRun(30).only("reward", "reward.reach", "reward.upright", "obs.policy", "action", "policy.mean")
		for row := range r.man.EnvIDs {
			r.set("reward", -1, row, 0, nan)
		}
		return r
	}
	c, d := total().judge()
	assert.Equal(t, RewardOverflow, d.Causes[0].ID)
	assert.NotContains(t, causesOf(&d), BadModel)
	assert.Equal(t, implied, c.hidden[onPhysics])
	c, d = total().set("reward.reach", -1, 0, 0, nan).judge()
	assert.Equal(t, RewardOverflow, d.Causes[0].ID)
	assert.Greater(t, c.hidden[onPhysics], implied)
}
