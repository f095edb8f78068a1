package scan

import (
	"slices"
	"unsafe"
)

// The assembly takes groups of elements, and what is left over goes the way of
// machines without it.
const (
	group       = 16   // elements that a pass over them takes at a time
	streams     = 8    // parts of an array that are tested side by side
	streamBytes = 64   // what the test takes of each at a time
	streamPace  = 4096 // what it takes of each before it may stop early
)

// vectorFinite tests the most of b that the assembly can, and returns the rest.
// Eight streams, an eighth of the run each, keep the memory's prefetchers at
// work.
func (l *lanes) vectorFinite(b []byte) (rest []byte, finite bool) {
	n := len(b) / (streams * streamBytes) * streamBytes
	if !hasVectors || n == 0 {
		return b, true
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	for at := 0; at < n; at += streamPace {
		if !finiteAVX2(unsafe.Add(p, at), min(streamPace, n-at), n, l.keep, l.most) {
			return nil, false
		}
	}
	return b[streams*n:], true
}

// addVectors is add for the most of x that the assembly can take, and returns
// how many elements that was. It copies them on the way when x is to be filled.
func (e *extremes[T]) addVectors(x []T, from unsafe.Pointer, base int) int {
	n := len(x) / group * group
	if !hasVectors || n == 0 {
		return 0
	}
	var nowhere [group]float64 // takes a copy that nobody wants
	p, dst, step := unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(&nowhere), 0
	if from != nil {
		p, dst, step = from, p, group*int(unsafe.Sizeof(x[0]))
	}
	var lo, hi T
	switch any(lo).(type) {
	case float32:
		var ends [2]float32
		tally32AVX2(p, n, &e.sum, &ends, dst, step)
		lo, hi = T(ends[0]), T(ends[1])
	case float64:
		var ends [2]float64
		tally64AVX2(p, n, &e.sum, &ends, dst, step)
		lo, hi = T(ends[0]), T(ends[1])
	default:
		return 0
	}
	// When another thread writes to x meanwhile, it may be there no more.
	if !e.seen || lo < e.min {
		e.min, e.atMin = lo, base+max(0, slices.Index(x, lo))
	}
	if !e.seen || hi > e.max {
		e.max, e.atMax = hi, base+max(0, slices.Index(x, hi))
	}
	e.seen = true
	return n
}

// vectorWiden widens the most of src that the assembly can, and returns how many
// elements that was.
func vectorWiden(dst []float32, src []uint16, brain bool) int {
	n := len(src) / group * group
	switch to, from := unsafe.SliceData(dst), unsafe.SliceData(src); {
	case !hasVectors || n == 0:
		return 0
	case brain:
		brainsAVX2(to, from, n)
	default:
		halvesAVX2(to, from, n)
	}
	return n
}

// Means says what the passes over an array are made of on this machine.
func Means() string {
	if hasVectors {
		return "AVX2"
	}
	return "Go"
}
