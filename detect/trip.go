package detect

import (
	"cmp"
	"slices"

	"github.com/nanguard/nanguard/dump"
)

// badEnvs remembers which envs went bad, in which order.
type badEnvs struct {
	bad   []bool // by env
	order []badEnv
}

func newBadEnvs(numEnvs int) badEnvs { return badEnvs{bad: make([]bool, numEnvs)} }

// add takes in envs that are bad now.
func (b *badEnvs) add(envs []int, tick int64) {
	for _, e := range envs {
		if !b.bad[e] {
			b.bad[e] = true
			b.order = append(b.order, badEnv{e, tick})
		}
	}
}

// clear forgets them all.
func (b *badEnvs) clear() {
	clear(b.bad)
	b.order = b.order[:0]
}

// tripped is a trip with what was decided when it was noticed.
type tripped struct {
	trip      dump.Trip
	number    int // as Verdict has it
	timestamp string
}

// timestamp returns the time as file names have it.
func (g *Guard) timestamp() string { return g.cfg.Now().Local().Format("20060102_150405") }

// inOrder returns fields in loop order: by their place, then as they were bound.
func inOrder(fields []*field) []*field {
	fields = slices.Clone(fields)
	slices.SortStableFunc(fields, func(a, b *field) int { return cmp.Compare(a.spec.Order, b.spec.Order) })
	return fields
}

// enter takes note of a trip.
func (g *Guard) enter(t dump.Trip) {
	g.trips++
	g.trip = &tripped{t, g.trips, g.timestamp()}
	g.untold = append(g.untold, t)
	if g.phase == recording {
		g.phase = recordingPost
	}
	g.verdict.Store(&Verdict{Trip: t, Number: g.trips})
}
