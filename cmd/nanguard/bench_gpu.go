package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"
	"unsafe"

	"github.com/nanguard/nanguard/detect"
	"github.com/nanguard/nanguard/detect/scan/gpu"
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/cli"
	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/measure"
	"github.com/nanguard/nanguard/tensor"
)

// gpuCosts is what guarding costs on a GPU.
type gpuCosts struct {
	gpuHealth
	Checks   []checkCost `json:"checks"`
	ReadOnly []readCost  `json:"read_only"`
	Dump     *dumpCost   `json:"dump,omitempty"`
}

// checkCost is the cost of one check of all fields, with capture into the ring.
type checkCost struct {
	Envs    int       `json:"envs"`
	Bytes   int       `json:"bytes"`              // read, and as many written
	Eager   *callCost `json:"eager,omitempty"`    // enqueued one by one
	Graph   *callCost `json:"graph,omitempty"`    // a graph of one check, launched for each
	InGraph *callCost `json:"in_graph,omitempty"` // one of many in one graph: what a check adds to it
	Reason  string    `json:"reason,omitempty"`   // why some are missing
}

// callCost is the median time of a call.
type callCost struct {
	GPU  float64 `json:"gpu_us"`
	Host float64 `json:"host_us"`
}

// readCost is the speed of a scan without capture.
type readCost struct {
	DType  string  `json:"dtype"`
	Bytes  int     `json:"bytes"`
	GBPerS float64 `json:"gb_per_s"`
	Reason string  `json:"reason,omitempty"`
}

// dumpCost is the way from the check that trips to the finished file.
type dumpCost struct {
	Envs   int     `json:"envs"`
	Millis float64 `json:"ms"`
	Bytes  int64   `json:"bytes"`
	Frames int     `json:"frames"` // of a field, so many of them of each env chosen
	Rows   int     `json:"rows"`   // envs chosen
	Reason string  `json:"reason,omitempty"`
}

// dumpEnvs is the number of envs at which a dump is measured.
const dumpEnvs = 4096

// gpuMeter measures on one GPU.
type gpuMeter struct {
	driver *cuda.Driver
	device int
	each   time.Duration // for one figure
	say    func(format string, args ...any)

	ctx    *cuda.Context
	stream cuda.Stream
	timer  *measure.Timer
}

// run measures all. What fails leaves its reason in the result.
func (m *gpuMeter) run(ctx context.Context, envs []int, r *gpuCosts) (err error) {
	if err := m.open(); err != nil {
		r.Usable, r.Reason = false, cli.OneLine(err.Error())
		return nil
	}
	defer func() {
		if e := m.close(); err == nil && e != nil {
			r.Reason = cli.OneLine(e.Error())
		}
	}()
	for _, n := range envs {
		c := checkCost{Envs: n, Bytes: measure.HumanoidBytes(n)}
		m.say("GPU %d: checks of %d envs", m.device, n)
		c.Reason = reason(m.checks(ctx, n, &c))
		r.Checks = append(r.Checks, c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if len(envs) == 0 {
		return nil
	}
	m.say("GPU %d: scans without capture", m.device)
	r.ReadOnly = m.readOnly(32 * measure.HumanoidBytes(slices.Max(envs)))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	m.say("GPU %d: a trip and its dump", m.device)
	r.Dump = &dumpCost{Envs: min(dumpEnvs, slices.Max(envs))}
	r.Dump.Reason = reason(m.dump(r.Dump))
	return ctx.Err()
}

// reason returns an error as one line, "" for none.
func reason(err error) string {
	if err == nil {
		return ""
	}
	return cli.OneLine(err.Error())
}

// open gets a stream of its own and a clock for it.
func (m *gpuMeter) open() (err error) {
	if m.ctx, err = m.driver.Primary(m.device); err != nil {
		return err
	}
	if m.stream, err = m.ctx.NewStream(); err != nil {
		return errors.Join(err, m.ctx.Close())
	}
	if m.timer, err = measure.NewTimer(m.ctx, m.stream); err != nil {
		return errors.Join(err, m.ctx.DestroyStream(m.stream), m.ctx.Close())
	}
	return nil
}

// close gives back what open got.
func (m *gpuMeter) close() error {
	return errors.Join(m.timer.Close(), m.ctx.DestroyStream(m.stream), m.ctx.Close())
}

// checks measures the ways in which a check can be made.
func (m *gpuMeter) checks(ctx context.Context, envs int, c *checkCost) error {
	return m.withTask(envs, func(t *task, n int) error { return m.checksOf(ctx, t, n, c) })
}

// checksOf measures them on a task, n at once.
func (m *gpuMeter) checksOf(ctx context.Context, t *task, n int, c *checkCost) (err error) {
	if c.Eager, err = m.time(n, func() error { return repeat(n, t.check) }); err != nil || ctx.Err() != nil {
		return err
	}
	if c.Graph, err = m.timeGraph(t, n, 1); err != nil || ctx.Err() != nil {
		return err
	}
	if c.InGraph, err = m.timeGraph(t, n, n); err != nil {
		return err
	}
	if v, tripped := t.guard.Poll(); tripped {
		return fmt.Errorf("a trip where every value is finite: %+v", v.Trip)
	}
	return nil
}

// timeGraph measures n checks that are in graphs of so many.
func (m *gpuMeter) timeGraph(t *task, n, each int) (c *callCost, err error) {
	g, err := m.ctx.Capture(m.stream, func() error { return repeat(each, t.check) })
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.ctx.SynchronizeStream(m.stream), g.Destroy()) }()
	return m.time(n, func() error { return repeat(n/each, func() error { return g.Run(m.stream) }) })
}

// time returns the median cost of one of the n calls that f enqueues.
func (m *gpuMeter) time(n int, f func() error) (*callCost, error) {
	var gpu, host []time.Duration
	for began := time.Now(); len(gpu) < 4 || time.Since(began) < m.each; {
		g, h, err := m.timer.Time(f)
		if err != nil {
			return nil, err
		}
		gpu, host = append(gpu, g), append(host, h)
	}
	each := func(times []time.Duration) float64 { // the first one warms up
		return measure.Median(times[1:]).Seconds() * 1e6 / float64(n)
	}
	return &callCost{GPU: each(gpu), Host: each(host)}, nil
}

// batch returns how many calls of f are timed at once: 200, or fewer where they
// would take too long.
func (m *gpuMeter) batch(f func() error) (int, error) {
	var took [2]time.Duration // the first one warms up
	for i := range took {
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		if err := m.ctx.SynchronizeStream(m.stream); err != nil {
			return 0, err
		}
		took[i] = time.Since(start)
	}
	return max(1, min(200, int(m.each/4/max(took[1], 1)))), nil
}

// task is the fields of a humanoid task on the GPU, under a guard.
type task struct {
	m     *gpuMeter
	guard *detect.Guard
	refs  []detect.FieldRef
	dir   string
}

// withTask calls f with a task that has made its first checks, and with how many of
// them are timed at once.
func (m *gpuMeter) withTask(envs int, f func(t *task, n int) error) (err error) {
	t, err := m.newTask(envs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	n, err := t.batch()
	if err != nil {
		return err
	}
	return f(t, n)
}

// newTask allocates the arrays, fills them and binds them.
func (m *gpuMeter) newTask(envs int) (t *task, err error) {
	t = &task{m: m}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close())
		}
	}()
	if t.dir, err = os.MkdirTemp("", "nanguard-bench-"); err != nil {
		return t, err
	}
	c := detect.DefaultConfig()
	c.NumEnvs, c.Dir = envs, t.dir
	if t.guard, err = detect.New(c); err != nil {
		return t, err
	}
	for _, f := range measure.Humanoid {
		if err = t.bind(f, envs); err != nil {
			return t, err
		}
	}
	return t, nil
}

// bind adds one array.
func (t *task) bind(f measure.Field, envs int) error {
	ref := tensor.Ref{
		Mem: tensor.CUDA, Device: t.m.device, DType: tensor.Float32,
		Rows: envs, Cols: f.Cols, RowStride: 4 * f.Cols, ColStride: 4,
	}
	p, err := t.m.ctx.Alloc(ref.Bytes())
	if err != nil {
		return err
	}
	ref.Addr = uintptr(p)
	t.refs = append(t.refs, detect.FieldRef{ID: -1, Ref: ref})
	if err := t.m.ctx.Upload(t.m.stream, p, measure.Ordinary(tensor.Float32, envs, f.Cols).Data); err != nil {
		return err
	}
	id, err := t.guard.Bind(f.Name, ref, detect.FieldOptions{Clock: dump.ClockStep})
	t.refs[len(t.refs)-1].ID = id
	return err
}

// check enqueues one check of all fields.
func (t *task) check() error {
	return t.guard.CheckOn(uintptr(t.m.stream), dump.ClockStep, t.refs...)
}

// repeat calls f n times.
func repeat(n int, f func() error) error {
	for range n {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// batch warms up and returns how many checks are timed at once.
func (t *task) batch() (int, error) {
	if err := repeat(3, t.check); err != nil { // the first one makes the rings
		return 0, err
	}
	return t.m.batch(t.check)
}

// close gives the memory back and removes the dumps.
func (t *task) close() error {
	var errs []error
	if t.guard != nil {
		errs = append(errs, t.guard.Close())
	}
	for _, r := range t.refs {
		errs = append(errs, t.m.ctx.Free(cuda.Ptr(r.Ref.Addr)))
	}
	if t.dir != "" {
		errs = append(errs, os.RemoveAll(t.dir))
	}
	return errors.Join(errs...)
}

// readOnly measures scans of so many bytes, or of what a quarter of the free
// memory holds, without capture.
func (m *gpuMeter) readOnly(bytes int) []readCost {
	var rows []readCost
	for _, d := range []tensor.DType{tensor.Float32, tensor.BFloat16, tensor.Float64} {
		c := readCost{DType: d.String()}
		c.Reason = reason(m.read(d, bytes, &c))
		rows = append(rows, c)
	}
	return rows
}

// read measures one of them, on the scanning engine alone.
func (m *gpuMeter) read(d tensor.DType, bytes int, c *readCost) (err error) {
	free, err := m.ctx.MemoryFree()
	if err != nil {
		return err
	}
	const row = 4096
	rows := max(1, int(min(int64(bytes), 4<<30, free/4))/row)
	c.Bytes = rows * row
	e, err := gpu.NewOn(m.driver, gpu.Config{
		Device: m.device, Fields: []gpu.Field{{DType: d, Rows: rows, Cols: row / d.Size(), TraceLen: 1}},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	p, err := m.ctx.Alloc(c.Bytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.ctx.SynchronizeStream(m.stream), m.ctx.Free(p)) }()
	if err := m.ctx.Memset(m.stream, p, 0x3c, c.Bytes); err != nil { // finite in every type
		return err
	}
	args := []gpu.Arg{{Field: 0, Addr: uintptr(p), RowStride: row, ColStride: d.Size()}}
	scan := func() error { return e.Check(uintptr(m.stream), 0, true, args) }
	n, err := m.batch(scan)
	if err != nil {
		return err
	}
	cost, err := m.time(n, func() error { return repeat(n, scan) })
	if err != nil {
		return err
	}
	c.GBPerS = measure.Rate(c.Bytes, time.Duration(cost.GPU*1e3))
	return nil
}

// dump measures the way from a trip to its file.
func (m *gpuMeter) dump(c *dumpCost) error {
	return m.withTask(c.Envs, func(t *task, n int) error { return t.trip(n, c) })
}

// trip fills the rings, lets a value go bad and waits for the file.
func (t *task) trip(n int, c *dumpCost) error {
	if err := repeat(min(64, n), t.check); err != nil { // 64 are more than the rings hold at 4,096 envs
		return err
	}
	bad := float32(math.NaN())
	at := cuda.Ptr(t.refs[1].Ref.Addr) + cuda.Ptr(t.refs[1].Ref.Bytes()-4)
	if err := t.m.ctx.Upload(t.m.stream, at, unsafe.Slice((*byte)(unsafe.Pointer(&bad)), 4)); err != nil {
		return err
	}
	start := time.Now()
	if err := t.check(); err != nil {
		return err
	}
	v, err := t.await()
	if err != nil {
		return err
	}
	c.Millis = time.Since(start).Seconds() * 1e3
	return c.lookAt(v.Path)
}

// await returns the verdict of a trip that the GPU is about to see, once its
// dump is written.
func (t *task) await() (detect.Verdict, error) {
	for began := time.Now(); time.Since(began) < time.Minute; {
		if _, tripped := t.guard.Poll(); tripped {
			v, _ := t.guard.Wait()
			return v, v.Error
		}
		time.Sleep(50 * time.Microsecond)
	}
	return detect.Verdict{}, errors.New("the NaN was not seen within a minute")
}

// lookAt tells what is in the file.
func (c *dumpCost) lookAt(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	c.Bytes = info.Size()
	f, err := dump.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	s, err := f.Frames("qvel")
	if err != nil {
		return err
	}
	c.Frames, c.Rows = len(s.Ticks), len(f.Manifest().EnvIDs)
	return nil
}
