package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// ramp lets the controls of all envs grow over the run by a factor.
func ramp(r *loopRun, factor float64) *loopRun {
	f := r.fields["ctrl"]
	for i := range f.v {
		r.scale("ctrl", i, math.Pow(factor, float64(i)/float64(len(f.v)-1)))
	}
	return r
}

// scale multiplies all that a frame of a field holds.
func (r *loopRun) scale(name string, i int, by float64) {
	for _, row := range r.fields[name].v[i] {
		for col := range row {
			row[col] *= by
		}
	}
}

// TestCommandsWindUp is X7 for controls of all envs that grow over the run, which no
// comparison with the other envs shows.
func TestCommandsWindUp(t *testing.T) {
	c, d := runaway(ramp(newRun(60), 12), 0).judge()
	assert.Equal(t, yes, c.feature(X7).Value, c.feature(X7).Text)
	assert.Contains(t, c.feature(X7).Text, "while action stayed at")
	assert.Equal(t, unknown, c.feature(F5).Value, c.feature(F5).Text)
	assert.Equal(t, ActionExplosion, d.Causes[0].ID)

	alike := func(name string, r *loopRun) {
		c, _ := runaway(r, 0).judge()
		assert.NotEqual(t, yes, c.feature(X7).Value, "%s: %s", name, c.feature(X7).Text)
	}
	alike("a little", ramp(newRun(60), 2))
	acts := ramp(newRun(60), 12)
	for i := range acts.fields["action"].v {
		acts.scale("action", i, math.Pow(12, float64(i)/60))
		acts.scale("policy.mean", i, math.Pow(12, float64(i)/60))
	}
	alike("as the actions do", acts)
	follows := ramp(newRun(60), 12)
	for i := range follows.fields["qvel"].v {
		follows.scale("qvel", i, math.Pow(12, float64(i)/240))
	}
	alike("as the speeds do", follows)
	for i, tick := range follows.fields["ctrl"].ticks { // the same where each control is its action times a number
		k := i / decimation
		for row := range follows.fields["ctrl"].v[i] {
			for col := range follows.fields["ctrl"].v[i][row] {
				follows.fields["ctrl"].v[i][row][col] = follows.fields["action"].v[k][row][col] * math.Pow(12, float64(tick)/400)
			}
		}
	}
	c, _ = runaway(follows, 0).judge()
	assert.Equal(t, yes, c.feature(X7).Value, c.feature(X7).Text)
	assert.Contains(t, c.feature(X7).Text, "multiplied")
	short := ramp(newRun(60), 12)
	alike("a short record", short.keepLast("ctrl", 20))
}

// TestTheOutputClimbs is X7 for a policy whose output grows with each update.
func TestTheOutputClimbs(t *testing.T) {
	climb := func(size, ctrl float64) *loopRun {
		r := newRun(30)
		for i := range r.fields["policy.mean"].v {
			by := math.Pow(size, float64(i/perUpdate)/3)
			r.scale("policy.mean", i, by)
			r.scale("action", i, by)
			for k := range decimation {
				r.scale("ctrl", i*decimation+k, math.Min(by, ctrl))
			}
		}
		return runaway(r, 0)
	}
	c, d := climb(300, 300).judge()
	assert.Equal(t, yes, c.feature(X7).Value, c.feature(X7).Text)
	assert.Contains(t, c.feature(X7).Text, "from update to update")
	assert.Equal(t, ActionExplosion, d.Causes[0].ID)
	c, _ = climb(300, 1).judge()
	assert.NotEqual(t, yes, c.feature(X7).Value, "clipped: %s", c.feature(X7).Text)
	c, _ = climb(4, 4).judge()
	assert.NotEqual(t, yes, c.feature(X7).Value, "learning: %s", c.feature(X7).Text)
}

// TestBeforeContact is X2 for speeds that multiply in substeps without contact and
// touch something on the way.
func TestBeforeContact(t *testing.T) {
	run := func(touched float64, from, by float64) *Case {
		r := newRun(30).only("qvel", "qacc", "qpos", "nefc", "ctrl", "action")
		n := len(r.fields["qvel"].v)
		for k := range 9 {
			i := n - 9 + k
			r.set("qvel", i, 0, 1, from*math.Pow(by, float64(k))).set("nefc", i, 0, 0, touched)
		}
		r.set("nefc", -6, 0, 0, 12, 30, 30, 30, 30, 30).set("qvel", -1, 0, 1, nan).set("qacc", -1, 0, 1, nan)
		c, _ := r.judge()
		return c
	}
	f := run(0, 12, 3.3).feature(X2)
	assert.Equal(t, yes, f.Value, f.Text)
	assert.Contains(t, f.Text, "before any contact")
	assert.Equal(t, no, run(8, 12, 3.3).feature(X2).Value, "in contact all the time")
	assert.Equal(t, no, run(0, .02, 8).feature(X2).Value, "from rest: a command does that")
	assert.Equal(t, no, run(0, 12, 1.9).feature(X2).Value, "slowly: what was thrown and falls")
}

// TestAllGrowWithoutContact is X13 for envs that run away after the first one did.
func TestAllGrowWithoutContact(t *testing.T) {
	run := func(touched, others float64) *Case {
		r := newRun(30).only("qvel", "qacc", "qpos", "nefc", "ctrl", "action").all("nefc", -20, touched)
		for row := range r.man.EnvIDs {
			for k := range 12 {
				size := 5 * math.Pow(4, float64(k))
				if row > 0 {
					size = math.Max(5, size*others)
				}
				r.set("qvel", -12+k, row, 1, size)
			}
		}
		c, _ := r.set("qvel", -1, 0, 1, nan).set("qacc", -1, 0, 1, nan).judge()
		return c
	}
	assert.Equal(t, yes, run(0, .1).feature(X13).Value)
	assert.Equal(t, no, run(0, 0).feature(X13).Value, "the others stay well")
	assert.Equal(t, no, run(20, .1).feature(X13).Value, "in contact")
}

// TestBornInside is X29 for a reset into something solid.
func TestBornInside(t *testing.T) {
	run := func(mine, theirs float64) *Case {
		r := newRun(30)
		spec := dump.FieldSpec{Name: "contact.dist", Stage: dump.StageSolver, Clock: dump.ClockSubstep, Order: 12.5, DType: "float32", PerEnv: true}
		r.man.Fields = append(r.man.Fields, spec)
		f := &loopField{spec: spec}
		at := len(r.fields["qvel"].ticks) - 40
		for i, t := range r.fields["qvel"].ticks {
			rows := make([][]float64, len(r.man.EnvIDs))
			for row := range rows {
				rows[row] = []float64{-1e-3}
				if i >= at && i < at+4 {
					rows[row][0] = -theirs
				}
			}
			if i >= at && i < at+4 {
				rows[0][0] = -mine
			}
			f.ticks, f.counts, f.v = append(f.ticks, t), append(f.counts, int64(i+1)), append(f.v, rows)
		}
		r.fields["contact.dist"] = f
		r.event(dump.Event{Tick: f.ticks[at] - 1, Kind: dump.EventReset, Envs: r.man.EnvIDs, Count: 5})
		c, _ := runaway(r, 0).judge()
		return c
	}
	f := run(.4, 2e-3).feature(X29)
	assert.Equal(t, yes, f.Value, f.Text)
	assert.Equal(t, 7, f.Env)
	assert.Equal(t, unknown, run(.4, .4).feature(X29).Value, "all of them, always")
	assert.Equal(t, unknown, run(8e-3, 1e-3).feature(X29).Value, "a soft floor")
}
