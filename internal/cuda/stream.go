package cuda

// Stream is a queue of work on a device, of this package's or of anybody else
// who uses the same context. Zero is the device's default stream.
type Stream uintptr

// DefaultStream is the device's default stream, legacyStream another name of it.
const (
	DefaultStream Stream = 0
	legacyStream  Stream = 1
)

// StreamOf returns a CUstream by the one name that it has here.
func StreamOf(handle uintptr) Stream {
	if s := Stream(handle); s != legacyStream {
		return s
	}
	return DefaultStream
}

// mayCapture reports whether the stream can be captured at all.
func (s Stream) mayCapture() bool { return s > legacyStream }

// nonBlocking makes a stream that does not wait for the default stream, and an
// event that takes no time stamp.
const (
	streamNonBlocking  = 1
	eventDisableTiming = 2
)

// NewStream returns a stream that the default stream does not wait for.
func (c *Context) NewStream() (s Stream, err error) {
	err = c.do(func() error { return c.d.createStream(&s, streamNonBlocking) })
	return s, err
}

// DestroyStream gives a stream back; its work is done first.
func (c *Context) DestroyStream(s Stream) error {
	return c.do(func() error { return c.d.destroyStream(s) })
}

// SynchronizeStream waits until the work enqueued so far is done.
func (c *Context) SynchronizeStream(s Stream) error {
	return c.do(func() error { return c.d.synchronizeStream(s) })
}

// Capturing reports whether what is enqueued in the stream goes into a graph
// under construction.
func (c *Context) Capturing(s Stream) (bool, error) {
	if !s.mayCapture() {
		return false, nil
	}
	var status int32
	err := c.do(func() error { return c.d.isCapturing(s, &status) })
	return status != 0, err
}

// Event is a mark in a stream.
type Event uintptr

// NewEvent returns a mark; a timed one can be used with Elapsed.
func (c *Context) NewEvent(timed bool) (e Event, err error) {
	flags := uint32(eventDisableTiming)
	if timed {
		flags = 0
	}
	err = c.do(func() error { return c.d.createEvent(&e, flags) })
	return e, err
}

// DestroyEvent gives an event back.
func (c *Context) DestroyEvent(e Event) error {
	return c.do(func() error { return c.d.destroyEvent(e) })
}

// Record puts the mark behind the work enqueued so far.
func (c *Context) Record(e Event, s Stream) error {
	return c.do(func() error { return c.d.recordEvent(e, s) })
}

// Wait makes the stream wait, on the device, for the mark.
func (c *Context) Wait(s Stream, e Event) error {
	return c.do(func() error { return c.d.waitEvent(s, e) })
}

// SynchronizeEvent waits until the device has come to the mark.
func (c *Context) SynchronizeEvent(e Event) error {
	return c.do(func() error { return c.d.synchronizeEvent(e) })
}

// Elapsed returns the milliseconds between two timed marks that the device has
// passed.
func (c *Context) Elapsed(from, to Event) (float32, error) {
	var ms float32
	err := c.do(func() error { return c.d.elapsed(&ms, from, to) })
	return ms, err
}
