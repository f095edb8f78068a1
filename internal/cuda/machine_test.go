package cuda

import (
	"errors"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// machine is a computer with a CUDA driver, as data.
type machine struct {
	version int32
	init    Result
	gpus    []gpu
	missing string // a function that the driver lacks
}

// gpu is a device of a machine.
type gpu struct {
	name         string
	memory       uint64
	sms          int32
	major, minor int32
}

var (
	h200    = gpu{"NVIDIA H200", 143_771 << 20, 132, 9, 0}
	rtx4090 = gpu{"NVIDIA GeForce RTX 4090", 24_564 << 20, 128, 8, 9}
	gtx1080 = gpu{"NVIDIA GeForce GTX 1080", 8_192 << 20, 20, 6, 1}
)

// Lookup gives every function the number of its symbol, plus one.
func (m *machine) Lookup(name string) (uintptr, error) {
	if name == m.missing {
		return 0, errors.New("undefined symbol: " + name)
	}
	return uintptr(slices.Index(symbols[:], name) + 1), nil
}

// Call answers what a driver is asked before anything is done with it.
func (m *machine) Call(fn uintptr, args []uintptr) uintptr {
	switch symbol(fn - 1) {
	case symInit:
		return uintptr(m.init)
	case symDriverGetVersion:
		*pointer[int32](args, 0) = m.version
	case symDeviceGetCount:
		*pointer[int32](args, 0) = int32(len(m.gpus))
	case symDeviceGet:
		*pointer[int32](args, 0) = int32(args[1])
	case symDeviceGetName:
		copy(unsafe.Slice(pointer[byte](args, 0), args[1]), m.gpus[args[2]].name+"\x00")
	case symDeviceTotalMem:
		*pointer[uint64](args, 0) = m.gpus[args[1]].memory
	case symDeviceGetAttribute:
		*pointer[int32](args, 0) = m.gpus[args[2]].attribute(attribute(args[1]))
	case symPrimaryCtxRetain:
		*pointer[uintptr](args, 0) = 1000 + args[1]
	default:
		return 999
	}
	return 0
}

// attribute returns a number that describes the device.
func (g gpu) attribute(a attribute) int32 {
	return map[attribute]int32{attrMaxPitch: 1<<31 - 1, attrMultiprocessors: g.sms, attrMajor: g.major, attrMinor: g.minor}[a]
}

// pointer returns an argument that is an address.
func pointer[T any](args []uintptr, i int) *T {
	return (*T)(*(*unsafe.Pointer)(unsafe.Pointer(&args[i])))
}

func TestOpen(t *testing.T) {
	for _, c := range []struct {
		name string
		m    machine
		want string // of the error; "" for none
	}{
		{"new", machine{version: 13000, gpus: []gpu{h200}}, ""},
		{"just new enough", machine{version: 12000}, ""},
		{
			"old",
			machine{version: 11080},
			"CUDA cannot be used here: the driver supports CUDA up to 11.8, needed is an NVIDIA driver from 525 on (CUDA 12.0)",
		},
		{
			"very old",
			machine{version: 10010, missing: "cuStreamBeginCapture_v2"},
			"CUDA cannot be used here: the driver has no cuStreamBeginCapture_v2, needed is an NVIDIA driver from 525 on (CUDA 12.0): " +
				"undefined symbol: cuStreamBeginCapture_v2",
		},
		{
			"no GPU",
			machine{version: 12040, init: NoDevice},
			"CUDA cannot be used here: there is no NVIDIA GPU, or none is visible to this process: cuInit: no device (100)",
		},
		{
			"module not loaded",
			machine{version: 12040, init: 803},
			"CUDA cannot be used here: the driver does not start: cuInit: driver and library do not match (803)",
		},
	} {
		d, err := OpenOn(&c.m)
		if c.want == "" {
			require.NoError(t, err, c.name)
			assert.EqualValues(t, c.m.version, d.Version())
			continue
		}
		require.EqualError(t, err, c.want, c.name)
		require.ErrorIs(t, err, ErrUnsupported)
		_, ok := errors.AsType[*UnsupportedError](err)
		require.True(t, ok)
	}
}

func TestEveryFunctionIsLookedUp(t *testing.T) {
	for _, name := range symbols {
		require.NotEmpty(t, name)
		_, err := OpenOn(&machine{version: 12000, missing: name})
		require.ErrorContains(t, err, "the driver has no "+name)
	}
}

func TestDevices(t *testing.T) {
	d, err := OpenOn(&machine{version: 12040, gpus: []gpu{h200, rtx4090, gtx1080}})
	require.NoError(t, err)
	n, err := d.Devices()
	require.NoError(t, err)
	require.Equal(t, 3, n)
	dev, err := d.Device(1)
	require.NoError(t, err)
	want := Device{
		Ordinal: 1, Name: "NVIDIA GeForce RTX 4090", Memory: 24_564 << 20, Multiprocessors: 128,
		Major: 8, Minor: 9, MaxPitch: 1<<31 - 1, handle: 1,
	}
	require.Equal(t, want, dev)

	_, err = d.Primary(2)
	require.EqualError(t, err, "CUDA cannot be used here: GPU 2 (NVIDIA GeForce GTX 1080) has compute capability 6.1, needed is 7.0 (Volta) or newer")
	require.ErrorIs(t, err, ErrUnsupported)
	for _, i := range []int{-1, 3} {
		_, err = d.Primary(i)
		require.ErrorIs(t, err, ErrUnsupported)
	}
	require.EqualError(t, err, "CUDA cannot be used here: there is no GPU 3: this process sees 3")
	c, err := d.Primary(0)
	require.NoError(t, err)
	require.EqualValues(t, 1000, c.handle)
}

func TestLibraryThatIsNotThere(t *testing.T) {
	_, err := LoadLibrary("/nonexistent/libcuda.so.1")
	require.ErrorIs(t, err, ErrUnsupported)
	u, ok := errors.AsType[*UnsupportedError](err)
	require.True(t, ok)
	require.NotEmpty(t, u.Reason)
	require.NotEmpty(t, u.Need)
}

func TestResults(t *testing.T) {
	for r, text := range texts {
		assert.Equal(t, text, r.String())
	}
	assert.Equal(t, "error 12345 of the CUDA driver", Result(12345).String())
	assert.Equal(t, "12.4", Version(12040).String())

	lost := &Error{Call: "cuLaunchKernel", Result: IllegalAddress}
	assert.EqualError(t, lost, "cuLaunchKernel: a kernel used an illegal address (700)")
	assert.ErrorIs(t, lost, ErrContextLost)
	for r := range Result(1000) {
		lost := false
		switch r {
		case 3, 4, 201, 214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721:
			lost = true
		}
		assert.Equal(t, lost, errors.Is(&Error{Result: r}, ErrContextLost), "%d", r)
	}
	assert.Equal(t, OutOfMemory, ResultOf(errors.Join(errors.New("x"), &Error{Result: OutOfMemory})))
	assert.Equal(t, Success, ResultOf(errors.New("x")))
	assert.Equal(t, Success, ResultOf(nil))
}
