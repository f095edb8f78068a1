package rootcause

import (
	"fmt"
	"math"
)

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

// inTheAir is X2 where no counter of constraints is recorded: whether the env was
// clear of the ground in the last frame in which it was fine.
func (c *Case) inTheAir(r *step) (Feature, bool) {
	q := c.first(qpos)
	i, row := q.upTo(r.tick-1), q.row(r.env)
	m, ok := c.clearance(q, i, row)
	if !ok {
		return Feature{}, false
	}
	if m < air {
		return Feature{}, false // near it: a contact is possible, and not more
	}
	f := found("air", fmt.Sprintf("every part of env %d was at least %s m above the ground before it ran away, and can touch nothing else", r.env, num(m)))
	f.Measured, f.Baseline = m, air
	return f.in(q, r.env, -1, q.frames.Ticks[i]), true
}

// kinetic returns the kinetic energy of a row's speeds in J, by the diagonal of the
// inertia that each dof moves; 0 where the model does not say.
func (c *Case) kinetic(v *field, i, row int) float64 {
	inv := c.inverses()
	if v == nil || v.kind != qvel || len(inv) != v.to-v.from {
		return 0
	}
	sum := 0.0
	for col, w := range inv {
		if s := v.at(i, row, col); w > 0 && finite(s) {
			sum += s * s / (2 * w)
		}
	}
	return sum
}

// energy says how the kinetic energy grew on a way up, "" where it is not known.
func (c *Case) energy(g *growth) string {
	was, is := c.kinetic(g.f, g.from, g.row), c.kinetic(g.f, g.to, g.row)
	if !(is > 100*was) || was <= 0 || math.IsInf(is, 0) {
		return ""
	}
	return fmt.Sprintf("; its kinetic energy rose from %s to %s J", num(was), num(is))
}
