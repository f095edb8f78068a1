package scan

import (
	"fmt"
	"unsafe"

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
	return summarise(newBlocks(ref))
}

// Capture copies the elements of ref into dst in C order, as Copy does, and
// scans the copy on the way, which takes little longer than to scan alone. What it
// says is true of dst even when another thread writes to ref meanwhile.
func Capture(dst []byte, ref tensor.Ref) Summary {
	mustHold(dst, ref)
	copied := ref
	copied.Base = unsafe.Pointer(unsafe.SliceData(dst))
	copied.ColStride = ref.DType.Size()
	copied.RowStride = ref.Cols * copied.ColStride
	b := newBlocks(copied)
	if b.flat == nil { // nothing to copy, or dst is not aligned
		Copy(dst, ref)
	} else {
		b.source = &ref
	}
	return summarise(b)
}

// summarise scans what blocks walks through.
func summarise(b blocks) Summary {
	switch b.ref.DType {
	case tensor.Float32:
		return direct[float32](b)
	case tensor.Float64:
		return direct[float64](b)
	case tensor.Int8:
		return direct[int8](b)
	case tensor.Int16:
		return direct[int16](b)
	case tensor.Int32:
		return direct[int32](b)
	case tensor.Int64:
		return direct[int64](b)
	case tensor.Uint8:
		return direct[uint8](b)
	case tensor.Uint16:
		return direct[uint16](b)
	case tensor.Uint32:
		return direct[uint32](b)
	case tensor.Uint64:
		return direct[uint64](b)
	default:
		return widened(b)
	}
}

// mustBeHost stops a ref that this package cannot read.
func mustBeHost(ref tensor.Ref) {
	if ref.Mem != tensor.Host || ref.DType.Size() == 0 {
		panic(fmt.Sprintf("scan: memory kind %d, dtype %v is not host memory of a known type", ref.Mem, ref.DType))
	}
}

// direct summarises elements that Go can compute with, block by block.
func direct[T number](b blocks) Summary {
	a := tally[T]{cols: b.ref.Cols}
	if b.flat != nil {
		for p, from := b.nextFrom(); len(p) > 0; p, from = b.nextFrom() {
			a.block(viewAs[T](p), from)
		}
	} else {
		a.gathered(b)
	}
	return a.summary(b.ref)
}

// gathered takes in blocks that cannot be read in place. It stands apart for
// its room, which small arrays should not wait for.
func (a *tally[T]) gathered(b blocks) {
	var room scratch
	for p := b.next(room.bytes()); len(p) > 0; p = b.next(room.bytes()) {
		a.block(viewAs[T](p), nil)
	}
}

// widened summarises float16, bfloat16 and bool elements as float32, which
// holds each of their values exactly.
func widened(b blocks) Summary {
	a := tally[float32]{cols: b.ref.Cols}
	var room scratch
	var wide [blockBytes]float32
	for p := b.next(room.bytes()); len(p) > 0; p = b.next(room.bytes()) {
		a.block(widen(&wide, b.ref.DType, p), nil)
	}
	return a.summary(b.ref)
}
