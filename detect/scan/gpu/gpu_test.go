package gpu

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/detect/scan"
	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/tensor"
)

// rig is an engine with arrays to look at.
type rig struct {
	*Engine
	t   testing.TB
	ctx *cuda.Context
}

// newRig returns an engine of the fields; it and what the rig allocates are
// gone when the test ends.
func newRig(t testing.TB, d *cuda.Driver, c Config) *rig {
	t.Helper()
	e, err := NewOn(d, c)
	require.NoError(t, err)
	r := &rig{Engine: e, t: t, ctx: e.ctx}
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return r
}

// put copies bytes into memory of the device, off bytes behind an address that
// is a multiple of 256.
func (r *rig) put(data []byte, off int) uintptr {
	r.t.Helper()
	p, err := r.ctx.Alloc(max(1, len(data)+off))
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, r.ctx.Free(p)) })
	if len(data) > 0 {
		require.NoError(r.t, r.ctx.Upload(r.own, p+cuda.Ptr(off), data))
	}
	return uintptr(p) + uintptr(off)
}

// check checks fields that lie in C order at these addresses; field i at
// address i, left out when that is 0.
func (r *rig) check(clock int, addrs ...uintptr) {
	r.t.Helper()
	var args []Arg
	for i, a := range addrs {
		if a != 0 {
			args = append(args, r.arg(i, a))
		}
	}
	require.NoError(r.t, r.Check(0, clock, true, args))
}

// arg returns a field that lies in C order.
func (r *rig) arg(field int, addr uintptr) Arg {
	f := &r.fields[field]
	return Arg{Field: field, Addr: addr, RowStride: f.Cols * f.DType.Size(), ColStride: f.DType.Size()}
}

// stream returns a new stream.
func (r *rig) stream() uintptr {
	r.t.Helper()
	s, err := r.ctx.NewStream()
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, r.ctx.DestroyStream(s)) })
	return uintptr(s)
}

// sync waits for the checks.
func (r *rig) sync() {
	r.t.Helper()
	require.NoError(r.t, r.ctx.Synchronize())
}

// tick waits for the number of the last check that the device has done.
func (r *rig) tick() int64 {
	r.t.Helper()
	l := r.AskTick()
	require.NotNil(r.t, l)
	require.NoError(r.t, r.ctx.SynchronizeStream(r.own))
	tick, ok := l.Tick()
	require.True(r.t, ok)
	return tick
}

// freeze freezes the engine and looks at it.
func (r *rig) freeze() *Snapshot {
	r.t.Helper()
	require.NoError(r.t, r.Freeze(0))
	s, err := r.Snapshot()
	require.NoError(r.t, err)
	return s
}

// repeat returns n times v with the values of at put in their places.
func repeat(n int, v float32, at map[int]float32) []byte {
	s := make([]float32, n)
	for i := range s {
		s[i] = v
	}
	for i, x := range at {
		s[i] = x
	}
	return bytesOfSlice(s)
}

var nan, inf = float32(math.NaN()), float32(math.Inf(1))

// summary returns what a row of a trace says, without the first bad value.
func summary(r Row) scan.Summary {
	return scan.Summary{
		NaN: int64(r.NaN), PosInf: int64(r.PosInf), NegInf: int64(r.NegInf),
		AbsMax: r.AbsMax, ArgMax: int(r.ArgMax), Min: r.Min, Max: r.Max, Mean: r.Mean,
	}
}

// randomBits fills b with elements of type d of every kind: any bits at all,
// or, when few is set, ordinary numbers nearly everywhere.
func randomBits(r *rand.Rand, d tensor.DType, b []byte, few bool) {
	for i := 0; i < len(b); i += d.Size() {
		bits := r.Uint64()
		switch {
		case d.IsFloat() && few && r.IntN(5000) > 0:
			bits = ordinary(r, d)
		case d.IsFloat():
			bits = special(r, d)
		}
		for k := range d.Size() {
			b[i+k] = byte(bits >> (8 * k))
		}
	}
}

// layoutOf returns the masks of a float's exponent and of its lowest bit, and
// the bits of one.
func layoutOf(d tensor.DType) (exp, low, one uint64) {
	switch d {
	case tensor.Float16:
		return 0x7c00, 0x0400, 0x3c00
	case tensor.BFloat16:
		return 0x7f80, 0x0080, 0x3f80
	case tensor.Float32:
		return 0x7f800000, 0x00800000, 0x3f800000
	}
	return 0x7ff0000000000000, 0x0010000000000000, 0x3ff0000000000000
}

// ordinary returns a number between a quarter and two, of either sign.
func ordinary(r *rand.Rand, d tensor.DType) uint64 {
	_, low, one := layoutOf(d)
	return one - low*uint64(r.IntN(3)) + r.Uint64()%low | r.Uint64()&1<<(8*d.Size()-1)
}

// special returns zeros, subnormal numbers, infinities, NaNs, huge numbers and
// any bits.
func special(r *rand.Rand, d tensor.DType) uint64 {
	exp, low, _ := layoutOf(d)
	sign := r.Uint64() & 1 << (8*d.Size() - 1)
	switch r.IntN(7) {
	case 0:
		return sign
	case 1:
		return sign | r.Uint64()%low
	case 2:
		return sign | exp
	case 3:
		return sign | exp | r.Uint64()%low
	case 4:
		return sign | exp - low | r.Uint64()%low
	}
	return r.Uint64()
}

// hostRef returns a view of data in memory of the host.
func hostRef(data []byte, d tensor.DType, at, rows, cols, rowStride, colStride int) tensor.Ref {
	var base unsafe.Pointer
	if at < len(data) {
		base = unsafe.Pointer(&data[at])
	}
	return tensor.Ref{Base: base, DType: d, Rows: rows, Cols: cols, RowStride: rowStride, ColStride: colStride}
}
