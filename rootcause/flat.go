package rootcause

import (
	"fmt"
	"math"
)

// sampleWords are in the names of what counts the samples that a loss is made of.
var sampleWords = []string{"batch_size", "batchsize", "num_samples", "n_samples", "sample_count", "num_valid", "n_valid", "valid_count"}

// noSpread is the part of X23 for a loss or an advantage that is divided by a
// standard deviation that does not exist: of a single sample, of none, or of values
// that are all the same.
func (c *Case) noSpread(r *step) (Feature, bool) {
	if !r.is(loss, value) || r.class != "nan" || r.row < 0 || r.frame > 0 && r.f.badRows(r.frame-1) > 0 {
		return Feature{}, false
	}
	if f, ok := c.singleSample(r); ok {
		return f, true
	}
	if f, ok := c.sameTargets(r); ok {
		return f, true
	}
	return c.sameEverywhere(r)
}

// singleSample finds a count of samples that is one or none in the very record in
// which a loss went bad, and was more in every record in which it was fine.
func (c *Case) singleSample(r *step) (Feature, bool) {
	for _, f := range c.fields {
		i := f.upTo(r.tick)
		if !about(f.Name, sampleWords...) || f == r.f || f.Clock != r.f.Clock || i < 0 || f.frames.Ticks[i] != r.tick || f.rows != 1 || f.to-f.from != 1 {
			continue
		}
		n := f.at(i, 0, 0)
		if n != 0 && n != 1 {
			continue
		}
		for k := range i {
			if f.at(k, 0, 0) <= 1 {
				return Feature{}, false // and that went well
			}
		}
		out := found("flat", fmt.Sprintf("%s is NaN in the record in which %s is %s: the standard deviation of %s has no value", r.name, f.Name, num(n), plural(n)))
		out.Measured, out.Baseline = n, 2
		return out.in(f, -1, 0, r.tick), true
	}
	return Feature{}, false
}

// plural names a number of samples that is none or one.
func plural(n float64) string {
	if n == 0 {
		return "no sample"
	}
	return "one sample"
}

// sameEverywhere finds an advantage that is NaN in all envs while the rewards and
// values that it is made from are one constant over the whole rollout.
func (c *Case) sameEverywhere(r *step) (Feature, bool) {
	if !r.is(value) || !about(r.name, "adv") || !r.f.PerEnv || r.f.badRows(r.frame) < r.f.rows || r.f.rows < 2 {
		return Feature{}, false
	}
	var names []string
	since := c.rollout(r)
	for _, f := range c.fields {
		if f.kind != reward && f.kind != value || f == r.f || !f.PerEnv || f.len() == 0 || f.frames.Ticks[0] > r.tick {
			continue
		}
		if n, same := f.unvaried(since, r.tick); n > 0 && !same {
			return Feature{}, false
		} else if n >= 2 || n == 1 && f.rows > 1 {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		return Feature{}, false
	}
	return found("flat", fmt.Sprintf("%s is NaN in every env, and %s held one and the same value in all of them over the whole rollout: it is divided by a standard deviation of zero", r.name, list(names))).in(r.f, r.env, max(r.col, 0), r.tick), true
}

// unvaried returns how many frames with ticks in (since, until] a field has, and
// whether all values in them are one finite number.
func (f *field) unvaried(since, until int64) (n int, same bool) {
	least, most := math.Inf(1), math.Inf(-1)
	for i := range f.len() {
		if f.frames.Ticks[i] <= since || f.frames.Ticks[i] > until {
			continue
		}
		n++
		for row := range f.rows {
			if f.cell(i, row).bad > 0 {
				return n, false
			}
			for col := range f.to - f.from {
				v := f.at(i, row, col)
				least, most = math.Min(least, v), math.Max(most, v)
			}
		}
	}
	return n, least == most
}

// sameTargets finds a loss that is NaN in the first gradient step over returns or
// advantages that are one and the same number, which a spread of zero divides.
func (c *Case) sameTargets(r *step) (Feature, bool) {
	if !r.is(loss) || r.f.rows != 1 {
		return Feature{}, false
	}
	for _, f := range c.fields {
		i := f.upTo(r.tick)
		if f.kind != value || !about(f.Name, "return", "adv") || i < 0 || f.rows*(f.to-f.from) < batchWidth || !f.oneNumber(i) {
			continue
		}
		for k := range r.frame {
			if j := f.upTo(r.f.frames.Ticks[k]); j >= 0 && f.oneNumber(j) {
				return Feature{}, false // and that went well
			}
		}
		return found("flat", fmt.Sprintf("%s is NaN, and %s of that update is %s in every env and step: divided by its standard deviation, it has no value", r.name, f.Name, num(f.at(i, 0, 0)))).in(f, -1, 0, f.frames.Ticks[i]), true
	}
	return Feature{}, false
}

// oneNumber reports whether all values of a frame are one finite number.
func (f *field) oneNumber(i int) bool {
	for row := range f.rows {
		for col := range f.to - f.from {
			if v := f.at(i, row, col); v != f.at(i, 0, 0) || !finite(v) {
				return false
			}
		}
	}
	return true
}
