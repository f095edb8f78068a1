package gpu

import (
	"errors"
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
	launch  kernel.Launch
	run     *cuda.Launch // of launch
	seen    []uint64     // for each field the last check that it was in
	tiles   []int        // of each field
	check   uint64
	readers int // of all fields of a check together, about
}

// readersPerSM is how many readers a very large check has for each
// multiprocessor; a smaller one has one for each tile.
const readersPerSM = 64

// know takes a further field in.
func (c *checker) know(f *Field) {
	c.seen = append(c.seen, 0)
	c.tiles = append(c.tiles, f.tiles())
}

// prepare makes the launch.
func (c *checker) prepare(e *Engine) {
	c.launch.Call.State, c.launch.Call.Fields = uint64(e.state()), uint64(e.tableAt(0))
	c.run = e.ctx.NewLaunch(e.kernels.check, kernel.Threads, unsafe.Pointer(&c.launch))
}

// Capturing reports whether work on the stream becomes part of a graph. It is
// for the goroutine of the checks.
func (e *Engine) Capturing(stream uintptr) (bool, error) {
	return e.order.calls.Capturing(cuda.StreamOf(stream))
}

// Check enqueues a check of some fields, each at most once, on a stream (0 is
// the default one) and returns. With advance it counts the clock up by one. It
// allocates nothing and waits for nothing.
func (e *Engine) Check(stream uintptr, clock int, advance bool, args []Arg) error {
	if e.closed {
		return fmt.Errorf("check: %w", errClosed)
	}
	capturing, err := e.Capturing(stream)
	if err != nil {
		return fmt.Errorf("check: order of streams: %w", err)
	}
	return e.CheckIn(stream, capturing, clock, advance, args)
}

// CheckIn is Check for who has asked already whether the stream is being
// captured, which costs a call of the driver.
func (e *Engine) CheckIn(stream uintptr, capturing bool, clock int, advance bool, args []Arg) error {
	if clock < 0 || clock >= Clocks {
		return fmt.Errorf("check: clock %d is not in [0, %d)", clock, Clocks)
	}
	if err := e.admit(args); err != nil {
		return err
	}
	s := cuda.StreamOf(stream)
	if !capturing {
		if err := e.order.before(s); err != nil {
			return fmt.Errorf("check: order of streams: %w", err)
		}
	}
	call := &e.checks.launch.Call
	call.Clock, call.Advance = uint32(clock), 0
	if advance {
		call.Advance = 1
	}
	if err := e.launchAll(s, args); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	if capturing {
		return nil
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
func (e *Engine) launchAll(s cuda.Stream, args []Arg) error {
	call := &e.checks.launch.Call
	each := e.tilesPerReader(args)
	call.Blocks = uint32(max(1, e.blocks(args, each)))
	for call.Part = 0; ; call.Part++ {
		n := min(len(args), kernel.MaxArgs)
		if err := e.launch(s, args[:n], each); err != nil {
			return errors.Join(err, e.forget(s, call.Part))
		}
		if args = args[n:]; len(args) == 0 {
			return nil
		}
	}
}

// forget lets the next check begin anew after one of which only some parts were
// launched: the blocks of these are not counted, and what they noted belongs to
// a tick that has not come to pass.
func (e *Engine) forget(s cuda.Stream, parts uint32) error {
	if parts == 0 {
		return nil
	}
	done := cuda.Ptr(unsafe.Offsetof(kernel.State{}.Done))
	return e.ctx.Memset(s, e.state()+done, 0, int(unsafe.Sizeof(kernel.State{}.Done)))
}

// tilesPerReader returns how many tiles each reader of a check gets.
func (e *Engine) tilesPerReader(args []Arg) int {
	tiles := 0
	for i := range args {
		tiles += e.checks.tiles[args[i].Field]
	}
	return max(1, (tiles+e.checks.readers-1)/e.checks.readers)
}

// blocks returns how many blocks the arguments need.
func (e *Engine) blocks(args []Arg, each int) int {
	n := len(args)
	for i := range args {
		n += readers(e.checks.tiles[args[i].Field], each)
	}
	return n
}

// readers returns how many readers a field of so many tiles gets, of so many
// tiles each.
func readers(tiles, each int) int {
	if each == 1 { // as nearly always
		return max(1, tiles)
	}
	return max(1, (tiles+each-1)/each)
}

// launch fills in the parameters of one launch and runs it.
func (e *Engine) launch(s cuda.Stream, args []Arg, each int) error {
	l := &e.checks.launch
	l.Call.Args = uint32(len(args))
	blocks := len(args)
	for i := range args {
		a := &args[i]
		f := &e.fields[a.Field]
		l.First[i] = uint32(blocks)
		l.What[i] = uint32(a.Field)<<16 | uint32(f.DType)<<8 | mode(f, a)
		l.From[i] = kernel.Source{
			Base: uint64(a.Addr), RowStride: int64(a.RowStride), ColStride: int64(a.ColStride), N: uint64(f.Rows * f.Cols),
		}
		blocks += readers(e.checks.tiles[a.Field], each)
	}
	return e.checks.run.Run(s, max(1, blocks))
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
