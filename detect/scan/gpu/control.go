package gpu

import (
	"fmt"
	"unsafe"

	"github.com/nanguard/nanguard/detect/scan/kernel"
	"github.com/nanguard/nanguard/internal/cuda"
)

// Freeze enqueues the end of recording, for a dump that was asked for. Poll
// tells when it has come to pass; Snapshot waits for it.
func (e *Engine) Freeze(stream uintptr) error {
	s := cuda.Stream(stream)
	if err := e.control(s, kernel.Freeze); err != nil {
		return fmt.Errorf("freeze: %w", err)
	}
	if err := e.ctx.Record(e.frozen, s); err != nil {
		return fmt.Errorf("freeze: %w", err)
	}
	return nil
}

// Rearm enqueues the return to recording after a dump: there was no trip, no
// field and no env was bad, and the rings are empty. Traces and clocks go on.
func (e *Engine) Rearm(stream uintptr) error {
	if e.closed {
		return fmt.Errorf("rearm: %w", errClosed)
	}
	s := cuda.Stream(stream)
	if err := e.order.before(s); err != nil {
		return fmt.Errorf("rearm: %w", err)
	}
	if err := e.clearEnvKeys(s); err != nil {
		return fmt.Errorf("rearm: %w", err)
	}
	if err := e.clearBitmaps(s); err != nil {
		return fmt.Errorf("rearm: %w", err)
	}
	if err := e.control(s, kernel.Rearm); err != nil {
		return fmt.Errorf("rearm: %w", err)
	}
	return nil
}

// clearBitmaps says that no row was bad.
func (e *Engine) clearBitmaps(s cuda.Stream) error {
	for i := range e.pieces {
		if at, n := e.pieces[i].bitmaps(); n > 0 {
			if err := e.ctx.Memset(s, at, 0, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// Resume enqueues the end of a Freeze: recording goes on where it was. After a
// trip only Rearm leads on.
func (e *Engine) Resume(stream uintptr) error {
	if err := e.control(cuda.Stream(stream), kernel.Resume); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	return nil
}

// control launches the kernel that freezes and rearms, in order with checks.
func (e *Engine) control(s cuda.Stream, op kernel.Op) error {
	if e.closed {
		return errClosed
	}
	f, err := e.module.Function(kernel.Control)
	if err != nil {
		return err
	}
	if err := e.order.before(s); err != nil {
		return err
	}
	params := struct {
		state, fields uint64
		n             uint32
		op            kernel.Op
	}{uint64(e.state()), uint64(e.tableAt(0)), uint32(len(e.fields)), op}
	run := e.ctx.NewLaunch(f, kernel.Threads,
		unsafe.Pointer(&params.state), unsafe.Pointer(&params.fields), unsafe.Pointer(&params.n), unsafe.Pointer(&params.op))
	if err := run.Run(s, max(1, (len(e.fields)+kernel.Threads-1)/kernel.Threads)); err != nil {
		return err
	}
	return e.order.after(s)
}
