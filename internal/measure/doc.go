// Package measure takes the times that nanguard tells of itself: what the
// commands say of a machine, and what the benchmarks of the repository report.
// It measures the host's scanner and times what others enqueue on a GPU; the
// fields and the arrays are those of one task, so that numbers can be compared.
package measure

import (
	"slices"
	"time"
)

// Best returns the shortest of the times that f takes. It runs f at least three
// times, and for as long as d. On a machine with other work, which can only make
// f slower, the shortest time says most.
func Best(d time.Duration, f func()) time.Duration {
	best := time.Duration(1<<63 - 1)
	for n, began := 0, time.Now(); n < 3 || time.Since(began) < d; n++ {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return best
}

// Median returns the middle one of some times, 0 of none.
func Median(times []time.Duration) time.Duration {
	if len(times) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(times))
	return s[len(s)/2]
}

// Rate returns 10^9 bytes per second, 0 when no time was measured.
func Rate(bytes int, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(bytes) / d.Seconds() / 1e9
}
