package detect

import (
	"errors"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
	"github.com/nanguard/nanguard/tensor"
)

// filled returns n equal numbers.
func filled(n int, v float32) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// field binds a new array of the guard's envs on the GPU.
func (b *bench) field(g *Guard, name string, cols int, o FieldOptions) tensor.Ref {
	b.t.Helper()
	ref := b.array(g.cfg.NumEnvs, cols)
	_, err := g.Bind(name, ref, o)
	require.NoError(b.t, err)
	return ref
}

// A check in a graph counts each time that the graph runs, trips inside of it,
// and the addresses that the graph reads are written down.
func TestChecksInAGraph(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		b := newBench(t, d)
		g := b.guard(testConfig(t, 6))
		qvel, obs := b.field(g, "qvel", 2, FieldOptions{}), b.field(g, "obs.policy", 2, FieldOptions{})
		b.check(g, dump.ClockSubstep)
		graph := b.captured(func() error {
			for range 2 {
				if err := g.CheckOn(uintptr(b.stream), dump.ClockSubstep); err != nil {
					return err
				}
			}
			return g.CheckOn(uintptr(b.stream), dump.ClockStep)
		})
		for i := range 4 {
			b.set(qvel, filled(12, float32(i)))
			b.replay(graph)
		}
		g.Note(dump.Event{Kind: dump.EventReset, Envs: []int{5}})
		moved := b.array(6, 2)
		require.NoError(t, g.CheckOn(uintptr(b.stream), dump.ClockStep, FieldRef{1, moved}))
		bad := filled(12, 7)
		bad[5] = nan
		b.set(qvel, bad)
		b.replay(graph)
		b.replay(graph)

		v, tripped := g.Wait()
		require.True(t, tripped)
		require.NoError(t, v.Error)
		assert.Equal(t, dump.Trip{Tick: 15, Clock: dump.ClockSubstep, Count: 10, Field: "qvel", Env: ptr(2), Col: 1, Class: "nan"}, v.Trip)
		f := open(t, v.Path)
		s, err := f.Frames("qvel")
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 2, 3, 5, 6, 8, 9, 11, 12, 15}, s.Ticks)
		m := f.Manifest()
		address := func(ref tensor.Ref) any { return float64(ref.Addr) }
		require.Len(t, m.Events, 4)
		captured := m.Events[0]
		assert.Equal(t, dump.Event{Tick: 1, Kind: dump.EventGraphCapture, Detail: map[string]any{
			"graph": "guard", "reads": map[string]any{"qvel": address(qvel)},
		}}, captured)
		assert.Equal(t, map[string]any{"obs.policy": address(obs)}, m.Events[1].Detail.(map[string]any)["reads"])
		assert.Equal(t, dump.EventReset, m.Events[2].Kind)
		assert.Equal(t, int64(13), m.Events[2].Tick)
		assert.Equal(t, dump.EventBufferMoved, m.Events[3].Kind)
		assert.Equal(t, address(moved), m.Events[3].Detail.(map[string]any)["to"])
		assert.Equal(t, address(qvel), m.Facts["address.qvel"])
	})
}

// A graph cannot watch memory of the host: that is said, and checks outside do.
func TestHostFieldsAreLeftOutOfGraphs(t *testing.T) {
	d := cudatest.Host(t)
	b := newBench(t, d)
	g := b.guard(testConfig(t, 2))
	b.field(g, "loss.policy", 1, FieldOptions{})
	loss := bind(t, g, "loss.value", 1, FieldOptions{Shared: true})
	loss[0] = 3
	b.check(g, dump.ClockMinibatch)
	graph := b.checks(g, dump.ClockMinibatch)
	require.NoError(t, graph.Run(b.stream))
	loss[0] = 4
	b.check(g, dump.ClockMinibatch)
	path, err := g.Dump("asked")
	require.NoError(t, err)
	f := open(t, path)
	s, err := f.Frames("loss.value")
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 3}, s.Ticks)
	assert.Equal(t, []float64{3, 4}, values(t, f, "loss.value"))
	e := f.Manifest().Events[0]
	assert.Equal(t, dump.EventWarning, e.Kind)
	assert.Contains(t, e.Detail, "loss.value lies in memory of the host")
}

// A loop that never looks gets its dump all the same, and OnTrip is called once
// it does.
func TestAWatcherStartsTheDump(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	cfg := testConfig(t, 2)
	var told atomic.Int32
	cfg.OnTrip = func(dump.Trip) { told.Add(1) }
	g := b.guard(cfg)
	qvel := b.field(g, "qvel", 1, FieldOptions{})
	b.check(g, dump.ClockSubstep)
	graph := b.checks(g, dump.ClockSubstep)
	b.set(qvel, []float32{1, nan})
	require.NoError(t, graph.Run(b.stream))
	require.Eventually(t, func() bool { return len(dumpFiles(t, g)) == 1 }, 10*time.Second, 5*time.Millisecond)
	assert.Zero(t, told.Load())
	for range 3 {
		g.Poll()
	}
	assert.EqualValues(t, 1, told.Load())
	v, _ := g.Wait()
	assert.True(t, v.Done)
}

// Close does what the watcher had no time for.
func TestCloseWritesTheDumpOfADevice(t *testing.T) {
	for _, post := range []int{0, 100} {
		b := newBench(t, cudatest.Host(t))
		cfg := testConfig(t, 4)
		cfg.PostFrames = post
		g := b.guard(cfg)
		qvel := b.field(g, "qvel", 1, FieldOptions{})
		b.check(g, dump.ClockSubstep)
		b.set(qvel, []float32{1, nan, 1, 1})
		b.check(g, dump.ClockSubstep, dump.ClockSubstep)
		require.NoError(t, g.Close())
		require.NoError(t, g.Close())
		v, tripped := g.Poll()
		require.True(t, tripped)
		m := open(t, v.Path).Manifest()
		assert.Equal(t, 1, m.EnvIDs[0])
		assert.Equal(t, "host playing a GPU", m.Run.GPU)
		require.ErrorIs(t, g.Check(dump.ClockSubstep), ErrClosed)
	}
}

// After a dump that was asked for, the guard goes on at the next check.
func TestDumpOfADeviceOnRequest(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	cfg := testConfig(t, 4)
	cfg.MaxDumps = 3
	g := b.guard(cfg)
	qvel := b.field(g, "qvel", 1, FieldOptions{})
	b.check(g, dump.ClockSubstep, dump.ClockSubstep)
	for range 2 { // the second finds the frames of the first
		path, err := g.Dump("asked", 2)
		require.NoError(t, err)
		f := open(t, path)
		assert.Nil(t, f.Manifest().Trip)
		assert.Equal(t, []int{2, 1, 3}, f.Manifest().EnvIDs)
		s, err := f.Frames("qvel")
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 2}, s.Ticks)
	}
	b.set(qvel, []float32{nan, 1, 1, 1})
	b.check(g, dump.ClockSubstep)
	v, tripped := g.Wait()
	require.True(t, tripped)
	assert.Equal(t, int64(3), v.Trip.Tick)
	f := open(t, v.Path)
	assert.Equal(t, []int64{1, 2, 3}, ticksOf(t, f, "qvel"), "the dumps cost no frame")
	s, err := f.Trace("qvel")
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 2, 3}, s.Ticks)
	assert.Equal(t, []float64{0, 0, 1}, s.NaN)
}

// A trip that nobody has noticed yet is in a dump that was asked for.
func TestDumpOnRequestFindsTheTrip(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	cfg := testConfig(t, 4)
	cfg.MaxDumps, cfg.PostFrames = 2, 50
	g := b.guard(cfg)
	qvel := b.field(g, "qvel", 1, FieldOptions{})
	graph := b.graph(g, dump.ClockSubstep)
	b.set(qvel, []float32{1, 1, nan, 1})
	require.NoError(t, graph.Run(b.stream))
	path, err := g.Dump("RuntimeError: the loop died")
	require.NoError(t, err)
	m := open(t, path).Manifest()
	assert.Equal(t, 2, *m.Trip.Env)
	assert.Equal(t, "RuntimeError: the loop died", m.Run.Exception)
	v, tripped := g.Poll()
	require.True(t, tripped)
	assert.Equal(t, path, v.Path)
	again, err := g.Dump("again")
	require.ErrorIs(t, err, ErrNothingNew)
	assert.Equal(t, path, again)
}

// captured returns a graph of what f enqueues in the bench's stream. It is gone
// when the test ends.
func (b *bench) captured(f func() error) *cuda.Graph {
	b.t.Helper()
	graph, err := b.ctx.Capture(b.stream, f)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { require.NoError(b.t, graph.Destroy()) })
	return graph
}

// checks returns a graph of one check.
func (b *bench) checks(g *Guard, clock dump.Clock) *cuda.Graph {
	b.t.Helper()
	return b.captured(func() error { return g.CheckOn(uintptr(b.stream), clock) })
}

// graph returns a graph of one check, after an eager one.
func (b *bench) graph(g *Guard, clock dump.Clock) *cuda.Graph {
	b.t.Helper()
	b.check(g, clock)
	return b.checks(g, clock)
}

// loop returns a guard of so many envs and dumps, with a qvel of one column, and a
// graph of its check, after an eager one at tick 1.
func (b *bench) loop(envs, dumps int) (*Guard, tensor.Ref, *cuda.Graph) {
	b.t.Helper()
	cfg := testConfig(b.t, envs)
	cfg.MaxDumps = dumps
	g := b.guard(cfg)
	qvel := b.field(g, "qvel", 1, FieldOptions{})
	return g, qvel, b.graph(g, dump.ClockSubstep)
}

// A guard of the host becomes one of the GPU with its first field there, and the
// trip of checks that are under way when a field is bound is not lost.
func TestHostGuardBecomesOneOfADevice(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	cfg := testConfig(t, 4)
	cfg.MaxDumps = 2
	g := newGuard(t, cfg)
	value := bind(t, g, "value", 1, FieldOptions{})
	check(t, g, dump.ClockStep, dump.ClockStep)
	dev, err := b.driver.Device(0)
	require.NoError(t, err)
	g.gpu = &hardware{driver: b.driver, device: dev}
	reward := b.field(g, "reward", 1, FieldOptions{})
	b.check(g, dump.ClockStep)
	b.field(g, "obs.policy", 1, FieldOptions{})
	b.set(reward, []float32{1, nan, 1, 1})
	underWay := request{stream: uintptr(b.stream), clock: clockIndex(dump.ClockStep), advance: 1}
	require.NoError(t, g.rec.check(underWay, []FieldRef{{1, reward}})) // the guard does not know of its trip yet
	b.set(reward, []float32{1, 1, 1, 1})
	value[2] = nan
	b.check(g, dump.ClockStep)
	v, _ := g.Wait()
	require.NoError(t, v.Error)
	assert.Equal(t, dump.Trip{Tick: 4, Clock: dump.ClockStep, Count: 4, Field: "reward", Env: ptr(1), Class: "nan"}, v.Trip)
	b.check(g, dump.ClockStep)
	v, _ = g.Wait()
	assert.Equal(t, dump.Trip{Tick: 6, Clock: dump.ClockStep, Count: 6, Field: "value", Env: ptr(2), Class: "nan"}, v.Trip)
	assert.Len(t, open(t, v.Path).Manifest().Fields, 3)
}

// The host's numbers outlive the call that gave them, through every part of the
// staging memory and around.
func TestStaging(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	cfg := testConfig(t, 2)
	cfg.MaxFrames = 50
	g := b.guard(cfg)
	b.field(g, "value", 1, FieldOptions{})
	wide := bind(t, g, "obs.policy", 7000, FieldOptions{})
	strided := []float64{1, 9, 2, 9}
	_, err := g.Bind("reward", tensor.Ref{
		Base: unsafe.Pointer(&strided[0]), DType: tensor.Float64, Rows: 2, Cols: 1, RowStride: 16, ColStride: 8,
	}, FieldOptions{})
	require.NoError(t, err)
	for i := range 40 {
		wide[6999], strided[2] = float32(i), float64(-i)
		b.check(g, dump.ClockStep)
	}
	s := &g.rec.(*device).staging
	assert.Equal(t, stagingMin, s.size)
	assert.Less(t, s.used+s.room, s.size)
	wide[13999] = nan
	b.check(g, dump.ClockStep)
	v, _ := g.Wait()
	require.NoError(t, v.Error)
	assert.Equal(t, 6999, v.Trip.Col)
	f := open(t, v.Path)
	last := values(t, f, "reward")
	assert.Equal(t, []float64{-39, 1, -39, 1}, last[len(last)-4:])
	tr, err := f.Trace("obs.policy")
	require.NoError(t, err)
	for i := range 40 {
		assert.Equal(t, float64(i), tr.AbsMax[i])
	}
}

func TestTwoGuardsOfOneDevice(t *testing.T) {
	d := cudatest.Host(t)
	b := newBench(t, d)
	one, two := b.guard(testConfig(t, 2)), b.guard(testConfig(t, 2))
	qvel := b.field(one, "qvel", 1, FieldOptions{})
	_, err := two.Bind("qvel", qvel, FieldOptions{})
	require.NoError(t, err)
	b.check(one, dump.ClockSubstep)
	b.check(two, dump.ClockSubstep, dump.ClockSubstep)
	b.set(qvel, []float32{1, nan})
	b.check(two, dump.ClockSubstep)
	v, tripped := two.Wait()
	require.True(t, tripped)
	assert.Equal(t, int64(3), v.Trip.Tick)
	_, tripped = one.Wait()
	assert.False(t, tripped)
	require.NoError(t, two.Close())
	b.check(one, dump.ClockSubstep)
	v, _ = one.Wait()
	assert.Equal(t, int64(2), v.Trip.Tick)
}

func TestDeviceRefuses(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	g := b.guard(testConfig(t, 2))
	qvel := b.field(g, "qvel", 1, FieldOptions{})
	elsewhere := qvel
	elsewhere.Device = 3
	_, err := g.Bind("qpos", elsewhere, FieldOptions{})
	require.EqualError(t, err, `bind: field "qpos": memory of GPU 3, and the guard is one of GPU 0: each GPU needs its own`)
	require.ErrorContains(t, g.Check(dump.ClockSubstep, FieldRef{0, elsewhere}), "memory of GPU 0 when it was bound, now memory of GPU 3")
	none := qvel
	none.Addr = 0
	require.ErrorIs(t, g.Check(dump.ClockSubstep, FieldRef{0, none}), ErrNoAddress)
	const plan = "ring 1 MiB on GPU 0 (host playing a GPU), 128 KiB of it kept for fields bound later: qvel 1000 frames"
	assert.Equal(t, plan, g.Plan())
	b.check(g, dump.ClockSubstep)
	assert.Equal(t, plan, g.Plan())
}

// A machine without CUDA says so when the field is bound.
func TestBindWithoutCUDA(t *testing.T) {
	if _, err := cuda.Open(); err == nil {
		t.Skip("this machine has CUDA")
	}
	g := newGuard(t, testConfig(t, 2))
	_, err := g.Bind("qvel", tensor.Ref{Mem: tensor.CUDA, Addr: 4096, DType: tensor.Float32, Rows: 2, Cols: 1}, FieldOptions{})
	require.ErrorIs(t, err, ErrUnsupported)
	var why *UnsupportedError
	require.ErrorAs(t, err, &why)
	var misuse *MisuseError
	require.ErrorAs(t, err, &misuse)
	bind(t, g, "value", 1, FieldOptions{}) // and the guard works on the host
	check(t, g, dump.ClockStep)
}

// leaked keeps memory that a lost context still has, so that Go does not use it
// for something else.
var leaked []*Guard

// faulty returns a bench whose driver fails as the test says.
func faulty(t *testing.T) (*bench, *cudatest.Faulty) {
	f := &cudatest.Faulty{Library: cudatest.HostLibrary(t), Fail: map[string]cuda.Result{}}
	d, err := cuda.OpenOn(f)
	require.NoError(t, err)
	return newBench(t, d), f
}

// Whatever the GPU does, the loop gets one error and goes on, and what is left is
// in a dump.
func TestALostDevice(t *testing.T) {
	for _, c := range []struct {
		name string
		fail map[string]cuda.Result
		lost bool
	}{
		{"launch fails", map[string]cuda.Result{"cuLaunchKernel": 701}, false},
		{"a kernel crashed", map[string]cuda.Result{
			"cuLaunchKernel": cuda.IllegalAddress, "cuMemcpyDtoHAsync_v2": cuda.IllegalAddress, "cuCtxSynchronize": cuda.IllegalAddress,
			"cuMemFree_v2": cuda.IllegalAddress, "cuEventRecord": cuda.IllegalAddress, "cuStreamWaitEvent": cuda.IllegalAddress,
			"cuMemHostUnregister": cuda.IllegalAddress, "cuEventDestroy_v2": cuda.IllegalAddress, "cuStreamDestroy_v2": cuda.IllegalAddress,
			"cuModuleUnload": cuda.IllegalAddress, "cuStreamIsCapturing": cuda.IllegalAddress,
		}, true},
		{"context destroyed", map[string]cuda.Result{
			"cuCtxGetCurrent": cuda.ContextDestroyed, "cuCtxPushCurrent_v2": cuda.ContextDestroyed, "cuLaunchKernel": cuda.ContextDestroyed,
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, lib := faulty(t)
			g := b.guard(testConfig(t, 4))
			b.field(g, "qvel", 1, FieldOptions{})
			require.NoError(t, g.Check(dump.ClockSubstep))
			require.NoError(t, g.Check(dump.ClockSubstep))
			require.NoError(t, g.Fact("x", 1))
			for call, r := range c.fail {
				lib.Fail[call] = r
			}
			err := g.Check(dump.ClockSubstep)
			require.ErrorContains(t, err, "check: the guard is off since tick 2: ")
			assert.Equal(t, c.lost, errors.Is(err, ErrContextLost))
			require.Equal(t, err, g.Check(dump.ClockSubstep))
			_, tripped := g.Poll()
			assert.False(t, tripped)

			path, err := g.Dump("what is left")
			require.NotEmpty(t, path)
			require.ErrorContains(t, err, "dump: the frames are lost: ")
			m := open(t, path).Manifest()
			assert.Equal(t, map[string]any{"x": 1.}, m.Facts)
			assert.Equal(t, map[dump.Clock]int64{dump.ClockSubstep: 2}, m.Clocks)
			assert.Equal(t, dump.EventWarning, m.Events[0].Kind)
			require.NoError(t, g.Close())
			leaked = append(leaked, g)
		})
	}
}

// The trip of a device that is lost before its frames were fetched is in the
// dump.
func TestLostBetweenTripAndDump(t *testing.T) {
	b, lib := faulty(t)
	g := b.guard(testConfig(t, 4))
	qvel := b.field(g, "qvel", 1, FieldOptions{})
	b.set(qvel, []float32{1, 1, nan, 1})
	lib.Fail["cuMemcpyDtoHAsync_v2"] = cuda.LaunchFailed
	b.check(g, dump.ClockSubstep)
	v, tripped := g.Wait()
	require.True(t, tripped)
	require.ErrorIs(t, v.Error, ErrContextLost)
	m := open(t, v.Path).Manifest()
	assert.Equal(t, &v.Trip, m.Trip)
	assert.Equal(t, []dump.FieldSpec{g.fields[0].spec}, m.Fields)
	delete(lib.Fail, "cuMemcpyDtoHAsync_v2")
}

// Too little memory makes shorter rings, which is said; none at all is an error
// of the first check, and the loop goes on.
func TestDeviceOutOfMemory(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	cfg := testConfig(t, 4096)
	cfg.RingBytes, cfg.TraceLen = 3<<30, 1000 // the fake has 1 GiB
	g := b.guard(cfg)
	b.field(g, "qvel", 200, FieldOptions{})
	b.check(g, dump.ClockSubstep)
	frames := g.rec.frames(0)
	assert.Less(t, frames, 330)
	assert.Contains(t, g.Plan(), "instead of 3 GiB for want of memory on GPU 0")
	path, err := g.Dump("asked")
	require.NoError(t, err)
	assert.Contains(t, open(t, path).Manifest().Events[0].Detail, "has not enough free memory for a ring of 3 GiB")
	require.NoError(t, g.Close())

	f, lib := faulty(t)
	g = f.guard(testConfig(t, 4))
	f.field(g, "qvel", 1, FieldOptions{})
	lib.Fail["cuMemAlloc_v2"] = cuda.OutOfMemory
	err = g.Check(dump.ClockSubstep)
	require.ErrorContains(t, err, "out of memory")
	require.Equal(t, err, g.Check(dump.ClockSubstep))
	delete(lib.Fail, "cuMemAlloc_v2")
}

// Poll, Wait, Dump, Plan and Close may come from any goroutine while the loop
// checks on a GPU; run with -race.
func TestConcurrentUseOfADevice(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	cfg := testConfig(t, 16)
	cfg.MaxDumps = 3
	g := b.guard(cfg)
	v := b.field(g, "value", 2, FieldOptions{})
	loss := bind(t, g, "loss.value", 1, FieldOptions{Shared: true})
	b.check(g, dump.ClockStep)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 50 {
				g.Poll()
				g.Plan()
			}
			g.Wait()
			if _, err := g.Dump("asked by another"); err != nil {
				known := errors.Is(err, ErrNoDumpsLeft) || errors.Is(err, ErrNothingNew) || errors.Is(err, ErrClosed)
				assert.True(t, known, "%v", err)
			}
		})
	}
	for i := 0; i < 60 || len(dumpFiles(t, g)) < 3; i++ {
		values := filled(32, 1)
		if i%7 == 0 {
			values[i%32] = nan
		}
		b.set(v, values)
		loss[0] = float32(i)
		b.check(g, dump.ClockStep, dump.ClockMinibatch)
		g.Note(dump.Event{Kind: dump.EventReset, Envs: []int{i % 16}})
	}
	wg.Wait()
	require.NoError(t, g.Close())
	for _, name := range dumpFiles(t, g) {
		assert.NotEmpty(t, open(t, name).Manifest().Fields)
	}
}

// The stream of the last check may be gone when somebody asks for a dump.
func TestDumpAfterTheStreamIsGone(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	cfg := testConfig(t, 4)
	cfg.MaxDumps = 2
	g := b.guard(cfg)
	qvel := b.field(g, "qvel", 1, FieldOptions{})
	b.check(g, dump.ClockSubstep)
	require.NoError(t, b.ctx.DestroyStream(b.stream))
	path, err := g.Dump("asked")
	require.NoError(t, err)
	assert.Len(t, open(t, path).Manifest().Fields, 1)

	b.stream, err = b.ctx.NewStream()
	require.NoError(t, err)
	b.set(qvel, []float32{1, 1, nan, 1})
	b.check(g, dump.ClockSubstep)
	v, tripped := g.Wait()
	require.True(t, tripped)
	assert.Equal(t, int64(2), v.Trip.Tick)
}

// A long run takes no more memory and no more objects of the driver than a short
// one. The launches do nothing: what counts is the host's side.
func TestLongRunOnADeviceDoesNotGrow(t *testing.T) {
	n := 200_000
	if v, err := strconv.Atoi(os.Getenv(manyEnv)); err == nil {
		n = v
	}
	lib := &idle{Library: cudatest.HostLibrary(t)}
	d, err := cuda.OpenOn(lib)
	require.NoError(t, err)
	b := newBench(t, d)
	second, err := b.ctx.NewStream()
	require.NoError(t, err)
	cfg := testConfig(t, 2)
	cfg.TraceLen = 20
	cfg.MaxFrames = 10
	g := b.guard(cfg)
	b.field(g, "qvel", 1, FieldOptions{Clock: dump.ClockMinibatch})
	bind(t, g, "loss.value", 1, FieldOptions{Shared: true})
	streams := []uintptr{0, uintptr(b.stream), uintptr(second)}
	run := func(n int) {
		defer cudatest.Enter(t, lib, b.ctx)()
		for i := range n {
			if err := g.CheckOn(streams[i/1000%3], dump.ClockMinibatch); err != nil {
				t.Fatal(err)
			}
			if i%100 == 0 {
				g.Note(dump.Event{Kind: dump.EventReset, Envs: []int{i % 2}})
			}
		}
	}
	run(450_000) // events are at their bound now
	objects, before := cudatest.Objects(t), heap()
	run(n) // the staging memory comes round each 65,536
	assert.Equal(t, objects, cudatest.Objects(t))
	assert.Less(t, heap(), before+1<<20)
	require.NoError(t, b.ctx.DestroyStream(second))
}
