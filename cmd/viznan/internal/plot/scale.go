package plot

import (
	"math"
	"slices"
)

// Kind says how values are spread over the height of a plot.
type Kind uint8

// The kinds of scale. Auto takes SymLog when the largest magnitude is more than
// two decades above the middle one, and Linear otherwise.
const (
	Auto Kind = iota
	Linear
	SymLog
)

// String names the kind.
func (k Kind) String() string {
	return [...]string{"auto", "linear", "symlog"}[k%3]
}

// growth is how many times the middle magnitude the largest may be before Auto
// is logarithmic: beyond, what led up to it would be a flat line.
const growth = 100

// Scale maps values to heights from 0 to 1. The zero value maps all to the
// middle.
type Scale struct {
	Kind   Kind    // Linear or SymLog, never Auto once made by NewScale
	Lo, Hi float64 // smallest and largest finite value
	knee   float64 // SymLog is linear below this magnitude
}

// NewScale returns a scale over the finite ones of the values; ok is false when
// there is none.
func NewScale(kind Kind, series ...[]float64) (s Scale, ok bool) {
	var mags []float64
	s = Scale{Kind: kind, Lo: math.Inf(1), Hi: math.Inf(-1)}
	for _, values := range series {
		for _, v := range values {
			if !finite(v) {
				continue
			}
			s.Lo, s.Hi, ok = min(s.Lo, v), max(s.Hi, v), true
			if v != 0 {
				mags = append(mags, math.Abs(v))
			}
		}
	}
	if !ok {
		return Scale{}, false
	}
	s.bend(mags)
	return s, true
}

// bend settles the kind and the knee from the magnitudes of the values. The
// middle magnitude, not the smallest, is what growth is measured against:
// every signal that crosses zero has some tiny value.
func (s *Scale) bend(mags []float64) {
	s.knee = 1
	if len(mags) > 0 {
		slices.Sort(mags)
		s.knee = max(mags[(len(mags)-1)/2], mags[len(mags)-1]*1e-300) // so that their ratio stays finite
	}
	if s.Kind != Auto {
		return
	}
	s.Kind = Linear
	if n := len(mags); n > 0 && mags[n-1]/s.knee > growth {
		s.Kind = SymLog
	}
}

// finite reports whether v is neither NaN nor infinite.
func finite(v float64) bool { return math.Abs(v) <= math.MaxFloat64 }

// At returns the height of the finite value v, from 0 (Lo) to 1 (Hi).
func (s Scale) At(v float64) float64 {
	lo, hi, y := s.bent(s.Lo), s.bent(s.Hi), s.bent(v)
	if hi <= lo {
		return 0.5
	}
	return min(max((y-lo)/(hi-lo), 0), 1)
}

// bent is where v lies on an axis without limits. Halving keeps a range of
// twice the largest float64 finite.
func (s Scale) bent(v float64) float64 {
	if s.Kind != SymLog {
		return v / 2
	}
	return math.Copysign(math.Log10(1+math.Abs(v)/s.knee), v)
}

// ValueAt returns the value at height h: the inverse of At.
func (s Scale) ValueAt(h float64) float64 {
	lo, hi := s.bent(s.Lo), s.bent(s.Hi)
	y := lo + h*(hi-lo)
	if s.Kind != SymLog {
		return 2 * y
	}
	return math.Copysign((math.Pow(10, math.Abs(y))-1)*s.knee, y)
}
