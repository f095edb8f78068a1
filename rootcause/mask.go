package rootcause

import (
	"fmt"
	"slices"
)

// maskedSamples is the part of X18 for batches: the samples that are not finite are
// exactly those for which another field of the batch, of zeros and ones, is one (or,
// of a mask of what counts, zero). The name of neither matters, only that they agree
// and that nothing in the name says that the field was made from the NaN.
func (c *Case) maskedSamples() (Feature, bool) {
	if c.tripped == nil {
		return Feature{}, false
	}
	for k := range c.order {
		o := &c.order[k]
		if o.f.len() == 0 || o.tick != c.tripped.tick || o.f.PerEnv || !o.f.holdsSamples() {
			continue
		}
		for _, d := range c.fields {
			if f, ok := c.agrees(o, d); ok {
				return f, true
			}
		}
	}
	return Feature{}, false
}

// holdsSamples reports whether a field may hold one value or more for each sample of
// a batch.
func (f *field) holdsSamples() bool {
	switch f.kind {
	case obs, obsNorm, reward, term, value, mean, logProb, loss, other, monitor:
		return f.to-f.from >= batchWidth
	}
	return false
}

// agrees compares an onset in a batch with a field that may be its mask.
func (c *Case) agrees(o *onset, d *field) (Feature, bool) {
	i, j := o.f.upTo(o.tick), d.upTo(o.tick)
	if f, ok := c.agreesByEnv(o, d); ok {
		return f, true
	}
	if d == o.f || d.PerEnv || d.Clock != o.f.Clock || about(d.Name, madeOfNaN...) || i < 0 || j < 0 ||
		o.f.frames.Ticks[i] != o.tick || d.frames.Ticks[j] != o.tick || d.rows != 1 {
		return Feature{}, false
	}
	bad, ok := o.f.badSamples(i, d.to-d.from)
	if !ok {
		return Feature{}, false
	}
	is := "one"
	if !slices.Equal(bad, d.samples(j, true)) {
		if is = "zero"; !slices.Equal(bad, d.samples(j, false)) {
			return Feature{}, false
		}
	}
	f := found(yes, fmt.Sprintf("%s is %s in %d of the %d samples of the batch, exactly those for which %s is %s: filler for rows that nobody should read, or the product of a mask and a NaN",
		o.field, words[o.class], len(bad), d.to-d.from, d.Name, is))
	f.Measured, f.Baseline = float64(len(bad)), float64(d.to-d.from)
	return f.onset(o), true
}

// madeOfNaN are in the names of masks that say what was not finite: these agree with
// it by themselves.
var madeOfNaN = []string{"nan", "inf", "finite", "bad", "invalid", "skip"}

// badSamples returns which of n samples of a frame of the whole run hold a non-finite
// value; several columns in a row may belong to one sample. ok is false where the
// frame does not divide into so many, or all of them are bad, or none.
func (f *field) badSamples(i, n int) (bad []int, ok bool) {
	cols := f.to - f.from
	if f.rows != 1 || n < batchWidth || cols%n != 0 {
		return nil, false
	}
	for _, col := range f.badColumns(i) {
		if s := col / (cols / n); len(bad) == 0 || bad[len(bad)-1] != s {
			bad = append(bad, s)
		}
	}
	return bad, len(bad) > 0 && len(bad) < n
}

// samples returns the samples of a frame of zeros and ones that are one, or zero; nil
// when the frame holds anything else.
func (f *field) samples(i int, one bool) []int {
	var out []int
	for col := range f.to - f.from {
		v := f.at(i, 0, col)
		if v != 0 && v != 1 {
			return nil
		}
		if (v == 1) == one {
			out = append(out, col)
		}
	}
	return out
}

// agreesByEnv is agrees for a mask with a row for each env and a column for each step of
// its sequence, beside a batch that holds all of these one after the other, env by env or
// step by step. Only the envs in the file are compared; that some of their samples are
// masked and others are not makes the match.
func (c *Case) agreesByEnv(o *onset, d *field) (Feature, bool) {
	i, j, steps := o.f.upTo(o.tick), d.upTo(o.tick), d.to-d.from
	if !d.PerEnv || d.Clock != o.f.Clock || about(d.Name, madeOfNaN...) || i < 0 || j < 0 || o.f.frames.Ticks[i] != o.tick || d.frames.Ticks[j] != o.tick ||
		o.f.rows != 1 || steps < 2 || c.man.NumEnvs*steps != o.f.to-o.f.from {
		return Feature{}, false
	}
	for _, is := range []float64{0, 1} {
		for _, at := range []func(env, t int) int{
			func(env, t int) int { return env*steps + t },
			func(env, t int) int { return t*c.man.NumEnvs + env },
		} {
			n, ok := o.f.badWhere(i, d, j, is, at)
			if !ok {
				continue
			}
			f := found(yes, fmt.Sprintf("%s is %s in %d samples of the envs in the file, exactly those for which %s is %s: filler for steps that nobody should read, or the product of a mask and a NaN",
				o.field, words[o.class], n, d.Name, num(is)))
			f.Measured = float64(n)
			return f.onset(o), true
		}
	}
	return Feature{}, false
}

// badWhere counts the samples of frame i that are not finite, where they are exactly
// those for which frame j of a mask of zeros and ones has a value; ok is false where
// they are not, or are none, or all.
func (f *field) badWhere(i int, mask *field, j int, is float64, at func(env, t int) int) (n int, ok bool) {
	fine := 0
	for row := range mask.rows {
		for t := range mask.to - mask.from {
			v, sample := mask.at(j, row, t), at(mask.env(row), t)
			if v != 0 && v != 1 || sample < 0 || sample >= f.to-f.from || finite(f.at(i, 0, sample)) == (v == is) {
				return 0, false
			}
			if v == is {
				n++
			} else {
				fine++
			}
		}
	}
	return n, n > 0 && fine > 0
}
