package detect

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
	"github.com/nanguard/nanguard/tensor"
)

// docs/architecture.md lists the faults that a guard must survive, with their
// tests.

// Whatever means that the context is gone is said once, as one thing, and the loop
// goes on.
func TestEveryWayToLoseTheContext(t *testing.T) {
	for _, r := range []cuda.Result{
		cuda.NotInitialized, cuda.InvalidContext, cuda.MemoryUncorrectable, cuda.IllegalAddress, cuda.ContextDestroyed, cuda.LaunchFailed,
	} {
		t.Run(r.String(), func(t *testing.T) {
			b := newBench(t, cudatest.Host(t))
			cfg := testConfig(t, 4)
			cfg.MaxDumps = 2
			g := b.guard(cfg)
			b.field(g, "qvel", 1, FieldOptions{})
			b.check(g, dump.ClockSubstep, dump.ClockSubstep)
			cudatest.Lose(t, 0, r)
			lost := g.CheckOn(uintptr(b.stream), dump.ClockSubstep)
			require.ErrorIs(t, lost, ErrContextLost)
			require.ErrorContains(t, lost, "check: the guard is off since tick 2: ")
			for range 3 {
				require.Equal(t, lost, g.CheckOn(uintptr(b.stream), dump.ClockSubstep))
				require.Equal(t, lost, g.Check(dump.ClockSubstep))
			}
			g.Note(dump.Event{Kind: dump.EventReset, Envs: []int{1}})
			_, tripped := g.Wait()
			assert.False(t, tripped)
			path, err := g.Dump("RuntimeError: CUDA error")
			require.ErrorIs(t, err, ErrContextLost)
			events := open(t, path).Manifest().Events
			require.Len(t, events, 4, "one of the end, a reset, one of the frames, the reason")
			assert.Equal(t, lost.Error(), events[0].Detail)
			require.NoError(t, g.Close())
			leaked = append(leaked, g)
		})
	}
}

// A tensor whose memory was freed between two checks takes the context down with
// it, as it does without a guard; the guard says so and the loop goes on.
func TestATensorFreedBetweenChecks(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	g := b.guard(testConfig(t, 4))
	p, err := b.ctx.Alloc(16)
	require.NoError(t, err)
	ref := tensor.Ref{Mem: tensor.CUDA, Addr: uintptr(p), DType: tensor.Float32, Rows: 4, Cols: 1, RowStride: 4, ColStride: 4}
	b.set(ref, filled(4, 1))
	_, err = g.Bind("qvel", ref, FieldOptions{})
	require.NoError(t, err)
	b.check(g, dump.ClockSubstep)
	require.NoError(t, b.ctx.Free(p))
	defer cudatest.Heal(t, 0)
	if err := g.CheckOn(uintptr(b.stream), dump.ClockSubstep); err != nil { // a GPU that is behind does not know it yet
		require.ErrorIs(t, err, ErrContextLost)
	}
	err = g.CheckOn(uintptr(b.stream), dump.ClockSubstep)
	require.ErrorIs(t, err, ErrContextLost)
	require.ErrorContains(t, err, "a kernel used an illegal address (700)")
	require.Equal(t, err, g.CheckOn(uintptr(b.stream), dump.ClockSubstep))
	path, err := g.Dump("what is left")
	require.ErrorContains(t, err, "dump: the frames are lost: ")
	require.FileExists(t, path)
	require.NoError(t, g.Close())
	leaked = append(leaked, g)
}

// A trip that the GPU told before it was lost is in a dump: a NaN that becomes an
// index often is what takes the context away.
func TestATripBeforeTheContextIsLost(t *testing.T) {
	for _, call := range []string{"check", "wait", "dump", "close"} {
		b := newBench(t, cudatest.Host(t))
		g := b.guard(testConfig(t, 2))
		qvel := b.field(g, "qvel", 1, FieldOptions{})
		b.check(g, dump.ClockSubstep)
		graph := b.graph(g, dump.ClockSubstep)
		b.set(qvel, []float32{1, nan})
		g.mu.Lock() // the watcher waits
		require.NoError(t, graph.Run(b.stream))
		cudatest.Lose(t, 0, cuda.IllegalAddress)
		g.mu.Unlock()
		switch call {
		case "check":
			require.ErrorIs(t, g.CheckOn(uintptr(b.stream), dump.ClockSubstep), ErrContextLost)
		case "dump":
			_, err := g.Dump("RuntimeError: CUDA error")
			require.Error(t, err)
		case "close":
			require.Error(t, g.Close())
		}
		v, tripped := g.Wait()
		require.True(t, tripped, call)
		assert.Equal(t, &dump.Trip{Tick: 3, Clock: dump.ClockSubstep, Count: 3, Field: "qvel", Env: ptr(1), Class: "nan"}, &v.Trip)
		require.NotEmpty(t, v.Path, call)
		assert.Equal(t, &v.Trip, open(t, v.Path).Manifest().Trip)
		leaked = append(leaked, g)
		cudatest.Heal(t, 0)
	}
}

// When rings cannot be laid out anew, the guard is off, and whatever is called
// afterwards hurts nobody.
func TestARecorderThatCannotBeReplaced(t *testing.T) {
	for _, onGPU := range []bool{false, true} {
		b, lib := faulty(t)
		lib.Calls = map[string]int{}
		g := newGuard(t, testConfig(t, 2))
		if onGPU {
			g.gpu = b.guard(testConfig(t, 2)).gpu
			b.field(g, "qvel", 1, FieldOptions{Clock: dump.ClockStep})
			b.check(g, dump.ClockStep)
			g.rec.(*device).reserve = 0
		} else {
			bind(t, g, "loss.value", 1, FieldOptions{Shared: true})
			require.NoError(t, g.Check(dump.ClockMinibatch))
			g.gpu = b.guard(testConfig(t, 2)).gpu
		}
		b.field(g, "reward", 1, FieldOptions{})
		lib.Fail["cuModuleLoadDataEx"] = cuda.InvalidValue
		err := g.CheckOn(uintptr(b.stream), dump.ClockStep)
		require.ErrorContains(t, err, "the guard is off")
		require.Equal(t, err, g.CheckOn(uintptr(b.stream), dump.ClockStep))
		assert.NotEmpty(t, g.Plan())
		g.Note(dump.Event{Kind: dump.EventReset})
		g.Dump("what is left") //nolint:errcheck // whatever it is
		require.NoError(t, g.Close())
		assert.Equal(t, lib.Calls["cuDevicePrimaryCtxRetain"], lib.Calls["cuDevicePrimaryCtxRelease_v2"])
	}
}

// A recorder that is about to go on is not taken for frozen, although the GPU has
// not come to that yet.
func TestDumpBeforeTheGPUHasGoneOn(t *testing.T) {
	b, lib := faulty(t)
	cfg := testConfig(t, 4)
	cfg.MaxDumps = 2
	g := b.guard(cfg)
	b.field(g, "qvel", 1, FieldOptions{})
	b.check(g, dump.ClockSubstep)
	_, err := g.Dump("asked")
	require.NoError(t, err)
	lib.Fail["cuLaunchKernel"] = cuda.Success // what is enqueued stays in the stream
	require.NoError(t, g.rec.rearm(uintptr(b.stream), false))
	delete(lib.Fail, "cuLaunchKernel")
	lib.Calls = map[string]int{}
	require.NoError(t, g.rec.freeze())
	assert.Positive(t, lib.Calls["cuLaunchKernel"], "it is frozen behind that")
}

// A field that changes its shape or type is a mistake of that call and of no other.
func TestAFieldThatChanges(t *testing.T) {
	for _, onGPU := range []bool{false, true} {
		b := newBench(t, cudatest.Host(t))
		g := b.guard(testConfig(t, 4))
		ref := tensor.RefOf(make([]float32, 12), 4, 3)
		if onGPU {
			ref = b.array(4, 3)
		}
		id, err := g.Bind("obs.policy", ref, FieldOptions{})
		require.NoError(t, err)
		b.check(g, dump.ClockStep)
		wide, other, long := ref, ref, ref
		wide.Cols, other.DType, long.Rows = 4, tensor.Float16, 5
		for _, c := range []tensor.Ref{wide, other, long} {
			require.ErrorIs(t, g.CheckOn(uintptr(b.stream), dump.ClockStep, FieldRef{id, c}), ErrChanged)
		}
		b.check(g, dump.ClockStep)
		path, err := g.Dump("asked")
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 2}, ticksOf(t, open(t, path), "obs.policy"), "what was refused left no trace")
	}
}

// A field without a single value (no contacts, no actuators) is checked as any
// other.
func TestAFieldOfNothing(t *testing.T) {
	for _, onGPU := range []bool{false, true} {
		b := newBench(t, cudatest.Host(t))
		g := b.guard(testConfig(t, 3))
		none := tensor.Ref{DType: tensor.Float32, Rows: 3, RowStride: 0, ColStride: 4}
		qvel := tensor.RefOf([]float32{1, nan, 1}, 3, 1)
		if onGPU {
			none.Mem = tensor.CUDA
			qvel = b.array(3, 1)
			b.set(qvel, []float32{1, nan, 1})
		}
		_, err := g.Bind("act", none, FieldOptions{})
		require.NoError(t, err)
		b.check(g, dump.ClockSubstep, dump.ClockSubstep)
		_, tripped := g.Wait()
		require.False(t, tripped)
		_, err = g.Bind("qvel", qvel, FieldOptions{})
		require.NoError(t, err)
		b.check(g, dump.ClockSubstep)
		v, tripped := g.Wait()
		require.True(t, tripped)
		require.NoError(t, v.Error)
		assert.Equal(t, 1, *v.Trip.Env)
	}
}

// The very first frame is bad, and the dump has it.
func TestNaNInTheVeryFirstFrame(t *testing.T) {
	for _, onGPU := range []bool{false, true} {
		b := newBench(t, cudatest.Host(t))
		g := b.guard(testConfig(t, 4))
		v := []float32{1, 1, nan, 1}
		ref := tensor.RefOf(v, 4, 1)
		if onGPU {
			ref = b.array(4, 1)
			b.set(ref, v)
		}
		_, err := g.Bind("qvel", ref, FieldOptions{})
		require.NoError(t, err)
		b.check(g, dump.ClockSubstep)
		f := dumpOf(t, g)
		assert.Equal(t, &dump.Trip{Tick: 1, Clock: dump.ClockSubstep, Count: 1, Field: "qvel", Env: ptr(2), Class: "nan"}, f.Manifest().Trip)
		assert.Equal(t, []int64{1}, ticksOf(t, f, "qvel"))
	}
}

// While a dump is being written the loop goes on, whatever goes bad meanwhile, and
// the next trip has a dump of its own.
func TestTripWhileDumping(t *testing.T) {
	for _, onGPU := range []bool{false, true} {
		b := newBench(t, cudatest.Host(t))
		cfg := testConfig(t, 4)
		cfg.MaxDumps = 2
		cfg.Model = filepath.Join(t.TempDir(), "robot.xml") // a pipe: the dump waits for its other end
		require.NoError(t, unix.Mkfifo(cfg.Model, 0o600))
		g := b.guard(cfg)
		host := []float32{1, 1, nan, 1}
		ref := tensor.RefOf(host, 4, 1)
		set := func(v []float32) { copy(host, v) }
		if onGPU {
			ref = b.array(4, 1)
			set = func(v []float32) { b.set(ref, v) }
			set(host)
		}
		_, err := g.Bind("qvel", ref, FieldOptions{})
		require.NoError(t, err)
		b.check(g, dump.ClockSubstep) // 1
		require.Eventually(t, func() bool { g.Poll(); return g.isWriting() }, 10*time.Second, time.Millisecond)
		set([]float32{nan, nan, nan, nan})
		b.check(g, dump.ClockSubstep, dump.ClockSubstep) // 3
		require.True(t, g.isWriting())
		v, _ := g.Poll()
		assert.False(t, v.Done)
		pipe, err := os.OpenFile(cfg.Model, os.O_WRONLY, 0)
		require.NoError(t, err)
		require.NoError(t, pipe.Close())
		v, _ = g.Wait()
		require.NotEmpty(t, v.Path)
		assert.Equal(t, int64(1), v.Trip.Tick)
		require.NoError(t, os.Remove(cfg.Model))
		require.NoError(t, os.WriteFile(cfg.Model, []byte("<mujoco/>"), 0o600))
		b.check(g, dump.ClockSubstep) // 4
		v, _ = g.Wait()
		assert.Equal(t, int64(4), v.Trip.Tick)
		assert.Equal(t, []int64{4}, ticksOf(t, open(t, v.Path), "qvel"))
	}
}

// isWriting reports whether a dump is under way.
func (g *Guard) isWriting() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.writing != nil
}

// A guard is of one GPU; a process may have one for each, and what happens to one
// GPU is nothing to the other.
func TestAGuardForEachDevice(t *testing.T) {
	d := cudatest.Host(t)
	var benches []*bench
	var guards []*Guard
	var fields []tensor.Ref
	for i := range 2 {
		b := newBenchOn(t, d, i)
		g := b.guard(testConfig(t, 3))
		fields = append(fields, b.field(g, "qvel", 1, FieldOptions{}))
		benches, guards = append(benches, b), append(guards, g)
	}
	_, err := guards[0].Bind("qpos", fields[1], FieldOptions{})
	require.ErrorContains(t, err, "memory of GPU 1, and the guard is one of GPU 0: each GPU needs its own")
	for range 3 {
		for i, b := range benches {
			b.check(guards[i], dump.ClockSubstep)
			require.NoError(t, guards[i].Check(dump.ClockSubstep), "on the default stream of GPU %d, from a thread of no GPU", i)
		}
	}
	cudatest.Lose(t, 0, cuda.IllegalAddress)
	require.ErrorIs(t, guards[0].Check(dump.ClockSubstep), ErrContextLost)
	benches[1].set(fields[1], []float32{0, 0, nan})
	benches[1].check(guards[1], dump.ClockSubstep)
	v, tripped := guards[1].Wait()
	require.True(t, tripped)
	require.NoError(t, v.Error)
	assert.Equal(t, int64(7), v.Trip.Tick)
	leaked = append(leaked, guards[0])
	require.NoError(t, guards[0].Close())
	cudatest.Heal(t, 0)
}

// A thread that works on another GPU may check all the same.
func TestCheckFromAThreadOfAnotherDevice(t *testing.T) {
	d := cudatest.Host(t)
	b, other := newBenchOn(t, d, 0), newBenchOn(t, d, 1)
	g := b.guard(testConfig(t, 3))
	b.field(g, "qvel", 1, FieldOptions{})
	defer cudatest.Enter(t, cudatest.HostLibrary(t), other.ctx)()
	second, err := b.ctx.NewStream()
	require.NoError(t, err)
	for _, s := range []uintptr{0, uintptr(b.stream), 0, uintptr(second), 0} {
		require.NoError(t, g.CheckOn(s, dump.ClockSubstep))
	}
	path, err := g.Dump("asked")
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 2, 3, 4, 5}, ticksOf(t, open(t, path), "qvel"))
	require.NoError(t, b.ctx.DestroyStream(second))
}

// manyEnv holds how many checks TestLongRunOnADeviceDoesNotGrow makes: 10000000 is
// what days of training make.
const manyEnv = "NANGUARD_TEST_CHECKS"

// Checks leave no object of the driver behind and no memory taken, with fields that
// come late, dumps and graphs on the way.
func TestManyChecksOnADevice(t *testing.T) {
	const n = 300
	b := newBench(t, cudatest.Host(t))
	qvel, reward := b.array(2, 1), b.array(2, 1)
	second, err := b.ctx.NewStream()
	require.NoError(t, err)
	streams := []uintptr{0, uintptr(b.stream), uintptr(second)}
	before := cudatest.Objects(t)
	cfg := testConfig(t, 2)
	cfg.TraceLen, cfg.MaxFrames, cfg.MaxDumps = 20, 10, 1<<30
	g := b.guard(cfg)
	_, err = g.Bind("qvel", qvel, FieldOptions{})
	require.NoError(t, err)
	once := func(i int) {
		require.NoError(t, g.CheckOn(streams[i%3], dump.ClockSubstep))
		if i == 5 {
			_, err := g.Bind("reward", reward, FieldOptions{})
			require.NoError(t, err)
			bind(t, g, "loss.value", 1, FieldOptions{Shared: true})
		}
		if i > 5 && i%7 == 0 {
			require.NoError(t, g.CheckOn(streams[i%3], dump.ClockStep))
			require.NoError(t, g.CheckOn(streams[i%3], dump.ClockMinibatch))
		}
		if i%(n/10) == n/10-1 {
			b.check(g, dump.ClockSubstep)
			graph, err := b.ctx.Capture(b.stream, func() error { return g.CheckOn(uintptr(b.stream), dump.ClockSubstep) })
			require.NoError(t, err)
			b.replay(graph)
			require.NoError(t, graph.Destroy())
			path, err := g.Dump("asked")
			require.NoError(t, err)
			require.NoError(t, os.Remove(path))
		}
	}
	for i := range 100 {
		once(i)
	}
	objects, bytes := cudatest.Objects(t), heap()
	for i := range n {
		once(100 + i)
	}
	assert.Equal(t, objects, cudatest.Objects(t))
	assert.Less(t, heap(), bytes+1<<20)
	require.NoError(t, g.Close())
	assert.Equal(t, before, cudatest.Objects(t))
	require.NoError(t, b.ctx.DestroyStream(second))
}

// The folder goes away and the disk is full while a GPU's guard runs: the verdict
// says so, and the frames stay for another try.
func TestADumpOfADeviceThatCannotBeWritten(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	cfg := testConfig(t, 4)
	require.NoError(t, os.WriteFile(cfg.Dir, nil, 0o644)) // a file where the folder should be
	g := b.guard(cfg)
	qvel := b.field(g, "qvel", 1, FieldOptions{})
	b.set(qvel, []float32{0, 0, nan, 0})
	b.check(g, dump.ClockSubstep)
	v, _ := g.Wait()
	assert.True(t, v.Done)
	assert.Empty(t, v.Path)
	require.Error(t, v.Error)
	b.check(g, dump.ClockSubstep)
	require.NoError(t, os.Remove(cfg.Dir))
	path, err := g.Dump("try again")
	require.NoError(t, err)
	assert.Equal(t, int64(1), open(t, path).Manifest().Trip.Tick)
	require.NoError(t, os.RemoveAll(cfg.Dir))
	_, err = g.Dump("once more")
	assert.True(t, errors.Is(err, ErrNoDumpsLeft))
}

// The tests that the table of faults names are there.
func TestTheTableOfFaultsNamesTests(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "docs", "architecture.md"))
	require.NoError(t, err)
	_, table, found := strings.Cut(string(doc), "## Faults that a guard survives")
	require.True(t, found)
	var sources []byte
	for _, pattern := range []string{"*_test.go", "scan/gpu/*_test.go", "../dump/*_test.go", "../python/tests/test_*.py"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range files {
			b, err := os.ReadFile(name)
			require.NoError(t, err)
			sources = append(sources, b...)
		}
	}
	names := regexp.MustCompile("`(Test[A-Z]\\w+|test_\\w+)`").FindAllStringSubmatch(table, -1)
	require.Greater(t, len(names), 30)
	for _, name := range names {
		assert.Regexp(t, `(?m)^(func|def) `+name[1]+`\(`, string(sources))
	}
}
