package rootcause

import (
	"fmt"
	"math"
)

// The bounds of returns that outrun their critic: by how much the loss of the values and the
// gradient grow over the file, how many times the largest value the returns of the last
// quarter spread, and by how much that ratio grows.
const (
	outrunFor   = 40
	outrunLoss  = 1e4
	outrunGrad  = 100.0
	outrunRatio = 10.0
	outrunRise  = 100.0
)

// outrun finds returns that grow by decades and leave the values behind: they spread by many
// times the largest value, and the loss of the values and the gradient grow with each quarter
// of the file. Where rewards grow on purpose, a critic that works follows.
func (c *Case) outrun() (Feature, bool) {
	v, paid := c.first(value), c.named(value, "return", "returns")
	if v.len() < 4 || !v.PerEnv || hasToken(v.Name, "return", "returns") || paid.len() < outrunFor {
		return Feature{}, false
	}
	l, g := c.rising(loss, outrunFor, outrunLoss, criticWords...), c.rising(grad, outrunFor, outrunGrad)
	if l == nil || g == nil {
		return Feature{}, false
	}
	n := paid.len() / 4
	first, last := paid.stdOver(0, n), paid.stdOver(paid.len()-n/2, paid.len())
	most := v.largest(math.MaxInt64)
	if !(most > 0) || !(last > outrunRatio*most) || !(last > outrunRise*first) {
		return Feature{}, false
	}
	out := found(ascends, fmt.Sprintf("%s spreads by %s at the end, %s what it did at the start and %s the largest value, while %s grew in each quarter of the file, to %s: the returns grow without bound and the critic does not follow",
		paid.Name, num(last), times(last/first), times(last/most), l.Name, num(l.middle(l.len()-l.len()/4, l.len()))))
	out.Measured, out.Baseline = last/most, outrunRatio
	return out.in(paid, -1, 0, paid.frames.Ticks[0]), true
}

// named returns the first field of a kind with one of some words in its name, nil without.
func (c *Case) named(k kind, words ...string) *field {
	for _, f := range c.fields {
		if f.kind == k && hasToken(f.Name, words...) {
			return f
		}
	}
	return nil
}

// stdOver returns the std of all that a field holds in the frames [lo, hi).
func (f *field) stdOver(lo, hi int) float64 {
	sum, squares, n := 0.0, 0.0, 0.0
	for i := lo; i < hi; i++ {
		for row := range f.rows {
			for col := range f.to - f.from {
				x := f.at(i, row, col)
				sum, squares, n = sum+x, squares+x*x, n+1
			}
		}
	}
	return math.Sqrt(math.Max(0, squares/n-sum/n*sum/n))
}
