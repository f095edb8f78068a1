package gpu

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
	"github.com/nanguard/nanguard/tensor"
)

// faulty returns a driver whose calls the test can make fail.
func faulty(t *testing.T) (*cuda.Driver, *cudatest.Faulty) {
	lib := &cudatest.Faulty{Library: cudatest.HostLibrary(t), Fail: map[string]cuda.Result{}}
	d, err := cuda.OpenOn(lib)
	require.NoError(t, err)
	return d, lib
}

// When the device is short of memory the rings get shorter, all of them, and
// the engine says so.
func TestOutOfMemoryMeansShorterRings(t *testing.T) {
	const mib = 1 << 20
	fields := []Field{
		{DType: tensor.Float32, Rows: mib, Cols: 16, Slots: 100, TraceLen: 100}, // 64 MiB a frame, 6.4 GB asked for
		{DType: tensor.Float32, Rows: 1, Cols: 1, Rank: 1, Slots: 100, TraceLen: 100},
	}
	d := cudatest.Host(t) // has 1 GiB
	g := newRig(t, d, Config{Fields: fields})
	assert.Equal(t, 13, g.Slots(0))
	assert.Equal(t, 13, g.Slots(1))
	assert.Equal(t, 100, fields[0].Slots, "the caller's fields are his own")

	fields[0].Slots, fields[0].Cols = 1, 1000
	_, err := NewOn(d, Config{Fields: fields})
	require.Error(t, err)
	assert.Equal(t, cuda.OutOfMemory, cuda.ResultOf(err))
	assert.ErrorContains(t, err, "engine on GPU 0 (host playing a GPU): cuMemAlloc_v2: out of memory (2)")
}

// Whatever fails while an engine is made, the error says what, and everything
// is given back: the next engine finds all the memory there was.
func TestNothingIsLeftOfAnEngineThatCouldNotBeMade(t *testing.T) {
	for _, call := range []string{
		"cuDevicePrimaryCtxRetain", "cuModuleLoadDataEx", "cuStreamCreate", "cuEventCreate", "cuMemHostRegister_v2",
		"cuMemHostGetDevicePointer_v2", "cuMemAlloc_v2", "cuModuleGetFunction", "cuMemsetD8Async", "cuMemcpyHtoDAsync_v2",
	} {
		d, lib := faulty(t)
		ctx, err := d.Primary(0)
		require.NoError(t, err)
		before, err := ctx.MemoryFree()
		require.NoError(t, err)
		objects := cudatest.Objects(t)
		lib.Fail[call] = cuda.InvalidValue
		_, err = NewOn(d, threeFields())
		require.ErrorContains(t, err, call+": an argument is not valid (1)")
		after, err := ctx.MemoryFree()
		require.NoError(t, err)
		assert.Equal(t, before, after, call)
		assert.Equal(t, objects, cudatest.Objects(t), call)
	}
}

// A launch that fails is the caller's error and changes nothing: the next check
// is counted as if it had not been.
func TestLaunchFails(t *testing.T) {
	d, lib := faulty(t)
	g := newRig(t, d, threeFields())
	addr := g.put(repeat(envs*4, 1, nil), 0)
	g.check(0, addr)
	lib.Fail["cuLaunchKernel"] = cuda.OutOfMemory
	err := g.Check(0, 0, true, []Arg{g.arg(0, addr)})
	require.EqualError(t, err, "check: cuLaunchKernel: out of memory (2)")
	delete(lib.Fail, "cuLaunchKernel")
	g.check(0, addr)
	s := g.freeze()
	assert.EqualValues(t, 2, s.Tick())
	trace, err := s.Trace(0)
	require.NoError(t, err)
	assert.Len(t, trace, 2)
}

// So it is when only a part of a large check could be launched.
func TestPartOfALaunchFails(t *testing.T) {
	d, lib := faulty(t)
	const n = 100
	var c Config
	for i := range n {
		c.Fields = append(c.Fields, Field{DType: tensor.Float32, Rows: 1, Cols: 1, Rank: i, Slots: 3, TraceLen: 3})
	}
	g := newRig(t, d, c)
	addrs := make([]uintptr, n)
	args := make([]Arg, n)
	for i := range args {
		addrs[i] = g.put(repeat(1, float32(i), nil), 0)
		args[i] = g.arg(i, addrs[i])
	}
	g.check(0, addrs...)
	lib.After = map[string]int{"cuLaunchKernel": 2} // the second launch of a thread without context is the first that is done
	lib.Fail["cuLaunchKernel"] = cuda.OutOfMemory
	require.ErrorContains(t, g.Check(0, 0, true, args), "cuLaunchKernel: out of memory (2)")
	delete(lib.Fail, "cuLaunchKernel")
	g.check(0, addrs...)
	g.check(0, addrs[:10]...)
	s := g.freeze()
	assert.EqualValues(t, 3, s.Tick())
	for i := range n {
		trace, err := s.Trace(i)
		require.NoError(t, err)
		f, err := s.Frames(i, nil)
		require.NoError(t, err)
		want := []int64{1, 2, 3}
		if i >= 10 {
			want = want[:2]
		}
		require.Equal(t, want, f.Ticks, "field %d", i)
		require.Len(t, trace, len(want))
		require.EqualValues(t, i, trace[1].Max)
	}
}

// When the context is gone every call says so, Poll still answers, and Close
// is no error.
func TestContextLost(t *testing.T) {
	d, lib := faulty(t)
	e, err := NewOn(d, threeFields())
	require.NoError(t, err)
	for _, call := range []string{
		"cuLaunchKernel", "cuMemcpyDtoHAsync_v2", "cuStreamWaitEvent", "cuMemsetD8Async", "cuMemFree_v2", "cuMemHostUnregister",
		"cuEventDestroy_v2", "cuStreamDestroy_v2", "cuModuleUnload", "cuDevicePrimaryCtxRelease_v2",
	} {
		lib.Fail[call] = cuda.ContextDestroyed
	}
	require.ErrorIs(t, e.Check(0, 0, true, nil), cuda.ErrContextLost)
	require.ErrorIs(t, e.Freeze(0), cuda.ErrContextLost)
	require.ErrorIs(t, e.Rearm(0), cuda.ErrContextLost)
	_, err = e.Snapshot()
	require.ErrorIs(t, err, cuda.ErrContextLost)
	require.Nil(t, e.AskTick())
	require.Equal(t, Verdict{}, e.Poll())
	require.NoError(t, e.Close())
}

// Thousands of engines and checks leave no memory behind.
func TestNothingGrows(t *testing.T) {
	d := cudatest.Host(t)
	ctx, err := d.Primary(0)
	require.NoError(t, err)
	before, err := ctx.MemoryFree()
	require.NoError(t, err)
	for range 50 {
		e, err := NewOn(d, threeFields())
		require.NoError(t, err)
		require.NoError(t, e.Check(0, 0, true, nil))
		require.NoError(t, e.Close())
	}
	after, err := ctx.MemoryFree()
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

// A million checks on a real device change neither its memory nor what is
// recorded.
func TestAMillionChecks(t *testing.T) {
	d := cudatest.GPU(t)
	if testing.Short() {
		t.Skip("a million checks take ten seconds")
	}
	g := newRig(t, d, threeFields())
	addr := g.put(repeat(envs*4, 1, nil), 0)
	args := []Arg{g.arg(0, addr), g.arg(1, addr), g.arg(2, addr)}
	g.check(0, addr, addr, addr)
	g.sync()
	before, err := g.ctx.MemoryFree()
	require.NoError(t, err)
	n := int64(1_000_000)
	if v, err := strconv.ParseInt(os.Getenv("NANGUARD_TEST_CHECKS"), 10, 64); err == nil {
		n = v
	}
	for range n {
		if err := g.Check(0, 0, true, args); err != nil {
			t.Fatal(err)
		}
	}
	g.sync()
	after, err := g.ctx.MemoryFree()
	require.NoError(t, err)
	assert.Equal(t, before, after)
	s := g.freeze()
	assert.EqualValues(t, n+1, s.Tick())
	trace, err := s.Trace(0)
	require.NoError(t, err)
	for k, r := range trace {
		assert.Equal(t, Row{Tick: n - 6 + int64(k), Count: n - 6 + int64(k), AbsMax: 1, Min: 1, Max: 1, Mean: 1}, r)
	}
}
