package gpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/detect/scan"
	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
	"github.com/nanguard/nanguard/tensor"
)

// view is an array somewhere in a piece of memory.
type view struct {
	name                       string
	dtype                      tensor.DType
	rows, cols, rowStep, colBy int // strides in elements
	at                         int // first element
	off                        int // bytes between an aligned address and the memory
}

// viewsOf returns views of every kind on memory of n x n elements.
func viewsOf(d tensor.DType, n int) []view {
	return []view{
		{"C order", d, n, n, n, 1, 0, 0},
		{"C order at +16", d, n, n, n, 1, 0, 16},
		{"one element on", d, n - 1, n, n, 1, 1, 0},
		{"unaligned", d, n, n, n, 1, 0, 3},
		{"columns", d, n, n / 3, n, 1, n / 2, 0},
		{"every second", d, n / 2, n / 2, 2 * n, 2, 0, 0},
		{"transposed", d, n, n, 1, n, 0, 0},
		{"reversed", d, n, n, -n, -1, n*n - 1, 0},
		{"one row, many", d, 3 * n, n, 0, 1, n, 0},
		{"one value", d, n, n, 0, 0, n, 0},
		{"overlapping", d, n, n / 2, 1, 1, 0, 0},
		{"one column", d, n, 1, n, n, n - 1, 0},
		{"one row", d, 1, n, n, 1, 2 * n, 0},
		{"no rows", d, 0, n, n, 1, 0, 0},
		{"no columns", d, n, 0, 0, 1, 0, 0},
		{"one element", d, 1, 1, 1, 1, 7, 0},
		{"odd length", d, 1, n*n - 3, 1, 1, 0, 0},
	}
}

var allTypes = []tensor.DType{
	tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64,
	tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64,
	tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64, tensor.Bool,
}

// TestScanAgreesWithHost scans random bits in memory of every shape and stride
// and compares all that the kernel says with the scanner of the host.
func TestScanAgreesWithHost(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		for seed := range uint64(2) {
			for _, typ := range allTypes {
				for _, few := range []bool{true, false} {
					t.Run(fmt.Sprint(typ, seed, few), func(t *testing.T) { compareViews(t, d, viewsOf(typ, 61), seed, few) })
				}
			}
		}
	})
}

// TestScanOfManyChunks does the same on arrays that many blocks share, each of
// them more than one round.
func TestScanOfManyChunks(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		n := 300 // x 300 x 4 bytes on the 4 multiprocessors of the fake
		if dev, err := d.Device(0); err == nil && dev.Multiprocessors > 4 {
			n = 1500
		}
		for _, typ := range []tensor.DType{tensor.Float32, tensor.Float16, tensor.Float64, tensor.Uint8} {
			for _, few := range []bool{true, false} {
				t.Run(fmt.Sprint(typ, few), func(t *testing.T) { compareViews(t, d, viewsOf(typ, n)[:7], 5, few) })
			}
		}
	})
}

// compareViews checks the views as fields of one engine.
func compareViews(t *testing.T, d *cuda.Driver, views []view, seed uint64, few bool) {
	r := rand.New(rand.NewPCG(seed, 1))
	c := Config{}
	for i, v := range views {
		c.Fields = append(c.Fields, Field{DType: v.dtype, Rows: v.rows, Cols: v.cols, Rank: i, Slots: 1, TraceLen: 1})
	}
	g := newRig(t, d, c)
	var args []Arg
	var refs []tensor.Ref
	for i, v := range views {
		size := v.dtype.Size()
		n := 0
		for _, w := range views {
			n = max(n, w.rows*w.cols)
		}
		data := make([]byte, n*size+64)
		data = data[:len(data)/size*size]
		randomBits(r, v.dtype, data, few)
		args = append(args, Arg{i, g.put(data, v.off) + uintptr(v.at*size), v.rowStep * size, v.colBy * size})
		refs = append(refs, hostRef(data, v.dtype, v.at*size, v.rows, v.cols, v.rowStep*size, v.colBy*size))
	}
	require.NoError(t, g.Check(0, 0, true, args))
	s := g.freeze()
	for i, v := range views {
		compareField(t, s, i, refs[i], v.name)
	}
}

// compareField compares everything that is known of a field's last frame.
func compareField(t *testing.T, s *Snapshot, field int, ref tensor.Ref, name string) {
	t.Helper()
	want := scan.Host(ref)
	trace, err := s.Trace(field)
	require.NoError(t, err)
	got := summary(trace[len(trace)-1])

	requireMean(t, ref, want, &got, name)
	first, bad := s.FirstBad(field)
	if bad {
		got.First = scan.First{Row: first.Row, Col: first.Col, Class: tensor.Class(first.Class), Rows: first.Rows}
	}
	require.Equal(t, want, got, name)

	frames, err := s.Frames(field, nil)
	require.NoError(t, err)
	bytes := make([]byte, ref.Bytes())
	scan.Copy(bytes, ref)
	require.True(t, string(bytes) == string(frames.Values.Data[len(frames.Values.Data)-len(bytes):]), "%s: the frame is another", name)
}

// requireMean compares the means, whose last bits depend on the order of
// addition, and takes the difference out of got.
func requireMean(t *testing.T, ref tensor.Ref, want scan.Summary, got *scan.Summary, name string) {
	t.Helper()
	limit := meanOfAbs(ref) * 0x1p-40
	if ref.DType.IsFloat() && ref.DType != tensor.Float64 {
		limit = meanOfAbs(ref) * 0x1p-22 // neighbours are added as float32
	}
	if math.IsInf(limit, 0) {
		limit = want.AbsMax * 0x1p-40
	}
	require.LessOrEqual(t, math.Abs(want.Mean/2-got.Mean/2), limit, "%s: mean %v, want %v", name, got.Mean, want.Mean)
	got.Mean = want.Mean
}

// meanOfAbs returns the mean absolute value of the finite elements.
func meanOfAbs(ref tensor.Ref) float64 {
	b := make([]byte, ref.Bytes())
	scan.Copy(b, ref)
	a := tensor.Array{DType: ref.DType, Shape: []int{ref.Rows, ref.Cols}, Data: b}
	sum, n := 0.0, 0
	for i := range a.Len() {
		if a.Class(i) == tensor.Finite {
			sum += math.Abs(a.Float64(i))
			n++
		}
	}
	return sum / float64(max(1, n))
}

// A sum of float64 that overflows gives the mean all the same, within a chunk
// and only when the chunks are added.
func TestMeanOfHugeNumbers(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		for _, n := range []int{3, 4, 600, 3000, 100_000} {
			x := make([]float64, n)
			for i := range x {
				x[i] = math.MaxFloat64 / 2
			}
			g := newRig(t, d, Config{Fields: []Field{{DType: tensor.Float64, Rows: n, Cols: 1, TraceLen: 1}}})
			g.check(0, g.put(bytesOfSlice(x), 0))
			trace, err := g.freeze().Trace(0)
			require.NoError(t, err)
			assert.InEpsilon(t, math.MaxFloat64/2, trace[0].Mean, 0x1p-40, n)
			assert.Zero(t, trace[0].NaN+trace[0].PosInf+trace[0].NegInf)
		}
	})
}

// A single bad value is found wherever it stands.
func TestOneBadValueAnywhere(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		const rows, cols = 37, 61
		g := newRig(t, d, Config{NumEnvs: rows, Fields: []Field{{DType: tensor.Float32, Rows: rows, Cols: cols, MarkEnvs: true, TraceLen: 1}}})
		step := 1
		if d.Version() == 12000 && testing.Short() {
			step = 17
		}
		for at := 0; at < rows*cols; at += 97 * step {
			addr := g.put(repeat(rows*cols, 1, map[int]float32{at: inf}), 0)
			g.check(0, addr)
			g.sync()
			s, err := g.Snapshot()
			require.NoError(t, err)
			first, ok := s.FirstBad(0)
			require.True(t, ok)
			tick := s.Tick()
			require.Equal(t, Bad{Tick: tick, Count: tick, Row: at / cols, Col: at % cols, Class: Class(tensor.PosInf), Rows: 1}, first)
			envs, err := s.BadEnvs()
			require.NoError(t, err)
			require.Equal(t, []BadEnv{{Env: at / cols, Tick: tick}}, envs)
			require.NoError(t, g.Rearm(0))
		}
	})
}

// FuzzScan lets any bytes be a field of any type, shape, stride and alignment.
func FuzzScan(f *testing.F) {
	f.Add([]byte{0, 0, 0x80, 0x7f, 1, 2, 3, 4}, uint8(2), uint8(1), uint8(1), uint8(0))
	d := cudatest.Host(f)
	f.Fuzz(func(t *testing.T, data []byte, typ, cols, step, off uint8) {
		typed := allTypes[int(typ)%len(allTypes)]
		size, c, st := typed.Size(), int(cols)%70+1, int(step)%3+1
		rows := len(data) / (size * c * st)
		g := newRig(t, d, Config{Fields: []Field{{DType: typed, Rows: rows, Cols: c, Slots: 1, TraceLen: 1}}})
		args := []Arg{{0, g.put(data, int(off)%20), c * st * size, st * size}}
		require.NoError(t, g.Check(0, 0, true, args))
		compareField(t, g.freeze(), 0, hostRef(data, typed, 0, rows, c, c*st*size, st*size), typed.String())
	})
}

// Zero has no sign in a summary, whatever sign the elements have.
func TestZeroHasNoSign(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		g := newRig(t, d, Config{Fields: []Field{{DType: tensor.Float32, Rows: 1, Cols: 8, TraceLen: 1}}})
		g.check(0, g.put(repeat(8, float32(math.Copysign(0, -1)), nil), 0))
		trace, err := g.freeze().Trace(0)
		require.NoError(t, err)
		assert.False(t, math.Signbit(trace[0].Min) || math.Signbit(trace[0].Max) || math.Signbit(trace[0].AbsMax))
	})
}
