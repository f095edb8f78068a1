//go:build cgo && linux

package main

import (
	"runtime"
	"syscall"
	"time"
)

// awakeEvery is shorter than the 10 ms after which Go's runtime sends its
// monitor thread to sleep when nothing runs.
const awakeEvery = 5 * time.Millisecond

// stayAwake keeps Go's runtime from going to sleep while a guard is open. A
// training loop calls every few milliseconds. A call that finds the runtime asleep
// has to wake its monitor thread, which takes several times as long as the check.
// To the runtime a thread in a short system call is at work, and its goroutine has
// to be scheduled anew now and then. The caller holds the lock.
func (t *table) stayAwake() {
	if t.awake {
		return
	}
	t.awake = true
	go func() {
		for !t.rest() {
			pause := syscall.NsecToTimespec(int64(awakeEvery))
			_ = syscall.Nanosleep(&pause, nil) // cut short by a signal, it is called again
			runtime.Gosched()
		}
	}()
}

// rest reports whether no guard is open, and notes that nobody stays awake then.
func (t *table) rest() bool {
	t.Lock()
	defer t.Unlock()
	t.awake = len(t.open) > 0
	return !t.awake
}
