package rootcause

import (
	"fmt"

	"github.com/nanguard/nanguard/dump"
)

// The bounds of F7: learner iterations, and observations in the normalizer.
const (
	earlyUpdates = 10
	earlyCount   = 1e4
)

// early is F7: in the first learner iterations, or with a normalizer that has
// seen little.
func (c *Case) early() Feature {
	if n, ok := c.updates(); ok {
		return below(n, earlyUpdates, fmt.Sprintf("it happened in learner iteration %s", num(n)))
	}
	if n, ok := c.normalizerCount(); ok {
		return below(n, earlyCount, fmt.Sprintf("the normalizer had seen %s observations", num(n)))
	}
	return unmeasured("the learner's iteration")
}

// below returns a feature that is yes when a number is below a bound.
func below(n, bound float64, text string) Feature {
	f := found(no, text)
	if n < bound {
		f.Value = yes
	}
	f.Measured, f.Baseline = n, bound
	return f
}

// updates returns how many learner iterations were done.
func (c *Case) updates() (float64, bool) {
	if n, ok := c.man.Clocks[dump.ClockUpdate]; ok {
		return float64(n), true
	}
	if n, ok := c.fact("iteration"); ok {
		return n, true
	}
	// A run with a policy and few steps has not had ten updates yet.
	if n, ok := c.man.Clocks[dump.ClockStep]; ok && n < earlyUpdates && c.first(mean, std, action) != nil {
		return 0, true
	}
	return 0, false
}

// normalizerCount returns how many observations the normalizer has seen.
func (c *Case) normalizerCount() (float64, bool) {
	if n, ok := c.fact("normalizer.count"); ok {
		return n, true
	}
	if f := c.byName["normalizer.count"]; f.len() > 0 {
		return f.cell(f.len()-1, 0).max, true
	}
	return 0, false
}
