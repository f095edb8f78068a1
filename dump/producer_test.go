package dump

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/mjb"
	"github.com/nanguard/nanguard/tensor"
)

// producers says what the states of real dumps are; the numbers were read with
// numpy. Those of the collection are skipped where it is absent.
var producers = []struct {
	path      string
	inShared  bool
	format    string
	producer  Producer
	envs      []int
	bad       int
	shape     []int
	steps     [2]int64   // first and last
	values    [3]float64 // first; frame T/2, last row, column S/2; last
	warns     string
	firstCol  string
	beforeEnd bool
}{
	{
		path: "mjlab_v1/nan_dump_20261201_034421.npz", inShared: true,
		format: "mjlab-v1", producer: Producer{"mjlab", "V1"}, envs: []int{0, 1, 2, 3, 4}, bad: 23,
		shape: []int{97, 5, 47}, steps: [2]int64{0, 96}, firstCol: "qpos root x", beforeEnd: true,
		values: [3]float64{0.1020459532737732, -0.6736729145050049, -3.9703662395477295},
		warns:  "env 23 went bad, but the rows are envs 0-4: the culprit is not in this file",
	},
	{
		path:   "mjlab_v2b/nan_dump_20261201_034423.npz",
		format: "mjlab-v2", producer: Producer{"mjlab", "V2-V3"}, envs: []int{2}, bad: 2,
		shape: []int{25, 1, 41}, steps: [2]int64{0, 24}, firstCol: "state[0]", beforeEnd: true,
		values: [3]float64{-0.14140811562538147, 0.013269010931253433, 0.029999999329447746},
		warns:  `the model "model_20261201_034423.mjb" is not beside the dump`,
	},
	{
		path: "mjlab_v3/nan_dump_20261201_034425.npz", inShared: true,
		format: "mjlab-v2", producer: Producer{"mjlab", "V2-V3"}, envs: []int{11}, bad: 11,
		shape: []int{100, 1, 47}, steps: [2]int64{41, 140}, firstCol: "qpos root x", beforeEnd: true,
		values: [3]float64{-0.026643337681889534, 0.8833062648773193, 2.6777286529541016},
	},
	{
		path:   "mjlab_v4/nan_dump_20261201_034427.npz",
		format: "mjlab-v4", producer: Producer{"mjlab", "V4"}, envs: []int{2}, bad: 2,
		shape: []int{25, 1, 55}, steps: [2]int64{0, 24}, firstCol: "qpos palm_free x", beforeEnd: true,
		values: [3]float64{-0.14140811562538147, 0.006387422326952219, 0},
	},
	{
		path: "mjlab_v16/nan_dump_20261201_034429.npz", inShared: true,
		format: "mjlab-v4", producer: Producer{"mjlab", "V4"}, envs: []int{7}, bad: 7,
		shape: []int{73, 1, 47}, steps: [2]int64{0, 72}, firstCol: "qpos root x", beforeEnd: true,
		values: [3]float64{0.05384023115038872, -1.255102276802063, -1.097857742962523e+25},
	},
	{
		path: "mjlab_mujoco4/nan_dump_20261201_034524.npz", inShared: true,
		format: "mjlab-v4", producer: Producer{"mjlab", "V4"}, envs: []int{18}, bad: 18,
		shape: []int{28, 1, 55}, steps: [2]int64{0, 27}, firstCol: "qpos palm_free x", beforeEnd: true,
		values: [3]float64{-0.030078813433647156, 0.071807861328125, 0},
	},
	{
		path:   "mjlab_long_run/nan_dump_20261201_034431.npz",
		format: "mjlab-v4", producer: Producer{"mjlab", "V4"}, envs: []int{12}, bad: 12,
		shape: []int{27, 1, 55}, steps: [2]int64{999990, 1000016}, firstCol: "state[0]", beforeEnd: true,
		values: [3]float64{-0.00893888995051384, -0.040253687649965286, 0},
		warns:  `the model "model_20261201_034431.mjb" is not beside the dump`,
	},
	{
		path:   "ms_lab/nan_dump_20261201_034435.npz", // has no mocap entries, so nothing tells it from mjlab's
		format: "mjlab-v2", producer: Producer{"mjlab", "V2-V3"}, envs: []int{2}, bad: 2,
		shape: []int{25, 1, 41}, steps: [2]int64{0, 24}, firstCol: "state[0]", beforeEnd: true,
		values: [3]float64{-0.14140811562538147, 0.013269010931253433, 0.029999999329447746},
		warns:  `the model "model_20261201_034435.mjb" is not beside the dump`,
	},
	{
		path:   "parahand/nan_dump_20261201_034433_741103_pid4827_001.npz",
		format: "parahand", producer: Producer{"parahand", ""}, envs: []int{0}, bad: 0,
		shape: []int{22, 1, 55}, steps: [2]int64{0, 21}, firstCol: "state[0]", beforeEnd: true,
		values: [3]float64{0.0017096383962780237, 0.0008285170770250261, 0},
		warns:  `the model "model_20261201_034433_741103_pid4827_001.mjb" is not beside the dump`,
	},
	{
		path:   "unilab/nan_dump_20261201_034526_step24.npz",
		format: "unilab", producer: Producer{"UniLab", ""}, envs: []int{2}, bad: 2,
		shape: []int{25, 1, 41}, steps: [2]int64{0, 24}, firstCol: "qpos palm_free x",
		values: [3]float64{-0.14140811562538147, 0.013269010931253433, 0.029999999329447746},
	},
}

func TestProducers(t *testing.T) {
	t.Parallel()
	for _, c := range producers {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("testdata", filepath.FromSlash(c.path))
			if c.inShared {
				path = shared(t, filepath.FromSlash(c.path))
			}
			f, err := Open(path)
			require.NoError(t, err)
			defer f.Close()
			assert.Equal(t, c.format, f.Format())
			assert.Equal(t, c.producer, f.Manifest().Producer)
			assert.Equal(t, 24, f.Manifest().NumEnvs)
			assert.Equal(t, c.envs, f.Manifest().EnvIDs)
			assert.Empty(t, f.Manifest().Fields)
			for i, id := range c.envs {
				assert.Equal(t, id == c.bad, f.Manifest().EnvRoles[i] == RoleCulprit)
			}
			s, err := f.Frames(StateField)
			require.NoError(t, err)
			assert.Equal(t, c.shape, s.Values.Shape)
			assert.Equal(t, c.envs, s.EnvIDs)
			frames, rows, cols := c.shape[0], c.shape[1], c.shape[2]
			assert.Equal(t, c.steps, [2]int64{s.Ticks[0], s.Ticks[frames-1]})
			assert.Equal(t, c.values, [3]float64{
				s.Values.Float64(0),
				s.Values.Float64((frames/2*rows+rows-1)*cols + cols/2),
				s.Values.Float64(frames*rows*cols - 1),
			})
			labels := f.Columns(StateField)
			require.Len(t, labels, cols)
			assert.Equal(t, c.firstCol, labels[0])
			assert.Equal(t, c.beforeEnd, f.States().BeforeStep)
			assert.Equal(t, c.warns, warnText(f)[:min(len(c.warns), len(warnText(f)))])
			assert.Equal(t, c.warns == "", len(f.Warnings()) == 0, "%v", f.Warnings())
		})
	}
}

func TestMjlabStates(t *testing.T) {
	t.Parallel()
	f, err := Open(filepath.Join("testdata", "mjlab_v4", "nan_dump_20261201_034427.npz"))
	require.NoError(t, err)
	defer f.Close()
	info := f.States()
	assert.Equal(t, 55, info.Size)
	assert.Equal(t, 3102, info.Spec)
	assert.Equal(t, []mjb.Part{
		{Name: "qpos", From: 0, To: 21},
		{Name: "qvel", From: 21, To: 39},
		{Name: "act", From: 39, To: 41},
		{Name: "mocap_pos", From: 41, To: 47},
		{Name: "mocap_quat", From: 47, To: 55},
	}, info.Parts)
	assert.Empty(t, info.CulpritsMissing)
	assert.Nil(t, info.NonFinite)
	assert.Equal(t, "3.6.0", f.Model().Version)
	assert.Equal(t, filepath.Join("testdata", "mjlab_v4", "model_20261201_034427.mjb"), f.ModelPath())
	spec, ok := f.Field(StateField)
	assert.True(t, ok)
	assert.Equal(t, FieldSpec{Name: "state", Stage: StagePhysics, Clock: ClockSubstep, DType: "float64", PerEnv: true}, spec)
	assert.Equal(t, map[Clock]int64{ClockSubstep: 25}, f.Manifest().Clocks)
	_, err = f.Trace(StateField)
	assert.ErrorIs(t, err, ErrNoEntry)
}

func TestParahandNamesTheFields(t *testing.T) {
	t.Parallel()
	f, err := Open(filepath.Join("testdata", "parahand", "nan_dump_20261201_034433_741103_pid4827_001.npz"))
	require.NoError(t, err)
	defer f.Close()
	want := map[string][]int{"qpos": {0}, "qvel": {0}, "qacc": {0}, "qacc_warmstart": {0}}
	assert.Equal(t, want, f.States().NonFinite)
	assert.Equal(t, int64(1), f.Metadata().Get("dump_index"))
	assert.Empty(t, f.Manifest().FirstBad)
	assert.Nil(t, f.Manifest().Trip)
}

func TestLuckyLab(t *testing.T) {
	t.Parallel()
	f, err := Open(filepath.Join("testdata", "luckylab", "nan_dump_20261201_034437.npz"))
	require.NoError(t, err)
	defer f.Close()
	assert.Equal(t, "luckylab", f.Format())
	assert.Nil(t, f.States())
	assert.Equal(t, []int{0}, f.Manifest().EnvIDs)
	assert.Equal(t, []Role{RoleCulprit}, f.Manifest().EnvRoles)
	require.Len(t, f.Manifest().Fields, 3)
	for _, c := range []struct {
		field string
		dtype tensor.DType
		cols  int
		frame int
		first float64
		last  float64
		label string
	}{
		{"obs", tensor.Float32, 18, 9, 456331316166656, 616134272, "obs[0]"},
		{"action", tensor.Float32, 6, 3, 1, -0.6330903172492981, "action[0]"},
		{"reward", tensor.Float64, 1, 5, -71419165.94550811, -71419165.94550811, "reward"},
	} {
		s, err := f.Frames(c.field)
		require.NoError(t, err)
		assert.Equal(t, c.dtype, s.Values.DType)
		assert.Equal(t, []int{10, 1, c.cols}, s.Values.Shape)
		assert.Equal(t, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, s.Counts)
		frame := s.Values.Frame(c.frame)
		assert.Equal(t, c.first, frame.Float64(0))
		assert.Equal(t, c.last, frame.Float64(c.cols-1))
		assert.Equal(t, c.label, f.Columns(c.field)[0])
		spec, _ := f.Field(c.field)
		assert.Equal(t, ClockStep, spec.Clock)
		assert.True(t, spec.PerEnv)
	}
	assert.Empty(t, f.Warnings())
}

func TestUniLabMetadata(t *testing.T) {
	t.Parallel()
	f, err := Open(filepath.Join("testdata", "unilab", "nan_dump_20261201_034526_step24.npz"))
	require.NoError(t, err)
	defer f.Close()
	m := f.Metadata()
	assert.Equal(t, []string{
		"num_envs_total", "nan_env_ids", "dumped_env_ids", "buffer_size", "buffer_len", "detection_step",
		"timestamp", "model_file", "supports_state_playback",
	}, m.Keys)
	assert.Equal(t, map[string]any{
		"num_envs_total": int64(24), "nan_env_ids": []any{int64(2)}, "dumped_env_ids": []any{int64(2)},
		"buffer_size": int64(100), "buffer_len": int64(25), "detection_step": int64(24),
		"timestamp": 1796096726.1623867, "model_file": "scene.xml", "supports_state_playback": true,
	}, m.Values)
	s, err := f.Frames(StateField)
	require.NoError(t, err)
	assert.Equal(t, tensor.Float32, s.Values.DType)
	spec, _ := f.Field(StateField)
	assert.Equal(t, ClockStep, spec.Clock)
	assert.Equal(t, "nan_dump_20261201_034526_step24_model.xml", filepath.Base(f.ModelPath()))
	assert.Equal(t, "index_hinge", f.Model().Joints[2].Name)
}

// UniLab writes an empty array where the backend cannot be played back.
func TestUniLabWithoutStates(t *testing.T) {
	t.Parallel()
	f := mustOpen(
		t, npyOf("states", "<f4", "(0, 1, 0)", nil), npyOf("meta_num_envs_total", "<i8", "()", i64(4)),
		npyOf("meta_nan_env_ids", "<i4", "(1,)", i64(1)[:4]), npyOf("meta_dumped_env_ids", "<i8", "(1,)", i64(1)),
		npyOf("meta_detection_step", "<i8", "()", i64(7)), npyOf("meta_model_file", "<U1", "()", make([]byte, 4)),
	)
	assert.Equal(t, "unilab", f.Format())
	assert.Nil(t, f.States())
	assert.Equal(t, []int{1}, f.Manifest().EnvIDs)
	assert.Equal(t, []Role{RoleCulprit}, f.Manifest().EnvRoles)
	assert.Equal(t, map[Clock]int64{ClockStep: 7}, f.Manifest().Clocks)
	assert.Contains(t, warnText(f), "no simulator states")
}

// The steps of a UniLab dump end at the one at which its guard stopped.
func TestUniLabSteps(t *testing.T) {
	t.Parallel()
	entries := []zipEntry{
		npyOf("states", "<f8", "(2, 1, 2)", f64(1, 2, 3, 4)), npyOf("meta_dumped_env_ids", "<i8", "(1,)", i64(6)),
	}
	f := mustOpen(t, append(entries, npyOf("meta_detection_step", "<i8", "()", i64(42)))...)
	assert.Equal(t, []int64{41, 42}, f.States().Steps)
	assert.Empty(t, f.Warnings())
	f = mustOpen(t, append(entries, npyOf("meta_detection_step", "<i8", "()", i64(0)))...)
	assert.Equal(t, []int64{0, 1}, f.States().Steps)
	assert.Contains(t, warnText(f), "numbered from 0")
}

func TestMsLabMocap(t *testing.T) {
	t.Parallel()
	f := mustOpen(
		t, stateEntry(4, 0), stateEntry(5, 6), metaEntry(2, 3, map[string]any{"state_spec": nil}),
		npyOf("mocap_step_000004", "<f8", "(2, 7)", f64(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)),
		npyOf("mocap_step_000005", "<f8", "(2, 7)", f64(2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15)),
	)
	assert.Equal(t, "ms_lab", f.Format())
	s, err := f.Frames("mocap")
	require.NoError(t, err)
	assert.Equal(t, []int{2, 2, 7}, s.Values.Shape)
	assert.Equal(t, []int64{4, 5}, s.Ticks)
	assert.Equal(t, []int{3, 5}, s.EnvIDs)
	assert.Equal(t, 15.0, s.Values.Float64(27))
	assert.Equal(t, "mocap", f.Manifest().Fields[0].Name)
	assert.Empty(t, f.Warnings())
}

func TestCulprits(t *testing.T) {
	t.Parallel()
	frames := []zipEntry{stateEntry(0, 0), stateEntry(1, 0)}
	for _, c := range []struct {
		name    string
		other   map[string]any
		missing []int
		warning string
	}{
		{"all there", nil, []int{}, ""},
		{"more than were dumped", map[string]any{"nan_env_ids": []int{3, 5, 6, 7}}, []int{6, 7}, ""},
		{
			"none of them",
			map[string]any{"nan_env_ids": []int{4, 6, 7}},
			[]int{4, 6, 7},
			"envs 4, 6, 7 went bad, but the rows are envs 3, 5: the culprit is not in this file",
		},
		{
			"V1, some of them",
			map[string]any{"nan_env_ids": []int{1, 6}, "dumped_env_ids": nil, "num_envs_dumped": nil, "state_spec": nil, "num_envs_captured": 2},
			[]int{6},
			"env 6 went bad too, but the rows are envs 0, 1",
		},
		{"beyond the run", map[string]any{"nan_env_ids": []int{3, 8}}, []int{8}, "metadata: nan_env_ids holds env 8 of 8"},
		{"rows twice", map[string]any{"dumped_env_ids": []int{3, 3}}, []int{5}, "metadata: dumped_env_ids names an env twice"},
	} {
		f := mustOpen(t, append(frames, metaEntry(2, 3, c.other))...)
		assert.Equal(t, c.missing, f.States().CulpritsMissing, c.name)
		assert.Equal(t, c.warning, warnText(f), c.name)
	}
}

func TestStatesWithoutMetadata(t *testing.T) {
	t.Parallel()
	f := mustOpen(t, stateEntry(0, 0), stateEntry(1, 0), npyOf("states_step_000002", "<f8", "(1, 3)", f64(1, 2, 3)))
	assert.Equal(t, []int64{0, 1}, f.States().Steps)
	assert.Equal(t, []int{0, 1}, f.Manifest().EnvIDs)
	assert.Equal(t, []Role{RoleSuspect, RoleSuspect}, f.Manifest().EnvRoles)
	assert.Equal(t, Producer{"unknown", ""}, f.Manifest().Producer)
}

func TestNotADump(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		entries []zipEntry
		want    string
	}{
		{nil, "is no NaN dump: the zip holds no .npy entry"},
		{[]zipEntry{npyOf("weights", "<f8", "(1,)", f64(1))}, `is no NaN dump: the zip holds "weights"; _nanguard, _metadata,`},
		{[]zipEntry{npyOf("a", "<f8", "(1,)", f64(1)), npyOf("b", "<f8", "(1,)", f64(1)), npyOf("c", "<f8", "(1,)", f64(1)), npyOf("d", "<f8", "(1,)", f64(1))}, `"a", "b", "c" (and 1 more)`},
	} {
		_, err := openBytes(zipBytes(t, c.entries...), Options{})
		require.ErrorContains(t, err, c.want)
	}
}
