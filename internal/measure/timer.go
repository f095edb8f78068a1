package measure

import (
	"errors"
	"time"

	"github.com/nanguard/nanguard/internal/cuda"
)

// Timer takes the time that a GPU needs for what is enqueued on a stream.
type Timer struct {
	ctx      *cuda.Context
	stream   cuda.Stream
	from, to cuda.Event
}

// NewTimer returns a timer for a stream.
func NewTimer(ctx *cuda.Context, s cuda.Stream) (*Timer, error) {
	t := &Timer{ctx: ctx, stream: s}
	var err error
	if t.from, err = ctx.NewEvent(true); err != nil {
		return nil, err
	}
	if t.to, err = ctx.NewEvent(true); err != nil {
		return nil, errors.Join(err, ctx.DestroyEvent(t.from))
	}
	return t, nil
}

// Time returns the GPU's time of what enqueue puts into the stream, and the
// host's time of enqueuing it. It waits before and after.
func (t *Timer) Time(enqueue func() error) (gpu, host time.Duration, err error) {
	if err := t.ctx.SynchronizeStream(t.stream); err != nil {
		return 0, 0, err
	}
	if err := t.ctx.Record(t.from, t.stream); err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if err := enqueue(); err != nil {
		return 0, 0, err
	}
	host = time.Since(start)
	if err := t.ctx.Record(t.to, t.stream); err != nil {
		return 0, 0, err
	}
	if err := t.ctx.SynchronizeStream(t.stream); err != nil {
		return 0, 0, err
	}
	ms, err := t.ctx.Elapsed(t.from, t.to)
	return time.Duration(float64(ms) * 1e6), host, err
}

// Close gives the marks back.
func (t *Timer) Close() error {
	return errors.Join(t.ctx.DestroyEvent(t.from), t.ctx.DestroyEvent(t.to))
}
