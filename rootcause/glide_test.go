package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lower moves every std of the last n steps down to an end, by a law of the steps
// that are left.
func (r *loopRun) lower(n int, law func(left int) float64) *loopRun {
	f := r.fields["policy.std"]
	for k := range n {
		i := len(f.v) - n + k
		for row := range f.v[i] {
			r.set("policy.std", i, row, -1, law(n-1-k))
		}
	}
	return r
}

// TestGlided: a std that a schedule takes below zero step by step; one that an
// update threw there did not glide.
func TestGlided(t *testing.T) {
	line := func(left int) float64 { return 0.01*float64(left) - 0.005 }
	c, d := newRun(60).drop("param.std", "loss.total", "grad_norm", "lr", "param.actor").lower(40, line).judge()
	assert.InDelta(t, 0.01, c.scheduled(), 1e-6)
	assert.Equal(t, PolicyStd, d.Verdict)
	assert.Contains(t, d.Next[0].Text+c.feature(F10).Text, "schedule")

	c, _ = newRun(60).lower(40, func(left int) float64 {
		if left == 0 {
			return -0.7
		}
		return 0.01*float64(left) + 0.3
	}).judge()
	assert.False(t, c.glided(c.root()), "the last move is far larger than the others")
	assert.Zero(t, c.scheduled())

	c, _ = newRun(60).lower(40, func(left int) float64 { return 0.08*float64((left+7)/8) - 0.05 }).judge()
	assert.Zero(t, c.scheduled(), "it moved with the updates only")
}

// TestStdByTrace: a std that blew up in an env that is not in the file.
func TestStdByTrace(t *testing.T) {
	run := func(peak float64) (*Case, Diagnosis) {
		r := newRun(60).drop("param.std").set("loss.total", -1, 0, 0, inf)
		r.traced("policy.std")
		tr := r.traces["policy.std"]
		for j := range tr.Min {
			tr.Min[j] = 0.7
		}
		for j := len(tr.Ticks) - 5; j < len(tr.Ticks)-2; j++ {
			tr.AbsMax[j], tr.Max[j], tr.ArgMax[j] = peak, peak, 40
		}
		return r.judge()
	}
	c, d := run(900)
	require.True(t, c.root().is(std), "%+v", c.root())
	assert.Equal(t, yes, c.feature(F10).Value, c.feature(F10).Text)
	assert.Equal(t, PolicyStd, d.Causes[0].ID)

	c, d = run(1.2)
	assert.NotEqual(t, yes, c.feature(F10).Value, "it is of an ordinary size")
	assert.NotEqual(t, PolicyStd, d.Causes[0].ID)
}
