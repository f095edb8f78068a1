package gpu

import (
	"sync/atomic"

	"github.com/nanguard/nanguard/detect/scan/kernel"
)

// Verdict is what the device has said so far.
type Verdict struct {
	Tick    int64 // of the last check that ran; 0 before the first
	Tripped bool
	Frozen  bool // nothing is recorded any more
	Trip    Bad  // when Tripped
	Clock   int  // of the check that tripped
}

// Bad is a value that is not finite or broke a limit, and when it was seen.
// Class is a tensor.Class or one of the kernel's two; Rows counts the rows of
// the field that held a value that is not finite in that frame.
type Bad struct {
	Field       int
	Tick, Count int64
	Row, Col    int
	Class       uint8
	Rows        int
}

// Poll returns what the device has said so far. It reads memory and nothing
// else, and may be called from any goroutine until Close.
func (e *Engine) Poll() Verdict {
	k := (*kernel.Verdict)(e.said.Base)
	v := Verdict{Tick: atomic.LoadInt64(&k.Tick)}
	// Read in the opposite order of writing: what the flags promise is there.
	v.Frozen = atomic.LoadUint32(&k.Frozen) != 0
	v.Tripped = atomic.LoadUint32(&k.Tripped) != 0
	if v.Tripped {
		v.Trip, v.Clock = badOf(k.Trip), int(k.Clock)
	}
	return v
}

// badOf returns what the kernel calls bad.
func badOf(b kernel.Bad) Bad {
	return Bad{
		Field: int(b.Field), Tick: b.Tick, Count: b.Count,
		Row: int(b.Row), Col: int(b.Col), Class: uint8(b.Class), Rows: int(b.Rows),
	}
}
