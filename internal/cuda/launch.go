package cuda

import (
	"runtime"
	"unsafe"
)

// Launch is a kernel with its parameters, prepared so that running it costs as
// little as can be and allocates nothing. It is for one goroutine at a time.
type Launch struct {
	q      *quick
	params []unsafe.Pointer
	args   [11]uintptr // of cuLaunchKernel
}

// NewLaunch prepares a kernel. Each of params points to one of the kernel's
// parameters, which the caller may change between two runs; a run copies them.
func (c *Context) NewLaunch(f Function, threads int, params ...unsafe.Pointer) *Launch {
	l := &Launch{q: newQuick(c), params: params}
	l.args = [11]uintptr{
		uintptr(f), 1, 1, 1, uintptr(threads), 1, 1, 0, 0,
		uintptr(unsafe.Pointer(unsafe.SliceData(params))), 0,
	}
	return l
}

// Run enqueues the kernel with that many blocks. It does not wait. The kernel
// may become part of a graph, as with any launch.
func (l *Launch) Run(s Stream, blocks int) error {
	defer runtime.KeepAlive(l)
	l.args[1], l.args[8] = uintptr(blocks), uintptr(s)
	return l.q.try(symLaunchKernel, l.args[:])
}

// Blocks returns how many blocks the latest run had.
func (l *Launch) Blocks() int { return int(l.args[1]) }

// Calls are the addresses of the driver's functions that repeat a launch, for who
// does so in C: cuLaunchKernel, cuStreamIsCapturing and cuEventRecord.
type Calls struct{ LaunchKernel, StreamIsCapturing, EventRecord uintptr }

// Calls returns them.
func (c *Context) Calls() Calls {
	fn := &c.d.fn
	return Calls{fn[symLaunchKernel], fn[symStreamIsCapturing], fn[symEventRecord]}
}

// Order makes the calls that keep work on several streams in order, prepared as a
// Launch is: they allocate nothing. It is for one goroutine at a time.
type Order struct {
	q      *quick
	status int32
	asked  [2]uintptr // of cuStreamIsCapturing
	record [2]uintptr // of cuEventRecord
	wait   [3]uintptr // of cuStreamWaitEvent
}

// NewOrder prepares the calls.
func (c *Context) NewOrder() *Order {
	o := &Order{q: newQuick(c)}
	o.asked[1] = addressOf(&o.status)
	return o
}

// Capturing is Context.Capturing.
func (o *Order) Capturing(s Stream) (bool, error) {
	defer runtime.KeepAlive(o)
	if !s.mayCapture() {
		return false, nil
	}
	o.asked[0] = uintptr(s)
	err := o.q.try(symStreamIsCapturing, o.asked[:])
	return err == nil && o.status != 0, err
}

// Record is Context.Record.
func (o *Order) Record(e Event, s Stream) error {
	defer runtime.KeepAlive(o)
	o.record = [2]uintptr{uintptr(e), uintptr(s)}
	return o.q.try(symEventRecord, o.record[:])
}

// Wait is Context.Wait.
func (o *Order) Wait(s Stream, e Event) error {
	defer runtime.KeepAlive(o)
	o.wait = [3]uintptr{uintptr(s), uintptr(e), 0}
	return o.q.sure(symStreamWaitEvent, o.wait[:])
}

// addressOf returns where something lies that is kept in place by who asks.
func addressOf[T any](v *T) uintptr { return uintptr(unsafe.Pointer(v)) }
