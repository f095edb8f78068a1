package rootcause

import (
	"fmt"
	"math"
	"slices"

	"github.com/nanguard/nanguard/dump"
)

// The bounds of steps of the optimizer that are skipped: how many minibatches at the
// end of the file it must last, how much of them a count must rise by, and how
// often the parameters must have moved before.
const (
	haltedFor  = 20
	skipShare  = 0.5
	movedShare = 0.9
	movedLeast = 5
)

// halted is the value of X24 for a gradient that became zero.
const halted = "halted"

// skipWords are in the names of counts of steps that a loop or a gradient scaler
// threw away.
var skipWords = []string{"skip", "found_inf", "nonfinite", "non_finite", "nan_steps", "nan_grads", "nan_count", "bad_steps", "inf_steps", "overflow_steps"}

// spared are words for what is skipped on purpose: minibatches after an early stop,
// padding, frames of a camera.
var spared = []string{"kl", "early", "stop", "minibatch", "minibatches", "epoch", "epochs", "sample", "samples", "env", "envs", "frame", "frames", "rollout", "rollouts", "episode", "episodes", "eval"}

// movesWhere reports whether some weight moves in a record in which a count rises.
func (c *Case) movesWhere(count *field) bool {
	for _, f := range c.fields {
		if !isWeight(f.kind, f.Stage) {
			continue
		}
		for i := count.len() - haltedFor; i < count.len(); i++ {
			k := f.upTo(count.frames.Ticks[i])
			if k > 0 && f.frames.Ticks[k] > count.frames.Ticks[i-1] && count.at(i, 0, 0) > count.at(i-1, 0, 0) && !f.same(k-1, k) {
				return true
			}
		}
	}
	return false
}

// skipping finds a count of thrown away steps that rises in most minibatches up to
// the end. A gradient scaler throws away a few at the start and one now and then.
func (c *Case) skipping() (Feature, bool) {
	for _, f := range c.fields {
		if f.Clock != dump.ClockMinibatch && f.Clock != dump.ClockUpdate || f.PerEnv || f.to-f.from != 1 || !about(f.Name, skipWords...) || hasToken(f.Name, spared...) {
			continue
		}
		n := f.len()
		if n <= haltedFor {
			continue
		}
		rose, since, whole := 0, -1, true
		for i := 1; i < n; i++ {
			was, is := f.at(i-1, 0, 0), f.at(i, 0, 0)
			whole = whole && is >= was && is == math.Trunc(is)
			if is > was && i >= n-haltedFor {
				rose++
			}
			if is > was && since < 0 {
				since = i
			}
		}
		if !whole || float64(rose) < skipShare*haltedFor {
			continue
		}
		text := fmt.Sprintf("%s rose in %d of the last %d records, to %s: steps of the optimizer are thrown away and nothing else says so", f.Name, rose, haltedFor, num(f.at(n-1, 0, 0)))
		if lo, ok := c.haltedAt(); ok {
			text += fmt.Sprintf("; no parameter moves since tick %d", lo)
		} else if c.movesWhere(f) {
			continue
		}
		out := found("shown", text)
		out.Measured, out.Baseline = float64(rose), haltedFor
		return out.in(f, -1, 0, f.frames.Ticks[since]), true
	}
	return Feature{}, false
}

// cutOff finds parameters that moved, all of them, and that stand still to the bit
// up to the end while the losses change, the learning rate is not zero, and the
// gradient is exactly zero.
func (c *Case) cutOff() (Feature, bool) {
	g := c.first(grad)
	since, ok := c.haltedAt()
	if !ok || g.len() < haltedFor {
		return Feature{}, false
	}
	zeros := 0
	for i := g.len() - 1; i >= 0 && g.frames.Ticks[i] > since && g.cell(i, 0).max == 0 && g.cell(i, 0).bad == 0; i-- {
		zeros++
	}
	if zeros < haltedFor {
		return Feature{}, false
	}
	out := found(halted, fmt.Sprintf("%s is exactly zero in the last %d records and no parameter moves, although the loss changes and the learning rate is not zero: the gradient is cut off, zeroed or thrown away", g.Name, zeros))
	out.Measured, out.Baseline = float64(zeros), haltedFor
	return out.in(g, -1, 0, g.frames.Ticks[g.len()-zeros]), true
}

// haltedAt returns the tick of the last record in which any parameter moved, where
// all of them stand still from then on, in enough records and in more than one
// update, although the loss changes and the learning rate is not zero.
func (c *Case) haltedAt() (since int64, ok bool) {
	n, still := 0, math.MaxInt
	for _, f := range c.fields {
		if !isWeight(f.kind, f.Stage) || about(f.Name, skipWords...) {
			continue
		}
		lo := 0
		for col := range f.to - f.from {
			at := f.stillSince(col)
			if at < 0 {
				return 0, false
			}
			lo = max(lo, at)
		}
		if lo < movedLeast || f.len()-1-lo < haltedFor || !f.movedUntil(lo) {
			return 0, false
		}
		n += f.to - f.from
		since, still = max(since, f.frames.Ticks[lo]), min(still, f.len()-1-lo)
	}
	if n < 2 || !c.lossGoesOn(since) || !c.rateStays() {
		return 0, false
	}
	return since, true
}

// movedUntil reports whether a field changed in nearly every record up to frame lo.
func (f *field) movedUntil(lo int) bool {
	n := 0
	for i := 1; i <= lo; i++ {
		if !f.same(i-1, i) {
			n++
		}
	}
	return float64(n) >= movedShare*float64(lo)
}

// lossGoesOn reports whether some loss changes in nearly every record after a tick
// and is never zero.
func (c *Case) lossGoesOn(since int64) bool {
	return slices.ContainsFunc(c.fields, func(f *field) bool {
		lo := f.upTo(since) + 1
		if f.kind != loss || f.PerEnv || f.len()-lo < haltedFor {
			return false
		}
		n := 0
		for i := max(lo, 1); i < f.len(); i++ {
			if f.cell(i, 0).max == 0 || f.cell(i, 0).bad > 0 {
				return false
			}
			if f.at(i, 0, 0) != f.at(i-1, 0, 0) {
				n++
			}
		}
		return float64(n) >= movedShare*float64(f.len()-lo-1)
	})
}

// rateStays reports whether a learning rate is recorded and is never next to zero.
func (c *Case) rateStays() bool {
	rate := c.first(lr)
	if rate.len() == 0 {
		return false
	}
	for i := range rate.len() {
		for col := range rate.to - rate.from {
			if !(rate.at(i, 0, col) >= liveRate) {
				return false
			}
		}
	}
	return true
}
