package rootcause

import (
	"fmt"
	"math"

	"github.com/nanguard/nanguard/dump"
)

// The bounds of observations that are stored too coarsely: the least spread of the same in
// more digits, and the most, in units of the last place that it is stored in, and which
// share of it that type must not have.
const (
	coarseLeast = 0.125
	coarseMost  = 1.5
	coarseShare = 0.5
	coarseFor   = 20 // records, on either side
)

// coarseBatch finds observations that are learned from in half precision although the same,
// as the policy sees it in more digits, varies by no more than about one unit in their last
// place, and that unit is one that nobody wants to observe in: what varies was rounded away.
func (c *Case) coarseBatch() (Feature, bool) {
	for _, f := range c.fields {
		if f.Stage != dump.StageObs || f.len() < coarseFor || !c.computesLow(f) {
			continue
		}
		for _, g := range c.fields {
			n := g.to - g.from
			if g.kind != obs || g == f || !g.PerEnv || g.DType != "float32" || g.len() < coarseFor || (f.to-f.from)%n != 0 || f.PerEnv && f.to-f.from != n {
				continue
			}
			for col := range n {
				if out, ok := f.coarser(g, col); ok {
					return out, true
				}
			}
		}
	}
	return Feature{}, false
}

// coarser judges the values of a column of a batch, or of a stored observation, by those of
// the same column in more digits.
func (f *field) coarser(g *field, col int) (Feature, bool) {
	sum, squares, n, between := 0.0, 0.0, 0.0, 0.0
	for i := range g.len() {
		for row := range g.rows {
			v := g.at(i, row, col)
			if !finite(v) {
				return Feature{}, false
			}
			sum, squares, n = sum+v, squares+v*v, n+1
			if !hasNumber(v, f.DType) {
				between++
			}
		}
	}
	mean := sum / n
	unit, std := lastPlace(mean, f.DType), math.Sqrt(math.Max(0, squares/n-mean*mean))
	if mean == 0 || unit < coarseUnit || std < coarseLeast*unit || std > coarseMost*unit || between < coarseShare*n {
		return Feature{}, false
	}
	values := map[float64]bool{}
	for i := range f.len() {
		for row := range f.rows {
			for at := col; at < f.to-f.from; at += g.to - g.from {
				v := f.at(i, row, at)
				if !(math.Abs(v-mean) <= 6*std+unit) {
					return Feature{}, false
				}
				values[v] = true
			}
		}
	}
	if len(values) < 2 || len(values) > 16 {
		return Feature{}, false
	}
	out := found(yes, fmt.Sprintf("%s holds %s in steps of %s, %d values in all, and what the policy sees of it varies by no more than %s (std): %s has no number between",
		f.Name, g.label(col), num(unit), len(values), num(std), f.DType))
	out.Measured, out.Baseline = unit, std
	return out.in(f, -1, col, f.frames.Ticks[0]), true
}
