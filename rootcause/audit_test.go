package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/mjb"
)

// leg is a model of one hinge that carries a rod of 1 kg, 0.4 m below it: about
// the hinge it has 0.16 + 0.02 kg m^2, and a floor to stand on.
func leg() *mjb.Model {
	unit := [4]float64{1}
	return &mjb.Model{
		NQ: 1, NV: 1, Opt: mjb.Options{Timestep: 0.005},
		Bodies: []mjb.Body{
			{Quat: unit, IQuat: unit},
			{Name: "shin", Quat: unit, IQuat: unit, IPos: [3]float64{0, 0, -.4}, Mass: 1, Inertia: [3]float64{.02, .02, .001}, Mocap: -1},
		},
		Joints: []mjb.Joint{{Name: "knee", Type: mjb.HingeJoint, Body: 1, Axis: [3]float64{0, 1, 0}}},
		Qpos0:  []float64{0}, DofArmature: []float64{.02}, DofDamping: []float64{0}, DofFriction: []float64{0}, DofInvW0: []float64{5},
		Actuators: []mjb.Actuator{{Name: "motor", Gear: 20, GainPrm0: 1, CtrlLimited: true, CtrlRange: [2]float64{-1, 1}}},
		Geoms: []mjb.Geom{
			{Name: "floor", ConType: 1, ConAff: 1, SolRef: [2]float64{.02, 1}},
			{Name: "shell", Body: 1, SolRef: [2]float64{-1e9, 0}}, // touches nothing
		},
	}
}

func TestInverseInertia(t *testing.T) {
	m := leg()
	assert.InDelta(t, 1/(.16+.02+.02), inverseInertia(m)[0], 1e-12)
	m.Joints[0].Type = mjb.SlideJoint
	assert.InDelta(t, 1/1.02, inverseInertia(m)[0], 1e-12)
	m.Joints[0].Type, m.Joints[0].Axis = mjb.HingeJoint, [3]float64{0, 0, 1}
	assert.InDelta(t, 1/(.001+.02), inverseInertia(m)[0], 1e-12, "about its own axis")
	m.Bodies[1].IQuat = [4]float64{0.7071067811865476, 0, 0.7071067811865476, 0} // its z lies along x
	assert.InDelta(t, 1/(.02+.02), inverseInertia(m)[0], 1e-12)
	m.DofInvW0 = nil
	assert.Nil(t, inverseInertia(m))
}

// TestAudit is X6 and X14: a sane model, and one fault at a time.
func TestAudit(t *testing.T) {
	for _, c := range []struct {
		name, model, contact string
		bend                 func(*mjb.Model)
	}{
		{"sane", no, no, func(*mjb.Model) {}},
		{"damping below zero", "impossible", no, func(m *mjb.Model) { m.DofDamping[0] = -2 }},
		{"friction loss below zero", "impossible", no, func(m *mjb.Model) { m.DofFriction[0] = -1 }},
		{"stiffness below zero", "impossible", no, func(m *mjb.Model) { m.Joints[0].Stiffness = -5 }},
		{"gear times 200", "unstable", no, func(m *mjb.Model) { m.Actuators[0].Gear *= 200 }}, // turns 0.5 rad ...
		{"the mass lost", "unstable", no, func(m *mjb.Model) {
			m.Bodies[1].Mass, m.Bodies[1].Inertia, m.DofArmature[0] = 1e-3, [3]float64{1e-6, 1e-6, 1e-6}, 0
		}},
		{"a servo through its gear", "shaky", no, func(m *mjb.Model) { m.Actuators[0].BiasPrm[1] = -30 }}, // 30*400 N m/rad
		{"a limited force", no, no, func(m *mjb.Model) {
			m.Actuators[0].Gear, m.Actuators[0].ForceLimited, m.Actuators[0].ForceRange = 4000, true, [2]float64{-.1, .1}
		}},
		{"an explicit damper", "unstable", no, func(m *mjb.Model) { m.Opt.Integrator, m.DofDamping[0] = rk4, 120 }},
		{"the same damper, implicit", no, no, func(m *mjb.Model) { m.DofDamping[0] = 120 }},
		{"a hard floor", no, "hard", func(m *mjb.Model) { m.Geoms[0].SolRef = [2]float64{-1e6, -50} }},
		{"a step as long as a contact", no, "coarse", func(m *mjb.Model) { m.Opt.Timestep = 0.02 }},
		{"two steps are longer than a contact", no, "rough", func(m *mjb.Model) { m.Opt.Timestep = 0.012 }},
		{"a step that nothing bears blames the step", no, "coarse", func(m *mjb.Model) { m.Opt.Timestep = 0.06; m.Actuators[0].Gear = 400 }},
		{"contacts switched off", no, "none", func(m *mjb.Model) { m.Opt.DisableFlags = disableContact }},
		{"nothing can touch", no, "none", func(m *mjb.Model) { m.Geoms = nil }},
	} {
		r := runaway(newRun(30), 0)
		delete(r.man.Facts, "sim.timestep")
		r.model = leg()
		if c.name == "gear times 200" {
			r.model.Actuators[0].Gear *= 2.2 // ... and a bit more than one
		}
		c.bend(r.model)
		cs, _ := r.judge()
		assert.Equal(t, c.model, cs.feature(X6).Value, "%s: %s", c.name, cs.feature(X6).Text)
		assert.Equal(t, c.contact, cs.feature(X14).Value, "%s: %s", c.name, cs.feature(X14).Text)
	}
}

// TestBeforeTheWayUp is X15 and X16 on a guard's own dump.
func TestBeforeTheWayUp(t *testing.T) {
	run := func(level float64, end ...float64) *Case {
		var vel [][2]float64
		for i := range 40 {
			vel = append(vel, [2]float64{level * hash(1, i), level * (0.8 + 0.2*hash(2, i))})
		}
		for _, v := range end {
			vel = append(vel, [2]float64{v / 7, v})
		}
		c, _ := guardDump(vel, 6, []int{6}, 64).judge()
		return c
	}
	c := run(6, 80, 900, 2e4, 3e6, 8e9)
	assert.Equal(t, no, c.feature(X15).Value, c.feature(X15).Text)
	assert.Equal(t, no, c.feature(X16).Value, c.feature(X16).Text)
	c = run(300, 2e3, 9e4, 3e6, 8e9)
	assert.Equal(t, yes, c.feature(X15).Value, c.feature(X15).Text)
	c = run(6, 5e7)
	assert.Equal(t, yes, c.feature(X16).Value, c.feature(X16).Text)
	assert.Equal(t, "qvel left_knee", c.feature(X16).Column)
}

// TestMissing: a hypothesis says what was not recorded, and only that.
func TestMissing(t *testing.T) {
	_, full := runaway(newRun(60), 0).judge()
	_, bare := runaway(newRun(60), 0).only("qvel", "qpos").judge()
	by := func(d Diagnosis, id string) Hypothesis {
		for _, h := range d.Causes {
			if h.ID == id {
				return h
			}
		}
		require.Fail(t, "no "+id)
		return Hypothesis{}
	}
	assert.Contains(t, by(bare, ContactDivergence).Missing, "solver_niter or the limit of iterations")
	assert.NotContains(t, by(full, ContactDivergence).Missing, "solver_niter or the limit of iterations")
	assert.Contains(t, by(bare, PolicyStd).Missing, "policy.std or its parameter")
	assert.NotContains(t, by(bare, ContactDivergence).Missing, "policy.std or its parameter")
}

// TestPriorIsAFlag: names in and out.
func TestPriorIsAFlag(t *testing.T) {
	var p Prior
	for _, name := range priorNames {
		require.NoError(t, p.Set(name))
		assert.Equal(t, name, p.String())
	}
	require.EqualError(t, p.Set("hunch"), `prior "hunch" is none of textbook, field, uniform`)
	assert.Equal(t, UniformPrior, p, "left as it was")
	assert.Equal(t, "prior 7", Prior(7).String())
	for _, p := range []Prior{TextbookPrior, FieldPrior, UniformPrior} {
		c, _ := runaway(newRun(60), 0).judge()
		d := Diagnose(c, Options{Prior: p})
		assert.Equal(t, p.String(), d.Prior)
		assert.Equal(t, ContactDivergence, d.Causes[0].ID)
	}
}
