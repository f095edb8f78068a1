package cuda

import "unsafe"

// call makes every call of the driver but those of a Launch. What the
// arguments point to is moved to the heap, where it stays in place while C
// looks at it: so says the directive, which works for conversions written
// inside the argument list only.
//
//go:uintptrescapes
func (d *Driver) call(s symbol, args ...uintptr) error {
	return d.result(s, Result(d.lib.Call(d.fn[s], args)))
}

// result returns the error of a call that returned r, or nil.
func (d *Driver) result(s symbol, r Result) error {
	if r == Success {
		return nil
	}
	return &Error{Call: symbols[s], Result: r}
}

// The calls, one typed line each, in the order of symbols.go. Out-parameters
// come first where C has them first.

func (d *Driver) init() error { return d.call(symInit, 0) }

func (d *Driver) driverVersion(v *int32) error {
	return d.call(symDriverGetVersion, uintptr(unsafe.Pointer(v)))
}

func (d *Driver) deviceCount(n *int32) error {
	return d.call(symDeviceGetCount, uintptr(unsafe.Pointer(n)))
}

func (d *Driver) device(dev *int32, i int) error {
	return d.call(symDeviceGet, uintptr(unsafe.Pointer(dev)), uintptr(i))
}

func (d *Driver) deviceName(name []byte, dev int32) error {
	return d.call(symDeviceGetName, uintptr(unsafe.Pointer(unsafe.SliceData(name))), uintptr(len(name)), uintptr(dev))
}

func (d *Driver) deviceAttribute(v *int32, a attribute, dev int32) error {
	return d.call(symDeviceGetAttribute, uintptr(unsafe.Pointer(v)), uintptr(a), uintptr(dev))
}

func (d *Driver) deviceMemory(n *uint64, dev int32) error {
	return d.call(symDeviceTotalMem, uintptr(unsafe.Pointer(n)), uintptr(dev))
}

func (d *Driver) retainPrimary(ctx *uintptr, dev int32) error {
	return d.call(symPrimaryCtxRetain, uintptr(unsafe.Pointer(ctx)), uintptr(dev))
}

func (d *Driver) releasePrimary(dev int32) error { return d.call(symPrimaryCtxRelease, uintptr(dev)) }

func (d *Driver) current(ctx *uintptr) error {
	return d.call(symCtxGetCurrent, uintptr(unsafe.Pointer(ctx)))
}

func (d *Driver) push(ctx uintptr) error { return d.call(symCtxPushCurrent, ctx) }

func (d *Driver) pop(ctx *uintptr) error {
	return d.call(symCtxPopCurrent, uintptr(unsafe.Pointer(ctx)))
}

func (d *Driver) synchronize() error { return d.call(symCtxSynchronize) }

func (d *Driver) exchangeCaptureMode(mode *int32) error {
	return d.call(symThreadExchangeStreamCaptureMode, uintptr(unsafe.Pointer(mode)))
}

func (d *Driver) loadModule(m *uintptr, text []byte, options []int32, values []uintptr) error {
	return d.call(symModuleLoadDataEx, uintptr(unsafe.Pointer(m)), uintptr(unsafe.Pointer(unsafe.SliceData(text))), uintptr(len(options)),
		uintptr(unsafe.Pointer(unsafe.SliceData(options))), uintptr(unsafe.Pointer(unsafe.SliceData(values))))
}

func (d *Driver) unloadModule(m uintptr) error { return d.call(symModuleUnload, m) }

func (d *Driver) function(f *uintptr, m uintptr, name []byte) error {
	return d.call(symModuleGetFunction, uintptr(unsafe.Pointer(f)), m, uintptr(unsafe.Pointer(unsafe.SliceData(name))))
}

func (d *Driver) memInfo(free, total *uint64) error {
	return d.call(symMemGetInfo, uintptr(unsafe.Pointer(free)), uintptr(unsafe.Pointer(total)))
}

func (d *Driver) alloc(p *Ptr, n int) error {
	return d.call(symMemAlloc, uintptr(unsafe.Pointer(p)), uintptr(n))
}

func (d *Driver) free(p Ptr) error { return d.call(symMemFree, uintptr(p)) }

func (d *Driver) hostRegister(p unsafe.Pointer, n int, flags uint32) error {
	return d.call(symMemHostRegister, uintptr(p), uintptr(n), uintptr(flags))
}

func (d *Driver) hostUnregister(p unsafe.Pointer) error {
	return d.call(symMemHostUnregister, uintptr(p))
}

func (d *Driver) hostDevicePointer(dev *Ptr, p unsafe.Pointer) error {
	return d.call(symMemHostGetDevicePointer, uintptr(unsafe.Pointer(dev)), uintptr(p), 0)
}

func (d *Driver) memset(p Ptr, v byte, n int, s Stream) error {
	return d.call(symMemsetD8Async, uintptr(p), uintptr(v), uintptr(n), uintptr(s))
}

func (d *Driver) copyToDevice(dst Ptr, src unsafe.Pointer, n int, s Stream) error {
	return d.call(symMemcpyHtoDAsync, uintptr(dst), uintptr(src), uintptr(n), uintptr(s))
}

func (d *Driver) copyToHost(dst unsafe.Pointer, src Ptr, n int, s Stream) error {
	return d.call(symMemcpyDtoHAsync, uintptr(dst), uintptr(src), uintptr(n), uintptr(s))
}

func (d *Driver) copy2D(c *copy2D, s Stream) error {
	return d.call(symMemcpy2DAsync, uintptr(unsafe.Pointer(c)), uintptr(s))
}

func (d *Driver) createStream(s *Stream, flags uint32) error {
	return d.call(symStreamCreate, uintptr(unsafe.Pointer(s)), uintptr(flags))
}

func (d *Driver) destroyStream(s Stream) error     { return d.call(symStreamDestroy, uintptr(s)) }
func (d *Driver) synchronizeStream(s Stream) error { return d.call(symStreamSynchronize, uintptr(s)) }

func (d *Driver) waitEvent(s Stream, e Event) error {
	return d.call(symStreamWaitEvent, uintptr(s), uintptr(e), 0)
}

func (d *Driver) isCapturing(s Stream, status *int32) error {
	return d.call(symStreamIsCapturing, uintptr(s), uintptr(unsafe.Pointer(status)))
}

func (d *Driver) beginCapture(s Stream, mode int32) error {
	return d.call(symStreamBeginCapture, uintptr(s), uintptr(mode))
}

func (d *Driver) endCapture(s Stream, g *uintptr) error {
	return d.call(symStreamEndCapture, uintptr(s), uintptr(unsafe.Pointer(g)))
}

func (d *Driver) instantiate(x *uintptr, g uintptr) error {
	return d.call(symGraphInstantiate, uintptr(unsafe.Pointer(x)), g, 0)
}

func (d *Driver) launchGraph(x uintptr, s Stream) error { return d.call(symGraphLaunch, x, uintptr(s)) }
func (d *Driver) destroyGraph(g uintptr) error          { return d.call(symGraphDestroy, g) }
func (d *Driver) destroyGraphExec(x uintptr) error      { return d.call(symGraphExecDestroy, x) }

func (d *Driver) createEvent(e *Event, flags uint32) error {
	return d.call(symEventCreate, uintptr(unsafe.Pointer(e)), uintptr(flags))
}

func (d *Driver) destroyEvent(e Event) error { return d.call(symEventDestroy, uintptr(e)) }
func (d *Driver) recordEvent(e Event, s Stream) error {
	return d.call(symEventRecord, uintptr(e), uintptr(s))
}

func (d *Driver) synchronizeEvent(e Event) error { return d.call(symEventSynchronize, uintptr(e)) }

func (d *Driver) elapsed(ms *float32, from, to Event) error {
	return d.call(symEventElapsedTime, uintptr(unsafe.Pointer(ms)), uintptr(from), uintptr(to))
}
