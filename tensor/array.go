package tensor

import "fmt"

// Array is an n-dimensional array that owns its elements: little-endian, in C
// order, len(Data) == Size()*DType.Size(). Treat the arrays that a dump hands
// out as read-only.
type Array struct {
	DType DType
	Shape []int
	Data  []byte
}

// NewArray returns a zeroed array. It panics when a dimension is negative.
func NewArray(d DType, shape ...int) Array {
	a := Array{DType: d, Shape: append([]int(nil), shape...)}
	a.Data = make([]byte, a.Len()*d.Size())
	return a
}

// Len returns the number of elements: the product of the shape, 1 for a
// scalar.
func (a Array) Len() int {
	n := 1
	for _, s := range a.Shape {
		if s < 0 {
			panic(fmt.Sprintf("tensor: negative dimension in shape %v", a.Shape))
		}
		n *= s
	}
	return n
}

// Bits returns the raw bits of element i, counted in C order.
func (a Array) Bits(i int) uint64 {
	return a.DType.Bits(a.Data[i*a.DType.Size():])
}

// Float64 returns element i, counted in C order, as a float64.
func (a Array) Float64(i int) float64 { return a.DType.Float64(a.Bits(i)) }

// Class returns the class of element i, counted in C order.
func (a Array) Class(i int) Class { return a.DType.Classify(a.Bits(i)) }

// AppendFloat64s appends elements [from, to), counted in C order, to dst as
// float64 and returns the extended slice.
func (a Array) AppendFloat64s(dst []float64, from, to int) []float64 {
	for i := from; i < to; i++ {
		dst = append(dst, a.Float64(i))
	}
	return dst
}

// Frame returns the i-th sub-array along the first axis. It shares the bytes
// of a.
func (a Array) Frame(i int) Array {
	f := Array{DType: a.DType, Shape: a.Shape[1:]}
	n := f.Len() * a.DType.Size()
	f.Data = a.Data[i*n : (i+1)*n : (i+1)*n]
	return f
}
