package cuda

import (
	"errors"
	"os"
	"runtime"
	"unsafe"
)

// Ptr is an address in the memory of a device. Zero is no address.
type Ptr uintptr

// Alloc returns n bytes of the device's memory, which Free gives back. What
// they hold is not defined.
func (c *Context) Alloc(n int) (p Ptr, err error) {
	err = c.do(func() error { return c.d.alloc(&p, n) })
	return p, err
}

// Free gives back what Alloc returned. It waits for the work that uses it.
func (c *Context) Free(p Ptr) error { return c.do(func() error { return c.d.free(p) }) }

// Memset enqueues the setting of n bytes.
func (c *Context) Memset(s Stream, p Ptr, v byte, n int) error {
	return c.do(func() error { return c.d.memset(p, v, n, s) })
}

// Upload copies src to the device and waits until it is there.
func (c *Context) Upload(s Stream, dst Ptr, src []byte) error {
	defer runtime.KeepAlive(src)
	return c.do(func() error {
		if err := c.d.copyToDevice(dst, unsafe.Pointer(unsafe.SliceData(src)), len(src), s); err != nil {
			return err
		}
		return c.d.synchronizeStream(s)
	})
}

// Download fills dst from the device and waits until it is here.
func (c *Context) Download(s Stream, dst []byte, src Ptr) error {
	defer runtime.KeepAlive(dst)
	return c.do(func() error {
		if err := c.d.copyToHost(unsafe.Pointer(unsafe.SliceData(dst)), src, len(dst), s); err != nil {
			return err
		}
		return c.d.synchronizeStream(s)
	})
}

// copy2D is CUDA_MEMCPY2D.
type copy2D struct {
	srcX, srcY  uint64
	srcKind     uint32
	_           uint32
	srcHost     unsafe.Pointer
	srcDevice   Ptr
	srcArray    uintptr
	srcPitch    uint64
	dstX, dstY  uint64
	dstKind     uint32
	_           uint32
	dstHost     unsafe.Pointer
	dstDevice   Ptr
	dstArray    uintptr
	dstPitch    uint64
	width, rows uint64
}

// The kinds of memory that the driver knows.
const (
	memoryHost   = 1
	memoryDevice = 2
)

// Rows describes N rows of Width bytes, so many bytes apart at each end.
type Rows struct{ N, Width, DstPitch, SrcPitch int }

// DownloadRows enqueues the copying of rows to dst. They are there once the
// stream is synchronized, and until then the caller keeps dst.
func (c *Context) DownloadRows(s Stream, dst []byte, src Ptr, r Rows) error {
	_ = dst[(r.N-1)*r.DstPitch+r.Width-1]
	if r.N == 1 || max(r.SrcPitch, r.DstPitch) > c.Device.MaxPitch {
		return c.downloadEach(s, dst, src, r)
	}
	cp := &copy2D{
		srcKind: memoryDevice, srcDevice: src, srcPitch: uint64(r.SrcPitch),
		dstKind: memoryHost, dstHost: unsafe.Pointer(unsafe.SliceData(dst)), dstPitch: uint64(r.DstPitch),
		width: uint64(r.Width), rows: uint64(r.N),
	}
	return c.do(func() error { return c.d.copy2D(cp, s) })
}

// downloadEach is DownloadRows for rows too far apart for one copy.
func (c *Context) downloadEach(s Stream, dst []byte, src Ptr, r Rows) error {
	return c.do(func() error {
		for i := range r.N {
			to := unsafe.Pointer(&dst[i*r.DstPitch])
			if err := c.d.copyToHost(to, src+Ptr(i*r.SrcPitch), r.Width, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// Shared is memory of the host that the device can read and write as well. It
// is Go's own, so that it can be read even when the context is gone.
type Shared struct {
	Base   unsafe.Pointer
	Device Ptr // its address for kernels

	keep []byte
}

// registerMapped asks for memory that kernels can use.
const registerMapped = 2

// Share returns n zero bytes that host and device share until Unshare.
func (c *Context) Share(n int) (Shared, error) {
	page := os.Getpagesize()
	size := (n + page - 1) / page * page
	s := Shared{keep: make([]byte, size+page)} // pages that hold nothing else
	at := -int(uintptr(unsafe.Pointer(&s.keep[0]))) & (page - 1)
	s.Base = unsafe.Pointer(&s.keep[at])
	if err := c.do(func() error { return c.register(&s, size) }); err != nil {
		return Shared{}, err
	}
	return s, nil
}

// register gives the device the memory. Memory that stayed registered without
// being of use would be written to by nobody, and refused when it comes again.
func (c *Context) register(s *Shared, size int) error {
	if err := c.d.hostRegister(s.Base, size, registerMapped); err != nil {
		return err
	}
	if err := c.d.hostDevicePointer(&s.Device, s.Base); err != nil {
		return errors.Join(err, c.d.hostUnregister(s.Base))
	}
	return nil
}

// Unshare takes the memory away from the device; the host keeps it.
func (c *Context) Unshare(s Shared) error {
	return c.do(func() error { return c.d.hostUnregister(s.Base) })
}
