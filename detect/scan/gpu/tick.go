package gpu

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/nanguard/nanguard/detect/scan/kernel"
	"github.com/nanguard/nanguard/internal/cuda"
)

// Later is the number of a check that the device has yet to tell.
type Later struct {
	from *answers
	tick atomic.Int64 // -1 as long as it is not known
}

// Tick returns the number; ok is false as long as it is not known. It waits for
// nothing, and any goroutine may ask.
func (l *Later) Tick() (tick int64, ok bool) {
	l.from.collect()
	tick = l.tick.Load()
	return tick, tick >= 0
}

// maxAsked is how many answers the device may owe.
const maxAsked = 256

// answers is where the device tells the numbers of checks: memory that both
// share. It answers in the order in which it was asked.
type answers struct {
	mu    sync.Mutex
	slots []int64  // -1 until the device has written
	first int      // slot of the first that is owed
	owed  []*Later // in the slots from first on, around the end
	known int64    // the latest that was told
}

// collect takes in what the device has told.
func (a *answers) collect() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.owed) > 0 {
		tick := atomic.LoadInt64(&a.slots[a.first])
		if tick < 0 {
			return
		}
		a.owed[0].tick.Store(tick)
		a.known = max(a.known, tick)
		a.owed = slices.Delete(a.owed, 0, 1)
		a.first = (a.first + 1) % len(a.slots)
	}
}

// answersAt is where the answers lie in the memory that the engine shares with
// the device, sharedSize is the size of that.
const (
	answersAt  = (unsafe.Sizeof(kernel.Verdict{}) + 63) &^ 63
	sharedSize = int(answersAt) + 8*maxAsked
)

// share takes the memory for what the device says.
func (e *Engine) share() (err error) {
	if e.said, err = e.ctx.Share(sharedSize); err == nil {
		e.answers.slots = unsafe.Slice((*int64)(unsafe.Add(e.said.Base, answersAt)), maxAsked)
	}
	return err
}

// AskTick asks for the number of the last check that the device has done. It does
// not wait: the answer comes some microseconds later, as soon as the device has
// read the number on a stream of its own. It returns nil when the device owes too
// many answers, or cannot be asked.
func (e *Engine) AskTick() *Later {
	a := &e.answers
	a.collect()
	a.mu.Lock()
	defer a.mu.Unlock()
	if e.closed || len(a.owed) == maxAsked {
		return nil
	}
	slot := &a.slots[(a.first+len(a.owed))%maxAsked]
	atomic.StoreInt64(slot, -1)
	if err := e.ctx.DownloadRows(e.own, bytesOf(slot), e.state(), cuda.Rows{N: 1, Width: 8, DstPitch: 8, SrcPitch: 8}); err != nil {
		return nil
	}
	l := &Later{from: a}
	l.tick.Store(-1)
	a.owed = append(a.owed, l)
	return l
}

// KnownTick returns the number of the latest check that the device has told of,
// when it was asked or when it tripped. It asks nothing.
func (e *Engine) KnownTick() int64 {
	e.answers.collect()
	e.answers.mu.Lock()
	defer e.answers.mu.Unlock()
	return max(e.answers.known, e.Poll().Trip.Tick)
}
