package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/mjb"
)

// TestOutOfReach is X27: what a knee gains in the step in which it runs away,
// against what its motor, its weight and its turning can give.
func TestOutOfReach(t *testing.T) {
	run := func(to float64, bend func(*mjb.Actuator)) *loopRun {
		r := swing(5)
		r.model.Actuators = []mjb.Actuator{{Name: "knee", Joint: 1, Gear: 2, GainPrm0: 1, CtrlLimited: true, CtrlRange: [2]float64{-3, 3}}}
		bend(&r.model.Actuators[0])
		for i, f := range r.fields[dump.StateField].v[40:] { // from 5 rad/s to a runaway at once
			f[0][2], f[0][3] = 0.1, to*float64(i+1)
		}
		return r
	}
	as := func(*mjb.Actuator) {}
	c, _ := run(2e4, as).judge()
	f := c.feature(X27)
	assert.Equal(t, yes, f.Value, f.Text)
	// 6 N m on an armature of 0.02 kg m^2 for 5 ms are 1.5 rad/s, and 5 rad/s squared 0.125 more
	assert.InDelta(t, 1.63, f.Baseline, 0.02)

	c, d := run(2e4, func(a *mjb.Actuator) { a.CtrlLimited = false }).judge()
	assert.Equal(t, "open", c.feature(X27).Value, c.feature(X27).Text)
	assert.Contains(t, causesOf(&d), ActionExplosion)
	c, _ = run(2e4, func(a *mjb.Actuator) { a.Gear = 1e5 }).judge()
	assert.Equal(t, no, c.feature(X27).Value, c.feature(X27).Text)
	c, _ = run(2e4, func(a *mjb.Actuator) { a.CtrlLimited, a.BiasPrm = false, [3]float64{.75, 1.05, -1} }).judge()
	assert.Equal(t, unknown, c.feature(X27).Value, "a muscle")
}
