package gpu

import (
	"fmt"
	"unsafe"

	"github.com/nanguard/nanguard/detect/scan/kernel"
	"github.com/nanguard/nanguard/internal/cuda"
)

// Arg is one field of a check, where it lies now. Strides are in bytes.
type Arg struct {
	Field                int
	Addr                 uintptr
	RowStride, ColStride int
}

// checker holds what a check needs, ready to be filled in and launched.
type checker struct {
	small  kernel.Launch16
	large  kernel.Launch100
	runs   [2]*cuda.Launch // of small and of large
	seen   []uint64        // for each field the last check that it was in
	check  uint64
	blocks int // that a launch aims at
}

// blocksPerSM is how many blocks a large check has for each multiprocessor:
// as many as run at the same time.
const blocksPerSM = 4

// minChunk is the least that a block reads, in bytes, unless the field is
// smaller: one load of 16 bytes for each thread.
const minChunk = 16 * kernel.Threads

// maxBlocks bounds the blocks of a launch with so many fields.
func maxBlocks(d cuda.Device, fields int) int { return blocksPerSM*d.Multiprocessors + fields }

// prepare makes the launches.
func (c *checker) prepare(e *Engine) error {
	c.seen = make([]uint64, len(e.fields))
	c.blocks = blocksPerSM * e.ctx.Device.Multiprocessors
	for i, k := range []struct {
		name   string
		call   *kernel.Call
		params unsafe.Pointer
	}{
		{kernel.Check16, &c.small.Call, unsafe.Pointer(&c.small)},
		{kernel.Check100, &c.large.Call, unsafe.Pointer(&c.large)},
	} {
		f, err := e.module.Function(k.name)
		if err != nil {
			return err
		}
		k.call.State, k.call.Fields = e.address(0), e.address(e.plan.fields)
		c.runs[i] = e.ctx.NewLaunch(f, kernel.Threads, k.params)
	}
	return nil
}

// Check enqueues a check of some fields, each at most once, on a stream (0 is
// the default one) and returns. With advance it counts the clock up by one. It
// allocates nothing and waits for nothing.
func (e *Engine) Check(stream uintptr, clock int, advance bool, args []Arg) error {
	if clock < 0 || clock >= Clocks {
		return fmt.Errorf("check: clock %d is not in [0, %d)", clock, Clocks)
	}
	if err := e.admit(args); err != nil {
		return err
	}
	s := cuda.Stream(stream)
	if err := e.order.before(s); err != nil {
		return fmt.Errorf("check: order of streams: %w", err)
	}
	call := kernel.Call{Total: uint32(len(args)), Clock: uint32(clock)}
	if advance {
		call.Advance = 1
	}
	if err := e.launchAll(s, call, args); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	if err := e.order.after(s); err != nil {
		return fmt.Errorf("check: order of streams: %w", err)
	}
	return nil
}

// admit returns why the arguments cannot be checked.
func (e *Engine) admit(args []Arg) error {
	if e.closed {
		return fmt.Errorf("check: the engine is closed")
	}
	e.checks.check++
	for _, a := range args {
		if a.Field < 0 || a.Field >= len(e.fields) {
			return fmt.Errorf("check: field %d of %d", a.Field, len(e.fields))
		}
		if e.checks.seen[a.Field] == e.checks.check {
			return fmt.Errorf("check: field %d is given twice", a.Field)
		}
		e.checks.seen[a.Field] = e.checks.check
		if a.Addr == 0 && e.fields[a.Field].bytes() > 0 {
			return fmt.Errorf("check: field %d has no address", a.Field)
		}
	}
	return nil
}

// launchAll launches a check, in several parts when it has more arguments than
// one launch takes; the device counts them as one.
func (e *Engine) launchAll(s cuda.Stream, call kernel.Call, args []Arg) error {
	c := &e.checks
	if len(args) <= len(c.small.Args) {
		return e.launch(s, c.runs[0], &c.small.Call, call, c.small.First[:], c.small.Args[:], args)
	}
	for len(args) > 0 {
		n := min(len(args), len(c.large.Args))
		if err := e.launch(s, c.runs[1], &c.large.Call, call, c.large.First[:], c.large.Args[:], args[:n]); err != nil {
			return err
		}
		args = args[n:]
	}
	return nil
}

// launch fills in the parameters of one launch and runs it. to is the call in
// the parameters, what the call to make.
func (e *Engine) launch(s cuda.Stream, run *cuda.Launch, to *kernel.Call, what kernel.Call, first []uint32, out []kernel.Arg, args []Arg) error {
	var bytes int
	for i := range args {
		bytes += e.fields[args[i].Field].bytes()
	}
	chunk := max(minChunk, align((bytes+e.checks.blocks-1)/e.checks.blocks, minChunk))
	blocks := 0
	for i := range args {
		a := &args[i]
		f := &e.fields[a.Field]
		first[i] = uint32(blocks)
		blocks += max(1, (f.bytes()+chunk-1)/chunk)
		out[i] = kernel.Arg{
			Base: uint64(a.Addr), RowStride: int64(a.RowStride), ColStride: int64(a.ColStride),
			Field: uint32(a.Field), Mode: mode(f, a),
		}
	}
	to.Chunk, to.Args, to.Total, to.Clock, to.Advance = uint64(chunk), uint32(len(args)), what.Total, what.Clock, what.Advance
	return run.Run(s, max(1, blocks))
}

// mode says how an argument can be read.
func mode(f *Field, a *Arg) uint32 {
	size := f.DType.Size()
	mask := uintptr(size - 1)
	contiguous, aligned := true, a.Addr&mask == 0
	if f.Cols > 1 {
		contiguous = a.ColStride == size
		aligned = aligned && uintptr(a.ColStride)&mask == 0
	}
	if f.Rows > 1 {
		contiguous = contiguous && a.RowStride == f.Cols*size
		aligned = aligned && uintptr(a.RowStride)&mask == 0
	}
	switch {
	case f.bytes() == 0 || contiguous && a.Addr%16 == 0:
		return kernel.ModeVector
	case aligned:
		return kernel.ModeElement
	}
	return kernel.ModeByte
}
