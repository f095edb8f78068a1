package gpu

import (
	"runtime"
	"sync/atomic"

	"github.com/nanguard/nanguard/detect/scan/kernel"
)

// Verdict is what the device has said so far.
type Verdict struct {
	Tripped bool
	Frozen  bool   // nothing is recorded any more
	Trip    Bad    // when Tripped
	Clock   int    // of the check that tripped
	Rearms  int    // how often recording began again
	Seq     uint32 // of what was said; see News
}

// Bad is a value that is not finite or breaks a limit, and when it was seen.
type Bad struct {
	Field       int
	Tick, Count int64
	Row, Col    int
	Class       Class
	Rows        int // of the field that held a value that is not finite in that frame; 0 in a trip
}

// Class is what is wrong with a value: a tensor.Class, or one of those here.
type Class uint8

// The classes of a value that is finite: it is above the field's limit, or above
// what its growth allows.
const (
	OverLimit Class = 4 + iota
	Grown
)

// Poll returns what the device has said so far. It reads memory and nothing
// else, and may be called from any goroutine, at any time.
func (e *Engine) Poll() Verdict {
	k, ok := e.hear()
	if !ok {
		return Verdict{}
	}
	v := Verdict{Tripped: k.Tripped != 0, Frozen: k.Frozen != 0, Rearms: int(k.Rearms), Seq: k.Seq}
	if v.Tripped {
		v.Trip, v.Clock = e.tripOf(&k.Trip), int(k.Trip.Clock)
	}
	return v
}

// hear copies what the device says. It says something new a few times in a run,
// and takes a microsecond for it. Should it die over that, ok is false.
func (e *Engine) hear() (k kernel.Verdict, ok bool) {
	said := (*kernel.Verdict)(e.said.Base)
	for range 1000 {
		seq := atomic.LoadUint32(&said.Seq)
		k = *said
		if seq%2 == 0 && seq == atomic.LoadUint32(&said.Seq) {
			return k, true
		}
		runtime.Gosched()
	}
	return k, false
}

// tripOf reads the key of a trip.
func (e *Engine) tripOf(k *kernel.Trip) Bad {
	rank, place := int(k.Key>>43&(MaxRank-1)), k.Key&(1<<43-1)
	b := e.badOf(e.known.Load().byRank[rank], place)
	b.Tick, b.Count = k.Tick, k.Count
	if precursor := k.Key>>63 != 0; precursor {
		b.Class += OverLimit
	}
	return b
}

// badOf returns what a place, element << 2 | class, says of a field.
func (e *Engine) badOf(field int, place uint64) Bad {
	element, cols := int(place>>2), e.known.Load().cols[field]
	return Bad{Field: field, Row: element / cols, Col: element % cols, Class: Class(place & 3)}
}
