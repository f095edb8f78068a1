package scan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"github.com/nanguard/nanguard/tensor"
)

func BenchmarkAllFinite(b *testing.B) { benchTypes(b, func(r tensor.Ref) { AllFinite(r) }) }

func BenchmarkHost(b *testing.B) { benchTypes(b, func(r tensor.Ref) { Host(r) }) }

func BenchmarkCapture(b *testing.B) {
	dst := make([]byte, 64<<20)
	benchTypes(b, func(r tensor.Ref) { Capture(dst[:r.Bytes()], r) })
}

// BenchmarkCopyThenHost is what Capture does in one pass.
func BenchmarkCopyThenHost(b *testing.B) {
	dst := make([]byte, 64<<20)
	benchTypes(b, func(r tensor.Ref) {
		Copy(dst[:r.Bytes()], r)
		r.Base = unsafe.Pointer(&dst[0])
		r.RowStride = r.Cols * r.ColStride
		Host(r)
	})
}

// benchTypes measures f on each float type: frames of qpos and of a critic's
// observation at 4,096 envs, and 64 MiB, which no cache holds. benchRef adds the
// best run to the mean, which means little on a busy machine.
func benchTypes(b *testing.B, f func(tensor.Ref)) {
	b.Helper()
	const size = 64 << 20
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16} {
		for _, cols := range []int{36, 120} {
			ref := randomFinite(d, 4096, cols)
			b.Run(fmt.Sprintf("%v/4096x%d", d, cols), func(b *testing.B) { benchRef(b, ref, f) })
		}
		ref := randomFinite(d, size/d.Size()/64, 64)
		b.Run(d.String()+"/64MiB", func(b *testing.B) { benchRef(b, ref, f) })
	}
	strided := randomFinite(tensor.Float32, 1<<16, 64)
	strided.Cols = 48
	b.Run("float32/columns", func(b *testing.B) { benchRef(b, strided, f) })
}

func benchRef(b *testing.B, ref tensor.Ref, f func(tensor.Ref)) {
	b.Helper()
	b.SetBytes(int64(ref.Bytes()))
	best := time.Duration(math.MaxInt64)
	for b.Loop() {
		start := time.Now()
		f(ref)
		best = min(best, time.Since(start))
	}
	b.ReportMetric(float64(ref.Bytes())/best.Seconds()/1e9, "best-GB/s")
}

func BenchmarkCopy(b *testing.B) {
	ref := randomFinite(tensor.Float32, 4096, 36)
	dst := make([]byte, ref.Bytes())
	benchRef(b, ref, func(r tensor.Ref) { Copy(dst, r) })
}

func BenchmarkBadRows(b *testing.B) {
	ref := randomFinite(tensor.Float32, 4096, 36)
	var rows []int
	benchRef(b, ref, func(r tensor.Ref) { rows = BadRows(rows[:0], r) })
}

// randomFinite returns rows x cols normal values around zero.
func randomFinite(d tensor.DType, rows, cols int) tensor.Ref {
	r := rand.New(rand.NewPCG(1, 2))
	a := tensor.NewArray(d, rows, cols)
	for i := range rows * cols {
		setBits(a, i, bitsOf(d, r.NormFloat64()))
	}
	return refOf(a)
}
