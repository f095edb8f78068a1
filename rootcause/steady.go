package rootcause

import (
	"fmt"
	"math"
	"slices"
)

// An action that grows steadily rises by at least this many e-foldings in all, in
// at least enough frames, and each time by about the same factor.
const (
	steadyRise  = 9.2 // four decades
	steadyRatio = 2.0
)

// steadily is F5 and X7 where the action is the root and the physics need not have
// followed: it grew by a steady factor over decades, as what is multiplied again
// at each step does.
func (c *Case) steadily(r *step) (Feature, bool) {
	if !r.is(action) || nonFinite(r.class) || r.row < 0 {
		return Feature{}, false
	}
	var rises []float64
	sum, last := 0.0, r.frame
	for i := r.frame + 1; i < r.f.len(); i++ {
		was, is := r.f.cell(i-1, r.row), r.f.cell(i, r.row)
		if was.bad > 0 || is.bad > 0 || was.max <= 0 || is.max <= 0 {
			break
		}
		rises, last = append(rises, math.Log(is.max/was.max)), i
		sum += rises[len(rises)-1]
	}
	if len(rises) < enough || sum < steadyRise {
		return Feature{}, false
	}
	slices.Sort(rises)
	low, high := rises[len(rises)/10], rises[len(rises)*9/10]
	if low <= 0 || high > steadyRatio*low {
		return Feature{}, false
	}
	f := found(yes, fmt.Sprintf("%s%s grew from %s to %s in %s, by about the same factor each time, before anything else did",
		r.name, inEnv(r.env), num(r.f.cell(r.frame, r.row).max), num(r.f.cell(last, r.row).max), r.f.clockWord(last-r.frame)))
	f.Measured, f.Baseline = sum, steadyRise
	return f.in(r.f, r.env, max(r.col, 0), r.tick), true
}
