package gpu

import "github.com/nanguard/nanguard/internal/cuda"

// order keeps checks on different streams in order on the device. A mark is put
// behind each check on a stream other than the default one, which may be gone by
// the time somebody would want to put one there. It never waits on the host.
type order struct {
	calls *cuda.Order
	last  cuda.Stream
	begun bool
	event cuda.Event // behind the last check, unless that is on the default stream
}

// before is called before work is enqueued on a stream that is not being
// captured: a graph is ordered by whoever replays it.
func (o *order) before(s cuda.Stream) error {
	if !o.begun || s == o.last {
		return nil
	}
	if o.last == cuda.DefaultStream {
		if err := o.calls.Record(o.event, o.last); err != nil {
			return err
		}
	}
	return o.calls.Wait(s, o.event)
}

// after is called after work was enqueued on such a stream.
func (o *order) after(s cuda.Stream) error {
	o.last, o.begun = s, true
	if s == cuda.DefaultStream {
		return nil
	}
	return o.calls.Record(o.event, s)
}
