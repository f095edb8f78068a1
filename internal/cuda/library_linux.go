//go:build linux && (amd64 || arm64)

package cuda

import (
	"os"

	"github.com/ebitengine/purego"
)

// PathVariable names the environment variable that gives another path for the
// driver's library than the name that the system's loader knows it by.
const PathVariable = "NANGUARD_LIBCUDA"

// load opens the driver's library.
func load() (Library, error) {
	path := os.Getenv(PathVariable)
	if path == "" {
		path = "libcuda.so.1"
	}
	return LoadLibrary(path)
}

// LoadLibrary opens a driver's library at a path. It stays open.
func LoadLibrary(path string) (Library, error) {
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, &UnsupportedError{Reason: "there is no CUDA driver", Need: "an NVIDIA driver from 525 on", Err: err}
	}
	return library(h), nil
}

// library is the loader's handle.
type library uintptr

func (l library) Lookup(name string) (uintptr, error) { return purego.Dlsym(uintptr(l), name) }

func (l library) Call(fn uintptr, args []uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}
