package cuda

import "errors"

// ErrUnsupported is matched by every error that says that CUDA cannot be used
// on this machine.
var ErrUnsupported = errors.New("CUDA cannot be used here")

// UnsupportedError says why CUDA cannot be used on this machine, and what it
// would take.
type UnsupportedError struct {
	Reason string // such as "the driver supports CUDA up to 11.4"
	Need   string // such as "an NVIDIA driver from 525 on"; "" when nothing helps
	Err    error  // what the system said, or nil
}

// Error gives reason, need and what the system said.
func (e *UnsupportedError) Error() string {
	s := ErrUnsupported.Error() + ": " + e.Reason
	if e.Need != "" {
		s += ", needed is " + e.Need
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Is makes the error match ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == ErrUnsupported }

// Unwrap returns what the system said.
func (e *UnsupportedError) Unwrap() error { return e.Err }
