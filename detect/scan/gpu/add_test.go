package gpu

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
	"github.com/nanguard/nanguard/tensor"
)

// graph returns a graph of one check of fields that lie at these addresses.
func (r *rig) graph(s uintptr, clock int, addrs ...uintptr) *cuda.Graph {
	r.t.Helper()
	var args []Arg
	for i, a := range addrs {
		if a != 0 {
			args = append(args, r.arg(i, a))
		}
	}
	g, err := r.ctx.Capture(cuda.Stream(s), func() error { return r.Check(s, clock, true, args) })
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, g.Destroy()) })
	return g
}

// A field that is added late costs no frame of the others, graphs that hold
// checks go on, and the new one takes part in trips, snapshots and rearming.
func TestAdd(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		c := threeFields()
		c.Spare = 3
		for i := range c.Fields {
			c.Fields[i].Rank *= 10
		}
		g := newRig(t, d, c)
		s := g.stream()
		fine := g.put(repeat(envs*4, 1, nil), 0)
		before := g.graph(s, 0, fine, fine, fine)
		run := func(graph *cuda.Graph) {
			t.Helper()
			require.NoError(t, graph.Run(cuda.Stream(s)))
			require.NoError(t, g.ctx.SynchronizeStream(cuda.Stream(s)))
		}
		run(before)
		run(before)
		late := f32(15, 2) // between the monitor and the second field
		require.NoError(t, g.Add([]Field{late, {DType: tensor.Float64, Rows: 1, Cols: 1, Rank: 5, Slots: 2, TraceLen: 3}}))
		assert.Equal(t, 1, g.Places())
		assert.Equal(t, 4, g.Slots(3))
		run(before)
		late2 := g.put(repeat(envs*2, 2, nil), 0)
		one := g.put(bytesOfSlice([]float64{7}), 0)
		after := g.graph(s, 0, fine, 0, 0, late2, one)
		run(after)
		run(before)
		require.False(t, g.Poll().Tripped)

		require.NoError(t, g.ctx.Upload(cuda.Stream(s), cuda.Ptr(fine)+4*10, bytesOfSlice([]float32{nan})))
		require.NoError(t, g.ctx.Upload(cuda.Stream(s), cuda.Ptr(late2)+4*9, bytesOfSlice([]float32{nan})))
		run(after)
		v := g.Poll()
		require.True(t, v.Frozen)
		assert.Equal(t, Bad{Field: 3, Tick: 6, Count: 6, Row: 4, Col: 1, Class: Class(tensor.NaN)}, v.Trip)
		snap, err := g.Snapshot()
		require.NoError(t, err)
		for field, want := range [][]int64{{3, 4, 5, 6}, {1, 2, 3, 5}, {1, 2, 3, 5}, {4, 6}, {4, 6}} {
			f, err := snap.Frames(field, []int{0})
			require.NoError(t, err)
			assert.Equal(t, want, f.Ticks, "field %d", field)
		}
		trace, err := snap.Trace(4)
		require.NoError(t, err)
		assert.Equal(t, []Row{
			{Tick: 4, Count: 4, AbsMax: 7, Min: 7, Max: 7, Mean: 7},
			{Tick: 6, Count: 6, AbsMax: 7, Min: 7, Max: 7, Mean: 7},
		}, trace)
		requireFirstBad(t, snap, 3, Bad{Field: 3, Tick: 6, Count: 6, Row: 4, Col: 1, Class: Class(tensor.NaN), Rows: 1})
		bad, err := snap.BadEnvs()
		require.NoError(t, err)
		assert.Equal(t, []BadEnv{{4, 6, 15}, {2, 6, 30}}, bad)

		require.NoError(t, g.Rearm(s))
		require.NoError(t, g.ctx.Upload(cuda.Stream(s), cuda.Ptr(fine)+4*10, bytesOfSlice([]float32{1})))
		run(after)
		v = g.Poll()
		require.True(t, v.Frozen)
		assert.Equal(t, int64(7), v.Trip.Tick)
		snap, err = g.Snapshot()
		require.NoError(t, err)
		requireFirstBad(t, snap, 3, Bad{Field: 3, Tick: 7, Count: 7, Row: 4, Col: 1, Class: Class(tensor.NaN), Rows: 1})
		f, err := snap.Frames(3, nil)
		require.NoError(t, err)
		assert.Equal(t, []int64{7}, f.Ticks, "the rings are empty after Rearm")
	})
}

// Added fields one by one until the table is full.
func TestAddUntilTheTableIsFull(t *testing.T) {
	d := cudatest.Host(t)
	ctx, err := d.Primary(0)
	require.NoError(t, err)
	before, err := ctx.MemoryFree()
	require.NoError(t, err)
	c := threeFields()
	c.Spare = 64
	g, err := NewOn(d, c)
	require.NoError(t, err)
	for i := range 64 {
		require.NoError(t, g.Add([]Field{f32(10+i, 1)}))
	}
	free, err := ctx.MemoryFree()
	require.NoError(t, err)
	require.ErrorIs(t, g.Add([]Field{f32(99, 1)}), ErrNoPlace)
	now, err := ctx.MemoryFree()
	require.NoError(t, err)
	assert.Equal(t, free, now)
	require.NoError(t, g.Close())
	require.ErrorContains(t, g.Add([]Field{f32(99, 1)}), "the engine is closed")
	after, err := ctx.MemoryFree()
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

// What cannot be added leaves the engine as it was.
func TestAddThatFails(t *testing.T) {
	d, lib := faulty(t)
	c := threeFields()
	c.Spare = 8
	g := newRig(t, d, c)
	addr := g.put(repeat(envs*4, 1, nil), 0)
	g.check(0, addr, addr, addr)
	require.ErrorContains(t, g.Add([]Field{f32(2, 1)}), "add: fields 1 and 3: both of rank 2")
	before, err := g.ctx.MemoryFree()
	require.NoError(t, err)
	for _, call := range []string{"cuMemAlloc_v2", "cuMemsetD8Async", "cuMemcpyHtoDAsync_v2", "cuStreamSynchronize"} {
		lib.Fail[call] = cuda.OutOfMemory
		err := g.Add([]Field{f32(9, 1)})
		require.Equal(t, cuda.OutOfMemory, cuda.ResultOf(err), call)
		delete(lib.Fail, call)
		after, err := g.ctx.MemoryFree()
		require.NoError(t, err)
		assert.Equal(t, before, after, call)
	}
	assert.Equal(t, 8, g.Places())
	g.check(0, addr, addr, addr)

	huge := Field{DType: tensor.Float32, Rows: 1 << 20, Cols: 16, Rank: 9, Slots: 100, TraceLen: 100} // 6.4 GB of the fake's 1 GiB
	require.NoError(t, g.Add([]Field{huge}))
	assert.Equal(t, 13, g.Slots(3))
	assert.EqualValues(t, 2, g.freeze().Tick())
}
