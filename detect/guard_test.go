package detect

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

var nan = float32(math.NaN())

func ptr[T any](v T) *T { return &v }

// testConfig returns a configuration for a few envs whose dumps go to a new
// folder, at a fixed time.
func testConfig(t testing.TB, envs int) Config {
	cfg := DefaultConfig()
	cfg.NumEnvs, cfg.Dir = envs, filepath.Join(t.TempDir(), "dumps")
	cfg.RingBytes = 1 << 20
	cfg.Now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local) }
	return cfg
}

// newGuard returns a guard that the test closes.
func newGuard(t testing.TB, cfg Config) *Guard {
	t.Helper()
	g, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { g.Close() })
	return g
}

// onHost returns the recorder of a guard without a GPU.
func onHost(g *Guard) *host { return g.rec.(*host) }

// bind binds a new float32 array of the guard's envs and returns it.
func bind(t testing.TB, g *Guard, name string, cols int, o FieldOptions) []float32 {
	t.Helper()
	rows := g.cfg.NumEnvs
	if o.Shared {
		rows = 1
	}
	v := make([]float32, rows*cols)
	_, err := g.Bind(name, tensor.RefOf(v, rows, cols), o)
	require.NoError(t, err)
	return v
}

// check makes checks of the given clocks.
func check(t testing.TB, g *Guard, clocks ...dump.Clock) {
	t.Helper()
	for _, c := range clocks {
		require.NoError(t, g.Check(c))
	}
}

// dumpOf waits for the guard's dump and opens it.
func dumpOf(t testing.TB, g *Guard) *dump.File {
	t.Helper()
	v, tripped := g.Wait()
	require.True(t, tripped)
	require.NoError(t, v.Error)
	require.True(t, v.Done)
	return open(t, v.Path)
}

func open(t testing.TB, path string) *dump.File {
	t.Helper()
	f, err := dump.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	require.Empty(t, f.Warnings())
	return f
}

// values returns the frames of a field as one list.
func values(t testing.TB, f *dump.File, field string) []float64 {
	t.Helper()
	s, err := f.Frames(field)
	require.NoError(t, err)
	return s.Values.AppendFloat64s(nil, 0, s.Values.Len())
}

// A run of eight envs in which env 6, column 1 of qvel goes bad at the third
// substep: every number that the dump tells.
func TestTripIsWrittenDown(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 8)
	cfg.ControlEnvs = 2
	cfg.StateSpec = 30
	cfg.Run = dump.Run{Framework: "test", Seed: ptr(int64(7))}
	g := newGuard(t, cfg)
	qpos := bind(t, g, "qpos", 1, FieldOptions{Unit: "m"})
	qvel := bind(t, g, "qvel", 2, FieldOptions{Cols: []string{"x", "y"}})
	reward := bind(t, g, "reward", 1, FieldOptions{})
	require.NoError(t, g.Fact("sim.timestep", 0.005))

	for i := range qpos {
		qpos[i], qvel[2*i], qvel[2*i+1] = float32(i), 10, -20
	}
	check(t, g, dump.ClockSubstep, dump.ClockSubstep, dump.ClockStep)
	g.Note(dump.Event{Kind: dump.EventReset, Envs: []int{2, 6}})
	_, tripped := g.Poll()
	require.False(t, tripped)
	qvel[2*6+1], qpos[6], reward[0] = nan, 66, 5
	check(t, g, dump.ClockSubstep)

	v, tripped := g.Poll()
	require.True(t, tripped)
	trip := dump.Trip{Tick: 4, Clock: dump.ClockSubstep, Count: 3, Field: "qvel", Env: ptr(6), Col: 1, Class: "nan"}
	assert.Equal(t, trip, v.Trip)

	f := dumpOf(t, g)
	assert.Equal(t, filepath.Join(cfg.Dir, "nan_dump_20260102_030405.npz"), f.Name())
	m := f.Manifest()
	assert.Equal(t, &trip, m.Trip)
	assert.Equal(t, cfg.Run, m.Run)
	assert.Equal(t, []int{6, 3, 7}, m.EnvIDs) // the places are 2 and 6, which were reset: the next ones
	assert.Equal(t, []dump.Role{dump.RoleCulprit, dump.RoleControl, dump.RoleControl}, m.EnvRoles)
	assert.Equal(t, map[dump.Clock]int64{dump.ClockSubstep: 3, dump.ClockStep: 1}, m.Clocks)
	assert.Equal(t, []dump.FirstBad{{Field: "qvel", Tick: 4, Clock: dump.ClockSubstep, Count: 3, Env: ptr(6), Col: 1, Class: "nan", EnvsBad: 1}}, m.FirstBad)
	assert.Equal(t, []dump.Event{{Tick: 3, Kind: dump.EventReset, Envs: []int{6}, Count: 2}}, m.Events)
	assert.Equal(t, map[string]any{"sim.timestep": 0.005}, m.Facts)
	assert.Equal(t, []dump.FieldSpec{
		{Name: "qvel", Stage: dump.StagePhysics, Clock: dump.ClockSubstep, Order: 16, DType: "float32", Cols: []string{"x", "y"}, PerEnv: true},
		{Name: "qpos", Stage: dump.StagePhysics, Clock: dump.ClockSubstep, Order: 17, DType: "float32", Unit: "m", PerEnv: true},
		{Name: "reward", Stage: dump.StageReward, Clock: dump.ClockStep, Order: 35, DType: "float32", PerEnv: true},
	}, m.Fields)

	assert.Equal(t, []float64{6, 3, 7, 6, 3, 7, 66, 3, 7}, values(t, f, "qpos"))
	s, err := f.Frames("qpos")
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 2, 4}, s.Ticks)
	assert.Equal(t, []int64{1, 2, 3}, s.Counts)
	assert.Equal(t, []int{3, 3, 1}, s.Values.Shape)
	assert.Equal(t, []float64{0, 0, 0}, values(t, f, "reward"))

	tr, err := f.Trace("qvel")
	require.NoError(t, err)
	assert.Equal(t, &dump.Trace{
		Ticks: []int64{1, 2, 4}, Counts: []int64{1, 2, 3},
		NaN: []float64{0, 0, 1}, PosInf: []float64{0, 0, 0}, NegInf: []float64{0, 0, 0},
		AbsMax: []float64{20, 20, 20}, ArgMax: []float64{0, 0, 0},
		Min: []float64{-20, -20, -20}, Max: []float64{10, 10, 10}, Mean: []float64{-5, -5, (80. - 140) / 15},
	}, tr)

	assert.Equal(t, []int64{1, 2}, f.States().Steps) // the state after substep 3 began no substep
	assert.Equal(t, []float64{6, 10, -20, 3, 10, -20, 7, 10, -20, 6, 10, -20, 3, 10, -20, 7, 10, -20}, values(t, f, dump.StateField))
	for key, want := range map[string]any{
		"num_envs_total": int64(8), "nan_env_ids": []any{int64(6)}, "state_spec": int64(30), "state_size": int64(3),
		"buffer_size": int64(2), "detection_step": int64(3), "timestamp": "20260102_030405", "note": "",
	} {
		assert.Equal(t, want, f.Metadata().Values[key], key)
	}
}

// Within one check the trip is decided by the order in the loop, then by the
// order of binding, then by row and column; never by the order of the call.
func TestTripOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		names []string
		spoil func(v [][]float32)
		want  dump.Trip
	}{
		{
			"qacc before qvel",
			[]string{"qvel", "qacc"},
			func(v [][]float32) { v[0][0], v[1][7] = nan, nan },
			dump.Trip{Field: "qacc", Env: ptr(3), Col: 1},
		},
		{
			"warm start equals qacc",
			[]string{"qacc_warmstart", "qacc"},
			func(v [][]float32) { v[0][0], v[1][0] = nan, nan },
			dump.Trip{Field: "qacc", Env: ptr(0)},
		},
		{
			"terms in order of binding",
			[]string{"reward", "reward.b", "reward.a"},
			func(v [][]float32) { v[0][0], v[1][2], v[2][0] = nan, nan, nan },
			dump.Trip{Field: "reward.b", Env: ptr(1)},
		},
		{
			"row, then column",
			[]string{"qvel"},
			func(v [][]float32) { v[0][3], v[0][4] = nan, nan },
			dump.Trip{Field: "qvel", Env: ptr(1), Col: 1},
		},
		{
			"a monitor never",
			[]string{"kl", "log_ratio", "loss.value"},
			func(v [][]float32) { v[0][0], v[1][0], v[2][5] = nan, nan, nan },
			dump.Trip{Field: "loss.value", Env: ptr(2), Col: 1},
		},
	} {
		for range 2 { // the fields of the call forwards, then backwards
			g := newGuard(t, testConfig(t, 4))
			var v [][]float32
			var refs []FieldRef
			for i, name := range c.names {
				v = append(v, bind(t, g, name, 2, FieldOptions{}))
				refs = append([]FieldRef{{FieldID(i), tensor.RefOf(v[i], 4, 2)}}, refs...)
			}
			c.spoil(v)
			clock := g.fields[0].spec.Clock
			require.NoError(t, g.Check(clock, refs...), c.name)
			got, tripped := g.Poll()
			require.True(t, tripped, c.name)
			c.want.Tick, c.want.Count, c.want.Clock, c.want.Class = 1, 1, clock, "nan"
			assert.Equal(t, c.want, got.Trip, c.name)
			f := dumpOf(t, g)
			assert.Len(t, f.Manifest().FirstBad, len(c.names), c.name)
		}
	}
}

// A monitor's NaN is written down and nothing more.
func TestMonitorAloneDoesNotTrip(t *testing.T) {
	t.Parallel()
	g := newGuard(t, testConfig(t, 4))
	kl := bind(t, g, "kl", 1, FieldOptions{Shared: true})
	check(t, g, dump.ClockMinibatch)
	kl[0] = float32(math.Inf(-1))
	check(t, g, dump.ClockMinibatch, dump.ClockMinibatch)
	_, tripped := g.Poll()
	require.False(t, tripped)
	path, err := g.Dump("asked")
	require.NoError(t, err)
	m := open(t, path).Manifest()
	assert.Nil(t, m.Trip)
	assert.Equal(t, []dump.FirstBad{{Field: "kl", Tick: 2, Clock: dump.ClockMinibatch, Count: 2, Class: "neginf", EnvsBad: 1}}, m.FirstBad)
}

// A field of the whole run trips without an env, and the rows of the dump are
// all for comparison.
func TestSharedFieldTrips(t *testing.T) {
	t.Parallel()
	g := newGuard(t, testConfig(t, 100))
	bind(t, g, "qpos", 1, FieldOptions{})
	loss := bind(t, g, "loss.total", 1, FieldOptions{Shared: true})
	check(t, g, dump.ClockSubstep)
	loss[0] = float32(math.Inf(1))
	check(t, g, dump.ClockMinibatch)
	f := dumpOf(t, g)
	m := f.Manifest()
	assert.Equal(t, &dump.Trip{Tick: 2, Clock: dump.ClockMinibatch, Count: 1, Field: "loss.total", Class: "posinf"}, m.Trip)
	assert.Equal(t, []int{7, 21, 35, 50, 64, 78, 92}, m.EnvIDs)
	assert.NotContains(t, m.EnvRoles, dump.RoleCulprit)
	assert.Equal(t, []any{}, f.Metadata().Values["nan_env_ids"])
	s, err := f.Frames("loss.total")
	require.NoError(t, err)
	assert.Equal(t, []int{1, 1, 1}, s.Values.Shape)
}

// The culprit is in the file wherever it stands among the envs, culprits stand
// in the order in which they went bad, and all bad envs are listed.
func TestCulpritsInTheirOrder(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 1000)
	cfg.MaxEnvs, cfg.ControlEnvs, cfg.PostFrames = 3, 1, 0
	g := newGuard(t, cfg)
	qvel := bind(t, g, "qvel", 3, FieldOptions{})
	qacc := bind(t, g, "qacc", 3, FieldOptions{})
	check(t, g, dump.ClockSubstep)
	for _, e := range []int{900, 700} {
		qacc[3*e] = nan
	}
	for _, e := range []int{999, 700, 3, 1} {
		qvel[3*e+2] = nan
	}
	check(t, g, dump.ClockSubstep)
	f := dumpOf(t, g)
	assert.Equal(t, []int{700, 900, 1, 500}, f.Manifest().EnvIDs) // qacc's in order of row, then qvel's
	assert.Equal(t, []any{int64(1), int64(3), int64(700), int64(900), int64(999)}, f.Metadata().Values["nan_env_ids"])
	assert.Equal(t, 4, f.Manifest().FirstBad[1].EnvsBad)
}

func TestIntegerAndBoolFieldsAreRecorded(t *testing.T) {
	t.Parallel()
	g := newGuard(t, testConfig(t, 3))
	ncon, done := []int32{4, -7, 6}, []bool{false, true, false}
	_, err := g.Bind("ncon", tensor.RefOf(ncon, 3, 1), FieldOptions{})
	require.NoError(t, err)
	_, err = g.Bind("done", tensor.RefOf(done, 3, 1), FieldOptions{})
	require.NoError(t, err)
	check(t, g, dump.ClockSubstep, dump.ClockStep)
	path, err := g.Dump("asked")
	require.NoError(t, err)
	f := open(t, path)
	assert.Equal(t, []float64{4, -7, 6}, values(t, f, "ncon"))
	assert.Equal(t, []float64{0, 1, 0}, values(t, f, "done"))
	tr, err := f.Trace("ncon")
	require.NoError(t, err)
	assert.Equal(t, []float64{0, 7, 1, -7, 6, 1}, []float64{tr.NaN[0], tr.AbsMax[0], tr.ArgMax[0], tr.Min[0], tr.Max[0], tr.Mean[0]})
}

// The ring keeps the newest frames, the trace reaches further back.
func TestRingKeepsTheNewestFrames(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 2)
	cfg.MaxFrames, cfg.TraceLen = 3, 5
	g := newGuard(t, cfg)
	v := bind(t, g, "value", 1, FieldOptions{})
	for i := range 10 {
		v[0], v[1] = float32(i), float32(-i)
		check(t, g, dump.ClockStep)
	}
	path, err := g.Dump("asked", 1)
	require.NoError(t, err)
	f := open(t, path)
	assert.Equal(t, []int{1, 0}, f.Manifest().EnvIDs)
	assert.Equal(t, []float64{-7, 7, -8, 8, -9, 9}, values(t, f, "value"))
	tr, err := f.Trace("value")
	require.NoError(t, err)
	assert.Equal(t, []int64{6, 7, 8, 9, 10}, tr.Ticks)
	assert.Equal(t, []float64{5, 6, 7, 8, 9}, tr.AbsMax)
}

// Two identical runs give identical files.
func TestDumpsAreDeterministic(t *testing.T) {
	t.Parallel()
	run := func() []byte {
		g := newGuard(t, testConfig(t, 50))
		qpos, qvel := bind(t, g, "qpos", 7, FieldOptions{}), bind(t, g, "qvel", 6, FieldOptions{})
		g.Note(dump.Event{Kind: dump.EventDR, Detail: map[string]any{"b": 1, "a": math.NaN(), "c": []string{"x"}}})
		for i := range 30 {
			for k := range qpos {
				qpos[k] = float32(math.Sin(float64(i * k)))
			}
			if i == 20 {
				qvel[17*6] = float32(math.Inf(-1))
			}
			check(t, g, dump.ClockSubstep)
		}
		raw, err := os.ReadFile(dumpOf(t, g).Name())
		require.NoError(t, err)
		return raw
	}
	assert.Equal(t, run(), run())
}
