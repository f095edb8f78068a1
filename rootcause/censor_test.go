package rootcause

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

var physicsFields = []string{"ctrl", "nefc", "solver_niter", "qacc", "qvel", "qpos", "sensordata"}

// causesOf returns the ids of the causes of a diagnosis.
func causesOf(d *Diagnosis) []string {
	var out []string
	for _, h := range d.Causes {
		out = append(out, h.ID)
	}
	return out
}

// TestHiddenStages: which stages could hide the beginning, by what is recorded.
func TestHiddenStages(t *testing.T) {
	bad := func() *loopRun { return newRun(60).set("obs.policy", -1, 2, -1, nan) }
	reward := func() *loopRun { return newRun(60).set("reward.reach", -2, 2, -1, nan).set("reward", -2, 2, -1, nan) }
	for _, c := range []struct {
		name string
		run  *loopRun
		want map[string]float64
	}{
		{"all recorded", bad(), map[string]float64{}},
		{"no physics", bad().drop(physicsFields...), map[string]float64{onPhysics: 1}},
		{"no physics, no actions", bad().drop(append(physicsFields, "action", "policy.mean")...), map[string]float64{
			onPhysics: 1, onStd: 1, onLearner: 1,
		}},
		{"a reward over an observation that is fine", reward().drop(physicsFields...), map[string]float64{onPhysics: 1}},
		{"a total over terms that are fine", newRun(60).set("reward", -2, 2, -1, nan).drop(physicsFields...), map[string]float64{onPhysics: implied}},
		{"the reward of an env that was reset", reward().drop(physicsFields...).set("done", -2, 2, 0, 1), map[string]float64{onPhysics: 1}},
		{"only losses", newRun(60).set("loss.total", -1, 0, 0, nan).only("loss.total", "grad_norm"), map[string]float64{
			onSensor: 1, onPhysics: .5, onObsNorm: 1, onReward: 1, onStd: 1,
		}},
		{"losses and what they are made from", newRun(60).set("loss.total", -1, 0, 0, nan).drop(physicsFields...), map[string]float64{}},
	} {
		got, _ := c.run.judge()
		assert.Equal(t, c.want, got.hidden, c.name)
	}
}

// TestCensoredDumpsKeepTheirCauses: an observation that is non-finite as a whole,
// without the physics under it, leaves all standing that begin in the physics,
// and names none of them.
func TestCensoredDumpsKeepTheirCauses(t *testing.T) {
	_, d := newRun(60).set("obs.policy", -1, 2, -1, nan).drop(physicsFields...).judge()
	assert.Equal(t, UnknownCause, d.Verdict)
	for _, id := range []string{ContactDivergence, BadReset, ActionExplosion, BadSensor, BadModel, ContactCapacity, MathDomain} {
		assert.Contains(t, causesOf(&d), id)
	}
	_, d = newRun(60).set("obs.policy", -1, 2, -1, nan).judge()
	for _, id := range []string{BadReset, ActionExplosion, BadModel, ContactCapacity} {
		assert.NotContains(t, causesOf(&d), id, "the physics is there, and fine")
	}
}

// TestTheFirstRecordIsNoBeginning: what is bad in the first frame of a file that
// begins in the middle of a run may have begun before it.
func TestTheFirstRecordIsNoBeginning(t *testing.T) {
	late := func(after int64) *loopRun {
		r := newRun(8)
		for i := range r.fields["qvel"].v {
			r.set("qvel", i, 2, -1, 3e4)
		}
		for _, f := range r.fields {
			for i := range f.counts {
				f.counts[i] += after
			}
		}
		return r.set("qacc", -1, 2, -1, nan)
	}
	c, d := late(400).judge()
	require.Equal(t, "qvel", d.Root.Field)
	assert.True(t, c.root().first())
	assert.Contains(t, causesOf(&d), BadReset)
	assert.Equal(t, UnknownCause, d.Verdict)
	_, d = late(0).judge()
	assert.NotContains(t, causesOf(&d), BadReset, "the record begins with the run")
}

// TestHiddenLikelihood: the likelihood of the first bad stage is that of beginning
// there and in every stage that is hidden.
func TestHiddenLikelihood(t *testing.T) {
	cs := five()
	w := weigh(&Feature{ID: F1, Value: onReward, Hidden: map[string]float64{onPhysics: 0.5}}, cs)
	ratio := (0.01 + 0.5*0.80) / (0.80 + 0.5*0.01) // contact against reward
	assert.InDelta(t, ratio, math.Exp(w[0]-w[1]), 1e-9)
}

// TestSameBeliefsEveryTime: a sum over several hidden stages has one order.
func TestSameBeliefsEveryTime(t *testing.T) {
	c, want := newRun(60).set("loss.total", -1, 0, 0, nan).only("loss.total", "grad_norm").judge()
	require.Greater(t, len(c.hidden), 3)
	for range 30 {
		require.Equal(t, want, Diagnose(c, DefaultOptions()))
	}
}

// TestLocal: one part of an observation that is bad beside parts that are fine
// says that the state behind them all was fine.
func TestLocal(t *testing.T) {
	wide := func(class string, bad ...int) *step {
		a := tensor.NewArray(tensor.Float64, 1, 1, 12)
		for col := range 12 {
			binary.LittleEndian.PutUint64(a.Data[8*col:], math.Float64bits(1))
		}
		for _, col := range bad {
			binary.LittleEndian.PutUint64(a.Data[8*col:], math.Float64bits(nan))
		}
		f := &field{
			kind: obs, rows: 1, width: 12, to: 12, limit: 100,
			frames: &dump.Series{Values: a, Ticks: []int64{5}},
			names:  []string{"vel[0]", "vel[1]", "pos[0]", "pos[1]", "g[0]", "scan[0]", "scan[1]", "scan[2]", "scan[3]", "scan[4]", "scan[5]", "scan[6]"},
		}
		return &step{f: f, class: class}
	}
	assert.True(t, wide("nan", 3).local(), "one column")
	assert.True(t, wide("nan", 5, 6, 7, 8, 9).local(), "one part")
	assert.False(t, wide("nan", 0, 1, 2, 3, 5).local(), "three parts")
	assert.False(t, wide("growing", 0).local(), "a speed that grows is the state")
}
