package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/mjb"
)

// crates is a model of three dofs: a driven knee on its own, and a free slide and
// hinge that nothing drives; the runs' speeds have three columns.
func crates() *mjb.Model {
	m := leg()
	unit := [4]float64{1}
	m.NQ, m.NV = 3, 3
	m.Bodies = append(m.Bodies, mjb.Body{Name: "crate", Quat: unit, IQuat: unit, Mass: 1, Inertia: [3]float64{.02, .02, .02}, Mocap: -1})
	m.Joints = append(m.Joints,
		mjb.Joint{Name: "slide", Type: mjb.SlideJoint, Body: 2, QposAdr: 1, DofAdr: 1, Axis: [3]float64{0, 0, 1}},
		mjb.Joint{Name: "spin", Type: mjb.HingeJoint, Body: 2, QposAdr: 2, DofAdr: 2, Axis: [3]float64{0, 1, 0}})
	m.Qpos0 = []float64{0, 0, 0}
	m.DofArmature, m.DofDamping, m.DofFriction, m.DofInvW0 = []float64{.02, 0, 0}, []float64{0, 0, 0}, []float64{0, 0, 0}, []float64{5, 1, 50}
	m.Actuators[0].Gear = 1
	return m
}

// away lets a column of env 7's speeds run away.
func away(r *loopRun, col int) *loopRun {
	r.set("qvel", -6, 0, col, 40, 900, 3e4, 8e5, 4e7, nan)
	r.set("qacc", -6, 0, col, 7e3, 2e5, 6e6, 2e8, 8e9, nan)
	return r.set("qpos", -1, 0, -1, nan)
}

// TestOnlyWhatRanAwayIsAudited is X6 where the actuators drive another mechanism.
func TestOnlyWhatRanAwayIsAudited(t *testing.T) {
	for _, c := range []struct {
		name, want string
		col        int
		knee       float64
	}{
		{"its own actuator", "unstable", 0, 1},
		{"another's", no, 2, 1},
		{"another's that shakes itself", "unstable", 2, 400},
	} {
		r := away(newRun(30), c.col)
		if c.col != 0 {
			for i := range 6 {
				r.set("qvel", -6+i, 0, 0, c.knee)
			}
		}
		delete(r.man.Facts, "sim.timestep")
		r.model = crates()
		r.model.Actuators[0].BiasPrm[1] = -2e6
		cs, _ := r.judge()
		assert.Equal(t, c.want, cs.feature(X6).Value, "%s: %s", c.name, cs.feature(X6).Text)
	}
}

// TestThrown is X15 and X2 for what has no actuator: it is fast because something
// threw it, and spins on in the air.
func TestThrown(t *testing.T) {
	run := func(col int) *Case {
		r := newRun(30).all("nefc", -40, 0)
		for i := range 40 {
			r.set("qvel", -40+i, 0, col, 200*(1+.1*hash(i)))
		}
		r = away(r, col).set("qvel", -6, 0, col, 300, 900, 3e4, 8e5, 4e7, nan)
		r.model = crates()
		c, _ := r.judge()
		return c
	}
	c := run(2)
	assert.Equal(t, unknown, c.feature(X15).Value, c.feature(X15).Text)
	assert.Equal(t, unknown, c.feature(X2).Value, c.feature(X2).Text)
	c = run(0)
	assert.Equal(t, yes, c.feature(X15).Value, "the driven knee")
	assert.Equal(t, yes, c.feature(X2).Value, "the driven knee")
}

// TestSetOutTouching is X2 for an env that was free of contact in the substep in
// which it ran away only.
func TestSetOutTouching(t *testing.T) {
	run := func(touched float64) *Case {
		r := newRun(30).all("nefc", 0, 0)
		for k := range 9 {
			r.set("qvel", -9+k, 0, 1, 4*math.Pow(3.3, float64(k))).set("nefc", -9+k, 0, 0, touched)
		}
		r.set("nefc", -5, 0, 0, 0, 0, 0, 0, 0).set("qvel", -1, 0, 1, nan).set("qacc", -1, 0, 1, nan)
		c, _ := r.judge()
		return c
	}
	c := run(12)
	assert.Equal(t, no, c.feature(X2).Value, c.feature(X2).Text)
	assert.Contains(t, c.feature(X2).Text, "of its way up")
	assert.Equal(t, yes, run(0).feature(X2).Value)
}

// TestAuditOfTheEnv is X28 by the model with the values of the env that ran away.
func TestAuditOfTheEnv(t *testing.T) {
	run := func(array string, mine, theirs []float64, bend func(*mjb.Model)) *Feature {
		r := away(newRun(30), 0).record(array, mine, theirs, theirs, mine, theirs)
		delete(r.man.Facts, "sim.timestep")
		r.model = crates()
		r.model.Actuators[0].GainPrm0, r.model.Actuators[0].BiasPrm[1], r.model.Actuators[0].CtrlLimited = 50, -50, true
		bend(r.model)
		c, _ := r.judge()
		assert.NotEqual(t, "unstable", c.feature(X6).Value, "the model itself is sound")
		return c.feature(X28)
	}
	as := func(*mjb.Model) {}
	f := run("model.actuator_gainprm", []float64{8e5}, []float64{1e5}, as)
	assert.Equal(t, fragile, f.Value, f.Text)
	assert.Contains(t, f.Text, "gave env 7")
	f = run("model.actuator_gainprm", []float64{80}, []float64{20}, as)
	assert.Equal(t, unknown, f.Value, f.Text)
	f = run("model.dof_damping", []float64{-1, 0, 0}, []float64{1, 0, 0}, as)
	assert.Equal(t, beyondPhysics, f.Value, f.Text)
	f = run("model.dof_damping", []float64{500, 0, 0}, []float64{400, 0, 0}, func(m *mjb.Model) { m.Opt.Integrator = rk4 })
	assert.Equal(t, fragile, f.Value, f.Text)
	f = run("model.actuator_gear", []float64{200}, []float64{150}, func(m *mjb.Model) { m.Actuators[0].BiasPrm[1] = 0 })
	assert.Equal(t, fragile, f.Value, f.Text)
	f = run("model.body_mass", []float64{0, 1.2, 1}, []float64{0, .8, 1}, as)
	assert.Equal(t, unknown, f.Value, f.Text)
}

// TestTooStrong is X7 for commands of motors that nothing limits.
func TestTooStrong(t *testing.T) {
	run := func(u float64, bend func(*mjb.Model)) *Case {
		r := away(newRun(30), 0)
		for _, f := range []string{"ctrl"} {
			for i := range r.fields[f].v {
				for row := range r.fields[f].v[i] {
					r.fields[f].v[i][row] = r.fields[f].v[i][row][:1]
					r.fields[f].v[i][row][0] = u * (1 + .1*hash(i, row))
				}
			}
		}
		delete(r.man.Facts, "sim.timestep")
		r.model = crates()
		r.model.Actuators[0].CtrlLimited = false
		bend(r.model)
		c, _ := r.judge()
		return c
	}
	as := func(*mjb.Model) {}
	c := run(3e4, as) // of N m on 0.2 kg m^2: 3.75 rad in 5 ms
	assert.Equal(t, yes, c.feature(X7).Value, c.feature(X7).Text)
	c = run(600, as)
	assert.Equal(t, yes, run(3e4, as).feature(X7).Value)
	assert.NotEqual(t, yes, c.feature(X7).Value, "a strong motor: %s", c.feature(X7).Text)
	c = run(900, func(m *mjb.Model) { m.Actuators[0].Gear, m.Joints[m.Actuators[0].Joint].Stiffness = 50, 1e5 })
	assert.NotEqual(t, yes, c.feature(X7).Value, "a stiff spring holds it: %s", c.feature(X7).Text)
	c = run(900, func(m *mjb.Model) { m.Actuators[0].Gear, m.Actuators[0].CtrlLimited = 50, true })
	assert.NotEqual(t, yes, c.feature(X7).Value, "its range limits it: %s", c.feature(X7).Text)
	c = run(900, func(m *mjb.Model) { m.Actuators[0].Gear = 50 })
	assert.Equal(t, yes, c.feature(X7).Value, c.feature(X7).Text)
	assert.Equal(t, unknown, c.feature(F5).Value, "the others are no measure")
}
