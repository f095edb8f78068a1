package cuda_test

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/detect/scan/kernel"
	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
)

// primary returns the context of the driver's first GPU.
func primary(t *testing.T, d *cuda.Driver) *cuda.Context {
	t.Helper()
	c, err := d.Primary(0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// stream returns a stream that is gone when the test ends.
func stream(t *testing.T, c *cuda.Context) cuda.Stream {
	t.Helper()
	s, err := c.NewStream()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.DestroyStream(s)) })
	return s
}

// event returns a mark that is gone when the test ends.
func event(t *testing.T, c *cuda.Context, timed bool) cuda.Event {
	t.Helper()
	e, err := c.NewEvent(timed)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.DestroyEvent(e)) })
	return e
}

// faulty returns a driver of the host whose calls are counted and fail as the
// test says.
func faulty(t *testing.T) (*cuda.Driver, *cudatest.Faulty) {
	t.Helper()
	lib := &cudatest.Faulty{Library: cudatest.HostLibrary(t), Calls: map[string]int{}, Fail: map[string]cuda.Result{}}
	d, err := cuda.OpenOn(lib)
	require.NoError(t, err)
	return d, lib
}

func TestMemory(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		c := primary(t, d)
		s := stream(t, c)
		p, err := c.Alloc(1000)
		require.NoError(t, err)
		require.NoError(t, c.Memset(s, p, 7, 1000))
		require.NoError(t, c.Upload(s, p+100, []byte("hello")))
		got := make([]byte, 10)
		require.NoError(t, c.Download(s, got, p+98))
		assert.Equal(t, "\a\ahello\a\a\a", string(got))

		rows := make([]byte, 12) // four rows of two bytes, each followed by one that stays
		require.NoError(t, c.DownloadRows(s, rows[:11], p+99, cuda.Rows{N: 4, Width: 2, DstPitch: 3, SrcPitch: 2}))
		require.NoError(t, c.SynchronizeStream(s))
		assert.Equal(t, "\ah\x00el\x00lo\x00\a\a\x00", string(rows))

		require.NoError(t, c.Free(p))
		require.Error(t, c.Free(p+1))
	})
}

func TestSharedMemory(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		c := primary(t, d)
		m, err := c.Share(100)
		require.NoError(t, err)
		s := stream(t, c)
		require.NoError(t, c.Memset(s, m.Device+4, 0xff, 4))
		require.NoError(t, c.SynchronizeStream(s))
		runtime.GC()
		assert.Equal(t, [3]int32{0, -1, 0}, *(*[3]int32)(m.Base))
		require.NoError(t, c.Unshare(m))
		assert.Equal(t, [3]int32{0, -1, 0}, *(*[3]int32)(m.Base), "it is still there")
	})
}

// Memory that could not be shared is the host's alone again.
func TestShareThatFails(t *testing.T) {
	d, lib := faulty(t)
	c := primary(t, d)
	before := cudatest.Objects(t)
	for _, call := range []string{"cuMemHostRegister_v2", "cuMemHostGetDevicePointer_v2"} {
		lib.Fail[call] = cuda.InvalidValue
		m, err := c.Share(100)
		require.EqualError(t, err, call+": an argument is not valid (1)")
		assert.Equal(t, cuda.Shared{}, m)
		assert.Equal(t, before, cudatest.Objects(t), call)
		delete(lib.Fail, call)
	}
	lib.Fail["cuMemHostGetDevicePointer_v2"] = cuda.InvalidValue
	lib.Fail["cuMemHostUnregister"] = cuda.InvalidHandle
	_, err := c.Share(100)
	require.ErrorContains(t, err, "cuMemHostUnregister: a handle is not valid (400)", "what stays is said")
}

func TestLoad(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		c := primary(t, d)
		m, err := c.Load(kernel.PTX)
		require.NoError(t, err)
		_, err = m.Function(kernel.Check)
		require.NoError(t, err)
		_, err = m.Function("ng_nothing")
		require.ErrorContains(t, err, `kernel "ng_nothing": cuModuleGetFunction: the name was not found (500)`)
		require.NoError(t, m.Unload())

		_, err = c.Load(".version 8.0\n.target sm_70\n.address_size 64\nnonsense;\n")
		require.Equal(t, cuda.Result(218), cuda.ResultOf(err))
		require.Regexp(t, `^load kernels on GPU 0 \(.+\): cuModuleLoadDataEx: the PTX is not valid \(218\): .+`, err.Error(), "what the compiler said")
	})
}

func TestEvents(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		c := primary(t, d)
		s, other := stream(t, c), stream(t, c)
		from, to := event(t, c, true), event(t, c, true)
		require.NoError(t, c.Record(from, s))
		require.NoError(t, c.Record(to, s))
		require.NoError(t, c.Wait(other, to))
		require.NoError(t, c.SynchronizeEvent(to))
		ms, err := c.Elapsed(from, to)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, ms, float32(0))
		capturing, err := c.Capturing(s)
		require.NoError(t, err)
		assert.False(t, capturing)
	})
}

// A failed capture gives the stream back as it was.
func TestCaptureThatFails(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		c := primary(t, d)
		s := stream(t, c)
		_, err := c.Capture(s, func() error { return assert.AnError })
		require.ErrorIs(t, err, assert.AnError)
		capturing, err := c.Capturing(s)
		require.NoError(t, err)
		assert.False(t, capturing)
		require.NoError(t, c.SynchronizeStream(s))
	})
}

// A context that a thread had before is its own again after each call, and a
// call that fails leaves the thread as it was.
func TestContextOfTheThread(t *testing.T) {
	d, lib := faulty(t)
	c := primary(t, d)
	p, err := c.Alloc(8)
	require.NoError(t, err)
	lib.Fail["cuMemFree_v2"] = cuda.InvalidValue
	require.Error(t, c.Free(p))
	delete(lib.Fail, "cuMemFree_v2")
	require.NoError(t, c.Free(p))
	assert.Equal(t, 3, lib.Calls["cuCtxPushCurrent_v2"])
	assert.Equal(t, 3, lib.Calls["cuCtxPopCurrent_v2"])
	assert.Equal(t, 6, lib.Calls["cuThreadExchangeStreamCaptureMode"])
	lib.Fail["cuCtxPushCurrent_v2"] = cuda.ContextDestroyed
	_, err = c.Alloc(8)
	require.ErrorIs(t, err, cuda.ErrContextLost)
}

// BenchmarkCall is the cost of a call into C and back, with nothing done there.
func BenchmarkCall(b *testing.B) {
	lib := cudatest.HostLibrary(b)
	fn, err := lib.Lookup("cuCtxGetCurrent")
	require.NoError(b, err)
	out := new(uintptr)
	args := []uintptr{uintptr(unsafe.Pointer(out))}
	b.ReportAllocs()
	for b.Loop() {
		lib.Call(fn, args)
	}
}

// A launch from a thread without the context makes it current and takes it off
// again; one that fails says so and leaves the thread as it was.
func TestLaunchFromAnotherThread(t *testing.T) {
	d, lib := faulty(t)
	c := primary(t, d)
	m, err := c.Load(kernel.PTX)
	require.NoError(t, err)
	f, err := m.Function(kernel.Flush)
	require.NoError(t, err)
	fields, err := c.Alloc(int(unsafe.Sizeof(kernel.Field{})))
	require.NoError(t, err)
	require.NoError(t, c.Memset(0, fields, 0, int(unsafe.Sizeof(kernel.Field{}))))
	run := c.NewLaunch(f, kernel.Threads, unsafe.Pointer(&fields))
	pushed := lib.Calls["cuCtxPushCurrent_v2"]
	require.NoError(t, run.Run(0, 1))
	assert.Equal(t, 2, lib.Calls["cuLaunchKernel"])
	assert.Equal(t, pushed+1, lib.Calls["cuCtxPushCurrent_v2"])
	assert.Equal(t, pushed+1, lib.Calls["cuCtxPopCurrent_v2"])

	lib.Fail["cuLaunchKernel"] = cuda.InvalidHandle
	require.EqualError(t, run.Run(0, 1), "cuLaunchKernel: a handle is not valid (400)")
	assert.Equal(t, pushed+2, lib.Calls["cuCtxPopCurrent_v2"])
	lib.Fail["cuCtxPushCurrent_v2"] = cuda.ContextDestroyed
	require.ErrorIs(t, run.Run(0, 1), cuda.ErrContextLost)
}

// Prepared calls do what the plain ones do, from any thread.
func TestOrder(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		c := primary(t, d)
		s, e, o := stream(t, c), event(t, c, false), c.NewOrder()
		for _, s := range []cuda.Stream{0, 1, s} {
			capturing, err := o.Capturing(s)
			require.NoError(t, err)
			assert.False(t, capturing)
			require.NoError(t, o.Record(e, s))
			require.NoError(t, o.Wait(s, e))
		}
		g, err := c.Capture(s, func() error {
			capturing, err := o.Capturing(s)
			assert.True(t, capturing)
			return err
		})
		require.NoError(t, err)
		require.NoError(t, g.Destroy())
	})
}

// A wait names the context, because the default stream is one in every context.
func TestWaitIsMadeInTheContext(t *testing.T) {
	d, lib := faulty(t)
	c := primary(t, d)
	e, o := event(t, c, false), c.NewOrder()
	clear(lib.Calls)
	require.NoError(t, o.Wait(0, e))
	assert.Equal(t, map[string]int{"cuCtxGetCurrent": 1, "cuCtxPushCurrent_v2": 1, "cuStreamWaitEvent": 1, "cuCtxPopCurrent_v2": 1}, lib.Calls)
	lib.Fail["cuCtxPushCurrent_v2"] = cuda.InvalidContext
	require.ErrorIs(t, o.Wait(0, e), cuda.ErrContextLost)
	lib.Fail["cuCtxGetCurrent"] = cuda.NotInitialized
	require.ErrorIs(t, o.Wait(0, e), cuda.ErrContextLost)
	clear(lib.Fail)
	lib.Fail["cuEventRecord"] = cuda.InvalidHandle
	require.EqualError(t, o.Record(e, 0), "cuEventRecord: a handle is not valid (400)")
	clear(lib.Fail)
}
