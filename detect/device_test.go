package detect

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
	"github.com/nanguard/nanguard/tensor"
)

// bench is a GPU with arrays for a guard to look at, on a stream of its own.
type bench struct {
	t      testing.TB
	driver *cuda.Driver
	device int
	ctx    *cuda.Context
	stream cuda.Stream
}

func newBench(t testing.TB, d *cuda.Driver) *bench { return newBenchOn(t, d, 0) }

// newBenchOn is newBench with another GPU than the first.
func newBenchOn(t testing.TB, d *cuda.Driver, device int) *bench {
	t.Helper()
	ctx, err := d.Primary(device)
	require.NoError(t, err)
	s, err := ctx.NewStream()
	require.NoError(t, err)
	return &bench{t, d, device, ctx, s}
}

// guard returns a guard of the GPU.
func (b *bench) guard(cfg Config) *Guard {
	b.t.Helper()
	g := newGuard(b.t, cfg)
	dev, err := b.driver.Device(b.device)
	require.NoError(b.t, err)
	g.gpu = &hardware{driver: b.driver, device: dev}
	return g
}

// array returns a new array of float32 on the GPU.
func (b *bench) array(rows, cols int) tensor.Ref {
	b.t.Helper()
	p, err := b.ctx.Alloc(max(1, 4*rows*cols))
	require.NoError(b.t, err)
	b.t.Cleanup(func() { b.ctx.Free(p) })
	ref := tensor.Ref{
		Mem: tensor.CUDA, Device: b.device, Addr: uintptr(p), DType: tensor.Float32,
		Rows: rows, Cols: cols, RowStride: 4 * cols, ColStride: 4,
	}
	b.set(ref, make([]float32, rows*cols))
	return ref
}

// set writes an array behind the checks enqueued so far.
func (b *bench) set(ref tensor.Ref, v []float32) {
	b.t.Helper()
	if len(v) > 0 {
		require.NoError(b.t, b.ctx.Upload(b.stream, cuda.Ptr(ref.Addr), unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), 4*len(v))))
	}
}

// check checks on the bench's stream.
func (b *bench) check(g *Guard, clocks ...dump.Clock) {
	b.t.Helper()
	for _, c := range clocks {
		require.NoError(b.t, g.CheckOn(uintptr(b.stream), c))
	}
}

// world is a loop that can be played on the host and on a GPU.
type world struct {
	g     *Guard
	put   func(name string, v []float32) // writes a field
	check func(clock dump.Clock)
	again func(clock dump.Clock) // CheckSame
}

// scenario is what a world plays. Fields whose names begin with "loss." lie in
// memory of the host everywhere.
type scenario struct {
	name   string
	config func(*Config)
	fields []scenarioField
	play   func(w *world)
}

type scenarioField struct {
	name string
	cols int
	o    FieldOptions
}

// world returns the scenario's world, on the host when b is nil.
func (s *scenario) world(t *testing.T, b *bench) *world {
	cfg := testConfig(t, 24)
	cfg.PostFrames = 1
	if s.config != nil {
		s.config(&cfg)
	}
	w := &world{}
	if b == nil {
		w.g = newGuard(t, cfg)
	} else {
		w.g = b.guard(cfg)
	}
	writers := map[string]func(v []float32){}
	for _, f := range s.fields {
		rows := cfg.NumEnvs
		if f.o.Shared {
			rows = 1
		}
		host := make([]float32, rows*f.cols)
		ref := tensor.RefOf(host, rows, f.cols)
		writers[f.name] = func(v []float32) { copy(host, v) }
		if b != nil && !strings.HasPrefix(f.name, "loss.") {
			ref = b.array(rows, f.cols)
			writers[f.name] = func(v []float32) { b.set(ref, v) }
		}
		_, err := w.g.Bind(f.name, ref, f.o)
		require.NoError(t, err)
	}
	w.put = func(name string, v []float32) { writers[name](v) }
	on := uintptr(0)
	if b != nil {
		on = uintptr(b.stream)
	}
	w.check = func(c dump.Clock) { require.NoError(t, w.g.CheckOn(on, c)) }
	w.again = func(c dump.Clock) { require.NoError(t, w.g.CheckSameOn(on, c)) }
	return w
}

var worldFields = []scenarioField{
	{"qvel", 3, FieldOptions{Cols: []string{"x", "y", "z"}}},
	{"qpos", 4, FieldOptions{}},
	{"obs.policy", 5, FieldOptions{}},
	{"reward.a", 1, FieldOptions{}},
	{"reward.b", 1, FieldOptions{}},
	{"loss.value", 1, FieldOptions{Shared: true}},
}

// noise returns n numbers that depend on seed alone.
func noise(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 7))
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// walk plays n env steps of two substeps and a minibatch, with noise in every
// field; spoil may change the values of a step.
func walk(w *world, n int, spoil func(step int, v map[string][]float32)) {
	for step := range n {
		v := map[string][]float32{
			"qvel": noise(24*3, uint64(step)), "qpos": noise(24*4, uint64(step)+100), "obs.policy": noise(24*5, uint64(step)+200),
			"reward.a": noise(24, uint64(step)+300), "loss.value": noise(1, uint64(step)+400),
		}
		if spoil != nil {
			spoil(step, v)
		}
		for name, values := range v {
			w.put(name, values)
		}
		w.check(dump.ClockSubstep)
		w.check(dump.ClockSubstep)
		if step%3 == 1 {
			w.g.Note(dump.Event{Kind: dump.EventReset, Envs: []int{step, 12}})
			w.again(dump.ClockSubstep)
		}
		w.check(dump.ClockStep)
		w.check(dump.ClockMinibatch)
	}
}

var scenarios = []scenario{
	{
		name: "nan in physics",
		play: func(w *world) {
			walk(w, 9, func(step int, v map[string][]float32) {
				if step == 6 {
					v["qvel"][17*3+2], v["qvel"][5*3], v["qpos"][3*4] = nan, nan, float32(math.Inf(1))
				}
				if step == 7 {
					v["obs.policy"][20*5] = nan
				}
			})
		},
	},
	{
		name:   "frames after the trip, which show more",
		config: func(c *Config) { c.PostFrames = 4 },
		play: func(w *world) {
			walk(w, 12, func(step int, v map[string][]float32) {
				if step >= 6 {
					v["qvel"][17*3+2] = nan
				}
				if step >= 7 {
					v["obs.policy"][20*5], v["qvel"][2], v["loss.value"][0] = nan, nan, nan
				}
			})
		},
	},
	{
		name: "a loss on the host",
		play: func(w *world) {
			walk(w, 6, func(step int, v map[string][]float32) {
				if step == 4 {
					v["loss.value"][0] = float32(math.Inf(-1))
				}
			})
		},
	},
	{
		name:   "a short ring",
		config: func(c *Config) { c.MaxFrames, c.TraceLen = 3, 7 },
		play: func(w *world) {
			walk(w, 15, func(step int, v map[string][]float32) {
				if step == 14 {
					v["reward.a"][23] = nan
				}
			})
		},
	},
	{
		name: "a run-away env",
		play: func(w *world) {
			walk(w, 20, func(step int, v map[string][]float32) {
				if step == 19 {
					v["qvel"][9*3], v["loss.value"][0] = 1e8, nan
				}
			})
		},
	},
	{
		name:   "armed again",
		config: func(c *Config) { c.MaxDumps, c.PostFrames = 2, 0 },
		play: func(w *world) {
			for _, env := range []int{11, 22} {
				walk(w, 4, nil)
				v := noise(24*4, 5)
				v[env*4+1] = nan
				w.put("qpos", v)
				w.check(dump.ClockSubstep)
				w.g.Wait() // the next check arms the guard again, in both worlds
			}
		},
	},
	{
		name:   "a limit",
		fields: append([]scenarioField{{"qacc", 2, FieldOptions{Limit: 50}}}, worldFields...),
		play: func(w *world) {
			a := noise(48, 1)
			w.put("qacc", a)
			walk(w, 3, nil)
			a[31], a[40] = -50.5, 60
			w.put("qacc", a)
			walk(w, 3, nil)
		},
	},
	{
		name:   "growth",
		fields: append([]scenarioField{{"qacc", 2, FieldOptions{Limit: 1e6, Growth: Growth{Factor: 4, Frames: 3, Floor: 9}}}}, worldFields...),
		play: func(w *world) {
			a := make([]float32, 48)
			for i := range 8 {
				a[13] = float32(math.Pow(1.7, float64(i)))
				w.put("qacc", a)
				w.check(dump.ClockSubstep)
			}
			walk(w, 2, nil)
		},
	},
	{
		name:   "nan goes before a limit",
		fields: append([]scenarioField{{"qacc", 2, FieldOptions{Limit: 50}}}, worldFields...),
		play: func(w *world) {
			walk(w, 3, nil)
			a := noise(48, 1)
			a[30] = 99
			w.put("qacc", a)
			walk(w, 2, func(_ int, v map[string][]float32) { v["qpos"][7*4] = nan })
		},
	},
	{
		name:   "a monitor has limits and no nan",
		fields: append([]scenarioField{{"kl", 1, FieldOptions{Limit: 50, Clock: dump.ClockStep}}}, worldFields...),
		play: func(w *world) {
			k := noise(24, 1)
			k[3] = nan
			w.put("kl", k)
			walk(w, 2, nil)
			k[8] = 51
			w.put("kl", k)
			walk(w, 2, nil)
		},
	},
}

// The same loop gives the same dump on the host and on a GPU: all that the
// manifest says, every frame bit for bit, every trace but the last bits of the
// mean.
func TestDeviceTellsWhatTheHostTells(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		for _, s := range scenarios {
			if s.fields == nil {
				s.fields = worldFields
			}
			t.Run(s.name, func(t *testing.T) {
				b := newBench(t, d)
				onHost, onGPU := s.world(t, nil), s.world(t, b)
				s.play(onHost)
				s.play(onGPU)
				want, _ := onHost.g.Wait()
				got, tripped := onGPU.g.Wait()
				require.True(t, tripped)
				require.NoError(t, got.Error)
				require.NoError(t, onHost.g.Close())
				require.NoError(t, onGPU.g.Close())
				assert.Equal(t, want.Trip, got.Trip)
				files := dumpFiles(t, onHost.g)
				others := dumpFiles(t, onGPU.g)
				require.Len(t, others, len(files))
				for i := range files {
					compareDumps(t, open(t, files[i]), open(t, others[i]))
				}
			})
		}
	})
}

// compareDumps compares all that two dumps hold.
func compareDumps(t *testing.T, want, got *dump.File) {
	t.Helper()
	wm, gm := want.Manifest(), got.Manifest()
	wm.Run, gm.Run = dump.Run{}, dump.Run{}
	assert.Equal(t, wm, gm)
	assert.Equal(t, want.Metadata().Values, got.Metadata().Values)
	for _, f := range wm.Fields {
		a, err := want.Frames(f.Name)
		require.NoError(t, err)
		b, err := got.Frames(f.Name)
		require.NoError(t, err)
		assert.Equal(t, a, b, f.Name)
		at, err := want.Trace(f.Name)
		require.NoError(t, err)
		bt, err := got.Trace(f.Name)
		require.NoError(t, err)
		require.Len(t, bt.Mean, len(at.Mean), f.Name)
		for i := range at.Mean {
			assert.InDelta(t, at.Mean[i], bt.Mean[i], 0x1p-22*max(1, at.AbsMax[i]), "%s, row %d", f.Name, i)
			bt.Mean[i] = at.Mean[i]
		}
		assert.Equal(t, at, bt, f.Name)
	}
	if want.States() != nil {
		assert.Equal(t, want.States().Steps, got.States().Steps)
	}
}
