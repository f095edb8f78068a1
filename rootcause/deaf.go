package rootcause

import (
	"fmt"
	"math"
)

// The bounds of X24 and of gradients that were flushed.
const (
	liveRate  = 1e-7    // a learning rate below it may well move nothing
	deafFor   = 20      // minibatches over which nothing that is learned may move
	halfUnit  = 1 << 24 // one over the smallest number of half precision
	halfSmall = 0x1p-14 // below it half precision loses digits
)

// deaf is X24: gradients flow, the learning rate is not zero, and no parameter
// that is recorded moves by a single bit: what is updated is not what is used.
func (c *Case) deaf() Feature {
	g := c.first(grad)
	if g == nil || c.first(param, paramStd, logStd) == nil {
		return unmeasured("gradients beside parameters")
	}
	if !c.learns() {
		return found(no, "gradients or learning rate are next to zero at times, or few: nothing has to move")
	}
	columns, n := 0, 0
	for _, f := range c.fields {
		if f.kind != param && f.kind != paramStd && f.kind != logStd || f.Stage != "param" {
			continue
		}
		if f.len() < deafFor || !f.constant() {
			return found(no, fmt.Sprintf("%s moves, or is too short to tell", f.Name))
		}
		if n = f.len(); f.kind == param {
			columns += f.to - f.from // a std alone may be a constant by design
		}
	}
	if columns < 2 {
		return unmeasured("enough parameters to tell whether any moves")
	}
	out := found(yes, fmt.Sprintf("none of %d recorded numbers of the parameters moves by a bit in %d minibatches, although %s is never zero: what the optimizer updates is not what the policy uses, or the updates are lost", columns, n, g.Name))
	out.Measured, out.Baseline = float64(n), deafFor
	return out.in(g, -1, 0, g.frames.Ticks[0])
}

// learns reports whether enough gradients are recorded, none of them zero, with a
// learning rate that is never next to zero: then parameters have to move.
func (c *Case) learns() bool {
	if g := c.first(grad); g == nil {
		return false
	} else if _, v := g.history(); len(v) < deafFor || !(smallest(v) > 0) {
		return false
	}
	if rate := c.first(lr); rate != nil {
		_, v := rate.history()
		return len(v) == 0 || smallest(v) >= liveRate
	}
	return true
}

// constant reports whether no column of a field changes, and all are finite.
func (f *field) constant() bool {
	for col := range f.to - f.from {
		if f.stillSince(col) != 0 {
			return false
		}
	}
	return f.len() > 0
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
