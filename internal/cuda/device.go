package cuda

import (
	"bytes"
	"fmt"
)

// attribute is a number that cuDeviceGetAttribute knows.
type attribute int32

const (
	attrMaxPitch        attribute = 11
	attrMultiprocessors attribute = 16
	attrMajor           attribute = 75
	attrMinor           attribute = 76
)

// Device describes a GPU.
type Device struct {
	Ordinal         int    // as this process counts
	Name            string // such as "NVIDIA H200"
	Memory          int64  // bytes
	Multiprocessors int
	Major, Minor    int // compute capability
	MaxPitch        int // bytes between rows in a two-dimensional copy

	handle int32
}

// minMajor is the oldest compute capability that the kernels are made for.
const minMajor = 7

// Device describes the i-th GPU. Its error matches ErrUnsupported when there
// is none of that number or when it is too old.
func (d *Driver) Device(i int) (Device, error) {
	n, err := d.Devices()
	if err != nil {
		return Device{}, err
	}
	if i < 0 || i >= n {
		return Device{}, &UnsupportedError{Reason: fmt.Sprintf("there is no GPU %d: this process sees %d", i, n)}
	}
	dev := Device{Ordinal: i}
	if err := d.describe(&dev); err != nil {
		return Device{}, err
	}
	if dev.Major < minMajor {
		return dev, &UnsupportedError{
			Reason: fmt.Sprintf("GPU %d (%s) has compute capability %d.%d", i, dev.Name, dev.Major, dev.Minor),
			Need:   "7.0 (Volta) or newer",
		}
	}
	return dev, nil
}

// describe fills in what the driver says of the device.
func (d *Driver) describe(dev *Device) error {
	if err := d.device(&dev.handle, dev.Ordinal); err != nil {
		return err
	}
	name := make([]byte, 256)
	if err := d.deviceName(name, dev.handle); err != nil {
		return err
	}
	before, _, _ := bytes.Cut(name, []byte{0})
	dev.Name = string(before)
	var mem uint64
	if err := d.deviceMemory(&mem, dev.handle); err != nil {
		return err
	}
	dev.Memory = int64(mem)
	for _, a := range []struct {
		is  attribute
		out *int
	}{
		{attrMaxPitch, &dev.MaxPitch},
		{attrMultiprocessors, &dev.Multiprocessors},
		{attrMajor, &dev.Major},
		{attrMinor, &dev.Minor},
	} {
		var v int32
		if err := d.deviceAttribute(&v, a.is, dev.handle); err != nil {
			return err
		}
		*a.out = int(v)
	}
	return nil
}
