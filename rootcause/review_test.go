package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/mjb"
)

// What a reader of reports found wrong in them, each as a test for its kind.

// TestARunawayThatDipsIsOneRun: what swings out of control passes through small
// values; it began where it first left the healthy range, not after the dip.
func TestARunawayThatDipsIsOneRun(t *testing.T) {
	r := newRun(30)
	r.set("qvel", -9, 0, 2, 1470)
	r.set("qvel", -9, 0, 1, 90, 60, 45, 900, 3e4, 8e5, 4e7, 6e9, nan)
	_, d := r.judge()
	require.NotNil(t, d.Root)
	assert.Equal(t, 2, d.Root.Col, "%+v", d.Root)
	assert.Equal(t, growing, d.Root.Class)
}

// TestEnvsNamedBadAreNeverClean: a dump without a trip whose metadata names bad
// envs is that of a crash, whatever else can be read of it.
func TestEnvsNamedBadAreNeverClean(t *testing.T) {
	r := newRun(30)
	_, d := r.judge()
	require.Equal(t, Clean, d.Verdict)
	r = newRun(30)
	r.meta = map[string]any{"nan_env_ids": []any{int64(3)}}
	_, d = r.judge()
	assert.Equal(t, UnknownCause, d.Verdict)
}

// TestMotorsHaveNoGains: a motor's kp of zero says nothing about what it does.
func TestMotorsHaveNoGains(t *testing.T) {
	r := runaway(newRun(30), 0)
	r.model = &mjb.Model{
		NV: 3, NJnt: 1, Opt: mjb.Options{Timestep: 0.005}, DofInvW0: []float64{1, 1, 1}, DofArmature: make([]float64, 3), DofDamping: make([]float64, 3),
		Joints:    []mjb.Joint{{Name: "knee", Type: mjb.HingeJoint, DofAdr: 0}},
		Actuators: []mjb.Actuator{{Name: "motor", GainPrm0: 1, Gear: 1, Joint: 0}},
	}
	c, _ := r.judge()
	status, text := checkGains(c)
	assert.Equal(t, Unknown, status, text)
	assert.NotContains(t, text, "kp 0")
}

// TestOnlyTheMessageOfAnException: a traceback belongs into the file, not into
// the evidence.
func TestOnlyTheMessageOfAnException(t *testing.T) {
	r := newRun(30)
	r.man.Run.Exception = "RuntimeError: boom\nTraceback (most recent call last):\n  File \"x.py\""
	r.event(dump.Event{Kind: dump.EventNote, Detail: "RuntimeError: boom\nat x.py"})
	c, _ := r.judge()
	assert.Equal(t, []string{"RuntimeError: boom"}, c.complaints())
}

func TestIterationsAreRaisedByHalf(t *testing.T) {
	assert.Equal(t, 15, raised(4))
	assert.Equal(t, 15, raised(10))
	assert.Equal(t, 60, raised(40))
}

// TestNextNeverActsOnTheUnknown: a row of the table that nothing was recorded for
// is no advice, and the believed cause's own fix comes first.
func TestNextNeverActsOnTheUnknown(t *testing.T) {
	for _, r := range []*loopRun{
		runaway(newRun(30), 0),
		runaway(newRun(30), 0).drop("action", "solver_niter", "policy.std", "reward.upright", "reward.reach"),
		guardDump([][2]float64{{1, 1}, {2, 30}, {50, 1100}, {900, 4.1e4}}, 6, []int{6}, 64),
	} {
		_, d := r.judge()
		require.NotEmpty(t, d.Next)
		assert.LessOrEqual(t, len(d.Next), maxNext)
		for _, a := range d.Next {
			if a.Row > 0 {
				assert.Equal(t, Implicated, d.Checklist[a.Row-1].Status, a.Text)
			}
		}
	}
}

// TestNothingButNaNNamesNoCause: where the very first frame is bad, nobody saw
// what made it so.
func TestNothingButNaNNamesNoCause(t *testing.T) {
	nothing := make([][2]float64, 6)
	for i := range nothing {
		nothing[i] = [2]float64{nan, nan}
	}
	_, d := guardDump(nothing, 3, []int{3}, 8).judge()
	assert.Equal(t, UnknownCause, d.Verdict)
}
