package rootcause

import (
	"fmt"
	"math"
	"slices"

	"github.com/nanguard/nanguard/tensor"
)

// byZero is the value of X23 for a division by a number that is zero, or a logarithm
// of it.
const byZero = "zero"

// zeroDivision is the part of X23 for what is divided by zero, or is the logarithm of
// it: samples of a batch that are infinite where another field of it is zero, weights
// of samples that were never given a priority, and what is divided by a recorded
// variance of zero.
func (c *Case) zeroDivision(r *step) (Feature, bool) {
	if !nonFinite(r.class) || r.row < 0 || r.f.kind.isBody() {
		return Feature{}, false
	}
	for _, look := range []func(*step) (Feature, bool){c.zeroBeside, c.weightByZero, c.zeroVariance, c.underflown} {
		if f, ok := look(r); ok {
			return f, true
		}
	}
	return Feature{}, false
}

// zeroBeside finds another field of the batch that is zero in exactly the samples that
// became infinite. Flags are none: maskedSamples looks at these.
func (c *Case) zeroBeside(r *step) (Feature, bool) {
	n := r.f.to - r.f.from
	if r.class == "nan" || r.f.rows != 1 || !r.f.holdsSamples() || r.is(mean, obs, obsNorm) {
		return Feature{}, false
	}
	bad := r.f.badColumns(r.frame)
	if len(bad) == 0 || 4*len(bad) > n || !r.f.onlyInf(r.frame) {
		return Feature{}, false
	}
	for _, d := range c.fields {
		j := d.upTo(r.tick)
		if d == r.f || d.PerEnv || d.Clock != r.f.Clock || d.to-d.from != n || d.rows != 1 || j < 0 || d.frames.Ticks[j] != r.tick || d.pos >= r.f.pos || d.samples(j, true) != nil {
			continue
		}
		if zero := d.zeroColumns(j); slices.Equal(zero, bad) {
			out := found(byZero, fmt.Sprintf("%s is %s in %d of the %d samples of the batch, exactly those in which %s is zero: it is divided by that, or is its logarithm", r.name, words[r.class], len(bad), n, d.Name))
			return out.in(r.f, -1, max(r.col, 0), r.tick), true
		}
	}
	return Feature{}, false
}

// onlyInf reports whether all that is not finite in a frame of one row is infinite.
func (f *field) onlyInf(i int) bool {
	return !slices.ContainsFunc(f.badColumns(i), func(col int) bool { return math.IsNaN(f.at(i, 0, col)) })
}

// zeroColumns returns the columns of a frame of the whole run that are zero.
func (f *field) zeroColumns(i int) []int {
	var out []int
	for col := range f.to - f.from {
		if f.at(i, 0, col) == 0 {
			out = append(out, col)
		}
	}
	return out
}

// priorityWords are in the names of weights that undo a sampling by priorities, and
// expWords in those of weights that are an exponential, which may overflow.
var (
	priorityWords = []string{"weight", "priorit"}
	expWords      = []string{"adv", "awr", "awac", "exp", "ratio", "rho", "boltz", "softmax"}
)

// weightSpread is by how much the weights of samples may differ: an exponential that
// overflows differs by more.
const weightSpread = 1e6

// weightByZero finds a weight of a sample that is infinite beside ordinary ones, or NaN
// beside nothing but zeros, which is what dividing by an infinite largest one leaves.
func (c *Case) weightByZero(r *step) (Feature, bool) {
	n := r.f.to - r.f.from
	if !r.is(value, loss, other, monitor) || r.f.rows != 1 || r.f.PerEnv || n < batchWidth || !about(r.name, priorityWords...) || about(r.name, expWords...) {
		return Feature{}, false
	}
	bad := r.f.badColumns(r.frame)
	if 4*len(bad) > n {
		return Feature{}, false
	}
	least, most := math.Inf(1), 0.0
	for col := range n {
		if v := r.f.at(r.frame, 0, col); finite(v) {
			least, most = math.Min(least, v), math.Max(most, v)
		}
	}
	switch {
	case r.class == "posinf" && r.f.onlyInf(r.frame) && least > 0 && most < weightSpread*least:
		return found(byZero, fmt.Sprintf("%s is +Inf in %d of the %d samples of the batch, and between %s and %s in the others: a probability or priority of zero was divided by", r.name, len(bad), n, num(least), num(most))).in(r.f, -1, max(r.col, 0), r.tick), true
	case r.class == "nan" && least == 0 && most == 0 && (r.frame == 0 || r.f.cell(r.frame-1, 0).min > 0):
		return found(byZero, fmt.Sprintf("%s is NaN in %d of the %d samples of the batch, and zero in all others: all were divided by an infinite largest weight, that of a probability or priority of zero", r.name, len(bad), n)).in(r.f, -1, max(r.col, 0), r.tick), true
	}
	return Feature{}, false
}

// targetWords are in the names of statistics of what a critic is fitted to.
var targetWords = []string{"return", "value", "reward", "adv", "target"}

// zeroVariance finds a running variance of returns, rewards or values that is zero in
// the record in which a loss or a value became NaN, and was not in any in which it was
// fine.
func (c *Case) zeroVariance(r *step) (Feature, bool) {
	if !r.is(loss, value) || r.class != "nan" {
		return Feature{}, false
	}
	for _, f := range c.fields {
		i := f.upTo(r.tick)
		if f.kind != normVar || f.rows != 1 || f.to-f.from != 1 || i < 0 || !about(f.Name, targetWords...) || f.at(i, 0, 0) != 0 {
			continue
		}
		fine := false
		for k := range r.frame {
			if j := f.upTo(r.f.frames.Ticks[k]); j >= 0 && f.at(j, 0, 0) == 0 && r.f.badRows(k) == 0 {
				fine = true
			}
		}
		if !fine {
			return found(byZero, fmt.Sprintf("%s is NaN in a record in which %s is 0: nothing can be divided by its root", r.name, f.Name)).in(f, -1, 0, f.frames.Ticks[i]), true
		}
	}
	return Feature{}, false
}

// The gap between the logits of an action and the likeliest one from which on its
// probability is zero: exp(-104) in float32, exp(-18) in float16.
const (
	underflow     = 104.0
	underflowHalf = 18.0
)

// underflown finds logits so far apart that the probability of an action is zero, where
// an entropy, a divergence or a likelihood that is made of them became NaN at once.
func (c *Case) underflown(r *step) (Feature, bool) {
	if !r.is(logProb, loss, monitor) || r.class != "nan" || !about(r.name, "entropy", "kl", "log_prob", "logp") {
		return Feature{}, false
	}
	for _, f := range c.fields {
		i := f.upTo(r.tick)
		if f.kind != mean || !about(f.Name, "logit") || i < 0 || f.to-f.from < 2 {
			continue
		}
		least := underflow
		if f.frames.Values.DType == tensor.Float16 {
			least = underflowHalf
		}
		for row := range f.rows {
			gap, bad := f.gap(i, row)
			if bad || gap < least || r.f.PerEnv && f.env(row) != r.env {
				continue
			}
			return found(byZero, fmt.Sprintf("%s is NaN at once, and %s%s differ by %s: the probability of an action is rounded to zero, and zero times its logarithm is NaN", r.name, f.Name, inEnv(f.env(row)), num(gap))).in(f, f.env(row), -1, f.frames.Ticks[i]), true
		}
	}
	return Feature{}, false
}

// gap returns the difference between the largest and the smallest value of a row, and
// whether any of it is not finite.
func (f *field) gap(i, row int) (gap float64, bad bool) {
	least, most := math.Inf(1), math.Inf(-1)
	for col := range f.to - f.from {
		v := f.at(i, row, col)
		if !finite(v) {
			return 0, true
		}
		least, most = math.Min(least, v), math.Max(most, v)
	}
	return most - least, false
}
