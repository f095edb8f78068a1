package measure

import (
	"time"
	"unsafe"

	"github.com/nanguard/nanguard/detect/scan"
	"github.com/nanguard/nanguard/tensor"
)

// HostRow is how fast the host's scanner reads arrays of one type and size, on
// one core, in 10^9 bytes per second.
type HostRow struct {
	DType     string  `json:"dtype"`
	Frame     string  `json:"frame"` // what has such a size
	Bytes     int     `json:"bytes"`
	AllFinite float64 `json:"all_finite_gb_per_s"` // is every value finite?
	Summary   float64 `json:"summary_gb_per_s"`    // counts, extremes, mean, the first bad value
	Capture   float64 `json:"capture_gb_per_s"`    // the summary of a copy made on the way, as a check does it
}

// hostSizes are the sizes that are measured: frames that occur, and one that no
// cache holds.
var hostSizes = []struct {
	frame string
	shape func(d tensor.DType) (rows, cols int)
}{
	{"4,096 x 36", func(tensor.DType) (int, int) { return 4096, 36 }},
	{"4,096 x 120", func(tensor.DType) (int, int) { return 4096, 120 }},
	{"64 MiB", func(d tensor.DType) (int, int) { return (64 << 20) / d.Size() / 64, 64 }},
}

// HostTypes are the types that Host measures.
var HostTypes = []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16}

// Host measures the scanner, each figure for as long as each.
func Host(d tensor.DType, each time.Duration) []HostRow {
	var rows []HostRow
	for _, size := range hostSizes {
		n, cols := size.shape(d)
		ref, dst := hostArray(d, n, cols)
		bytes := ref.Bytes()
		rows = append(rows, HostRow{
			DType: d.String(), Frame: size.frame, Bytes: bytes,
			AllFinite: Rate(bytes, Best(each, func() { must(scan.AllFinite(ref)) })),
			Summary:   Rate(bytes, Best(each, func() { must(scan.Host(ref).First.Class == tensor.Finite) })),
			Capture:   Rate(bytes, Best(each, func() { must(scan.Capture(dst, ref).First.Class == tensor.Finite) })),
		})
	}
	return rows
}

// HostCheck returns how long a check of the task's fields in host memory takes,
// without the guard around it: each array is scanned on its way into the ring.
func HostCheck(envs int, d time.Duration) time.Duration {
	var refs []tensor.Ref
	var rings [][]byte
	for _, f := range Humanoid {
		ref, dst := hostArray(tensor.Float32, envs, f.Cols)
		refs, rings = append(refs, ref), append(rings, dst)
	}
	return Best(d, func() {
		for i := range refs {
			must(scan.Capture(rings[i], refs[i]).First.Class == tensor.Finite)
		}
	})
}

// hostArray returns an array, and room for a copy of it that was written before.
func hostArray(d tensor.DType, rows, cols int) (ref tensor.Ref, dst []byte) {
	a := Ordinary(d, rows, cols)
	ref = tensor.Ref{
		Base: unsafe.Pointer(unsafe.SliceData(a.Data)), DType: d,
		Rows: rows, Cols: cols, RowStride: cols * d.Size(), ColStride: d.Size(),
	}
	dst = make([]byte, len(a.Data))
	copy(dst, a.Data)
	return ref, dst
}

// must ends a measurement whose answer is wrong: its time means nothing.
func must(right bool) {
	if !right {
		panic("measure: the scanner found a bad value where there is none")
	}
}
