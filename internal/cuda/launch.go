package cuda

import (
	"runtime"
	"unsafe"
)

// Launch is a kernel with its parameters, prepared so that running it costs as
// little as can be and allocates nothing. It is for one goroutine at a time.
type Launch struct {
	c      *Context
	params []unsafe.Pointer
	args   [11]uintptr // of cuLaunchKernel

	current    uintptr // what cuCtxGetCurrent says
	currentArg [1]uintptr
}

// NewLaunch prepares a kernel. Each of params points to one of the kernel's
// parameters, which the caller may change between two runs; a run copies them.
func (c *Context) NewLaunch(f Function, threads int, params ...unsafe.Pointer) *Launch {
	l := &Launch{c: c, params: params}
	l.args = [11]uintptr{
		uintptr(f), 1, 1, 1, uintptr(threads), 1, 1, 0, 0,
		uintptr(unsafe.Pointer(unsafe.SliceData(params))), 0,
	}
	l.currentArg[0] = uintptr(unsafe.Pointer(&l.current))
	return l
}

// Run enqueues the kernel with that many blocks. It does not wait. The kernel
// may become part of a graph, as with any launch.
func (l *Launch) Run(s Stream, blocks int) error {
	l.args[1], l.args[8] = uintptr(blocks), uintptr(s)
	d := l.c.d
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if r := Result(d.lib.Call(d.fn[symCtxGetCurrent], l.currentArg[:])); r != Success {
		return d.result(symCtxGetCurrent, r)
	}
	if l.current != l.c.handle {
		if err := d.push(l.c.handle); err != nil {
			return err
		}
		defer d.pop(&l.current) //nolint:errcheck // there is nothing left to do about it
	}
	r := Result(d.lib.Call(d.fn[symLaunchKernel], l.args[:]))
	runtime.KeepAlive(l)
	return d.result(symLaunchKernel, r)
}
