package dump

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// signatures are the first bytes of files that are taken for dumps.
var signatures = []struct{ magic, what string }{
	{"PK\x03\x04", "is a zip that was cut short or damaged: the directory at its end is missing or unreadable"},
	{"PK\x05\x06", "is a zip whose directory is damaged"},
	{"\x93NUMPY", "is a single .npy array, not an .npz of named arrays"},
	{"\x1f\x8b", "is gzip-compressed; unpack it first"},
	{"(\xb5/\xfd", "is zstd-compressed; unpack it first"},
	{"\x89HDF\r\n", "is an HDF5 file"},
	{"version https://git-lfs", "is a Git LFS pointer; fetch the file itself first"},
	{"\x80\x02", "is a pickle, which is not read"},
	{"\x80\x03", "is a pickle, which is not read"},
	{"\x80\x04", "is a pickle, which is not read"},
}

// notZip says what a file that is no zip is instead.
func notZip(r io.ReaderAt, size int64, cause error) error {
	head := make([]byte, min(size, 512))
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	head = head[:n]
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.magic)) {
			return fmt.Errorf("%s; a NaN dump (.npz) was expected", s.what)
		}
	}
	if name, ok := linkText(head, size); ok {
		return fmt.Errorf("holds only the text %s: a link that was copied as a file; open that one", quote(name))
	}
	if printable(head) {
		return errors.New("is text; a NaN dump (.npz) was expected")
	}
	return fmt.Errorf("is no zip; a NaN dump (.npz) was expected (%w)", cause)
}

// linkText returns the name that a symbolic link became when a tool without
// links copied it: "nan_dump_latest.npz" is one.
func linkText(head []byte, size int64) (string, bool) {
	s := strings.TrimSpace(string(head))
	return s, size <= 255 && strings.HasSuffix(s, ".npz") && !strings.ContainsAny(s, " \t\r\n") && printable(head)
}

// printable reports whether b is ASCII text.
func printable(b []byte) bool {
	for _, c := range b {
		if (c < ' ' || c > '~') && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
	}
	return true
}
