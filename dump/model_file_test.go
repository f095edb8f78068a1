package dump

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// v4 is the folder of a real dump with its model.
var v4 = filepath.Join("testdata", "mjlab_v4")

const (
	v4Dump  = "nan_dump_20261201_034427.npz"
	v4Model = "model_20261201_034427.mjb"
)

// copyTo copies a file and returns the new path.
func copyTo(t testing.TB, from, to string) string {
	t.Helper()
	b, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, b, 0o600))
	return to
}

func TestWhereTheModelIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, model string // as the model lies beside the dump
		warns       string
	}{
		{"as named", v4Model, ""},
		{"latest", "model_latest.mjb", `the model "model_20261201_034427.mjb" that the dump names is not beside it; "model_latest.mjb" is taken for it`},
		{"plain", "model.mjb", `"model.mjb" is taken for it`},
		{"the only one", "robot.mjb", `"robot.mjb" is taken for it`},
		{"none", "robot.bin", `the model "model_20261201_034427.mjb" is not beside the dump`},
	} {
		dir := t.TempDir()
		copyTo(t, filepath.Join(v4, v4Model), filepath.Join(dir, c.model))
		f, err := Open(copyTo(t, filepath.Join(v4, v4Dump), filepath.Join(dir, v4Dump)))
		require.NoError(t, err, c.name)
		defer f.Close()
		assert.Contains(t, warnText(f), c.warns, c.name)
		if c.name == "none" {
			assert.Nil(t, f.Model())
			assert.Empty(t, f.ModelPath())
			assert.Equal(t, "state[0]", f.Columns(StateField)[0])
			assert.Nil(t, f.States().Parts)
			continue
		}
		assert.Equal(t, filepath.Join(dir, c.model), f.ModelPath(), c.name)
		require.NotNil(t, f.Model(), c.name)
		assert.Equal(t, "qpos palm_free x", f.Columns(StateField)[0], c.name)
	}
}

// Two models of other names: neither is taken for the dump's.
func TestTwoModels(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	copyTo(t, filepath.Join(v4, v4Model), filepath.Join(dir, "a.mjb"))
	copyTo(t, filepath.Join(v4, v4Model), filepath.Join(dir, "b.mjb"))
	f, err := Open(copyTo(t, filepath.Join(v4, v4Dump), filepath.Join(dir, v4Dump)))
	require.NoError(t, err)
	defer f.Close()
	assert.Empty(t, f.ModelPath())
}

// The dump says where its model is; a reader goes nowhere on its word.
func TestModelOutsideTheFolder(t *testing.T) {
	t.Parallel()
	outside := copyTo(t, filepath.Join(v4, v4Model), filepath.Join(t.TempDir(), "secret.mjb"))
	for _, c := range []struct{ name, want string }{
		{"../secret.mjb", "is no bare file name"},
		{outside, "is no bare file name"},
		{"sub/model.mjb", "is no bare file name"},
		{`sub\model.mjb`, "is no bare file name"},
		{`c:model.mjb`, "is no bare file name"},
		{"..", "is no bare file name"},
		{".", "is no bare file name"},
		{"a\x00b", "is no bare file name"},
		{"link.mjb", `model "link.mjb" beside the dump is not read: path escapes from parent`},
		{"pipe.mjb", `model "pipe.mjb" beside the dump is not read: it is no regular file`},
		{"folder.mjb", `model "folder.mjb" beside the dump is not read: it is no regular file`},
		{"missing.mjb", `the model "missing.mjb" is not beside the dump`},
	} {
		dir := t.TempDir()
		require.NoError(t, os.Symlink(outside, filepath.Join(dir, "link.mjb")))
		require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe.mjb"), 0o600))
		require.NoError(t, os.Mkdir(filepath.Join(dir, "folder.mjb"), 0o700))
		f, err := Open(dumpIn(t, dir, "x.npz", stateEntry(0, 0), metaEntry(2, 3, map[string]any{"model_file": c.name})))
		require.NoError(t, err, c.name)
		defer f.Close()
		assert.Contains(t, warnText(f), c.want, c.name)
		assert.Empty(t, f.ModelPath(), c.name)
		assert.Nil(t, f.Model(), c.name)
		assert.Equal(t, []string{"state[0]", "state[1]", "state[2]"}, f.Columns(StateField), c.name)
	}
}

// A link within the folder, as "latest" is, is as good as the file.
func TestModelBehindALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	copyTo(t, filepath.Join(v4, v4Model), filepath.Join(dir, "real.mjb"))
	require.NoError(t, os.Symlink("real.mjb", filepath.Join(dir, v4Model)))
	copyTo(t, filepath.Join(v4, v4Dump), filepath.Join(dir, v4Dump))
	require.NoError(t, os.Symlink(v4Dump, filepath.Join(dir, "nan_dump_latest.npz")))
	f, err := Open(filepath.Join(dir, "nan_dump_latest.npz"))
	require.NoError(t, err)
	defer f.Close()
	assert.NotNil(t, f.Model())
	assert.Empty(t, f.Warnings())

	// A link to the dump from elsewhere leads to the model beside the dump.
	elsewhere := filepath.Join(t.TempDir(), "mine.npz")
	require.NoError(t, os.Symlink(filepath.Join(dir, v4Dump), elsewhere))
	f, err = Open(elsewhere)
	require.NoError(t, err)
	defer f.Close()
	assert.NotNil(t, f.Model())
	assert.Empty(t, f.Warnings())
}

func TestModelOfAnotherRobot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	copyTo(t, filepath.Join(v4, v4Model), filepath.Join(dir, "model.mjb"))
	f, err := Open(dumpIn(t, dir, "x.npz", stateEntry(0, 0), metaEntry(2, 3, map[string]any{"model_file": "model.mjb"})))
	require.NoError(t, err)
	defer f.Close()
	assert.Nil(t, f.Model())
	assert.Equal(t, filepath.Join(dir, "model.mjb"), f.ModelPath())
	assert.Equal(t, []string{"state[0]", "state[1]", "state[2]"}, f.Columns(StateField))
	assert.Contains(t, warnText(f), `model "model.mjb" is not that of the states: `)
}

func TestModelThatIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "model.mjb"), []byte("model_20261201_034427.mjb"), 0o600))
	f, err := Open(dumpIn(t, dir, "x.npz", stateEntry(0, 0), metaEntry(2, 3, map[string]any{"model_file": "model.mjb"})))
	require.NoError(t, err)
	defer f.Close()
	assert.Empty(t, f.Warnings(), "the model is read when it is asked for")
	assert.Nil(t, f.Model())
	assert.Contains(t, warnText(f), `model "model.mjb": `)
	assert.Contains(t, warnText(f), "its names are not used")
}

// The columns of mjlab's fields by their names in the model.
func TestColumnsFromTheModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	copyTo(t, filepath.Join(v4, v4Model), filepath.Join(dir, "model.mjb"))
	fields, entries := "", []zipEntry{metaEntry(2, 55, map[string]any{"model_file": "model.mjb"})}
	for name, shape := range map[string]struct {
		text string
		n    int
	}{"qpos": {"(1, 2, 21)", 42}, "qvel": {"(1, 2, 18)", 36}, "qacc": {"(1, 2, 18)", 36}, "ctrl": {"(1, 2, 3)", 6}, "act": {"(1, 2, 2)", 4}, "other": {"(1, 2, 18)", 36}, "qacc_warmstart": {"(1, 2, 17)", 34}} {
		fields += `,{"name":"` + name + `","stage":"physics","clock":"substep","dtype":"float64","per_env":true}`
		entries = append(entries, npyOf("field."+name, "<f8", shape.text, make([]byte, 8*shape.n)),
			npyOf("field."+name+".tick", "<i8", "(1,)", i64(1)), npyOf("field."+name+".count", "<i8", "(1,)", i64(1)))
	}
	f, err := Open(dumpIn(t, dir, "x.npz", append(entries, manifestOf(manifestWith(`,"fields":[`+fields[1:]+`]`)))...))
	require.NoError(t, err)
	defer f.Close()
	for name, want := range map[string]string{
		"qpos": "palm_free x", "qvel": "palm_free vx", "qacc": "palm_free vx", "ctrl": "index_muscle", "act": "index_muscle",
		"other": "other[0]", "qacc_warmstart": "qacc_warmstart[0]",
	} {
		assert.Equal(t, want, f.Columns(name)[0], name)
	}
}

func TestUniLabModel(t *testing.T) {
	t.Parallel()
	from := filepath.Join("testdata", "unilab", "nan_dump_20261201_034526_step24")
	for _, c := range []struct{ model, want string }{
		{"nan_dump_20261201_034526_step24_model.xml", "qpos palm_free x"},
		{"scene.xml", "qpos palm_free x"},
		{"other.xml", "state[0]"},
	} {
		dir := t.TempDir()
		dump := copyTo(t, from+".npz", filepath.Join(dir, filepath.Base(from)+".npz"))
		copyTo(t, from+"_model.xml", filepath.Join(dir, c.model))
		require.NoError(t, os.Symlink(filepath.Base(dump), filepath.Join(dir, "nan_dump_latest.npz")))
		for _, name := range []string{dump, filepath.Join(dir, "nan_dump_latest.npz")} {
			f, err := Open(name)
			require.NoError(t, err)
			defer f.Close()
			assert.Equal(t, c.want, f.Columns(StateField)[0], c.model)
			assert.Equal(t, c.want == "state[0]", len(f.Warnings()) == 1, "%v", f.Warnings())
		}
	}
}
