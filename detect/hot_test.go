package detect

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/measure"
	"github.com/nanguard/nanguard/tensor"
)

// humanoid binds the 14 fields of a task with 29 degrees of freedom, filled with
// values around zero, and returns them as a check of one clock gives them.
func humanoid(tb testing.TB, g *Guard) (refs []FieldRef, bytes int) {
	tb.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range measure.Humanoid {
		v := bind(tb, g, f.Name, f.Cols, FieldOptions{Clock: dump.ClockStep})
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		ref := tensor.RefOf(v, g.cfg.NumEnvs, f.Cols)
		refs = append(refs, FieldRef{FieldID(len(refs)), ref})
		bytes += ref.Bytes()
	}
	return refs, bytes
}

// allocations returns how often f allocates in a run. All that the process does
// meanwhile is counted, so the least of a few counts is meant.
func allocations(runs int, f func()) float64 {
	least := testing.AllocsPerRun(runs, f)
	for n := 0; n < 4 && least > 0; n++ {
		least = min(least, testing.AllocsPerRun(runs, f))
	}
	return least
}

func TestCheckDoesNotAllocate(t *testing.T) {
	g := newGuard(t, testConfig(t, 8))
	refs, _ := humanoid(t, g)
	check(t, g, dump.ClockStep)
	for name, f := range map[string]func(){
		"bound":     func() { g.Check(dump.ClockStep) },
		"given":     func() { g.Check(dump.ClockStep, refs...) },
		"same":      func() { g.CheckSame(dump.ClockStep, refs[0], refs[3]) },
		"poll":      func() { g.Poll() },
		"no fields": func() { g.Check(dump.ClockUpdate) },
	} {
		assert.Zero(t, allocations(100, f), name)
	}
}

// A frozen guard allocates nothing either, and neither does one whose monitor
// field is bad all the time.
func TestCheckDoesNotAllocateWhenBad(t *testing.T) {
	g := newGuard(t, testConfig(t, 8))
	kl := bind(t, g, "kl", 1, FieldOptions{Shared: true})
	v := bind(t, g, "value", 1, FieldOptions{Clock: dump.ClockMinibatch})
	kl[0] = nan
	check(t, g, dump.ClockMinibatch)
	assert.Zero(t, allocations(100, func() { g.Check(dump.ClockMinibatch) }))
	v[0] = nan
	check(t, g, dump.ClockMinibatch)
	dumpOf(t, g)
	assert.Zero(t, allocations(100, func() { g.Check(dump.ClockMinibatch) }))
}

// A long run takes no more memory than a short one.
func TestLongRunDoesNotGrow(t *testing.T) {
	checks := 1_000_000
	if testing.Short() {
		checks = 50_000
	}
	cfg := testConfig(t, 4)
	cfg.TraceLen = 100
	g := newGuard(t, cfg)
	bind(t, g, "qvel", 2, FieldOptions{})
	bind(t, g, "value", 1, FieldOptions{})
	run := func(n int) {
		for i := range n {
			g.Check(dump.ClockSubstep)
			if i%10 == 0 {
				g.Note(dump.Event{Kind: dump.EventReset, Envs: []int{i % 4}})
			}
		}
	}
	run(45_000) // events are at their bound now
	before := heap()
	run(checks)
	assert.Less(t, heap(), before+1<<20)
	require.NoError(t, g.Close())
}

// heap returns the bytes of live objects.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkCheck is one check of the 14 fields of a humanoid task at 4,096 envs:
// copied into the ring, counted, summarised.
func BenchmarkCheck(b *testing.B) {
	cfg := testConfig(b, 4096)
	cfg.RingBytes, cfg.MaxFrames = 512<<20, 16 // 140 MB, which no cache holds
	g := newGuard(b, cfg)
	refs, bytes := humanoid(b, g)
	for range 16 { // the system hands out memory when it is first written to
		require.NoError(b, g.Check(dump.ClockStep, refs...))
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		if err := g.Check(dump.ClockStep, refs...); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCheckSmall is what a check costs beyond its elements.
func BenchmarkCheckSmall(b *testing.B) {
	g := newGuard(b, testConfig(b, 1))
	bind(b, g, "value", 1, FieldOptions{})
	for b.Loop() {
		g.Check(dump.ClockStep)
	}
}

// BenchmarkTripToFile is from a full ring to the finished file, at 4,096 envs.
func BenchmarkTripToFile(b *testing.B) {
	cfg := testConfig(b, 4096)
	cfg.MaxDumps = 1 << 30
	cfg.RingBytes = 256 << 20
	g := newGuard(b, cfg)
	refs, _ := humanoid(b, g)
	for range 60 {
		require.NoError(b, g.Check(dump.ClockStep, refs...))
	}
	for b.Loop() {
		if _, err := g.Dump("benchmark", 17); err != nil {
			b.Fatal(err)
		}
	}
}
