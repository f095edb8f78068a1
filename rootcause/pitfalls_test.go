package rootcause

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
)

// The pitfalls of causes.md §5, by number, each as a made-up run that a ranker
// that trusts the loudest symptom gets wrong.

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

// runaway bends the speeds of a row over its last substeps, up to NaN.
func runaway(r *loopRun, row int) *loopRun {
	r.set("qvel", -6, row, 1, 40, 900, 3e4, 8e5, 4e7, nan)
	r.set("qacc", -6, row, 1, 7e3, 2e5, 6e6, 2e8, 8e9, nan)
	return r.set("qpos", -1, row, -1, nan)
}

// TestEverythingBadInOneRecord is pitfall 1: the order of the loop decides, not
// the order of scanning.
func TestEverythingBadInOneRecord(t *testing.T) {
	r := newRun(30)
	for _, f := range []string{"qacc", "qvel", "qpos", "sensordata", "reward", "reward.upright", "obs.policy"} {
		r.set(f, -1, 0, -1, nan)
	}
	_, d := r.judge()
	assert.Equal(t, "qacc", d.FirstBad.Field)
	assert.Equal(t, "qacc", d.Root.Field)
	assert.Equal(t, ContactDivergence, d.Causes[0].ID)
}

// TestGuardDumpHasNoNaN is pitfall 2: the states before each step are all
// finite, and what leads up to the last one is the evidence, with names.
func TestGuardDumpHasNoNaN(t *testing.T) {
	var vel [][2]float64
	for i := range 40 {
		vel = append(vel, [2]float64{3 * hash(i, 1), 4 * hash(i, 2)})
	}
	vel = append(vel, [2]float64{8, 30}, [2]float64{50, 1100}, [2]float64{900, 4.1e4})
	c, d := guardDump(vel, 6, []int{6}, 4096).judge()
	assert.Nil(t, d.FirstBad, "nothing in the file is non-finite")
	assert.Equal(t, ContactDivergence, d.Verdict)
	assert.Equal(t, "qvel left_knee", d.Root.Column)
	assert.Equal(t, growing, d.Root.Class)
	text := c.feature(F2).Text
	assert.Contains(t, text, "qvel left_knee of env 6 grew")
	assert.Contains(t, text, "4.1e4")
	assert.Contains(t, text, "the fastest of 2 columns")
}

// TestNothingLeadsUp: a guard dump whose last state is ordinary tells nothing,
// and says so.
func TestNothingLeadsUp(t *testing.T) {
	var vel [][2]float64
	for i := range 60 {
		vel = append(vel, [2]float64{5 * hash(i, 1), 5 * hash(i, 2)})
	}
	_, d := guardDump(vel, 6, []int{6}, 24).judge()
	assert.Equal(t, UnknownCause, d.Verdict)
	assert.Nil(t, d.Root)
	assert.True(t, strings.Contains(reasons(d), "ordinary until the last recorded state"), reasons(d))
}

// reasons joins what stands under the hypothesis "unknown".
func reasons(d Diagnosis) string {
	var b strings.Builder
	for _, h := range d.Causes {
		for _, e := range h.Evidence {
			if h.ID == UnknownCause {
				b.WriteString(e.Text + "\n")
			}
		}
	}
	return b.String()
}

// TestCulpritNotInFile: mjlab V1 dumps the first envs, whoever is the culprit. A
// healthy env must not be blamed.
func TestCulpritNotInFile(t *testing.T) {
	vel := [][2]float64{{1, 2}, {2, 3}, {9, 80}, {40, 400}, {900, 4000}}
	r := guardDump(vel, 23, []int{0, 1, 2, 3, 4}, 24)
	r.format = "mjlab-v1"
	_, d := r.judge()
	assert.Equal(t, UnknownCause, d.Verdict)
	assert.Nil(t, d.Root)
	assert.Contains(t, strings.Join(d.Warnings, "\n"), "the env to blame (23) is not in the file")
	for _, h := range d.Causes {
		for _, e := range h.Evidence {
			assert.Nil(t, e.Env, "%s: %s", h.ID, e.Text)
		}
	}
}

// TestEngineResetsItself is pitfall 3: MuJoCo resets a bad state by itself and
// only warns; every recorded value is healthy.
func TestEngineResetsItself(t *testing.T) {
	c, d := newRun(100).event(dump.Event{Tick: 500, Kind: dump.EventWarning, Name: "mjWARN_BADQACC", Envs: []int{3}}).judge()
	assert.NotEqual(t, Clean, d.Verdict)
	assert.Equal(t, onPhysics, c.feature(F1).Value)
	assert.Equal(t, Masked, d.Causes[0].ID, "what the engine erased is the first thing to get back")
	assert.Equal(t, ContactDivergence, d.Causes[1].ID)
}

// TestReplacedValue is pitfalls 4 and 5: nan_to_num leaves finite values, and
// the event that says so is where it began.
func TestReplacedValue(t *testing.T) {
	c, d := newRun(30).event(dump.Event{Tick: 95, Kind: dump.EventNaNReplaced, Name: "reward.reach", Envs: []int{3}}).judge()
	assert.Equal(t, masked, d.Root.Class)
	assert.Equal(t, "reward.reach", d.Root.Field)
	assert.Equal(t, onReward, c.feature(F1).Value)
	assert.Equal(t, RewardOverflow, d.Causes[0].ID)
}

// TestNormalizerContamination is pitfall 6: one env's NaN makes the normalizer
// NaN, and a step later all envs. The env that brought it is to blame.
func TestNormalizerContamination(t *testing.T) {
	for _, recorded := range []bool{true, false} {
		r := newRun(31)
		last := len(r.fields["qvel"].v) - decimation - 1
		r.set("qvel", last-4, 1, 2, 60, 1500, 9e4, 6e6, nan)
		r.set("qacc", last-4, 1, 2, 9e3, 3e5, 1e7, 1e9, nan)
		r.set("obs.policy", -2, 1, 2, nan)
		r.all("normalizer.var", -2, nan)
		for _, f := range []string{"obs.policy.normalized", "policy.mean", "action"} {
			r.all(f, -1, nan)
		}
		if !recorded {
			r.drop("normalizer.mean", "normalizer.var", "qvel", "qacc", "qpos", "sensordata")
		}
		r.all("ctrl", -decimation, nan)
		c, d := r.judge()
		env, ok := c.focus()
		require.True(t, ok)
		assert.Equal(t, 3, env, "the env of row 1 brought it (recorded: %v)", recorded)
		assert.NotEqual(t, NormalizerCold, d.Causes[0].ID)
		if recorded {
			assert.Equal(t, ContactDivergence, d.Verdict)
			assert.Equal(t, "qvel", d.Root.Field)
		} else {
			assert.Equal(t, "obs.policy", d.Root.Field)
		}
	}
}

// TestNormalizerPriorFollowsEps is pitfall 7: with RSL-RL's eps of 0.01 there is
// no division by zero, and the prior of a cold normalizer shrinks.
func TestNormalizerPriorFollowsEps(t *testing.T) {
	prior := func(eps any) float64 {
		r := newRun(30).set("reward.reach", -1, 0, 0, nan)
		r.man.Facts["normalizer.eps"] = eps
		r.man.Facts["graph.step.replays"] = 30.0 // so that a stale graph keeps its prior
		c, _ := r.judge()
		for _, k := range c.Findings().candidates(TextbookPrior) {
			if k.id == NormalizerCold {
				return k.prior
			}
		}
		return -1
	}
	assert.InDelta(t, 0.18, prior(1e-8), 0.005)
	assert.InDelta(t, 0.08, prior(0.01), 0.005)
}

// TestMessageAloneIsWeak is pitfall 9: "std >= 0" is raised for NaN too. With
// physics that ran away first and a healthy std it must not win.
func TestMessageAloneIsWeak(t *testing.T) {
	const said = "RuntimeError: normal expects all elements of std >= 0.0"
	_, d := runaway(newRun(30), 0).event(dump.Event{Tick: 200, Kind: dump.EventNote, Detail: said}).judge()
	assert.Equal(t, ContactDivergence, d.Verdict)
	_, d = newRun(30).drop("policy.std", "param.std").event(dump.Event{Tick: 200, Kind: dump.EventNote, Detail: said}).judge()
	assert.Equal(t, UnknownCause, d.Verdict, "the message and nothing else")
}

// TestSignOfStdIsStrong is pitfalls 9 and 25: every value is finite, the std
// parameter crossed zero, and the sampler refused it.
func TestSignOfStdIsStrong(t *testing.T) {
	r := newRun(64)
	n := len(r.fields["param.std"].v)
	for i := range n {
		r.set("param.std", i, 0, 1, 0.8-0.81*float64(i)/float64(n-1))
	}
	r.event(dump.Event{Tick: 500, Kind: dump.EventNote, Detail: "RuntimeError: normal expects all elements of std >= 0.0"})
	c, d := r.judge()
	assert.Nil(t, d.FirstBad)
	assert.Equal(t, PolicyStd, d.Verdict)
	assert.Equal(t, negative, d.Root.Class)
	assert.Equal(t, "param.std", d.Root.Field)
	assert.Contains(t, c.feature(F10).Text, "-0.01")
	assert.Equal(t, Implicated, d.Checklist[8].Status)
}

// TestDivisionByEps is pitfall 10: 1/(d + 1e-8) never makes Inf in float32, it
// makes a giant that poisons the learner a whole rollout later.
func TestDivisionByEps(t *testing.T) {
	r := newRun(64).set("reward.reach", -6, 2, 0, 9.9999e7).set("reward", -6, 2, 0, 9.9999e7)
	r.set("loss.total", -2, 0, 0, 1e15, 1e16).set("grad_norm", -1, 0, 0, inf)
	c, d := r.judge()
	assert.Equal(t, "grad_norm", d.FirstBad.Field)
	assert.Equal(t, "reward.reach", d.Root.Field)
	assert.Equal(t, RewardOverflow, d.Verdict)
	assert.Contains(t, c.feature(F6).Text, "1e-8")
}

// TestStaleGraphIsSilent is pitfall 11: nothing is non-finite, and yet the graph
// reads memory that its array left.
func TestStaleGraphIsSilent(t *testing.T) {
	r := newRun(30)
	r.event(dump.Event{Tick: 1, Kind: dump.EventGraphCapture, Detail: map[string]any{"graph": "step", "reads": map[string]any{"model.gain": 4096.0}}})
	r.man.Facts["address.model.gain"], r.man.Facts["graph.step.replays"] = 8192.0, 30.0
	_, d := r.judge()
	assert.Equal(t, StaleGraph, d.Verdict)
	assert.Equal(t, Implicated, d.Checklist[9].Status)

	r = newRun(30)
	r.event(dump.Event{Tick: 1, Kind: dump.EventGraphCapture, Detail: map[string]any{"graph": "step", "reads": map[string]any{"model.gain": 4096.0}}})
	r.man.Facts["address.model.gain"], r.man.Facts["graph.step.replays"] = 4096.0, 30.0
	_, d = r.judge()
	assert.Equal(t, Clean, d.Verdict)
	assert.Equal(t, Cleared, d.Checklist[9].Status)
}

// TestTerminationForNaN is pitfall 14: the env was reset before anybody saw it.
func TestTerminationForNaN(t *testing.T) {
	r := newRun(30)
	src := r.fields["done"]
	f := &loopField{spec: src.spec, ticks: src.ticks, counts: src.counts}
	f.spec.Name = "termination.nan_detection"
	for range src.v {
		f.v = append(f.v, [][]float64{{0}, {0}, {0}, {0}, {0}})
	}
	f.v[20][3][0] = 1
	r.fields[f.spec.Name] = f
	r.man.Fields = append(r.man.Fields, f.spec)
	c, d := r.judge()
	assert.NotEqual(t, Clean, d.Verdict)
	assert.Equal(t, onPhysics, c.feature(F1).Value)
	assert.Equal(t, 20, *d.Root.Env)
}

// TestOtherRanks is pitfall 15: a NaN in the learner may be another rank's.
func TestOtherRanks(t *testing.T) {
	r := newRun(64).set("grad_norm", -1, 0, 0, nan)
	r.man.Run.Rank, r.man.Run.WorldSize = 2, 4
	_, d := r.judge()
	assert.Contains(t, strings.Join(d.Warnings, "\n"), "rank 2 of 4")
}

// TestHugeBeforeNaN is pitfall 17: the trip lands in an observation that squares
// what is still finite in qvel.
func TestHugeBeforeNaN(t *testing.T) {
	r := newRun(30).set("qvel", -5, 0, 1, 900, 3e4, 8e5, 4e8, 1e20)
	r.set("obs.policy", -1, 0, 3, nan)
	_, d := r.judge()
	assert.Equal(t, "obs.policy", d.FirstBad.Field)
	assert.Equal(t, "qvel", d.Root.Field)
	assert.Equal(t, ContactDivergence, d.Verdict)
}

// TestOneBlockPerSubstep is pitfall 18: qvel may overflow before the recorded
// qacc does.
func TestOneBlockPerSubstep(t *testing.T) {
	r := newRun(30).set("qvel", -3, 0, 1, 5e4, 1e12, inf)
	_, d := r.judge()
	assert.Equal(t, "qvel", d.FirstBad.Field)
	assert.Equal(t, "qvel", d.Root.Field)
	assert.Equal(t, ContactDivergence, d.Causes[0].ID)
}

// TestSlowGrowth is pitfall 19: a few per cent a substep for hundreds of them.
func TestSlowGrowth(t *testing.T) {
	var vel [][2]float64
	for i := range 300 {
		vel = append(vel, [2]float64{2 * hash(i, 1), 4 * math.Exp(0.04*float64(i))})
	}
	c, d := guardDump(vel, 6, []int{6}, 1024).judge()
	assert.Equal(t, yes, c.feature(F2).Value)
	assert.Contains(t, c.feature(F2).Text, "exponential")
	assert.NotEqual(t, Clean, d.Verdict)
	assert.Contains(t, []string{ContactDivergence, BadModel}, d.Causes[0].ID)
}

// TestExtentOfThePrecursor is pitfall 20: one env trips first, all of them grow.
func TestExtentOfThePrecursor(t *testing.T) {
	r := newRun(30)
	for row := range 5 {
		r.set("qvel", -5, row, 0, 2e3, 3e4, 8e5, 4e6, 3e7)
		r.set("nefc", -5, row, 0, 0, 0, 0, 0, 0)
	}
	r.set("qacc", -1, 0, 0, nan).set("qvel", -1, 0, 0, nan)
	c, d := r.judge()
	assert.Equal(t, yes, c.feature(X13).Value)
	assert.False(t, c.feature(F8).known(), "how many trip first says no more")
	assert.Equal(t, BadModel, d.Causes[0].ID)
}

// TestSaturatedSolverIsASymptom is pitfall 21: an env that is NaN reports the
// limit of iterations; only what came before counts.
func TestSaturatedSolverIsASymptom(t *testing.T) {
	r := newRun(30).set("qvel", -3, 0, -1, nan, nan, nan).set("solver_niter", -3, 0, 0, 10, 10, 10)
	c, _ := r.judge()
	assert.Equal(t, no, c.feature(F3).Value)
	r = runaway(newRun(30), 0).set("solver_niter", -5, 0, 0, 10, 10, 10, 10)
	c, _ = r.judge()
	assert.Equal(t, yes, c.feature(F3).Value)
	assert.InDelta(t, 1.0/6, c.feature(F3).Base, 1e-9, "none of four peers: (0+1)/(4+2)")
}

// TestFullBufferIsASymptom: a buffer that fills after the speeds rose is none.
func TestFullBufferIsASymptom(t *testing.T) {
	c, _ := runaway(newRun(30), 0).set("nefc", -2, 0, 0, 400, 500).judge()
	assert.Equal(t, no, c.feature(F4).Value)
	c, d := runaway(newRun(30), 0).set("nefc", -9, 0, 0, 320, 330, 340).judge()
	assert.Equal(t, yes, c.feature(F4).Value)
	assert.Equal(t, Implicated, d.Checklist[6].Status)
}

// TestRewardSpikeFromImpact is pitfall 23: 1e5 for one step with healthy physics
// and nothing behind it is no failure.
func TestRewardSpikeFromImpact(t *testing.T) {
	r := newRun(40).set("reward.reach", 20, 2, 0, 2e5).set("reward", 20, 2, 0, 2e5).set("nefc", 82, 2, 0, 300)
	_, d := r.judge()
	assert.Equal(t, Clean, d.Verdict)
	assert.Empty(t, d.Causes)
}

// TestHugeStdAlone is pitfall 24: a std of 1e5 with clipped actions and healthy
// physics is no cause of a contact that diverges later.
func TestHugeStdAlone(t *testing.T) {
	r := runaway(newRun(30).all("policy.std", 0, 1e5), 0)
	c, d := r.judge()
	assert.Equal(t, no, c.feature(F10).Value)
	assert.Equal(t, ContactDivergence, d.Causes[0].ID)
}

// TestStateBehindRewardAndObs: without physics in the dump, a reward and an
// observation that go NaN together share the state; the reward is not to blame.
func TestStateBehindRewardAndObs(t *testing.T) {
	r := newRun(30).drop("qacc", "qvel", "qpos", "sensordata", "nefc", "solver_niter", "ctrl")
	r.set("reward.upright", -1, 0, 0, nan).set("reward.reach", -1, 0, 0, nan).set("obs.policy", -1, 0, -1, nan)
	c, d := r.judge()
	assert.Equal(t, onPhysics, c.feature(F1).Value)
	assert.True(t, c.feature(F1).Half)
	assert.NotEqual(t, RewardOverflow, d.Causes[0].ID)
}
