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
func (l *Launch) Run(s Stream, blocks int) error {
	l.args[1], l.args[8] = uintptr(blocks), uintptr(s)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer runtime.KeepAlive(l)
	if err := l.call(symCtxGetCurrent, l.out[:]); err != nil {
		return err
	}
	if l.current != l.c.handle {
		if err := l.call(symCtxPushCurrent, l.handle[:]); err != nil {
			return err
		}
		defer l.call(symCtxPopCurrent, l.out[:]) //nolint:errcheck // there is nothing left to do about it
	}
	return l.call(symLaunchKernel, l.args[:])
}

// call is Driver.call for arguments that lie in the Launch and stay there.
func (l *Launch) call(s symbol, args []uintptr) error {
	d := l.c.d
	return d.result(s, Result(d.lib.Call(d.fn[s], args)))
}
