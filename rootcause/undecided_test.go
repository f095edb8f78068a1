package rootcause

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// says reports whether a next step says that two causes cannot be told apart, with
// what to record.
func says(d *Diagnosis, a, b, record string) bool {
	for _, n := range d.Next {
		if strings.Contains(n.Text, "cannot tell") && strings.Contains(n.Text, a) && strings.Contains(n.Text, b) && strings.Contains(n.Text, record) {
			return true
		}
	}
	return false
}

// TestSunkUnseen: after a report of a full buffer a reward over physics that looks
// quiet has no verdict unless the depth of contacts is recorded.
func TestSunkUnseen(t *testing.T) {
	bad := func() *loopRun {
		r := newRun(60).drop("reward.reach", "reward.upright").set("reward", 55, 0, 0, nan)
		return r.event(dump.Event{Tick: r.fields["reward"].ticks[20], Kind: dump.EventCapacity, Name: "nconmax"})
	}
	c, d := bad().drop("nefc").judge()
	assert.Equal(t, yes, c.feature(F4).Value, c.feature(F4).Text)
	assert.Equal(t, unknown, c.feature(F6).Value, c.feature(F6).Text)
	assert.Equal(t, UnknownCause, d.Verdict)
	assert.Contains(t, causesOf(&d), ContactCapacity)
	assert.True(t, says(&d, RewardOverflow, ContactCapacity, "contact.dist"), d.Next)

	c, d = bad().addEnvs("contact.dist", dump.StageSolver, "float32", func(int, int) float64 { return -1e-4 }).judge()
	assert.Equal(t, yes, c.feature(F6).Value, "contacts are recorded and shallow")
	assert.Equal(t, RewardOverflow, d.Verdict)

	c, d = newRun(60).drop("nefc").set("reward.reach", 55, 0, 0, nan).set("reward", 55, 0, 0, nan).judge()
	assert.NotEqual(t, yes, c.feature(F4).Value, "nothing was reported")
	assert.Equal(t, RewardOverflow, d.Verdict)
}

// TestPhysicsAfterTheReward: physics of which all frames are from after a reward that
// went bad says nothing of what lay under it.
func TestPhysicsAfterTheReward(t *testing.T) {
	r := newRun(60).set("reward.reach", 30, 0, 0, nan).set("reward", 30, 0, 0, nan)
	for _, name := range []string{"qacc", "qvel", "qpos", "ctrl", "nefc", "solver_niter", "sensordata"} {
		f := r.fields[name]
		n := len(f.v) - 10
		f.v, f.ticks, f.counts = f.v[n:], f.ticks[n:], f.counts[n:]
	}
	c, _ := r.judge()
	assert.Equal(t, unknown, c.feature(F6).Value, c.feature(F6).Text)
	c, _ = newRun(60).set("reward.reach", 30, 0, 0, nan).set("reward", 30, 0, 0, nan).judge()
	assert.Equal(t, yes, c.feature(F6).Value, c.feature(F6).Text)
}

// TestSentOrMade: a NaN gradient with finite losses on one of several ranks, recorded
// behind the all-reduce alone, may be of this rank or of another.
func TestSentOrMade(t *testing.T) {
	c, d := ranked(4).set("grad_norm", -1, 0, 0, nan).judge()
	assert.Equal(t, "elsewhere", c.feature(X20).Value, c.feature(X20).Text)
	assert.Equal(t, UnknownCause, d.Verdict)
	assert.True(t, says(&d, RankDesync, AutodiffSingular, "before the all-reduce"), d.Next)
	_, d = newRun(60).set("grad_norm", -1, 0, 0, nan).judge()
	assert.Equal(t, AutodiffSingular, d.Verdict, "a run of one rank")
}

// TestSharedStatistic: a normalizer's statistic that goes bad at once over finite
// observations of this rank has those of another in it.
func TestSharedStatistic(t *testing.T) {
	c, d := ranked(4).set("normalizer.var", -1, 0, 2, inf).judge()
	assert.Equal(t, "elsewhere", c.feature(X20).Value, c.feature(X20).Text)
	assert.NotEqual(t, NormalizerCold, d.Verdict)
	c, _ = ranked(4).set("obs.policy", -1, 0, 2, inf).set("normalizer.var", -1, 0, 2, inf).judge()
	assert.NotEqual(t, "elsewhere", c.feature(X20).Value, "this rank's own observation")
	c, _ = newRun(60).set("normalizer.var", -1, 0, 2, inf).judge()
	assert.NotEqual(t, "elsewhere", c.feature(X20).Value, "a run of one rank")
}

// TestStdFellUnseen: a loss that explodes behind a std that fell to next to zero, with
// its parameter not recorded, is no learner that exploded by itself.
func TestStdFellUnseen(t *testing.T) {
	fell := func(last float64) *loopRun {
		r := newRun(64).drop("param.std", "param.actor", "grad_norm", "log_prob")
		r.man.Clocks[dump.ClockUpdate] = 400
		f := r.fields["policy.std"]
		for i := range f.v {
			for row := range f.v[i] {
				r.set("policy.std", i, row, 1, 0.8+(last-0.8)*float64(i)/float64(len(f.v)-1))
			}
		}
		n := len(r.fields["loss.total"].v)
		return r.set("loss.total", n-4, 0, 0, 30, 3e3, 3e5, nan)
	}
	c, d := fell(0.002).judge()
	assert.Equal(t, unknown, c.feature(X3).Value, c.feature(X3).Text)
	assert.Equal(t, PolicyStd, d.Causes[0].ID)
	c, d = fell(0.7).judge()
	assert.Equal(t, yes, c.feature(X3).Value, c.feature(X3).Text)
	assert.Equal(t, LearnerExplosion, d.Causes[0].ID)
}

// TestModelChangeNeedsPhysics: a change of the model says nothing of a root outside the
// physics while that is recorded and fine.
func TestModelChangeNeedsPhysics(t *testing.T) {
	change := func(r *loopRun, field string) *loopRun {
		return r.event(dump.Event{Tick: r.fields[field].ticks[54], Kind: dump.EventDR, Name: "body_mass", Count: 48})
	}
	c, _ := change(newRun(60).set("normalizer.var", 55, 0, 2, inf), "normalizer.var").judge()
	assert.Equal(t, unknown, c.feature(X1).Value, c.feature(X1).Text)
	r := newRun(60).set("qvel", 55*decimation, 0, 1, nan)
	c, _ = change(r, "done").judge()
	assert.Equal(t, "recent", c.feature(X1).Value, c.feature(X1).Text)
}

// TestResetOfOne: what becomes non-finite in many envs at once was not left by the
// reset of one of them.
func TestResetOfOne(t *testing.T) {
	bad := func(rows int) *loopRun {
		r := newRun(60)
		at := 50 * decimation
		for row := range rows {
			r.set("qacc", at, row, -1, nan).set("qvel", at, row, -1, nan)
		}
		return r.event(dump.Event{Tick: r.fields["done"].ticks[49], Kind: dump.EventReset, Envs: []int{7}})
	}
	c, _ := bad(1).judge()
	assert.Equal(t, yes, c.feature(X5).Value, c.feature(X5).Text)
	c, _ = bad(5).judge()
	assert.NotEqual(t, yes, c.feature(X5).Value, c.feature(X5).Text)
}

// TestStepsBeforeTheRecord: what was changed long before the first step that is
// recorded is not near.
func TestStepsBeforeTheRecord(t *testing.T) {
	r := newRun(60)
	c, _ := r.judge()
	want := c.stepsBefore(r.fields["done"].ticks[50], 3)
	for _, name := range []string{"done", "reward", "reward.upright", "reward.reach", "obs.policy", "normalizer.mean", "normalizer.var", "obs.policy.normalized", "policy.mean", "policy.std", "action", "log_prob", "value"} {
		f := r.fields[name]
		n := len(f.v) - 9
		f.v, f.ticks, f.counts = f.v[n:], f.ticks[n:], f.counts[n:]
	}
	c, _ = r.judge()
	t50 := r.fields["done"].ticks[0] - int64(decimation+2) // step 50, which is not recorded
	assert.InDelta(t, want, c.stepsBefore(t50, 3), 4)
	assert.Equal(t, int64(-1), c.stepsBefore(3, 100))
}

// TestStoredInHalf: weights that stand still in a dump whose physics is in half
// precision too stand still for the storing alone.
func TestStoredInHalf(t *testing.T) {
	still := func(all bool) *loopRun {
		r := newRun(200)
		f := r.fields["param.actor"]
		for i := range f.v {
			for col := range f.v[i][0] {
				f.v[i][0][col] = 0.25 + 0.0625*float64(col)
			}
		}
		for i := range r.man.Fields {
			s := &r.man.Fields[i]
			if all || s.Name == "param.actor" {
				s.DType = "float16"
			}
		}
		return r
	}
	c, _ := still(false).judge()
	assert.Equal(t, yes, c.feature(X21).Value, c.feature(X21).Text)
	c, _ = still(true).judge()
	assert.NotEqual(t, yes, c.feature(X21).Value, c.feature(X21).Text)
}

// TestFewPeers: a parameter apart from those of two envs says half of one apart from
// those of many.
func TestFewPeers(t *testing.T) {
	run := func(rows int) Feature {
		r := newRun(60)
		r.addEnvs("model.stiffness", dump.StageModel, "float32", func(_, row int) float64 {
			if row == 0 {
				return 5e7
			}
			return 10 + hash(row)
		}).set("qacc", 50*decimation, 0, -1, nan)
		for row := rows; row < 5; row++ {
			r.set("qacc", 50*decimation, row, -1, nan) // did not stay well
		}
		c, _ := r.judge()
		return *c.feature(X28)
	}
	many, few := run(5), run(3)
	assert.Equal(t, apart, many.Value, many.Text)
	assert.False(t, many.Half)
	assert.Equal(t, apart, few.Value, few.Text)
	assert.True(t, few.Half)
}

// TestContactUntold: states alone, undivided for want of the model, run away alike for
// contacts and for a model that cannot be borne.
func TestContactUntold(t *testing.T) {
	run := func() *loopRun {
		var vel [][2]float64
		for i := range 40 {
			vel = append(vel, [2]float64{3 * hash(i, 1), 4 * hash(i, 2)})
		}
		return guardDump(append(vel, [2]float64{8, 30}, [2]float64{50, 1100}, [2]float64{900, 4.1e4}), 6, []int{6}, 4096)
	}
	r := run()
	r.states.Parts = nil
	_, d := r.judge()
	assert.Equal(t, ContactDivergence, d.Causes[0].ID)
	assert.Equal(t, UnknownCause, d.Verdict)
	assert.True(t, says(&d, ContactDivergence, BadModel, ".mjb"), d.Next)
	_, d = run().judge()
	assert.Equal(t, ContactDivergence, d.Verdict, "out of ordinary speeds, which the parts of the state show")
}

// TestWordsAlone: where nothing but an exception says that anything is wrong, no cause
// has earned a verdict, unless it is about a machine or a buffer.
func TestWordsAlone(t *testing.T) {
	said := func(words string) Diagnosis {
		r := newRun(60).drop("grad_norm", "param.actor", "param.std", "loss.total", "policy.mean", "nefc", "qacc", "qvel", "qpos", "sensordata", "ctrl")
		r.man.Run.Exception = words
		_, d := r.judge()
		return d
	}
	d := said("ValueError: Expected parameter loc to satisfy the constraint Real(), but found invalid values: nan")
	assert.Equal(t, UnknownCause, d.Verdict, d.Causes[0].ID)
	d = said("RuntimeError: CUDA error: no kernel image is available for execution on the device")
	assert.Equal(t, Backend, d.Causes[0].ID)
}

// TestNoGradientNoDerivative: a loss that is NaN at once without any gradient recorded
// is no proof of a derivative that has no value.
func TestNoGradientNoDerivative(t *testing.T) {
	_, d := newRun(60).drop("grad_norm", "param.actor", "param.std").set("loss.total", -1, 0, 0, nan).judge()
	assert.NotEqual(t, AutodiffSingular, d.Verdict)
}

// TestStillFull: counts over their limit in every record of a short dump go on with the
// full buffer that was reported before; without such a report, or within the limit,
// they are too few to tell. A report alone is a doubt.
func TestStillFull(t *testing.T) {
	run := func(nefc float64, reported bool) (*Case, Diagnosis) {
		r := newRun(60).all("nefc", 0, nefc)
		if reported {
			r.event(dump.Event{Tick: r.fields["nefc"].ticks[40], Kind: dump.EventCapacity, Name: "njmax"})
		}
		for _, f := range r.fields {
			if n := len(f.v) - 10; f.spec.Clock == dump.ClockSubstep {
				f.v, f.ticks, f.counts = f.v[n:], f.ticks[n:], f.counts[n:]
			}
		}
		return r.judge()
	}
	c, d := run(350, true)
	assert.Equal(t, yes, c.feature(X12).Value, c.feature(X12).Text)
	assert.Equal(t, ContactCapacity, d.Verdict)
	_, d = run(350, false)
	assert.Equal(t, Clean, d.Verdict)
	_, d = run(100, true)
	assert.Equal(t, Clean, d.Verdict)

	r := newRun(60).drop("nefc")
	_, d = r.event(dump.Event{Tick: r.fields["reward"].ticks[20], Kind: dump.EventCapacity, Name: "njmax"}).judge()
	assert.Equal(t, Clean, d.Verdict)
	assert.Contains(t, strings.Join(d.Warnings, "\n"), "contacts may have been dropped")
}

// TestLossBeyondUse: a loss whose error no float32 can be added to is wrong, however
// long it has been so; one that is large is not.
func TestLossBeyondUse(t *testing.T) {
	_, d := newRun(60).all("loss.total", 0, 1e36).judge()
	assert.Equal(t, LearnerExplosion, d.Verdict)
	_, d = newRun(60).all("loss.total", 0, 1e15).judge()
	assert.Equal(t, Clean, d.Verdict)
}

// TestFillerOrReset: without the physics, an observation that is NaN exactly where an
// episode was over may be filler, or what the reset left.
func TestFillerOrReset(t *testing.T) {
	bad := func() *loopRun {
		r := newRun(60)
		for _, row := range []int{1, 3} {
			r.set("done", 50, row, 0, 1).set("obs.policy", 50, row, 2, nan)
		}
		return r
	}
	c, d := bad().drop(physicsFields...).judge()
	assert.Equal(t, yes, c.feature(X18).Value, c.feature(X18).Text)
	assert.Equal(t, UnknownCause, d.Verdict)
	assert.True(t, says(&d, PaddingRows, BadReset, "right after the reset"), d.Next)
	_, d = bad().judge()
	assert.Equal(t, PaddingRows, d.Causes[0].ID, "the state is recorded and fine")
}

// TestResetOrContact: a runaway in the first record after a reset may be the reset's or
// a contact's; without any contact it is not the latter's.
func TestResetOrContact(t *testing.T) {
	wild := func(nefc float64) *loopRun {
		r := newRun(60)
		k := 4 * 55
		r.event(dump.Event{Tick: r.fields["qvel"].ticks[k] - 1, Kind: dump.EventReset, Envs: []int{7}})
		r.set("qvel", k, 0, -1, 2e4, 4e6, 7e9, 2e13).set("qacc", k+4, 0, -1, nan)
		for i := range 8 {
			r.set("nefc", k-2+i, 0, 0, nefc)
		}
		return r
	}
	c, d := wild(3).judge()
	assert.Equal(t, "wild", c.feature(X5).Value, c.feature(X5).Text)
	assert.Equal(t, no, c.feature(X2).Value, c.feature(X2).Text)
	assert.NotEqual(t, BadReset, d.Verdict)
	assert.Len(t, c.undecided(), 1)

	c, _ = wild(0).judge()
	assert.Equal(t, "wild", c.feature(X5).Value, c.feature(X5).Text)
	assert.Empty(t, c.undecided(), c.feature(X2).Text)
}
