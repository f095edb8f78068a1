package mjb

import (
	"fmt"
	"io"
	"os"
)

// Open reads the binary model file with the given path. Folders, pipes and
// devices are refused.
func Open(name string) (*Model, error) {
	// Opening a named pipe would wait for its writer: look before.
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("open model: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open model %q: %s, want a regular file", name, info.Mode().Type())
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open model: %w", err)
	}
	defer f.Close()
	return NewReader(f, info.Size(), name)
}

// NewReader reads the binary model of size bytes that r holds; name stands in
// messages. The errors wrap ErrNotModel or are a *LayoutError, but for those of
// r. Only the header, the names and some small arrays are read, by offset, and r
// is not kept.
func NewReader(r io.ReaderAt, size int64, name string) (*Model, error) {
	h, err := readHeader(r, size, name)
	if err != nil {
		return nil, err
	}
	id, err := h.identify(size)
	if err != nil {
		return nil, &LayoutError{File: name, Version: h.text(), Reason: err.Error(), Partial: h.partial()}
	}
	f := &file{r: r, layout: id.layout}
	m := f.model()
	if f.ioErr != nil {
		return nil, fmt.Errorf("model %q: %w", name, f.ioErr)
	}
	if f.err != nil {
		return nil, &LayoutError{File: name, Version: id.text, Reason: "damaged: " + f.err.Error(), Partial: h.partial()}
	}
	m.Version, m.version = id.text, id.version
	if id.warning != nil {
		m.Warnings = append(m.Warnings, id.warning)
	}
	return m, nil
}
