package dump

import (
	"errors"
	"io"
)

// windowSize is what is read at once. The small entries of a dump stand one
// behind the other, so that one read serves many.
const windowSize = 64 << 10

// window is the file as the zip package reads it. It is not safe for concurrent
// use.
type window struct {
	r     io.ReaderAt
	buf   []byte // the file's bytes from at on
	at    int64
	asked int64 // where the last read began
	quota int64 // bytes that may still be read
}

// errDirectory ends the reading of a directory that is too large: each of its
// records becomes some hundred bytes of memory.
var errDirectory = errors.New("zip directory over limit")

// ReadAt implements io.ReaderAt.
func (w *window) ReadAt(p []byte, off int64) (int, error) {
	if w.quota -= int64(len(p)); w.quota < 0 {
		return 0, errDirectory
	}
	w.asked = off
	if len(p) > windowSize/2 {
		return w.r.ReadAt(p, off)
	}
	if !w.holds(off, len(p)) {
		w.move(off)
	}
	if !w.holds(off, len(p)) {
		return w.r.ReadAt(p, off) // for its error
	}
	return copy(p, w.buf[off-w.at:]), nil
}

// holds reports whether the window has n bytes from off on.
func (w *window) holds(off int64, n int) bool {
	return off >= w.at && off-w.at <= int64(len(w.buf)-n)
}

// move reads the window anew from off on.
func (w *window) move(off int64) {
	if w.buf == nil {
		w.buf = make([]byte, windowSize)
	}
	n, _ := w.r.ReadAt(w.buf[:windowSize], off)
	w.buf, w.at = w.buf[:n], off
}
