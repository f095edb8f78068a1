package rootcause

import (
	"fmt"
	"math"

	"github.com/nanguard/nanguard/dump"
)

// The bounds of a discount above one: what it may be, how alike it must be in all
// samples, how large a value must be to tell it, how many samples, and by how much the
// targets grow over the file.
const (
	discountFrom   = 1.002
	discountTo     = 1.2
	discountAlike  = 1e-3
	discountValue  = 1e-2
	discountLeast  = 1000
	discountGrowth = 3.0
)

// expanding finds targets of a critic that are the reward plus more than the whole value
// of what comes next: with a discount above one the values have no fixed point, and
// grow with every update of the target network.
func (c *Case) expanding() (Feature, bool) {
	next, paid, over := c.batchOf(value, "next"), c.batchOf(reward, "batch"), c.batchOf(done, "batch")
	target := c.batchOf(value, "target", "targets")
	for _, f := range []*field{next, paid, over, target} {
		if f.len() == 0 || f.len() != target.len() || f.to-f.from != target.to-target.from || f.to-f.from < batchWidth || lowType(f.DType) {
			return Feature{}, false
		}
	}
	n, least, most := 0, math.Inf(1), 0.0
	for i := range target.len() {
		if t := target.frames.Ticks[i]; next.frames.Ticks[i] != t || paid.frames.Ticks[i] != t || over.frames.Ticks[i] != t {
			return Feature{}, false
		}
		for col := range target.to - target.from {
			v := next.at(i, 0, col)
			if over.at(i, 0, col) != 0 || math.Abs(v) < discountValue {
				continue
			}
			g := (target.at(i, 0, col) - paid.at(i, 0, col)) / v
			if n, least, most = n+1, math.Min(least, g), math.Max(most, g); !(least > discountFrom && most < discountTo) {
				return Feature{}, false
			}
		}
	}
	was, is := target.middle(0, target.len()/4), target.middle(target.len()-target.len()/4, target.len())
	if n < discountLeast || most-least > discountAlike || !(is > discountGrowth*was) {
		return Feature{}, false
	}
	out := found(ascends, fmt.Sprintf("%s is %s plus %s times %s in all of %d samples: with a discount above 1 the values have no fixed point, and those here grew %s",
		target.Name, paid.Name, num(least), next.Name, n, times(is/was)))
	out.Measured, out.Baseline = least, 1
	return out.in(target, -1, 0, target.frames.Ticks[0]), true
}

// batchOf returns the only field of a kind that is a batch of samples and has one of
// some words in its name, nil without one.
func (c *Case) batchOf(k kind, words ...string) *field {
	var only *field
	for _, f := range c.fields {
		if f.kind != k || f.PerEnv || f.Clock != dump.ClockMinibatch || !hasToken(f.Name, words...) {
			continue
		}
		if only != nil {
			return nil
		}
		only = f
	}
	return only
}

// middle returns the median size in the frames [lo, hi) of a field with one row.
func (f *field) middle(lo, hi int) float64 {
	var v []float64
	for i := lo; i < hi; i++ {
		for col := range f.to - f.from {
			v = append(v, math.Abs(f.at(i, 0, col)))
		}
	}
	return median(v)
}

// The bounds of steps that no learning rate explains. An Adam step is about the learning
// rate and never above adamMost of it; how often it must have kept to that before, how
// far above it goes then, and for how many updates.
const (
	adamMost   = 3.2 // (1-beta1)/sqrt(1-beta2) for the usual betas
	adamOver   = 10.0
	adamBefore = 4
	adamAfter  = 2
	klOver     = 1.0 // nats of one update, which is a hundred times the usual
)

// overstepped finds weights that moved in every update by what the learning rate allows
// Adam, and then by more than ten times that, in several updates in a row, while the
// policy left the old one by more than a nat: the state of the optimizer is not the one
// that belongs to its steps. Weights that are replaced, as by a load, leap once.
func (c *Case) overstepped() (Feature, bool) {
	rate, kl := c.first(lr), c.divergence()
	if rate.len() == 0 || kl.len() == 0 || rate.Clock != dump.ClockMinibatch || len(rate.frames.Counts) != rate.len() {
		return Feature{}, false
	}
	for _, f := range c.fields {
		if !isWeight(f.kind, f.Stage) || f.to-f.from < manyColumns || f.Clock != dump.ClockUpdate || keptFixed(f.Name) {
			continue
		}
		if out, ok := c.oversteps(f, rate, kl); ok {
			return out, true
		}
	}
	return Feature{}, false
}

// manyColumns is how many weights must be recorded for their median to tell of a layer.
const manyColumns = 8

// oversteps judges the weights of one layer.
func (c *Case) oversteps(f, rate, kl *field) (Feature, bool) {
	before, usual, over, at, peak := 0, 0.0, 0, 0, 0.0
	for i := 1; i < f.len(); i++ {
		bound := rate.budget(f.frames.Ticks[i-1], f.frames.Ticks[i])
		if bound == 0 {
			continue
		}
		switch d := f.stride(i) / bound; {
		case over == 0 && d <= adamMost:
			before, usual = before+1, math.Max(usual, d)
		case before < adamBefore || !(d > adamOver) || !(d > adamOver*usual):
			return Feature{}, false
		default:
			if over == 0 {
				at, peak = i, d
			}
			over++
		}
		if over == adamAfter {
			break
		}
	}
	if over < adamAfter || !(kl.peak(f.frames.Ticks[at-1], f.frames.Ticks[at]) > klOver) {
		return Feature{}, false
	}
	out := found(ascends, fmt.Sprintf("half of the weights of %s moved by more than %s the learning rate times the minibatches in the update before tick %d%s, and by at most %s before: the moments of the optimizer are not those that belong to it",
		f.Name, times(peak), f.frames.Ticks[at], c.loadedNear(f.frames.Ticks[at-1], f.frames.Ticks[at]), times(usual)))
	out.Measured, out.Baseline = peak, adamMost
	return out.in(f, -1, 0, f.frames.Ticks[at]), true
}

// divergence returns the recorded KL from the old policy, nil without one.
func (c *Case) divergence() *field {
	for _, f := range c.fields {
		if hasToken(f.Name, "kl") && !f.PerEnv && f.to-f.from == 1 && !hasToken(f.Name, "target", "desired", "coef", "loss") {
			return f
		}
	}
	return nil
}

// budget returns the largest learning rate after one tick and up to another times the
// minibatches between them, 0 where the file does not hold them.
func (f *field) budget(from, to int64) float64 {
	lo, hi := f.upTo(from), f.upTo(to)
	if lo < 0 || hi <= lo {
		return 0
	}
	most := 0.0
	for i := lo + 1; i <= hi; i++ {
		most = math.Max(most, math.Abs(f.at(i, 0, 0)))
	}
	return most * float64(f.frames.Counts[hi]-f.frames.Counts[lo])
}

// stride returns the median move of the columns of a field with one row up to a frame.
func (f *field) stride(i int) float64 {
	v := make([]float64, f.to-f.from)
	for col := range v {
		v[col] = math.Abs(f.at(i, 0, col) - f.at(i-1, 0, col))
	}
	return median(v)
}

// peak returns the largest size of a field with one row after one tick and up to another.
func (f *field) peak(from, to int64) float64 {
	most := 0.0
	for i := f.upTo(from) + 1; i <= f.upTo(to); i++ {
		most = math.Max(most, f.cell(i, 0).max)
	}
	return most
}

// loadedNear names a checkpoint that was loaded between two ticks.
func (c *Case) loadedNear(from, to int64) string {
	for _, e := range c.man.Events {
		if e.Kind == dump.EventCheckpointLoaded && e.Tick >= from && e.Tick <= to {
			return fmt.Sprintf(" (checkpoint %s was loaded at tick %d)", e.Name, e.Tick)
		}
	}
	return ""
}
