package cuda

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

// Module is code loaded into a context.
type Module struct {
	c      *Context
	handle uintptr
}

// Function is a kernel of a module.
type Function uintptr

// The options of the compiler in the driver that Load uses.
const (
	jitErrorLog     = 5
	jitErrorLogSize = 6
)

// Load compiles PTX for the device and loads it. What the driver's compiler
// says against it is in the error. The driver keeps compiled code in a cache
// of its own, so that only the first program on a machine waits for it.
func (c *Context) Load(ptx string) (*Module, error) {
	text := append([]byte(ptx), 0)
	log := make([]byte, 4096)
	m := &Module{c: c}
	var pin runtime.Pinner
	pin.Pin(&log[0])
	defer pin.Unpin()
	options := []int32{jitErrorLog, jitErrorLogSize}
	values := []uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	err := c.do(func() error { return c.d.loadModule(&m.handle, text, options, values) })
	if err == nil {
		return m, nil
	}
	said, _, _ := bytes.Cut(log, []byte{0})
	err = fmt.Errorf("load kernels on GPU %d (%s): %w", c.Device.Ordinal, c.Device.Name, err)
	if s := strings.TrimSpace(string(said)); s != "" {
		err = fmt.Errorf("%w: %s", err, s)
	}
	return nil, err
}

// Function returns the kernel of that name.
func (m *Module) Function(name string) (Function, error) {
	var f uintptr
	err := m.c.do(func() error { return m.c.d.function(&f, m.handle, append([]byte(name), 0)) })
	if err != nil {
		return 0, fmt.Errorf("kernel %q: %w", name, err)
	}
	return Function(f), nil
}

// Unload takes the code out of the context. Its functions are of no use then.
func (m *Module) Unload() error {
	return m.c.do(func() error { return m.c.d.unloadModule(m.handle) })
}
