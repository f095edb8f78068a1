package rootcause

import "math"

// plane is mjtGeom's infinite plane.
const plane = 0

// air is how far above the ground every geom must be for a contact with it to be
// out of the question, m.
const air = 0.05

// clearance returns how far the lowest geom of a body that can touch something is
// above the ground, by the model's kinematics. ok is false where that says nothing:
// without a model, where something else than a plane can be touched, or where the
// bodies can touch one another.
func (c *Case) clearance(q *field, i, row int) (m float64, ok bool) {
	if c.model == nil || q.len() == 0 || row < 0 || i < 0 || q.cell(i, row).bad > 0 {
		return 0, false
	}
	pos := make([]float64, q.to-q.from)
	for col := range pos {
		pos[col] = q.at(i, row, col)
	}
	poses := c.model.Kinematics(pos, nil, nil)
	if poses == nil || !c.onlyGround() {
		return 0, false
	}
	lowest := math.Inf(1)
	for k := range c.model.Geoms {
		g := &c.model.Geoms[k]
		if g.Body == 0 || g.ConType == 0 && g.ConAff == 0 {
			continue
		}
		p := poses[g.Body].At(g.Pos)
		lowest = math.Min(lowest, p[2]-g.Size[0]-g.Size[1]-g.Size[2]) // no shape reaches further
	}
	return lowest, !math.IsInf(lowest, 0)
}

// onlyGround reports whether the bodies of the model can touch horizontal planes
// at zero and nothing else, not even one another.
func (c *Case) onlyGround() bool {
	ground := false
	for k := range c.model.Geoms {
		g := &c.model.Geoms[k]
		if g.ConType == 0 && g.ConAff == 0 {
			continue
		}
		if g.Body == 0 {
			if g.Type != plane || g.Pos[2] > 0 || math.Abs(g.Quat[1])+math.Abs(g.Quat[2]) > 1e-6 {
				return false
			}
			ground = true
			continue
		}
		for j := range c.model.Geoms[:k] {
			if h := &c.model.Geoms[j]; h.Body != 0 && h.Body != g.Body && (g.ConType&h.ConAff != 0 || h.ConType&g.ConAff != 0) {
				return false
			}
		}
	}
	return ground
}
