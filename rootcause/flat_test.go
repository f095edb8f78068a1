package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// counted adds a number of samples beside each loss.
func (r *loopRun) counted(name string, n float64, last float64) *loopRun {
	f := r.fields["loss.total"]
	end := len(f.v) - 1
	return r.add(name, dump.StageLoss, []string{""}, func(i, _ int) float64 {
		if i == end {
			return last
		}
		return n
	})
}

// TestSingleSample: a loss that is NaN in the one minibatch of a single sample is
// divided by its standard deviation; in one as large as the others, or where such a
// minibatch went well before, it is not that.
func TestSingleSample(t *testing.T) {
	run := func() *loopRun {
		return newRun(60).set("loss.total", -1, 0, 0, nan).set("grad_norm", -1, 0, 0, nan)
	}
	c, d := run().counted("loss.batch_size", 64, 1).judge()
	assert.Equal(t, "flat", c.feature(X23).Value, c.feature(X23).Text)
	assert.Equal(t, MathDomain, d.Verdict)

	c, _ = run().counted("loss.batch_size", 64, 64).judge()
	assert.NotEqual(t, "flat", c.feature(X23).Value, "it is as large as the others")
	c, _ = run().counted("loss.batch_size", 1, 1).judge()
	assert.NotEqual(t, "flat", c.feature(X23).Value, "one sample did well before")
	c, _ = run().counted("loss.epoch", 64, 1).judge()
	assert.NotEqual(t, "flat", c.feature(X23).Value, "it counts no samples")
}

// advantage adds an advantage that is NaN in all envs in its last record.
func (r *loopRun) advantage(bad bool) *loopRun {
	f := r.fields["loss.total"]
	spec := dump.FieldSpec{Name: "advantage", Stage: dump.StageValue, Clock: dump.ClockUpdate, Order: 70, DType: "float32", PerEnv: true}
	a := &loopField{spec: spec}
	for i := 0; i < len(f.v); i += 2 {
		frame := make([][]float64, len(r.man.EnvIDs))
		for row := range frame {
			frame[row] = []float64{hash(i, row)}
			if bad && i+2 >= len(f.v) {
				frame[row][0] = nan
			}
		}
		a.ticks, a.counts, a.v = append(a.ticks, f.ticks[i]), append(a.counts, int64(i/2+1)), append(a.v, frame)
	}
	r.fields["advantage"] = a
	r.man.Fields = append(r.man.Fields, spec)
	return r
}

// TestSameEverywhere: an advantage that is NaN in all envs over rewards and values
// that do not differ at all is divided by a spread of zero.
func TestSameEverywhere(t *testing.T) {
	run := func() *loopRun {
		return newRun(56).drop("reward.upright", "reward.reach").advantage(true).set("loss.total", -2, 0, 0, nan, nan)
	}
	c, d := run().all("reward", 40, 0).all("value", 40, 0).judge()
	assert.Equal(t, "flat", c.feature(X23).Value, c.feature(X23).Text)
	assert.Equal(t, MathDomain, d.Causes[0].ID)

	c, _ = run().all("reward", 40, 0).all("value", 40, 0).set("reward", 50, 2, 0, 1).judge()
	assert.NotEqual(t, "flat", c.feature(X23).Value, "one reward differs")
	c, _ = run().all("reward", 40, 0).judge()
	assert.NotEqual(t, "flat", c.feature(X23).Value, "the values differ")
}
