package rootcause

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// averagedFrom is how many numbers of a target network must be far enough from those that
// they follow to tell that all of them stand still.
const averagedFrom = 8

// averagedAway finds a target network kept in low precision of which nothing moves by a bit
// that is to move by less than half a unit in its last place in each step, although it is a moving average, as the run says, of weights that do move and are kept in
// more digits. A target that is copied
// now and then is no average, and one that is only recorded in few digits has its like
// recorded so too.
func (c *Case) averagedAway() (Feature, bool) {
	rate, name := c.averageRate()
	if rate == 0 {
		return Feature{}, false
	}
	for _, f := range c.fields {
		g := c.online(f)
		if f.kind != param || f.len() < fewRecords || !about(f.Name, "target") || g == nil || !c.computesLow(f) || lowType(g.DType) {
			continue
		}
		swallowed, moves, moved := 0, 0, false
		for col := range f.to - f.from {
			if !g.stillColumn(col) {
				moves++
			}
			if f.stepsSwallowed(g, col, rate) {
				swallowed++
				moved = moved || !f.stillColumn(col)
			}
		}
		if n := f.to - f.from; moved || swallowed < averagedFrom || 2*swallowed < n || 2*moves < n {
			continue
		}
		out := found(yes, fmt.Sprintf("%d of %d numbers of %s do not move by a bit in %d records while those of %s, which they follow with %s %s, do: each is to move by less than half a unit in its last place in %s",
			swallowed, f.to-f.from, f.Name, f.len(), g.Name, name, num(rate), f.DType))
		out.Measured, out.Baseline = float64(swallowed), averagedFrom
		return out.in(f, -1, -1, f.frames.Ticks[0]), true
	}
	return Feature{}, false
}

// stepsSwallowed reports whether every step of a moving average is rounded away in the type
// of the field, and is none in single precision in the last record.
func (f *field) stepsSwallowed(g *field, col int, rate float64) bool {
	for i := range f.len() {
		if v := f.at(i, 0, col); v == 0 || !(rate*math.Abs(g.at(i, 0, col)-v) < lastPlace(v, f.DType)/2) {
			return false
		}
	}
	last := f.len() - 1
	v := f.at(last, 0, col)
	return rate*math.Abs(g.at(last, 0, col)-v) > lastPlace(v, "float32")
}

// averageRate returns the share by which a target follows in each step, from a fact, and
// the fact's name; 0 where none says so. A share of one is a copy.
func (c *Case) averageRate() (rate float64, name string) {
	for _, name := range slices.Sorted(maps.Keys(c.man.Facts)) {
		low := strings.ToLower(name)
		if !hasToken(low, "tau", "polyak", "ema", "soft") || about(low, "actuator", "kernel", "motor") {
			continue
		}
		if v, ok := c.fact(name); ok && v > 0 && v < 1 {
			return math.Min(v, 1-v), name
		}
	}
	return 0, ""
}
