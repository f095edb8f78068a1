package recording

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/tensor"
)

func TestHugeBits(t *testing.T) {
	assert.EqualValues(t, math.Float32bits(Huge), uint32(hugeBits32))
	assert.EqualValues(t, math.Float64bits(Huge), uint64(hugeBits64))
}

// TestExamine looks at one value at a time in every float type, on both sides
// of every border.
func TestExamine(t *testing.T) {
	below := math.Nextafter(Huge, 0)
	for _, c := range []struct {
		dtype tensor.DType
		bits  uint64
		want  Health
	}{
		{tensor.Float64, math.Float64bits(below), 0},
		{tensor.Float64, math.Float64bits(Huge), HasHuge},
		{tensor.Float64, math.Float64bits(-math.MaxFloat64), HasHuge},
		{tensor.Float64, math.Float64bits(math.Inf(1)), HasPosInf},
		{tensor.Float64, math.Float64bits(math.Inf(-1)), HasNegInf},
		{tensor.Float64, 0xfff0000000000001, HasNaN},
		{tensor.Float32, 0x501502f8, 0},
		{tensor.Float32, 0xd01502f9, HasHuge},
		{tensor.Float32, 0x7f800000, HasPosInf},
		{tensor.Float32, 0xff800000, HasNegInf},
		{tensor.Float32, 0x7f800001, HasNaN},
		{tensor.Float16, 0x7bff, 0},
		{tensor.Float16, 0xfc00, HasNegInf},
		{tensor.BFloat16, 0x7fc0, HasNaN},
		{tensor.BFloat16, 0x7f7f, HasHuge},
		{tensor.Int64, math.MaxUint64 >> 1, 0},
	} {
		a := tensor.Array{DType: c.dtype, Shape: []int{1, 1, 2}}
		raw := binary.LittleEndian.AppendUint64(nil, c.bits)[:c.dtype.Size()]
		a.Data = append(make([]byte, c.dtype.Size()), raw...)
		assert.Equal(t, []Health{c.want}, examine(a, 1, 2), "%v %#x", c.dtype, c.bits)
	}
}
