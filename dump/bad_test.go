package dump

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/tensor"
)

// badFiles says what must happen with each file of testdata/bad: an error that
// holds a text, or a warning that does, and which steps are there to see.
var badFiles = []struct {
	name  string
	fails string   // in the error of Open
	warns []string // in the warnings, each
	steps []int64  // of the states
}{
	{name: "all_nan", steps: []int64{0, 1, 2, 3}},
	{name: "bfloat16_field"},
	{name: "big_endian", steps: []int64{0, 1, 2, 3}},
	{name: "empty", fails: "the file is empty"},
	{name: "escape_codes", steps: []int64{0, 1, 2, 3}},
	{name: "extra_keys", steps: []int64{0, 1, 2, 3}},
	{name: "fortran_order", steps: []int64{0, 1, 2, 3}},
	{name: "gaps_and_order", steps: []int64{3, 12, 999998, 1000007}, warns: []string{"1000001 steps are missing: step 3 is followed by step 12 (and 2 more)"}},
	{name: "header_10GB", steps: []int64{1, 2, 3}, warns: []string{`entry "states_step_000000": header claims float64 (40000, 32768), which is 10485760000 bytes, but 64 follow`}},
	{name: "header_garbage", steps: []int64{1, 2, 3}, warns: []string{`entry "states_step_000000": header: does not parse`}},
	{name: "header_negative", steps: []int64{1, 2, 3}, warns: []string{`entry "states_step_000000": header: negative dimension in shape (-2, 6)`}},
	{name: "ids_disagree", steps: []int64{0, 1, 2, 3}, warns: []string{"num_envs_dumped is 5, dumped_env_ids lists 1", "not certain which envs the rows are"}},
	{name: "manifest_field_missing", warns: []string{`entry "field.obs.policy": its entry "field.obs.policy.tick" is missing`}},
	{name: "manifest_json_nan", warns: []string{"1 bare NaN or Infinity in the JSON"}},
	{name: "manifest_not_utf8", warns: []string{`entry "_nanguard": is not UTF-8 text`}},
	{name: "manifest_ticks_backwards", warns: []string{`entry "field.obs.policy.tick": the ticks do not ascend`}},
	{name: "manifest_version2", warns: []string{"version 2 is newer than this program"}},
	{name: "model_escape", steps: []int64{0, 1, 2, 3}, warns: []string{`"../../../../etc/hostname" is no bare file name: a model is not looked for outside`}},
	{name: "no_metadata", steps: []int64{0, 1, 2, 3}, warns: []string{`"_metadata" is missing`}},
	{name: "no_states", warns: []string{"no simulator states"}},
	{name: "npy_v2_v3", steps: []int64{0, 1, 2, 3}},
	{name: "numpy_scalars", steps: []int64{0, 1, 2, 3}},
	{name: "ordered_dict", steps: []int64{0, 1, 2, 3}},
	{name: "pickle_builtin", fails: `entry "_metadata": pickle, byte 158: asks for the global "builtins.eval"`},
	{name: "pickle_deep", fails: "nested too deep"},
	{name: "pickle_os_system", fails: `asks for the global "posix.system", which is not plain data: refused, nothing was run`},
	{name: "stored_float32", steps: []int64{0, 1, 2, 3}},
	{name: "text", fails: "is text; a NaN dump (.npz) was expected"},
	{name: "truncated", fails: "cut short or damaged"},
	{name: "wrong_width", steps: []int64{0, 1}, warns: []string{`entries "states_step_000002", "states_step_000003": holds float64 (2, 5); float64 (2, 6) was expected`}},
}

func TestBadFiles(t *testing.T) {
	t.Parallel()
	for _, c := range badFiles {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("testdata", "bad", c.name+".npz")
			f, err := Open(path)
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				assert.ErrorContains(t, err, `open dump "`+path+`": `)
				assert.NotContains(t, err.Error(), "\n")
				return
			}
			require.NoError(t, err)
			defer f.Close()
			checkSteps(t, f, c.steps)
			for _, spec := range f.Manifest().Fields {
				_, _ = f.Frames(spec.Name)
			}
			for _, w := range c.warns {
				assert.Contains(t, warnText(f), w)
			}
			if c.warns == nil {
				assert.Empty(t, f.Warnings())
			}
		})
	}
}

// checkSteps holds the states of a file against the steps that are to be there.
func checkSteps(t *testing.T, f *File, steps []int64) {
	t.Helper()
	if steps == nil {
		assert.Nil(t, f.States())
		_, err := f.Frames(StateField)
		assert.ErrorIs(t, err, ErrNoEntry)
		return
	}
	s, err := f.Frames(StateField)
	require.NoError(t, err)
	assert.Equal(t, steps, s.Ticks)
	assert.Equal(t, steps, s.Counts)
	assert.Equal(t, steps, f.States().Steps)
	assert.Equal(t, []int{len(steps), 2, 6}, s.Values.Shape)
}

func TestBadFolderIsCovered(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "bad", "*.npz"))
	require.NoError(t, err)
	assert.Len(t, files, len(badFiles))
}

func openBad(t *testing.T, name string) *File {
	t.Helper()
	f, err := Open(filepath.Join("testdata", "bad", name+".npz"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, f.Close()) })
	return f
}

func TestBadFilesValues(t *testing.T) {
	t.Parallel()
	counting := []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	for _, name := range []string{"big_endian", "fortran_order", "npy_v2_v3", "stored_float32"} {
		s, err := openBad(t, name).Frames(StateField)
		require.NoError(t, err)
		for i := range 4 {
			assert.Equal(t, counting, s.Values.Frame(i).AppendFloat64s(nil, 0, 12), "%s, step %d", name, i)
		}
	}
	s, err := openBad(t, "all_nan").Frames(StateField)
	require.NoError(t, err)
	for i := range s.Values.Len() {
		assert.Equal(t, tensor.NaN, s.Values.Class(i))
	}
	s, err = openBad(t, "stored_float32").Frames(StateField)
	require.NoError(t, err)
	assert.Equal(t, tensor.Float32, s.Values.DType)
}

func TestBfloat16Field(t *testing.T) {
	t.Parallel()
	s, err := openBad(t, "bfloat16_field").Frames("obs.policy")
	require.NoError(t, err)
	assert.Equal(t, tensor.BFloat16, s.Values.DType)
	assert.Equal(t, []int{4, 2, 3}, s.Values.Shape)
	v := s.Values.AppendFloat64s(nil, 0, 6)
	assert.Equal(t, 1.0, v[0])
	assert.True(t, math.IsNaN(v[1]))
	assert.True(t, math.IsInf(v[2], 1))
	assert.True(t, math.IsInf(v[3], -1))
	assert.Equal(t, math.Ldexp(1, -133), v[4])
	assert.Zero(t, v[5])
	assert.True(t, math.Signbit(v[5]))
}

func TestOddMetadata(t *testing.T) {
	t.Parallel()
	m := openBad(t, "extra_keys").Metadata()
	assert.Equal(t, []string{
		"num_envs_total", "num_envs_dumped", "nan_env_ids", "dumped_env_ids", "state_spec", "state_size",
		"buffer_size", "detection_step", "timestamp", "model_file", "note", "my_note", "nested",
	}, m.Keys)
	assert.Equal(t, "kept", m.Get("my_note"))
	assert.Equal(t, map[string]any{"a": []any{int64(1), 2.5, nil, true}}, m.Get("nested"))

	m = openBad(t, "numpy_scalars").Metadata()
	assert.Equal(t, int64(8), m.Get("num_envs_total"))
	assert.Equal(t, []any{int64(3), int64(5)}, m.Get("nan_env_ids"))
	assert.Equal(t, int64(6), m.Get("state_size"))

	f := openBad(t, "ordered_dict")
	assert.Equal(t, "note", f.Metadata().Keys[10])
	assert.Equal(t, []int{3, 5}, f.Manifest().EnvIDs)

	f = openBad(t, "ids_disagree")
	assert.Equal(t, []int{3, -2}, f.Manifest().EnvIDs)
	assert.Equal(t, []Role{RoleCulprit, RoleSuspect}, f.Manifest().EnvRoles)
}

// What a file calls itself must not reach the terminal as control codes.
func TestMessagesAreSafeText(t *testing.T) {
	t.Parallel()
	evil := "states_step_\x1b[31m\u202e\x07"
	f := mustOpen(t, npyOf(evil, "<f8", "(1,)", f64(1)), npyOf(evil, "<f8", "(1,)", f64(1)), stateEntry(0, 0), metaEntry(2, 3, nil))
	_, err := f.Frames(evil)
	text := warnText(f) + err.Error()
	assert.Contains(t, text, `states_step_\x1b[31m\u202e\x07`)
	assert.Equal(t, -1, strings.IndexAny(text, "\x1b\u202e\x07"))
}

// Zeros that pack a thousandfold must cost neither their memory nor their time.
func TestZipBomb(t *testing.T) {
	for _, c := range []struct {
		name, shape, want string
		meta              zipEntry
	}{
		{"too wide", "(2, 6291456)", "more than 1048576 columns or 1048576 rows", metaEntry(2, 6, nil)},
		{"as wide as the metadata says", "(12, 1048576)", "1 frames of float64 (12, 1048576) needs 96.0 MiB, and 42.6 MiB of the limit are left; --max-bytes raises it", metaEntry(12, 1<<20, nil)},
	} {
		b := zipBytes(t, npyOf("states_step_000000", "<f8", c.shape, make([]byte, 96<<20)), c.meta)
		assert.Less(t, len(b), 200<<10)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := openBytes(b, Options{MaxBytes: 64 << 20})
		require.NoError(t, err, c.name)
		_, err = f.Frames(StateField)
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, c.want, c.name)
		assert.ErrorContains(t, err, "states_step_", c.name)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20), c.name)
	}
}

func TestZipBombOfTheCollection(t *testing.T) {
	t.Parallel()
	f, err := Open(shared(t, "bad", "zip_bomb.npz"))
	require.NoError(t, err)
	defer f.Close()
	checkSteps(t, f, []int64{1, 2, 3})
	assert.Contains(t, warnText(f), `entry "states_step_000000": holds float64 (2, 67108864): more than 1048576 columns or 1048576 rows; left out`)
}

func TestTestdataIsTheCollection(t *testing.T) {
	t.Parallel()
	for _, c := range badFiles {
		want, err := os.ReadFile(shared(t, "bad", c.name+".npz"))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join("testdata", "bad", c.name+".npz"))
		require.NoError(t, err)
		assert.Equal(t, want, got, c.name)
	}
}
