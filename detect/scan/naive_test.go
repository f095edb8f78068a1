package scan

import (
	"math"
	"math/rand/v2"
	"unsafe"

	"github.com/nanguard/nanguard/tensor"
)

var allTypes = []tensor.DType{
	tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64,
	tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64,
	tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64, tensor.Bool,
}

// naive is Host written for reading: one element at a time, by the words of
// the package comment.
func naive(ref tensor.Ref) Summary {
	var s Summary
	var sum [4]float64
	var values []float64
	lastBad := -1
	for i := range ref.Rows * ref.Cols {
		row, col := i/ref.Cols, i%ref.Cols
		bits := bitsAt(ref, row, col)
		if c := ref.DType.Classify(bits); c != tensor.Finite {
			if s.First.Class == tensor.Finite {
				s.First = First{Row: row, Col: col, Class: c}
			}
			if row != lastBad {
				s.First.Rows, lastBad = s.First.Rows+1, row
			}
			count := map[tensor.Class]*int64{tensor.NaN: &s.NaN, tensor.PosInf: &s.PosInf, tensor.NegInf: &s.NegInf}
			*count[c]++
			continue
		}
		v := ref.DType.Float64(bits) + 0
		if len(values) == 0 {
			s.Min, s.Max, s.ArgMax = v, v, row
		}
		if math.Abs(v) > s.AbsMax {
			s.AbsMax, s.ArgMax = math.Abs(v), row
		}
		s.Min, s.Max = min(s.Min, v), max(s.Max, v)
		sum[i%4] += v
		values = append(values, v)
	}
	if len(values) > 0 {
		s.Mean = (sum[0] + sum[1] + (sum[2] + sum[3])) / float64(len(values))
	}
	if s.Mean-s.Mean != 0 {
		s.Mean = meanOfHuge(values)
	}
	return s
}

// meanOfHuge adds quotients, which cannot overflow; the last bits may differ
// from the scanner's.
func meanOfHuge(values []float64) float64 {
	var m float64
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

// bitsAt returns the raw bits of an element.
func bitsAt(ref tensor.Ref, row, col int) uint64 {
	p := unsafe.Add(ref.Base, row*ref.RowStride+col*ref.ColStride)
	return ref.DType.Bits(unsafe.Slice((*byte)(p), ref.DType.Size()))
}

// refOf returns a view of a in C order.
func refOf(a tensor.Array) tensor.Ref {
	size := a.DType.Size()
	return tensor.Ref{
		Base: unsafe.Pointer(unsafe.SliceData(a.Data)), DType: a.DType,
		Rows: a.Shape[0], Cols: a.Shape[1], RowStride: a.Shape[1] * size, ColStride: size,
	}
}

// setBits stores the raw bits of element i.
func setBits(a tensor.Array, i int, bits uint64) {
	for k := range a.DType.Size() {
		a.Data[i*a.DType.Size()+k] = byte(bits >> (8 * k))
	}
}

// bitsOf returns v in type d, cut to its precision; good enough for making
// test data.
func bitsOf(d tensor.DType, v float64) uint64 {
	switch d {
	case tensor.Float64:
		return math.Float64bits(v)
	case tensor.Float32:
		return uint64(math.Float32bits(float32(v)))
	case tensor.BFloat16:
		return uint64(math.Float32bits(float32(v)) >> 16)
	case tensor.Float16:
		b := math.Float32bits(float32(v * 0x1p-112))
		return uint64(b>>16&0x8000 | b>>13&0x7fff)
	case tensor.Bool:
		return uint64(math.Float64bits(v)>>52) & 1
	}
	return uint64(int64(v * 100))
}

// randomBits returns a pattern of type d of every kind: any bits at all, zeros
// of both signs, subnormals, NaNs with payloads, infinities, ones.
func randomBits(r *rand.Rand, d tensor.DType) uint64 {
	mask := ^uint64(0) >> (64 - 8*d.Size())
	sign := r.Uint64() & (mask/2 + 1)
	if !d.IsFloat() || r.IntN(3) == 0 {
		return r.Uint64() & mask
	}
	l := laneMasks[d]
	exp := l.exp & mask
	switch r.IntN(8) {
	case 0:
		return sign
	case 1:
		return sign | r.Uint64()&(l.one&mask-1) // subnormal or zero
	case 2:
		return sign | exp // infinity
	case 3:
		return sign | exp | r.Uint64()&(l.one&mask-1) | 1 // NaN
	}
	return sign | (exp>>1)&exp | r.Uint64()&(l.one&mask-1) // around one
}
