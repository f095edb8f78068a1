package gpu

import (
	"fmt"
	"unsafe"

	"github.com/nanguard/nanguard/detect/scan/kernel"
	"github.com/nanguard/nanguard/internal/cuda"
)

// Freeze, Rearm, Resume and Thaw are enqueued on a stream that is not being
// captured, in order with checks.

// Freeze enqueues the end of recording, for a dump that was asked for. Poll
// tells when it has come to pass; Snapshot waits for it.
func (e *Engine) Freeze(stream uintptr) error {
	s := cuda.StreamOf(stream)
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
	s := cuda.StreamOf(stream)
	if err := e.order.before(s); err != nil {
		return fmt.Errorf("rearm: %w", err)
	}
	if err := e.forgetBad(s); err != nil {
		return fmt.Errorf("rearm: %w", err)
	}
	if err := e.control(s, kernel.Rearm); err != nil {
		return fmt.Errorf("rearm: %w", err)
	}
	return nil
}

// Resume enqueues the end of a Freeze: recording goes on where it was. After a
// trip only Rearm leads on.
func (e *Engine) Resume(stream uintptr) error {
	if err := e.control(cuda.StreamOf(stream), kernel.Resume); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	return nil
}

// AskRearm is Rearm of a frozen engine for who knows no stream that is in order
// with the checks, because they are all in graphs that may be running. It comes to
// pass at the end of the next check, whoever makes it, or with Thaw.
func (e *Engine) AskRearm() error { return e.ask(kernel.AskRearm) }

// AskResume is Resume in the same way.
func (e *Engine) AskResume() error { return e.ask(kernel.AskResume) }

// Thaw enqueues what was asked for, if it has not come to pass yet.
func (e *Engine) Thaw(stream uintptr) error {
	if err := e.control(cuda.StreamOf(stream), kernel.Thaw); err != nil {
		return fmt.Errorf("thaw: %w", err)
	}
	return nil
}

// ask empties the frozen engine when it is to be rearmed, and asks. Checks that
// run meanwhile read none of it: they find that nothing is recorded.
func (e *Engine) ask(op kernel.Op) error {
	if e.closed {
		return fmt.Errorf("ask: %w", errClosed)
	}
	if op == kernel.AskRearm {
		if err := e.forgetBad(e.own); err != nil {
			return fmt.Errorf("ask: %w", err)
		}
		if err := e.steer(e.own, kernel.Empty); err != nil {
			return fmt.Errorf("ask: %w", err)
		}
	}
	if err := e.steer(e.own, op); err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	if err := e.ctx.Record(e.asked, e.own); err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	return nil
}

// forgetBad says that no row and no env was bad.
func (e *Engine) forgetBad(s cuda.Stream) error {
	if err := e.clearEnvKeys(s); err != nil {
		return err
	}
	for i := range e.pieces {
		if at, n := e.pieces[i].bitmaps(); n > 0 {
			if err := e.ctx.Memset(s, at, 0, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// control steers in order with checks and behind what was asked for.
func (e *Engine) control(s cuda.Stream, op kernel.Op) error {
	if e.closed {
		return errClosed
	}
	if err := e.order.before(s); err != nil {
		return err
	}
	if err := e.ctx.Wait(s, e.asked); err != nil {
		return err
	}
	if err := e.steer(s, op); err != nil {
		return err
	}
	return e.order.after(s)
}

// steer launches the kernel that freezes and rearms.
func (e *Engine) steer(s cuda.Stream, op kernel.Op) error {
	params := struct {
		state, fields uint64
		n             uint32
		op            kernel.Op
	}{uint64(e.state()), uint64(e.tableAt(0)), uint32(len(e.fields)), op}
	run := e.ctx.NewLaunch(e.kernels.control, kernel.Threads,
		unsafe.Pointer(&params.state), unsafe.Pointer(&params.fields), unsafe.Pointer(&params.n), unsafe.Pointer(&params.op))
	return run.Run(s, max(1, (len(e.fields)+kernel.Threads-1)/kernel.Threads))
}
