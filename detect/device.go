package detect

import (
	"errors"
	"slices"
	"sync"

	"github.com/nanguard/nanguard/detect/scan/gpu"
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/tensor"
)

// device is the recorder on a GPU. Fields in memory of the host take part in
// it: a check copies them to memory that the GPU can read.
type device struct {
	engine  *gpu.Engine
	ctx     *cuda.Context
	fields  []*field
	args    []gpu.Arg // scratch of check
	staging staging
	began   int   // so many of fields did not join later
	reserve int64 // of the ring's memory that is left for those that do

	since   moment      // when the engine began to count
	at      moment      // by the checks outside of graphs
	inGraph bool        // the device counts checks that the host does not see
	stream  uintptr     // of the latest check outside of graphs
	own     cuda.Stream // to freeze on; made when it is needed
	heard   uint32      // what poll heard last
	dealt   int64       // engine's tick of the latest trip that was dealt with
	rearms  int         // of the engine once it has come to all that it was told
	asked   asked       // of the engine, for the next check to do

	inUse  sync.RWMutex // read-held by settle, which has no lock of the guard's
	closed bool
}

// asked is a return to recording that was asked for and may not have come to pass.
type asked struct {
	pending bool
	rearm   bool // the trip is forgotten
}

// newDevice returns a recorder that counts on from a moment.
func newDevice(hw *hardware, cfg *Config, fields []*field, frames []int, since moment) (*device, error) {
	d := &device{fields: slices.Clone(fields), args: make([]gpu.Arg, 0, len(fields)), began: len(fields), since: since, at: since}
	c := gpu.Config{
		Device: hw.device.Ordinal, NumEnvs: cfg.NumEnvs, PostFrames: cfg.PostFrames, Spare: max(latePlaces, len(fields)),
	}
	room := 0
	for i, f := range fields {
		c.Fields = append(c.Fields, engineField(f, frames[i], cfg.TraceLen))
		if f.ref.Mem == tensor.Host {
			room += stagingBytes(f)
		}
	}
	var err error
	if d.ctx, err = hw.driver.Primary(c.Device); err != nil {
		return nil, err
	}
	d.staging.ctx = d.ctx
	if d.engine, err = gpu.NewOn(hw.driver, c); err != nil {
		return nil, errors.Join(err, d.close())
	}
	if err := d.staging.grow(room); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// engineField describes a field to the engine.
func engineField(f *field, frames, traceLen int) gpu.Field {
	monitor := f.spec.Stage == dump.StageMonitor
	return gpu.Field{
		DType: f.ref.DType, Rows: f.ref.Rows, Cols: f.ref.Cols, Rank: f.rank,
		Monitor: monitor, MarkEnvs: f.spec.PerEnv && !monitor,
		Slots: frames, TraceLen: max(traceLen, frames),
		Limit: f.limit, Growth: f.growth.Factor, GrowthFrames: f.growth.Frames, Floor: f.growth.Floor,
	}
}

// isShort reports whether the rings of fields hold less than was asked for.
func (d *device) isShort(first int, frames []int) bool {
	for i, n := range frames {
		if d.frames(first+i) < n {
			return true
		}
	}
	return false
}

// frames returns how many frames of a field there is room for.
func (d *device) frames(id int) int { return d.engine.Slots(id) }

// capturing asks the driver. The default stream is never captured.
func (d *device) capturing(stream uintptr) (bool, error) { return d.engine.Capturing(stream) }

// check enqueues a check.
func (d *device) check(r request, refs []FieldRef) error {
	d.args = d.args[:0]
	staged := false
	for i := range refs {
		ref := &refs[i].Ref
		a := gpu.Arg{Field: int(refs[i].ID), Addr: ref.Addr, RowStride: ref.RowStride, ColStride: ref.ColStride}
		if ref.Mem == tensor.Host {
			a.Addr = d.staging.put(ref)
			a.ColStride = ref.DType.Size()
			a.RowStride = ref.Cols * a.ColStride
			staged = true
		}
		d.args = append(d.args, a)
	}
	if !r.capturing && d.waits() {
		d.asked.pending = false
		if err := d.engine.Thaw(r.stream); err != nil {
			return err
		}
	}
	if err := d.engine.CheckIn(r.stream, r.capturing, r.clock, r.advance != 0, d.args); err != nil {
		return err
	}
	if r.capturing {
		d.inGraph = true
		return nil
	}
	d.stream = r.stream
	d.at.tick++
	d.at.counts[r.clock] += r.advance
	if staged {
		return d.staging.sent(cuda.Stream(r.stream))
	}
	return nil
}

// poll reads what the GPU said last. That may be older than the latest rearm:
// then it is the trip that was dealt with.
func (d *device) poll() (tripped, frozen bool) {
	v := d.engine.Poll()
	d.heard = v.Seq
	if !d.isNews(v) {
		return false, false
	}
	return true, d.engine.Poll().Frozen // the first answer may have been cut in two by a rearm
}

// isNews reports whether a verdict is of a trip that was not dealt with.
func (d *device) isNews(v gpu.Verdict) bool { return v.Tripped && v.Trip.Tick > d.dealt }

// trip returns the trip in the guard's words.
func (d *device) trip() dump.Trip {
	v := d.engine.Poll()
	b := d.firstBad(v.Trip)
	return dump.Trip{Tick: b.Tick, Clock: b.Clock, Count: b.Count, Field: b.Field, Env: b.Env, Col: b.Col, Class: b.Class}
}

// firstBad returns a finding of the engine in the guard's words.
func (d *device) firstBad(b gpu.Bad) *dump.FirstBad {
	f := d.fields[b.Field]
	return &dump.FirstBad{
		Field: f.spec.Name, Tick: d.since.tick + b.Tick, Clock: f.spec.Clock, Count: d.since.counts[f.clock] + b.Count,
		Env: f.envOf(b.Row), Col: b.Col, Class: className(b.Class), EnvsBad: b.Rows,
	}
}

// className returns the name of what is wrong with a value.
func className(c gpu.Class) string {
	switch c {
	case gpu.OverLimit:
		return ClassLimit
	case gpu.Grown:
		return ClassGrowth
	}
	return tensor.Class(c).String()
}

// now returns the time by the checks that were enqueued; once graphs hold some,
// with the latest tick that is known.
func (d *device) now() moment {
	at := d.at
	if d.inGraph {
		at.tick = max(at.tick, d.since.tick+d.engine.KnownTick())
	}
	return at
}

// later asks for the tick, once graphs hold checks, without waiting for it.
func (d *device) later() func() (tick int64, ok bool) {
	if !d.inGraph {
		return nil
	}
	l, since := d.engine.AskTick(), d.since.tick
	if l == nil {
		return nil
	}
	return func() (int64, bool) {
		tick, ok := l.Tick()
		return since + tick, ok
	}
}

// freeze ends the recording behind the latest check. The stream of that check may
// be gone by now, or be captured, so it takes one of its own, unless the default
// stream will do.
func (d *device) freeze() (err error) {
	if v := d.engine.Poll(); v.Frozen && v.Rearms >= d.rearms {
		return nil
	}
	if d.inGraph { // which no stream is ordered behind; while a graph is captured nobody can wait, and the last frame may be cut
		if err := d.ctx.Synchronize(); err != nil && cuda.ResultOf(err) != cuda.CaptureUnsupported {
			return err
		}
	}
	if d.stream != 0 && d.own == 0 {
		if d.own, err = d.ctx.NewStream(); err != nil {
			return err
		}
	}
	if d.stream == 0 {
		return d.engine.Freeze(0)
	}
	return d.engine.Freeze(uintptr(d.own))
}

// rearm starts over after a trip or, where there was none, goes on.
func (d *device) rearm(stream uintptr, tripped bool) error {
	d.rearms++
	if !tripped {
		return d.engine.Resume(stream)
	}
	d.dealt = d.engine.Poll().Trip.Tick
	return d.engine.Rearm(stream)
}

// rearmInGraphs is rearm for a loop whose checks are in graphs.
func (d *device) rearmInGraphs(tripped bool) (bool, error) {
	v := d.engine.Poll()
	if !d.inGraph || !v.Frozen {
		return false, nil
	}
	d.rearms++
	d.asked = asked{pending: true, rearm: tripped}
	if !tripped {
		return true, d.engine.AskResume()
	}
	d.dealt = v.Trip.Tick
	return true, d.engine.AskRearm()
}

// waits reports whether the recorder is to begin again and no check has come.
func (d *device) waits() bool {
	d.asked.pending = d.asked.pending && d.engine.Poll().Rearms < d.rearms
	return d.asked.pending
}

// empty reports whether nothing was recorded since a trip was dealt with.
func (d *device) empty() bool { return d.waits() && d.asked.rearm }

// settle waits for all work of the GPU.
func (d *device) settle() error {
	d.inUse.RLock()
	defer d.inUse.RUnlock()
	if d.closed {
		return nil
	}
	return d.ctx.Synchronize()
}

// close gives the memory back, once.
func (d *device) close() error {
	d.inUse.Lock()
	defer d.inUse.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	var err error
	if d.engine != nil {
		err = d.engine.Close() // which waits for the checks
	}
	if d.own != 0 {
		err = errors.Join(err, unlessLost(d.ctx.DestroyStream(d.own)))
	}
	return errors.Join(err, d.staging.close(), unlessLost(d.ctx.Close()))
}
