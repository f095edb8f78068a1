package detect

import (
	"cmp"
	"slices"

	"github.com/nanguard/nanguard/detect/scan"
	"github.com/nanguard/nanguard/dump"
)

// badEnvs remembers which envs went bad, in which order.
type badEnvs struct {
	bad   []bool // by env
	order []int
}

func newBadEnvs(numEnvs int) badEnvs { return badEnvs{bad: make([]bool, numEnvs)} }

// add takes in envs that are bad now.
func (b *badEnvs) add(envs []int) {
	for _, e := range envs {
		if !b.bad[e] {
			b.bad[e] = true
			b.order = append(b.order, e)
		}
	}
}

// clear forgets them all.
func (b *badEnvs) clear() {
	clear(b.bad)
	b.order = b.order[:0]
}

// tripped is a trip with what was decided when it happened.
type tripped struct {
	trip      dump.Trip
	clock     int   // of the tripping field, index in clocks
	until     int64 // count of that clock whose frames are the last to be recorded
	rows      []int // envs of the dump
	roles     []dump.Role
	timestamp string
}

// judge looks at the fields of one check that have a bad value. It keeps the
// first bad value of each and returns the trip when there was none before.
func (g *Guard) judge() *tripped {
	slices.SortStableFunc(g.bad, func(a, b *field) int { return g.before(a, b) })
	var first *field
	for _, f := range g.bad {
		if f.first == nil {
			f.first = g.firstBad(f)
		}
		if f.spec.Stage == dump.StageMonitor {
			continue
		}
		if first == nil {
			first = f
		}
		if f.spec.PerEnv {
			g.badRows = scan.BadRows(g.badRows[:0], f.view(f.ring.newest()))
			g.badEnvs.add(g.badRows)
		}
	}
	if first == nil || g.trip != nil {
		return nil
	}
	return g.tripOn(first)
}

// before orders fields by their place in the loop, then as they were bound.
func (g *Guard) before(a, b *field) int {
	return cmp.Or(cmp.Compare(a.spec.Order, b.spec.Order), cmp.Compare(g.byName[a.spec.Name], g.byName[b.spec.Name]))
}

// firstBad returns the entry of the first_bad list for the latest check of f.
func (g *Guard) firstBad(f *field) *dump.FirstBad {
	at := f.last.First
	return &dump.FirstBad{
		Field: f.spec.Name, Tick: g.tick, Clock: f.spec.Clock, Count: g.counts[f.clock],
		Env: envOf(f, at.Row), Col: at.Col, Class: at.Class.String(), EnvsBad: at.Rows,
	}
}

// envOf returns the env of a row, nil when rows are not envs.
func envOf(f *field, row int) *int {
	if !f.spec.PerEnv {
		return nil
	}
	return &row
}

// tripOn decides what belongs to a trip on the latest check of f.
func (g *Guard) tripOn(f *field) *tripped {
	b := f.first
	t := &tripped{
		trip: dump.Trip{
			Tick: b.Tick, Clock: b.Clock, Count: b.Count, Field: b.Field, Env: b.Env, Col: b.Col, Class: b.Class,
		},
		clock: f.clock, until: b.Count + int64(g.cfg.PostFrames),
		timestamp: g.timestamp(),
	}
	t.rows, t.roles = g.chooseRows(nil)
	return t
}

// timestamp returns the time as file names have it.
func (g *Guard) timestamp() string { return g.cfg.Now().Local().Format("20060102_150405") }

// firstBads returns the first_bad list in order of tick.
func (g *Guard) firstBads() []dump.FirstBad {
	var bad []*field
	for _, f := range g.fields {
		if f.first != nil {
			bad = append(bad, f)
		}
	}
	slices.SortStableFunc(bad, func(a, b *field) int {
		return cmp.Or(cmp.Compare(a.first.Tick, b.first.Tick), g.before(a, b))
	})
	list := make([]dump.FirstBad, len(bad))
	for i, f := range bad {
		list[i] = *f.first
	}
	return list
}
