package detect

import (
	"errors"
	"fmt"

	"github.com/nanguard/nanguard/internal/cuda"
)

// Conditions that a MisuseError may match.
var (
	// ErrClosed: the guard was closed.
	ErrClosed = errors.New("guard is closed")
	// ErrUnknownField: the id was not returned by Bind of this guard, or names a
	// field of another clock.
	ErrUnknownField = errors.New("not a field of this guard and clock")
	// ErrChanged: a field has another shape or dtype than when it was bound.
	ErrChanged = errors.New("field changed")
	// ErrInGraph: a field is first seen while a graph is being captured, or graphs
	// hold checks and there is no room for another field.
	ErrInGraph = errors.New("checks are part of a graph")
	// ErrNoAddress: a field was bound without an address and checked without one.
	ErrNoAddress = errors.New("no address")
)

// Conditions that end a guard of a device, or keep it from beginning.
var (
	// ErrUnsupported: CUDA cannot be used on this machine; the error is an
	// *UnsupportedError.
	ErrUnsupported = cuda.ErrUnsupported
	// ErrContextLost: a kernel of this process crashed, or somebody destroyed the
	// context of the device.
	ErrContextLost = cuda.ErrContextLost
)

// UnsupportedError says why CUDA cannot be used on this machine, and what it
// would take.
type UnsupportedError = cuda.UnsupportedError

// ErrNothingNew is returned by Dump when nothing was recorded since the last
// dump: the guard rests after a trip.
var ErrNothingNew = errors.New("nothing was recorded since the last dump")

// ErrNoDumpsLeft is returned when the run has written Config.MaxDumps dumps.
var ErrNoDumpsLeft = errors.New("no dumps left")

// MisuseError reports a call that cannot be carried out as it was made. The
// guard is as it was before the call.
type MisuseError struct {
	Call  string // "new", "bind", "check", "dump" or "fact"
	Field string // the field in question, or ""
	Err   error
}

// Error returns the one-line message.
func (e *MisuseError) Error() string {
	if e.Field == "" {
		return e.Call + ": " + e.Err.Error()
	}
	return fmt.Sprintf("%s: field %q: %v", e.Call, e.Field, e.Err)
}

// Unwrap returns the reason.
func (e *MisuseError) Unwrap() error { return e.Err }

// misuse returns a MisuseError with a formatted reason.
func misuse(call, field, format string, args ...any) *MisuseError {
	return &MisuseError{Call: call, Field: field, Err: fmt.Errorf(format, args...)}
}
