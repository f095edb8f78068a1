package rootcause

import (
	"fmt"
	"math"
)

// The bounds of speeds that a reset leaves as they are: what they may move by over
// it, how much further than in any step before the pose must, in how many resets.
const (
	keptShare  = 0.1 // of the variance of the speeds over all resets: what was written anew has all of it
	poseLeap   = 5.0
	keptLeast  = 4   // resets, in two envs at least
	keptSpeed  = 0.2 // of the healthy size of qvel: a body at rest keeps nothing
	stepsPrior = 3   // frames before the reset that say how far the pose moves in a step
)

// crossing is a reset as the state shows it: a row and the frame before it.
type crossing struct{ row, i int }

// keptSpeeds finds resets that put the pose back and leave the speeds as they were:
// the next episode starts with the velocity of the fall that ended the last one.
// Speeds that a reset writes, drawn or always the same, say nothing of those before.
func (c *Case) keptSpeeds() (Feature, bool) {
	q, v := c.first(qpos), c.first(qvel)
	if q.len() != v.len() || v.len() < enough || q.rows != v.rows || v.to-v.from < 3 {
		return Feature{}, false
	}
	var all []crossing
	envs := map[int]bool{}
	for row := range v.rows {
		for _, t := range c.resets[v.env(row)] {
			i := v.upTo(t)
			if i >= stepsPrior && i+1 < v.len() && q.leaps(i, row) && v.moving(i, row) && v.cell(i+1, row).bad == 0 {
				all, envs[row] = append(all, crossing{row, i}), true
			}
		}
	}
	if len(all) < keptLeast || len(envs) < 2 {
		return Feature{}, false
	}
	changed, spread := v.over(all)
	if !(changed < keptShare*spread) {
		return Feature{}, false
	}
	at := all[0]
	cell := v.cell(at.i+1, at.row)
	out := found(atReset, fmt.Sprintf("all %d resets of %d envs put %s back and leave %s as it was (env %d starts an episode at %s): a reset must write the speeds too",
		len(all), len(envs), q.Name, v.Name, v.env(at.row), c.quantity(v, int(cell.arg), cell.max)))
	out.Measured, out.Baseline = changed/spread, keptShare
	return out.in(v, v.env(at.row), int(cell.arg), v.frames.Ticks[at.i+1]), true
}

// over returns by how much a field changes over resets, and how much it differs
// between them, as sums of squares.
func (f *field) over(all []crossing) (changed, spread float64) {
	for col := range f.to - f.from {
		mean := 0.0
		for _, x := range all {
			mean += f.at(x.i, x.row, col) / float64(len(all))
		}
		for _, x := range all {
			was, is := f.at(x.i, x.row, col), f.at(x.i+1, x.row, col)
			changed += (is - was) * (is - was)
			spread += (was - mean) * (was - mean)
		}
	}
	return changed, spread
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

// leaps reports whether a pose moves much further after frame i than before it, in most
// of its columns: what crosses the end of a belt or is taken to another tile keeps
// its joints, and its speeds with right.
func (f *field) leaps(i, row int) bool {
	most := 0.0
	for k := i - stepsPrior + 1; k <= i; k++ {
		most = math.Max(most, f.shift(k-1, k, row))
	}
	n := 0
	for col := range f.to - f.from {
		step := 0.0
		for k := i - stepsPrior + 1; k <= i; k++ {
			step = math.Max(step, math.Abs(f.at(k, row, col)-f.at(k-1, row, col)))
		}
		if math.Abs(f.at(i+1, row, col)-f.at(i, row, col)) > 2*step {
			n++
		}
	}
	return most > 0 && f.shift(i, i+1, row) > poseLeap*most && 2*n > f.to-f.from
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
