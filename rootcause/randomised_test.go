package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/mjb"
)

// record adds a recorded model array with one row per env, the same in all frames.
func (r *loopRun) record(name string, rows ...[]float64) *loopRun {
	spec := dump.FieldSpec{Name: name, Stage: dump.StageModel, Clock: dump.ClockStep, Order: 1, DType: "float32", PerEnv: true}
	f := &loopField{spec: spec}
	for i, t := range r.fields["action"].ticks {
		f.ticks, f.counts, f.v = append(f.ticks, t), append(f.counts, int64(i+1)), append(f.v, rows)
	}
	r.fields[name] = f
	r.man.Fields = append(r.man.Fields, spec)
	return r
}

// TestRandomised is X28: what randomisation gave the env that ran away, against
// what can be, and against what the envs that stayed well have.
func TestRandomised(t *testing.T) {
	for _, c := range []struct {
		name, array, want string
		rows              [][]float64
	}{
		{"a mass below zero", "model.body_mass", beyondPhysics, [][]float64{{0, -.1}, {0, .9}, {0, 1.1}, {0, 1}, {0, 1}}},
		{"no mass where others have one", "model.body_mass", beyondPhysics, [][]float64{{0, 0}, {0, .9}, {0, 1.1}, {0, 1}, {0, 1}}},
		{"a damping below zero", "model.dof_damping", beyondPhysics, [][]float64{{.1, -.1}, {.1, .4}, {.2, .4}, {.1, .4}, {.1, .4}}},
		{"a stiffness decades above", "model.tendon_stiffness", apart, [][]float64{{2e6}, {400}, {3e4}, {2e3}, {1e5}}},
		{"an armature decades below", "model.dof_armature", apart, [][]float64{{1e-5}, {.01}, {.012}, {.009}, {.01}}},
		{"the world's mass", "model.body_mass", unknown, [][]float64{{0, 1}, {0, .9}, {0, 1.1}, {0, 1}, {0, 1}}},
		{"no damping", "model.dof_damping", unknown, [][]float64{{0, 0}, {0, 0}, {.2, .4}, {0, 0}, {0, 0}}},
		{"a centre of mass", "model.body_ipos", unknown, [][]float64{{-.05}, {.04}, {.02}, {-.06}, {.01}}},
		{"another env's", "model.body_mass", unknown, [][]float64{{0, 1}, {0, -.9}, {0, 1.1}, {0, 1}, {0, 1}}},
		{"usual randomisation", "model.body_mass", unknown, [][]float64{{0, 1.6}, {0, .6}, {0, 1.1}, {0, .8}, {0, .7}}},
		{"as wide as all", "model.tendon_stiffness", unknown, [][]float64{{2e6}, {400}, {3e4}, {1.5e6}, {1e2}}},
		{"soft contacts", "model.geom_friction", unknown, [][]float64{{40}, {1}, {1}, {1}, {1}}},
	} {
		cs, d := runaway(newRun(30).record(c.array, c.rows...), 0).judge()
		f := cs.feature(X28)
		assert.Equal(t, c.want, f.Value, "%s: %s", c.name, f.Text)
		if c.want != unknown {
			assert.Equal(t, BadModel, d.Causes[0].ID, c.name)
			assert.Equal(t, 7, f.Env, c.name)
		}
	}
	_, d := newRun(30).record("model.body_mass", []float64{-1}, []float64{1}, []float64{1}, []float64{1}, []float64{1}).judge()
	assert.Equal(t, Clean, d.Verdict, "nothing went wrong")
	_, d = runaway(newRun(30).event(dump.Event{Tick: 0, Kind: dump.EventDR, Name: "body_mass", Count: 48}), 0).judge()
	i := d.at(BadModel)
	assert.Contains(t, d.Causes[i].Missing, "the model arrays that are randomised")
}

// at returns the place of a cause in the ranking.
func (d *Diagnosis) at(id string) int {
	for i := range d.Causes {
		if d.Causes[i].ID == id {
			return i
		}
	}
	return -1
}

// TestContactsHaveARival: physics that ran away with contacts active and nothing
// else to tell is not believed to be contacts beyond doubt.
func TestContactsHaveARival(t *testing.T) {
	_, d := runaway(newRun(30), 0).judge()
	assert.Contains(t, causesOf(&d), BadModel)
	assert.Less(t, d.Causes[0].Probability, 0.97)
}

// TestSelfDriven is X6 for an actuator that pushes with the speed of its joint.
func TestSelfDriven(t *testing.T) {
	for _, c := range []struct {
		name, want string
		bend       func(*mjb.Actuator, *mjb.Model)
	}{
		{"pushes", "impossible", func(a *mjb.Actuator, _ *mjb.Model) { a.BiasPrm[2] = 5 }},
		{"brakes", no, func(a *mjb.Actuator, _ *mjb.Model) { a.BiasPrm[2] = -5 }},
		{"pushes less than the joint brakes", no, func(a *mjb.Actuator, m *mjb.Model) { a.BiasPrm[2], m.DofDamping[0] = 5, 6 }},
		{"pushes hardly", no, func(a *mjb.Actuator, _ *mjb.Model) { a.BiasPrm[2] = 1e-3 }},
		{"a muscle", no, func(a *mjb.Actuator, _ *mjb.Model) { a.BiasPrm = [3]float64{.75, 1.05, 5} }},
	} {
		r := runaway(newRun(30), 0)
		delete(r.man.Facts, "sim.timestep")
		r.model = leg()
		r.model.Actuators[0].Gear = 1
		c.bend(&r.model.Actuators[0], r.model)
		cs, _ := r.judge()
		assert.Equal(t, c.want, cs.feature(X6).Value, "%s: %s", c.name, cs.feature(X6).Text)
	}
}

// TestAskedFor: a dump in mjlab's form that says that no env was bad is no alarm.
func TestAskedFor(t *testing.T) {
	vel := make([][2]float64, 60)
	for i := range vel {
		vel[i] = [2]float64{2 * hash(1, i), 3 * hash(2, i)}
	}
	r := guardDump(vel, 6, []int{6}, 64)
	_, d := r.judge()
	assert.NotEqual(t, Clean, d.Verdict, "its guard names an env")
	r = guardDump(vel, 6, []int{6}, 64)
	r.meta["nan_env_ids"] = []any{}
	_, d = r.judge()
	assert.Equal(t, Clean, d.Verdict)
	delete(r.meta, "nan_env_ids")
	_, d = r.judge()
	assert.NotEqual(t, Clean, d.Verdict, "it does not say")
}

// TestLongStep is X14 where no model says how soft the contacts are.
func TestLongStep(t *testing.T) {
	for dt, want := range map[float64]string{0.04: "coarse", 0.005: unknown} {
		r := runaway(newRun(30), 0)
		r.man.Facts["sim.timestep"] = dt
		c, _ := r.judge()
		assert.Equal(t, want, c.feature(X14).Value, c.feature(X14).Text)
	}
	r := runaway(newRun(30).all("nefc", 0, 0), 0)
	r.man.Facts["sim.timestep"] = 0.04
	c, _ := r.judge()
	assert.NotEqual(t, "coarse", c.feature(X14).Value, "no contact")
}
