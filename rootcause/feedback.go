package rootcause

import (
	"fmt"
	"math"
)

// feedbackFor is how many gains of a speed in a row, each in the same direction and
// larger than the one before, no play of contacts makes.
const feedbackFor = 8

// feedback is X30: what ran away pushes itself. Up to where its speed is past any
// healthy one, each step adds more than the one before and in the same direction, as
// a damping, an armature or a mass below zero makes it. Contacts kick, and gains that a
// step cannot follow swing from side to side. That it is otherwise says nothing.
func (c *Case) feedback() Feature {
	r, v := c.root(), c.velocity()
	switch {
	case !r.is(body...) || r.class != growing && r.class != huge || r.row < 0:
		return idle("no physics that is seen to run away")
	case v.len() == 0 || v.row(r.env) < 0:
		return unmeasured("qvel of the env that ran away")
	}
	row, end := v.row(r.env), v.upTo(r.tick)
	lo := v.upTo(c.lastReset(r.env, r.tick)-1) + 1
	if end < 0 || v.cell(end, row).bad > 0 || v.cell(end, row).max < v.limit {
		return idle("no speed past any healthy one where it ran away")
	}
	col := int(v.cell(end, row).arg)
	n := 0
	for i := end; i-2 >= lo; i-- {
		gain, before := v.at(i, row, col)-v.at(i-1, row, col), v.at(i-1, row, col)-v.at(i-2, row, col)
		if !(gain*before > 0) || math.Abs(gain) <= math.Abs(before) {
			break
		}
		n++
	}
	if n < feedbackFor {
		return idle("the speeds did not grow in one direction, step by step, to where they ran away")
	}
	f := found(yes, fmt.Sprintf("%s%s gained more in each of %s, always in one direction, from %s to %s: it pushes itself, which no contact does",
		v.label(col), inEnv(r.env), v.clockWord(n), num(v.at(end-n-1, row, col)), num(v.at(end, row, col))))
	f.Measured, f.Baseline = float64(n), feedbackFor
	return f.in(v, r.env, col, r.tick)
}
