package scan

import (
	"fmt"

	"github.com/nanguard/nanguard/tensor"
)

// Summary is what one scan of one field found: exactly the row of a trace, and
// the first bad value.
type Summary struct {
	NaN, PosInf, NegInf int64
	AbsMax              float64 // largest absolute finite value; 0 when there is none
	ArgMax              int     // its row; 0 when there is none
	Min, Max, Mean      float64 // of the finite values; 0 when there is none
	First               First
}

// First is the first non-finite value in row-major order; Class is
// tensor.Finite when every value is finite.
type First struct {
	Row, Col int
	Class    tensor.Class
	Rows     int // rows that hold a non-finite value
}

// Host scans memory of this process. It panics when the ref names memory of a
// device or a type that it does not know: whoever binds a field checks that.
func Host(ref tensor.Ref) Summary {
	mustBeHost(ref)
	switch ref.DType {
	case tensor.Float32:
		return direct[float32](ref)
	case tensor.Float64:
		return direct[float64](ref)
	case tensor.Int8:
		return direct[int8](ref)
	case tensor.Int16:
		return direct[int16](ref)
	case tensor.Int32:
		return direct[int32](ref)
	case tensor.Int64:
		return direct[int64](ref)
	case tensor.Uint8:
		return direct[uint8](ref)
	case tensor.Uint16:
		return direct[uint16](ref)
	case tensor.Uint32:
		return direct[uint32](ref)
	case tensor.Uint64:
		return direct[uint64](ref)
	default:
		return widened(ref)
	}
}

// mustBeHost stops a ref that this package cannot read.
func mustBeHost(ref tensor.Ref) {
	if ref.Mem != tensor.Host || ref.DType.Size() == 0 {
		panic(fmt.Sprintf("scan: memory kind %d, dtype %v is not host memory of a known type", ref.Mem, ref.DType))
	}
}

// direct summarises elements that Go can compute with, block by block.
func direct[T number](ref tensor.Ref) Summary {
	a := tally[T]{cols: ref.Cols}
	if b := newBlocks(ref); b.flat != nil {
		for p := b.next(nil); len(p) > 0; p = b.next(nil) {
			a.block(viewAs[T](p))
		}
	} else {
		a.gathered(b)
	}
	return a.summary(ref)
}

// gathered takes in blocks that cannot be read in place. It stands apart for
// its room, which small arrays should not wait for.
func (a *tally[T]) gathered(b blocks) {
	var room scratch
	for p := b.next(room.bytes()); len(p) > 0; p = b.next(room.bytes()) {
		a.block(viewAs[T](p))
	}
}

// widened summarises float16, bfloat16 and bool elements as float32, which
// holds each of their values exactly.
func widened(ref tensor.Ref) Summary {
	a := tally[float32]{cols: ref.Cols}
	b := newBlocks(ref)
	var room scratch
	var wide [blockBytes]float32
	for p := b.next(room.bytes()); len(p) > 0; p = b.next(room.bytes()) {
		a.block(widen(&wide, ref.DType, p))
	}
	return a.summary(ref)
}
