package detect

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
	"github.com/nanguard/nanguard/tensor"
)

// ticksOf returns the ticks of a field's frames.
func ticksOf(t *testing.T, f *dump.File, field string) []int64 {
	t.Helper()
	s, err := f.Frames(field)
	require.NoError(t, err)
	return s.Ticks
}

// A field that shows itself later joins: no frame is given up, and time goes on.
func TestALateFieldOfADevice(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	g := b.guard(testConfig(t, 4))
	b.field(g, "qvel", 1, FieldOptions{})
	b.check(g, dump.ClockSubstep, dump.ClockSubstep)
	loss := bind(t, g, "loss.value", 1, FieldOptions{Shared: true})
	b.check(g, dump.ClockSubstep)
	loss[0] = nan
	b.check(g, dump.ClockMinibatch)
	v, _ := g.Wait()
	assert.Equal(t, dump.Trip{Tick: 4, Clock: dump.ClockMinibatch, Count: 1, Field: "loss.value", Class: "nan"}, v.Trip)
	f := open(t, v.Path)
	assert.Equal(t, []int64{1, 2, 3}, ticksOf(t, f, "qvel"))
	assert.Equal(t, []int64{4}, ticksOf(t, f, "loss.value"))
	assert.Empty(t, f.Manifest().Events)
}

// Fields that join after checks were captured take part in everything, in checks
// outside of graphs and in graphs that are captured later, while the graphs that
// there are go on: what they record before and after stays. The order in the loop
// decides which of two fields of one check took the trip.
func TestLateFieldsJoinAGuardWhoseChecksAreInGraphs(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		b := newBench(t, d)
		cfg := testConfig(t, 6)
		cfg.MaxDumps = 2
		g := b.guard(cfg)
		qvel := b.field(g, "qvel", 2, FieldOptions{})
		reward := b.field(g, "reward", 1, FieldOptions{Clock: dump.ClockSubstep})
		physics := b.graph(g, dump.ClockSubstep) // after tick 1
		b.replay(physics)                        // 2
		b.replay(physics)                        // 3
		obs := b.field(g, "obs.policy", 3, FieldOptions{})
		qacc := b.field(g, "qacc", 1, FieldOptions{Clock: dump.ClockStep})
		loss := bind(t, g, "loss.value", 1, FieldOptions{Shared: true})
		loss[0] = 5
		b.check(g, dump.ClockStep, dump.ClockMinibatch) // 4, 5
		b.replay(physics)                               // 6
		step := b.checks(g, dump.ClockStep)
		b.replay(step) // 7
		_, tripped := g.Poll()
		require.False(t, tripped)

		b.set(obs, []float32{1, 1, 1, 1, nan, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
		b.set(qacc, []float32{0, 0, 0, 0, nan, 0})
		b.set(qvel, filled(12, 3))
		b.replay(physics) // 8
		b.replay(step)    // 9: the trip
		b.replay(physics)
		v, tripped := g.Wait()
		require.True(t, tripped)
		require.NoError(t, v.Error)
		assert.Equal(t, dump.Trip{Tick: 9, Clock: dump.ClockStep, Count: 3, Field: "qacc", Env: ptr(4), Class: "nan"}, v.Trip)
		f := open(t, v.Path)
		assert.Equal(t, []int64{1, 2, 3, 6, 8}, ticksOf(t, f, "qvel"))
		assert.Equal(t, []int64{4, 7, 9}, ticksOf(t, f, "obs.policy"))
		assert.Equal(t, []int64{5}, ticksOf(t, f, "loss.value"))
		assert.Equal(t, []int{4, 1}, f.Manifest().EnvIDs[:2], "culprits in the order of the loop")
		tr, err := f.Trace("qvel")
		require.NoError(t, err)
		assert.Equal(t, []float64{0, 0, 0, 0, 3}, tr.AbsMax)
		var first []string
		for _, b := range f.Manifest().FirstBad {
			first = append(first, b.Field)
		}
		assert.Equal(t, []string{"qacc", "obs.policy"}, first)

		// Armed again, by a check outside; the graphs record once more.
		b.set(obs, filled(18, 1))
		b.set(qacc, filled(6, 0))
		b.check(g, dump.ClockMinibatch)
		b.set(reward, []float32{1, 1, nan, 1, 1, 1})
		b.replay(step)
		b.replay(physics)
		v, _ = g.Wait()
		require.NoError(t, v.Error)
		assert.Equal(t, "reward", v.Trip.Field)
		assert.Len(t, ticksOf(t, open(t, v.Path), "obs.policy"), 1)
	})
}

// Only a field that is first seen while a graph is being captured is refused, in
// words that say what to do; then it can be done.
func TestAFieldFirstSeenDuringACapture(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	g := b.guard(testConfig(t, 2))
	b.field(g, "qvel", 1, FieldOptions{})
	b.graph(g, dump.ClockSubstep)
	reward := b.array(2, 1)
	capture := func() error {
		return b.capture(func() error {
			id, bound := g.byName["reward"]
			if !bound {
				var err error
				if id, err = g.Bind("reward", reward, FieldOptions{}); err != nil {
					return err
				}
			}
			if err := g.CheckOn(uintptr(b.stream), dump.ClockSubstep); err != nil { // others can be captured meanwhile
				return err
			}
			return g.CheckOn(uintptr(b.stream), dump.ClockStep, FieldRef{id, reward})
		})
	}
	err := capture()
	require.ErrorIs(t, err, ErrInGraph)
	require.EqualError(t, err, `check: field "reward": checks are part of a graph: it is first seen while a graph is being captured, `+
		`when no memory can be taken for it: check it once before the capture`)
	b.check(g, dump.ClockStep)
	require.NoError(t, capture())
}

// capture captures and lets go of the graph.
func (b *bench) capture(f func() error) error {
	graph, err := b.ctx.Capture(b.stream, f)
	if err != nil {
		return err
	}
	return graph.Destroy()
}

// A field may join while somebody else captures, as strictly as torch does it, and
// what is captured is not disturbed.
func TestAFieldJoinsWhileAnotherStreamIsCaptured(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		b := newBench(t, d)
		cfg := testConfig(t, 2)
		cfg.MaxDumps = 2
		g := b.guard(cfg)
		qvel := b.field(g, "qvel", 1, FieldOptions{})
		b.check(g, dump.ClockSubstep)
		other, err := b.ctx.NewStream()
		require.NoError(t, err)
		graph, err := b.ctx.CaptureGlobal(other, func() error {
			if err := g.CheckOn(uintptr(other), dump.ClockSubstep); err != nil {
				return err
			}
			loss := bind(t, g, "loss.value", 1, FieldOptions{Shared: true})
			loss[0] = 2
			if err := g.CheckOn(uintptr(b.stream), dump.ClockMinibatch); err != nil {
				return err
			}
			return g.CheckOn(uintptr(other), dump.ClockSubstep)
		})
		require.NoError(t, err)
		path, err := g.Dump("asked")
		require.NoError(t, err)
		assert.Equal(t, []int64{2}, ticksOf(t, open(t, path), "loss.value"))
		b.sync()
		b.check(g, dump.ClockMinibatch) // 3
		b.set(qvel, []float32{1, nan})
		b.replay(graph) // 4, 5
		v, tripped := g.Wait()
		require.True(t, tripped)
		assert.Equal(t, int64(4), v.Trip.Tick)
		assert.Equal(t, []int64{2, 3}, ticksOf(t, open(t, v.Path), "loss.value"))
		require.NoError(t, graph.Destroy())
		require.NoError(t, b.ctx.DestroyStream(other))
	})
}

// Sixty-four fields may join. The next makes everything start anew, with
// a warning that says so, or is refused where a graph holds checks.
func TestMoreLateFieldsThanPlaces(t *testing.T) {
	for _, inGraph := range []bool{false, true} {
		b := newBench(t, cudatest.Host(t))
		g := b.guard(testConfig(t, 2))
		b.field(g, "qvel", 1, FieldOptions{Clock: dump.ClockStep})
		if inGraph {
			b.graph(g, dump.ClockStep)
		}
		b.check(g, dump.ClockStep)
		for i := range latePlaces {
			b.field(g, fmt.Sprintf("reward.term%d", i), 1, FieldOptions{})
			if i%8 == 7 {
				b.check(g, dump.ClockStep)
			}
		}
		began := g.now().tick
		for i, f := range inOrder(g.fields)[1:] {
			require.Greater(t, f.rank, inOrder(g.fields)[i].rank, "the ranks are those of the loop")
		}
		_, err := g.Bind("reward", b.array(2, 1), FieldOptions{})
		if inGraph {
			require.ErrorIs(t, err, ErrInGraph)
			require.EqualError(t, err, `bind: field "reward": checks are part of a graph, so that rings cannot be laid out anew, and `+
				`64 fields joined already, and there are no more places: bind it before the first capture, or give the guard a larger ring`)
			b.check(g, dump.ClockStep)
			continue
		}
		require.NoError(t, err)
		b.check(g, dump.ClockStep)
		path, err := g.Dump("asked")
		require.NoError(t, err)
		f := open(t, path)
		assert.Equal(t, []int64{began + 1}, ticksOf(t, f, "qvel"))
		e := f.Manifest().Events[0]
		assert.Equal(t, dump.EventWarning, e.Kind)
		assert.Equal(t, "rings and traces start anew, for fields that were bound after the first check: reward: "+
			"64 fields joined already, and there are no more places", e.Detail)
	}
}

// The memory that is kept back is shared out in eighths, so that there is some for
// who comes last; what does not fit makes everything start anew.
func TestTheMemoryForLateFields(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	cfg := testConfig(t, 128) // 512 B a column
	cfg.RingBytes, cfg.MaxFrames = 512*80, 70
	g := b.guard(cfg)
	b.field(g, "qvel", 1, FieldOptions{Clock: dump.ClockStep})
	b.check(g, dump.ClockStep)
	assert.Equal(t, "ring 40 KiB on GPU 0 (host playing a GPU), 5 KiB of it kept for fields bound later: qvel 70 frames", g.Plan())
	for i, name := range []string{"reward.a", "reward.b", "reward.c"} {
		b.field(g, name, 1+i%2, FieldOptions{})
		b.check(g, dump.ClockStep)
	}
	assert.Equal(t, "ring 40 KiB on GPU 0 (host playing a GPU), 1 KiB of it kept for fields bound later: "+
		"qvel 70 frames, reward.a 2 frames, reward.b 2 frames, reward.c 2 frames", g.Plan())
	_, err := g.Bind("obs.policy", b.array(128, 50), FieldOptions{})
	require.ErrorContains(t, err, "ring of 40 KiB cannot hold 2 frames of each field: 55 KiB are needed")
	b.field(g, "reward.d", 2, FieldOptions{})
	b.check(g, dump.ClockStep)
	path, err := g.Dump("asked")
	require.NoError(t, err)
	f := open(t, path)
	assert.Equal(t, "rings and traces start anew, for fields that were bound after the first check: reward.d: "+
		"1 KiB are left of the 5 KiB that the ring keeps back for fields bound after the first check, and 2 KiB are needed",
		f.Manifest().Events[0].Detail)
	assert.Equal(t, []int64{5}, ticksOf(t, f, "reward.a"))
}

// When the GPU has no memory for a late field, that is said, and all else goes on.
func TestNoMemoryForALateField(t *testing.T) {
	b, lib := faulty(t)
	g := b.guard(testConfig(t, 4))
	qvel := b.field(g, "qvel", 1, FieldOptions{})
	b.check(g, dump.ClockSubstep)
	b.field(g, "reward", 1, FieldOptions{})
	lib.Fail["cuMemAlloc_v2"] = cuda.OutOfMemory
	lib.Calls = map[string]int{}
	b.check(g, dump.ClockSubstep, dump.ClockStep)
	tries := lib.Calls["cuMemAlloc_v2"]
	b.check(g, dump.ClockSubstep, dump.ClockStep)
	assert.Equal(t, tries, lib.Calls["cuMemAlloc_v2"], "it is not tried at each check")
	assert.Contains(t, g.Plan(), "qvel 1000 frames, reward not watched for want of memory")
	delete(lib.Fail, "cuMemAlloc_v2")
	b.field(g, "value", 1, FieldOptions{}) // with this one it is tried again
	b.check(g, dump.ClockStep)
	b.set(qvel, []float32{0, nan, 0, 0})
	b.check(g, dump.ClockSubstep)
	v, _ := g.Wait()
	require.NoError(t, v.Error)
	f := open(t, v.Path)
	assert.Equal(t, []int64{1, 2, 4, 7}, ticksOf(t, f, "qvel"))
	assert.Equal(t, []int64{6}, ticksOf(t, f, "reward"))
	assert.Equal(t, "not watched: reward, for want of memory on GPU 0 (host playing a GPU): add: cuMemAlloc_v2: out of memory (2)",
		f.Manifest().Events[0].Detail)
}

// Too little memory for a late field makes its ring shorter, which is said.
func TestLittleMemoryForALateField(t *testing.T) {
	b, lib := faulty(t)
	g := b.guard(testConfig(t, 4))
	b.field(g, "qvel", 1, FieldOptions{Clock: dump.ClockStep})
	b.check(g, dump.ClockStep)
	b.field(g, "reward", 1, FieldOptions{})
	lib.Times = map[string]int{"cuMemAlloc_v2": 2}
	lib.Fail["cuMemAlloc_v2"] = cuda.OutOfMemory
	b.check(g, dump.ClockStep)
	assert.Equal(t, 1000, g.rec.frames(0))
	assert.Equal(t, 250, g.rec.frames(1))
	assert.Contains(t, g.Plan(), "instead of 1 MiB for want of memory")
	assert.Contains(t, g.events.list[0].Detail, "it keeps fewer frames")
}

// Numbers of the host that come late find room, however large they are, and what
// checks still read stays where it is.
func TestStagingGrows(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	cfg := testConfig(t, 2)
	cfg.RingBytes = 32 << 20
	g := b.guard(cfg)
	b.field(g, "value", 1, FieldOptions{})
	b.check(g, dump.ClockStep)
	s := &g.rec.(*device).staging
	assert.Zero(t, s.size, "nothing lies on the host yet")
	small := bind(t, g, "loss.value", 1, FieldOptions{Shared: true})
	small[0] = 3
	b.check(g, dump.ClockMinibatch)
	first := s.memory.Base
	bind(t, g, "loss.policy", 1, FieldOptions{Shared: true})
	b.check(g, dump.ClockMinibatch)
	assert.Equal(t, first, s.memory.Base, "there is room in it")
	wide := bind(t, g, "grad.actor", stagingMin/4, FieldOptions{Shared: true})
	wide[stagingMin/4-1] = 9
	b.check(g, dump.ClockMinibatch, dump.ClockMinibatch)
	assert.Len(t, s.old, 1)
	wide[7] = nan
	b.check(g, dump.ClockMinibatch)
	v, _ := g.Wait()
	require.NoError(t, v.Error)
	assert.Equal(t, 7, v.Trip.Col)
	tr, err := open(t, v.Path).Trace("grad.actor")
	require.NoError(t, err)
	assert.Equal(t, []float64{9, 9, 9}, tr.AbsMax)
	require.NoError(t, g.Close())
}

// Late fields stand between those that there are, in the order of the loop; where
// there is no room between two, a free place has to do.
func TestRanks(t *testing.T) {
	at := func(order float64) *field { return &field{spec: dump.FieldSpec{Order: order}} }
	fields := []*field{at(16), at(35), at(10)}
	rankAll(fields)
	assert.Equal(t, []int{524288, 786432, 262144}, []int{fields[0].rank, fields[1].rank, fields[2].rank})
	for i := range 300 {
		fields = append(fields, at(float64(i*7%40)))
		rankLate(fields)
	}
	seen := map[int]bool{}
	inPlace := 0
	list := inOrder(fields)
	for i, f := range list {
		require.False(t, seen[f.rank])
		seen[f.rank] = true
		require.Positive(t, f.rank)
		require.Less(t, f.rank, 1<<20)
		if i > 0 && f.rank > list[i-1].rank {
			inPlace++
		}
	}
	assert.Greater(t, inPlace, 250)
	assert.Equal(t, []int{524288, 786432, 262144}, []int{fields[0].rank, fields[1].rank, fields[2].rank}, "those stay")
}

// A bound field without an address is one of the GPU as well when it comes late.
func TestALateFieldWithoutAnAddress(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	g := b.guard(testConfig(t, 2))
	b.field(g, "qvel", 1, FieldOptions{})
	b.check(g, dump.ClockSubstep)
	now := b.array(2, 3)
	bare := now
	bare.Addr = 0
	id, err := g.Bind("obs.policy", bare, FieldOptions{})
	require.NoError(t, err)
	require.NoError(t, g.CheckOn(uintptr(b.stream), dump.ClockStep, FieldRef{id, now}))
	elsewhere := tensor.Ref{Mem: tensor.CUDA, Device: 1, Addr: 4096, DType: tensor.Float32, Rows: 2, Cols: 1, RowStride: 4, ColStride: 4}
	_, err = g.Bind("reward", elsewhere, FieldOptions{})
	require.ErrorContains(t, err, "each GPU needs its own")
	b.check(g, dump.ClockSubstep)
}

// A field that is refused leaves a guard of the host what it was.
func TestARefusedFieldMakesNoGuardOfAGPU(t *testing.T) {
	const inside = "NANGUARD_TEST_INSIDE"
	if os.Getenv(inside) == "" { // Open finds the library only in a process that has had no other
		path, err := cudatest.HostPath()
		if err != nil {
			t.Skip(err)
		}
		c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = append(os.Environ(), inside+"=1", "NANGUARD_LIBCUDA="+path)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	g := newGuard(t, testConfig(t, 2))
	bind(t, g, "loss.value", 1, FieldOptions{Shared: true})
	check(t, g, dump.ClockMinibatch)
	plan := g.Plan()
	wide := tensor.Ref{Mem: tensor.CUDA, Addr: 4096, DType: tensor.Float32, Rows: 2, Cols: 1 << 20, RowStride: 4 << 20, ColStride: 4}
	_, err := g.Bind("obs.policy", wide, FieldOptions{})
	require.ErrorContains(t, err, "ring of 1 MiB cannot hold 2 frames of each field")
	assert.Equal(t, plan, g.Plan())
	wide.Device, wide.Cols, wide.RowStride = 1, 1, 4
	_, err = g.Bind("obs.policy", wide, FieldOptions{})
	require.NoError(t, err, "another GPU may be the guard's")
}
