package scan

import (
	"math"

	"github.com/nanguard/nanguard/tensor"
)

// widen stores the elements of b, which are of type d, in dst as float32 and
// returns the part of dst that they fill.
func widen(dst *[blockBytes]float32, d tensor.DType, b []byte) []float32 {
	w := dst[:len(b)/d.Size()]
	switch d {
	case tensor.BFloat16:
		h := viewAs[uint16](b)[:len(w)]
		for i := vectorWiden(w, h, true); i < len(w); i++ {
			w[i] = math.Float32frombits(uint32(h[i]) << 16)
		}
	case tensor.Float16:
		h := viewAs[uint16](b)[:len(w)]
		for i := vectorWiden(w, h, false); i < len(w); i++ {
			w[i] = half(h[i])
		}
	default:
		for i, v := range b[:len(w)] {
			w[i] = truth(v)
		}
	}
	return w
}

// half widens an IEEE 754 half. Moved into place, its exponent reads 112 too
// low, in subnormals too; one multiplication, which is exact, sets that right.
func half(h uint16) float32 {
	const lift = 0x1p112
	bits := uint32(h&0x7fff) << 13
	if h&0x7c00 == 0x7c00 { // infinity and NaN keep an exponent of all ones
		return math.Float32frombits(bits | 0x7f800000 | uint32(h&0x8000)<<16)
	}
	v := math.Float32frombits(bits) * lift
	return math.Float32frombits(math.Float32bits(v) | uint32(h&0x8000)<<16)
}

// truth returns a bool's byte as 0 or 1.
func truth(v byte) float32 {
	if v != 0 {
		return 1
	}
	return 0
}
