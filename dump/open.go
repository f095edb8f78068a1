package dump

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Open opens the dump with the given path. What is wrong with the file as a
// whole is an error; what is wrong with one entry is a warning, and the other
// entries stay usable.
func Open(name string) (*File, error) { return OpenWith(name, Options{}) }

// OpenWith is Open with limits of the caller's.
func OpenWith(name string, o Options) (*File, error) {
	osFile, size, err := openRegular(name)
	if err != nil {
		return nil, &FormatError{File: name, Err: err}
	}
	f, err := NewReader(osFile, size, name, o)
	if err != nil {
		osFile.Close()
		return nil, err
	}
	f.closer = osFile
	return f, nil
}

// openRegular opens a file that is one: a pipe would block, a device may never
// end.
func openRegular(name string) (*os.File, int64, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, 0, pathReason(err)
	}
	if err := regular(info); err != nil {
		return nil, 0, err
	}
	// Should the file have become a pipe since, it does not block.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, pathReason(err)
	}
	if info, err = f.Stat(); err == nil {
		err = regular(info)
	}
	if err != nil {
		f.Close()
		return nil, 0, pathReason(err)
	}
	return f, info.Size(), nil
}

// regular says what a file is that is no regular one.
func regular(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return errors.New("is a folder; a NaN dump (.npz) was expected")
	case mode&fs.ModeNamedPipe != 0:
		return errors.New("is a named pipe; a NaN dump (.npz) was expected")
	}
	return fmt.Errorf("is a special file (%s); a NaN dump (.npz) was expected", info.Mode().Type())
}

// pathReason returns the reason of a path error, whose path is said anyway.
func pathReason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// NewReader opens the dump that r holds. The name stands in messages, and a
// model is looked for beside it; an empty name means no model. The caller keeps
// r open until the last array is read.
func NewReader(r io.ReaderAt, size int64, name string, o Options) (*File, error) {
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	f := &File{
		name: name, fields: map[string]*source{}, traces: map[string]*traced{},
		labels: map[string][]string{}, warned: map[string]bool{},
	}
	arc, warnings, err := newArchive(r, size, newBudget(o.MaxBytes))
	if err != nil {
		return nil, &FormatError{File: name, Err: err}
	}
	f.arc = arc
	f.warn(warnings...)
	if err := f.recognise(); err != nil {
		return nil, err
	}
	f.findModel()
	return f, nil
}
