package rootcause

import (
	"fmt"
	"slices"
)

// The bounds of a std that came down by itself: how many of its last moves are
// looked at, how many of them must have moved it, and how much larger than the
// usual move the one across zero may be. An optimizer that blows up makes one
// large move, and up as often as down.
const (
	glideMoves = 10
	glideLeast = 5
	glideJump  = 3.0
)

// glided reports whether the std of a step went below zero on a slow and steady
// way down. Nothing upstream of it ran away then: that is what it was told to do,
// by a schedule or by the loss.
func (c *Case) glided(r *step) bool {
	if !r.is(std, paramStd) || r.class != negative || r.row < 0 || r.frame < glideMoves {
		return false
	}
	var drops []float64
	for i := r.frame - glideMoves + 1; i <= r.frame; i++ {
		d := r.f.at(i-1, r.row, r.col) - r.f.at(i, r.row, r.col)
		if d < 0 || !finite(d) {
			return false
		}
		if d > 0 {
			drops = append(drops, d)
		}
	}
	return len(drops) >= glideLeast && slices.Max(drops) <= glideJump*median(drops)
}

// scheduled returns by how much the std of the root came down from one env step to
// the next, in every env alike; 0 where it did not. The learner makes no step
// between two env steps of a rollout, so a schedule moved it.
func (c *Case) scheduled() float64 {
	r := c.root()
	if !c.glided(r) || !r.is(std) || !r.f.PerEnv || c.variesByEnv(r.f, r.frame) {
		return 0
	}
	for i := r.frame - glideMoves + 1; i <= r.frame; i++ {
		if r.f.at(i-1, r.row, r.col) == r.f.at(i, r.row, r.col) {
			return 0
		}
	}
	return (r.f.at(r.frame-glideMoves, r.row, r.col) - r.f.at(r.frame, r.row, r.col)) / glideMoves
}

// tellSchedule says what moved a std below zero, "" where that is not known.
func (c *Case) tellSchedule() string {
	if d := c.scheduled(); d > 0 {
		return fmt.Sprintf("; it came down by %s in each env step, in all envs alike, so a schedule moved it and not the learner", num(d))
	}
	return ""
}
