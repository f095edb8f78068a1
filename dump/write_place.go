package dump

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// maxNames bounds the search for a free name.
const maxNames = 10_000

// names returns the function that makes the n-th candidate for a file name. The
// first of a run of one rank is mjlab's; others say the rank and a number.
func (d *Draft) names(stem, ext string) func(n int) string {
	return func(n int) string {
		if n == 0 && d.Manifest.Run.WorldSize <= 1 {
			return stem + "_" + d.Meta.Timestamp + ext
		}
		return fmt.Sprintf("%s_%s_rank%d_%03d%s", stem, d.Meta.Timestamp, d.Manifest.Run.Rank, n, ext)
	}
}

// place writes a new file in dir under the first of the names that is free and
// returns its path. Until it is complete and on disk the file has a temporary
// name; on any error nothing is left of it.
func place(dir string, name func(n int) string, write func(io.Writer) error) (path string, err error) {
	temp, err := writeTemp(dir, write)
	if err != nil {
		return "", fmt.Errorf("write %q: %w", name(0), err)
	}
	defer os.Remove(temp)
	for n := range maxNames {
		path = filepath.Join(dir, name(n))
		if err = claim(temp, path); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", err
	}
	return path, nil
}

// claim gives the finished file temp the name path, or fails with an error that
// matches fs.ErrExist when some file has it. A hard link does that in one step;
// where the file system has none, the name is reserved with an empty file
// first.
func claim(temp, path string) error {
	err := os.Link(temp, path)
	if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = errors.Join(f.Close(), os.Rename(temp, path))
	if err != nil {
		os.Remove(path)
	}
	return err
}

// writeTemp writes a file under a temporary name in dir, syncs it and returns
// its path. A file that could not be written whole is removed, also when write
// panics.
func writeTemp(dir string, write func(io.Writer) error) (string, error) {
	temp := tempName(dir)
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", err
	}
	whole := false
	defer func() {
		if !whole {
			f.Close()
			os.Remove(temp)
		}
	}()
	if err := write(f); err != nil {
		return "", err
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	whole = true
	return temp, nil
}

// tempName returns a name in dir that nobody has. It begins with a dot, so that
// no pattern for dumps matches it.
func tempName(dir string) string {
	return filepath.Join(dir, fmt.Sprintf(".nanguard-%016x.tmp", rand.Uint64()))
}

// relink makes the symlink dir/name point to target, which is in dir, in one
// step.
func relink(dir, name, target string) error {
	temp := tempName(dir)
	if err := os.Symlink(target, temp); err != nil {
		return fmt.Errorf("link %q: %w", name, err)
	}
	if err := os.Rename(temp, filepath.Join(dir, name)); err != nil {
		os.Remove(temp)
		return fmt.Errorf("link %q: %w", name, err)
	}
	return nil
}

// syncDir makes the names in dir durable. A file system that cannot sync a
// folder is no reason to call the dump unwritten.
func syncDir(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		f.Close()
	}
}
