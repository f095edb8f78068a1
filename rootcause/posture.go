package rootcause

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/nanguard/nanguard/mjb"
)

// How far a state must be from what it should be to be worth a sentence.
const (
	beyond  = 0.2  // rad or m past a joint's limit
	crooked = 1e-2 // of a quaternion's norm
	gravity = 9.81 // m/s²
)

// posture says what else is wrong with the state in the frame where the speeds
// set out: a quaternion that is none, a joint far past its limit, a free fall.
func (c *Case) posture(g *growth, env int) string {
	text := c.fall(g)
	q := c.first(qpos)
	row := q.row(env)
	if c.model == nil || q.len() == 0 || row < 0 {
		return text
	}
	i := q.upTo(g.f.frames.Ticks[g.from])
	if i < 0 || q.cell(i, row).bad > 0 {
		return text
	}
	if name, norm := c.worstQuaternion(q, i, row); math.Abs(norm-1) > crooked {
		text += fmt.Sprintf("; the quaternion of %s had a norm of %s before that", name, num(norm))
	}
	if name, past := c.worstLimit(q, i, row); past > beyond {
		text += fmt.Sprintf("; joint %s was %s past its limit before that", name, num(past))
	}
	return text
}

// worstQuaternion returns the free or ball joint whose quaternion is furthest
// from a unit one, with its norm; 1 when there is none.
func (c *Case) worstQuaternion(q *field, i, row int) (name string, norm float64) {
	norm = 1
	for _, j := range c.model.Joints {
		at := j.QposAdr
		if j.Type == mjb.FreeJoint {
			at += 3
		} else if j.Type != mjb.BallJoint {
			continue
		}
		if at < 0 || at+4 > q.to-q.from {
			continue
		}
		n := 0.0
		for k := range 4 {
			n += q.at(i, row, at+k) * q.at(i, row, at+k)
		}
		if n = math.Sqrt(n); math.Abs(n-1) > math.Abs(norm-1) {
			name, norm = j.Name, n
		}
	}
	return name, norm
}

// worstLimit returns the joint that is furthest past its range and by how much,
// in rad or m.
func (c *Case) worstLimit(q *field, i, row int) (name string, past float64) {
	for _, j := range c.model.Joints {
		if !j.Limited || j.Type != mjb.HingeJoint && j.Type != mjb.SlideJoint || j.QposAdr < 0 || j.QposAdr >= q.to-q.from {
			continue
		}
		v := q.at(i, row, j.QposAdr)
		if d := math.Max(j.Range[0]-v, v-j.Range[1]); d > past {
			name, past = j.Name, d
		}
	}
	return name, past
}

// fall says that the fastest column is in free fall: linear in time, at g.
func (c *Case) fall(g *growth) string {
	dt := c.timestep()
	lo := max(0, g.to-enough)
	if dt <= 0 || g.f.kind != qvel || g.to-lo < enough {
		return ""
	}
	x, y := make([]float64, 0, enough), make([]float64, 0, enough)
	for i := lo; i <= g.to; i++ {
		x, y = append(x, float64(i-lo)*dt), append(y, g.f.at(i, g.row, g.lead))
	}
	a, slope := stat.LinearRegression(x, y, nil, false)
	if math.Abs(math.Abs(slope)-gravity) > 0.05*gravity || stat.RSquared(x, y, nil, a, slope) < 0.99 {
		return ""
	}
	return fmt.Sprintf("; %s is in free fall (%s m/s²)", g.f.label(g.lead), num(slope))
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
