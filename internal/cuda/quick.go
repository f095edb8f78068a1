package cuda

import "runtime"

// quick makes calls of the driver that cost as little as can be and allocate
// nothing. The arguments lie in memory that stays where it is. It is for one
// goroutine at a time.
type quick struct {
	c       *Context
	current uintptr    // what cuCtxGetCurrent says
	out     [1]uintptr // its address
	handle  [1]uintptr // of the context, for cuCtxPushCurrent
}

// newQuick returns the context's quick calls.
func newQuick(c *Context) *quick {
	q := &quick{c: c, handle: [1]uintptr{c.handle}}
	q.out[0] = addressOf(&q.current)
	return q
}

// try makes a call. Nearly always the thread has the context that is wanted, and
// asking costs as much as finding out: the driver refuses what belongs to another
// context. Then try makes the context current and calls once more.
func (q *quick) try(s symbol, args []uintptr) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := q.call(s, args)
	if r == Success {
		return nil
	}
	if q.call(symCtxGetCurrent, q.out[:]) != Success || q.current == q.c.handle {
		return q.c.d.result(s, r)
	}
	return q.pushed(s, args)
}

// sure makes a call that the driver would also carry out in another context,
// where it means something else: the default stream there.
func (q *quick) sure(s symbol, args []uintptr) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if r := q.call(symCtxGetCurrent, q.out[:]); r != Success {
		return q.c.d.result(symCtxGetCurrent, r)
	}
	if q.current != q.c.handle {
		return q.pushed(s, args)
	}
	return q.c.d.result(s, q.call(s, args))
}

// pushed makes a call with the context current for as long as it takes.
func (q *quick) pushed(s symbol, args []uintptr) error {
	if r := q.call(symCtxPushCurrent, q.handle[:]); r != Success {
		return q.c.d.result(symCtxPushCurrent, r)
	}
	r := q.call(s, args)
	q.call(symCtxPopCurrent, q.out[:])
	return q.c.d.result(s, r)
}

// call is Driver.call for arguments that stay in place.
func (q *quick) call(s symbol, args []uintptr) Result {
	d := q.c.d
	return Result(d.lib.Call(d.fn[s], args))
}
