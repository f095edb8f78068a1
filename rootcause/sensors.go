package rootcause

import (
	"fmt"
	"slices"
)

// sensorWords are in the labels of observation columns that come from a sensor
// or a terrain ray rather than from a formula over the state.
var sensorWords = []string{"force", "contact", "touch", "ray", "scan", "height", "lidar", "depth", "imu", "sensor", "camera", "range"}

// sensorColumn is X10: where an observation went bad first over quiet physics,
// whether its column comes from a sensor or from a formula.
func (c *Case) sensorColumn() Feature {
	r := c.root()
	if r.placed() && c.betweenObservations(r) {
		return found("term", fmt.Sprintf("%s is made by a formula from observations that are fine", r.f.label(max(r.col, 0)))).in(r.f, r.env, r.col, r.tick)
	}
	if !r.is(sensor, obs) {
		return idle("no sensor or observation went bad first")
	}
	if w, ok := c.hidden[onPhysics]; ok && w > implied && !nonFinite(r.class) {
		return unmeasured("the physics under the observation")
	}
	name := r.f.label(max(r.col, 0))
	blocks := r.blocks()
	switch {
	case r.f.kind == obs && len(blocks) >= 2:
		return found("state", fmt.Sprintf("%d parts of %s are %s at once (%s): they share the state, not a formula", len(blocks), r.name, words[r.class], few(blocks, 4))).in(r.f, r.env, r.col, r.tick)
	case c.scattered(r):
		return found("state", fmt.Sprintf("%d columns of %s are not finite at once, right after a reset: they share the state that it left", r.f.cell(r.frame, r.row).bad, r.name)).in(r.f, r.env, r.col, r.tick)
	case r.f.kind == sensor:
		return found("sensor", fmt.Sprintf("%s is a reading of the simulator's own sensors", name)).in(r.f, r.env, r.col, r.tick)
	case about(name, sensorWords...):
		return found("sensor", fmt.Sprintf("%s is made from a sensor", name)).in(r.f, r.env, r.col, r.tick)
	case r.class == "posinf" || r.class == "neginf":
		return found("sensor", fmt.Sprintf("%s is infinite, as a missed ray is", name)).in(r.f, r.env, r.col, r.tick)
	case r.f.names == nil:
		return unmeasured("labels of the observation's columns")
	}
	return found("term", fmt.Sprintf("%s is a formula over the state", name)).in(r.f, r.env, r.col, r.tick)
}

// blocks returns the parts of an observation that are non-finite in the step's
// frame: columns by their labels without the index.
func (s *step) blocks() []string {
	if s.row < 0 || len(s.f.names) == 0 {
		return nil
	}
	var out []string
	for col := range s.f.to - s.f.from {
		if finite(s.f.at(s.frame, s.row, col)) {
			continue
		}
		name := s.f.part(col)
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// scattered reports whether many columns of an observation without labels became
// non-finite at once in the first record after a reset: what they share is the
// state that it left, and no ray that missed.
func (c *Case) scattered(r *step) bool {
	if r.f.kind != obs || !r.f.unlabelled() || r.row < 0 || !c.is(X5, yes) {
		return false
	}
	bad := int(r.f.cell(r.frame, r.row).bad)
	cols := r.f.to - r.f.from
	return bad >= 3 && 4*bad >= cols && bad < cols // all of it is filler
}

// unlabelled reports whether the columns of a field have no labels but the
// field's name and their number.
func (f *field) unlabelled() bool {
	return f.part(0) == f.Name && f.part(f.to-f.from-1) == f.Name
}
