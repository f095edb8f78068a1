package rootcause

import (
	"fmt"
	"math"
	"slices"
)

// The bounds of actions that outlive a reset: by how many env steps the controls come late at
// least and at most, over how many resets, and in how many records it is seen. One step late
// may be only when a recorder looks.
const (
	lateLeast = 2
	lateMost  = 16
	lateFor   = 30
	lateOver  = 4 // resets, in two envs at least
)

// keptActions finds a line of delayed actions that resets do not clear: the controls are the
// actions of some steps ago to the bit, over resets too, so that the first of an episode are
// the last of the one before, and the observation right after a reset holds its last action.
// That the observation alone does is usual.
func (c *Case) keptActions() (Feature, bool) {
	for _, u := range c.fields {
		for _, a := range c.fields {
			if a.kind == action && (u.kind == ctrl || hasToken(u.Name, "ctrl")) && u.len() >= lateFor && u.sameShape(a) {
				if f, ok := c.outliveResets(u, a); ok {
					return f, true
				}
			}
		}
	}
	return Feature{}, false
}

// sameShape reports whether two fields have as many frames, of the same envs, on the same
// clock, with as many columns.
func (f *field) sameShape(g *field) bool {
	return f.len() == g.len() && f.Clock == g.Clock && f.PerEnv && g.PerEnv && f.rows >= 2 && f.rows == g.rows && f.to-f.from == g.to-g.from && slices.Equal(f.frames.EnvIDs, g.frames.EnvIDs)
}

// outliveResets is keptActions for controls and the actions that they are.
func (c *Case) outliveResets(u, a *field) (Feature, bool) {
	late := u.late(a)
	if late < lateLeast {
		return Feature{}, false
	}
	over, envs, first, q := 0, 0, -1, c.first(qpos)
	for row := range u.rows {
		before := over
		for i := late; i < u.len(); i++ {
			if !c.putBack(q, u.env(row), a.frames.Ticks[i-1], a.frames.Ticks[i]) || !a.alive(i-1, row) || !a.alive(i, row) {
				continue
			}
			if !c.remembers(a, row, i) {
				return Feature{}, false
			}
			if over++; first < 0 {
				first = i
			}
		}
		if over > before {
			envs++
		}
	}
	if over < lateOver || envs < 2 {
		return Feature{}, false
	}
	out := found(atReset, fmt.Sprintf("%s is %s of %d steps ago to the bit, over %d resets of %d envs too, and the observation right after each holds the last action of the old episode: what remembers actions is not cleared, and they drive the new one",
		u.Name, a.Name, late, over, envs))
	out.Measured, out.Baseline = float64(over), lateOver
	return out.in(u, -1, 0, u.frames.Ticks[first]), true
}

// putBack reports whether a reset between two ticks put the pose of an env back: an episode
// that is only counted as over goes on with all that it remembers.
func (c *Case) putBack(q *field, env int, from, to int64) bool {
	row := q.row(env)
	return q.len() > 0 && row >= 0 && slices.ContainsFunc(c.resets[env], func(t int64) bool {
		i := q.upTo(t)
		return t >= from && t < to && i >= stepsPrior && i+1 < q.len() && q.leaps(i, row)
	})
}

// late returns by how many records a field repeats another to the bit, in every row and column
// of all records, once it has begun; 0 when it does by none or by several.
func (f *field) late(a *field) int {
	for k := range lateMost + 1 {
		if f.repeatsAfter(a, k) {
			return k
		}
	}
	return 0
}

// repeatsAfter is late for one number of records.
func (f *field) repeatsAfter(a *field, k int) bool {
	for i := k; i < f.len(); i++ {
		for row := range f.rows {
			for col := range f.to - f.from {
				v := f.at(i, row, col)
				if v != a.at(i-k, row, col) || !finite(v) {
					return false
				}
			}
		}
	}
	return f.len()-k >= lateFor
}

// alive reports whether a row of actions is not zero and not that of the record before.
func (f *field) alive(i, row int) bool {
	return i > 0 && f.cell(i, row).max > 0 && f.shift(i-1, i, row) > 0
}

// remembers reports whether some columns of an observation that precedes action i, and no
// earlier one, hold action i-1 of a row to the bit.
func (c *Case) remembers(a *field, row, i int) bool {
	return slices.ContainsFunc(c.fields, func(f *field) bool {
		k, r := f.upTo(a.frames.Ticks[i]), f.row(a.env(row))
		if f.kind != obs || k < 0 || r < 0 || f.frames.Ticks[k] <= a.frames.Ticks[i-1] {
			return false
		}
		n := a.to - a.from
		for from := 0; from+n <= f.to-f.from; from++ {
			same := true
			for col := range n {
				same = same && math.Float64bits(f.at(k, r, from+col)) == math.Float64bits(a.at(i-1, row, col))
			}
			if same {
				return true
			}
		}
		return false
	})
}
