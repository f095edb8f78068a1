package rootcause

import (
	"fmt"
	"math"
)

// The bounds of values that no reward pays for: how many times the largest reward they are,
// how large they are by themselves, in how many records, and by how much they and a loss grow
// over the file. With a discount of 0.9999 values are ten thousand times the reward at the
// most; but the reward of a goal may be missing in a short file, and shaped ones be tiny.
const (
	unpaidRatio  = 1e6
	unpaidLeast  = 1e6
	unpaidFor    = 20
	unpaidGrowth = 2.0
)

// unpaid finds values of a critic that are a million times the largest reward and still grow
// up to the end, with the loss: no discount and no horizon makes them of such rewards, they
// are made of themselves.
func (c *Case) unpaid() (Feature, bool) {
	most := c.largestReward()
	if !(most > 0) || c.rising(loss, unpaidFor, unpaidGrowth) == nil {
		return Feature{}, false
	}
	for _, f := range c.fields {
		if f.kind != value || f.PerEnv || f.len() < unpaidFor || about(f.Name, "return", "normal", "scaled", "symlog", "advantage") {
			continue
		}
		quarter := f.len() / 4
		was, is := f.middle(0, quarter), f.middle(f.len()-quarter, f.len())
		if !(was > unpaidLeast) || !(was > unpaidRatio*most) || !(is > unpaidGrowth*was) || !f.neverFalls(quarter) {
			continue
		}
		out := found(ascends, fmt.Sprintf("%s is about %s, %s the largest reward of %s, and grew %s over %d records: no discount makes that of such rewards, the values feed on themselves",
			f.Name, num(is), times(is/most), num(most), times(is/was), f.len()))
		out.Measured, out.Baseline = is/most, unpaidRatio
		return out.in(f, -1, 0, f.frames.Ticks[0]), true
	}
	return Feature{}, false
}

// neverFalls reports whether the middle of a field is larger in each quarter of its records
// than in the one before.
func (f *field) neverFalls(quarter int) bool {
	for i := 1; i < 4; i++ {
		if !(f.middle(i*quarter, (i+1)*quarter) > f.middle((i-1)*quarter, i*quarter)) {
			return false
		}
	}
	return true
}

// rising returns the first field of a kind, of the run and with so many records at least, that
// is larger in each quarter of its records than in the one before, and so many times as large
// at the end; nil when there is none. Its name is about one of the words, if any are given.
func (c *Case) rising(k kind, records int, times float64, words ...string) *field {
	for _, f := range c.fields {
		if f.kind != k || f.PerEnv || f.len() < records || len(words) > 0 && !about(f.Name, words...) {
			continue
		}
		n := f.len() / 4
		if f.neverFalls(n) && f.middle(f.len()-n, f.len()) > times*f.middle(0, n) {
			return f
		}
	}
	return nil
}

// largestReward returns the largest size of any reward that is recorded, in all of the run,
// or else the median of what the targets of a critic are where an episode ends: a batch of
// targets holds the plain reward there, far below all others. It is 0 where nothing tells.
func (c *Case) largestReward() float64 {
	most := 0.0
	for _, f := range c.fields {
		if f.kind != reward || f.len() == 0 {
			continue
		}
		most = math.Max(most, f.largest(math.MaxInt64))
		for j := 0; f.trace != nil && j < len(f.trace.AbsMax); j++ {
			most = math.Max(most, at(f.trace.AbsMax, j))
		}
	}
	if most > 0 {
		return most
	}
	return c.terminalTarget()
}

// terminalLeast is how many targets of ended episodes there must be.
const terminalLeast = 10

// terminalTarget returns the largest size of those targets of a critic that are a millionth
// of the usual ones or less, 0 where there are few.
func (c *Case) terminalTarget() float64 {
	f := c.batchOf(value, "target", "targets")
	if f.len() == 0 {
		return 0
	}
	most, n, usual := 0.0, 0, f.middle(0, f.len())
	for i := range f.len() {
		for col := range f.to - f.from {
			if v := math.Abs(f.at(i, 0, col)); v > 0 && v < usual/unpaidRatio {
				most, n = math.Max(most, v), n+1
			}
		}
	}
	if n < terminalLeast {
		return 0
	}
	return most
}
