//go:build cgo

package main

// #include "exports.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime/debug"
	"unicode/utf8"
	"unsafe"

	"github.com/nanguard/nanguard/detect"
)

// argumentError is a call that cannot be carried out as it was made, found
// before package detect saw it.
type argumentError struct{ error }

// wrong returns an argumentError with a formatted text.
func wrong(format string, args ...any) error {
	return argumentError{fmt.Errorf(format, args...)}
}

// wrongHandle returns the error for a handle that names no open guard.
func wrongHandle(call string, n uint64, why string) error {
	return fmt.Errorf("%s: %w: handle %d: %s", call, errNoGuard, n, why)
}

// codeOf returns the code of an error; other is that of one which package detect
// gave no type.
func codeOf(err error, other C.int) C.int {
	var argument argumentError
	var misuse *detect.MisuseError
	switch {
	case err == nil:
		return C.NG_OK
	case errors.Is(err, errNoGuard), errors.Is(err, detect.ErrClosed):
		return C.NG_ERR_HANDLE
	case errors.Is(err, detect.ErrChanged):
		return C.NG_ERR_CHANGED
	case errors.Is(err, detect.ErrNoDumpsLeft):
		return C.NG_ERR_NO_DUMPS
	case errors.Is(err, detect.ErrNothingNew):
		return C.NG_ERR_NOTHING_NEW
	case errors.Is(err, detect.ErrUnsupported):
		return C.NG_ERR_UNSUPPORTED
	case errors.Is(err, detect.ErrInGraph):
		return C.NG_ERR_GRAPH
	case errors.As(err, &argument), errors.As(err, &misuse):
		return C.NG_ERR_ARGUMENT
	}
	return other
}

// report writes the text of an error and returns its code.
func report(err error, other C.int, text *C.text_buffer) C.int {
	if err != nil {
		put(text, err.Error())
	}
	return codeOf(err, other)
}

// catch turns a panic, which must not cross into C, into a code and a text.
// Defer it.
func catch(code *C.int, text *C.text_buffer) {
	if r := recover(); r != nil {
		put(text, fmt.Sprintf("internal error: %v\n%s", r, debug.Stack()))
		*code = C.NG_ERR_INTERNAL
	}
}

// put writes text to a buffer of the caller's, with a NUL behind it.
func put(b *C.text_buffer, text string) {
	b.need = C.size_t(len(text) + 1)
	if b.data != nil {
		fill(unsafe.Slice((*byte)(unsafe.Pointer(b.data)), int(b.size)), text)
	}
}

// fill writes as much of text as fits, whole characters only, and a NUL.
func fill(to []byte, text string) {
	if len(to) == 0 {
		return
	}
	n := min(len(text), len(to)-1)
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	copy(to, text[:n])
	to[n] = 0
}
