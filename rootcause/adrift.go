package rootcause

import (
	"fmt"
	"math"

	"github.com/nanguard/nanguard/tensor"
)

// The bounds of positions that rounding holds: units of their last place that the
// speeds say they have gone, and the share of that which they may have gone.
const (
	adriftUnits = 2.0
	adriftShare = 0.2
	adriftSpeed = 0.01 // m/s or rad/s: what rests has speeds that no place can show
)

// heldPlace finds positions that do not follow their speeds because a step of them
// is less than half the last place of the position, in every env: a map's
// coordinates in single precision. What is recorded in fewer digits than it has is
// off by one place at most.
func (c *Case) heldPlace() (Feature, bool) {
	q, v := c.first(qpos), c.first(qvel)
	dt := c.timestep()
	if q.len() != v.len() || q.len() < roundedFor || q.rows != v.rows || dt <= 0 || q.frames.Values.DType != tensor.Float32 {
		return Feature{}, false
	}
	for _, p := range c.pairs(q, v) {
		if out, ok := c.heldColumn(q, v, p, dt); ok {
			return out, true
		}
	}
	return Feature{}, false
}

// heldColumn judges one joint of all envs.
func (c *Case) heldColumn(q, v *field, p pair, dt float64) (Feature, bool) {
	worst, unit := 0.0, 0.0
	for row := range q.rows {
		want, gone := 0.0, 0.0
		for i := 1; i < q.len(); i++ {
			u := lastPlace(q.at(i, row, p.q), "float32")
			step := dt * v.at(i, row, p.v)
			if !(math.Abs(step) < u/2) || cutBetween(c.resets[q.env(row)], q.frames.Ticks[i-1], q.frames.Ticks[i]) {
				return Feature{}, false
			}
			unit = u
			want += step
			gone += q.at(i, row, p.q) - q.at(i-1, row, p.q)
		}
		if math.Abs(want) < adriftUnits*unit || math.Abs(want) < adriftSpeed*dt*float64(q.len()) || math.Abs(gone) > adriftShare*math.Abs(want) {
			return Feature{}, false
		}
		worst = math.Max(worst, math.Abs(want))
	}
	last := q.len() - 1
	out := found(yes, fmt.Sprintf("%s stands still in every env for %s although %s says that it has gone up to %s: at %s the last place of float32 is %s, and every step is less than half of that",
		q.label(p.q), q.clockWord(q.len()), v.label(p.v), num(worst), num(q.at(last, 0, p.q)), num(unit)))
	out.Measured, out.Baseline = worst, unit
	return out.in(q, -1, p.q, q.frames.Ticks[0]), true
}
