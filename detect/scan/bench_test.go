package scan

import (
	"math/rand/v2"
	"testing"

	"github.com/nanguard/nanguard/tensor"
)

func BenchmarkAllFinite(b *testing.B) { benchTypes(b, func(r tensor.Ref) { AllFinite(r) }) }

func BenchmarkHost(b *testing.B) { benchTypes(b, func(r tensor.Ref) { Host(r) }) }

// benchTypes measures f on 64 MiB, which no cache holds, of each float type,
// and on float32 that the second-level cache holds.
func benchTypes(b *testing.B, f func(tensor.Ref)) {
	b.Helper()
	const size = 64 << 20
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16} {
		ref := randomFinite(d, size/d.Size()/64, 64)
		b.Run(d.String()+"/64MiB", func(b *testing.B) { benchRef(b, ref, f) })
	}
	b.Run("float32/256KiB", func(b *testing.B) {
		benchRef(b, randomFinite(tensor.Float32, 1<<10, 64), f)
	})
	strided := randomFinite(tensor.Float32, 1<<16, 64)
	strided.Cols = 48
	b.Run("float32/columns", func(b *testing.B) { benchRef(b, strided, f) })
}

func benchRef(b *testing.B, ref tensor.Ref, f func(tensor.Ref)) {
	b.Helper()
	b.SetBytes(int64(ref.Bytes()))
	for b.Loop() {
		f(ref)
	}
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
