package dump

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// npyEntry is an entry as a reader sees it that knows nothing of this package.
type npyEntry struct {
	name, descr string
	shape       []int
	data        []byte
}

var headerForm = regexp.MustCompile(`^\{'descr': '([^']+)', 'fortran_order': False, 'shape': \(([0-9, ]*)\), \} *\n$`)

// readZip returns the entries of an npz in the order of the file.
func readZip(t *testing.T, raw []byte) []npyEntry {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	var entries []npyEntry
	for _, f := range z.File {
		r, err := f.Open()
		require.NoError(t, err)
		b, err := io.ReadAll(r) // checks the CRC
		require.NoError(t, err)
		require.True(t, f.Modified.Equal(zipEpoch), f.Name)
		entries = append(entries, readNpy(t, f.Name, b))
	}
	return entries
}

// readNpy takes an npy file apart and checks that its header is as numpy would
// write it.
func readNpy(t *testing.T, name string, b []byte) npyEntry {
	t.Helper()
	require.True(t, bytes.HasPrefix(b, []byte("\x93NUMPY\x01\x00")), name)
	end := 10 + int(binary.LittleEndian.Uint16(b[8:]))
	require.Zero(t, end%64, "%s: data starts at %d", name, end)
	m := headerForm.FindStringSubmatch(string(b[10:end]))
	require.NotNil(t, m, "%s: header %q", name, b[10:end])
	e := npyEntry{name: strings.TrimSuffix(name, ".npy"), descr: m[1], data: b[end:]}
	for _, s := range strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(s)
		require.NoError(t, err)
		e.shape = append(e.shape, n)
	}
	return e
}

// find returns the entry with the given name.
func find(t *testing.T, entries []npyEntry, name string) npyEntry {
	t.Helper()
	for _, e := range entries {
		if e.name == name {
			return e
		}
	}
	t.Fatalf("no entry %q", name)
	return npyEntry{}
}

func TestNpyHead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		descr string
		shape []int
		want  string
	}{
		{"<f4", []int{80, 7, 1}, "{'descr': '<f4', 'fortran_order': False, 'shape': (80, 7, 1), }"},
		{"|u1", []int{4223}, "{'descr': '|u1', 'fortran_order': False, 'shape': (4223,), }"},
		{"|O", nil, "{'descr': '|O', 'fortran_order': False, 'shape': (), }"},
		{"<f8", []int{0, 0}, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 0), }"},
	} {
		h := npyHead(c.descr, c.shape)
		require.Zero(t, len(h)%64)
		require.Equal(t, c.want, strings.TrimRight(string(h[10:]), " \n"))
		require.Equal(t, byte('\n'), h[len(h)-1])
		require.Equal(t, len(h)-10, int(binary.LittleEndian.Uint16(h[8:])))
	}
	for n := range 200 { // every length of padding
		h := npyHead(strings.Repeat("x", n), []int{1})
		require.Zero(t, len(h)%64)
		require.Equal(t, byte('\n'), h[len(h)-1])
	}
}
