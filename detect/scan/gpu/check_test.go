package gpu

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
	"github.com/nanguard/nanguard/tensor"
)

// A check of hundreds of fields is several launches and one tick.
func TestHundredsOfFields(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		const n = 250
		c := Config{}
		for i := range n {
			c.Fields = append(c.Fields, Field{DType: tensor.Float32, Rows: 2 + i%3, Cols: 1 + i, Rank: n - i, Slots: 2, TraceLen: 4})
		}
		g := newRig(t, d, c)
		addr := g.put(repeat(4*(n+1), 2, nil), 0)
		addrs := make([]uintptr, n)
		for i := range addrs {
			addrs[i] = addr
		}
		g.check(0, addrs...)
		g.check(0, addrs...)
		addrs[20] = g.put(repeat(4*(n+1), nan, nil), 0)
		addrs[230] = addrs[20]
		g.check(0, addrs...)
		g.sync()
		v := g.Poll()
		require.True(t, v.Frozen)
		assert.Equal(t, Bad{Field: 230, Tick: 3, Count: 3, Class: Class(tensor.NaN)}, v.Trip)
		s, err := g.Snapshot()
		require.NoError(t, err)
		for i := range n {
			trace, err := s.Trace(i)
			require.NoError(t, err)
			require.Len(t, trace, 3)
			require.EqualValues(t, 2, trace[1].Mean, "field %d", i)
			f, err := s.Frames(i, []int{1})
			require.NoError(t, err)
			require.Equal(t, []int64{2, 3}, f.Ticks)
			require.EqualValues(t, 2, f.Values.Float64(i))
		}
	})
}

// A check without fields moves its clock.
func TestCheckWithoutFields(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		g := newRig(t, d, Config{})
		for range 3 {
			require.NoError(t, g.Check(0, 5, true, nil))
		}
		require.NoError(t, g.Check(0, 5, false, nil))
		g.sync()
		tick := g.tick()
		assert.EqualValues(t, 4, tick)
		assert.EqualValues(t, 3, g.freeze().Clock(5))
	})
}

// TestGraph captures checks into a graph: nothing happens then, and everything
// at each replay.
func TestGraph(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		g := newRig(t, d, threeFields())
		addr := g.put(repeat(envs*4, 1, nil), 0)
		s, err := g.ctx.NewStream()
		require.NoError(t, err)
		defer func() { require.NoError(t, g.ctx.DestroyStream(s)) }()
		graph, err := g.ctx.Capture(s, func() error {
			for range 3 {
				if err := g.Check(uintptr(s), 0, true, []Arg{g.arg(0, addr), g.arg(1, addr)}); err != nil {
					return err
				}
			}
			return g.Check(uintptr(s), 1, true, []Arg{g.arg(2, addr)})
		})
		require.NoError(t, err)
		defer func() { require.NoError(t, graph.Destroy()) }()
		require.NoError(t, g.ctx.SynchronizeStream(s))
		tick := g.tick()
		require.Zero(t, tick)

		for range 5 {
			require.NoError(t, graph.Run(s))
		}
		require.NoError(t, g.ctx.Upload(s, cuda.Ptr(addr)+4*9, bytesOfSlice([]float32{nan})))
		require.NoError(t, graph.Run(s))
		require.NoError(t, graph.Run(s))
		require.NoError(t, g.ctx.SynchronizeStream(s))
		v := g.Poll()
		require.True(t, v.Frozen)
		assert.Equal(t, Bad{Field: 1, Tick: 21, Count: 16, Row: 3, Class: Class(tensor.NaN)}, v.Trip)
		snap, err := g.Snapshot()
		require.NoError(t, err)
		f, err := snap.Frames(0, []int{0})
		require.NoError(t, err)
		assert.Equal(t, []int64{17, 18, 19, 21}, append(f.Ticks[:0:0], f.Ticks...)[:4], "ticks")
		assert.EqualValues(t, 28, snap.Tick())
	})
}

// Checks on several streams count in the order in which they were enqueued.
func TestSeveralStreams(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		const n, rounds = 1 << 20, 30
		g := newRig(t, d, Config{Fields: []Field{
			{DType: tensor.Float32, Rows: n, Cols: 1, TraceLen: 2 * rounds},
			{DType: tensor.Float32, Rows: 1, Cols: 1, Rank: 1, TraceLen: 2 * rounds},
		}})
		large, small := g.put(make([]byte, 4*n), 0), g.put(make([]byte, 4), 0)
		var streams []cuda.Stream
		for range 3 {
			s, err := g.ctx.NewStream()
			require.NoError(t, err)
			streams = append(streams, s)
		}
		for i := range rounds {
			if _, real := t.Deadline(); !real && testing.Short() && i > 3 {
				break
			}
			require.NoError(t, g.Check(uintptr(streams[i%3]), 0, true, []Arg{g.arg(i%2, []uintptr{large, small}[i%2])}))
		}
		for _, s := range streams {
			require.NoError(t, g.ctx.SynchronizeStream(s))
		}
		s := g.freeze()
		for field := range 2 {
			trace, err := s.Trace(field)
			require.NoError(t, err)
			for k, r := range trace {
				require.EqualValues(t, 2*k+field+1, r.Tick)
			}
		}
		for _, s := range streams {
			require.NoError(t, g.ctx.DestroyStream(s))
		}
	})
}

// A change of streams disturbs nobody's capture.
func TestSeveralStreamsDuringACapture(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		g := newRig(t, d, Config{Fields: []Field{{DType: tensor.Float32, Rows: 1, Cols: 1, TraceLen: 8}}})
		addr := g.put(make([]byte, 4), 0)
		a, b, c := g.stream(), g.stream(), g.stream()
		order := []uintptr{0, a, b, 0, b}
		require.NoError(t, g.Check(order[0], 0, true, []Arg{g.arg(0, addr)}))
		graph, err := g.ctx.CaptureGlobal(cuda.Stream(c), func() error {
			for _, s := range order[1:] {
				if err := g.Check(s, 0, true, []Arg{g.arg(0, addr)}); err != nil {
					return err
				}
			}
			return g.Check(c, 0, true, []Arg{g.arg(0, addr)})
		})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, graph.Destroy()) })
		for _, s := range order {
			require.NoError(t, g.ctx.SynchronizeStream(cuda.Stream(s)))
		}
		require.NoError(t, graph.Run(cuda.Stream(c)))
		require.NoError(t, g.ctx.SynchronizeStream(cuda.Stream(c)))
		assert.EqualValues(t, len(order)+1, g.freeze().Tick())
	})
}

func TestMisuse(t *testing.T) {
	d := cudatest.Host(t)
	g := newRig(t, d, threeFields())
	addr := g.put(repeat(envs*4, 1, nil), 0)
	for want, args := range map[string][]Arg{
		"check: field 3 of 3":           {g.arg(0, addr), {Field: 3, Addr: addr}},
		"check: field -1 of 3":          {{Field: -1, Addr: addr}},
		"check: field 1 is given twice": {g.arg(1, addr), g.arg(0, addr), g.arg(1, addr)},
		"check: field 0 has no address": {{Field: 0}},
	} {
		require.EqualError(t, g.Check(0, 0, true, args), want)
	}
	require.EqualError(t, g.Check(0, 8, true, nil), "check: clock 8 is not in [0, 8)")
	require.NoError(t, g.Check(0, 0, true, []Arg{g.arg(1, addr)}))
	_, err := g.Snapshot()
	require.ErrorIs(t, err, ErrNotFrozen)
	tick := g.tick()
	require.EqualValues(t, 1, tick, "nothing ran of what was refused")

	require.NoError(t, g.Close())
	require.NoError(t, g.Close())
	require.EqualError(t, g.Check(0, 0, true, nil), "check: the engine is closed")
	require.EqualError(t, g.Freeze(0), "freeze: the engine is closed")
	require.EqualError(t, g.Rearm(0), "rearm: the engine is closed")
	require.EqualError(t, g.AskRearm(), "ask: the engine is closed")
	require.EqualError(t, g.Thaw(0), "thaw: the engine is closed")
	_, err = g.Snapshot()
	require.EqualError(t, err, "snapshot: the engine is closed")
	require.Nil(t, g.AskTick())
	require.Equal(t, Verdict{}, g.Poll())
}

func TestConfigsThatCannotBe(t *testing.T) {
	d := cudatest.Host(t)
	ok := Field{DType: tensor.Float32, Rows: 2, Cols: 2, TraceLen: 4}
	with := func(change func(*Field)) Config {
		f := ok
		change(&f)
		return Config{NumEnvs: 3, Fields: []Field{f}}
	}
	for want, c := range map[string]Config{
		"field 0: dtype invalid":                             with(func(f *Field) { f.DType = 0 }),
		"field 0: shape -1 x 2":                              with(func(f *Field) { f.Rows = -1 }),
		"field 0: rank 1048576 is not in [0, 1048576)":       with(func(f *Field) { f.Rank = MaxRank }),
		"field 0: 2 rows for 3 envs":                         with(func(f *Field) { f.MarkEnvs = true }),
		"field 0: 5 frames and a trace of 4 rows":            with(func(f *Field) { f.Slots = 5 }),
		"field 0: 0 frames and a trace of 0 rows":            with(func(f *Field) { f.TraceLen = 0 }),
		"field 0: growth over 1 frames in a trace of 4 rows": with(func(f *Field) { f.GrowthFrames = 1 }),
		"field 0: growth over 4 frames in a trace of 4 rows": with(func(f *Field) { f.GrowthFrames = 4 }),
		"fields 0 and 1: both of rank 0":                     {Fields: []Field{ok, ok}},
		"65537 fields, at most 65536":                        {Fields: make([]Field, MaxFields+1)},
	} {
		_, err := NewOn(d, c)
		assert.EqualError(t, err, want)
	}
}

// A check allocates nothing: on the default stream, on another one, on several
// in turns, and while a stream is being captured.
func TestCheckDoesNotAllocate(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		g := newRig(t, d, threeFields())
		addr := g.put(repeat(envs*4, 1, nil), 0)
		args := []Arg{g.arg(0, addr), g.arg(1, addr), g.arg(2, addr)}
		streams := []uintptr{0, g.stream(), g.stream()}
		i := 0
		check := func(s uintptr) {
			if g.Check(s, 0, true, args) != nil || g.Poll().Tripped {
				t.Fail()
			}
		}
		for name, f := range map[string]func(){
			"default stream": func() { check(0) },
			"a stream":       func() { check(streams[1]) },
			"streams":        func() { check(streams[i%3]); i++ },
		} {
			f()
			assert.Zero(t, testing.AllocsPerRun(100, f), name)
		}
		graph, err := g.ctx.Capture(cuda.Stream(streams[1]), func() error {
			allocs := testing.AllocsPerRun(100, func() { check(streams[1]) })
			assert.Zero(t, allocs, "captured")
			return nil
		})
		require.NoError(t, err)
		require.NoError(t, graph.Destroy())
	})
}

// What a check asks of the driver: the launch on the default stream, and before
// it whether the stream is being captured on others; a wait and a mark when
// streams take turns.
func TestCallsOfACheck(t *testing.T) {
	lib := &cudatest.Faulty{Library: cudatest.HostLibrary(t), Calls: map[string]int{}}
	d, err := cuda.OpenOn(lib)
	require.NoError(t, err)
	g := newRig(t, d, threeFields())
	args := []Arg{g.arg(0, g.put(repeat(envs*4, 1, nil), 0))}
	one, two := g.stream(), g.stream()
	defer cudatest.Enter(t, lib, g.ctx)()
	calls := func(streams ...uintptr) map[string]int {
		clear(lib.Calls)
		for _, s := range streams {
			require.NoError(t, g.Check(s, 0, true, args))
		}
		return maps.Clone(lib.Calls)
	}
	assert.Equal(t, map[string]int{"cuLaunchKernel": 2}, calls(0, 0))
	require.NoError(t, g.Check(one, 0, true, args))
	assert.Equal(t, map[string]int{"cuLaunchKernel": 1, "cuStreamIsCapturing": 1, "cuEventRecord": 1}, calls(one))
	assert.Equal(t, map[string]int{
		"cuLaunchKernel": 2, "cuStreamIsCapturing": 1, "cuEventRecord": 2, "cuStreamWaitEvent": 2, "cuCtxGetCurrent": 2,
	}, calls(0, two))
}

// The default stream has two names.
func TestCallsOfACheckOnTheDefaultStream(t *testing.T) {
	lib := &cudatest.Faulty{Library: cudatest.HostLibrary(t), Calls: map[string]int{}}
	d, err := cuda.OpenOn(lib)
	require.NoError(t, err)
	g := newRig(t, d, threeFields())
	args := []Arg{g.arg(0, g.put(repeat(envs*4, 1, nil), 0))}
	defer cudatest.Enter(t, lib, g.ctx)()
	clear(lib.Calls)
	for s := range uintptr(2) {
		require.NoError(t, g.Check(s, 0, true, args))
	}
	assert.Equal(t, map[string]int{"cuLaunchKernel": 2}, lib.Calls)
}
