package detect

import (
	"slices"

	"github.com/nanguard/nanguard/dump"
)

// runawayFactor is how far above its own past a field's largest value must
// stand for the env that holds it to be suspect. Hard landings and resets stay
// within two decades; what has gained three ends in a NaN soon.
const runawayFactor = 1e3

// runaway returns the envs that at a tick hold the largest value of a field that
// has run away, in loop order: when a field of the whole run trips (a
// normalizer's variance, a loss), they are where it came from.
func (d *dumping) runaway(s *story, tick int64) []int {
	var envs []int
	for _, f := range inOrder(d.fields) {
		t := s.held(f.id).trace
		if t == nil || !f.spec.PerEnv || f.spec.Stage == dump.StageMonitor || !f.ref.DType.IsFloat() {
			continue
		}
		n, _ := slices.BinarySearch(t.Ticks, tick+1)
		if ranAway(t.AbsMax[:n]) {
			envs = append(envs, int(t.ArgMax[n-1]))
		}
	}
	return envs
}

// ranAway reports whether the last value stands far above the median of all.
// Values below one are nothing to run away from.
func ranAway(absMax []float64) bool {
	if len(absMax) < 2 {
		return false
	}
	past := slices.Sorted(slices.Values(absMax))
	return absMax[len(absMax)-1] > runawayFactor*max(past[len(past)/2], 1)
}
