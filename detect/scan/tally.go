package scan

import (
	"math"
	"unsafe"

	"github.com/nanguard/nanguard/tensor"
)

// number is what a tally computes with.
type number interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// tally gathers a Summary over blocks of elements in row-major order. Every
// block but the last has a multiple of four elements, so that element i always
// meets lane i mod 4.
type tally[T number] struct {
	cols  int
	n     int // elements so far
	found extremes[T]

	finite              int // finite elements, counted in careful blocks only
	careful             int // elements of careful blocks
	nan, posInf, negInf int64
	first               First
	lastBad             int // row of the last non-finite element
}

// extremes is the part of a tally that a block changes before it is known
// whether the block was finite.
type extremes[T number] struct {
	seen     bool
	min, max T
	atMin    int // index of the first element that is min
	atMax    int
	sum      [4]float64
}

// block adds the next elements. Those at from are copied to x first, unless from
// is nil: then x is full.
func (a *tally[T]) block(x []T, from unsafe.Pointer) {
	if len(x) == 0 {
		return
	}
	was := a.found
	a.found.add(x, from, a.n)
	if !a.found.sumFinite() {
		a.found = was
		a.addCarefully(x)
	}
	a.n += len(x)
}

// add takes in elements that are thought to be finite; the first of them has
// index base. When one is not, the sum tells.
func (e *extremes[T]) add(x []T, from unsafe.Pointer, base int) {
	n := e.addVectors(x, from, base)
	if n == len(x) {
		return
	}
	if from != nil {
		done, rest := n*int(unsafe.Sizeof(x[0])), bytesOf(x[n:])
		copy(rest, unsafe.Slice((*byte)(unsafe.Add(from, done)), len(rest)))
	}
	x, base = x[n:], base+n
	if !e.seen {
		e.seen, e.min, e.max, e.atMin, e.atMax = true, x[0], x[0], base, base
	}
	lo, hi := e.min, e.max
	s0, s1, s2, s3 := e.sum[0], e.sum[1], e.sum[2], e.sum[3]
	rest := x
	for ; len(rest) >= 4; rest = rest[4:] {
		p := rest[:4:4]
		a, b, c, d := p[0], p[1], p[2], p[3]
		s0 += float64(a)
		s1 += float64(b)
		s2 += float64(c)
		s3 += float64(d)
		if a < lo || b < lo || c < lo || d < lo || a > hi || b > hi || c > hi || d > hi {
			e.widen(p, base+len(x)-len(rest))
			lo, hi = e.min, e.max
		}
	}
	e.sum = [4]float64{s0, s1, s2, s3}
	for i, v := range rest {
		e.sum[i] += float64(v)
	}
	e.widen(rest, base+len(x)-len(rest))
}

// widen moves the extremes so that they enclose x, whose first element has
// index base.
func (e *extremes[T]) widen(x []T, base int) {
	for i, v := range x {
		if v < e.min {
			e.min, e.atMin = v, base+i
		}
		if v > e.max {
			e.max, e.atMax = v, base+i
		}
	}
}

// addCarefully takes in a block that holds a non-finite element, or whose sum
// overflowed.
func (a *tally[T]) addCarefully(x []T) {
	a.careful += len(x)
	for i, v := range x {
		if c := tensor.ClassOf(float64(v)); c != tensor.Finite {
			a.bad(a.n+i, c)
			continue
		}
		a.finite++
		if !a.found.seen {
			a.found = extremes[T]{seen: true, min: v, max: v, atMin: a.n + i, atMax: a.n + i, sum: a.found.sum}
		}
		a.found.sum[(a.n+i)&3] += float64(v)
		a.found.widen(x[i:i+1], a.n+i)
	}
}

// bad counts a non-finite element.
func (a *tally[T]) bad(i int, c tensor.Class) {
	row := i / a.cols
	if a.first.Class == tensor.Finite {
		a.first = First{Row: row, Col: i % a.cols, Class: c}
		a.lastBad = -1
	}
	if row != a.lastBad {
		a.first.Rows++
		a.lastBad = row
	}
	switch c {
	case tensor.NaN:
		a.nan++
	case tensor.PosInf:
		a.posInf++
	default:
		a.negInf++
	}
}

// total returns the sum of the lanes in the order that the package promises.
func (e *extremes[T]) total() float64 {
	return (e.sum[0] + e.sum[1]) + (e.sum[2] + e.sum[3])
}

// sumFinite reports whether every lane is finite: an infinite or NaN element
// makes its lane, and so the difference, NaN.
func (e *extremes[T]) sumFinite() bool {
	t := e.total()
	return t-t == 0
}

// summary returns what was found in ref.
func (a *tally[T]) summary(ref tensor.Ref) Summary {
	s := Summary{NaN: a.nan, PosInf: a.posInf, NegInf: a.negInf, First: a.first}
	e := &a.found
	if !e.seen {
		return s
	}
	lo, hi := float64(e.min)+0, float64(e.max)+0 // +0 takes the sign off a zero
	s.Min, s.Max = lo, hi
	s.AbsMax, s.ArgMax = math.Abs(hi), e.atMax/a.cols
	if math.Abs(lo) > s.AbsMax || math.Abs(lo) == s.AbsMax && e.atMin < e.atMax {
		s.AbsMax, s.ArgMax = math.Abs(lo), e.atMin/a.cols
	}
	n := float64(a.n - a.careful + a.finite)
	s.Mean = e.total() / n
	if !e.sumFinite() {
		s.Mean = scaledMean(ref, n)
	}
	return s
}
