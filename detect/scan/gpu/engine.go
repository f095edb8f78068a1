package gpu

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/nanguard/nanguard/detect/scan/kernel"
	"github.com/nanguard/nanguard/internal/cuda"
)

// Engine scans and records a set of fields on one GPU.
type Engine struct {
	fields []Field
	at     []fieldAt // where the parts of each field lie
	places int       // in the table of fields on the device
	envs   int
	known  atomic.Pointer[known]
	ctx    *cuda.Context
	module *cuda.Module
	// All are looked up when the engine is made: the driver may load a kernel then,
	// which it must not have to do while somebody captures.
	kernels struct{ check, control, flush cuda.Function }
	pieces  []piece
	said    cuda.Shared // a kernel.Verdict and the answers
	answers answers
	own     cuda.Stream // of snapshots
	frozen  cuda.Event  // behind the last Freeze
	asked   cuda.Event  // behind the last AskRearm or AskResume
	checks  checker
	order   order
	closed  bool
}

// errClosed is returned by all but Poll and Close after Close.
var errClosed = errors.New("the engine is closed")

// New returns an engine for the fields of c, with nothing recorded. Its error
// matches [cuda.ErrUnsupported] when the machine cannot do it. When the
// device has not enough memory for the rings, they get shorter: Slots tells.
func New(c Config) (*Engine, error) {
	d, err := cuda.Open()
	if err != nil {
		return nil, err
	}
	return NewOn(d, c)
}

// NewOn is New with a driver of the caller's.
func NewOn(d *cuda.Driver, c Config) (*Engine, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	ctx, err := d.Primary(c.Device)
	if err != nil {
		return nil, err
	}
	e := &Engine{places: min(len(c.Fields)+c.Spare, MaxFields), envs: c.NumEnvs, ctx: ctx}
	if err := e.open(c); err != nil {
		return nil, errors.Join(fmt.Errorf("engine on GPU %d (%s): %w", c.Device, ctx.Device.Name, err), e.Close())
	}
	return e, nil
}

// open makes all that the engine needs on the device.
func (e *Engine) open(c Config) (err error) {
	if e.module, err = e.ctx.Load(kernel.PTX); err != nil {
		return err
	}
	for name, f := range map[string]*cuda.Function{
		kernel.Check: &e.kernels.check, kernel.Control: &e.kernels.control, kernel.Flush: &e.kernels.flush,
	} {
		if *f, err = e.module.Function(name); err != nil {
			return err
		}
	}
	if e.own, err = e.ctx.NewStream(); err != nil {
		return err
	}
	if e.frozen, err = e.ctx.NewEvent(false); err != nil {
		return err
	}
	if e.asked, err = e.ctx.NewEvent(false); err != nil {
		return err
	}
	if e.order.event, err = e.ctx.NewEvent(false); err != nil {
		return err
	}
	if err = e.share(); err != nil {
		return err
	}
	e.checks.readers = readersPerSM * e.ctx.Device.Multiprocessors
	c.Fields = slices.Clone(c.Fields)
	first, err := e.allocate(c.Fields, func() plan { return place(&c, e.places, e.checks.readers) })
	if err != nil {
		return err
	}
	e.take(first, c.Fields)
	e.checks.prepare(e)
	e.order.calls = e.ctx.NewOrder()
	return e.initialize(c.PostFrames)
}

// initialize writes the state and the table of fields.
func (e *Engine) initialize(postFrames int) error {
	p := &e.pieces[0]
	state := kernel.State{
		PostFrames: int64(postFrames), Candidate: ^uint64(0),
		EnvKeys: uint64(e.envKeys()), Verdict: uint64(e.said.Device),
	}
	if err := e.ctx.Memset(e.own, p.base, 0, p.plan.zeroEnd); err != nil {
		return err
	}
	if err := e.clearEnvKeys(e.own); err != nil {
		return err
	}
	if err := e.ctx.Upload(e.own, e.state(), bytesOf(&state)); err != nil {
		return err
	}
	return e.enroll(p, 0, e.fields)
}

// entry returns what the table of the device says of a field, before its first
// check.
func entry(f *Field, at fieldAt, readers int) kernel.Field {
	k := kernel.Field{
		First: kernel.First{Key: ^uint64(0)},
		Ring:  uint64(at.ring), SlotBytes: int64(f.slotBytes()), Slots: uint32(f.Slots),
		Trace: uint64(at.trace), TraceLen: uint32(f.TraceLen), Bitmap: uint64(at.bitmap),
		Partials: uint64(at.partials), MaxReaders: uint32(maxReaders(f, readers)),
		Rows: int64(f.Rows), Cols: int64(f.Cols), DType: uint32(f.DType), Rank: uint32(f.Rank),
		Limit: f.Limit, Growth: f.Growth, GrowthFrames: uint32(f.GrowthFrames), Floor: f.Floor,
	}
	k.Turns[0] = kernel.Turn{To: k.Partials + uint64(k.MaxReaders)*kernel.PartialBytes, Bound: math.Inf(1)}
	if f.Slots > 0 {
		k.Turns[0].Dst = k.Ring
	}
	if f.Limit > 0 {
		k.Turns[0].Bound = f.Limit
	}
	if f.Monitor {
		k.Flags |= kernel.FlagMonitor
	}
	if f.MarkEnvs {
		k.Flags |= kernel.FlagMarkEnvs
	}
	return k
}

// clearEnvKeys says that no env is bad.
func (e *Engine) clearEnvKeys(s cuda.Stream) error {
	if e.envs == 0 {
		return nil
	}
	return e.ctx.Memset(s, e.envKeys(), 0xff, 8*e.envs)
}

// state returns where the state lies on the device, tableAt where a place of the
// table of fields does. Both stay for the engine's life, since graphs hold them.
func (e *Engine) state() cuda.Ptr { return e.pieces[0].base }

func (e *Engine) tableAt(field int) cuda.Ptr {
	return e.state() + cuda.Ptr(e.pieces[0].plan.table+field*int(unsafe.Sizeof(kernel.Field{})))
}

// envKeys returns where the keys of the bad envs lie.
func (e *Engine) envKeys() cuda.Ptr { return e.state() + cuda.Ptr(e.pieces[0].plan.envKeys) }

// Slots returns how many frames the ring of a field keeps, which may be fewer
// than were asked for.
func (e *Engine) Slots(field int) int { return e.fields[field].Slots }

// Device describes the GPU.
func (e *Engine) Device() cuda.Device { return e.ctx.Device }

// Close gives everything back. It waits for checks under way, and may be
// called twice. After the context was lost there is nothing to give back, and
// that is no error.
func (e *Engine) Close() error {
	if e.closed {
		return nil
	}
	e.closed = true
	var errs []error
	try := func(needed bool, f func() error) {
		if !needed {
			return
		}
		if err := f(); err != nil && !errors.Is(err, cuda.ErrContextLost) {
			errs = append(errs, err)
		}
	}
	for _, p := range e.pieces {
		try(p.base != 0, func() error { return e.ctx.Free(p.base) })
	}
	try(e.said.Device != 0, func() error { return e.ctx.Unshare(e.said) })
	try(e.frozen != 0, func() error { return e.ctx.DestroyEvent(e.frozen) })
	try(e.asked != 0, func() error { return e.ctx.DestroyEvent(e.asked) })
	try(e.order.event != 0, func() error { return e.ctx.DestroyEvent(e.order.event) })
	try(e.own != 0, func() error { return e.ctx.DestroyStream(e.own) })
	try(e.module != nil, func() error { return e.module.Unload() })
	try(true, e.ctx.Close)
	return errors.Join(errs...)
}

// bytesOf returns the memory of *v.
func bytesOf[T any](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}

// bytesOfSlice returns the memory of the elements of s.
func bytesOfSlice[T any](s []T) []byte {
	var v T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(v)))
}
