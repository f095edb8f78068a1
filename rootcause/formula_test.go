package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestControlFormula: a control that is NaN out of a finite action is made so by
// the task; one that follows a bad state or a bad action is not.
func TestControlFormula(t *testing.T) {
	c, d := newRun(60).set("ctrl", -2, 1, 0, nan, nan).judge()
	assert.Equal(t, "control", c.feature(X23).Value, c.feature(X23).Text)
	assert.Equal(t, MathDomain, d.Verdict)
	assert.NotContains(t, causesOf(&d), SimKernel)

	c, _ = newRun(60).set("qvel", -3, 1, 0, nan, nan, nan).set("ctrl", -2, 1, 0, nan, nan).judge()
	assert.NotEqual(t, "control", c.feature(X23).Value, "the state was bad before")
	c, _ = newRun(60).set("action", -1, 1, 0, nan).set("ctrl", -4, 1, 0, nan, nan, nan, nan).judge()
	assert.NotEqual(t, "control", c.feature(X23).Value, "the action was bad before")
	c, _ = newRun(60).set("ctrl", -3, 1, 0, 9e4, 9e6, nan).judge()
	assert.NotEqual(t, "control", c.feature(X23).Value, "it was huge before")
	c, _ = newRun(60).drop("action").set("ctrl", -2, 1, 0, nan, nan).judge()
	assert.NotEqual(t, "control", c.feature(X23).Value, "the action is not recorded")
}

// TestOptimizerStep: a parameter that is NaN out of a finite loss and gradients.
func TestOptimizerStep(t *testing.T) {
	c, d := newRun(64).set("param.actor", -1, 0, 2, nan).judge()
	assert.Equal(t, "optimizer", c.feature(X23).Value, c.feature(X23).Text)
	assert.Equal(t, unknown, c.feature(F11).Value)
	assert.Equal(t, MathDomain, d.Causes[0].ID)

	c, _ = newRun(64).set("param.actor", -1, 0, 2, nan).set("grad_norm", -1, 0, 0, nan).judge()
	assert.NotEqual(t, "optimizer", c.feature(X23).Value, "the gradient was NaN")
	c, _ = newRun(64).set("param.actor", -1, 0, 2, nan).set("grad_norm", -1, 0, 0, 9e9).judge()
	assert.NotEqual(t, "optimizer", c.feature(X23).Value, "the gradient ran away")
	c, d = newRun(64).drop("grad_norm").set("param.actor", -1, 0, 2, nan).judge()
	assert.NotEqual(t, "optimizer", c.feature(X23).Value, "no gradient is recorded")
	assert.NotEqual(t, MathDomain, d.Causes[0].ID)
}

// TestUnstepped: an output of a network that leaps with small parameters is not
// the learner's doing; with large ones it is.
func TestUnstepped(t *testing.T) {
	leap := func() *loopRun { return newRun(60).set("policy.mean", -2, 1, 0, 5e35, 6e35) }
	c, d := leap().judge()
	assert.Equal(t, "unstepped", c.feature(X3).Value, c.feature(X3).Text)
	assert.Equal(t, UnknownCause, d.Causes[0].ID)

	c, d = leap().all("param.actor", -1, 4e3).judge()
	assert.NotEqual(t, "unstepped", c.feature(X3).Value, "the weights had run away")
	assert.Equal(t, LearnerExplosion, d.Causes[0].ID)
	c, _ = newRun(60).set("policy.mean", -2, 1, 0, 5e4, 6e4).judge()
	assert.NotEqual(t, "unstepped", c.feature(X3).Value, "a policy may do that")
	c, _ = leap().drop("param.actor", "param.std").judge()
	assert.NotEqual(t, "unstepped", c.feature(X3).Value, "no parameter is recorded")
}

// final adds a value that is recorded from the last two env steps on, and is
// fine only in the rows given.
func (r *loopRun) final(fine ...int) *loopRun {
	d := r.fields["done"]
	n := len(d.v) - 2
	spec := dump.FieldSpec{Name: "value.final", Stage: dump.StageValue, Clock: dump.ClockStep, Order: 29.5, DType: "float32", PerEnv: true}
	f := &loopField{spec: spec, ticks: d.ticks[n:], counts: d.counts[n:]}
	for range f.ticks {
		frame := make([][]float64, len(r.man.EnvIDs))
		for row := range frame {
			frame[row] = []float64{nan}
		}
		for _, row := range fine {
			frame[row][0] = 0.5
		}
		f.v = append(f.v, frame)
	}
	r.fields["value.final"] = f
	r.man.Fields = append(r.man.Fields, spec)
	return r
}

// TestUnfilled: a final value that is NaN in exactly the rows whose episode goes
// on is filler; a bare NaN in a first record never ran away.
func TestUnfilled(t *testing.T) {
	c, d := newRun(60).final(1, 3).set("done", -2, 1, 0, 1, 1).set("done", -2, 3, 0, 1, 1).judge()
	assert.Equal(t, yes, c.feature(X18).Value, c.feature(X18).Text)
	assert.Equal(t, PaddingRows, d.Causes[0].ID)

	c, d = newRun(60).final(1, 3).set("done", -2, 1, 0, 1, 1).set("done", -2, 4, 0, 1, 1).judge()
	assert.NotEqual(t, yes, c.feature(X18).Value, "other rows ended")
	assert.NotEqual(t, LearnerExplosion, d.Verdict)
	assert.Equal(t, "sudden", c.feature(X3).Value, "it is the first record that there was")

	r := newRun(60).final(1).set("done", -2, 1, 0, 1, 1).set("value", -2, 2, 0, nan)
	c, _ = r.judge()
	assert.NotEqual(t, yes, c.feature(X18).Value, "the value network is bad itself")
}

// TestUnfilledByEvents: of the rows in the file none ended, of those of the run
// as many as the events say.
func TestUnfilledByEvents(t *testing.T) {
	run := func(bad, ended int) *loopRun {
		r := newRun(60).final()
		r.tell()
		for i := range r.man.FirstBad {
			r.man.FirstBad[i].EnvsBad = bad
		}
		r.untold = true
		return r.event(dump.Event{Tick: r.man.Trip.Tick - 1, Kind: dump.EventReset, Count: ended})
	}
	c, _ := run(47, 1).judge()
	assert.Equal(t, yes, c.feature(X18).Value, c.feature(X18).Text)
	c, _ = run(47, 3).judge()
	assert.NotEqual(t, yes, c.feature(X18).Value, "others ended")
	c, _ = run(48, 0).judge()
	assert.NotEqual(t, yes, c.feature(X18).Value, "nothing is fine")
}

// TestTwin: a mean of all ranks that is NaN beside one of this rank that is not.
func TestTwin(t *testing.T) {
	run := func(world int, own float64) *loopRun {
		r := ranked(world).set("normalizer.mean", -1, 0, 2, nan)
		m := r.fields["normalizer.mean"]
		spec := m.spec
		spec.Name, spec.Order = "normalizer.batch_mean.local", 47
		f := &loopField{spec: spec, ticks: m.ticks, counts: m.counts}
		for range m.v {
			f.v = append(f.v, [][]float64{{.1, .2, .3, .4, .5}})
		}
		f.v[len(f.v)-1][0][2] = own
		r.fields[spec.Name] = f
		r.man.Fields = append(r.man.Fields, spec)
		return r
	}
	c, d := run(2, .3).judge()
	assert.Equal(t, yes, c.feature(X20).Value, c.feature(X20).Text)
	assert.Equal(t, RankDesync, d.Verdict)
	c, d = run(2, nan).judge()
	assert.NotEqual(t, yes, c.feature(X20).Value, "its own is bad too")
	assert.NotEqual(t, RankDesync, d.Causes[0].ID)
	_, d = run(1, .3).judge()
	assert.NotContains(t, causesOf(&d), RankDesync, "a run of one rank")
}

// TestStdOfAnEnv: a std that a network makes for each env blows up in one.
func TestStdOfAnEnv(t *testing.T) {
	c, d := newRun(60).set("policy.std", -4, 1, 0, 40, 1e7, 1e14, 1e21).set("log_prob", -1, 1, 0, nan).judge()
	assert.Equal(t, yes, c.feature(F10).Value, c.feature(F10).Text)
	assert.Equal(t, unknown, c.feature(F8).Value, c.feature(F8).Text)
	assert.Equal(t, unknown, c.feature(X4).Value, c.feature(X4).Text)
	assert.Equal(t, PolicyStd, d.Verdict)
}

// TestSteadily: an action that is multiplied again at each step is the root of the
// log-probability that squares it.
func TestSteadily(t *testing.T) {
	run := func(factor float64) *loopRun {
		r := newRun(60)
		v := 2.0
		for i := 20; i < 60; i++ {
			v *= factor
			for row := range 2 {
				r.set("action", i, row, 0, v).set("log_prob", i, row, 0, -v*v)
			}
		}
		return r.set("log_prob", -1, 0, 0, -inf)
	}
	c, d := run(1.7).judge()
	assert.Equal(t, "action", d.Root.Field)
	assert.Equal(t, yes, c.feature(X7).Value, c.feature(X7).Text)
	assert.Equal(t, ActionExplosion, d.Causes[0].ID)
	c, _ = run(1).judge()
	assert.NotEqual(t, yes, c.feature(X7).Value, "it did not grow")
}

// TestGraphNeedsASign: without an event, an address or a move a stale graph is a
// trace of the belief.
func TestGraphNeedsASign(t *testing.T) {
	belief := func(r *loopRun) float64 {
		_, d := r.judge()
		for _, h := range d.Causes {
			if h.ID == StaleGraph {
				return h.Probability
			}
		}
		return 0
	}
	bad := func() *loopRun { return runaway(newRun(60), 0) }
	without := belief(bad())
	captured := belief(bad().event(dump.Event{Tick: 3, Kind: dump.EventGraphCapture, Name: "step"}))
	moved := bad()
	moved.man.Facts["address.qpos"] = 4096.0
	assert.Less(t, without, 0.03)
	assert.Greater(t, captured, 3*without)
	assert.Greater(t, belief(moved), 3*without)
}

// TestWarmNormalizer: a normalizer that has seen enough is not cold, unless a
// variance below zero or of nothing says so.
func TestWarmNormalizer(t *testing.T) {
	factor := func(r *loopRun, count float64) float64 {
		r.man.Facts["normalizer.count"] = count
		c, _ := r.judge()
		return c.ruledOut(NormalizerCold)
	}
	bad := func() *loopRun { return newRun(60).all("obs.policy.normalized", -1, nan) }
	assert.InDelta(t, 1, factor(bad(), 900), 0)
	assert.InDelta(t, hardly, factor(bad(), 5e6), 0)
	assert.InDelta(t, 1, factor(bad().all("normalizer.var", 0, 1e-9), 5e6), 0)
}

// TestStdOfTheTrace: a std whose root only the trace shows has no frame to look at.
func TestStdOfTheTrace(t *testing.T) {
	c, _ := newRun(60).judge()
	c.chain = []step{{f: c.byName["policy.std"], name: "policy.std", row: -1, frame: 999, env: 7, class: growing}}
	assert.NotPanics(t, func() { c.extent() })
}

// TestSquashedLoss is X23 for a loss that is infinite at once in a run whose actions
// float32 has rounded to the bound of a tanh.
func TestSquashedLoss(t *testing.T) {
	run := func(squash func(x float64) float64, before ...float64) *loopRun {
		r := newRun(200).add("q.value", dump.StageValue, make([]string, 16), func(i, col int) float64 { return 1 + 0.1*hash(i, col) })
		for i, frame := range r.fields["action"].v {
			for row := range frame {
				for col := range frame[row] {
					frame[row][col] = squash(6 * (hash(i, row, col) + hash(i, row, col, 1)))
				}
			}
		}
		return r.set("loss.total", -1-len(before), 0, 0, append(before, inf)...)
	}
	c, d := run(math.Tanh).judge()
	assert.Equal(t, "bound", c.feature(X23).Value, c.feature(X23).Text)
	assert.Equal(t, MathDomain, d.Verdict)
	assert.Contains(t, c.feature(X23).Text, "exactly 1 or -1")
	cut := func(x float64) float64 { return max(-1, min(1, x)) }
	for name, r := range map[string]*loopRun{
		"actions that are cut off":     run(cut),
		"actions beyond one":           run(func(x float64) float64 { return 1.5 * math.Tanh(x) }),
		"actions that never reach it":  run(func(x float64) float64 { return 0.9995 * math.Tanh(x) }),
		"actions of two values":        run(func(x float64) float64 { return math.Copysign(1, x) }),
		"a loss that was on its way":   run(math.Tanh, 80, 9e3, 8e5),
		"a value that is infinite too": run(math.Tanh).set("q.value", -1, 0, 3, inf),
		"no value beside it":           run(math.Tanh).drop("q.value"),
	} {
		c, d := r.judge()
		assert.NotEqual(t, "bound", c.feature(X23).Value, name)
		assert.NotEqual(t, MathDomain, d.Verdict, name)
	}
	for name, r := range map[string]*loopRun{"cut off": newRun(200), "squashed": newRun(200)} {
		for i, frame := range r.fields["action"].v {
			for row := range frame {
				for col := range frame[row] {
					x := 6 * (hash(i, row, col) + hash(i, row, col, 1))
					frame[row][col] = map[string]float64{"cut off": cut(x), "squashed": math.Tanh(x)}[name]
				}
			}
		}
		_, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, name)
	}
}
