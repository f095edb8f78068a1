package rootcause

import (
	"fmt"
	"math"
)

// What tells a reset into something solid from a landing: a penetration in m that
// no contact of one step makes, within a step or two after the reset, and what the
// other envs have right after theirs, of which it must be many times more.
const (
	solid       = 0.05
	solidRatio  = 5.0
	solidWithin = 2
	solidPeers  = 2
)

// bornInside is X29: the reset put an env inside something solid, or its joints far
// beyond their ranges. Its first
// contacts after the reset are deeper than any that a step can make, and those of
// the other envs are not. That there is no such thing says nothing.
func (c *Case) bornInside() Feature {
	if f, ok := c.bornBeyond(); ok {
		return f
	}
	f, r := c.counterNamed("dist"), c.root()
	if r == nil {
		if f, ok := c.burstsAtResets(); ok {
			return f
		}
	}
	switch {
	case f.len() == 0 || !f.PerEnv:
		return unmeasured("contact.dist on the substep clock")
	case !r.is(body...) || r.env < 0 || f.row(r.env) < 0:
		return idle("no env whose physics ran away")
	}
	row, at := f.row(r.env), lastBefore(c.resets[r.env], r.tick)
	if at >= r.tick {
		return idle("no reset of the env in the file")
	}
	depth, tick := f.depthAfter(row, at)
	shallow, peers := c.shallowResets(f, row, depth)
	if depth < solid || tick >= r.tick || peers < solidPeers || 2*shallow <= peers {
		return idle("no reset put the env deeper into something than those of the others did")
	}
	out := found(yes, fmt.Sprintf("contacts of env %d were %s m deep right after its reset at tick %d, before anything had moved; after %d of %d resets of the other envs they were not: the reset put it inside something", r.env, num(depth), at, shallow, peers))
	out.Measured, out.Baseline = depth, solid
	return out.in(f, r.env, 0, tick)
}

// shallowResets counts the resets of the other rows, and those of them after which
// contacts were far less deep than a depth.
func (c *Case) shallowResets(f *field, row int, depth float64) (shallow, all int) {
	for k := range f.rows {
		for _, t := range c.resets[f.env(k)] {
			if k == row || t < f.frames.Ticks[0] {
				continue
			}
			all++
			if d, _ := f.depthAfter(k, t); d*solidRatio < depth {
				shallow++
			}
		}
	}
	return shallow, all
}

// depthAfter returns how deep the contacts of a row are in the first records after
// a tick, in m, with the tick of the deepest.
func (f *field) depthAfter(row int, t int64) (depth float64, tick int64) {
	for i := f.upTo(t) + 1; i < min(f.len(), f.upTo(t)+1+solidWithin); i++ {
		if cell := f.cell(i, row); cell.bad == 0 && -cell.min > depth {
			depth, tick = math.Max(-cell.min, 0), f.frames.Ticks[i]
		}
	}
	return depth, tick
}

// farBeyond is how far past its range, in rad or m, a joint is by no limit that gives
// way and no noise of a reset: half a turn. Degrees taken for radians are soon there.
const farBeyond = math.Pi

// resetMarks is how many marks one reset leaves: its event, and the done flag of its
// step.
const resetMarks = 2

// bornBeyond finds a reset, noted or seen as a jump of the pose, that left a joint far
// past a range in which the env had kept all its joints until then. What the joint
// can have moved since, by its speed, does not count.
func (c *Case) bornBeyond() (Feature, bool) {
	if f, ok := c.bornBeyondNoted(); ok {
		return f, true
	}
	if r := c.root(); !r.is(body...) || lastBefore(c.resets[r.env], r.tick) < r.tick {
		return Feature{}, false
	}
	if jump := c.outsideWrite(); jump.Value == "pose" || jump.Value == "state" {
		return c.leftBeyond(c.first(qpos).upTo(*jump.Tick))
	}
	return Feature{}, false
}

// bornBeyondNoted is bornBeyond for a reset that the run noted.
func (c *Case) bornBeyondNoted() (Feature, bool) {
	r, q := c.root(), c.first(qpos)
	if !r.is(body...) || q.len() == 0 {
		return Feature{}, false
	}
	for t, n := r.tick, 0; n < resetMarks && lastBefore(c.resets[r.env], t) < t; n++ {
		t = lastBefore(c.resets[r.env], t)
		if f, ok := c.leftBeyond(q.upTo(t) + 1); ok {
			return f, true
		}
	}
	return Feature{}, false
}

// leftBeyond is bornBeyond for the frame that is the first after a reset.
func (c *Case) leftBeyond(k int) (Feature, bool) {
	r, q, v, dt := c.root(), c.first(qpos), c.first(qvel), c.timestep()
	row := q.row(r.env)
	if c.model == nil || dt <= 0 || q.len() != v.len() || row < 0 || row != v.row(r.env) {
		return Feature{}, false
	}
	if k < 1 || k >= q.len() || q.frames.Ticks[k] > r.tick || q.cell(k, row).bad > 0 || q.cell(k-1, row).bad > 0 {
		return Feature{}, false
	}
	name, past := c.worstLimit(q, k, row)
	_, before := c.worstLimit(q, k-1, row)
	if before > beyond || !(past-dt*v.cell(k, row).max > farBeyond) {
		return Feature{}, false
	}
	f := found(yes, fmt.Sprintf("joint %s of env %d is %s past its range in the first record after its reset, at tick %d, and was within it before: the reset wrote what the joint cannot be (degrees for radians?), and its limit throws it back", name, r.env, num(past), q.frames.Ticks[k]))
	f.Measured, f.Baseline = past, farBeyond
	return f.in(q, r.env, -1, q.frames.Ticks[k]), true
}
