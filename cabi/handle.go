//go:build cgo

package main

import (
	"errors"
	"sync"

	"github.com/nanguard/nanguard/detect"
)

// handle is one guard of a caller's.
type handle struct {
	guard  *detect.Guard
	device int32 // as ng_config has it

	mu       sync.Mutex // held during a check
	refs     []detect.FieldRef
	repeater repeater
}

// table holds the open guards. A number is given out once.
type table struct {
	sync.RWMutex
	last  uint64
	open  map[uint64]*handle
	awake bool // somebody keeps Go's runtime from sleeping
}

var handles = table{open: map[uint64]*handle{}}

// errNoGuard is matched by errors about a handle that names no open guard.
var errNoGuard = errors.New("no such guard")

// add gives a guard its number.
func add(h *handle) uint64 {
	handles.Lock()
	defer handles.Unlock()
	handles.last++
	handles.open[handles.last] = h
	h.repeater.open(handles.last)
	handles.stayAwake()
	return handles.last
}

// lookUp returns the guard of a number.
func lookUp(call string, n uint64) (*handle, error) {
	handles.RLock()
	h, last := handles.open[n], handles.last
	handles.RUnlock()
	switch {
	case h != nil:
		return h, nil
	case n != 0 && n <= last:
		return nil, wrongHandle(call, n, "it is closed")
	}
	return nil, wrongHandle(call, n, "it was never made")
}

// remove takes a guard out of the table. It returns nil for one that was taken
// out before.
func remove(n uint64) (*handle, error) {
	handles.Lock()
	defer handles.Unlock()
	if n == 0 || n > handles.last {
		return nil, wrongHandle("close", n, "it was never made")
	}
	h := handles.open[n]
	delete(handles.open, n)
	return h, nil
}
