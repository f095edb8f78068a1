package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// contactsOf adds a count of contacts, the same in all substeps and envs, with its
// trace.
func contactsOf(r *loopRun, count float64) *loopRun {
	spec := dump.FieldSpec{Name: "ncon", Stage: dump.StageSolver, Clock: dump.ClockSubstep, Order: 11, DType: "int32", PerEnv: true}
	f := &loopField{spec: spec, ticks: r.fields["qvel"].ticks, counts: r.fields["qvel"].counts}
	tr := &dump.Trace{Ticks: f.ticks, Counts: f.counts}
	for range f.ticks {
		frame := make([][]float64, len(r.man.EnvIDs))
		for row := range frame {
			frame[row] = []float64{count}
		}
		f.v, tr.AbsMax, tr.ArgMax = append(f.v, frame), append(tr.AbsMax, count), append(tr.ArgMax, 7)
	}
	r.fields["ncon"], r.traces["ncon"] = f, tr
	r.man.Fields = append(r.man.Fields, spec)
	return r
}

// TestNoContactNoDivergence: in a run without a single contact the contacts of the
// model are not to blame, however hard; nor are joints at their limits a contact.
func TestNoContactNoDivergence(t *testing.T) {
	run := func(count float64, bend func(*loopRun)) (*Case, Diagnosis) {
		r := contactsOf(runaway(newRun(30), 0), count)
		r.model = crates()
		r.model.Geoms[0].SolRef = [2]float64{-1e6, -50}
		bend(r)
		return r.judge()
	}
	as := func(*loopRun) {}
	c, d := run(0, as)
	assert.Equal(t, "never", c.feature(X14).Value, c.feature(X14).Text)
	assert.Equal(t, unknown, c.feature(X2).Value, c.feature(X2).Text)
	assert.NotEqual(t, ContactDivergence, d.Causes[0].ID)

	c, _ = run(2, as)
	assert.Equal(t, "hard", c.feature(X14).Value, "in contact: %s", c.feature(X14).Text)
	assert.Equal(t, no, c.feature(X2).Value, c.feature(X2).Text)
	c, _ = run(0, func(r *loopRun) { r.traces["ncon"].AbsMax[9] = 1 })
	assert.Equal(t, "hard", c.feature(X14).Value, "one env touched something once")
	c, _ = run(0, func(r *loopRun) {
		for i := range r.traces["ncon"].Counts {
			r.traces["ncon"].Counts[i] += 40
		}
	})
	assert.Equal(t, "hard", c.feature(X14).Value, "the record begins later")
	c, _ = run(0, func(r *loopRun) { r.all("solver_niter", -8, 10) })
	assert.Equal(t, no, c.feature(X2).Value, "the solver struggled with constraints: %s", c.feature(X2).Text)
}

// TestWildBeforeLimits is X2 for speeds that no step can follow before the first
// constraint of the episode.
func TestWildBeforeLimits(t *testing.T) {
	run := func(speed, before float64) *Case {
		r := newRun(30).only("qvel", "qacc", "qpos", "nefc", "ctrl", "action").all("nefc", 0, 0).all("qvel", 0, 30) // fast in any case
		for row := range r.man.EnvIDs {                                                                             // all alike: the others are no measure
			r.set("qvel", -4, row, 1, speed, 8e5, 4e9, nan).set("qacc", -3, row, 1, 6e8, 8e12, nan).set("nefc", -5, row, 0, before, 0, 3, 3, 3)
		}
		c, _ := r.judge()
		return c
	}
	f := run(1500, 0).feature(X2)
	assert.Equal(t, yes, f.Value, f.Text)
	assert.Equal(t, no, run(1500, 4).feature(X2).Value, "touched before")
	assert.Equal(t, no, run(100, 0).feature(X2).Value, "half a rad in a step: what it met then may have thrown it")
}

// TestDeeperThanAnyBody is F3: what is a metre deep in something flew there.
func TestDeeperThanAnyBody(t *testing.T) {
	run := func(depth float64) *Case {
		r := runaway(newRun(30), 0).addEnvs("contact.dist", dump.StageSolver, "float32", func(int, int) float64 { return 0 })
		f := r.fields["contact.dist"]
		f.spec.Clock, f.ticks, f.counts, f.v = dump.ClockSubstep, r.fields["qvel"].ticks, r.fields["qvel"].counts, nil
		for range f.ticks {
			f.v = append(f.v, [][]float64{{0}, {0}, {0}, {0}, {0}})
		}
		r.man.Fields[len(r.man.Fields)-1] = f.spec
		c, _ := r.set("contact.dist", -3, 0, 0, -depth).judge()
		return c
	}
	assert.Equal(t, yes, run(.05).feature(F3).Value)
	assert.Equal(t, no, run(60).feature(F3).Value, run(60).feature(F3).Text)
}

// TestRootInTheModel is X28 for a model array that is the first thing not finite.
func TestRootInTheModel(t *testing.T) {
	r := runaway(newRun(30).record("model.actuator_gear", []float64{30}, []float64{30}, []float64{30}, []float64{30}, []float64{30}), 0)
	f := r.fields["model.actuator_gear"]
	frames := f.v
	f.v = nil
	for i := range frames { // rows of their own for each frame
		rows := [][]float64{{30}, {30}, {30}, {30}, {30}}
		if i > 24 {
			rows[0][0] = inf
		}
		f.v = append(f.v, rows)
	}
	c, d := r.judge()
	assert.Equal(t, beyondPhysics, c.feature(X28).Value, c.feature(X28).Text)
	assert.Equal(t, BadModel, d.Verdict)
}

// TestShakyBesideHardContacts: a servo that is merely shaky counts half where the
// contacts are beyond what a step can follow.
func TestShakyBesideHardContacts(t *testing.T) {
	for k, half := range map[float64]bool{-1e6: true, -1e4: false} {
		r := runaway(newRun(30), 0)
		r.model = leg()
		r.model.Actuators[0].BiasPrm[1] = -30
		r.model.Geoms[0].SolRef = [2]float64{k, -50}
		delete(r.man.Facts, "sim.timestep")
		c, _ := r.judge()
		assert.Equal(t, "shaky", c.feature(X6).Value, c.feature(X6).Text)
		assert.Equal(t, half, c.feature(X6).Half)
	}
}

// TestWoundUpIsNoReset is X5 where what drives the env is what outlived the reset.
func TestWoundUpIsNoReset(t *testing.T) {
	for by, want := range map[float64]string{12: unknown, 1: "wild"} {
		r := ramp(newRun(60), by)
		ticks := r.fields["qvel"].ticks
		r.set("qvel", -3, 0, 1, 4e5, 4e7, nan).set("qacc", -3, 0, 1, 8e9, 8e11, nan)
		c, _ := r.event(dump.Event{Tick: ticks[len(ticks)-3] - 1, Kind: dump.EventReset, Envs: []int{7}, Count: 1}).judge()
		assert.Equal(t, want, c.feature(X5).Value, c.feature(X5).Text)
	}
}
