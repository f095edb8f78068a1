package gpu

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/detect/scan/kernel"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
)

// TestLayout compares what Go thinks of the shared memory with what the C++
// compiler thinks of it.
func TestLayout(t *testing.T) {
	lib := cudatest.HostLibrary(t)
	sizeof, err := lib.Lookup("ng_sizeof")
	require.NoError(t, err)
	var f kernel.Field
	var s kernel.State
	var l kernel.Launch
	for i, want := range []uintptr{
		unsafe.Sizeof(kernel.Row{}), kernel.PartialBytes, unsafe.Sizeof(kernel.Turn{}), unsafe.Sizeof(kernel.First{}), unsafe.Sizeof(f),
		unsafe.Sizeof(kernel.Trip{}), unsafe.Sizeof(kernel.Verdict{}), unsafe.Sizeof(s), unsafe.Sizeof(kernel.Call{}), unsafe.Sizeof(kernel.Source{}),
		unsafe.Sizeof(l), unsafe.Offsetof(f.First), unsafe.Offsetof(f.Ring), unsafe.Offsetof(f.Limit),
		unsafe.Offsetof(s.Clocks), unsafe.Offsetof(s.Trip), unsafe.Offsetof(s.Done), unsafe.Offsetof(l.What), unsafe.Offsetof(l.From),
		kernel.Threads, kernel.TileBytes, kernel.MaxArgs,
	} {
		got := uint32(lib.Call(sizeof, []uintptr{uintptr(i)}))
		assert.EqualValues(t, want, got, "number %d of ng_sizeof", i)
	}
	assert.LessOrEqual(t, unsafe.Sizeof(l), uintptr(4096), "what old drivers take as parameters")
}
