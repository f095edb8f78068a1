//go:build cgo

package main

// #include "repeat.h"
// #include <stdlib.h>
import "C"

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/nanguard/nanguard/detect"
)

// repeater is the Go side of repeat.c: a detect.Repeater. It does nothing as long
// as it has no place.
type repeater struct {
	place *C.repeat_guard

	// The check under way, as the caller made it.
	clock   C.int32_t
	advance C.int32_t
	refs    []C.ng_ref
}

// places guards who has a place.
var places sync.Mutex

// open takes the place of a guard, unless another one has it.
func (r *repeater) open(guard uint64) {
	places.Lock()
	defer places.Unlock()
	at := &C.repeat_guards[guard%C.REPEAT_GUARDS]
	if *at == nil {
		p := (*C.repeat_guard)(C.calloc(1, C.sizeof_repeat_guard))
		atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(at)), unsafe.Pointer(p)) // callers in C look meanwhile
	}
	if *at != nil && (*at).guard == 0 {
		r.place = *at
		r.place.guard = C.ng_guard(guard)
	}
}

// close gives the place back.
func (r *repeater) close() {
	places.Lock()
	defer places.Unlock()
	if r.place == nil {
		return
	}
	r.Stop(true)
	r.Forget()
	r.place.guard = 0
	r.place = nil
}

// caller notes how the caller makes the check under way.
func (r *repeater) caller(clock C.int32_t, advance bool, refs []C.ng_ref) {
	r.clock, r.advance, r.refs = clock, 0, refs
	if advance {
		r.advance = 1
	}
}

// flag returns a member that both sides look at at once.
func flag(p *C.uint32_t) *uint32 { return (*uint32)(unsafe.Pointer(p)) }

// Stop implements detect.Repeater.
func (r *repeater) Stop(wait bool) bool {
	if r.place == nil {
		return true
	}
	was := atomic.SwapUint32(flag(&r.place.open), 0)
	for n := 0; atomic.LoadUint32(flag(&r.place.busy)) != 0; n++ {
		switch {
		case !wait:
			atomic.StoreUint32(flag(&r.place.open), was)
			return false
		case n < 100:
			runtime.Gosched()
		default: // a launch waits for room in the GPU's queue
			time.Sleep(20 * time.Microsecond)
		}
	}
	return true
}

// Go implements detect.Repeater.
func (r *repeater) Go(s detect.Steady) {
	p := r.place
	if p == nil || p.places == 0 {
		return
	}
	p.stream, p.code = C.uintptr_t(s.Stream), C.NG_OK
	if s.Tripped {
		p.code = C.NG_TRIPPED
	}
	p.news, p.seen = C.uintptr_t(uintptr(unsafe.Pointer(s.News))), C.uint32_t(s.Seen)
	atomic.StoreUint32(flag(&p.open), 1)
}

// Made implements detect.Repeater.
func (r *repeater) Made(to detect.Ledger) {
	if r.place == nil {
		return
	}
	var room [C.REPEAT_CHECKS]*C.repeat_check
	made := room[:0]
	for i := range r.place.checks[:r.place.places] {
		if c := &r.place.checks[i]; c.made > 0 {
			made = append(made, c)
		}
	}
	slices.SortFunc(made, func(a, b *C.repeat_check) int { return cmp.Compare(a.turn, b.turn) })
	for _, c := range made {
		to.Count(int64(c.made), int(c.counted), c.advance != 0)
		c.made = 0
		for k := range c.refs[:c.n] {
			to.Address(detect.FieldID(c.refs[k].field), uintptr(c.refs[k].address))
		}
	}
	if r.place.torn != 0 {
		to.Unmarked()
		r.place.torn = 0
	}
}

// Forget implements detect.Repeater.
func (r *repeater) Forget() {
	if r.place != nil {
		r.place.places, r.place.oldest = 0, 0
	}
}

// Learn implements detect.Repeater.
func (r *repeater) Learn(l detect.Learned) {
	p := r.place
	if p == nil || len(l.Params) > C.REPEAT_PARAMS || len(r.refs) > C.REPEAT_REFS {
		return
	}
	p.launch, p.is_capturing, p.record = C.uintptr_t(l.Calls.LaunchKernel), C.uintptr_t(l.Calls.StreamIsCapturing), C.uintptr_t(l.Calls.EventRecord)
	p.function, p.mark, p.threads = C.uintptr_t(l.Function), C.uintptr_t(l.Mark), C.uint32_t(l.Threads)
	p.address, p.step = C.uint32_t(l.Address), C.uint32_t(l.Step)
	at := r.placeOf()
	p.at[at] = &r.refs[0]
	c := &p.checks[at]
	*c = C.repeat_check{
		clock: r.clock, advance: r.advance, counted: C.int32_t(l.Clock),
		n: C.uint32_t(len(r.refs)), blocks: C.uint32_t(l.Blocks), fixed: C.uint64_t(l.Fixed),
	}
	copy(c.refs[:], r.refs)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&c.params)), C.REPEAT_PARAMS), l.Params)
}

// placeOf returns where the check under way belongs: where it was learned before,
// else a new place or the oldest.
func (r *repeater) placeOf() int {
	p := r.place
	for i := range int(p.places) {
		if c := &p.checks[i]; p.at[i] == &r.refs[0] && c.clock == r.clock && c.advance == r.advance {
			return i
		}
	}
	if p.places < C.REPEAT_CHECKS {
		p.places++
		return int(p.places) - 1
	}
	at := p.oldest
	p.oldest = (at + 1) % C.REPEAT_CHECKS
	return int(at)
}
