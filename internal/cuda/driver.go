package cuda

import (
	"fmt"
	"sync"
)

// MinVersion is the oldest driver that can load this module's kernels, as the
// driver counts: CUDA 12.0.
const MinVersion = 12000

// needDriver is what an UnsupportedError asks for.
const needDriver = "an NVIDIA driver from 525 on (CUDA 12.0)"

// Driver is the loaded and initialized driver.
type Driver struct {
	lib     Library
	fn      [numSymbols]uintptr
	version int
}

// open is Open's answer, which does not change while a process lives.
var open = sync.OnceValues(func() (*Driver, error) {
	lib, err := load()
	if err != nil {
		return nil, err
	}
	return OpenOn(lib)
})

// Open loads the driver. Its error matches ErrUnsupported when this machine
// cannot use CUDA.
func Open() (*Driver, error) { return open() }

// OpenOn is Open for a library that the caller loaded.
func OpenOn(lib Library) (*Driver, error) {
	d := &Driver{lib: lib}
	for s, name := range symbols {
		fn, err := lib.Lookup(name)
		if err != nil {
			return nil, &UnsupportedError{Reason: "the driver has no " + name, Need: needDriver, Err: err}
		}
		d.fn[s] = fn
	}
	if err := d.init(); err != nil {
		return nil, &UnsupportedError{Reason: initReason(ResultOf(err)), Err: err}
	}
	var v int32
	if err := d.driverVersion(&v); err != nil {
		return nil, err
	}
	d.version = int(v)
	if d.version < MinVersion {
		return nil, &UnsupportedError{Reason: fmt.Sprintf("the driver supports CUDA up to %s", Version(d.version)), Need: needDriver}
	}
	return d, nil
}

// initReason says why cuInit did not succeed.
func initReason(r Result) string {
	if r == NoDevice {
		return "there is no NVIDIA GPU, or none is visible to this process"
	}
	return "the driver does not start"
}

// Version is a version of CUDA as the driver counts: 1000 times the major
// number plus 10 times the minor.
type Version int

// String returns the version as people write it, such as "12.4".
func (v Version) String() string { return fmt.Sprintf("%d.%d", int(v)/1000, int(v)%1000/10) }

// Version returns the newest CUDA that the driver supports.
func (d *Driver) Version() Version { return Version(d.version) }

// Devices returns how many GPUs this process sees.
func (d *Driver) Devices() (int, error) {
	var n int32
	err := d.deviceCount(&n)
	return int(n), err
}
