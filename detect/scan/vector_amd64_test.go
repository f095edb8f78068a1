package scan

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/tensor"
)

// withoutVectors runs f as on a machine without the assembly. Tests that use it
// must not be parallel.
func withoutVectors(f func()) {
	was := hasVectors
	hasVectors = false
	defer func() { hasVectors = was }()
	f()
}

// needVectors skips a test where there is nothing to compare.
func needVectors(t testing.TB) {
	if !hasVectors {
		t.Skip("this CPU has no AVX2 or no F16C")
	}
}

// requireSameWithout compares what the assembly says of ref with what the Go
// code says, to the last bit of the mean.
func requireSameWithout(t *testing.T, ref tensor.Ref) {
	t.Helper()
	dst := make([]byte, ref.Bytes())
	got, copied, finite := Host(ref), Capture(dst, ref), AllFinite(ref)
	if plain := unsafe.Slice((*byte)(ref.Base), ref.Bytes()); !bytes.Equal(plain, dst) {
		t.Fatalf("%v %dx%d at %d mod 64: the copy differs", ref.DType, ref.Rows, ref.Cols, uintptr(ref.Base)%64)
	}
	var want Summary
	var wantFinite bool
	withoutVectors(func() { want, wantFinite = Host(ref), AllFinite(ref) })
	if want != got || bitsOfSummary(want) != bitsOfSummary(got) || want != copied || wantFinite != finite {
		t.Fatalf("%v %dx%d at %d mod 64:\nwith vectors    %+v, finite %v\nof the copy     %+v\nwithout vectors %+v, finite %v",
			ref.DType, ref.Rows, ref.Cols, uintptr(ref.Base)%64, got, finite, copied, want, wantFinite)
	}
}

// bitsOfSummary returns the numbers of a summary for which == is not enough,
// because it holds for zeros of either sign.
func bitsOfSummary(s Summary) [4]uint64 {
	return [4]uint64{math.Float64bits(s.AbsMax), math.Float64bits(s.Min), math.Float64bits(s.Max), math.Float64bits(s.Mean)}
}

// Every type, length and alignment: all finite, with one bad value somewhere,
// and of random bits.
func TestVectorsAgree(t *testing.T) {
	needVectors(t)
	r := rand.New(rand.NewPCG(9, 10))
	lengths := []int{300, 511, 512, 513, 1023, 4096, 9000, 70_001}
	for n := range 258 {
		lengths = append(lengths, n)
	}
	for _, d := range allTypes {
		size := d.Size()
		for _, n := range lengths {
			offsets := []int{0, 1, 2, 4, 8, 12, 16, 24, 31, 32, 40, 48, 60, 63}
			if testing.Short() || n > 300 {
				offsets = offsets[:5]
			}
			buf := make([]byte, n*size+64)
			for _, off := range offsets {
				a := tensor.Array{DType: d, Shape: []int{n, 1}, Data: buf[off : off+n*size]}
				for i := range n {
					setBits(a, i, finiteBits(r, d))
				}
				ref := refOf(a)
				requireSameWithout(t, ref)
				if n == 0 {
					continue
				}
				setBits(a, r.IntN(n), randomBits(r, d))
				requireSameWithout(t, ref)
			}
			fillRandom(r, d, buf)
			requireSameWithout(t, refOf(tensor.Array{DType: d, Shape: []int{n, 1}, Data: buf[:n*size]}))
		}
	}
}

// finiteBits returns a finite pattern of type d: of any size, around one, or a
// zero of either sign.
func finiteBits(r *rand.Rand, d tensor.DType) uint64 {
	for {
		if bits := randomBits(r, d); d.Classify(bits) == tensor.Finite {
			return bits
		}
	}
}

// fillRandom fills b with elements of type d of every kind.
func fillRandom(r *rand.Rand, d tensor.DType, b []byte) {
	a := tensor.Array{DType: d, Data: b}
	for i := range len(b) / d.Size() {
		setBits(a, i, randomBits(r, d))
	}
}

// The extremes are the first of their kind, wherever they stand in a pass.
func TestVectorsFindTheFirstExtreme(t *testing.T) {
	needVectors(t)
	x := make([]float32, 5000)
	y := make([]float64, 5000)
	for i := 0; i < len(x)-7; i += 13 {
		for _, v := range []float32{-3, 3} {
			x[i], x[i+7] = v, v
			y[i], y[i+7] = float64(v), float64(v)
			s := Host(tensor.RefOf(x, 5000, 1))
			require.Equal(t, i, s.ArgMax, "float32")
			require.Equal(t, float64(3), s.AbsMax)
			require.Equal(t, s, Host(tensor.RefOf(y, 5000, 1)), "float64")
			x[i], x[i+7], y[i], y[i+7] = 0, 0, 0, 0
		}
	}
}

// Every half and every bfloat16 is widened as Go widens it; a NaN stays one.
func TestVectorsWiden(t *testing.T) {
	needVectors(t)
	var src [1 << 16]uint16
	for i := range src {
		src[i] = uint16(i)
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(&src)), 2*len(src))
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		for from := 0; from < len(b); from += blockBytes {
			var got, want [blockBytes]float32
			g := widen(&got, d, b[from:from+blockBytes])
			withoutVectors(func() { widen(&want, d, b[from:from+blockBytes]) })
			for i := range g {
				if v, w := got[i], want[i]; math.Float32bits(v) != math.Float32bits(w) && (v == v || w == w) {
					t.Fatalf("%v of %#04x is %v, want %v", d, src[from/2+i], v, w)
				}
			}
		}
	}
}

// The naive reading holds without the assembly too: it is what other machines
// run.
func TestScanWithoutVectors(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	withoutVectors(func() {
		for _, d := range allTypes {
			for _, n := range []int{0, 1, 5, 64, 257, 9001} {
				a := tensor.NewArray(d, n, 3)
				fillRandom(r, d, a.Data)
				requireSame(t, refOf(a), fmt.Sprint(d, n))
			}
		}
	})
}

func FuzzVectors(f *testing.F) {
	f.Add([]byte{0, 0, 0x80, 0x7f, 1, 2, 3, 4}, uint8(2), uint8(1), uint16(40))
	f.Add([]byte{1, 0, 0x7f, 0x7f}, uint8(0), uint8(3), uint16(700))
	f.Fuzz(func(t *testing.T, data []byte, typ, off uint8, times uint16) {
		needVectors(t)
		d := allTypes[int(typ)%len(allTypes)]
		o := int(off) % 64
		buf := make([]byte, o, o+len(data)*int(times%1000))
		for range times % 1000 { // long enough for the passes
			buf = append(buf, data...)
		}
		n := (len(buf) - o) / d.Size()
		if n == 0 {
			return
		}
		requireSameWithout(t, tensor.Ref{
			Base: unsafe.Pointer(&buf[o]), DType: d, Rows: n, Cols: 1, RowStride: d.Size(), ColStride: d.Size(),
		})
	})
}
