package mjb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	magic       = 54321
	headerBytes = 20
	// maxFields bounds the size fields of a header: 98 in MuJoCo 4.0.
	maxFields = 1024
	// firstVersion is the smallest fourth word that is a version and no count.
	firstVersion = 3_005_000
)

// header is what the first bytes of a file say.
type header struct {
	version  version // 0 before MuJoCo 3.5, which does not write it
	n32, n64 int
	arrays   int
	sizes    []int64
}

// readHeader reads the header and the sizes behind it.
func readHeader(r io.ReaderAt, size int64, name string) (*header, error) {
	b := make([]byte, headerBytes)
	if size < headerBytes {
		return nil, fmt.Errorf("model %q: %w: %d bytes, want a header of %d", name, ErrNotModel, size, headerBytes)
	}
	if err := readAt(r, b, 0); err != nil {
		return nil, fmt.Errorf("model %q: header: %w", name, err)
	}
	var w [5]int32
	for i := range w {
		w[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
	if w[0] != magic {
		return nil, fmt.Errorf("model %q: %w: first word %d, want %d", name, ErrNotModel, w[0], magic)
	}
	h := parseHeader(w)
	if w[1] != 8 {
		return nil, &LayoutError{
			File: name, Version: h.text(),
			Reason: fmt.Sprintf("mjtNum has %d bytes, want 8", w[1]),
		}
	}
	if err := h.readSizes(r, size); err != nil {
		return nil, fmt.Errorf("model %q: %w", name, err)
	}
	return h, nil
}

// parseHeader makes sense of the five words.
func parseHeader(w [5]int32) *header {
	if v := int(w[3]); v >= firstVersion {
		return &header{
			version: version(v/1_000_000*10000 + v/1000%1000*100 + v%1000),
			n64:     int(w[2]), arrays: int(w[4]),
		}
	}
	return &header{n32: int(w[2]), n64: int(w[3]), arrays: int(w[4])}
}

// text returns the version for a message, "" when the file has none.
func (h *header) text() string {
	if h.version == 0 {
		return ""
	}
	return h.version.String()
}

// readSizes reads the size fields.
func (h *header) readSizes(r io.ReaderAt, size int64) error {
	if h.n32 < 0 || h.n32 > maxFields || h.n64 < 0 || h.n64 > maxFields {
		return fmt.Errorf("%w: header has %d+%d size fields, want at most %d", ErrNotModel, h.n32, h.n64, maxFields)
	}
	b := make([]byte, 4*h.n32+8*h.n64)
	if int64(len(b)) > size-headerBytes {
		return fmt.Errorf("truncated: %d bytes, the size fields end at %d", size, headerBytes+len(b))
	}
	if err := readAt(r, b, headerBytes); err != nil {
		return fmt.Errorf("size fields: %w", err)
	}
	h.sizes = make([]int64, 0, h.n32+h.n64)
	for i := range h.n32 {
		h.sizes = append(h.sizes, int64(int32(binary.LittleEndian.Uint32(b[4*i:]))))
	}
	for b = b[4*h.n32:]; len(b) > 0; b = b[8:] {
		h.sizes = append(h.sizes, int64(binary.LittleEndian.Uint64(b)))
	}
	return nil
}

// readAt fills b from the given offset.
func readAt(r io.ReaderAt, b []byte, offset int64) error {
	n, err := r.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read %d bytes at offset %d: %w", len(b), offset, err)
}
