package dump

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zip"

	"github.com/nanguard/nanguard/internal/safetext"
)

// archive is the zip of a dump: its entries by name, without ".npy". Entries
// share one decompressor, so one entry is read at a time.
type archive struct {
	names  []string // in the order of the directory, each once
	files  map[string]*zip.File
	size   int64
	window *window

	budget  *budget
	buffer  *bufio.Reader
	inflate io.ReadCloser
	headers map[string]arrayHeader // by their bytes: the steps of a dump share one
	head    []byte                 // the header under way
}

// newArchive reads the directory of the zip in r. Doubts about single entries
// come back as warnings.
func newArchive(r io.ReaderAt, size int64, b *budget) (*archive, []error, error) {
	if size <= 0 {
		return nil, nil, errors.New("the file is empty; a NaN dump (.npz) was expected")
	}
	w := &window{r: r, quota: b.directory()}
	zr, err := zip.NewReader(w, size)
	switch {
	case errors.Is(err, errDirectory):
		return nil, nil, fmt.Errorf("the zip's directory is larger than %s; --max-bytes raises the limit",
			byteSize(b.directory()))
	case err != nil && !errors.Is(err, zip.ErrInsecurePath):
		return nil, nil, notZip(r, size, err)
	}
	if err := b.take(entryCost * int64(len(zr.File))); err != nil {
		return nil, nil, fmt.Errorf("the zip's directory of %d entries %w", len(zr.File), err)
	}
	w.quota = math.MaxInt64
	a := &archive{
		window: w, files: make(map[string]*zip.File, len(zr.File)), size: size,
		budget: b, buffer: bufio.NewReader(nil), headers: map[string]arrayHeader{},
	}
	a.inflate = flate.NewReader(a.buffer)
	zr.RegisterDecompressor(zip.Deflate, a.deflate)
	return a, a.index(zr.File), nil
}

// deflate is the zip's decompressor: the one that all entries use in turn.
func (a *archive) deflate(r io.Reader) io.ReadCloser {
	a.buffer.Reset(r)
	_ = a.inflate.(flate.Resetter).Reset(a.buffer, nil) // never fails
	return io.NopCloser(a.inflate)
}

// index fills the map of names. Of two entries with one name the last counts,
// as it does for numpy.
func (a *archive) index(files []*zip.File) []error {
	var claimed uint64
	var odd problems
	a.names = make([]string, 0, len(files))
	for _, f := range files {
		claimed = addSaturated(claimed, f.CompressedSize64)
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		name := strings.TrimSuffix(f.Name, ".npy")
		if a.has(name) {
			odd.add(name, errTwice)
		} else {
			a.names = append(a.names, name)
		}
		if unsafePath(name) {
			odd.add(name, errPath)
		}
		a.files[name] = f
	}
	if claimed > uint64(a.size) {
		return append(odd.warnings(), errOverlap)
	}
	return odd.warnings()
}

// What is odd about the names in a directory.
var (
	errTwice   = errors.New("in the file more than once; the last one counts")
	errPath    = errors.New("a path for a name; nothing is written there")
	errOverlap = errors.New("the entries claim more bytes than the file has: some overlap or their sizes are wrong")
)

// has reports whether the file holds an entry.
func (a *archive) has(name string) bool {
	_, ok := a.files[name]
	return ok
}

// open starts reading an entry after checking what the directory claims of it.
func (a *archive) open(name string) (io.ReadCloser, error) {
	f, ok := a.files[name]
	if !ok {
		return nil, ErrNoEntry
	}
	if err := a.plausible(f); err != nil {
		return nil, err
	}
	rc, err := f.Open()
	if err != nil {
		return nil, damaged(err)
	}
	// Opening read the header that stands before the entry's bytes.
	if err := a.sameName(f, a.window.asked); err != nil {
		rc.Close()
		return nil, err
	}
	return rc, nil
}

// sameName compares the name of an entry in the directory with that in its own
// header: no checksum is over either, and a step number may be what differs.
func (a *archive) sameName(f *zip.File, header int64) error {
	const fixed = 30 // bytes of the header before the name
	b := make([]byte, fixed+len(f.Name))
	if _, err := a.window.ReadAt(b, header); err != nil {
		return damaged(err)
	}
	if int(binary.LittleEndian.Uint16(b[26:])) != len(f.Name) || string(b[fixed:]) != f.Name {
		return errors.New("is damaged: the name before its data is another")
	}
	return nil
}

// Deflate cannot pack 258 bytes into less than two bits.
const maxRatio = 1032

// plausible checks the directory's record of an entry.
func (a *archive) plausible(f *zip.File) error {
	const encrypted = 1
	switch {
	case f.Flags&encrypted != 0:
		return errors.New("is encrypted")
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return fmt.Errorf("is packed with zip method %d; stored (0) or deflated (8) was expected", f.Method)
	case f.Mode()&fs.ModeType != 0:
		return errors.New("is a link or a folder inside the zip, not an array")
	case f.CompressedSize64 > uint64(a.size):
		return fmt.Errorf("claims %d packed bytes of a file of %d", f.CompressedSize64, a.size)
	case f.Method == zip.Store && f.CompressedSize64 != f.UncompressedSize64:
		return fmt.Errorf("is stored, but claims %d bytes unpacked of %d", f.UncompressedSize64, f.CompressedSize64)
	case f.CRC32 == 0 && f.UncompressedSize64 > 0:
		return errors.New("carries no checksum")
	case f.UncompressedSize64/maxRatio > f.CompressedSize64:
		return fmt.Errorf("claims %d bytes, more than its %d packed bytes can hold", f.UncompressedSize64, f.CompressedSize64)
	}
	return nil
}

// damaged turns an error of the zip or deflate layer into words of ours.
func damaged(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, zip.ErrChecksum):
		return errors.New("is damaged: its checksum does not match")
	case errors.As(err, &corrupt):
		return errors.New("is damaged: its packed bytes do not unpack")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("is cut short")
	case errors.Is(err, zip.ErrFormat):
		return errors.New("is damaged: no such entry where the directory says")
	}
	return err
}

// unsafePath reports whether a name would leave the folder if it were a path.
func unsafePath(name string) bool {
	return path.IsAbs(name) || strings.HasPrefix(path.Clean(name), "..") || strings.Contains(name, `\`)
}

// addSaturated returns a+b, or the largest uint64 where that overflows.
func addSaturated(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

// quote returns a name of the file in quotes, fit for a message.
func quote(name string) string { return `"` + safetext.Clip(name, 80) + `"` }
