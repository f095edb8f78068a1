package rootcause

import (
	"math"
	"slices"

	"github.com/nanguard/nanguard/tensor"
)

// The classes of a bad value beside those of a non-finite one.
const (
	huge     = "huge"     // beyond any physical or numerical sense
	growing  = "growing"  // run away from its own past and from the healthy envs
	negative = "negative" // a variance or std at or below zero
	extreme  = "extreme"  // out of any sensible range, and always was
	masked   = "masked"   // replaced before it was recorded
)

// maxVal is MuJoCo's mjMAXVAL: beyond it the engine itself calls a state bad.
const maxVal = 1e10

// decades is the factor within one env step that makes a finite value huge
// wherever it started.
const decades = 1e6

// state classifies a row of a frame: "" when it is fine.
func (f *field) state(i, row int) string {
	c := f.cell(i, row)
	switch {
	case c.bad > 0:
		return c.class.String()
	case f.kind == counter || f.kind == done:
		return ""
	case f.crossed(c.min, c.max):
		return negative
	case f.kind == logStd && c.max > f.limit && f.at(i, row, int(c.arg)) < 0:
		return "" // a small std is a small std
	}
	return f.size(c.max)
}

// crossed reports whether a value that must stay positive did not. A variance
// may be zero (a constant column, with eps beside it); an array of zeros was
// never filled.
func (f *field) crossed(least, most float64) bool {
	switch f.kind {
	case normVar:
		return least < 0
	case std, paramStd:
		return least <= 0 && most > 0
	}
	return false
}

// traced classifies an entry of the trace.
func (f *field) traced(j int) string {
	t := f.trace
	switch {
	case at(t.NaN, j) > 0:
		return tensor.NaN.String()
	case at(t.PosInf, j) > 0:
		return tensor.PosInf.String()
	case at(t.NegInf, j) > 0 && !f.masked:
		return tensor.NegInf.String()
	case f.kind == counter || f.kind == done:
		return ""
	case f.crossed(at(t.Min, j), at(t.AbsMax, j)):
		return negative
	case f.kind == logStd && at(t.Max, j) <= f.limit:
		return ""
	}
	if f.blank > 0 && at(t.AbsMax, j) == f.blank {
		return ""
	}
	return f.size(at(t.AbsMax, j))
}

// size classifies an absolute value against the field's limits.
func (f *field) size(v float64) string {
	switch {
	case !(v > f.limit) && !(v > maxVal):
		return ""
	case f.base > maxVal && v <= f.limit && (f.kind == other || f.kind == monitor || f.kind == modelArray):
		return "" // large by nature: a time stamp, a count, a limit that is none
	case f.kind == lr && v <= 2*f.base:
		return extreme // a constant does not grow
	case v > maxVal || f.base > 0 && v > decades*f.base:
		return huge
	}
	return growing
}

// at returns v[i], or 0 when the column is missing or the value is no number.
func at(v []float64, i int) float64 {
	if i >= len(v) || math.IsNaN(v[i]) {
		return 0
	}
	return v[i]
}

// A run of bad frames may dip below the limit for a few frames, what swings out
// of control does, as long as it stays well above its healthy size.
const (
	lull     = 8
	restless = 3.0
)

// begin returns the first frame of the run of bad frames that holds frame i of a
// row. A run does not reach across the ticks in cuts (resets of the row's env).
func (f *field) begin(i, row int, cuts []int64) int {
	first := i
	for k := i - 1; k >= 0 && first-k <= lull; k-- {
		if cutBetween(cuts, f.frames.Ticks[k], f.frames.Ticks[k+1]) {
			break
		}
		if f.state(k, row) != "" {
			first = k
		} else if f.cell(k, row).max < restless*f.base {
			break
		}
	}
	return first
}

// cutBetween reports whether one of the ascending ticks lies in [from, to).
func cutBetween(cuts []int64, from, to int64) bool {
	i, _ := slices.BinarySearch(cuts, from)
	return i < len(cuts) && cuts[i] < to
}

// beginTrace returns the first entry of the run of bad entries that holds j.
func (f *field) beginTrace(j int) int {
	for j > 0 && f.traced(j-1) != "" {
		j--
	}
	return j
}
