package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// addEnvs adds a field of one column with a value for each env in each step.
func (r *loopRun) addEnvs(name string, stage dump.Stage, dtype string, f func(i, row int) float64) *loopRun {
	like := r.fields["obs.policy"]
	spec := dump.FieldSpec{Name: name, Stage: stage, Clock: dump.ClockStep, Order: 39, DType: dtype, PerEnv: true}
	g := &loopField{spec: spec, ticks: like.ticks, counts: like.counts}
	for i := range like.v {
		frame := make([][]float64, len(r.man.EnvIDs))
		for row := range frame {
			frame[row] = []float64{f(i, row)}
		}
		g.v = append(g.v, frame)
	}
	r.fields[name] = g
	r.man.Fields = append(r.man.Fields, spec)
	return r
}

// TestAscent is X25 for a learning rate below zero.
func TestAscent(t *testing.T) {
	c, d := newRun(80).tail("lr", 3, -1e-4).judge()
	assert.Equal(t, ascends, c.feature(X25).Value, c.feature(X25).Text)
	assert.Equal(t, yes, c.feature(X3).Value)
	assert.Equal(t, LearnerExplosion, d.Verdict)
	for _, v := range []float64{0, unset} {
		_, d = newRun(80).tail("lr", 3, v).judge()
		assert.Equal(t, Clean, d.Verdict, "a rate of %g", v)
	}
}

// TestStdAtFloor is X25 for a policy that never explored.
func TestStdAtFloor(t *testing.T) {
	still := func() *loopRun { return newRun(80).all("policy.std", 0, stdClamp) }
	c, d := still().judge()
	assert.Equal(t, atFloor, c.feature(X25).Value, c.feature(X25).Text)
	assert.Equal(t, yes, c.feature(F10).Value)
	assert.Equal(t, PolicyStd, d.Verdict)
	for name, r := range map[string]*loopRun{
		"evaluation": still().drop("loss.total", "grad_norm", "lr", "param.actor", "param.std"),
		"imitation":  still().drop("log_prob"),
		"small":      newRun(80).all("policy.std", 0, 1e-3),
	} {
		_, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, name)
	}
}

// TestFlippedContacts is X25 for a solref that changed its sign.
func TestFlippedContacts(t *testing.T) {
	run := func(to float64) *loopRun {
		return newRun(60).addEnvs("model.geom_solref", dump.StageModel, "float32", func(i, _ int) float64 {
			if i < 30 {
				return 0.02
			}
			return to
		})
	}
	for _, to := range []float64{-0.02, -0.005} {
		c, d := run(to).judge()
		assert.Equal(t, flipped, c.feature(X25).Value, c.feature(X25).Text)
		assert.Equal(t, BadModel, d.Verdict)
	}
	for name, to := range map[string]float64{"softer": 0.04, "a stiffness that is meant": -2000} {
		_, d := run(to).judge()
		assert.Equal(t, Clean, d.Verdict, name)
	}
}

// TestStrayReadings is X25 for single readings far out of a sensor's range.
func TestStrayReadings(t *testing.T) {
	run := func(name string, bad func(i, row int) bool, size func(i int) float64) *loopRun {
		return newRun(80).addEnvs(name, dump.StageSensor, "float32", func(i, row int) float64 {
			if bad(i, row) {
				return -size(i)
			}
			return 3 + hash(99, i, row, 0)
		})
	}
	wraps := func(i, row int) bool { return row == 1 && i%9 == 4 }
	about3000 := func(i int) float64 { return 3000 + float64(i)/10 }
	c, d := run("sensor.encoder", wraps, about3000).judge()
	assert.Equal(t, spikes, c.feature(X25).Value, c.feature(X25).Text)
	assert.Equal(t, BadSensor, d.Verdict)
	for name, r := range map[string]*loopRun{
		"landings":         run("sensor.foot_force", wraps, about3000),
		"of all sizes":     run("sensor.encoder", wraps, func(i int) float64 { return 30 * float64(i) }),
		"a code":           run("sensor.range", wraps, func(int) float64 { return 3000 }),
		"in all envs":      run("sensor.encoder", func(i, row int) bool { return (i+row)%9 == 4 }, about3000),
		"one":              run("sensor.encoder", func(i, row int) bool { return row == 1 && i == 40 }, about3000),
		"for a while":      run("sensor.encoder", func(i, row int) bool { return row == 1 && i > 70 }, about3000),
		"moderate":         run("sensor.encoder", wraps, func(i int) float64 { return 100 + float64(i)/10 }),
		"zero but for few": newRun(80).addEnvs("sensor.event", dump.StageSensor, "float32", func(i, row int) float64 { return about3000(i) * float64(min(1, max(0, 1-(i+9*row)%11))) }),
	} {
		c, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X25).Text)
	}
}

// TestResetSpikes is X25 for a column that is far out after each reset.
func TestResetSpikes(t *testing.T) {
	run := func(value func(i, row int, reset bool) float64) *loopRun {
		reset := func(i, row int) bool { return i > 0 && (i+3*row)%25 == 10 }
		r := newRun(80).addEnvs("obs.velocity", dump.StageObs, "float32", func(i, row int) float64 { return value(i, row, reset(i, row)) })
		for i, tick := range r.fields["obs.velocity"].ticks {
			for row, env := range r.man.EnvIDs {
				if reset(i, row) {
					r.event(dump.Event{Tick: tick, Kind: dump.EventReset, Envs: []int{env}, Count: 1})
				}
			}
		}
		return r
	}
	calm := func(i, row int) float64 { return 0.1 * hash(98, i, row, 0) }
	c, d := run(func(i, row int, reset bool) float64 {
		if reset {
			return 80 + float64(i)
		}
		return calm(i, row)
	}).judge()
	assert.Equal(t, atReset, c.feature(X25).Value, c.feature(X25).Text)
	assert.Equal(t, BadReset, d.Verdict)
	for name, value := range map[string]func(i, row int, reset bool) float64{
		"ordinary": func(i, row int, _ bool) float64 { return calm(i, row) },
		"a flag": func(_, _ int, reset bool) float64 {
			if reset {
				return 1
			}
			return 0
		},
		"not all": func(i, row int, reset bool) float64 {
			if reset && row > 0 {
				return 80 + float64(i)
			}
			return calm(i, row)
		},
		"elsewhere too": func(i, row int, reset bool) float64 {
			if reset || i == 40 && row == 2 {
				return 80 + float64(i)
			}
			return calm(i, row)
		},
		"moderate": func(i, row int, reset bool) float64 {
			if reset {
				return 3 + float64(i)/100
			}
			return calm(i, row)
		},
	} {
		c, d := run(value).judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X25).Text)
	}
}
