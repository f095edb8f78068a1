package dump

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// zipEntry is an entry of a zip under construction, with what is to be wrong
// with its record.
type zipEntry struct {
	name   string
	data   []byte
	store  bool
	tamper func(*zip.FileHeader) // applied to the directory's record
}

// npyOf is an entry with an array in it.
func npyOf(name, descr, shape string, data []byte) zipEntry {
	return zipEntry{name: name + ".npy", data: append(npyBytes(1, "{'descr': '"+descr+"', 'fortran_order': False, 'shape': "+shape+", }"), data...)}
}

// npyBytes returns what stands before the elements of an .npy.
func npyBytes(version byte, header string) []byte {
	b := append([]byte("\x93NUMPY"), version, 0)
	header += "\n"
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	return append(b, header...)
}

// zipBytes packs entries. The sizes and checksums in the directory are those of
// the data unless tamper changes them.
func zipBytes(t testing.TB, entries ...zipEntry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		packed := e.data
		if e.store {
			h.Method = zip.Store
		} else {
			packed = deflated(t, e.data)
		}
		h.CRC32 = crc32.ChecksumIEEE(e.data)
		h.CompressedSize64, h.UncompressedSize64 = uint64(len(packed)), uint64(len(e.data))
		raw, err := w.CreateRaw(h)
		require.NoError(t, err)
		if !strings.HasSuffix(e.name, "/") {
			_, err = raw.Write(packed)
			require.NoError(t, err)
		}
		if e.tamper != nil {
			e.tamper(h)
			//lint:ignore SA1019 it is what the writer takes once the entry is made
			h.CompressedSize = uint32(min(h.CompressedSize64, math.MaxUint32))
			//lint:ignore SA1019 likewise
			h.UncompressedSize = uint32(min(h.UncompressedSize64, math.MaxUint32))
		}
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// deflated returns data packed as zip packs it.
func deflated(t testing.TB, data []byte) []byte {
	t.Helper()
	var z bytes.Buffer
	w := zip.NewWriter(&z)
	f, err := w.CreateHeader(&zip.FileHeader{Name: "x", Method: zip.Deflate})
	require.NoError(t, err)
	_, err = f.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	r, err := zip.NewReader(bytes.NewReader(z.Bytes()), int64(z.Len()))
	require.NoError(t, err)
	raw, err := r.File[0].OpenRaw()
	require.NoError(t, err)
	var out bytes.Buffer
	_, err = out.ReadFrom(raw)
	require.NoError(t, err)
	return out.Bytes()
}

// f64 returns little-endian doubles.
func f64(v ...float64) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

// i64 returns little-endian integers.
func i64(v ...int64) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return b
}

// metaEntry is the entry that mjlab V4 writes for the given rows and columns, of
// which the given keys are other.
func metaEntry(rows, cols int, other map[string]any) zipEntry {
	ids := make([]int, rows)
	for i := range ids {
		ids[i] = 3 + 2*i
	}
	items := []metaItem{
		{"num_envs_total", 8},
		{"num_envs_dumped", rows},
		{"nan_env_ids", ids},
		{"dumped_env_ids", ids},
		{"state_spec", 30},
		{"state_size", cols},
		{"detection_step", 4},
		{"timestamp", "20260901_101010"},
		{"model_file", ""},
		{"note", ""},
	}
	kept := items[:0]
	for _, it := range items {
		v, ok := other[it.key]
		if !ok {
			kept = append(kept, it)
		} else if v != nil {
			kept = append(kept, metaItem{it.key, v})
		}
		delete(other, it.key)
	}
	for k, v := range other {
		kept = append(kept, metaItem{k, v})
	}
	return npyOf("_metadata", "|O", "()", pickleMetadata(kept))
}

// stateEntry is a frame of two rows of three columns that counts up from first.
func stateEntry(step int, first float64) zipEntry {
	return npyOf(fmt.Sprintf("states_step_%06d", step), "<f8", "(2, 3)",
		f64(first, first+1, first+2, first+3, first+4, first+5))
}

// manifestOf is a manifest entry.
func manifestOf(json string) zipEntry {
	return npyOf("_nanguard", "|u1", fmt.Sprintf("(%d,)", len(json)), []byte(json))
}

// openBytes opens a dump in memory.
func openBytes(b []byte, o Options) (*File, error) {
	return NewReader(bytes.NewReader(b), int64(len(b)), "", o)
}

// mustOpen opens a dump made of entries.
func mustOpen(t testing.TB, entries ...zipEntry) *File {
	t.Helper()
	f, err := openBytes(zipBytes(t, entries...), Options{})
	require.NoError(t, err)
	return f
}

// warnText returns the warnings of a file as one text.
func warnText(f *File) string {
	var lines []string
	for _, w := range f.Warnings() {
		lines = append(lines, w.Error())
	}
	return strings.Join(lines, "\n")
}

// shared returns the path of a file of the collection of dumps beside the
// repository, or skips the test.
func shared(t testing.TB, parts ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "shared", "dumps"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the collection of real dumps is not beside the repository: %v", err)
	}
	return path
}
