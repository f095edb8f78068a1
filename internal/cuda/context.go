package cuda

import (
	"fmt"
	"runtime"
)

// Context is the primary context of a device, the one that the frameworks in
// this process share.
type Context struct {
	Device Device

	d      *Driver
	handle uintptr
}

// Primary returns the primary context of the i-th GPU, which Close gives back.
func (d *Driver) Primary(i int) (*Context, error) {
	dev, err := d.Device(i)
	if err != nil {
		return nil, err
	}
	c := &Context{Device: dev, d: d}
	if err := d.retainPrimary(&c.handle, dev.handle); err != nil {
		return nil, fmt.Errorf("GPU %d (%s): %w", i, dev.Name, err)
	}
	return c, nil
}

// Handle returns the CUcontext.
func (c *Context) Handle() uintptr { return c.handle }

// Close gives the context back. The driver keeps it while others use it.
func (c *Context) Close() error { return c.d.releasePrimary(c.Device.handle) }

// captureRelaxed is the mode in which a thread's calls do not disturb captures
// that other threads have under way; captureGlobal is how a thread begins.
const (
	captureGlobal  = 0
	captureRelaxed = 2
)

// do runs f on a thread that has the context and that may allocate and wait
// while somebody else captures a graph.
func (c *Context) do(f func() error) (err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var was uintptr
	if err := c.d.current(&was); err != nil {
		return err
	}
	if was != c.handle {
		if err := c.d.push(c.handle); err != nil {
			return err
		}
		defer c.d.pop(&was) //nolint:errcheck // there is nothing left to do about it
	}
	mode := int32(captureRelaxed)
	if err := c.d.exchangeCaptureMode(&mode); err != nil {
		return err
	}
	defer c.d.exchangeCaptureMode(&mode) //nolint:errcheck // as above
	return f()
}

// Synchronize waits for all work of the context.
func (c *Context) Synchronize() error { return c.do(c.d.synchronize) }

// MemoryFree returns how many bytes of the device are free.
func (c *Context) MemoryFree() (int64, error) {
	var free, total uint64
	err := c.do(func() error { return c.d.memInfo(&free, &total) })
	return int64(free), err
}
