package detect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, cfg := range []Config{{}, {NumEnvs: -1}, {NumEnvs: 1, PostFrames: -1}, {NumEnvs: 1, RingBytes: -1}, {NumEnvs: 1, MaxDumps: -1}} {
		_, err := New(cfg)
		var misuse *MisuseError
		require.ErrorAs(t, err, &misuse)
		assert.Equal(t, "new", misuse.Call)
	}
	g, err := New(Config{NumEnvs: 1})
	require.NoError(t, err)
	want := DefaultConfig()
	want.NumEnvs, want.ControlEnvs = 1, 0
	want.Now, g.cfg.Now = nil, nil
	assert.Equal(t, want, g.cfg)
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	good := tensor.RefOf(make([]float32, 8), 4, 2)
	elsewhere := good
	elsewhere.Mem = 9
	untyped := good
	untyped.DType = tensor.Invalid
	huge := good
	huge.Cols = 1 << 60
	for _, c := range []struct {
		name string
		ref  tensor.Ref
		o    FieldOptions
		want string
	}{
		{"qvel", huge, FieldOptions{}, `bind: field "qvel": 4 rows x 1152921504606846976 columns of float32 are more than any memory holds`},
		{"q pos", good, FieldOptions{}, `bind: field "q pos": a name is made of`},
		{"state", good, FieldOptions{}, `bind: field "state": the name is taken`},
		{"mystery", good, FieldOptions{}, `bind: field "mystery": the name does not say where in the loop the field is produced: set FieldOptions.Stage`},
		{"mystery", good, FieldOptions{Stage: "kitchen"}, `bind: field "mystery": unknown stage "kitchen"`},
		{"qvel", good, FieldOptions{Clock: "moon"}, `bind: field "qvel": unknown clock "moon"`},
		{"qvel", elsewhere, FieldOptions{}, `bind: field "qvel": memory of kind 9`},
		{"qvel", untyped, FieldOptions{}, `bind: field "qvel": dtype invalid`},
		{"qvel", tensor.RefOf(make([]float32, 6), 3, 2), FieldOptions{}, `bind: field "qvel": 3 rows x 2 columns, want 4 rows`},
		{"loss.x", good, FieldOptions{Shared: true}, `bind: field "loss.x": 4 rows x 2 columns, want 1 rows`},
		{"qvel", good, FieldOptions{Cols: []string{"a"}}, `bind: field "qvel": 1 labels for 2 columns`},
		{"qpos", good, FieldOptions{}, `bind: field "qpos": its entries would collide with those of "qpos"`},
		{"qpos.tick", good, FieldOptions{Stage: dump.StagePhysics}, `bind: field "qpos.tick": its entries would collide with those of "qpos"`},
	} {
		g := newGuard(t, testConfig(t, 4))
		bind(t, g, "qpos", 2, FieldOptions{})
		id, err := g.Bind(c.name, c.ref, c.o)
		var misuse *MisuseError
		require.ErrorAs(t, err, &misuse, c.want)
		require.ErrorContains(t, err, c.want)
		assert.Equal(t, FieldID(-1), id)
		assert.Len(t, g.fields, 1)
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	g := newGuard(t, testConfig(t, 4))
	bind(t, g, "qvel", 2, FieldOptions{})
	noAddress := tensor.Ref{DType: tensor.Float32, Rows: 4, Cols: 3, RowStride: 12, ColStride: 4}
	obs, err := g.Bind("obs.policy", noAddress, FieldOptions{})
	require.NoError(t, err)
	now := tensor.RefOf(make([]float32, 12), 4, 3)
	require.NoError(t, g.Check(dump.ClockStep, FieldRef{obs, now}))
	device := now
	device.Mem = tensor.CUDA
	for _, c := range []struct {
		name  string
		clock dump.Clock
		refs  []FieldRef
		is    error
		want  string
	}{
		{"clock", "moon", nil, nil, `check: unknown clock "moon"`},
		{"id", dump.ClockStep, []FieldRef{{9, now}}, ErrUnknownField, "check: not a field of this guard and clock: id 9"},
		{"negative id", dump.ClockStep, []FieldRef{{-1, now}}, ErrUnknownField, "id -1"},
		{"other clock", dump.ClockSubstep, []FieldRef{{obs, now}}, ErrUnknownField, `check: field "obs.policy": not a field of this guard and clock: its clock is "step", not "substep"`},
		{"rows", dump.ClockStep, []FieldRef{{obs, tensor.RefOf(make([]float32, 9), 3, 3)}}, ErrChanged, `check: field "obs.policy": field changed: 4 x 3 when it was bound, now 3 x 3`},
		{"columns", dump.ClockStep, []FieldRef{{obs, tensor.RefOf(make([]float32, 8), 4, 2)}}, ErrChanged, "4 x 3 when it was bound, now 4 x 2"},
		{"dtype", dump.ClockStep, []FieldRef{{obs, tensor.RefOf(make([]float64, 12), 4, 3)}}, ErrChanged, "float32 when it was bound, now float64"},
		{"device", dump.ClockStep, []FieldRef{{obs, device}}, ErrChanged, "host memory when it was bound, now memory of GPU 0"},
		{"no address", dump.ClockStep, nil, ErrNoAddress, `check: field "obs.policy": no address`},
		{"second of two", dump.ClockStep, []FieldRef{{obs, now}, {obs, tensor.Ref{}}}, ErrChanged, "dtype"},
	} {
		err := g.Check(c.clock, c.refs...)
		var misuse *MisuseError
		require.ErrorAs(t, err, &misuse, c.name)
		if c.is != nil {
			require.ErrorIs(t, err, c.is, c.name)
		}
		if c.want != "dtype" {
			require.ErrorContains(t, err, c.want, c.name)
		}
	}
	assert.Equal(t, int64(1), g.now().tick) // a refused check leaves no trace
	assert.Equal(t, 1, onHost(g).fields[obs].trace.n)

	require.ErrorContains(t, g.Fact("x", []int{1}), `fact: fact "x": value of type []int`)
}

// A field that a check names twice is captured once, and a clock without fields
// only counts.
func TestOddChecks(t *testing.T) {
	t.Parallel()
	g := newGuard(t, testConfig(t, 2))
	v := make([]float32, 2)
	id, err := g.Bind("value", tensor.RefOf(v, 2, 1), FieldOptions{})
	require.NoError(t, err)
	ref := FieldRef{id, tensor.RefOf(v, 2, 1)}
	require.NoError(t, g.Check(dump.ClockStep, ref, ref))
	assert.Equal(t, 1, onHost(g).fields[id].ring.n)
	require.NoError(t, g.Check(dump.ClockUpdate))
	require.NoError(t, g.CheckSame(dump.ClockStep))
	assert.Equal(t, [len(clocks)]int64{0, 1, 0, 1}, g.now().counts)
	assert.Equal(t, int64(3), g.now().tick)
}

// Fields without elements are no trouble.
func TestFieldsWithoutElements(t *testing.T) {
	t.Parallel()
	g := newGuard(t, testConfig(t, 3))
	bind(t, g, "act", 0, FieldOptions{})
	v := bind(t, g, "ctrl", 1, FieldOptions{})
	check(t, g, dump.ClockSubstep)
	v[1] = nan
	check(t, g, dump.ClockSubstep)
	f := dumpOf(t, g)
	assert.Equal(t, "ctrl", f.Manifest().Trip.Field)
	assert.Equal(t, "act", f.Manifest().Fields[1].Name)
}
