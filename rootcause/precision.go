package rootcause

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// The bounds of X21: updates over which a learned scalar must stand still bit
// for bit, and how far entropy stays off its target meanwhile, in nats.
const (
	stillFor   = 100
	entropyGap = 0.3
)

// precision is X21: in a run of low precision a value that is being learned does
// not move by a single bit, although what should move it is there. Rounding
// swallows the update; no value of such a run is ever non-finite.
func (c *Case) precision() Feature {
	if f, ok := c.firstOf((*Case).scaledOver, (*Case).flushed, (*Case).allFlushed, (*Case).nearlyFlushed, (*Case).stalled, (*Case).averagedAway, (*Case).swallowed, (*Case).coarseBatch, (*Case).heldPlace, (*Case).roundedDiscount); ok {
		return f
	}
	low := c.lowPrecision()
	if f, ok := c.stuckWeights(low); ok {
		return f
	}
	seen := false
	for _, f := range c.fields {
		if !f.learnedScalar() {
			continue
		}
		seen = true
		value, n, still := f.still()
		if !still || low == "" || !heldIn(value, low) || f.atClamp(value) {
			continue
		}
		why, ok := c.pushed(f)
		if !ok {
			continue
		}
		out := found(yes, fmt.Sprintf("%s is %s in all of %d records, bit for bit, while %s; the run computes in %s, whose rounding swallows a step of that size", f.Name, num(value), n, why, low))
		out.Measured, out.Baseline = float64(n), stillFor
		ticks, _ := f.history()
		return out.in(f, -1, 0, ticks[0])
	}
	if !seen {
		return unmeasured("alpha or log_alpha, and entropy beside it")
	}
	return found(no, "what is learned moves, or the run computes in float32")
}

// How many of the recorded weights must stand still: half of them over deafFor
// records, nearly all where there are few records of many.
const (
	stuckShare  = 0.5
	stuckMost   = 0.9
	fewRecords  = 4
	manyWeights = 64
)

// coarseWeights names the low precision that every recorded weight is a number
// of, "" when one is not, or there are too few to tell.
func (c *Case) coarseWeights() string {
	n := 0
	for _, f := range c.fields {
		if f.kind != param || f.len() == 0 || f.frames.Values.DType != tensor.Float32 || f.Stage != dump.StageParam {
			continue
		}
		for col := range f.to - f.from {
			v := f.at(f.len()-1, 0, col)
			bits := math.Float32bits(float32(v))
			if bits&0xffff != 0 || !finite(v) {
				return ""
			}
			if bits&0x7fffff != 0 { // no power of two
				n++
			}
		}
	}
	if n < 8 {
		return ""
	}
	return "bfloat16"
}

// learnedScalar reports whether a field is the temperature of a soft actor-critic.
func (f *field) learnedScalar() bool {
	name := strings.ToLower(f.Name)
	if hasToken(name, "gumbel", "softmax", "boltzmann", "per", "cql", "distill", "distillation", "leaky") {
		return false
	}
	return !f.PerEnv && f.kind != grad && !strings.Contains(name, "loss") && !strings.Contains(name, "grad") &&
		(strings.Contains(name, "alpha") || strings.Contains(name, "temperature") || strings.Contains(name, "ent_coef")) && f.to-f.from <= 1
}

// still reports whether a scalar never changed over enough records.
func (f *field) still() (value float64, n int, ok bool) {
	_, v := f.history()
	for _, x := range v {
		if x != v[0] {
			return 0, len(v), false
		}
	}
	if len(v) < stillFor {
		return 0, len(v), false
	}
	return v[0], len(v), true
}

// lowPrecision names the low precision that a run computes in, "" for none.
func (c *Case) lowPrecision() string {
	if on, ok := c.fact("amp.enabled"); ok && on != 0 {
		if t := c.text("amp.dtype"); strings.Contains(t, "16") {
			return strings.TrimPrefix(t, "torch.")
		}
	}
	for _, name := range []string{"param.dtype", "learner.dtype", "alpha.dtype", "log_alpha.dtype"} {
		if t := c.text(name); strings.Contains(t, "16") {
			return strings.TrimPrefix(t, "torch.")
		}
	}
	for _, f := range c.fields {
		if (f.learnedScalar() || f.kind == param) && c.computesLow(f) {
			return f.DType
		}
	}
	return c.coarseWeights()
}

// pushed says what should move the temperature: a gradient of its own that is
// not zero, an entropy that stays off its target on one side, or a loss of its own
// that stays on one side of zero.
func (c *Case) pushed(of *field) (string, bool) {
	for _, f := range c.fields {
		name := strings.ToLower(f.Name)
		if strings.Contains(name, "grad") && strings.Contains(name, "alpha") {
			if _, v := f.history(); len(v) > 0 && smallest(v) > 0 {
				return fmt.Sprintf("its gradient %s is never zero", f.Name), true
			}
		}
	}
	target, ok := c.entropyTarget()
	if !c.tuned() {
		return "", false
	}
	if !ok {
		return c.ownLoss(of)
	}
	for _, f := range c.fields {
		name := strings.ToLower(f.Name)
		if !strings.Contains(name, "entropy") || strings.Contains(name, "target") || strings.Contains(name, "loss") || strings.Contains(name, "coef") {
			continue
		}
		if gap, ok := f.offTarget(target, entropyGap, stillFor/2); ok {
			return fmt.Sprintf("%s stays %s nats off its target of %s", f.Name, num(math.Abs(gap)), num(target)), true
		}
	}
	return "", false
}

// tuned reports whether anything says that the temperature is learned at all: its
// logarithm, or a loss of it. A configuration names a target for a fixed one too.
func (c *Case) tuned() bool {
	if on, ok := c.fact("sac.autotune"); ok && on == 0 {
		return false
	}
	return slices.ContainsFunc(c.fields, func(f *field) bool {
		words := tokens(f.Name)
		has := func(w ...string) bool {
			return slices.ContainsFunc(words, func(t string) bool { return slices.Contains(w, t) })
		}
		return has("alpha", "temperature", "temp", "coef") && has("log", "loss") || has("logalpha", "alphaloss")
	})
}

// heldIn reports whether a low precision has a number, or one of which it is the
// exponential: what is kept in more digits was not rounded by it.
func heldIn(v float64, low string) bool {
	if hasNumber(v, low) {
		return true
	}
	l := math.Log(v)
	digits := lastPlace(l, low)
	return v > 0 && math.Abs(l-math.Round(l/digits)*digits) < 2e-7*math.Max(1, math.Abs(l))
}

// clampFrom is from where on a whole logarithm of a temperature is taken for a bound.
const clampFrom = 2.0

// atClamp reports whether a temperature, or the logarithm of one, sits at a bound that
// people write: a whole number as a logarithm, such as -10.
func (f *field) atClamp(v float64) bool {
	if !hasToken(f.Name, logTokens...) {
		v = math.Log(v)
	}
	return math.Abs(v) >= clampFrom && math.Abs(v-math.Round(v)) < 1e-5
}

// hasNumber reports whether a low precision has a number.
func hasNumber(v float64, low string) bool {
	bits := math.Float32bits(float32(v))
	if low == "float16" {
		return bits&0x1fff == 0 || math.Abs(v) < halfSmall
	}
	return bits&0xffff == 0
}

// entropyTarget returns the entropy that a soft actor-critic aims at, from a
// fact or a field.
func (c *Case) entropyTarget() (float64, bool) {
	for _, name := range slices.Sorted(maps.Keys(c.man.Facts)) {
		if low := strings.ToLower(name); strings.Contains(low, "target_entropy") || strings.Contains(low, "entropy_target") || strings.Contains(low, "entropy.target") {
			return c.fact(name)
		}
	}
	for _, f := range c.fields {
		if low := strings.ToLower(f.Name); strings.Contains(low, "entropy") && strings.Contains(low, "target") && f.len() > 0 {
			return f.at(f.len()-1, 0, 0), true
		}
	}
	return 0, false
}

// offTarget returns the mean distance of a field from a target over the longest
// run of records in which it stays on one side of it by more than a bound.
// ok is false when no run is long enough to move what follows it.
func (f *field) offTarget(target, bound float64, long int) (gap float64, ok bool) {
	best, n, sum := 0, 0, 0.0
	side := 0.0
	for _, x := range f.means() {
		d := x - target
		if math.Abs(d) <= bound || d*side < 0 {
			n, sum = 0, 0
		}
		if math.Abs(d) <= bound {
			continue
		}
		side, n, sum = d, n+1, sum+d
		if n > best {
			best, gap = n, sum/float64(n)
		}
	}
	return gap, best >= long
}

// means returns the mean over the rows of a field's first column in every
// record.
func (f *field) means() []float64 {
	if f.trace != nil && len(f.trace.Mean) == len(f.trace.Ticks) {
		return f.trace.Mean
	}
	v := make([]float64, 0, f.len())
	for i := range f.len() {
		sum := 0.0
		for row := range f.rows {
			sum += f.at(i, row, 0)
		}
		v = append(v, sum/float64(f.rows))
	}
	return v
}

// smallest returns the smallest of some values.
func smallest(v []float64) float64 {
	m := v[0]
	for _, x := range v {
		m = math.Min(m, x)
	}
	return m
}

// largestLoss returns the largest finite size of any loss.
func (c *Case) largestLoss() float64 {
	most := 0.0
	for _, f := range c.fields {
		if f.kind == loss {
			most = math.Max(most, f.largest(math.MaxInt64))
		}
	}
	return most
}

// flushed finds gradients that half precision made nothing of: all of them are
// multiples of its smallest number, and most are zero, while a loss is not.
func (c *Case) flushed() (Feature, bool) {
	most := c.largestLoss()
	values, zeros := 0, 0
	var where *field
	for _, f := range c.fields {
		if f.kind != grad || f.PerEnv || f.len() < deafFor || f.to-f.from < 2 || most < 1e-2 {
			continue
		}
		for i := range f.len() {
			for col := range f.to - f.from {
				v := math.Abs(f.at(i, 0, col))
				if !(v < halfSmall) || v*halfUnit != math.Trunc(v*halfUnit) {
					return Feature{}, false
				}
				values++
				if v == 0 {
					zeros++
				} else {
					where = f
				}
			}
		}
	}
	if where == nil || values < 100 || zeros*2 < values {
		return Feature{}, false
	}
	out := found(yes, fmt.Sprintf("%.0f %% of the gradients are exactly zero and the others small multiples of %.3g, the smallest number of half precision, while the loss is %s: they were flushed for want of scaling",
		100*float64(zeros)/float64(values), 1.0/halfUnit, num(most)))
	out.Measured, out.Baseline = float64(zeros)/float64(values), 0.5
	return out.in(where, -1, 0, where.frames.Ticks[0]), true
}
