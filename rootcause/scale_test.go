package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestScaledOver: a gradient that is infinite at once in a run of float16 is the scale
// of the loss; one that grew, or in float32, is the learner.
func TestScaledOver(t *testing.T) {
	run := func(before ...float64) *loopRun {
		n := len(before)
		return newRun(60).set("grad_norm", -n-1, 0, 0, append(before, inf)...)
	}
	scaled := func(r *loopRun, scale float64) *loopRun {
		return r.add("loss.scale", dump.StageLoss, []string{""}, func(int, int) float64 { return scale })
	}
	c, d := scaled(run(), 65536).judge()
	assert.Equal(t, yes, c.feature(X21).Value, c.feature(X21).Text)
	assert.Equal(t, PrecisionLoss, d.Verdict)
	assert.Contains(t, d.Next[0].Text, "GradScaler")

	r := run()
	r.man.Facts["amp.enabled"], r.man.Facts["amp.dtype"] = true, "torch.float16"
	c, _ = r.judge()
	assert.Equal(t, yes, c.feature(X21).Value, c.feature(X21).Text)

	c, d = run().judge()
	assert.NotEqual(t, yes, c.feature(X21).Value, "nothing says that it is float16")
	assert.Equal(t, LearnerExplosion, d.Causes[0].ID)
	c, _ = scaled(run(3e5, 2e8), 65536).judge()
	assert.NotEqual(t, yes, c.feature(X21).Value, "it grew")
	c, _ = scaled(run(), 0.35).judge()
	assert.NotEqual(t, yes, c.feature(X21).Value, "a weight of a loss is no scale")
	r = run()
	r.man.Facts["amp.enabled"], r.man.Facts["amp.dtype"] = true, "bfloat16"
	c, _ = r.judge()
	assert.NotEqual(t, yes, c.feature(X21).Value, "bfloat16 has the range of float32")
}

// TestFirstOptimizerStep: the optimizer's arithmetic shows in its very first step too.
func TestFirstOptimizerStep(t *testing.T) {
	run := func(before int) (*Case, Diagnosis) {
		r := newRun(9).set("param.actor", 0, 0, 1, nan, nan)
		for _, name := range []string{"loss.total", "grad_norm", "lr", "param.actor", "param.std"} {
			for i := range r.fields[name].counts {
				r.fields[name].counts[i] = int64(before + i + 1)
			}
		}
		return r.judge()
	}
	c, d := run(0)
	assert.Equal(t, "optimizer", c.feature(X23).Value, c.feature(X23).Text)
	assert.Equal(t, MathDomain, d.Causes[0].ID)
	c, _ = run(30)
	assert.NotEqual(t, "optimizer", c.feature(X23).Value, "it may have been NaN for long")
}

// TestHalfNaN: a gradient that is NaN in float16 may be the scale of the loss or a
// derivative without a value: no verdict; in float32 it is the derivative.
func TestHalfNaN(t *testing.T) {
	run := func(dtype string) (*Case, Diagnosis) {
		r := newRun(60).set("grad_norm", -1, 0, 0, nan)
		r.man.Facts["amp.enabled"], r.man.Facts["amp.dtype"] = true, dtype
		return r.judge()
	}
	c, d := run("float16")
	assert.Equal(t, "half", c.feature(X21).Value, c.feature(X21).Text)
	assert.Equal(t, UnknownCause, d.Verdict)
	top := []string{d.Causes[0].ID, d.Causes[1].ID}
	assert.ElementsMatch(t, []string{PrecisionLoss, AutodiffSingular}, top)
	c, d = run("bfloat16")
	assert.NotEqual(t, "half", c.feature(X21).Value)
	assert.Equal(t, AutodiffSingular, d.Verdict)
}
