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
