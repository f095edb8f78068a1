package dump

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/tensor"
)

// fill returns an array whose i-th element has the bits that f gives.
func fill(d tensor.DType, f func(i int) uint64, shape ...int) tensor.Array {
	a := tensor.NewArray(d, shape...)
	for i := range a.Len() {
		for k := range d.Size() {
			a.Data[i*d.Size()+k] = byte(f(i) >> (8 * k))
		}
	}
	return a
}

func ptr[T any](v T) *T { return &v }

// sampleDraft is a dump of three envs out of eight that has one of everything:
// the interop test looks for exactly these values.
func sampleDraft() *Draft {
	f32 := func(i int) uint64 { return uint64(math.Float32bits(float32(i) / 4)) }
	states := fill(tensor.Float64, func(i int) uint64 { return math.Float64bits(float64(i) * 0.5) }, 2, 3, 5)
	qpos := fill(tensor.Float32, func(i int) uint64 {
		if i == 14 {
			return 0x7fc00001 // a NaN with a payload
		}
		return f32(i)
	}, 3, 3, 3)
	series := func(v tensor.Array, first int64) *Series {
		s := &Series{Values: v}
		for i := range int64(v.Shape[0]) {
			s.Ticks, s.Counts = append(s.Ticks, first+2*i), append(s.Counts, first+i)
		}
		return s
	}
	return &Draft{
		Manifest: Manifest{
			Producer: Producer{Name: "nanguard", Version: "test"},
			Run: Run{
				Command: []string{"train", "--task", "<a&b>"}, Framework: "none", Seed: ptr(int64(7)),
				Started: ptr(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)), Git: &Git{Commit: "abc", Branch: "main"},
			},
			NumEnvs: 8, EnvIDs: []int{6, 2, 0}, EnvRoles: []Role{RoleCulprit, RoleCulprit, RoleControl},
			Clocks: map[Clock]int64{ClockSubstep: 3, ClockStep: 1},
			Fields: []FieldSpec{
				{Name: "qpos", Stage: StagePhysics, Clock: ClockSubstep, Order: 17, DType: "float32", Cols: []string{"x", "y", "z"}, Unit: "m", PerEnv: true},
				{Name: "policy.std", Stage: StagePolicy, Clock: ClockStep, Order: 61, DType: "bfloat16"},
				{Name: "done", Stage: StageDone, Clock: ClockStep, Order: 29, DType: "bool", PerEnv: true},
				{Name: "lr", Stage: StageLoss, Clock: ClockUpdate, Order: 82, DType: "float64"},
			},
			Trip:     &Trip{Tick: 3, Clock: ClockSubstep, Count: 2, Field: "qpos", Env: ptr(2), Col: 2, Class: "nan"},
			FirstBad: []FirstBad{{Field: "qpos", Tick: 3, Clock: ClockSubstep, Count: 2, Env: ptr(2), Col: 2, Class: "nan", EnvsBad: 1}},
			Events: []Event{
				{Tick: 2, Kind: EventReset, Envs: []int{2}, Count: 5},
				{Tick: 3, Kind: EventDR, Detail: map[string]any{"friction": math.Inf(-1), "mass": []float32{1, float32(math.NaN())}}},
			},
			Facts: map[string]any{"sim.timestep": 0.005, "sim.solver": "Newton", "amp.enabled": false, "reward.scale": math.Inf(1)},
		},
		States: &StateDraft{Spec: 30, Steps: []int64{999_999, 1_000_000}, Values: states},
		Fields: []FieldDraft{
			{Name: "done", Frames: series(fill(tensor.Bool, func(i int) uint64 { return uint64(i % 2) }, 2, 3, 1), 1)},
			{
				Name: "qpos", Frames: series(qpos, 1),
				Trace: &Trace{
					Ticks: []int64{1, 3}, Counts: []int64{1, 2}, NaN: []float64{0, 1}, PosInf: []float64{0, 0}, NegInf: []float64{0, 0},
					AbsMax: []float64{2, 3}, ArgMax: []float64{0, 6}, Min: []float64{-2, -3}, Max: []float64{1, 2}, Mean: []float64{0.5, 0.25},
				},
			},
			{Name: "policy.std", Frames: series(fill(tensor.BFloat16, func(i int) uint64 { return 0x3f80 + uint64(i) }, 2, 1, 2), 1)},
		},
		Meta: MetaDraft{BadEnvIDs: []int{2, 6}, DetectionStep: 1_000_001, Timestamp: "20260102_030405", Note: "µ note"},
	}
}

// written writes d into a new folder and returns the path and the bytes.
func written(t *testing.T, d *Draft) (path string, raw []byte) {
	t.Helper()
	path, err := WriteFile(filepath.Join(t.TempDir(), "dumps"), d)
	require.NoError(t, err)
	raw, err = os.ReadFile(path)
	require.NoError(t, err)
	return path, raw
}

func TestWriteFileEntries(t *testing.T) {
	t.Parallel()
	path, raw := written(t, sampleDraft())
	assert.Equal(t, "nan_dump_20260102_030405.npz", filepath.Base(path))
	type head struct {
		name, descr string
		shape       []int
	}
	var got []head
	for _, e := range readZip(t, raw) {
		if e.name == "_nanguard" {
			e.shape = nil // its length is in the next test
		}
		got = append(got, head{e.name, e.descr, e.shape})
	}
	assert.Equal(t, []head{
		{"states_step_999999", "<f8", []int{3, 5}},
		{"states_step_1000000", "<f8", []int{3, 5}},
		{"field.qpos", "<f4", []int{3, 3, 3}},
		{"field.qpos.tick", "<i8", []int{3}},
		{"field.qpos.count", "<i8", []int{3}},
		{"trace.qpos", "<f8", []int{2, 8}},
		{"trace.qpos.tick", "<i8", []int{2}},
		{"trace.qpos.count", "<i8", []int{2}},
		{"field.policy.std", "<u2", []int{2, 2}},
		{"field.policy.std.tick", "<i8", []int{2}},
		{"field.policy.std.count", "<i8", []int{2}},
		{"field.done", "|b1", []int{2, 3, 1}},
		{"field.done.tick", "<i8", []int{2}},
		{"field.done.count", "<i8", []int{2}},
		{"_nanguard", "|u1", nil},
		{"_metadata", "|O", nil},
	}, got)
}

func TestWriteFileValues(t *testing.T) {
	t.Parallel()
	d := sampleDraft()
	_, raw := written(t, d)
	entries := readZip(t, raw)
	assert.Equal(t, d.States.Values.Frame(1).Data, find(t, entries, "states_step_1000000").data)
	assert.Equal(t, d.Fields[1].Frames.Values.Data, find(t, entries, "field.qpos").data)
	ticks := tensor.Array{DType: tensor.Int64, Shape: []int{3}, Data: find(t, entries, "field.qpos.tick").data}
	assert.Equal(t, []float64{1, 3, 5}, ticks.AppendFloat64s(nil, 0, 3))
	trace := tensor.Array{DType: tensor.Float64, Shape: []int{2, 8}, Data: find(t, entries, "trace.qpos").data}
	assert.Equal(t, []float64{0, 0, 0, 2, 0, -2, 1, 0.5, 1, 0, 0, 3, 6, -3, 2, 0.25}, trace.AppendFloat64s(nil, 0, 16))
	assert.Equal(t, []byte{0x80, 0x3f, 0x81, 0x3f, 0x82, 0x3f, 0x83, 0x3f}, find(t, entries, "field.policy.std").data)
}

func TestWriteFileManifest(t *testing.T) {
	t.Parallel()
	_, raw := written(t, sampleDraft())
	doc := find(t, readZip(t, raw), "_nanguard").data
	want := `{"format":"nanguard-dump","version":1,"producer":{"name":"nanguard","version":"test"},` +
		`"run":{"command":["train","--task","<a&b>"],"framework":"none","seed":7,"started":"2026-01-02T03:04:05Z","git":{"commit":"abc","branch":"main","dirty":false}},` +
		`"num_envs":8,"env_ids":[6,2,0],"env_roles":["culprit","culprit","control"],"clocks":{"step":1,"substep":3},"fields":[` +
		`{"name":"qpos","stage":"physics","clock":"substep","order":17,"dtype":"float32","cols":["x","y","z"],"unit":"m","per_env":true},` +
		`{"name":"policy.std","stage":"policy","clock":"step","order":61,"dtype":"bfloat16","cols":null,"unit":"","per_env":false},` +
		`{"name":"done","stage":"done","clock":"step","order":29,"dtype":"bool","cols":null,"unit":"","per_env":true},` +
		`{"name":"lr","stage":"loss","clock":"update","order":82,"dtype":"float64","cols":null,"unit":"","per_env":false}],` +
		`"trip":{"tick":3,"clock":"substep","count":2,"field":"qpos","env":2,"col":2,"class":"nan"},` +
		`"first_bad":[{"field":"qpos","tick":3,"clock":"substep","count":2,"env":2,"col":2,"class":"nan","envs_bad":1}],` +
		`"events":[{"tick":2,"kind":"reset","envs":[2],"count":5},{"tick":3,"kind":"dr","detail":{"friction":"-Infinity","mass":[1,"NaN"]}}],` +
		`"facts":{"amp.enabled":false,"reward.scale":"Infinity","sim.solver":"Newton","sim.timestep":0.005}}`
	assert.Equal(t, want, string(doc))
}

// Lists of an empty dump are lists, never null: readers may walk them unasked.
func TestWriteFileOfNothing(t *testing.T) {
	t.Parallel()
	d := &Draft{Meta: MetaDraft{Timestamp: "20260102_030405"}}
	_, raw := written(t, d)
	entries := readZip(t, raw)
	require.Len(t, entries, 2)
	var m Manifest
	require.NoError(t, json.Unmarshal(entries[0].data, &m))
	assert.NotContains(t, strings.ReplaceAll(string(entries[0].data), `"trip":null`, ""), "null")
	assert.Equal(t, "nanguard", m.Producer.Name)
	assert.NotEmpty(t, m.Producer.Version)
}

func TestWriteFileIsDeterministic(t *testing.T) {
	t.Parallel()
	_, a := written(t, sampleDraft())
	_, b := written(t, sampleDraft())
	assert.True(t, bytes.Equal(a, b))
}

// The caller's draft is not changed by writing it.
func TestWriteFileLeavesTheDraftAlone(t *testing.T) {
	t.Parallel()
	d, want := sampleDraft(), sampleDraft()
	written(t, d)
	assert.Equal(t, want.Manifest.Run, d.Manifest.Run)
	assert.Equal(t, want.Manifest.Fields, d.Manifest.Fields)
	assert.Equal(t, math.Inf(-1), d.Manifest.Events[1].Detail.(map[string]any)["friction"])
}
