package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// overflowing is a healthy run whose simulator flags an overflow in some of its
// last substeps.
func overflowing(last int) *loopRun {
	return newRun(60).add("solver_overflow", dump.StageSolver, []string{"flags"}, func(int, int) float64 { return 0 }).tail("solver_overflow", last, 8)
}

// tail sets the last frames of a field of the whole run.
func (r *loopRun) tail(name string, n int, v float64) *loopRun {
	f := r.fields[name]
	for i := len(f.v) - n; i < len(f.v); i++ {
		for row := range f.v[i] {
			for col := range f.v[i][row] {
				f.v[i][row][col] = v
			}
		}
	}
	return r
}

// TestOverflowFlags: what the simulator says that it dropped is wrong even where
// every value is finite; flags that are never set say nothing.
func TestOverflowFlags(t *testing.T) {
	c, d := overflowing(1).judge()
	assert.Equal(t, yes, c.feature(X12).Value, c.feature(X12).Text)
	assert.Equal(t, ContactCapacity, d.Verdict)
	_, d = overflowing(0).judge()
	assert.Equal(t, Clean, d.Verdict)
	c, d = runaway(overflowing(1), 0).judge()
	assert.NotEqual(t, yes, c.feature(X12).Value, "a symptom of what ran away")
	assert.Equal(t, ContactDivergence, d.Verdict)
}
