package dump

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dumpIn writes a dump into a folder and returns its path.
func dumpIn(t testing.TB, dir, name string, entries ...zipEntry) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, zipBytes(t, entries...), 0o600))
	return path
}

func TestOpenNoRegularFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.npz")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	socketLink := filepath.Join(dir, "link.npz")
	require.NoError(t, os.Symlink(pipe, socketLink))
	loop := filepath.Join(dir, "loop.npz")
	require.NoError(t, os.Symlink(loop, loop))
	for _, c := range []struct{ path, want string }{
		{dir, "is a folder; a NaN dump (.npz) was expected"},
		{pipe, "is a named pipe; a NaN dump (.npz) was expected"},
		{socketLink, "is a named pipe"},
		{os.DevNull, "is a special file"},
		{loop, "too many levels of symbolic links"},
		{filepath.Join(dir, "none.npz"), "no such file or directory"},
		{"", "no such file or directory"},
		{"a\x00b", "invalid argument"},
	} {
		done := make(chan error, 1)
		go func() {
			_, err := Open(c.path)
			done <- err
		}()
		select {
		case err := <-done:
			require.ErrorContains(t, err, c.want)
			var format *FormatError
			require.ErrorAs(t, err, &format)
			assert.Equal(t, c.path, format.File)
			assert.Empty(t, format.Entry)
		case <-time.After(10 * time.Second):
			t.Fatalf("%q: Open does not return", c.path)
		}
	}
	_, err := Open(filepath.Join(dir, "none.npz"))
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.EqualError(t, err, `open dump "`+filepath.Join(dir, "none.npz")+`": no such file or directory`)
}

func TestOpenWithoutPermission(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("the superuser may read every file")
	}
	path := dumpIn(t, t.TempDir(), "x.npz", stateEntry(0, 0))
	require.NoError(t, os.Chmod(path, 0))
	_, err := Open(path)
	require.ErrorIs(t, err, os.ErrPermission)
	assert.EqualError(t, err, `open dump "`+path+`": permission denied`)
}

func TestClose(t *testing.T) {
	t.Parallel()
	path := dumpIn(t, t.TempDir(), "x.npz", append(fieldX(), manifestOf(manifestWith("")), stateEntry(0, 0), metaEntry(2, 3, nil))...)
	f, err := Open(path)
	require.NoError(t, err)
	assert.Equal(t, path, f.Name())
	s, err := f.Frames("x")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, f.Close())
	assert.Equal(t, 1.0, s.Values.Float64(0))
	again, err := f.Frames("x")
	require.NoError(t, err)
	assert.Same(t, s, again)
	_, err = f.Frames(StateField)
	require.ErrorIs(t, err, os.ErrClosed)
	_, err = f.Trace("x")
	require.ErrorIs(t, err, os.ErrClosed)
}

// Opening reads no array but the small ones.
func TestOpenIsLazy(t *testing.T) {
	t.Parallel()
	b := zipBytes(t, npyOf("states_step_000000", "<f8", "(2, 500000)", make([]byte, 8_000_000)), metaEntry(2, 500000, nil))
	f, err := openBytes(b, Options{})
	require.NoError(t, err)
	assert.Less(t, f.arc.budget.used, int64(64<<10))
	_, err = f.Frames(StateField)
	require.NoError(t, err)
	assert.Greater(t, f.arc.budget.used, int64(8_000_000))
}

func TestEmptyNameMeansNoModel(t *testing.T) {
	t.Parallel()
	b := zipBytes(t, stateEntry(0, 0), metaEntry(2, 3, map[string]any{"model_file": "model.mjb"}))
	f, err := NewReader(bytes.NewReader(b), int64(len(b)), "", Options{})
	require.NoError(t, err)
	assert.Nil(t, f.Model())
	assert.Empty(t, f.ModelPath())
	assert.Empty(t, f.Warnings())
}
