package rootcause

import (
	"fmt"
	"math"

	"github.com/nanguard/nanguard/mjb"
)

// The types of geom that have an inside, by mjtGeom, and how many of their sizes
// are half-widths.
var halfWidths = map[int]int{2: 1, 3: 1, 4: 3, 5: 2, 6: 3, 7: 3} // sphere, capsule, ellipsoid, cylinder, box, mesh

// stride is how far a geom moved in one step, against its smallest half-width.
type stride struct {
	geom *mjb.Geom
	half float64 // m
	move float64 // m
	i    int     // frame
}

// ratio returns the move in half-widths.
func (s *stride) ratio() float64 {
	if s.half <= 0 {
		return 0
	}
	return s.move / s.half
}

// tunnelling is X26: a geom moved further than its own smallest half-width in one
// step while the speeds were still ordinary: what it should hit is inside it, or
// behind it, when the solver first sees the contact. Its absence says nothing.
func (c *Case) tunnelling() Feature {
	r := c.root()
	q, v := c.first(qpos), c.first(qvel)
	if c.inverses() == nil || q.len() == 0 || q.len() != v.len() || c.timestep() <= 0 {
		return unmeasured("qpos and qvel beside a compiled model (.mjb): how far bodies move in a step")
	}
	if !r.is(body...) || v.row(r.env) < 0 || c.is(X14, "none", "never") || c.is(X2, yes, "air") {
		return idle("no physics with contacts that runs away")
	}
	until := r.tick
	if g, ok := c.growthOf(v, r.env, r.tick+1); ok {
		until = v.frames.Ticks[g.from] + 1 // what moves on the way up is what the fault did
	}
	row := v.row(r.env)
	worst := c.longestStride(q, v, row, until)
	if worst.ratio() <= 1 {
		return idle("no body moved further than its own half-width in a step before it ran away")
	}
	f := found(yes, fmt.Sprintf("geom %s of env %d moved %s m in one step of %s s at an ordinary speed, further than its half-width of %s m: it can be inside or behind what it should hit before a contact is seen",
		geomName(c.model, worst.geom), r.env, num(worst.move), num(c.timestep()), num(worst.half)))
	f.Measured, f.Baseline = worst.move, worst.half
	return f.in(v, r.env, -1, v.frames.Ticks[worst.i])
}

// slowStep returns the step in which the geom that moved too far would move its
// half-width, 0 where none did.
func (c *Case) slowStep() float64 {
	f := c.feature(X26)
	if f.Value != yes {
		return 0
	}
	return c.timestep() * f.Baseline / f.Measured
}

// geomName names a geom, or the body of one without a name.
func geomName(m *mjb.Model, g *mjb.Geom) string {
	if g.Name == "" && g.Body < len(m.Bodies) {
		return "of body " + m.Bodies[g.Body].Name
	}
	return g.Name
}

// longestStride returns the longest move of any geom of a row, in half-widths, in
// the last frames before a tick in which its speeds were still ordinary.
func (c *Case) longestStride(q, v *field, row int, until int64) stride {
	var worst stride
	lo, hi := v.window(c.lastReset(v.env(row), until), until, enough)
	for i := lo; i < hi; i++ {
		if v.state(i, row) != "" || q.frames.Ticks[i] != v.frames.Ticks[i] || q.cell(i, row).bad > 0 {
			continue
		}
		if s := c.strideIn(q, v, i, row); s.ratio() > worst.ratio() {
			worst = s
		}
	}
	return worst
}

// strideIn returns the longest move of a frame: of the geoms' middles, by the
// speeds of hinges, slides and the translation of free joints over one step.
func (c *Case) strideIn(q, v *field, i, row int) stride {
	var worst stride
	from := make([]float64, q.to-q.from)
	for col := range from {
		from[col] = q.at(i, row, col)
	}
	to := append([]float64(nil), from...)
	for _, p := range c.pairs(q, v) {
		to[p.q] += c.timestep() * v.at(i, row, p.v)
	}
	a, b := c.model.Kinematics(from, nil, nil), c.model.Kinematics(to, nil, nil)
	for k := range c.model.Geoms {
		g := &c.model.Geoms[k]
		half := halfWidth(g)
		if half <= 0 || g.Body == 0 || g.Body >= len(a) || g.Body >= len(b) || g.ConType == 0 && g.ConAff == 0 {
			continue
		}
		x, y := a[g.Body].At(g.Pos), b[g.Body].At(g.Pos)
		move := math.Hypot(math.Hypot(y[0]-x[0], y[1]-x[1]), y[2]-x[2])
		if s := (stride{g, half, move, i}); s.ratio() > worst.ratio() {
			worst = s
		}
	}
	return worst
}

// halfWidth returns the smallest half-width of a geom, 0 for one without an inside.
func halfWidth(g *mjb.Geom) float64 {
	least := 0.0
	for k := range halfWidths[g.Type] {
		if least == 0 || g.Size[k] < least {
			least = g.Size[k]
		}
	}
	return least
}
