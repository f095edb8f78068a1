package mjb

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

const (
	// maxColumns bounds what makes a column of a state vector, maxObjects the
	// bodies, joints, geoms and actuators: far above real models, low enough
	// that a file made to exhaust memory cannot.
	maxColumns = 1 << 20
	maxObjects = 1 << 18
	// maxNames bounds the bytes of all names, maxName those of one.
	maxNames = 16 << 20
	maxName  = 256
)

// file reads parts of a model by name. The first fault is kept and all reads
// behind it give nothing, so that callers check once, at the end.
type file struct {
	*layout
	r     io.ReaderAt
	buf   []byte
	names string
	ioErr error // of the reader
	err   error // of what is in the file
}

// failed reports whether reading has ended.
func (f *file) failed() bool { return f.ioErr != nil || f.err != nil }

// fault keeps the first thing that is wrong in the file.
func (f *file) fault(format string, args ...any) {
	if !f.failed() {
		f.err = fmt.Errorf(format, args...)
	}
}

// size returns a size field, 0 for one that this version lacks.
func (f *file) size(name string, limit int64) int {
	k := f.sizes[name]
	if k < 0 || k > limit {
		f.fault("size %s is %d, want 0 to %d", name, k, limit)
		return 0
	}
	return int(k)
}

// bytes reads n bytes; they are valid until the next read.
func (f *file) bytes(offset, n int64) []byte {
	if f.failed() {
		return nil
	}
	if int64(cap(f.buf)) < n {
		f.buf = make([]byte, n+n/2)
	}
	b := f.buf[:n]
	if f.ioErr = readAt(f.r, b, offset); f.ioErr != nil {
		return nil
	}
	return b
}

// raw reads the n elements of an array, nil after a fault.
func (f *file) raw(name string, want elem, n int) []byte {
	s := f.find(name)
	if s.n != int64(n) || n > 0 && s.elem != want {
		f.fault("array %s has %d elements of %d bytes, want %d of %d", name, s.n, s.elem.bytes(), n, want.bytes())
	}
	if n == 0 {
		return nil
	}
	return f.bytes(s.offset, s.n*want.bytes())
}

// nums reads the n elements of an array of mjtNum; all zero after a fault.
func (f *file) nums(name string, n int) []float64 {
	v := make([]float64, n)
	if b := f.raw(name, num, n); b != nil {
		for i := range v {
			v[i] = float64At(b, 8*i)
		}
	}
	return v
}

// ints reads the n elements of an array of int; all zero after a fault.
func (f *file) ints(name string, n int) []int {
	v := make([]int, n)
	if b := f.raw(name, i32, n); b != nil {
		for i := range v {
			v[i] = intAt(b, 4*i)
		}
	}
	return v
}

// bools reads the n elements of an array of flags; all false after a fault.
func (f *file) bools(name string, n int) []bool {
	v := make([]bool, n)
	for i, x := range f.raw(name, u8, n) {
		v[i] = x != 0
	}
	return v
}

// loadNames reads the area that holds all names.
func (f *file) loadNames() {
	s := f.find("names")
	if s.n > maxNames {
		f.fault("names take %d bytes, want at most %d", s.n, maxNames)
		return
	}
	f.names = string(f.bytes(s.offset, s.n))
}

// name returns the name that begins at adr of the names area, cut when it is
// longer than any sane one.
func (f *file) name(adr int) string {
	if adr < 0 || adr >= len(f.names) {
		f.fault("name at %d of %d bytes of names", adr, len(f.names))
		return ""
	}
	s := f.names[adr:min(len(f.names), adr+maxName)]
	if end := strings.IndexByte(s, 0); end >= 0 {
		return s[:end]
	}
	return s
}

func intAt(b []byte, i int) int {
	return int(int32(binary.LittleEndian.Uint32(b[i:])))
}

func float64At(b []byte, i int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(b[i:]))
}
