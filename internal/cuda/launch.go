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

	current uintptr    // what cuCtxGetCurrent says
	out     [1]uintptr // its address
	handle  [1]uintptr // of the context, for cuCtxPushCurrent
}

// NewLaunch prepares a kernel. Each of params points to one of the kernel's
// parameters, which the caller may change between two runs; a run copies them.
func (c *Context) NewLaunch(f Function, threads int, params ...unsafe.Pointer) *Launch {
	l := &Launch{c: c, params: params, handle: [1]uintptr{c.handle}}
	l.args = [11]uintptr{
		uintptr(f), 1, 1, 1, uintptr(threads), 1, 1, 0, 0,
		uintptr(unsafe.Pointer(unsafe.SliceData(params))), 0,
	}
	l.out[0] = uintptr(unsafe.Pointer(&l.current))
	return l
}

// Run enqueues the kernel with that many blocks. It does not wait. The kernel
// may become part of a graph, as with any launch.
//
// Nearly always the thread has the context that is wanted, and asking costs as
// much as finding out: the driver refuses kernels of another context.
func (l *Launch) Run(s Stream, blocks int) error {
	l.args[1], l.args[8] = uintptr(blocks), uintptr(s)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer runtime.KeepAlive(l)
	r := l.call(symLaunchKernel, l.args[:])
	if r == Success {
		return nil
	}
	if l.call(symCtxGetCurrent, l.out[:]) != Success || l.current == l.c.handle {
		return l.c.d.result(symLaunchKernel, r)
	}
	if r = l.call(symCtxPushCurrent, l.handle[:]); r != Success {
		return l.c.d.result(symCtxPushCurrent, r)
	}
	r = l.call(symLaunchKernel, l.args[:])
	l.call(symCtxPopCurrent, l.out[:])
	return l.c.d.result(symLaunchKernel, r)
}

// call is Driver.call for arguments that lie in the Launch and stay there.
func (l *Launch) call(s symbol, args []uintptr) Result {
	d := l.c.d
	return Result(d.lib.Call(d.fn[s], args))
}
