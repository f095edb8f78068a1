package rootcause

import (
	"fmt"
	"math"
)

// What a reset into something solid does to speeds that stay finite: how many times the largest
// of all first episodes they are in the first record after it, how many times within the
// episode and how large at least, how much of the former that very step gave, and after how
// many resets, half of all and in two envs at least. Drawn speeds are there before the step,
// and a landing comes later.
const (
	burstAtOnce = 10.0
	burstLater  = 30.0
	burstSpeed  = 50.0 // m/s or rad/s
	burstGiven  = 0.5
	burstLeast  = 4
)

// burstsAtResets is bornInside for a run in which nothing is out of range: its resets leave
// envs in contact with what throws them about at once, which the episodes that the file begins
// with do not know.
func (c *Case) burstsAtResets() (Feature, bool) {
	v, a, n, dt := c.first(qvel), c.first(qacc), c.counterNamed("ncon"), c.timestep()
	if v.len() == 0 || a.len() != v.len() || n.len() != v.len() || a.rows != v.rows || n.rows != v.rows || dt <= 0 {
		return Feature{}, false
	}
	calm := c.firstEpisodes(v)
	if calm <= 0 {
		return Feature{}, false
	}
	all, thrown, envs, first, where := 0, 0, 0, -1, -1
	most := 0.0
	for row := range v.rows {
		before, last := thrown, -1
		for _, t := range c.resets[v.env(row)] {
			i := v.upTo(t) + 1
			if i == last || i >= v.len() {
				continue
			}
			last = i
			all++
			at, given := v.cell(i, row).max, dt*a.cell(i, row).max
			peak := c.peakOf(v, row, i)
			if n.cell(i, row).max > 0 && at >= burstAtOnce*calm && given >= burstGiven*at && peak >= math.Max(burstLater*calm, burstSpeed) {
				if thrown++; first < 0 {
					first, where = i, row
				}
				most = math.Max(most, peak)
			}
		}
		if thrown > before {
			envs++
		}
	}
	if thrown < burstLeast || envs < 2 || 2*thrown < all {
		return Feature{}, false
	}
	out := found(yes, fmt.Sprintf("after %d of %d resets, in %d envs, the very first step finds contacts and makes speeds of %s times all of the episodes that the file begins with (%s), and %s before the next reset: the resets put something inside what is solid",
		thrown, all, envs, num(v.cell(first, where).max/calm), num(calm), num(most)))
	out.Measured, out.Baseline = most, calm
	return out.in(v, v.env(where), int(v.cell(first, where).arg), v.frames.Ticks[first]), true
}

// firstEpisodes returns the largest size of a field in what the file holds of each env before
// its first reset, 0 where that is too little in some.
func (c *Case) firstEpisodes(f *field) float64 {
	most := 0.0
	for row := range f.rows {
		resets := c.resets[f.env(row)]
		if len(resets) == 0 {
			return 0
		}
		end := f.upTo(resets[0])
		if end+1 < enough {
			return 0
		}
		for i := range end + 1 {
			if f.cell(i, row).bad > 0 {
				return 0
			}
			most = math.Max(most, f.cell(i, row).max)
		}
	}
	return most
}

// peakOf returns the largest size of a row from a frame to the next reset.
func (c *Case) peakOf(f *field, row, i int) float64 {
	most := f.cell(i, row).max
	for k := i + 1; k < f.len() && !cutBetween(c.resets[f.env(row)], f.frames.Ticks[k-1], f.frames.Ticks[k]); k++ {
		most = math.Max(most, f.cell(k, row).max)
	}
	return most
}
