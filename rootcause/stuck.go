package rootcause

import (
	"fmt"
	"math"
	"slices"

	"github.com/nanguard/nanguard/dump"
)

// The bounds of columns that are stuck: for how many frames, how often they must
// have moved before, and what the normalizer must remember where that is not in
// the file.
const (
	stuckFor  = 30
	livelier  = 0.9
	drifted   = 1e-3 // of the running std
	lawfulGap = 1e-2 // of the drift
)

// stuckColumns finds some columns of an observation that no longer move by a bit in
// any env, each env at a value of its own, while the others go on, or all of them while the
// physics does, and that once moved: a sensor or its reader died. Commands, phases of an episode and the
// parameters of an env stand still as well, and are none.
func (c *Case) stuckColumns() Feature {
	for _, f := range c.fields {
		if f.kind != obs || !f.PerEnv || f.len() < stuckFor+1 || f.rows < 2 || f.frames.Values.DType.Size() < 4 || c.still(action) {
			continue
		}
		if out, ok := c.stuckIn(f); ok {
			return out
		}
	}
	return found(no, "no column of an observation is stuck")
}

// stuckIn is stuckColumns for one field.
func (c *Case) stuckIn(f *field) (Feature, bool) {
	var cols []int
	since, lively := -1, 0
	for col := range f.to - f.from {
		lo := f.stillSince(col)
		switch {
		case lo < 0:
			return Feature{}, false
		case f.len()-lo < 2:
			lively++
		case f.len()-lo < stuckFor || !f.ownValues(col) || !(f.moved(col, lo) && f.abrupt(f.everyRow(), col, lo)) && !c.remembered(f, col, lo):
		case since >= 0 && lo != since:
			return Feature{}, false // what dies at once stops at once
		default:
			since, cols = lo, append(cols, col)
		}
	}
	why, ok := "the others do", lively >= 2 && !c.still(mean)
	if lively == 0 && 2*len(cols) >= f.to-f.from {
		why, ok = "the physics goes on", f.allStill(since) && c.movesOn(f.frames.Ticks[since]) && !c.elsewhere(f)
	}
	if len(cols) < 2 || !ok || c.toldTo(f, since) {
		return Feature{}, false
	}
	names := f.labels(cols)
	out := found(yes, fmt.Sprintf("%d columns of %s do not move by a bit in any env for %s, although they moved before and %s (%s)", len(cols), f.Name, f.clockWord(f.len()-since), why, few(names, 4)))
	out.Measured, out.Baseline = float64(f.len()-since), stuckFor
	return out.in(f, -1, cols[0], f.frames.Ticks[since]), true
}

// elsewhere reports whether another observation changes up to the end: then this one is
// of what is not computed any more, such as a critic's in an evaluation.
func (c *Case) elsewhere(f *field) bool {
	return slices.ContainsFunc(c.fields, func(g *field) bool {
		return g != f && g.kind == obs && g.PerEnv && g.len() > stuckFor && !g.same(g.len()-2, g.len()-1)
	})
}

// allStill reports whether no column moves after a frame.
func (f *field) allStill(since int) bool {
	for col := range f.to - f.from {
		if f.stillSince(col) > since {
			return false
		}
	}
	return true
}

// movesOn reports whether every speed of every env changes in nearly each record from a tick
// on: then an observation of it cannot stand still.
func (c *Case) movesOn(since int64) bool {
	v := c.first(qvel)
	n := v.len() - 1 - v.upTo(since)
	if v.len() == 0 || !v.PerEnv || n < stuckFor || n >= v.len() {
		return false
	}
	for row := range v.rows {
		for col := range v.to - v.from {
			if !v.changing(row, col, n) {
				return false
			}
		}
	}
	return true
}

// stillSince returns the first frame of those at the end in which a column has its
// last value in every row, -1 when some value is not finite.
func (f *field) stillSince(col int) int {
	last := f.len() - 1
	lo := last
	for i := last; i >= 0; i-- {
		for row := range f.rows {
			v := f.at(i, row, col)
			if !finite(v) {
				return -1
			}
			if v != f.at(last, row, col) {
				return lo
			}
		}
		lo = i
	}
	return lo
}

// ownValues reports whether the rows of a column differ at the end: one value for
// all is a bound, a command or a constant.
func (f *field) ownValues(col int) bool {
	last := f.len() - 1
	for row := 1; row < f.rows; row++ {
		for other := range row {
			if f.at(last, row, col) == f.at(last, other, col) {
				return false
			}
		}
	}
	return true
}

// moved reports whether a column changed in nearly every frame of every row before
// frame lo.
func (f *field) moved(col, lo int) bool {
	if lo < enough {
		return false
	}
	for row := range f.rows {
		n := 0
		for i := 1; i < lo; i++ {
			if f.at(i, row, col) != f.at(i-1, row, col) {
				n++
			}
		}
		if float64(n) < livelier*float64(lo-1) {
			return false
		}
	}
	return true
}

// abrupt reports whether a column stopped in the middle of its motion: over its last
// moves in some rows, before frame lo, it went about as far as it usually does. What
// comes to rest by itself, and then sleeps, has slowed down before.
func (f *field) abrupt(rows []int, col, lo int) bool {
	if lo <= lastMoves {
		return false
	}
	var last, all []float64
	for i := 1; i < f.len(); i++ {
		for row := range f.rows {
			d := math.Abs(f.at(i, row, col) - f.at(i-1, row, col))
			if d > 0 {
				all = append(all, d)
			}
			if i > lo-lastMoves && i <= lo && slices.Contains(rows, row) {
				last = append(last, d)
			}
		}
	}
	return median(last) >= fullStride*median(all)
}

// toldTo reports whether the run notes, at the time of a frame, that it does something
// else from now on.
func (c *Case) toldTo(f *field, i int) bool {
	t := f.frames.Ticks
	return i > 0 && slices.ContainsFunc(c.man.Events, func(e dump.Event) bool {
		return e.Kind == dump.EventCurriculum && e.Tick >= t[i-1] && e.Tick <= t[i]+1
	})
}

// lastMoves is how many moves before it stands still are compared with the usual ones of
// a column, and fullStride the share of these that they must be.
const (
	lastMoves  = 4
	fullStride = 0.2
)

// remembered reports whether the running mean of a column that stands still in the
// whole file still moves towards it as one over the count does: then the column
// was another before. Every env of the file must have been reset meanwhile, or
// what a reset draws anew would stand still like that.
func (c *Case) remembered(f *field, col, lo int) bool {
	m, n := c.first(normMean), c.byName["normalizer.count"]
	v := c.first(normVar)
	if lo > 0 || m.len() < stuckFor || n.len() != m.len() || v.len() != m.len() || m.width != f.width || v.width != f.width {
		return false
	}
	t := f.frames.Ticks
	for row := range f.rows {
		if !cutBetween(c.resets[f.env(row)], t[0]+1, t[len(t)-1]) {
			return false
		}
	}
	last := m.len() - 1
	share := func(i int) float64 { return n.at(i, 0, 0) }
	from, to, mid := m.at(0, 0, col), m.at(last, 0, col), m.at(last/2, 0, col)
	a, b, h := share(0), share(last), share(last/2)
	if !(a > 0 && h > a && b > h) || math.Abs(to-from) < drifted*math.Sqrt(v.at(last, 0, col)) {
		return false
	}
	want := from + (to-from)*(1/a-1/h)/(1/a-1/b)
	return math.Abs(mid-want) < lawfulGap*math.Abs(to-from)
}

// idlePolicy reports whether the actions stand still: then an observation that
// holds them does.
func (c *Case) idlePolicy() bool { return c.still(action) || c.still(mean) }

// still reports whether a field of a kind stands still at the end.
func (c *Case) still(k kind) bool {
	return slices.ContainsFunc(c.fields, func(f *field) bool {
		return f.kind == k && f.len() > stuckFor && f.same(f.len()-2, f.len()-1)
	})
}

// The bounds of readings that stand still in one env: how many columns at once, and
// for how many records. On the substep clock a sensor that is read every few steps
// stands still for that long in health.
const (
	stuckReadings = 3
	stuckSubsteps = 90
)

// stuckReading finds several readings of a single env that repeat themselves bit for
// bit although every speed and every action of that env changes and the same
// readings of every other env do: its driver returns the last sample. Zeros, bounds
// and what two envs share are what a sensor says at rest or out of range.
func (c *Case) stuckReading() (Feature, bool) {
	v, a := c.first(qvel), c.first(action)
	if v.len() <= stuckFor || !v.PerEnv || v.rows < 2 {
		return Feature{}, false
	}
	if a.len() <= stuckFor || a.rows != v.rows {
		a = nil
	}
	for _, f := range c.fields {
		long := stuckFor
		if f.Clock == dump.ClockSubstep {
			long = stuckSubsteps
		}
		if f.kind != sensor && f.kind != obs || !f.PerEnv || f.len() <= long || f.rows != v.rows || f.frames.Values.DType.Size() < 4 {
			continue
		}
		for row := range f.rows {
			if cols, n := f.standing(row, long); len(cols) >= stuckReadings && v.lively(row) && (a == nil || a.lively(row)) && f.othersLive(row, cols, n) {
				out := found(spikes, fmt.Sprintf("%d columns of %s repeat their last values bit for bit%s for %s, although it moves and the other envs' change in each record (%s): a reader that gave up returns its last sample",
					len(cols), f.Name, inEnv(f.env(row)), f.clockWord(n), few(f.labels(cols), 4)))
				out.Measured, out.Baseline = float64(n), float64(long)
				return out.in(f, f.env(row), cols[0], f.frames.Ticks[f.len()-1-n]), true
			}
		}
	}
	return Feature{}, false
}

// engineSensors is MuJoCo's array of sensors: where every speed of a model changes, what
// is made of them does, and nothing of the model sleeps.
const engineSensors = "sensordata"

// standing returns the columns of a row that stand still at the end for more than some
// records, each at a value of its own that is not zero, and for how many they all do.
func (f *field) standing(row, long int) (cols []int, n int) {
	last := f.len() - 1
	seen := map[float64]bool{}
	for col := range f.to - f.from {
		v := f.at(last, row, col)
		lo := last
		for lo > 0 && f.at(lo-1, row, col) == v {
			lo--
		}
		if last-lo < long || f.Name != engineSensors && !f.abrupt([]int{row}, col, lo) || f.reached(row, col, lo) || v == 0 || !finite(v) || seen[math.Abs(v)] || f.shared(row, col, v) {
			continue
		}
		seen[math.Abs(v)] = true
		if n == 0 || last-lo < n {
			n = last - lo
		}
		cols = append(cols, col)
	}
	return cols, n
}

// reached reports whether a column stands still from frame lo on at the largest or the
// smallest value that its row ever had: the end of what it can say.
func (f *field) reached(row, col, lo int) bool {
	v, above, below := f.at(lo, row, col), true, true
	for i := range lo {
		x := f.at(i, row, col)
		above, below = above && x < v, below && x > v
	}
	return lo > 0 && (above || below)
}

// shared reports whether another row has a value of a column at any time.
func (f *field) shared(row, col int, v float64) bool {
	for i := range f.len() {
		for other := range f.rows {
			if other != row && f.at(i, other, col) == v {
				return true
			}
		}
	}
	return false
}

// lively reports whether every column of a row changes in nearly every record.
func (f *field) lively(row int) bool {
	for col := range f.to - f.from {
		if !f.changing(row, col, f.len()-1) {
			return false
		}
	}
	return true
}

// othersLive reports whether some columns change in nearly each of the last n records
// of every other row.
func (f *field) othersLive(row int, cols []int, n int) bool {
	for other := range f.rows {
		for _, col := range cols {
			if other != row && !f.changing(other, col, n) {
				return false
			}
		}
	}
	return true
}

// changing reports whether a column of a row changes in nearly each of the last n
// records.
func (f *field) changing(row, col, n int) bool {
	moves := 0
	for i := f.len() - n; i < f.len(); i++ {
		if f.at(i, row, col) != f.at(i-1, row, col) {
			moves++
		}
	}
	return float64(moves) >= livelier*float64(n)
}

// labels returns the labels of some columns.
func (f *field) labels(cols []int) []string {
	names := make([]string, len(cols))
	for i, col := range cols {
		names[i] = f.column(col)
	}
	return names
}
