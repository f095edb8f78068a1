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
	small   kernel.Launch16
	large   kernel.Launch100
	runs    [2]*cuda.Launch // of small and of large
	seen    []uint64        // for each field the last check that it was in
	check   uint64
	readers int // of all fields of a check together, about
}

// readersPerSM is how many readers a very large check has for each
// multiprocessor; a smaller one has one for each tile.
const readersPerSM = 64

// prepare makes the launches.
func (c *checker) prepare(e *Engine) error {
	c.seen = make([]uint64, len(e.fields))
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
	call := kernel.Call{State: e.address(0), Fields: e.address(e.plan.fields), Clock: uint32(clock)}
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
		return fmt.Errorf("check: %w", errClosed)
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
	each := e.tilesPerReader(args)
	call.Blocks = uint32(max(1, e.blocks(args, each)))
	if len(args) <= len(c.small.From) {
		c.small.Call = call
		return e.launch(s, c.runs[0], &c.small.Call, c.small.First[:], c.small.What[:], c.small.From[:], args, each)
	}
	for len(args) > 0 {
		n := min(len(args), len(c.large.From))
		c.large.Call = call
		if err := e.launch(s, c.runs[1], &c.large.Call, c.large.First[:], c.large.What[:], c.large.From[:], args[:n], each); err != nil {
			return err
		}
		args = args[n:]
		call.Part++
	}
	return nil
}

// tilesPerReader returns how many tiles each reader of a check gets.
func (e *Engine) tilesPerReader(args []Arg) int {
	tiles := 0
	for i := range args {
		tiles += e.fields[args[i].Field].tiles()
	}
	return max(1, (tiles+e.checks.readers-1)/e.checks.readers)
}

// blocks returns how many blocks the arguments need.
func (e *Engine) blocks(args []Arg, each int) int {
	n := len(args)
	for i := range args {
		n += readers(&e.fields[args[i].Field], each)
	}
	return n
}

// readers returns how many readers a field gets, of so many tiles each.
func readers(f *Field, each int) int { return max(1, (f.tiles()+each-1)/each) }

// launch fills in the parameters of one launch and runs it.
func (e *Engine) launch(s cuda.Stream, run *cuda.Launch, call *kernel.Call, first, what []uint32, from []kernel.Source, args []Arg, each int) error {
	call.Args = uint32(len(args))
	blocks := len(args)
	for i := range args {
		a := &args[i]
		f := &e.fields[a.Field]
		first[i] = uint32(blocks)
		what[i] = uint32(a.Field)<<16 | uint32(f.DType)<<8 | mode(f, a)
		from[i] = kernel.Source{
			Base: uint64(a.Addr), RowStride: int64(a.RowStride), ColStride: int64(a.ColStride), N: uint64(f.Rows * f.Cols),
		}
		blocks += readers(f, each)
	}
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
