package dump

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// badEntry is a sound frame whose record in the directory is changed.
func badEntry(tamper func(*zip.FileHeader)) zipEntry {
	e := stateEntry(1, 0)
	e.tamper = tamper
	return e
}

// A bad entry among good ones costs itself and is said; the rest is read.
func TestBadEntries(t *testing.T) {
	t.Parallel()
	flipped := func(store bool) zipEntry {
		e := stateEntry(1, 0)
		e.store = store
		e.tamper = func(h *zip.FileHeader) { h.CRC32++ }
		return e
	}
	for _, c := range []struct {
		name, want string
		entry      zipEntry
	}{
		{"checksum, deflated", "is damaged: its checksum does not match", flipped(false)},
		{"checksum, stored", "is damaged: its checksum does not match", flipped(true)},
		{"no checksum", "carries no checksum", badEntry(func(h *zip.FileHeader) { h.CRC32 = 0 })},
		{"encrypted", "is encrypted", badEntry(func(h *zip.FileHeader) { h.Flags |= 1 })},
		{"bzip2", "is packed with zip method 12; stored (0) or deflated (8) was expected", badEntry(func(h *zip.FileHeader) { h.Method = 12 })},
		{"zstd", "is packed with zip method 93", badEntry(func(h *zip.FileHeader) { h.Method = 93 })},
		{"symbolic link", "is a link or a folder inside the zip", badEntry(func(h *zip.FileHeader) { h.CreatorVersion = 3 << 8; h.ExternalAttrs = 0o120777 << 16 })},
		{"stored as it is not", "is stored, but claims", badEntry(func(h *zip.FileHeader) { h.Method = zip.Store })},
		{"longer than the file", "packed bytes of a file of", badEntry(func(h *zip.FileHeader) { h.CompressedSize64 = 1 << 40 })},
		{"unpacks too far", "more than its", badEntry(func(h *zip.FileHeader) { h.UncompressedSize64 = 1 << 40 })},
		{"one byte more", "header claims float64 (2, 3), which is 48 bytes, but 49 follow", badEntry(func(h *zip.FileHeader) { h.UncompressedSize64++ })},
		{"one byte less", "header claims float64 (2, 3), which is 48 bytes, but 47 follow", badEntry(func(h *zip.FileHeader) { h.UncompressedSize64-- })},
		{"packed bytes cut", "is cut short", badEntry(func(h *zip.FileHeader) { h.CompressedSize64 -= 4 })},
		{"trailing bytes", "which is 48 bytes, but 50 follow", npyOf("states_step_000001", "<f8", "(2, 3)", append(f64(1, 2, 3, 4, 5, 6), 'x', 'y'))},
		{"missing bytes", "which is 48 bytes, but 40 follow", npyOf("states_step_000001", "<f8", "(2, 3)", f64(1, 2, 3, 4, 5))},
		{"no npy", `is no .npy array: it does not begin with \x93NUMPY`, zipEntry{name: "states_step_000001.npy", data: []byte("hello, world")}},
		{"nothing", "is no .npy array: is cut short", zipEntry{name: "states_step_000001.npy"}},
		{"object", "holds object (2, 3); numbers were expected", npyOf("states_step_000001", "|O", "(2, 3)", []byte("\x80\x04N."))},
		{"text", "holds str (2,); numbers were expected", npyOf("states_step_000001", "<U1", "(2,)", make([]byte, 8))},
		{"three dimensions", "holds float64 (1, 2, 3); rows and columns were expected", npyOf("states_step_000001", "<f8", "(1, 2, 3)", f64(1, 2, 3, 4, 5, 6))},
		{"no rows", "holds float64 (0, 3): no values", npyOf("states_step_000001", "<f8", "(0, 3)", nil)},
		{"no rows, absurd columns", "holds float64 (0, 35184372088832): no values", npyOf("states_step_000001", "<f8", "(0, 35184372088832)", nil)},
		{"another type", "holds float32 (2, 3); float64 (2, 3) was expected", npyOf("states_step_000001", "<f4", "(2, 3)", make([]byte, 24))},
	} {
		f := mustOpen(t, stateEntry(0, 10), c.entry, stateEntry(2, 20), metaEntry(2, 3, nil))
		s, err := f.Frames(StateField)
		require.NoError(t, err, c.name)
		assert.Equal(t, []int64{0, 2}, s.Ticks, c.name)
		assert.Equal(t, []float64{10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25}, s.Values.AppendFloat64s(nil, 0, 12), c.name)
		assert.Contains(t, warnText(f), `entry "states_step_000001": `, c.name)
		assert.Contains(t, warnText(f), c.want, c.name)
	}
}

func TestStepNames(t *testing.T) {
	t.Parallel()
	odd := func(name string, first float64) zipEntry {
		e := stateEntry(0, first)
		e.name = name + ".npy"
		return e
	}
	f := mustOpen(
		t, odd("states_step_2", 2), odd("states_step_000002", 3), odd("states_step_-1", 4), odd("states_step_1e3", 5),
		odd("states_step_", 6), odd("states_step_99999999999999999999", 7), odd("states_step_1000000", 8), odd("states_step_999999", 9),
		metaEntry(2, 3, nil),
	)
	s, err := f.Frames(StateField)
	require.NoError(t, err)
	assert.Equal(t, []int64{2, 999999, 1000000}, s.Ticks)
	assert.Equal(t, 2.0, s.Values.Float64(0))
	assert.Equal(t, 8.0, s.Values.Float64(12))
	for _, want := range []string{
		`entry "states_step_000002": the same step as "states_step_2", which counts; left out`,
		`entries "states_step_-1", "states_step_1e3", "states_step_", "states_step_99999999999999999999": no step number in the name; left out`,
		"999996 steps are missing: step 2 is followed by step 999999",
	} {
		assert.Contains(t, warnText(f), want)
	}
}

func TestEntryNames(t *testing.T) {
	t.Parallel()
	plain := stateEntry(2, 7)
	plain.name = "states_step_000002" // as numpy reads an entry without .npy
	f := mustOpen(
		t, stateEntry(0, 1), stateEntry(0, 5), stateEntry(1, 6), plain, zipEntry{name: "folder/"}, metaEntry(2, 3, nil),
		npyOf("../../etc/passwd", "<f8", "(1,)", f64(1)), npyOf("/abs", "<f8", "(1,)", f64(1)), npyOf(`c:\x`, "<f8", "(1,)", f64(1)),
		npyOf("field.obs/left", "<f8", "(1,)", f64(1)), zipEntry{name: "README.txt", data: []byte("hello")},
	)
	s, err := f.Frames(StateField)
	require.NoError(t, err)
	assert.Equal(t, []int64{0, 1, 2}, s.Ticks)
	assert.Equal(t, 5.0, s.Values.Float64(0), "of two entries with one name numpy reads the last")
	assert.Equal(t, `entry "states_step_000000": in the file more than once; the last one counts
entries "../../etc/passwd", "/abs", "c:\x": a path for a name; nothing is written there`, warnText(f))
}

// Records that point at the bytes of another entry are found by the name that
// stands there.
func TestOverlappingEntries(t *testing.T) {
	t.Parallel()
	b := zipBytes(t, npyOf("states_step_000000", "<f8", "(2, 3)", f64(1, 2, 3, 4, 5, 6)), metaEntry(2, 3, nil))
	b = repeatFirstRecord(t, b, 200)
	f, err := openBytes(b, Options{})
	require.NoError(t, err)
	assert.Equal(t, []int64{0}, f.States().Steps)
	assert.Equal(t, `the entries claim more bytes than the file has: some overlap or their sizes are wrong
entries "states_step_000001", "states_step_000002", "states_step_000003", "states_step_000004" (and 195 more): is damaged: the name before its data is another; left out`, warnText(f))
}

// repeatFirstRecord rewrites the directory: n records of consecutive steps
// point at the entry of step 0.
func repeatFirstRecord(t *testing.T, b []byte, n int) []byte {
	t.Helper()
	dir := bytes.Index(b, []byte("PK\x01\x02"))
	end := bytes.LastIndex(b, []byte("PK\x05\x06"))
	second := dir + 4 + bytes.Index(b[dir+4:], []byte("PK\x01\x02"))
	record := b[dir:second]
	out := bytes.Clone(b[:dir])
	for i := range n {
		out = append(out, bytes.Replace(record, []byte("000000"), fmt.Appendf(nil, "%06d", i), 1)...)
	}
	out = append(out, b[second:end]...)
	tail := bytes.Clone(b[end:])
	binary.LittleEndian.PutUint16(tail[8:], uint16(n+1))
	binary.LittleEndian.PutUint16(tail[10:], uint16(n+1))
	binary.LittleEndian.PutUint32(tail[12:], uint32(len(out)-dir))
	return append(out, tail...)
}

// manySteps is a dump of n frames of one row of three columns.
func manySteps(t testing.TB, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	head := npyBytes(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 3), }")
	for i := range n {
		f, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("states_step_%06d.npy", n-1-i), Method: zip.Store})
		require.NoError(t, err)
		_, err = f.Write(append(bytes.Clone(head), f64(float64(i), 1, 2)...))
		require.NoError(t, err)
	}
	f, err := w.Create("_metadata.npy")
	require.NoError(t, err)
	_, err = f.Write(metaEntry(1, 3, map[string]any{"detection_step": n}).data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// More entries than a zip's old counters can hold.
func TestManyEntries(t *testing.T) {
	t.Parallel()
	const n = 70_000
	b := manySteps(t, n)
	begin := time.Now()
	f, err := openBytes(b, Options{})
	require.NoError(t, err)
	s, err := f.Frames(StateField)
	require.NoError(t, err)
	assert.Less(t, time.Since(begin), 10*time.Second)
	assert.Equal(t, []int{n, 1, 3}, s.Values.Shape)
	assert.Equal(t, int64(n-1), s.Ticks[n-1])
	assert.Equal(t, float64(n-1), s.Values.Float64(0))
	assert.Empty(t, f.Warnings())
}

// The directory's records become memory: their number is bounded too.
func TestDirectoryIsBounded(t *testing.T) {
	t.Parallel()
	b := manySteps(t, 40_000)
	_, err := openBytes(b, Options{MaxBytes: 16 << 20})
	require.ErrorContains(t, err, "the zip's directory is larger than 1.1 MiB; --max-bytes raises the limit")
	f, err := openBytes(b, Options{MaxBytes: 128 << 20})
	require.NoError(t, err)
	assert.Len(t, f.States().Steps, 40_000)
}

// A directory that claims more records than there are is not believed.
func TestDirectoryClaims(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		tamper func(b []byte, end int)
	}{
		{"more records", func(b []byte, end int) { binary.LittleEndian.PutUint16(b[end+10:], 0xfffe) }},
		{"size beyond", func(b []byte, end int) { binary.LittleEndian.PutUint32(b[end+12:], 0xfffffff0) }},
		{"comment beyond", func(b []byte, end int) { binary.LittleEndian.PutUint16(b[end+20:], 0xffff) }},
	} {
		b := zipBytes(t, stateEntry(0, 0), metaEntry(2, 3, nil))
		c.tamper(b, bytes.LastIndex(b, []byte("PK\x05\x06")))
		_, err := openBytes(b, Options{})
		require.ErrorContains(t, err, "cut short or damaged", c.name)
	}
}

// An offset of the directory that is wrong shifts every entry.
func TestDirectoryOffset(t *testing.T) {
	t.Parallel()
	b := zipBytes(t, stateEntry(0, 0), manifestOf(manifestWith("")))
	binary.LittleEndian.PutUint32(b[bytes.LastIndex(b, []byte("PK\x05\x06"))+16:], 0xfffffff0)
	f, err := openBytes(b, Options{})
	require.NoError(t, err)
	_, err = f.Frames(StateField)
	require.ErrorContains(t, err, "none of 1 entries is usable")
	assert.Contains(t, warnText(f), `entry "_nanguard": `)
}

// numpy streams into a zip: the sizes stand behind the data, in 64 bits.
func TestZip64AndDataDescriptors(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	out.WriteString("a launcher may stand before the zip")
	w := zip.NewWriter(&out)
	w.SetOffset(int64(out.Len()))
	for _, e := range []zipEntry{stateEntry(0, 1), stateEntry(1, 2), metaEntry(2, 3, nil)} {
		f, err := w.Create(e.name)
		require.NoError(t, err)
		_, err = f.Write(e.data)
		require.NoError(t, err)
	}
	require.NoError(t, w.SetComment("and a comment behind it"))
	require.NoError(t, w.Close())
	f, err := openBytes(out.Bytes(), Options{})
	require.NoError(t, err)
	assert.Equal(t, []int64{0, 1}, f.States().Steps)
	assert.Empty(t, f.Warnings())

	b := forceZip64(t, zipBytes(t, stateEntry(0, 1), metaEntry(2, 3, nil)))
	f, err = openBytes(b, Options{})
	require.NoError(t, err)
	assert.Equal(t, []int64{0}, f.States().Steps)
	assert.Empty(t, f.Warnings())
}

// forceZip64 moves sizes and offset of every record into the 64-bit extra.
func forceZip64(t *testing.T, b []byte) []byte {
	t.Helper()
	dir := bytes.Index(b, []byte("PK\x01\x02"))
	end := bytes.LastIndex(b, []byte("PK\x05\x06"))
	out := bytes.Clone(b[:dir])
	for r := b[dir:end]; len(r) > 0; {
		name, extra, comment := int(binary.LittleEndian.Uint16(r[28:])), int(binary.LittleEndian.Uint16(r[30:])), int(binary.LittleEndian.Uint16(r[32:]))
		require.Zero(t, extra+comment)
		h := bytes.Clone(r[:46+name])
		field := binary.LittleEndian.AppendUint16(nil, 1)
		field = binary.LittleEndian.AppendUint16(field, 24)
		for _, at := range []int{24, 20, 42} { // unpacked, packed, offset
			field = binary.LittleEndian.AppendUint64(field, uint64(binary.LittleEndian.Uint32(h[at:])))
			binary.LittleEndian.PutUint32(h[at:], 0xffffffff)
		}
		binary.LittleEndian.PutUint16(h[30:], uint16(len(field)))
		out = append(append(out, h...), field...)
		r = r[46+name:]
	}
	tail := bytes.Clone(b[end:])
	binary.LittleEndian.PutUint32(tail[12:], uint32(len(out)-dir))
	return append(out, tail...)
}

// Cut anywhere, a dump is an error or says what is missing; it never panics and
// never shows a value that is not in the whole file.
func TestTruncatedAnywhere(t *testing.T) {
	t.Parallel()
	whole := zipBytes(t, stateEntry(0, 0), stateEntry(1, 6), metaEntry(2, 3, nil))
	for n := range whole {
		_, err := openBytes(whole[:n], Options{})
		require.Error(t, err, "%d of %d bytes", n, len(whole))
	}
}

// With any byte flipped, what is read is what stands in the sound file, or it is
// an error, or there is a warning.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	sound := zipBytes(t, stateEntry(0, 0), stateEntry(1, 6), metaEntry(2, 3, map[string]any{"buffer_size": 2}))
	read := func(b []byte) (*Series, []error, error) {
		f, err := openBytes(b, Options{})
		if err != nil {
			return nil, nil, err
		}
		s, err := f.Frames(StateField)
		return s, f.Warnings(), err
	}
	want, _, err := read(sound)
	require.NoError(t, err)
	for i := range sound {
		for _, bit := range []byte{1, 0x80} {
			b := bytes.Clone(sound)
			b[i] ^= bit
			s, warnings, err := read(b)
			if err == nil && len(warnings) == 0 {
				assert.Equal(t, want, s, "byte %d", i)
			}
		}
	}
}

func TestOtherFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ content, want string }{
		{"\x93NUMPY\x01\x00", "is a single .npy array"},
		{"\x1f\x8b\x08", "is gzip-compressed"},
		{"(\xb5/\xfd", "is zstd-compressed"},
		{"\x89HDF\r\n\x1a\n", "is an HDF5 file"},
		{"version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer"},
		{"\x80\x04\x95", "is a pickle, which is not read"},
		{"PK\x03\x04" + strings.Repeat("x", 100), "is a zip that was cut short or damaged"},
		{"nan_dump_20260901_101010.npz", `holds only the text "nan_dump_20260901_101010.npz": a link that was copied as a file`},
		{"{\"a\": 1}\n", "is text"},
		{"\x00\x01\x02\xff", "is no zip"},
	} {
		_, err := openBytes([]byte(c.content), Options{})
		require.ErrorContains(t, err, c.want)
		assert.ErrorContains(t, err, "open dump \"\": ")
	}
}

// failingReader fails behind its good bytes, as a disk does.
type failingReader struct {
	good []byte
	err  error
}

func (r failingReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) <= int64(len(r.good)) {
		return copy(p, r.good[off:]), nil
	}
	return 0, r.err
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	b := zipBytes(t, stateEntry(0, 0), metaEntry(2, 3, nil))
	_, err := NewReader(failingReader{b[:100], os.ErrDeadlineExceeded}, int64(len(b)), "x.npz", Options{})
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	// A size that is more than there is: the end is found all the same.
	f, err := NewReader(bytes.NewReader(b), int64(len(b))+100, "", Options{})
	require.NoError(t, err)
	assert.Equal(t, []int64{0}, f.States().Steps)
	// Behind the directory, a disk fails when an entry is read.
	f, err = NewReader(failingReader{b, io.ErrNoProgress}, int64(len(b)), "", Options{})
	require.NoError(t, err)
	f.arc.window.r = failingReader{nil, io.ErrNoProgress}
	f.arc.window.buf = nil
	_, err = f.Frames(StateField)
	require.ErrorIs(t, err, io.ErrNoProgress)
	assert.ErrorContains(t, err, `entry "states_step_000000": `)
}

// A directory may claim thirty million records of a sparse file of a gigabyte.
func TestSparseFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sparse.npz")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(1<<30))
	_, err = f.WriteAt([]byte("PK\x05\x06\x00\x00\x00\x00\xfd\xff\xfd\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), 1<<30-22)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = Open(path)
	runtime.ReadMemStats(&after)
	require.Error(t, err)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20))
}
