package cudatest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/nanguard/nanguard/internal/cuda"
)

// Host returns a driver that plays a GPU on the host. The test is skipped when
// there is no C++ compiler or no source to compile.
func Host(t testing.TB) *cuda.Driver {
	t.Helper()
	d, err := cuda.OpenOn(HostLibrary(t))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// HostPath returns the path of the library behind Host, which processes find that
// have it in $NANGUARD_LIBCUDA.
func HostPath() (string, error) { return build() }

// HostLibrary returns the library behind Host.
func HostLibrary(t testing.TB) cuda.Library {
	t.Helper()
	path, err := HostPath()
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	lib, err := cuda.LoadLibrary(path)
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

// The folders of the sources, from the project's own.
const (
	driverFolder = "internal/cuda/cudatest/fake"
	kernelFolder = "detect/scan/kernel"
)

// build compiles the library, once per process, and returns its path. It is
// kept in the folder for temporary files under a name that changes with the
// sources.
var build = sync.OnceValues(func() (string, error) {
	root, err := projectRoot()
	if err != nil {
		return "", err
	}
	sum, err := hashFiles(
		filepath.Join(root, driverFolder, "driver.cc"),
		filepath.Join(root, kernelFolder, "scan.cu"),
		filepath.Join(root, kernelFolder, "host.h"))
	if err != nil {
		return "", fmt.Errorf("no source of the fake CUDA driver: %w", err)
	}
	path := filepath.Join(os.TempDir(), "nanguard-fakecuda-"+sum+".so")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	return path, compile(root, path)
})

// compile makes the library appear at path, whole or not at all.
func compile(root, path string) error {
	tmp := fmt.Sprintf("%s.%d", path, os.Getpid())
	cmd := exec.Command("c++", "-std=c++17", "-O2", "-shared", "-fPIC", "-DNG_HOST", "-ffp-contract=off",
		"-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas",
		"-I", filepath.Join(root, kernelFolder), "-o", tmp, filepath.Join(root, driverFolder, "driver.cc"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("compile the fake CUDA driver: %w\n%s", err, out)
	}
	return os.Rename(tmp, path)
}

// hashFiles returns a short name for what the files hold.
func hashFiles(names ...string) (string, error) {
	h := sha256.New()
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			return "", err
		}
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// projectRoot returns the folder of go.mod, the working directory's or one
// above.
func projectRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no source of the fake CUDA driver above the working directory: %w", fs.ErrNotExist)
		}
		dir = up
	}
}
