package gpu

import "github.com/nanguard/nanguard/internal/cuda"

// order keeps checks on different streams in order on the device. As long as
// all are on one stream there is nothing to do. From the first change on, a
// mark is put behind each check, because a stream that is not used any more
// may be gone by the time somebody would want to put one there.
type order struct {
	ctx   *cuda.Context
	calls *cuda.Order
	last  cuda.Stream
	begun bool
	event cuda.Event // behind the last check; 0 until a second stream is used
}

// before is called before work is enqueued on a stream that is not being
// captured: a graph is ordered by whoever replays it.
func (o *order) before(s cuda.Stream) error {
	if !o.begun || s == o.last {
		return nil
	}
	if o.event != 0 {
		return o.calls.Wait(s, o.event)
	}
	if err := o.ctx.Synchronize(); err != nil { // once in the engine's life
		return err
	}
	var err error
	o.event, err = o.ctx.NewEvent(false)
	return err
}

// after is called after work was enqueued on such a stream.
func (o *order) after(s cuda.Stream) error {
	o.last, o.begun = s, true
	if o.event == 0 {
		return nil
	}
	return o.calls.Record(o.event, s)
}
