package rootcause

import (
	"fmt"

	"github.com/nanguard/nanguard/dump"
)

// heldFor is how many actions must change while what they command, or what they are
// rewarded with, does not by a bit.
const heldFor = 20

// held finds what stands still in every env, each at a value of its own, while
// the actions go on: controls, or a reward that moved in nearly every step before and outlives resets.
// One value for all envs is a bound, a constant or a reward that nobody earns.
func (c *Case) held() (Feature, bool) {
	from := c.first(action)
	if from.len() <= heldFor || c.idlePolicy() {
		return Feature{}, false
	}
	for _, f := range c.fields {
		if f.kind != ctrl && f.kind != reward && f.kind != term || !f.PerEnv || f.len() < frozenFrames || f.rows < 3 || f.Clock == dump.ClockUpdate || f.Clock == dump.ClockMinibatch {
			continue
		}
		lo, own := 0, false
		for col := range f.to - f.from {
			if lo = max(lo, f.stillSince(col)); f.stillSince(col) < 0 {
				lo = f.len()
				break
			}
			own = own || f.ownValues(col)
		}
		if lo >= f.len()-1 || !own || f.kind != ctrl && !(f.moved(0, lo) && lo >= heldFor) {
			continue
		}
		if (f.kind != ctrl || lo == 0) && c.resetsIn(f, lo) < 2 {
			continue // of an object that came to rest, or a start that waits, it says nothing
		}
		first, last := from.upTo(f.frames.Ticks[lo])+1, from.upTo(f.frames.Ticks[f.len()-1])
		if last-first < heldFor || !from.changes(first, last) || f.kind == ctrl && !from.turns(first, last) {
			continue
		}
		out := found(yes, fmt.Sprintf("%s stands still in every env for %s, each at a value of its own, while %s goes on", f.Name, f.clockWord(f.len()-lo), from.Name))
		out.Measured, out.Baseline = float64(last-first), heldFor
		return out.in(f, -1, -1, f.frames.Ticks[lo]), true
	}
	return Feature{}, false
}

// resetsIn counts the envs of the file that were reset after a frame.
func (c *Case) resetsIn(f *field, lo int) int {
	n := 0
	for row := range f.rows {
		if cutBetween(c.resets[f.env(row)], f.frames.Ticks[lo]+1, f.frames.Ticks[f.len()-1]) {
			n++
		}
	}
	return n
}

// turns reports whether some column changes its sign in the frames [first, last], in
// some row: what is held at the limit of an actuator is asked for the same way all the time.
func (f *field) turns(first, last int) bool {
	for row := range f.rows {
		for col := range f.to - f.from {
			for i := max(first, 1); i <= last; i++ {
				if f.at(i, row, col)*f.at(first, row, col) < 0 {
					return true
				}
			}
		}
	}
	return false
}

// changes reports whether every frame of some differs from the one before.
func (f *field) changes(first, last int) bool {
	for i := max(first, 1); i <= last; i++ {
		if f.same(i-1, i) {
			return false
		}
	}
	return true
}

// heldStill is held as a feature.
func (c *Case) heldStill() Feature {
	if f, ok := c.firstOf((*Case).held, (*Case).deafened); ok {
		return f
	}
	return found(no, "no control and no reward is held")
}
