package rootcause

import (
	"fmt"
	"math"
	"strings"
)

// The bounds of values that are swallowed by rounding: records in which they stand
// still, how regularly they counted before, and from which size of a unit in the
// last place on nobody wants to observe in it.
const (
	roundedFor   = 20
	countedFor   = 4
	coarseUnit   = 0.25
	coarseStill  = 0.8
	coarseTravel = 3 // units that the value must have gone
)

// lastPlace returns the size of the last place of a value in half or single
// precision.
func lastPlace(v float64, dtype string) float64 {
	digits := 10
	switch dtype {
	case "bfloat16":
		digits = 7
	case "float32":
		digits = 23
	}
	_, e := math.Frexp(math.Abs(v))
	return math.Ldexp(1, e-1-digits)
}

// swallowed finds a value of every env that is kept in half precision and has
// grown so large that what is added to it is rounded away: a count that stops
// where its step becomes half a unit in the last place, or a position that stands
// still while the same in single precision moves.
func (c *Case) swallowed() (Feature, bool) {
	for _, f := range c.fields {
		if !f.PerEnv || !lowType(f.DType) || f.len() < roundedFor+countedFor || f.rows == 0 {
			continue
		}
		for col := range f.to - f.from {
			if out, ok := c.countStops(f, col); ok && c.computesLow(f) {
				return out, true
			}
			if out, ok := c.twinGoesOn(f, col); ok {
				return out, true
			}
		}
	}
	return Feature{}, false
}

// countStops judges a column that counts.
func (c *Case) countStops(f *field, col int) (Feature, bool) {
	last := f.len() - 1
	lo := f.stillSince(col)
	if lo < countedFor || last-lo < roundedFor {
		return Feature{}, false
	}
	for row := range f.rows {
		v := f.at(last, row, col)
		by := f.at(lo, row, col) - f.at(lo-1, row, col)
		if !(by > 0) || by > lastPlace(v, f.DType)/2 {
			return Feature{}, false
		}
		for i := lo - countedFor + 1; i <= lo; i++ {
			if f.at(i, row, col)-f.at(i-1, row, col) != by {
				return Feature{}, false
			}
		}
	}
	v := f.at(last, 0, col)
	out := found(yes, fmt.Sprintf("%s stands at %s in every env for %s: it grew by %s, which %s rounds away from there on",
		f.label(col), num(v), f.clockWord(last-lo), num(v-f.at(lo-1, 0, col)), f.DType))
	out.Measured, out.Baseline = float64(last-lo), roundedFor
	return out.in(f, -1, col, f.frames.Ticks[lo]), true
}

// twinGoesOn judges a column of which the same is recorded in more digits.
func (c *Case) twinGoesOn(f *field, col int) (Feature, bool) {
	g := c.finer(f)
	if g == nil {
		return Feature{}, false
	}
	for row := range f.rows {
		still, n := 0, f.len()
		for i := range n {
			a, b := f.at(i, row, col), g.at(i, row, col)
			if u := lastPlace(b, f.DType); !finite(a) || !finite(b) || u < coarseUnit || math.Abs(a-b) > u {
				return Feature{}, false
			}
			if i > 0 && a == f.at(i-1, row, col) && b != g.at(i-1, row, col) {
				still++
			}
		}
		gone := math.Abs(g.at(n-1, row, col) - g.at(0, row, col))
		if float64(still) < coarseStill*float64(n-1) || gone < coarseTravel*lastPlace(g.at(0, row, col), f.DType) {
			return Feature{}, false
		}
	}
	u := lastPlace(g.at(f.len()-1, 0, col), f.DType)
	out := found(yes, fmt.Sprintf("%s moves in steps of %s and stands still between them, in every env, while %s goes on: at %s that is the last place of %s",
		f.label(col), num(u), g.Name, num(g.at(f.len()-1, 0, col)), f.DType))
	out.Measured, out.Baseline = u, coarseUnit
	return out.in(f, -1, col, f.frames.Ticks[0]), true
}

// finer returns the field of the same shape and times whose name begins like that
// of a field of half precision, or the other way round; nil without one.
func (c *Case) finer(f *field) *field {
	for _, g := range c.fields {
		if g == f || lowType(g.DType) || !g.PerEnv || g.len() != f.len() || g.rows != f.rows || g.to-g.from != f.to-f.from ||
			!strings.HasPrefix(g.Name, f.Name) && !strings.HasPrefix(f.Name, g.Name) {
			continue
		}
		if g.frames.Ticks[0] == f.frames.Ticks[0] && g.frames.Ticks[g.len()-1] == f.frames.Ticks[f.len()-1] {
			return g
		}
	}
	return nil
}
