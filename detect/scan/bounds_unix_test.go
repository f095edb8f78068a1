//go:build unix

package scan

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/nanguard/nanguard/tensor"
)

// fenced returns n bytes between two pages that nobody may touch: they begin
// right behind the first, or end right before the second.
func fenced(t *testing.T, n int, atEnd bool) []byte {
	t.Helper()
	page := unix.Getpagesize()
	room := (n + page - 1) / page * page
	b, err := unix.Mmap(-1, 0, room+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Munmap(b)) })
	require.NoError(t, unix.Mprotect(b[:page], unix.PROT_NONE))
	require.NoError(t, unix.Mprotect(b[page+room:], unix.PROT_NONE))
	if atEnd {
		return b[page+room-n : page+room]
	}
	return b[page : page+n]
}

// No pass reads or writes beyond the ends of the arrays that it is given.
func TestNothingBeyondTheEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	const most = 9000 * 8
	for _, atEnd := range []bool{false, true} {
		from, to := fenced(t, most, atEnd), fenced(t, most, atEnd)
		for i := range from {
			from[i] = byte(r.Uint32())
		}
		for _, d := range allTypes {
			for n := range 400 {
				if n >= 300 {
					n = 300 + (n-300)*87
				}
				size := n * d.Size()
				src, dst := from[:size], to[:size]
				if atEnd {
					src, dst = from[most-size:], to[most-size:]
				}
				ref := tensor.Ref{
					Base: unsafe.Pointer(unsafe.SliceData(src)), DType: d, Rows: n, Cols: 1, RowStride: d.Size(), ColStride: d.Size(),
				}
				require.Equal(t, Host(ref), Capture(dst, ref))
				require.Equal(t, src, dst)
				AllFinite(ref)
				BadRows(nil, ref)
			}
		}
	}
}
