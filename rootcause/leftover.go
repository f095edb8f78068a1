package rootcause

import (
	"fmt"
	"math"
)

// The bounds of speeds that a reset leaves as they are: how far they may move over
// it, how much further than in any step before the pose must, in how many resets.
const (
	keptShare  = 0.2
	poseLeap   = 5.0
	keptLeast  = 4   // resets, in two envs at least
	keptMost   = 0.8 // of all resets that can be judged
	keptSpeed  = 0.2 // of the healthy size of qvel: a body at rest keeps nothing
	stepsPrior = 3   // frames before the reset that say how far the pose moves in a step
)

// keptSpeeds finds resets that put the pose back and leave the speeds as they were:
// the next episode starts with the velocity of the fall that ended the last one.
// No reset that writes speeds hits those of before, joint for joint, again and again.
func (c *Case) keptSpeeds() (Feature, bool) {
	q, v := c.first(qpos), c.first(qvel)
	if q.len() != v.len() || v.len() < enough || q.rows != v.rows || v.to-v.from < 3 {
		return Feature{}, false
	}
	kept, all, envs, first := 0, 0, 0, -1
	where, speed := 0, 0.0
	for row := range v.rows {
		before := kept
		for _, t := range c.resets[v.env(row)] {
			i := v.upTo(t)
			if i < stepsPrior || i+1 >= v.len() || !q.leaps(i, row) || !v.moving(i, row) {
				continue
			}
			all++
			if v.shift(i, i+1, row) > keptShare*v.norm(i, row) {
				continue
			}
			if kept++; first < 0 {
				first, where, speed = i+1, row, v.cell(i, row).max
			}
		}
		if kept > before {
			envs++
		}
	}
	if kept < keptLeast || envs < 2 || float64(kept) < keptMost*float64(all) {
		return Feature{}, false
	}
	out := found(atReset, fmt.Sprintf("%d of %d resets put %s back and left %s as it was, in %d envs (env %d starts an episode at %s): a reset must write the speeds too",
		kept, all, q.Name, v.Name, envs, v.env(where), c.quantity(v, int(v.cell(first, where).arg), speed)))
	out.Measured, out.Baseline = float64(kept), float64(all)
	return out.in(v, v.env(where), -1, v.frames.Ticks[first]), true
}

// shift returns how far a row moves between two frames, over all columns.
func (f *field) shift(i, j, row int) float64 {
	s := 0.0
	for col := range f.to - f.from {
		d := f.at(j, row, col) - f.at(i, row, col)
		s += d * d
	}
	return math.Sqrt(s)
}

// norm returns the size of a row over all columns.
func (f *field) norm(i, row int) float64 {
	s := 0.0
	for col := range f.to - f.from {
		s += f.at(i, row, col) * f.at(i, row, col)
	}
	return math.Sqrt(s)
}

// leaps reports whether a pose moves much further after frame i than before it.
func (f *field) leaps(i, row int) bool {
	most := 0.0
	for k := i - stepsPrior + 1; k <= i; k++ {
		most = math.Max(most, f.shift(k-1, k, row))
	}
	return most > 0 && f.shift(i, i+1, row) > poseLeap*most
}

// moving reports whether a row has speeds in several columns that are no rest.
func (f *field) moving(i, row int) bool {
	n := 0
	for col := range f.to - f.from {
		if math.Abs(f.at(i, row, col)) > 0 {
			n++
		}
	}
	cell := f.cell(i, row)
	return n >= 3 && cell.bad == 0 && cell.max > keptSpeed*f.base
}
