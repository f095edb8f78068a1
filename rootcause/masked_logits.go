package rootcause

import (
	"fmt"
	"math"

	"github.com/nanguard/nanguard/tensor"
)

// ordinaryLogit is the size up to which logits are far from where a probability is
// rounded to zero, and its logarithm to -inf.
const ordinaryLogit = 80.0

// unmask makes the -inf of a policy's logits what it is where actions that are not
// allowed are masked with it: never all of a row, beside ordinary numbers, and in more
// than one record, or from the first on. A row of nothing else stays as it is.
func (f *field) unmask() {
	if f.kind != mean && f.kind != action || !about(f.Name, "logit", "masked") || f.to-f.from < 2 || f.len() == 0 {
		return
	}
	var found []*cell
	frames, last := 0, -1
	for k := range f.cells {
		c := &f.cells[k]
		n, other := f.negInf(k/f.rows, k%f.rows)
		switch {
		case other: // NaN or +inf is no mask
			continue
		case c.max > ordinaryLogit:
			return
		case n == 0 || n == f.to-f.from:
			continue
		}
		found = append(found, c)
		if i := k / f.rows; i != last {
			frames, last = frames+1, i
		}
		if k/f.rows == 0 {
			frames++ // from the first on
		}
	}
	if frames < 2 {
		return
	}
	for _, c := range found {
		c.bad, c.class = 0, tensor.Finite
	}
	f.masked = true
	f.measure()
}

// negInf returns how many values of a row are -inf, and whether others are not finite.
func (f *field) negInf(i, row int) (n int, other bool) {
	for col := range f.to - f.from {
		switch v := f.at(i, row, col); {
		case math.IsInf(v, -1):
			n++
		case !finite(v):
			other = true
		}
	}
	return n, other
}

// onlyMasked reports whether an entry of the manifest's table is a mask that the file
// holds, or of before all that it holds, where others are.
func (o *onset) onlyMasked() bool {
	if o.f == nil || !o.f.masked || o.class != tensor.NegInf.String() {
		return false
	}
	if o.tick < o.f.frames.Ticks[0] {
		return true
	}
	i, row := o.f.upTo(o.tick), o.f.row(o.env)
	return i >= 0 && row >= 0 && row < o.f.rows && o.f.frames.Ticks[i] == o.tick && o.f.cell(i, row).bad == 0
}

// noAction is the part of X23 for logits of a row that are all -inf, or that are NaN
// in few envs of a policy that masks actions: no action is allowed there, and a softmax
// over nothing has no value.
func (c *Case) noAction(r *step) (Feature, bool) {
	if !r.is(mean, action) || !about(r.name, "logit", "masked") || r.f.to-r.f.from < 2 {
		return Feature{}, false
	}
	what := "NaN in few envs, and others have actions that are masked with -Inf"
	switch {
	case r.class == tensor.NegInf.String() && r.row >= 0:
		if n, _ := r.f.negInf(r.frame, r.row); n < r.f.to-r.f.from {
			return Feature{}, false
		}
		what = "all -Inf"
	case r.class != tensor.NaN.String() || !r.f.masked || !c.fewNaN(r) || c.sawBad(r.tick):
		return Feature{}, false
	}
	return found(byZero, fmt.Sprintf("%s%s is %s: no action is allowed there, and a softmax over nothing divides zero by zero", r.name, inEnv(r.env), what)).in(r.f, r.env, 0, r.tick), true
}

// fewNaN reports whether at most a quarter of the envs of the run have NaN in the
// record of a step, by its trace.
func (c *Case) fewNaN(r *step) bool {
	j := r.f.entryBefore(r.tick + 1)
	if !r.f.PerEnv || j < 0 || r.f.trace.Ticks[j] != r.tick {
		return false
	}
	n := at(r.f.trace.NaN, j)
	return n > 0 && 4*n <= float64(c.man.NumEnvs*(r.f.to-r.f.from))
}

// sawBad reports whether no observation is recorded, or one was not finite up to a tick.
func (c *Case) sawBad(t int64) bool {
	seen := false
	for _, f := range c.fields {
		if f.kind != obs && f.kind != obsNorm {
			continue
		}
		if o, ok := f.firstBad(); ok && o.tick <= t {
			return true
		}
		seen = true
	}
	return !seen
}
