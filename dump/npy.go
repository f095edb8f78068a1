package dump

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"codeberg.org/sbinet/npyio/npy"

	"github.com/nanguard/nanguard/internal/safetext"
)

// What a header of an .npy may be. numpy itself reads 10,000 bytes of header
// and 64 dimensions.
const (
	maxHeader = 64 << 10
	maxDims   = 32
)

// arrayHeader describes the elements of an entry.
type arrayHeader struct {
	elem    npyType
	fortran bool
	shape   []int
	count   int64 // elements: the product of the shape
}

// bytes returns the length of the elements.
func (h arrayHeader) bytes() int64 { return h.count * int64(h.elem.size) }

// String returns dtype and shape as a message shows them: "float64 (2, 6)".
func (h arrayHeader) String() string { return h.elem.String() + " " + shapeText(h.shape) }

// shapeText returns a shape as Python writes it.
func shapeText(shape []int) string {
	if len(shape) == 1 {
		return fmt.Sprintf("(%d,)", shape[0])
	}
	return "(" + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(shape)), ", "), "[]") + ")"
}

// readHeader reads the header that stands before the elements of an .npy.
// Headers seen before cost a look-up.
func (a *archive) readHeader(r io.Reader) (arrayHeader, error) {
	prefix, n, err := headerLength(r)
	if err != nil {
		return arrayHeader{}, err
	}
	a.head = append(a.head[:0], prefix...)
	a.head = slices.Grow(a.head, n)[:len(prefix)+n]
	if _, err := io.ReadFull(r, a.head[len(prefix):]); err != nil {
		return arrayHeader{}, damaged(err)
	}
	if h, ok := a.headers[string(a.head)]; ok {
		return h, nil
	}
	h, err := parseHeader(a.head)
	if err != nil {
		return arrayHeader{}, fmt.Errorf("header: %w", err)
	}
	if len(a.headers) < 256 {
		a.headers[string(a.head)] = h
	}
	return h, nil
}

// headerLength reads what stands before the text of a header and returns it
// with the length of the text.
func headerLength(r io.Reader) (prefix []byte, n int, err error) {
	var b [12]byte
	if _, err := io.ReadFull(r, b[:10]); err != nil {
		return nil, 0, fmt.Errorf("is no .npy array: %w", damaged(err))
	}
	if !bytes.HasPrefix(b[:], npy.Magic[:]) {
		return nil, 0, errors.New("is no .npy array: it does not begin with \\x93NUMPY")
	}
	switch b[6] {
	case 1:
		return b[:10], int(binary.LittleEndian.Uint16(b[8:])), nil
	case 2, 3:
		if _, err := io.ReadFull(r, b[10:]); err != nil {
			return nil, 0, damaged(err)
		}
		n := binary.LittleEndian.Uint32(b[8:])
		if n > maxHeader {
			return nil, 0, fmt.Errorf("header length %d over limit %d", n, maxHeader)
		}
		return b[:], int(n), nil
	}
	return nil, 0, fmt.Errorf("is in version %d.%d of the .npy format; 1 to 3 were expected", b[6], b[7])
}

// parseHeader parses a whole header and checks what it claims.
func parseHeader(head []byte) (arrayHeader, error) {
	raw, err := npyioHeader(head)
	if err != nil {
		return arrayHeader{}, err
	}
	descr, ok := unquote(raw.Descr.Type)
	if !ok {
		return arrayHeader{}, fmt.Errorf("dtype %s is not a plain one", quote(raw.Descr.Type))
	}
	h := arrayHeader{fortran: raw.Descr.Fortran, shape: raw.Descr.Shape}
	if h.elem, err = parseType(descr); err != nil {
		return arrayHeader{}, err
	}
	h.count, err = countElements(h.shape, h.elem.size)
	if err == nil && h.elem.size == 0 && h.elem.kind != 'O' && h.count > 1 {
		err = fmt.Errorf("shape %s of elements without size", shapeText(h.shape))
	}
	return h, err
}

// npyioHeader hands the bytes of one header, bounded before, to npyio. It
// slices by what it searches for and panics where that is not in its place, and
// it knows no version 3, which differs from 2 in the encoding of names only.
func npyioHeader(head []byte) (h npy.Header, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("does not parse as {'descr', 'fortran_order', 'shape'}")
		}
	}()
	head = bytes.Clone(head)
	head[6] = min(head[6], 2)
	r, err := npy.NewReader(bytes.NewReader(head))
	if err != nil {
		// Its errors quote the file as it is.
		return h, fmt.Errorf("does not parse: %s", safetext.Clip(err.Error(), 120))
	}
	return r.Header, nil
}

// unquote removes the quotes of a Python string without escapes.
func unquote(s string) (string, bool) {
	if len(s) < 2 || s[0] != '\'' && s[0] != '"' || s[len(s)-1] != s[0] {
		return "", false
	}
	return s[1 : len(s)-1], true
}

// countElements returns the product of the shape when that many elements of the
// given size can be addressed.
func countElements(shape []int, size int) (int64, error) {
	if len(shape) > maxDims {
		return 0, fmt.Errorf("%d dimensions over limit %d", len(shape), maxDims)
	}
	n := uint64(max(size, 1))
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("negative dimension in shape %s", shapeText(shape))
		}
		hi, lo := bits.Mul64(n, uint64(max(d, 1)))
		if hi != 0 || lo > 1<<48 {
			return 0, fmt.Errorf("shape %s is more than any file holds", shapeText(shape))
		}
		n = lo
	}
	if slices.Contains(shape, 0) {
		return 0, nil
	}
	return int64(n) / int64(max(size, 1)), nil
}
