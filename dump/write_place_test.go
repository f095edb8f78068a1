package dump

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// names returns what lies in a folder, sorted.
func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestFileNames(t *testing.T) {
	t.Parallel()
	const stamp = "20260102_030405"
	for _, c := range []struct {
		name        string
		rank, world int
		want        []string
	}{
		{"one rank", 0, 0, []string{"nan_dump_" + stamp + ".npz", "nan_dump_" + stamp + "_rank0_001.npz", "nan_dump_" + stamp + "_rank0_002.npz"}},
		{"world of one", 0, 1, []string{"nan_dump_" + stamp + ".npz", "nan_dump_" + stamp + "_rank0_001.npz"}},
		{"ranks", 3, 8, []string{"nan_dump_" + stamp + "_rank3_000.npz", "nan_dump_" + stamp + "_rank3_001.npz"}},
	} {
		dir := t.TempDir()
		d := sampleDraft()
		d.Manifest.Run.Rank, d.Manifest.Run.WorldSize = c.rank, c.world
		for _, want := range c.want {
			path, err := WriteFile(dir, d)
			require.NoError(t, err, c.name)
			assert.Equal(t, filepath.Join(dir, want), path, c.name)
			target, err := os.Readlink(filepath.Join(dir, "nan_dump_latest.npz"))
			require.NoError(t, err, c.name)
			assert.Equal(t, want, target, c.name)
		}
		assert.Len(t, namesIn(t, dir), len(c.want)+1, c.name) // and no temporary file
	}
}

// Dumps that are written at the same time never overwrite each other.
func TestConcurrentWritersGetTheirOwnNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const writers = 12
	paths := make([]string, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			d := sampleDraft()
			d.Meta.Note = strings.Repeat("x", i)
			var err error
			paths[i], err = WriteFile(dir, d)
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	slices.Sort(paths)
	assert.Len(t, slices.Compact(paths), writers)
	assert.Len(t, namesIn(t, dir), writers+1)
}

func TestLatestLinkReplacesAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	latest := filepath.Join(dir, "nan_dump_latest.npz")
	require.NoError(t, os.WriteFile(latest, []byte("a copy, as one version of mjlab made"), 0o644))
	path, err := WriteFile(dir, sampleDraft())
	require.NoError(t, err)
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	got, err := os.ReadFile(latest)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

// A link that cannot be made does not cost the dump.
func TestLatestLinkInTheWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "nan_dump_latest.npz", "sub"), 0o755))
	path, err := WriteFile(dir, sampleDraft())
	require.ErrorContains(t, err, `link "nan_dump_latest.npz"`)
	assert.FileExists(t, path)
	assert.Len(t, namesIn(t, dir), 2)
}

func TestWriteFileIntoAPlaceThatIsNoFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	path, err := WriteFile(file, sampleDraft())
	require.ErrorContains(t, err, `write dump into "`+file+`"`)
	require.ErrorIs(t, err, syscall.ENOTDIR)
	assert.Empty(t, path)
}

func TestWriteFileIntoAFolderWithoutPermission(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may write anywhere")
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o555))
	_, err := WriteFile(dir, sampleDraft())
	require.ErrorIs(t, err, os.ErrPermission)
}

// A full disk, a crash in the writer or a folder that goes away leaves nothing.
func TestPlaceLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	name := func(int) string { return "x.npz" }
	t.Run("disk full", func(t *testing.T) {
		dir := t.TempDir()
		_, err := place(dir, name, func(w io.Writer) error {
			_, err := w.Write(make([]byte, 1000))
			return errors.Join(err, syscall.ENOSPC)
		})
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.ErrorContains(t, err, `write "x.npz"`)
		assert.Empty(t, namesIn(t, dir))
	})
	t.Run("panic", func(t *testing.T) {
		dir := t.TempDir()
		assert.Panics(t, func() { place(dir, name, func(io.Writer) error { panic("bug") }) })
		assert.Empty(t, namesIn(t, dir))
	})
	t.Run("folder removed", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "gone")
		require.NoError(t, os.Mkdir(dir, 0o755))
		_, err := place(dir, name, func(w io.Writer) error { return os.RemoveAll(dir) })
		require.ErrorIs(t, err, os.ErrNotExist)
	})
	t.Run("nothing free", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "x.npz"), []byte("old"), 0o644))
		_, err := place(dir, name, func(w io.Writer) error { return nil })
		require.ErrorIs(t, err, os.ErrExist)
		old, err := os.ReadFile(filepath.Join(dir, "x.npz"))
		require.NoError(t, err)
		assert.Equal(t, "old", string(old))
		assert.Len(t, namesIn(t, dir), 1)
	})
}

// An error of the disk in the middle of the zip is the error of the dump,
// whichever byte it strikes.
func TestPackerReportsWriteErrors(t *testing.T) {
	t.Parallel()
	d := sampleDraft()
	p, err := newPacker(d, d.manifest(), "")
	require.NoError(t, err)
	whole := &limitedWriter{left: 1 << 20}
	require.NoError(t, p.writeTo(whole))
	for n := 0; n < 1<<20-whole.left; n += 97 {
		require.ErrorIs(t, p.writeTo(&limitedWriter{left: n}), syscall.ENOSPC, "after %d bytes", n)
	}
}

// limitedWriter is a disk with a number of bytes left.
type limitedWriter struct{ left int }

func (w *limitedWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		return 0, syscall.ENOSPC
	}
	w.left -= len(p)
	return len(p), nil
}

func TestModelIsCopiedBeside(t *testing.T) {
	t.Parallel()
	dir, src := t.TempDir(), filepath.Join(t.TempDir(), "robot.mjb")
	content := []byte(strings.Repeat("model", 50_000))
	require.NoError(t, os.WriteFile(src, content, 0o644))
	d := sampleDraft()
	d.Model = src
	for range 2 { // the second dump uses the copy of the first
		path, err := WriteFile(dir, d)
		require.NoError(t, err)
		assert.Contains(t, string(metadataOf(t, path)), "model_20260102_030405.mjb")
	}
	got, err := os.ReadFile(filepath.Join(dir, "model_latest.mjb"))
	require.NoError(t, err)
	assert.Equal(t, content, got)
	assert.Len(t, namesIn(t, dir), 5) // two dumps, one model, two links

	content[len(content)-1]++ // another model of the same size
	require.NoError(t, os.WriteFile(src, content, 0o644))
	path, err := WriteFile(dir, d)
	require.NoError(t, err)
	assert.Contains(t, string(metadataOf(t, path)), "model_20260102_030405_rank0_001.mjb")
}

// The extension of the model is kept: an MJCF stays an MJCF.
func TestModelKeepsItsExtension(t *testing.T) {
	t.Parallel()
	dir, src := t.TempDir(), filepath.Join(t.TempDir(), "robot.xml")
	require.NoError(t, os.WriteFile(src, []byte("<mujoco/>"), 0o644))
	d := sampleDraft()
	d.Model = src
	_, err := WriteFile(dir, d)
	require.NoError(t, err)
	assert.FileExists(t, filepath.Join(dir, "model_20260102_030405.xml"))
	assert.FileExists(t, filepath.Join(dir, "model_latest.xml"))
}

// A model that cannot be copied does not cost the dump, and the dump says so.
func TestModelThatCannotBeCopied(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{"missing": "/nonexistent/robot.mjb", "folder": t.TempDir()} {
		dir, d := t.TempDir(), sampleDraft()
		d.Model = src
		path, err := WriteFile(dir, d)
		require.ErrorContains(t, err, "model ", name)
		require.FileExists(t, path, name)
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		doc := string(find(t, readZip(t, raw), "_nanguard").data)
		assert.Contains(t, doc, `{"tick":5,"kind":"warning","detail":"model \"`+src, name)
		assert.Equal(t, []string{filepath.Base(path), "nan_dump_latest.npz"}, namesIn(t, dir), name)
	}
}

// metadataOf returns the pickle of a dump.
func metadataOf(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	return find(t, readZip(t, raw), "_metadata").data
}
