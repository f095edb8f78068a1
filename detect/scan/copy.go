package scan

import (
	"fmt"
	"unsafe"

	"github.com/nanguard/nanguard/tensor"
)

// Copy copies the elements of ref into dst in C order. It panics unless
// len(dst) == ref.Bytes().
func Copy(dst []byte, ref tensor.Ref) {
	mustHold(dst, ref)
	copyFrom(dst, &ref, 0)
}

// mustHold stops a copy of ref that dst is not made for.
func mustHold(dst []byte, ref tensor.Ref) {
	mustBeHost(ref)
	if len(dst) != ref.Bytes() {
		panic(fmt.Sprintf("scan: %d bytes for a copy of %d", len(dst), ref.Bytes()))
	}
}

// copyFrom fills dst with the elements of ref from the given index on, counted
// in row-major order. dst must not be longer than what is left.
func copyFrom(dst []byte, ref *tensor.Ref, from int) {
	switch {
	case len(dst) == 0:
	case ref.Contiguous():
		copy(dst, unsafe.Slice((*byte)(unsafe.Add(ref.Base, from*ref.DType.Size())), len(dst)))
	default:
		gather(dst, ref, from)
	}
}

// gather is copyFrom for an array that is not in C order.
func gather(dst []byte, ref *tensor.Ref, from int) {
	size := ref.DType.Size()
	row, col := from/ref.Cols, from%ref.Cols
	for len(dst) > 0 {
		n := min((ref.Cols-col)*size, len(dst))
		gatherRow(dst[:n], element(ref, row, col), ref.ColStride, size)
		dst = dst[n:]
		row, col = row+1, 0
	}
}

// element returns the address of an element of ref.
func element(ref *tensor.Ref, row, col int) unsafe.Pointer {
	return unsafe.Add(ref.Base, row*ref.RowStride+col*ref.ColStride)
}

// gatherRow fills dst with elements of the given size that stand stride bytes
// apart, at any alignment.
func gatherRow(dst []byte, p unsafe.Pointer, stride, size int) {
	if stride == size || len(dst) == size {
		copy(dst, unsafe.Slice((*byte)(p), len(dst)))
		return
	}
	switch size {
	case 1:
		gatherCells[[1]byte](dst, p, stride)
	case 2:
		gatherCells[[2]byte](dst, p, stride)
	case 4:
		gatherCells[[4]byte](dst, p, stride)
	default:
		gatherCells[[8]byte](dst, p, stride)
	}
}

// gatherCells is gatherRow for cells of a size that the compiler knows.
func gatherCells[C [1]byte | [2]byte | [4]byte | [8]byte](dst []byte, p unsafe.Pointer, stride int) {
	var cell C
	cells := unsafe.Slice((*C)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst)/len(cell))
	for i := range cells {
		cells[i] = *(*C)(unsafe.Add(p, i*stride))
	}
}
