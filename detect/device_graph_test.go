package detect

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
)

// replay runs a graph and waits for it.
func (b *bench) replay(g *cuda.Graph) {
	b.t.Helper()
	require.NoError(b.t, g.Run(b.stream))
	require.NoError(b.t, b.ctx.SynchronizeStream(b.stream))
}

// A loop that is graphs alone gets every dump that it may have: once one is
// written, the guard arms itself, and graphs may run all the while.
func TestALoopOfGraphsIsArmedAgain(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		b := newBench(t, d)
		g, qvel, graph := b.loop(4, 3)
		b.set(qvel, []float32{0, 0, nan, 0}) // and so it stays
		require.Eventually(t, func() bool {
			b.replay(graph)
			return len(dumpFiles(t, g)) == 3
		}, 30*time.Second, time.Millisecond)
		v, tripped := g.Wait()
		require.True(t, tripped)
		require.NoError(t, v.Error)
		var last int64
		for i, name := range dumpFiles(t, g) {
			f := open(t, name)
			trip := f.Manifest().Trip
			assert.Greater(t, trip.Tick, last)
			assert.Equal(t, 2, *trip.Env)
			last = trip.Tick
			want := []int64{trip.Tick}
			if i == 0 {
				want = []int64{1, 2}
			}
			assert.Equal(t, want, ticksOf(t, f, "qvel"))
		}
		assert.Equal(t, last, v.Trip.Tick)
	})
}

// Trips that come and go before anybody looks are all told, in their order, by
// whatever looks first.
func TestEveryTripOfALoopOfGraphsIsTold(t *testing.T) {
	for name, look := range map[string]func(g *Guard, b *bench){
		"poll":  func(g *Guard, _ *bench) { g.Poll() },
		"wait":  func(g *Guard, _ *bench) { g.Wait() },
		"check": func(g *Guard, b *bench) { b.check(g, dump.ClockSubstep) },
		"close": func(g *Guard, b *bench) { require.NoError(b.t, g.Close()) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, cudatest.Host(t))
			g, qvel, graph := b.loop(2, 3)
			var told []int64
			g.cfg.OnTrip = func(trip dump.Trip) { told = append(told, trip.Tick) }
			b.set(qvel, []float32{nan, 0})
			require.Eventually(t, func() bool {
				b.replay(graph)
				return len(dumpFiles(t, g)) == 3
			}, 30*time.Second, time.Millisecond)
			assert.Empty(t, told)
			look(g, b)
			var want []int64
			for _, name := range dumpFiles(t, g) {
				want = append(want, open(t, name).Manifest().Trip.Tick)
			}
			assert.Equal(t, want, told)
			g.Poll()
			v, _ := g.Wait()
			assert.Len(t, told, 3, "once each")
			assert.Equal(t, 3, v.Number)
		})
	}
}

// What OnTrip has not come to because it panicked is told the next time.
func TestOnTripThatPanics(t *testing.T) {
	g := newGuard(t, testConfig(t, 2))
	bind(t, g, "value", 1, FieldOptions{})
	check(t, g, dump.ClockStep)
	var told []int64
	g.cfg.OnTrip = func(trip dump.Trip) {
		told = append(told, trip.Tick)
		if trip.Tick == 2 {
			panic("no")
		}
	}
	g.untold = []dump.Trip{{Tick: 1}, {Tick: 2}, {Tick: 3}}
	assert.PanicsWithValue(t, "no", func() { check(t, g, dump.ClockStep) })
	check(t, g, dump.ClockStep)
	assert.Equal(t, []int64{1, 2, 3}, told)
}

// Once graphs run, an event takes the tick that the GPU tells later, and nobody
// waits for it: not who notes it and not a check that finds a field moved.
func TestEventsDoNotWaitForTheGPU(t *testing.T) {
	b, lib := faulty(t)
	g, _, graph := b.loop(2, 1) // 1
	b.replay(graph)             // 2
	b.replay(graph)             // 3
	moved := b.array(2, 1)
	lib.Calls = map[string]int{}
	g.Note(dump.Event{Kind: dump.EventReset, Envs: []int{1}})
	require.NoError(t, g.CheckOn(uintptr(b.stream), dump.ClockSubstep, FieldRef{0, moved})) // 4
	assert.Equal(t, 2, lib.Calls["cuMemcpyDtoHAsync_v2"])
	lib.Fail["cuMemcpyDtoHAsync_v2"] = cuda.Success // what is enqueued stays in the stream
	b.replay(graph)                                 // 5
	clear(lib.Calls)
	for range 1000 {
		g.Note(dump.Event{Kind: "push"})
	}
	for _, call := range []string{"cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize"} {
		assert.Zero(t, lib.Calls[call], call)
	}
	delete(lib.Fail, "cuMemcpyDtoHAsync_v2")
	path, err := g.Dump("asked")
	require.NoError(t, err)
	events := open(t, path).Manifest().Events
	require.Len(t, events, 1004)
	for i, want := range []dump.Event{
		{Tick: 1, Kind: dump.EventGraphCapture},
		{Tick: 3, Kind: dump.EventReset},
		{Tick: 4, Kind: dump.EventBufferMoved},
		{Tick: 4, Kind: "push"}, // the latest that is known
	} {
		assert.Equal(t, want, dump.Event{Tick: events[i].Tick, Kind: events[i].Kind})
	}
	last := events[len(events)-1]
	assert.Equal(t, dump.Event{Tick: 5, Kind: dump.EventNote, Detail: "asked"}, last)
}

// It rests as long as it should first.
func TestALoopOfGraphsRests(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	cfg := testConfig(t, 2)
	cfg.MaxDumps, cfg.Cooldown = 2, time.Hour
	var hours atomic.Int64
	cfg.Now = func() time.Time {
		return time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local).Add(time.Duration(hours.Load()) * time.Hour)
	}
	g := b.guard(cfg)
	qvel := b.field(g, "qvel", 1, FieldOptions{})
	graph := b.graph(g, dump.ClockSubstep)
	b.set(qvel, []float32{nan, 0})
	b.replay(graph)
	g.Wait()
	time.Sleep(2 * watchEvery)
	b.replay(graph)
	b.replay(graph)
	_, err := g.Dump("asked")
	require.ErrorIs(t, err, ErrNothingNew)
	hours.Store(1)
	require.Eventually(t, func() bool {
		b.replay(graph)
		return len(dumpFiles(t, g)) == 2
	}, 30*time.Second, time.Millisecond)
}

// After a dump that was asked for, graphs go on recording where they were, and the
// trip after it has its history.
func TestALoopOfGraphsGoesOnAfterADump(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		b := newBench(t, d)
		g, qvel, graph := b.loop(4, 4)
		b.replay(graph) // 2
		for range 2 {
			path, err := g.Dump("asked")
			require.NoError(t, err)
			assert.Equal(t, []int64{1, 2}, ticksOf(t, open(t, path), "qvel"))
		}
		b.sync()
		b.replay(graph) // 3, which ends the freeze
		b.replay(graph) // 4
		path, err := g.Dump("asked")
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 2, 4}, ticksOf(t, open(t, path), "qvel"))
		b.check(g, dump.ClockSubstep) // 5, which ends it before
		b.set(qvel, []float32{0, nan, 0, 0})
		b.replay(graph) // 6
		v, tripped := g.Wait()
		require.True(t, tripped)
		require.NoError(t, v.Error)
		assert.Equal(t, []int64{1, 2, 4, 5, 6}, ticksOf(t, open(t, v.Path), "qvel"))
	})
}

// A guard that armed itself and has seen no check since has nothing to dump; with
// one outside of graphs it records that one.
func TestArmedAndNothingRecorded(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	g, qvel, graph := b.loop(2, 3)
	b.set(qvel, []float32{nan, 0})
	b.replay(graph) // 2
	v, _ := g.Wait()
	again, err := g.Dump("asked")
	require.ErrorIs(t, err, ErrNothingNew)
	assert.Equal(t, v.Path, again)
	b.set(qvel, []float32{0, 0})
	b.check(g, dump.ClockSubstep) // 3
	path, err := g.Dump("asked")
	require.NoError(t, err)
	f := open(t, path)
	assert.Equal(t, []int64{3}, ticksOf(t, f, "qvel"))
	assert.Nil(t, f.Manifest().Trip)
	assert.Empty(t, f.Manifest().FirstBad)
}

// sync waits for all of the GPU.
func (b *bench) sync() {
	b.t.Helper()
	require.NoError(b.t, b.ctx.Synchronize())
}

// The first check of all may be one that is captured: memory is taken meanwhile, by
// a thread that says that it knows what it does.
func TestTheFirstCheckIsInACapture(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		b := newBench(t, d)
		g := b.guard(testConfig(t, 4))
		qvel := b.field(g, "qvel", 1, FieldOptions{})
		graph, err := b.ctx.CaptureGlobal(b.stream, func() error { return g.CheckOn(uintptr(b.stream), dump.ClockSubstep) })
		require.NoError(t, err)
		b.replay(graph)
		b.set(qvel, []float32{0, 0, 0, nan})
		b.replay(graph)
		v, tripped := g.Wait()
		require.True(t, tripped)
		require.NoError(t, v.Error)
		assert.Equal(t, dump.Trip{Tick: 2, Clock: dump.ClockSubstep, Count: 2, Field: "qvel", Env: ptr(3), Class: "nan"}, v.Trip)
		assert.Equal(t, []int64{1, 2}, ticksOf(t, open(t, v.Path), "qvel"))
		require.NoError(t, graph.Destroy())
	})
}

// A guard of the host may become one of a GPU in a capture: time goes on, and it knows
// that its check is in the graph.
func TestHostGuardBecomesOneOfADeviceInACapture(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	g := newGuard(t, testConfig(t, 2))
	loss := bind(t, g, "loss.value", 1, FieldOptions{Shared: true, Clock: dump.ClockSubstep})
	loss[0] = 3
	require.NoError(t, g.Check(dump.ClockSubstep)) // 1
	g.gpu = b.guard(testConfig(t, 2)).gpu
	qvel := b.field(g, "qvel", 1, FieldOptions{})
	graph := b.checks(g, dump.ClockSubstep)
	b.replay(graph) // 2
	b.replay(graph) // 3
	g.Note(dump.Event{Kind: "push"})
	b.set(qvel, []float32{1, nan})
	b.replay(graph) // 4
	v, tripped := g.Wait()
	require.True(t, tripped)
	assert.Equal(t, int64(4), v.Trip.Tick)
	f := open(t, v.Path)
	assert.Equal(t, []int64{2, 3, 4}, ticksOf(t, f, "qvel"))
	events := f.Manifest().Events
	assert.Equal(t, dump.Event{Tick: 3, Kind: "push"}, events[len(events)-1])
}

// A dump that is asked for while somebody captures, with checks in graphs and
// without, is written, has the frames, and leaves the guard at work.
func TestDumpDuringACapture(t *testing.T) {
	for _, graphs := range []bool{false, true} {
		b := newBench(t, cudatest.Host(t))
		cfg := testConfig(t, 2)
		cfg.MaxDumps = 2
		g := b.guard(cfg)
		b.field(g, "qvel", 1, FieldOptions{})
		b.check(g, dump.ClockSubstep, dump.ClockSubstep)
		if graphs {
			require.NoError(t, b.graph(g, dump.ClockSubstep).Run(b.stream))
		}
		other, err := b.ctx.NewStream()
		require.NoError(t, err)
		var path string
		graph, err := b.ctx.CaptureGlobal(other, func() (err error) {
			path, err = g.Dump("RuntimeError: capture failed")
			return err
		})
		require.NoError(t, err, "graphs %v", graphs)
		require.NoError(t, graph.Destroy())
		assert.NotEmpty(t, ticksOf(t, open(t, path), "qvel"))
		b.check(g, dump.ClockSubstep)
		require.NoError(t, g.Close())
		require.NoError(t, b.ctx.DestroyStream(other))
	}
}
