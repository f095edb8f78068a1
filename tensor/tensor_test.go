package tensor

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDTypeNames(t *testing.T) {
	for d := Float16; d <= Bool; d++ {
		got, err := ParseDType(d.String())
		require.NoError(t, err)
		assert.Equal(t, d, got)
		assert.Positive(t, d.Size(), d)
	}
	for _, name := range []string{"", "invalid", "float8", "Float32"} {
		_, err := ParseDType(name)
		assert.EqualError(t, err, `unknown dtype "`+name+`"`)
	}
	assert.Equal(t, "invalid", DType(200).String())
	assert.Zero(t, DType(200).Size())
}

func TestClassNames(t *testing.T) {
	for c := Finite; c <= NegInf; c++ {
		got, err := ParseClass(c.String())
		require.NoError(t, err)
		assert.Equal(t, c, got)
	}
	_, err := ParseClass("huge")
	assert.Error(t, err)
}

// TestClassify pins the patterns at the edges of each class, where an
// off-by-one in a mask would show.
func TestClassify(t *testing.T) {
	for _, c := range []struct {
		d    DType
		bits uint64
		want Class
	}{
		{Float16, 0x7bff, Finite},
		{Float16, 0x7c00, PosInf},
		{Float16, 0xfc00, NegInf},
		{Float16, 0x7c01, NaN},
		{Float16, 0xffff, NaN},
		{Float16, 0x0001, Finite},
		{BFloat16, 0x7f7f, Finite},
		{BFloat16, 0x7f80, PosInf},
		{BFloat16, 0xff80, NegInf},
		{BFloat16, 0x7f81, NaN},
		{Float32, 0x7f7fffff, Finite},
		{Float32, 0x7f800000, PosInf},
		{Float32, 0xff800000, NegInf},
		{Float32, 0x7f800001, NaN},
		{Float32, 0xffc00000, NaN},
		{Float32, 0x80000000, Finite},
		{Float64, 0x7fefffffffffffff, Finite},
		{Float64, 0x7ff0000000000000, PosInf},
		{Float64, 0xfff0000000000000, NegInf},
		{Float64, 0x7ff0000000000001, NaN},
		{Int32, 0x7f800000, Finite},
		{Bool, 0xff, Finite},
	} {
		assert.Equal(t, c.want, c.d.Classify(c.bits), "%s %#x", c.d, c.bits)
	}
}

// TestHalfPrecision compares the widening of all 65,536 halves and bfloat16s
// with their class, and their values with the definition of the formats.
func TestHalfPrecision(t *testing.T) {
	for b := range uint64(1 << 16) {
		for _, d := range []DType{Float16, BFloat16} {
			require.Equal(t, d.Classify(b), ClassOf(d.Float64(b)), "%s %#x", d, b)
		}
	}
	assert.Equal(t, 65504.0, Float16.Float64(0x7bff))
	assert.Equal(t, math.Ldexp(1, -24), Float16.Float64(0x0001))
	assert.Equal(t, -2.0, Float16.Float64(0xc000))
	assert.True(t, math.Signbit(Float16.Float64(0x8000)))
	assert.Equal(t, 1.0, BFloat16.Float64(0x3f80))
	assert.Equal(t, 3.3895313892515355e38, BFloat16.Float64(0x7f7f))
}

func TestIntegersWiden(t *testing.T) {
	assert.Equal(t, -1.0, Int8.Float64(0xff))
	assert.Equal(t, -2.0, Int16.Float64(0xfffe))
	assert.Equal(t, -3.0, Int32.Float64(0xfffffffd))
	assert.Equal(t, -4.0, Int64.Float64(^uint64(3)))
	assert.Equal(t, 255.0, Uint8.Float64(0xff))
	assert.Equal(t, 1.0, Bool.Float64(2))
	assert.Equal(t, 0.0, Invalid.Float64(7))
}

func TestArrayFrames(t *testing.T) {
	a := NewArray(Float32, 2, 3)
	for i := range a.Len() {
		f := math.Float32bits(float32(i))
		*(*uint32)(unsafe.Pointer(&a.Data[4*i])) = f
	}
	f := a.Frame(1)
	assert.Equal(t, []int{3}, f.Shape)
	assert.Equal(t, []float64{3, 4, 5}, f.AppendFloat64s(nil, 0, f.Len()))
	assert.Equal(t, 1, Array{DType: Int64, Data: make([]byte, 8)}.Len(), "a scalar has one element")
	assert.Panics(t, func() { NewArray(Float32, -1) })
}

func TestRefOf(t *testing.T) {
	s := []float32{0, 1, 2, 3, 4, 5}
	r := RefOf(s, 2, 3)
	assert.Equal(t, Float32, r.DType)
	assert.Equal(t, 12, r.RowStride)
	assert.Equal(t, 24, r.Bytes())
	assert.True(t, r.Contiguous())
	assert.Equal(t, uintptr(unsafe.Pointer(&s[0])), r.Address())
	r.RowStride = 16
	assert.False(t, r.Contiguous())
	assert.Panics(t, func() { RefOf(s, 2, 2) })
	assert.Equal(t, Bool, RefOf([]bool{true}, 1, 1).DType)
	assert.Equal(t, Uint16, RefOf([]uint16{1}, 1, 1).DType)
}
