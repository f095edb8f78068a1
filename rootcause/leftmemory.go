package rootcause

import (
	"fmt"
	"math"
)

// The bounds of a memory that outlives resets: over how many resets of how many envs, how
// much of itself it may change by in each, how large that is against its usual change, and
// by how many times its usual change the observation leaps meanwhile.
const (
	keptOver   = 12
	keptEnvs   = 3
	keptChange = 0.5
	keptUsual  = 3.0
	keptLeap   = 3.0
)

// memoryTokens are in the names of the state of a recurrent policy.
var memoryTokens = []string{"hidden", "rnn", "lstm", "gru", "memory", "recurrent"}

// keptMemory finds the state of a recurrent policy that goes on over the resets of its env
// as over any other step, while the observation leaps: it is not cleared, and the episode
// begins with what the last one left. Where it is cleared, it falls to what one step makes
// of nothing.
func (c *Case) keptMemory() (Feature, bool) {
	o := c.first(obs)
	if !o.sampled() || c.keepsOnPurpose() {
		return Feature{}, false
	}
	for _, f := range c.fields {
		if hasToken(f.Name, memoryTokens...) && f.sampled() && !about(f.Name, "param", "grad", "loss", "meta", "rl2") && f.to-f.from >= 4 {
			if out, ok := c.memoryOutlives(f, o); ok {
				return out, true
			}
		}
	}
	return Feature{}, false
}

// sampled reports whether a field has enough records of several envs.
func (f *field) sampled() bool { return f.len() >= 40 && f.PerEnv && f.rows >= keptEnvs }

// memoryOutlives is keptMemory for one field.
func (c *Case) memoryOutlives(f, o *field) (Feature, bool) {
	var usual, over, steps, leaps []float64
	envs, first := 0, -1
	for row := range f.rows {
		before, r := len(over), o.row(f.env(row))
		if r < 0 {
			return Feature{}, false
		}
		for i := 1; i < f.len(); i++ {
			size, d := f.length(i-1, row), f.shift(i-1, i, row)
			k := o.upTo(f.frames.Ticks[i])
			if k < 1 || !finite(d) || size == 0 {
				return Feature{}, false
			}
			switch cut := cutBetween(c.resets[f.env(row)], f.frames.Ticks[i-1], f.frames.Ticks[i]); {
			case !cut:
				usual, steps = append(usual, d/size), append(steps, o.shift(k-1, k, r))
			case i < f.len()/4:
			case !(d < keptChange*size) || f.clearedLater(i-1, row, keptChange*size):
				return Feature{}, false // cleared, or soon forgotten anyway
			default:
				over, leaps = append(over, d/size), append(leaps, o.shift(k-1, k, r))
				if first < 0 {
					first = i
				}
			}
		}
		if len(over) > before {
			envs++
		}
	}
	if len(over) < keptOver || envs < keptEnvs || len(usual) == 0 || !(median(over) < keptUsual*median(usual)) || !(median(over) < keptChange/2) || !(median(leaps) > keptLeap*median(steps)) {
		return Feature{}, false
	}
	out := found(atReset, fmt.Sprintf("%s changes by %.0f %% of itself over a reset, as in any step (%.0f %%), in all of %d resets of %d envs, although %s leaps: it is not cleared, and an episode begins with what the last one left",
		f.Name, 100*median(over), 100*median(usual), len(over), envs, o.Name))
	out.Measured, out.Baseline = median(over), median(usual)
	return out.in(f, -1, 0, f.frames.Ticks[first]), true
}

// clearedLate is in how many records after a reset a memory may still be that of before: some
// loops clear it only in the next forward pass, after they recorded it.
const clearedLate = 3

// clearedLater reports whether a memory has gone far from what it was in a record soon after.
func (f *field) clearedLater(i, row int, far float64) bool {
	for k := i + 2; k < min(i+1+clearedLate, f.len()); k++ {
		if !(f.shift(i, k, row) < far) {
			return true
		}
	}
	return false
}

// keepsOnPurpose reports whether the run says that it learns over episodes.
func (c *Case) keepsOnPurpose() bool {
	for name := range c.man.Facts {
		if hasToken(name, "rl2", "meta", "trial", "trials", "carry", "lifelong") {
			return true
		}
	}
	return false
}

// length returns the Euclidean length of a row of a frame.
func (f *field) length(i, row int) float64 {
	sum := 0.0
	for col := range f.to - f.from {
		sum += f.at(i, row, col) * f.at(i, row, col)
	}
	return math.Sqrt(sum)
}
