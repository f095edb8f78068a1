package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/mjb"
)

// swing is a dump of a guard in which a foot of 5 cm, 0.4 m below its joint, swings
// at a speed in rad/s until it runs away.
func swing(speed float64) *loopRun {
	var vel [][2]float64
	for i := range 40 {
		vel = append(vel, [2]float64{0.1 * hash(i), speed * (1 - 0.02*hash(i, 1))})
	}
	vel = append(vel, [2]float64{40, 3e3}, [2]float64{900, 4e5}, [2]float64{9e4, 8e7})
	r := guardDump(vel, 6, []int{6}, 64)
	unit := [4]float64{1}
	r.model = &mjb.Model{
		NQ: 2, NV: 2, Opt: mjb.Options{Timestep: 0.005},
		Bodies: []mjb.Body{{Quat: unit, IQuat: unit}, {Name: "thigh", Quat: unit, IQuat: unit, Mass: 1, Mocap: -1}, {Name: "shin", Parent: 1, Quat: unit, IQuat: unit, Mass: 1, Mocap: -1}},
		Joints: []mjb.Joint{
			{Name: "hip", Type: mjb.HingeJoint, Body: 1, Axis: [3]float64{0, 1, 0}},
			{Name: "left_knee", Type: mjb.HingeJoint, Body: 2, QposAdr: 1, DofAdr: 1, Axis: [3]float64{0, 1, 0}},
		},
		Qpos0: []float64{0, 0}, DofArmature: []float64{.02, .02}, DofDamping: []float64{0, 0}, DofFriction: []float64{0, 0}, DofInvW0: []float64{5, 5},
		Geoms: []mjb.Geom{
			{Name: "wall", Type: 6, ConType: 1, ConAff: 1, SolRef: [2]float64{.02, 1}},
			{Name: "foot", Body: 2, Type: 2, ConType: 1, Pos: [3]float64{0, 0, -.4}, Size: [3]float64{.05}, SolRef: [2]float64{.02, 1}},
		},
	}
	return r
}

// TestTunnelling is X26: a foot that moves 8 cm in a step, with the step that would
// do; one that moves 1 cm; and what cannot touch.
func TestTunnelling(t *testing.T) {
	c, d := swing(40).judge()
	f := c.feature(X26)
	assert.Equal(t, yes, f.Value, f.Text)
	assert.InDelta(t, 0.08, f.Measured, 0.003)
	assert.InDelta(t, 0.05, f.Baseline, 1e-12)
	assert.Equal(t, Implicated, d.Checklist[4].Status)
	assert.Contains(t, d.Checklist[4].Fix, "Halve the timestep (0.005 to 0.0025 s") // 0.003 s would do

	c, d = swing(120).judge()
	assert.Contains(t, d.Checklist[4].Fix, "Shorten the timestep from 0.005 to 0.001 s, and 5 times the decimation")
	assert.Contains(t, d.Causes[0].Fix, c.feature(X26).Text)

	c, _ = swing(5).judge()
	assert.Equal(t, unknown, c.feature(X26).Value, c.feature(X26).Text)
	ghost := swing(40)
	ghost.model.Geoms[1].ConType = 0
	c, _ = ghost.judge()
	assert.Equal(t, unknown, c.feature(X26).Value, "the foot touches nothing")
	assert.Equal(t, 0.0, halfWidth(&mjb.Geom{Type: plane, Size: [3]float64{5, 5, .1}}))
	assert.Equal(t, 0.02, halfWidth(&mjb.Geom{Type: 6, Size: [3]float64{.1, .02, .3}}))
}
