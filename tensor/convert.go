package tensor

import (
	"encoding/binary"
	"math"
)

// Float64 returns the element with the given raw bits as a float64. The
// conversion is exact for every type but Int64 and Uint64 beyond 2^53; a NaN
// stays a NaN and an infinity keeps its sign. Bool is 0 or 1.
func (d DType) Float64(bits uint64) float64 {
	switch d {
	case Float16:
		return float16to64(uint16(bits))
	case BFloat16:
		return float64(math.Float32frombits(uint32(bits) << 16))
	case Float32:
		return float64(math.Float32frombits(uint32(bits)))
	case Float64:
		return math.Float64frombits(bits)
	case Int8:
		return float64(int8(bits))
	case Int16:
		return float64(int16(bits))
	case Int32:
		return float64(int32(bits))
	case Int64:
		return float64(int64(bits))
	case Uint8, Uint16, Uint32, Uint64:
		return float64(bits)
	case Bool:
		if bits != 0 {
			return 1
		}
	}
	return 0
}

// Bits returns the raw bits of the element that starts at b[0].
func (d DType) Bits(b []byte) uint64 {
	switch d.Size() {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case 8:
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// float16to64 widens an IEEE 754 half.
func float16to64(h uint16) float64 {
	sign, exp, frac := 1.0, int(h>>10&0x1f), float64(h&0x3ff)
	if h&0x8000 != 0 {
		sign = -1
	}
	switch exp {
	case 0:
		return sign * math.Ldexp(frac, -24)
	case 0x1f:
		if frac != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1+frac/1024, exp-15)
}
