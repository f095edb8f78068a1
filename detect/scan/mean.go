package scan

import (
	"math"

	"github.com/nanguard/nanguard/tensor"
)

// scaledMean returns the mean of the n finite elements of a float64 array
// whose plain sum overflows.
func scaledMean(ref tensor.Ref, n float64) float64 {
	const down, up = 0x1p-80, 0x1p80
	var sum [4]float64
	var room scratch
	b := newBlocks(ref)
	i := 0
	for p := b.next(room.bytes()); len(p) > 0; p = b.next(room.bytes()) {
		for _, v := range viewAs[float64](p) {
			if math.Abs(v) <= math.MaxFloat64 {
				sum[i&3] += v * down
			}
			i++
		}
	}
	mean := ((sum[0] + sum[1]) + (sum[2] + sum[3])) / n * up
	return max(-math.MaxFloat64, min(mean, math.MaxFloat64)) // rounding up may lead just past the largest
}
