package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestBornBeyond is X29 for a reset that leaves a joint far past its range.
func TestBornBeyond(t *testing.T) {
	run := func(pose, before float64, noted bool) (*Case, Diagnosis) {
		r := runaway(newRun(30), 0).set("qpos", -7, 0, 0, before, pose, pose, pose, pose)
		r.model = crates()
		r.model.Joints[0].Limited, r.model.Joints[0].Range = true, [2]float64{-2, 2}
		if ticks := r.fields["qpos"].ticks; noted {
			r.event(dump.Event{Tick: ticks[len(ticks)-6] - 1, Kind: dump.EventReset, Envs: []int{7}, Count: 1})
		}
		return r.judge()
	}
	c, d := run(46, 1, true)
	f := c.feature(X29)
	assert.Equal(t, yes, f.Value, f.Text)
	assert.Contains(t, f.Text, "is 44 past its range")
	assert.NotEqual(t, no, c.feature(X11).Value, "what a reset wrote is no work of the physics")
	assert.Equal(t, BadReset, d.Causes[0].ID)
	for name, v := range map[string][2]float64{"a soft limit": {2.3, 1}, "a range that never held": {46, 46}, "in its range": {1.9, 1}} {
		c, _ := run(v[0], v[1], true)
		assert.NotEqual(t, yes, c.feature(X29).Value, name)
	}
	c, _ = run(1, 1, false)
	assert.NotEqual(t, yes, c.feature(X29).Value, "no reset")
	r := runaway(newRun(30), 0).set("qpos", -7, 0, 0, 1, 46, 46, 46, 46).set("qvel", -6, 0, 1, 9e3)
	r.model = crates()
	r.model.Joints[0].Limited, r.model.Joints[0].Range = true, [2]float64{-2, 2}
	ticks := r.fields["qpos"].ticks
	c, _ = r.event(dump.Event{Tick: ticks[len(ticks)-6] - 1, Kind: dump.EventReset, Envs: []int{7}, Count: 1}).judge()
	assert.NotEqual(t, yes, c.feature(X29).Value, "so fast that it moved there in the step")
}
