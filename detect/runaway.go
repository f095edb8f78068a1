package detect

import (
	"slices"

	"github.com/nanguard/nanguard/dump"
)

// runawayFactor is how far above its own past a field's largest value must
// stand for the env that holds it to be suspect. Hard landings and resets stay
// within two decades; what has gained three ends in a NaN soon.
const runawayFactor = 1e3

// runaway returns the envs that hold the largest value of a field that has run
// away, in loop order: when a field of the whole run trips (a normalizer's
// variance, a loss), they are where it came from.
func (g *Guard) runaway() []int {
	var envs []int
	for _, f := range g.inOrder() {
		if f.spec.PerEnv && f.spec.Stage != dump.StageMonitor && f.ref.DType.IsFloat() && f.trace.ranAway() {
			envs = append(envs, f.trace.newest().argMax)
		}
	}
	return envs
}

// inOrder returns the fields in loop order.
func (g *Guard) inOrder() []*field {
	fields := slices.Clone(g.fields)
	slices.SortStableFunc(fields, g.before)
	return fields
}

// newest returns the latest summary; there must be one.
func (t *trace) newest() *traceRow { return &t.rows[(t.next-1+len(t.rows))%len(t.rows)] }

// ranAway reports whether the latest summary stands far above the median of the
// trace. Values below one are nothing to run away from.
func (t *trace) ranAway() bool {
	if t.n < 2 {
		return false
	}
	past := make([]float64, t.n)
	for i := range past {
		past[i] = t.rows[(t.next-t.n+i+len(t.rows))%len(t.rows)].absMax
	}
	slices.Sort(past)
	return t.newest().absMax > runawayFactor*max(past[len(past)/2], 1)
}
