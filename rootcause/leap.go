package rootcause

import (
	"fmt"
	"math"
)

// The bounds of X15 and X16, from 81 labelled dumps: the way up looks the same
// for most causes, what comes before it does not. Speeds are in rad/s or m/s.
const (
	excited  = 50.0 // a median above it before the way up: something drives the env
	calmest  = 50.0 // a leap sets out from below this, or five times the healthy size
	leapSize = 4e3  // 3.6 decades in one frame
	calmFor  = 50   // frames that the median is taken over

	longBefore = 6 // frames without which "all the time" may be the way up itself
)

// excitement is X15: whether the env was driven hard before it ran away. A
// contact that diverges does so out of ordinary motion; gains and actions shake
// the robot for a long time first.
func (c *Case) excitement() Feature {
	r, v := c.root(), c.velocity()
	if !r.is(body...) {
		return idle("no physics that runs away")
	}
	row := v.row(r.env)
	if v.len() > 0 && v.kind == state {
		return unmeasured("qvel by itself: a model beside the dump would divide the state")
	}
	if v.len() == 0 || row < 0 {
		return unmeasured("qvel of the env that ran away, before it did")
	}
	lo, hi := v.window(c.lastReset(r.env, r.tick), r.tick, calmFor)
	if hi-lo < 3 {
		return unmeasured("enough frames of qvel before it ran away")
	}
	level := v.median(row, lo, hi)
	if level > excited && c.undriven(r) {
		return idle("what ran away has no actuator: it was fast because something threw it")
	}
	value, word := no, "ordinary motion"
	if level > excited {
		value, word = yes, "driven hard all the time"
	}
	f := found(value, fmt.Sprintf("the largest speed%s was %s in the middle of the %d frames before it ran away: %s", inEnv(r.env), num(level), hi-lo, word))
	f.Measured, f.Baseline = level, excited
	f.Half = value == yes && hi-lo < longBefore
	return f.in(v, r.env, -1, r.tick)
}

// leap is X16: the speeds jumped by thousands within one frame, out of ordinary
// motion. No step of a physics that was healthy does that; a write does.
func (c *Case) leap() Feature {
	r, v := c.root(), c.velocity()
	if !r.is(body...) {
		return idle("no physics that runs away")
	}
	if v.len() > 0 && v.kind == state {
		return unmeasured("qvel by itself: a model beside the dump would divide the state")
	}
	row, k := v.row(r.env), v.upTo(r.tick)
	if v.len() == 0 || row < 0 || k < 1 || v.frames.Ticks[k] != r.tick || v.cell(k-1, row).bad > 0 {
		return unmeasured("qvel in the frame where it ran away and the one before")
	}
	was, is := v.cell(k-1, row).max, v.cell(k, row).max
	if q := c.first(qpos); c.followed(q, v, k, row) {
		return found(no, fmt.Sprintf("positions%s jumped with the speeds where it ran away: the physics did it", inEnv(r.env))).in(v, r.env, int(v.cell(k, row).arg), r.tick)
	}
	if was <= math.Max(calmest, 5*v.base) && is > leapSize*math.Max(was, 1) {
		f := found(yes, fmt.Sprintf("%s%s jumped from %s to %s in one frame, out of ordinary motion", v.label(int(v.cell(k, row).arg)), inEnv(r.env), num(was), num(is)))
		f.Measured, f.Baseline = is, was
		return f.in(v, r.env, int(v.cell(k, row).arg), r.tick)
	}
	f := found(no, fmt.Sprintf("speeds%s rose from %s to %s where it ran away, no jump from nowhere", inEnv(r.env), num(was), num(is)))
	f.Measured, f.Baseline = is, was
	return f
}
