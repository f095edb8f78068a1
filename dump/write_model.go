package dump

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// placeModel copies the model of d into dir, points model_latest at it and
// returns the bare name of the copy, "" when d has no model. A copy of the same
// content that lies there under one of the names is used again: the models of a
// run are large and its dumps may be many.
func placeModel(dir string, d *Draft) (name string, err error) {
	if d.Model == "" {
		return "", nil
	}
	name, err = copyModel(dir, d)
	if err == nil {
		err = relink(dir, "model_latest"+filepath.Ext(d.Model), name)
	}
	if err != nil {
		err = fmt.Errorf("model %q: %w", d.Model, err)
	}
	return name, err
}

func copyModel(dir string, d *Draft) (string, error) {
	src, err := os.Open(d.Model)
	if err != nil {
		return "", err
	}
	defer src.Close()
	if st, err := src.Stat(); err != nil || !st.Mode().IsRegular() {
		return "", errors.Join(err, fmt.Errorf("is a %v, want a regular file", st.Mode().Type()))
	}
	names := d.names("model", filepath.Ext(d.Model))
	for n := range maxNames {
		path := filepath.Join(dir, names(n))
		if _, err := os.Lstat(path); err != nil {
			break
		}
		if same, err := sameContent(d.Model, path); err == nil && same {
			return names(n), nil
		}
	}
	path, err := place(dir, names, func(w io.Writer) error {
		_, err := io.Copy(w, src)
		return err
	})
	return filepath.Base(path), err
}

// sameContent reports whether two files hold the same bytes.
func sameContent(a, b string) (bool, error) {
	fa, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer fa.Close()
	fb, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer fb.Close()
	sa, errA := fa.Stat()
	sb, errB := fb.Stat()
	if err := errors.Join(errA, errB); err != nil || sa.Size() != sb.Size() {
		return false, err
	}
	return sameBytes(fa, fb)
}

func sameBytes(a, b io.Reader) (bool, error) {
	const chunk = 1 << 16
	ra, rb := bufio.NewReaderSize(a, chunk), bufio.NewReaderSize(b, chunk)
	for {
		pa, errA := ra.Peek(chunk)
		pb, errB := rb.Peek(chunk)
		if !bytes.Equal(pa, pb) {
			return false, nil
		}
		if errA == io.EOF && errB == io.EOF {
			return true, nil
		}
		if err := errors.Join(errA, errB); err != nil {
			return false, err
		}
		ra.Discard(len(pa))
		rb.Discard(len(pb))
	}
}
