package rootcause

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
)

// TestDeaf is X24: parameters that do not move although gradients flow.
func TestDeaf(t *testing.T) {
	still := func() *loopRun { return newRun(300).all("param.actor", 0, 0.3).all("param.std", 0, 0.8) }
	c, d := still().judge()
	assert.Equal(t, yes, c.feature(X24).Value, c.feature(X24).Text)
	assert.NotEqual(t, Clean, d.Verdict)
	for name, r := range map[string]*loopRun{
		"they move":              newRun(300),
		"one of them moves":      still().set("param.std", -1, 0, 1, 0.81),
		"the rate is zero":       still().all("lr", 0, 0),
		"gradients are zero":     still().all("grad_norm", 0, 0),
		"a record of two update": newRun(16).all("param.actor", 0, 0.3).all("param.std", 0, 0.8),
	} {
		c, d := r.judge()
		assert.NotEqual(t, yes, c.feature(X24).Value, name)
		assert.Equal(t, Clean, d.Verdict, name)
	}
}

// TestFlushed: gradients that half precision made nothing of.
func TestFlushed(t *testing.T) {
	gradient := func(unit float64) *loopRun {
		return newRun(200).add("grad.actor", dump.StageGrad, []string{"a", "b", "c", "d"}, func(i, col int) float64 {
			if (i+col)%3 > 0 {
				return 0
			}
			return unit * float64(1+col)
		})
	}
	c, d := gradient(1.0 / halfUnit).judge()
	assert.Equal(t, yes, c.feature(X21).Value, c.feature(X21).Text)
	assert.Equal(t, PrecisionLoss, d.Verdict)
	_, d = gradient(1.1e-7).judge()
	assert.Equal(t, Clean, d.Verdict, "no multiple of the unit")
	_, d = gradient(0).judge()
	assert.Equal(t, Clean, d.Verdict, "nothing but zeros may be a frozen layer")
}

// TestAllFlushed: a run in float16 without a scaler of which no gradient is left.
func TestAllFlushed(t *testing.T) {
	gone := func() *loopRun {
		r := newRun(200).all("param.actor", 0, 0.3).all("param.std", 0, 0.8).all("grad_norm", 0, 0)
		r.man.Facts["amp.enabled"], r.man.Facts["amp.dtype"], r.man.Facts["amp.grad_scaler"] = true, "float16", false
		return r
	}
	with := func(fact string, v any) *loopRun { r := gone(); r.man.Facts[fact] = v; return r }
	c, d := gone().judge()
	assert.Equal(t, yes, c.feature(X21).Value, c.feature(X21).Text)
	assert.Equal(t, PrecisionLoss, d.Verdict)
	assert.Contains(t, d.Causes[0].Fix, "Scale the loss")
	for name, r := range map[string]*loopRun{
		"float32":                  with("amp.enabled", false),
		"bfloat16":                 with("amp.dtype", "bfloat16"),
		"a scaler that skips":      with("amp.grad_scaler", true),
		"a rate of zero":           gone().all("lr", 0, 0),
		"a loss that stands still": gone().all("loss.total", 0, 0.2),
		"the critic learns":        gone().add("grad_norm.critic", dump.StageGrad, nil, func(i, _ int) float64 { return 1 + 0.1*hash(i) }),
		"a parameter moves":        gone().set("param.actor", -1, 0, 1, 0.31),
		"few records":              newRun(40).all("param.actor", 0, 0.3).all("grad_norm", 0, 0),
	} {
		c, d := r.judge()
		assert.NotEqual(t, yes, c.feature(X21).Value, name)
		assert.Equal(t, Clean, d.Verdict, name)
	}
	_, d = with("amp.enabled", false).judge()
	assert.Contains(t, d.Warnings, "grad_norm is exactly 0 in all 50 records although the loss changes: nothing is learned")
}

// TestMisfit: statistics of another observation, which came with a checkpoint.
func TestMisfit(t *testing.T) {
	far := func() *loopRun {
		r := newRun(60)
		for i := range r.fields["obs.policy.normalized"].v {
			for row := range r.man.EnvIDs {
				r.set("obs.policy.normalized", i, row, 2, 400)
			}
		}
		return r
	}
	load := dump.Event{Tick: 0, Kind: dump.EventCheckpointLoaded, Name: "model_400.pt"}
	c, d := far().event(load).judge()
	assert.Equal(t, yes, c.feature(X19).Value, c.feature(X19).Text)
	assert.Equal(t, NormalizerLost, d.Verdict)
	_, d = far().judge()
	assert.Equal(t, Clean, d.Verdict, "no checkpoint: a new normalizer may be far out")
	_, d = newRun(60).event(load).judge()
	assert.Equal(t, Clean, d.Verdict)
}

// TestKick: a control that throws an env about some steps before it breaks, in a
// run whose other envs see controls of that size too.
func TestKick(t *testing.T) {
	run := func(size float64) *loopRun {
		r := newRun(60)
		hit := 4 * 55 // substep
		r.set("ctrl", hit, 0, 1, size, size, size, size)
		for k := 20; k < 26; k++ {
			r.set("ctrl", 4*k, 2, 0, 80, 80, 80, 80)
		}
		r.set("qvel", hit, 0, -1, 60, 55, 70, 65, 80, 75, 90, 85, 120, 140, 200, 400, 1e4, 1e7, 1e12)
		return r.set("qacc", hit+15, 0, -1, nan)
	}
	c, _ := run(90).judge()
	assert.Equal(t, yes, c.feature(F5).Value, c.feature(F5).Text)
	assert.Equal(t, yes, c.feature(X7).Value, c.feature(X7).Text)
	assert.Contains(t, c.feature(X7).Text, "rose at that moment")
	c, _ = run(0.5).judge()
	assert.Equal(t, no, c.feature(F5).Value, c.feature(F5).Text)
	assert.Equal(t, no, c.feature(X7).Value, c.feature(X7).Text)
}

// TestRecentChange is X1: all envs got new model values just before one broke.
func TestRecentChange(t *testing.T) {
	last := newRun(30).fields["qvel"].ticks
	at := last[len(last)-9]
	change := dump.Event{Tick: at, Kind: dump.EventDR, Name: "dof_armature", Count: 48}
	c, d := runaway(newRun(30), 0).event(change).judge()
	assert.Equal(t, "recent", c.feature(X1).Value)
	assert.Contains(t, causesOf(&d), BadModel)
	often := runaway(newRun(30), 0)
	for tick := range at + 1 {
		often.event(dump.Event{Tick: tick, Kind: dump.EventDR, Name: "dof_armature", Count: 48})
	}
	c, _ = often.judge()
	assert.NotEqual(t, "recent", c.feature(X1).Value, "it is changed all the time")
}

// TestWords: what an exception tells, and what it has nothing to do with.
func TestWordsOfAnException(t *testing.T) {
	end := func(s string) *loopRun {
		r := newRun(60)
		r.man.Run.Exception = s
		return r
	}
	c, d := end("FatalError: mj_stackAlloc: out of memory, stack overflow at PrimalAllocate").drop("nefc").judge()
	assert.Equal(t, "said", c.feature(F4).Value)
	assert.Equal(t, ContactCapacity, d.Causes[0].ID)
	for _, s := range []string{
		"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB", "KeyboardInterrupt", "OSError: [Errno 28] No space left on device",
		"ConnectionError: wandb",
	} {
		_, d := end(s).judge()
		assert.Equal(t, Clean, d.Verdict, s)
	}
}

// TestOneWritersOrder: a loop may give what is made of a field the same place, and
// name it first.
func TestOneWritersOrder(t *testing.T) {
	r := newRun(60).set("obs.policy", -1, 2, -1, nan).set("obs.policy.normalized", -1, 2, -1, nan)
	raw, z := r.fields["obs.policy"], r.fields["obs.policy.normalized"]
	z.ticks = raw.ticks
	z.spec.Order = raw.spec.Order
	for i := range r.man.Fields {
		if r.man.Fields[i].Name == z.spec.Name {
			r.man.Fields[i].Order = raw.spec.Order
		}
	}
	_, d := r.judge()
	require.NotNil(t, d.Root)
	assert.Equal(t, "obs.policy", d.Root.Field)
}

// TestDistanceOfRunawayBodies: a contact distance is made from positions, and is
// not where it began.
func TestDistanceOfRunawayBodies(t *testing.T) {
	r := newRun(60)
	q := r.fields["qvel"]
	spec := dump.FieldSpec{Name: "contact.dist", Stage: dump.StageSolver, Clock: dump.ClockSubstep, Order: 14, DType: "float32", PerEnv: true}
	f := &loopField{spec: spec, ticks: q.ticks, counts: q.counts}
	for range q.v {
		frame := make([][]float64, len(r.man.EnvIDs))
		for row := range frame {
			frame[row] = []float64{0.01}
		}
		f.v = append(f.v, frame)
	}
	r.fields["contact.dist"], r.man.Fields = f, append(r.man.Fields, spec)
	r.set("qvel", -4, 1, -1, 3e4, 2e6, 4e9, 1e14).set("contact.dist", -1, 1, 0, math.Inf(-1))
	_, d := r.judge()
	require.NotNil(t, d.Root)
	assert.Equal(t, "contact.dist", d.FirstBad.Field)
	assert.Equal(t, "qvel", d.Root.Field)
}

// TestFilterAudit: an explicit actuator filter that is faster than half a step.
func TestFilterAudit(t *testing.T) {
	audit := func(tau float64) string {
		r := runaway(newRun(30), 0)
		r.model = leg()
		r.model.Actuators[0].FilterTime = tau
		c, _ := r.judge()
		return c.feature(X6).Value
	}
	assert.Equal(t, "unstable", audit(0.002))
	assert.Equal(t, no, audit(0.0026))
	assert.Equal(t, no, audit(0))
}

// TestStuck: weights in bfloat16 that steps of the optimizer do not move.
func TestStuck(t *testing.T) {
	weights := func(unit float64) *loopRun {
		return newRun(200).add("param.absmax", dump.StageParam, []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}, func(_, col int) float64 {
			return 0.25 + unit*float64(2*col+1)
		}).drop("param.actor", "param.std")
	}
	c, d := weights(0x1p-9).judge()
	assert.Equal(t, yes, c.feature(X21).Value, c.feature(X21).Text)
	assert.Equal(t, PrecisionLoss, d.Causes[0].ID)
	c, _ = weights(0.0123).judge()
	assert.NotEqual(t, yes, c.feature(X21).Value, "no numbers of bfloat16")
	r := weights(0x1p-9).all("lr", 0, 0)
	_, d = r.judge()
	assert.Equal(t, Clean, d.Verdict, "a learning rate of zero moves nothing")
}

// TestRankFields: one field for each rank.
func TestRankFields(t *testing.T) {
	of := func(bad float64) *loopRun {
		r := ranked(3)
		for _, name := range []string{"rank0.grad_norm", "rank1.grad_norm", "rank2.grad_norm"} {
			r.add(name, dump.StageGrad, nil, func(i, _ int) float64 {
				if name[4] == '1' && i == 10 {
					return bad
				}
				return 0.8 + 0.01*float64(i%7)
			})
		}
		return r
	}
	c, d := of(4e5).judge()
	assert.Equal(t, yes, c.feature(X20).Value, c.feature(X20).Text)
	assert.Equal(t, RankDesync, d.Causes[0].ID)
	_, d = of(0.8).judge()
	assert.Equal(t, Clean, d.Verdict)
}

// TestStdAdrift: a std that collapses, or is nothing but noise, in a run in which
// everything else is fine.
func TestStdAdrift(t *testing.T) {
	ramp := func(to float64) *loopRun {
		r := newRun(80)
		n := len(r.fields["policy.std"].v)
		for i := range n {
			for row := range r.man.EnvIDs {
				r.set("policy.std", i, row, -1, 0.8*math.Pow(to/0.8, float64(i)/float64(n-1)))
			}
		}
		return r.drop("param.std")
	}
	for _, to := range []float64{1e-7, 200} {
		c, d := ramp(to).judge()
		assert.Equal(t, yes, c.feature(F10).Value, c.feature(F10).Text)
		assert.Equal(t, PolicyStd, d.Causes[0].ID)
	}
	for _, to := range []float64{1e-3, 10} {
		_, d := ramp(to).judge()
		assert.Equal(t, Clean, d.Verdict, "a std of %g", to)
	}
}

// TestCameAlone: a policy without its normalizer.
func TestCameAlone(t *testing.T) {
	count := func(from float64) *loopRun {
		r := newRun(60)
		like := r.fields["obs.policy"]
		spec := dump.FieldSpec{Name: "normalizer.count", Stage: dump.StageNormalizer, Clock: dump.ClockStep, Order: 47, DType: "float32"}
		f := &loopField{spec: spec, ticks: like.ticks, counts: like.counts}
		for _, n := range like.counts {
			f.v = append(f.v, [][]float64{{from + float64(48*n)}})
		}
		r.fields[spec.Name], r.man.Fields = f, append(r.man.Fields, spec)
		return r
	}
	load := dump.Event{Tick: 0, Kind: dump.EventCheckpointLoaded, Name: "policy.zip"}
	goesOn := count(0) // at the step of the checkpoint
	g := goesOn.fields["normalizer.count"]
	g.counts = slices.Clone(g.counts)
	for i := range g.counts {
		g.counts[i] += 9600
	}
	c, d := goesOn.event(load).judge()
	assert.Equal(t, yes, c.feature(X19).Value, c.feature(X19).Text)
	assert.Equal(t, NormalizerLost, d.Causes[0].ID)
	_, d = count(0).event(load).judge()
	assert.Equal(t, Clean, d.Verdict, "a student of what was loaded")
	_, d = count(2e6).event(load).judge()
	assert.Equal(t, Clean, d.Verdict, "it came with the checkpoint")
	_, d = count(0).judge()
	assert.Equal(t, Clean, d.Verdict, "a new run")

	// A window that opens 100 steps into the run, a moment after the load.
	late := count(48 * 100)
	f := late.fields["normalizer.count"]
	first := 100 * (f.ticks[len(f.ticks)-1] - f.ticks[0]) / int64(len(f.ticks)-1)
	f.ticks, f.counts = slices.Clone(f.ticks), slices.Clone(f.counts)
	for i := range f.ticks {
		f.ticks[i], f.counts[i] = f.ticks[i]+first, f.counts[i]+100
	}
	load.Tick = f.ticks[0] - 1
	_, d = late.event(load).judge()
	assert.Equal(t, Clean, d.Verdict, "what the run made before the load was kept")
}

// TestLossScaleIsNoParameter: a scaler doubles the scale of the loss as long as that
// goes well.
func TestLossScaleIsNoParameter(t *testing.T) {
	for _, name := range []string{"param.amp_scale", "param.loss_scale", "param.scaler"} {
		r := newRun(500).add(name, dump.StageParam, nil, func(i, _ int) float64 { return math.Exp2(float64(8 + i/3)) })
		_, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, name)
	}
	_, d := newRun(500).add("param.actor.scale", dump.StageParam, nil, func(i, _ int) float64 { return math.Exp2(float64(8 + i/3)) }).judge()
	assert.NotEqual(t, Clean, d.Verdict, "a weight that grows without end")
}

// TestOnlyAMonitor: what nothing reads is no failure.
func TestOnlyAMonitor(t *testing.T) {
	_, d := newRun(60).add("monitor.pad", dump.StageMonitor, nil, func(int, int) float64 { return nan }).judge()
	assert.Equal(t, Clean, d.Verdict)
	assert.Contains(t, d.Warnings[0], "nothing reads it")
}

// TestRunawayRightAfterAReset is X5: there was no time to get there.
func TestRunawayRightAfterAReset(t *testing.T) {
	at := func(first float64) *loopRun {
		r := newRun(60)
		k := 4 * 55
		tick := r.fields["qvel"].ticks[k]
		r.event(dump.Event{Tick: tick - 1, Kind: dump.EventReset, Envs: []int{7}})
		return r.set("qvel", k, 0, -1, first, 4e6, 7e9, 2e13).set("qacc", k+4, 0, -1, nan)
	}
	c, d := at(2e4).judge()
	assert.Equal(t, "wild", c.feature(X5).Value, c.feature(X5).Text)
	assert.Contains(t, causesOf(&d), BadReset)
	c, _ = at(4).judge()
	assert.Equal(t, no, c.feature(X5).Value, "it came out of the reset as it should")
}

// TestStruck is X13: the physics of many envs non-finite within one substep.
func TestStruck(t *testing.T) {
	many := func(rows int) *loopRun {
		r := newRun(60)
		r.man.NumEnvs = 8
		for row := range rows {
			r.set("qacc", -3, row, -1, nan, nan, nan)
		}
		return r
	}
	c, d := many(4).judge()
	assert.Equal(t, "struck", c.feature(X13).Value, c.feature(X13).Text)
	assert.NotEqual(t, ContactDivergence, d.Causes[0].ID)
	c, d = many(1).judge()
	assert.NotEqual(t, "struck", c.feature(X13).Value)
	assert.Equal(t, ContactDivergence, d.Causes[0].ID)
}

// TestPartOfABatch is X3: few samples of a batch that one network made.
func TestPartOfABatch(t *testing.T) {
	batch := func(bad int) *loopRun {
		r := newRun(200)
		cols := make([]string, 32)
		last := len(r.fields["loss.total"].v) - 1
		return r.add("return", dump.StageValue, cols, func(i, col int) float64 {
			if i == last && col < bad {
				return nan
			}
			return 3 + 0.1*float64(col) + 0.01*float64(i%5)
		})
	}
	c, d := batch(2).judge()
	assert.Equal(t, "partial", c.feature(X3).Value, c.feature(X3).Text)
	assert.Contains(t, causesOf(&d), PaddingRows)
	assert.NotEqual(t, LearnerExplosion, d.Verdict)
	c, _ = batch(32).judge()
	assert.NotEqual(t, "partial", c.feature(X3).Value)
}

// TestNoPrecisionInNaN: a NaN is a number of bfloat16 and says nothing of it.
func TestNoPrecisionInNaN(t *testing.T) {
	r := newRun(200).add("param.critic", dump.StageParam, make([]string, 16), func(int, int) float64 { return nan }).drop("param.actor", "param.std")
	c, err := NewCase(r)
	require.NoError(t, err)
	assert.Empty(t, c.coarseWeights())
}

// TestAllResetAtOnce: a reset that leaves NaN in every env is a bad reset.
func TestAllResetAtOnce(t *testing.T) {
	r := newRun(60)
	k := 4 * 55
	tick := r.fields["qvel"].ticks[k]
	r.event(dump.Event{Tick: tick - 1, Kind: dump.EventReset, Envs: r.man.EnvIDs})
	for row := range r.man.EnvIDs {
		r.set("qvel", k, row, -1, nan, nan)
	}
	r.man.NumEnvs = 8
	c, d := r.judge()
	assert.Equal(t, yes, c.feature(X5).Value)
	assert.NotEqual(t, "struck", c.feature(X13).Value)
	assert.Contains(t, causesOf(&d), BadReset)
}
