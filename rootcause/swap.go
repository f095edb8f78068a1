package rootcause

import (
	"fmt"
	"math"
)

// The bounds of statistics that were overwritten from one record to the next.
const (
	swapColumns = 4    // columns that must have changed, and be alike in how
	farMean     = 0.5  // running stds by which a mean, or by which the log of a variance, has left its place
	nearMean    = 0.15 // by which both meet those of another column
	swapMost    = 0.75 // of what left its place must be found in another
	plainVar    = 1.0  // |log variance| from which a root or a square is no small change
	powerGap    = 0.05 // in the log of a variance
	newShare    = 0.1  // of what a normalizer has seen, in one record: below it is no longer new
	wider       = 1.5  // by which the largest variance may grow where columns change places
)

// overwritten finds statistics of a normalizer that became, from one record to the
// next, those of other columns, or a root, a square or the inverse of themselves:
// a running mean and variance move by a share of one over their count, and never
// like that.
func (c *Case) overwritten() (Feature, bool) {
	v := c.first(normVar)
	if v.len() < 2 || v.to-v.from < swapColumns || v.rows != 1 {
		return Feature{}, false
	}
	m := c.first(normMean)
	if m.len() != v.len() || m.to-m.from != v.to-v.from {
		m = nil
	}
	for i := 1; i < v.len() && v.frames.Ticks[i] < c.beginning(); i++ {
		text := v.raised(i)
		if text == "" && m != nil && c.settled(m, v, i) {
			text = permuted(m, v, i)
		}
		if text == "" {
			continue
		}
		f := found(yes, fmt.Sprintf("%s at tick %d%s: what was loaded or copied there is not what the normalizer expects", text, v.frames.Ticks[i], c.loadedThere(v, i)))
		return f.in(v, -1, 0, v.frames.Ticks[i]), true
	}
	return Feature{}, false
}

// settled reports whether the statistics hardly moved in the record before frame i,
// and none grew out of their range in it: new ones move far, and among many columns
// some come to lie where others were; and what runs away takes them anywhere.
func (c *Case) settled(m, v *field, i int) bool {
	if n := c.byName["normalizer.count"]; n.len() == v.len() {
		if a, b := n.at(i-1, 0, 0), n.at(i, 0, 0); b > a && b-a > newShare*b {
			return false
		}
	}
	if i < 2 || !(v.cell(i, 0).max < wider*v.cell(i-1, 0).max) {
		return false
	}
	for col := range v.to - v.from {
		if !(strayed(m, v, i-2, col, i-1, col) < nearMean) {
			return false
		}
	}
	return true
}

// strayed returns how far a column's mean and variance in one frame lie from those
// of a column in another, in running stds and in the log of the variance.
func strayed(m, v *field, i, was, j, now int) float64 {
	a, b := v.at(i, 0, was), v.at(j, 0, now)
	if !(a > 0) || !(b > 0) {
		return math.Inf(1)
	}
	return math.Max(math.Abs(m.at(j, 0, now)-m.at(i, 0, was))/math.Sqrt(a), math.Abs(math.Log(b/a)))
}

// loadedThere names the checkpoint that was loaded between a record and the one before.
func (c *Case) loadedThere(f *field, i int) string {
	for _, e := range c.man.Events {
		if e.Kind == "checkpoint_loaded" && e.Tick > f.frames.Ticks[i-1]-1 && e.Tick <= f.frames.Ticks[i] {
			return ", when a checkpoint was loaded"
		}
	}
	return ""
}

// powers are what a variance turns into when it is taken for something else.
var powers = []struct {
	of   float64
	word string
}{{0.5, "square root"}, {2, "square"}, {-1, "inverse"}, {-0.5, "inverse square root"}}

// raised says that every variance far from one became the same power of itself in
// a frame, "" when not.
func (f *field) raised(i int) string {
	for _, p := range powers {
		n, worst := 0, 0
		for col := range f.to - f.from {
			was, is := f.at(i-1, 0, col), f.at(i, 0, col)
			if !(was > 0) || !(is > 0) || !finite(was) || !finite(is) {
				n = 0
				break
			}
			a, b := math.Log(was), math.Log(is)
			if math.Abs(a) < plainVar {
				continue
			}
			if math.Abs(b-p.of*a) > powerGap*math.Max(1, math.Abs(a)) {
				n = 0
				break
			}
			if n++; math.Abs(a) > math.Abs(math.Log(f.at(i-1, 0, worst))) {
				worst = col
			}
		}
		if n >= swapColumns {
			return fmt.Sprintf("%s became the %s of itself in all %d columns that are far from one (%s from %s to %s)",
				f.Name, p.word, n, f.column(worst), num(f.at(i-1, 0, worst)), num(f.at(i, 0, worst)))
		}
	}
	return ""
}

// permuted says that the columns of a mean and a variance changed places in a
// frame, "" when they did not.
func permuted(m, v *field, i int) string {
	cols := v.to - v.from
	apart := func(now, was int) float64 { return strayed(m, v, i-1, was, i, now) }
	var left []int
	for col := range cols {
		if apart(col, col) > farMean {
			left = append(left, col)
		}
	}
	met := map[int]bool{}
	at, from := -1, -1
	for _, now := range left {
		best, least := -1, nearMean
		for _, was := range left { // what one column lost another has
			if d := apart(now, was); was != now && !met[was] && d < least {
				best, least = was, d
			}
		}
		if best < 0 {
			continue
		}
		if met[best] = true; at < 0 {
			at, from = now, best
		}
	}
	if len(met) < swapColumns || float64(len(met)) < swapMost*float64(len(left)) {
		return ""
	}
	return fmt.Sprintf("%d columns of %s and %s took over the values of other columns (%s those of %s)", len(met), m.Name, v.Name, v.column(at), v.column(from))
}
