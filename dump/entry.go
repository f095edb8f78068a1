package dump

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/nanguard/nanguard/tensor"
)

// header reads no more of an entry than what its elements are.
func (a *archive) header(name string) (arrayHeader, error) {
	rc, err := a.open(name)
	if err != nil {
		return arrayHeader{}, err
	}
	defer rc.Close()
	return a.checkedHeader(rc, name)
}

// checkedHeader reads the header of an entry and holds it against the length
// of the entry: nothing is allocated on a header's word.
func (a *archive) checkedHeader(r io.Reader, name string) (arrayHeader, error) {
	h, err := a.readHeader(r)
	if err != nil {
		return arrayHeader{}, err
	}
	have := int64(a.files[name].UncompressedSize64) - int64(len(a.head))
	if h.elem.kind != 'O' && h.bytes() != have {
		return arrayHeader{}, fmt.Errorf("header claims %s, which is %d bytes, but %d follow", h, h.bytes(), max(have, 0))
	}
	return h, nil
}

// read reads an entry whole. Once the header is known, place returns the memory
// for the elements, which end there little-endian and in C order.
func (a *archive) read(name string, place func(arrayHeader) ([]byte, error)) error {
	rc, err := a.open(name)
	if err != nil {
		return err
	}
	defer rc.Close()
	h, err := a.checkedHeader(rc, name)
	if err != nil {
		return err
	}
	dst, err := place(h)
	if err != nil {
		return err
	}
	if err := a.fill(rc, h, dst); err != nil {
		return err
	}
	return finish(rc)
}

// fill reads the elements of an array into dst.
func (a *archive) fill(r io.Reader, h arrayHeader, dst []byte) error {
	if !h.fortran || len(h.shape) < 2 {
		return readElements(r, h, dst)
	}
	if err := a.budget.take(h.bytes()); err != nil {
		return fmt.Errorf("turning Fortran order %w", err)
	}
	defer a.budget.give(h.bytes())
	columns := make([]byte, len(dst))
	if err := readElements(r, h, columns); err != nil {
		return err
	}
	toRows(dst, columns, h.shape, h.elem.size)
	return nil
}

// readElements fills dst and makes it little-endian.
func readElements(r io.Reader, h arrayHeader, dst []byte) error {
	if _, err := io.ReadFull(r, dst); err != nil {
		return damaged(err)
	}
	switch {
	case !h.elem.big:
	case h.elem.kind == 'U':
		swapBytes(dst, 4)
	default:
		swapBytes(dst, h.elem.size)
	}
	return nil
}

// finish reads to the end of an entry, where its checksum is compared.
func finish(r io.Reader) error {
	var more [1]byte
	switch _, err := io.ReadFull(r, more[:]); {
	case err == nil:
		return errors.New("goes on behind its last element")
	case !errors.Is(err, io.EOF):
		return damaged(err)
	}
	return nil
}

// toRows copies elements from Fortran order (the first index runs fastest) to C
// order (the last one does).
func toRows(dst, src []byte, shape []int, size int) {
	index := make([]int, len(shape))
	stride := make([]int, len(shape)) // of src, in bytes
	step := size
	for i, d := range shape {
		stride[i] = step
		step *= d
	}
	from := 0
	for to := 0; to < len(dst); to += size {
		copy(dst[to:to+size], src[from:from+size])
		for i := len(shape) - 1; i >= 0; i-- {
			index[i]++
			from += stride[i]
			if index[i] < shape[i] {
				break
			}
			from -= index[i] * stride[i]
			index[i] = 0
		}
	}
}

// array reads an entry of numbers into memory of its own.
func (a *archive) array(name string) (tensor.Array, error) {
	var out tensor.Array
	err := a.read(name, func(h arrayHeader) ([]byte, error) {
		d := h.elem.dtype()
		if d == tensor.Invalid {
			return nil, fmt.Errorf("holds %s; numbers were expected", h)
		}
		if err := a.budget.take(h.bytes()); err != nil {
			return nil, fmt.Errorf("%s %w", h, err)
		}
		out = tensor.Array{DType: d, Shape: slices.Clone(h.shape), Data: make([]byte, h.bytes())}
		return out.Data, nil
	})
	if err != nil {
		a.budget.give(int64(len(out.Data)))
		return tensor.Array{}, err
	}
	return out, nil
}

// ints reads an entry of whole numbers with one dimension.
func (a *archive) ints(name string) ([]int64, error) {
	arr, err := a.array(name)
	if err != nil {
		return nil, err
	}
	defer a.budget.give(int64(len(arr.Data)))
	if len(arr.Shape) != 1 || arr.DType < tensor.Int8 || arr.DType > tensor.Uint64 {
		return nil, fmt.Errorf("holds %s %s; one dimension of integers was expected", arr.DType, shapeText(arr.Shape))
	}
	if err := a.budget.take(8 * int64(arr.Len())); err != nil {
		return nil, err
	}
	out := make([]int64, arr.Len())
	for i := range out {
		out[i] = wholeNumber(arr.DType, arr.Bits(i))
	}
	return out, nil
}

// text reads an entry of bytes.
func (a *archive) text(name string) ([]byte, error) {
	var out []byte
	err := a.read(name, func(h arrayHeader) ([]byte, error) {
		if h.elem.size != 1 || h.elem.kind == 'b' || len(h.shape) != 1 {
			return nil, fmt.Errorf("holds %s; bytes (uint8, one dimension) were expected", h)
		}
		if h.count > a.budget.text() {
			return nil, fmt.Errorf("%s of text over limit %s; --max-bytes raises it", byteSize(h.count), byteSize(a.budget.text()))
		}
		out = make([]byte, h.count)
		return out, nil
	})
	return out, err
}

// pickle reads the pickle that stands for the one object of an entry.
func (a *archive) pickle(name string) ([]byte, error) {
	rc, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	h, err := a.checkedHeader(rc, name)
	if err != nil {
		return nil, err
	}
	if h.elem.kind != 'O' || h.count != 1 {
		return nil, fmt.Errorf("holds %s; one pickled dict (object ()) was expected", h)
	}
	limit := a.budget.text()
	if n := int64(a.files[name].UncompressedSize64); n > limit {
		return nil, fmt.Errorf("pickle of %s over limit %s; --max-bytes raises it", byteSize(n), byteSize(limit))
	}
	b, err := io.ReadAll(io.LimitReader(rc, limit))
	if err != nil {
		return nil, damaged(err)
	}
	return b, finish(rc)
}
