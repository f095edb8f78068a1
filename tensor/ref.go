package tensor

import (
	"fmt"
	"unsafe"
)

// MemKind says where the memory of a Ref lies. The zero value is Host.
type MemKind uint8

// The kinds of memory that a scanner may be given.
const (
	Host MemKind = iota
	CUDA
)

// Ref is a two-dimensional view of memory that belongs to somebody else: the
// training loop's array as it stands now. Rows are envs (or 1 for a field of
// the whole run), columns are the flattened rest.
//
// Host memory is named by Base, which also keeps Go memory alive; device
// memory by Addr. Strides are in bytes and may be zero (broadcast) or
// negative.
type Ref struct {
	Mem    MemKind
	Device int
	Base   unsafe.Pointer
	Addr   uintptr

	DType                DType
	Rows, Cols           int
	RowStride, ColStride int
}

// Element is a Go type whose slices can be watched in place.
type Element interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | bool
}

// RefOf returns a view of s as rows x cols in C order. It panics when s does
// not have rows*cols elements: a wrong shape is a bug of the caller.
func RefOf[T Element](s []T, rows, cols int) Ref {
	if rows < 0 || cols < 0 || rows*cols != len(s) {
		panic(fmt.Sprintf("tensor: %d elements are not %d rows of %d", len(s), rows, cols))
	}
	d := dtypeOf[T]()
	return Ref{
		Base: unsafe.Pointer(unsafe.SliceData(s)), DType: d,
		Rows: rows, Cols: cols, RowStride: cols * d.Size(), ColStride: d.Size(),
	}
}

// dtypeOf returns the element type of T.
func dtypeOf[T Element]() DType {
	var v T
	switch any(v).(type) {
	case float32:
		return Float32
	case float64:
		return Float64
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64:
		return Int64
	case uint8:
		return Uint8
	case uint16:
		return Uint16
	case uint32:
		return Uint32
	case uint64:
		return Uint64
	case bool:
		return Bool
	}
	return Invalid
}

// Contiguous reports whether the elements lie in C order without gaps.
func (r Ref) Contiguous() bool {
	return (r.Cols <= 1 || r.ColStride == r.DType.Size()) &&
		(r.Rows <= 1 || r.RowStride == r.Cols*r.DType.Size())
}

// Address returns the address of element (0, 0), wherever the memory lies.
func (r Ref) Address() uintptr {
	if r.Mem == Host {
		return uintptr(r.Base)
	}
	return r.Addr
}

// Bytes returns the bytes of the elements, strides left aside.
func (r Ref) Bytes() int { return r.Rows * r.Cols * r.DType.Size() }
