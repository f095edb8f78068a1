//go:build !linux || !(amd64 || arm64)

package cuda

import "runtime"

// load says that this build has no CUDA.
func load() (Library, error) { return LoadLibrary("") }

// LoadLibrary says that this build has no CUDA.
func LoadLibrary(string) (Library, error) {
	return nil, &UnsupportedError{
		Reason: "this build is for " + runtime.GOOS + "/" + runtime.GOARCH,
		Need:   "Linux on amd64 or arm64",
	}
}
