package scan

import (
	"unsafe"

	"github.com/nanguard/nanguard/tensor"
)

// blockBytes is how much of an array is looked at in one go: small enough for
// the first-level cache, a multiple of four elements of every type.
const blockBytes = 8 << 10

// scratch is room for one block, aligned for every type.
type scratch [blockBytes / 8]uint64

// bytes returns the room as bytes.
func (s *scratch) bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(s)), blockBytes)
}

// blocks walks an array in row-major order in pieces of at most blockBytes.
type blocks struct {
	ref    tensor.Ref
	flat   []byte      // the whole array when it can be read in place
	source *tensor.Ref // where flat is filled from, block by block; nil: it is full
	at     int         // elements handed out
}

// newBlocks returns a walk that stands before the first block.
func newBlocks(ref tensor.Ref) blocks {
	return blocks{ref: ref, flat: flat(ref)}
}

// next returns the next block, or an empty one at the end. What cannot be read
// in place is gathered in scratch.
func (b *blocks) next(scratch []byte) []byte {
	size := b.ref.DType.Size()
	from, n := b.advance()
	if b.flat != nil {
		p := b.flat[from*size : b.at*size]
		if b.source != nil {
			copyFrom(p, b.source, from)
		}
		return p
	}
	if n > 0 {
		gather(scratch[:n*size], &b.ref, from)
	}
	return scratch[:n*size]
}

// nextFrom is next of an array that can be read in place, for one who copies:
// what is to be copied to the block lies at from, in C order, or the block is
// full and from is nil.
func (b *blocks) nextFrom() (block []byte, from unsafe.Pointer) {
	if b.source == nil || !b.source.Contiguous() {
		return b.next(nil), nil
	}
	size := b.ref.DType.Size()
	i, n := b.advance()
	if n == 0 {
		return nil, nil
	}
	return b.flat[i*size : b.at*size], unsafe.Add(b.source.Base, i*size)
}

// advance returns the first element of the next block and their number.
func (b *blocks) advance() (from, n int) {
	from, n = b.at, min(b.ref.Rows*b.ref.Cols-b.at, blockBytes/b.ref.DType.Size())
	b.at += n
	return from, n
}

// flat returns the bytes of an array that lies in C order at an address fit
// for its type, else nil.
func flat(ref tensor.Ref) []byte {
	if ref.Bytes() <= 0 || !ref.Contiguous() || uintptr(ref.Base)%uintptr(ref.DType.Size()) != 0 {
		return nil
	}
	return unsafe.Slice((*byte)(ref.Base), ref.Bytes())
}

// viewAs returns b, which is aligned for T, as elements.
func viewAs[T number](b []byte) []T {
	var v T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(v)))
}

// bytesOf returns the bytes of elements.
func bytesOf[T number](x []T) []byte {
	var v T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(v)))
}
