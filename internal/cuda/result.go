package cuda

import (
	"errors"
	"fmt"
)

// Result is what a call of the driver returns. Zero is success.
type Result uint32

// The results that this module tells apart.
const (
	Success             Result = 0
	InvalidValue        Result = 1
	OutOfMemory         Result = 2
	NotInitialized      Result = 3
	NoDevice            Result = 100
	InvalidContext      Result = 201
	MemoryUncorrectable Result = 214
	UnsupportedPTX      Result = 222
	InvalidHandle       Result = 400
	NotReady            Result = 600
	IllegalAddress      Result = 700
	ContextDestroyed    Result = 709
	LaunchFailed        Result = 719
	CaptureUnsupported  Result = 900
)

// texts says what a result means, in the words of a person who reads a log.
var texts = map[Result]string{
	Success:             "success",
	InvalidValue:        "an argument is not valid",
	OutOfMemory:         "out of memory",
	NotInitialized:      "the driver is not initialized (in a forked process it never is)",
	4:                   "the driver is shutting down",
	34:                  "the library is a stub without a driver",
	46:                  "the device is busy or in exclusive use",
	NoDevice:            "no device",
	101:                 "no device of that number",
	InvalidContext:      "the context is not valid",
	205:                 "mapping failed",
	209:                 "no code for this device",
	MemoryUncorrectable: "uncorrectable memory error (ECC)",
	220:                 "uncorrectable error of the link between GPUs (NVLink)",
	218:                 "the PTX is not valid",
	UnsupportedPTX:      "the PTX is newer than the driver",
	304:                 "a system call failed",
	InvalidHandle:       "a handle is not valid",
	500:                 "the name was not found",
	NotReady:            "not ready",
	IllegalAddress:      "a kernel used an illegal address",
	701:                 "too many resources asked for a launch",
	702:                 "a kernel ran too long",
	ContextDestroyed:    "the context was destroyed",
	710:                 "a kernel's assertion failed",
	714:                 "the hardware stack failed",
	715:                 "a kernel used an illegal instruction",
	716:                 "a kernel used a misaligned address",
	717:                 "a kernel used an address of the wrong space",
	718:                 "a kernel's program counter left its code",
	LaunchFailed:        "a kernel failed",
	721:                 "a kernel left tensor memory taken",
	800:                 "not permitted",
	801:                 "not supported here",
	802:                 "the system is not ready (is the fabric manager running?)",
	803:                 "driver and library do not match",
	CaptureUnsupported:  "not possible while a stream is being captured",
	901:                 "the capture was invalidated",
	906:                 "the default stream cannot take part in a capture",
	999:                 "unknown error",
}

// String returns what the result means.
func (r Result) String() string {
	if s, ok := texts[r]; ok {
		return s
	}
	return fmt.Sprintf("error %d of the CUDA driver", uint32(r))
}

// lost reports whether a context is of no use after this result. An invalid
// context is one that somebody destroyed: this package hands out none else.
func (r Result) lost() bool {
	switch r {
	case NotInitialized, 4, InvalidContext, MemoryUncorrectable, 220, IllegalAddress, 702, ContextDestroyed,
		710, 714, 715, 716, 717, 718, LaunchFailed, 721:
		return true
	}
	return false
}

// ErrContextLost is matched by errors after which nothing more can be done
// with the device's context: a kernel of this process crashed, the hardware
// failed, somebody destroyed the context, or this is a fork of the process that
// has it.
var ErrContextLost = errors.New("the CUDA context is lost")

// Error is a call of the driver that did not succeed.
type Error struct {
	Call   string // such as "cuMemAlloc_v2"
	Result Result
}

// Error says which call and why.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %v (%d)", e.Call, e.Result, uint32(e.Result))
}

// Is makes the error match ErrContextLost when the context is of no use.
func (e *Error) Is(target error) bool { return target == ErrContextLost && e.Result.lost() }

// ResultOf returns the driver's result in err, Success when it holds none.
func ResultOf(err error) Result {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Result
	}
	return Success
}
