package detect

import (
	"maps"
	"slices"

	"github.com/nanguard/nanguard/dump"
)

// head returns a draft of everything but frames and traces. The caller holds
// the lock; the draft shares nothing that the loop may change.
func (g *Guard) head(reason string, blamed []int) *dump.Draft {
	rows, roles, stamp := g.dumpRows(blamed)
	d := &dump.Draft{
		Manifest: dump.Manifest{
			Run: g.cfg.Run, NumEnvs: g.cfg.NumEnvs, EnvIDs: rows, EnvRoles: roles,
			Clocks: map[dump.Clock]int64{}, FirstBad: g.firstBads(),
			Events: g.events.draft(rows, g.tick), Facts: maps.Clone(g.facts),
		},
		Meta: dump.MetaDraft{
			BadEnvIDs: slices.Sorted(slices.Values(g.badEnvs.order)), DetectionStep: g.detectionStep(),
			Timestamp: stamp, Note: reason,
		},
		Model: g.cfg.Model,
	}
	for i, n := range g.counts {
		if n > 0 || g.watches(i) {
			d.Manifest.Clocks[clocks[i]] = n
		}
	}
	if g.trip != nil {
		trip := g.trip.trip
		d.Manifest.Trip = &trip
	}
	if reason != "" {
		d.Manifest.Events = append(d.Manifest.Events, dump.Event{Tick: g.tick, Kind: dump.EventNote, Count: len(blamed), Detail: reason})
	}
	if d.Manifest.Run.Exception == "" && exceptionText.MatchString(reason) {
		d.Manifest.Run.Exception = reason
	}
	g.addressFacts(d.Manifest.Facts)
	return d
}

// dumpRows returns the envs of the dump and its time: those of the trip, or, for
// a dump that was asked for, of now.
func (g *Guard) dumpRows(blamed []int) (rows []int, roles []dump.Role, stamp string) {
	if g.trip != nil && len(blamed) == 0 {
		return g.trip.rows, g.trip.roles, g.trip.timestamp
	}
	rows, roles = g.chooseRows(blamed)
	return rows, roles, g.timestamp()
}

// watches reports whether a field of the clock was captured.
func (g *Guard) watches(clock int) bool {
	return slices.ContainsFunc(g.fields, func(f *field) bool { return f.clock == clock && f.ring.n > 0 })
}

// detectionStep returns mjlab's counter: the substeps so far or, where there is
// no such clock, the steps or whatever the trip was counted in.
func (g *Guard) detectionStep() int64 {
	for _, n := range g.counts {
		if n > 0 {
			return n
		}
	}
	return 0
}

// body adds frames, traces and states to a draft. It needs no lock as long as
// nothing is captured.
func (g *Guard) body(d *dump.Draft) {
	for _, f := range g.inOrder() {
		if f.ring.n == 0 {
			continue
		}
		d.Manifest.Fields = append(d.Manifest.Fields, f.spec)
		d.Fields = append(d.Fields, dump.FieldDraft{
			Name: f.spec.Name, Frames: f.frames(d.Manifest.EnvIDs), Trace: f.trace.draft(),
		})
	}
	d.States = states(d, g.cfg.StateSpec)
}
