package scan

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/tensor"
)

// requireSame compares what the scanner says of ref with the naive reading.
func requireSame(t *testing.T, ref tensor.Ref, msg string) {
	t.Helper()
	want, got := naive(ref), Host(ref)
	dst := make([]byte, ref.Bytes())
	require.Equal(t, got, Capture(dst, ref), "of the copy: %s", msg)
	captured := bytes.Clone(dst)
	if want.Mean != got.Mean && want.AbsMax > 1e300 { // the sum overflowed
		require.InDelta(t, want.Mean/want.AbsMax, got.Mean/want.AbsMax, 1e-12, "mean: %s", msg)
		got.Mean = want.Mean
	}
	require.Equal(t, want, got, msg)
	require.Equal(t, want.First.Class == tensor.Finite, AllFinite(ref), "all finite: %s", msg)

	var rows []int
	for row := range ref.Rows {
		for col := range ref.Cols {
			if ref.DType.Classify(bitsAt(ref, row, col)) != tensor.Finite {
				rows = append(rows, row)
				break
			}
		}
	}
	require.Equal(t, rows, BadRows(nil, ref), "bad rows: %s", msg)
	require.Len(t, rows, got.First.Rows, msg)

	clear(dst)
	Copy(dst, ref)
	require.Equal(t, dst, captured, msg)
	c := tensor.Array{DType: ref.DType, Shape: []int{ref.Rows, ref.Cols}, Data: dst}
	for i := range c.Len() {
		if want, got := bitsAt(ref, i/ref.Cols, i%ref.Cols), c.Bits(i); want != got {
			t.Fatalf("copy: %s: element %d is %#x, want %#x", msg, i, got, want)
		}
	}
}

func TestScanOfRandomBits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	shapes := [][2]int{{0, 0}, {0, 5}, {5, 0}, {1, 1}, {1, 3}, {3, 1}, {2, 2}, {7, 5}, {33, 17}, {300, 29}, {1, 5000}, {5000, 1}}
	for _, d := range allTypes {
		for _, s := range shapes {
			a := tensor.NewArray(d, s[0], s[1])
			for i := range a.Len() {
				setBits(a, i, randomBits(r, d))
			}
			requireSame(t, refOf(a), fmt.Sprint(d, s))
		}
	}
}

// A single bad value, wherever it stands, is found: in each lane of each word,
// in each of the four streams and in the tail.
func TestOneBadValueAnywhere(t *testing.T) {
	t.Parallel()
	for _, d := range allTypes[:4] {
		ref := randomFinite(d, 23, 61)
		a := tensor.Array{DType: d, Shape: []int{23, 61}, Data: unsafe.Slice((*byte)(ref.Base), ref.Bytes())}
		require.True(t, AllFinite(ref))
		exp := laneMasks[d].exp & (^uint64(0) >> (64 - 8*d.Size()))
		for i := range a.Len() {
			was := a.Bits(i)
			setBits(a, i, exp|uint64(i%2)) // infinity or the NaN next to it
			if AllFinite(ref) {
				t.Fatalf("%v element %d was not seen", d, i)
			}
			class := tensor.PosInf
			if i%2 == 1 {
				class = tensor.NaN
			}
			require.Equal(t, First{Row: i / 61, Col: i % 61, Class: class, Rows: 1}, Host(ref).First)
			setBits(a, i, exp-1) // the largest finite value
			if !AllFinite(ref) {
				t.Fatalf("%v element %d is the largest finite value", d, i)
			}
			setBits(a, i, was)
		}
	}
}

func TestScanOfStrides(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for _, d := range allTypes {
		a := tensor.NewArray(d, 64, 64)
		for i := range a.Len() {
			setBits(a, i, randomBits(r, d))
		}
		size := d.Size()
		for name, v := range map[string]struct{ row, col, rows, cols, rowStride, colStride int }{
			"columns":       {0, 7, 64, 20, 64 * size, size},
			"every second":  {0, 0, 32, 32, 128 * size, 2 * size},
			"transposed":    {0, 0, 64, 64, size, 64 * size},
			"rows reversed": {63, 0, 64, 64, -64 * size, size},
			"both reversed": {63, 63, 64, 64, -64 * size, -size},
			"one row, many": {5, 0, 9000, 64, 0, size},
			"one value":     {1, 1, 70, 70, 0, 0},
			"overlapping":   {0, 0, 100, 10, size, size},
			"one column":    {0, 3, 64, 1, 64 * size, 64 * size},
		} {
			ref := refOf(a)
			ref.Base = unsafe.Pointer(&a.Data[(v.row*64+v.col)*size])
			ref.Rows, ref.Cols, ref.RowStride, ref.ColStride = v.rows, v.cols, v.rowStride, v.colStride
			if testing.Short() && v.rows > 1000 {
				ref.Rows = 200
			}
			requireSame(t, ref, fmt.Sprint(d, " ", name))
		}
	}
}

func TestScanOfUnalignedMemory(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	for _, d := range allTypes {
		a := tensor.NewArray(d, 40, 30)
		for i := range a.Len() {
			setBits(a, i, randomBits(r, d))
		}
		buf := make([]byte, len(a.Data)+8)
		for off := range 8 {
			copy(buf[off:], a.Data)
			ref := refOf(a)
			ref.Base = unsafe.Pointer(&buf[off])
			requireSame(t, ref, fmt.Sprintf("%v at +%d", d, off))
		}
	}
}

func TestSummaryByHand(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		ref  tensor.Ref
		want Summary
	}{
		{"finite", tensor.RefOf([]float64{1, -5, 2, 4}, 2, 2), Summary{AbsMax: 5, Min: -5, Max: 4, Mean: 0.5}},
		{"first of equals", tensor.RefOf([]float64{1, 3, -3, 3}, 4, 1), Summary{AbsMax: 3, ArgMax: 1, Min: -3, Max: 3, Mean: 1}},
		{"minus zero", tensor.RefOf([]float64{math.Copysign(0, -1)}, 1, 1), Summary{}},
		{
			"all kinds", tensor.RefOf([]float64{2, inf, nan, 4, -inf, nan}, 3, 2),
			Summary{NaN: 2, PosInf: 1, NegInf: 1, AbsMax: 4, ArgMax: 1, Min: 2, Max: 4, Mean: 3, First: First{Row: 0, Col: 1, Class: tensor.PosInf, Rows: 3}},
		},
		{"nothing finite", tensor.RefOf([]float64{nan, nan}, 2, 1), Summary{NaN: 2, First: First{Class: tensor.NaN, Rows: 2}}},
		{"no elements", tensor.RefOf([]float64{}, 0, 3), Summary{}},
		{
			"sum overflows", tensor.RefOf([]float64{1e308, 1.5e308, 1e308, 1e308, 1e308, 1.5e308, inf, 0}, 4, 2),
			Summary{PosInf: 1, AbsMax: 1.5e308, ArgMax: 0, Max: 1.5e308, Mean: 1e308, First: First{Row: 3, Class: tensor.PosInf, Rows: 1}},
		},
		{"largest float64", tensor.RefOf([]float64{math.MaxFloat64, math.MaxFloat64, math.MaxFloat64}, 3, 1), Summary{AbsMax: math.MaxFloat64, Min: math.MaxFloat64, Max: math.MaxFloat64, Mean: math.MaxFloat64}},
		{"ints", tensor.RefOf([]int32{-7, 2, 3, 6}, 4, 1), Summary{AbsMax: 7, Min: -7, Max: 6, Mean: 1}},
		{"smallest int64", tensor.RefOf([]int64{math.MinInt64}, 1, 1), Summary{AbsMax: 0x1p63, Min: -0x1p63, Max: -0x1p63, Mean: -0x1p63}},
		{"bools", tensor.RefOf([]bool{false, true, false, true}, 4, 1), Summary{AbsMax: 1, ArgMax: 1, Max: 1, Mean: 0.5}},
	} {
		got := Host(c.ref)
		assert.InEpsilon(t, 1+c.want.Mean, 1+got.Mean, 1e-15, c.name)
		got.Mean = c.want.Mean
		assert.Equal(t, c.want, got, c.name)
	}
}

func TestHalfMatchesTensor(t *testing.T) {
	t.Parallel()
	for h := range 1 << 16 {
		want := tensor.Float16.Float64(uint64(h))
		got := float64(half(uint16(h)))
		if want != got && (want == want || got == got) {
			t.Fatalf("half(%#04x) = %v, want %v", h, got, want)
		}
		if want == want && math.Signbit(want) != math.Signbit(got) {
			t.Fatalf("half(%#04x) = %v, want %v", h, got, want)
		}
	}
}

// The mean of elements whose sum overflows is that of the definition, in any
// order of blocks.
func TestMeanOfHugeFloat64(t *testing.T) {
	t.Parallel()
	x := make([]float64, 5000)
	for i := range x {
		x[i] = math.MaxFloat64 / 2 * float64(1-2*(i/4%3%2))
	}
	got := Host(tensor.RefOf(x, 5000, 1))
	assert.InEpsilon(t, meanOfHuge(x), got.Mean, 1e-12)
	assert.Equal(t, int64(0), got.NaN+got.PosInf+got.NegInf)
}

func TestHostPanicsOnForeignMemory(t *testing.T) {
	t.Parallel()
	assert.Panics(t, func() { Host(tensor.Ref{Mem: tensor.CUDA, DType: tensor.Float32}) })
	assert.Panics(t, func() { AllFinite(tensor.Ref{}) })
	assert.Panics(t, func() { Copy(make([]byte, 3), tensor.RefOf([]float32{1}, 1, 1)) })
}

func TestScanDoesNotAllocate(t *testing.T) {
	ref := randomFinite(tensor.Float32, 100, 30)
	odd := ref
	odd.Cols = 7
	half := randomFinite(tensor.Float16, 100, 30)
	dst := make([]byte, odd.Bytes())
	assert.Zero(t, testing.AllocsPerRun(20, func() {
		Host(ref)
		Host(odd)
		Host(half)
		AllFinite(ref)
		AllFinite(odd)
		Copy(dst, odd)
		Capture(dst, odd)
	}))
}

func FuzzHost(f *testing.F) {
	f.Add([]byte{0, 0, 0x80, 0x7f, 1, 2, 3, 4}, uint8(2), uint8(1), uint8(1), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, typ, cols, step, off uint8) {
		d := allTypes[int(typ)%len(allTypes)]
		size, c, st := d.Size(), int(cols)%70+1, int(step)%3+1
		buf := append(make([]byte, int(off)%8), data...)[int(off)%8:]
		rows := len(buf) / (size * c * st)
		if rows == 0 {
			return
		}
		requireSame(t, tensor.Ref{
			Base: unsafe.Pointer(unsafe.SliceData(buf)), DType: d,
			Rows: rows, Cols: c, RowStride: c * st * size, ColStride: st * size,
		}, d.String())
	})
}
