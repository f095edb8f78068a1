package rootcause

import (
	"fmt"
	"math"
	"slices"
)

// The bounds of observations that are another env's: frames looked at, columns that
// must agree on whose they are, and envs.
const (
	mixedFrames = 8
	mixedCols   = 3
	mixedEnvs   = 2
	mixedMost   = 48 // columns and envs looked at
)

// otherRows finds observations that hold, bit for bit, the state of another env than
// their own: rows that were shifted, sorted or gathered by a wrong index.
func (c *Case) otherRows() (Feature, bool) {
	for _, f := range c.fields {
		if f.kind != obs || !f.PerEnv || f.len() < 2*mixedFrames || f.rows < mixedEnvs {
			continue
		}
		for _, q := range []*field{c.first(qpos), c.first(qvel)} {
			if q.len() == 0 || q.rows != f.rows {
				continue
			}
			if out, ok := c.rowsFrom(f, q); ok {
				return out, true
			}
		}
	}
	return Feature{}, false
}

// moment is a frame of an observation with that of the state that it was made of.
type moment struct{ obs, state int }

// moments returns the last frames of an observation in which no env had been reset
// since the substep before.
func (c *Case) moments(f, q *field) []moment {
	var out []moment
	for i := f.len() - 1; i > 0 && len(out) < mixedFrames; i-- {
		k := q.upTo(f.frames.Ticks[i])
		if k < 0 {
			break
		}
		reset := slices.ContainsFunc(f.everyRow(), func(row int) bool {
			return cutBetween(c.resets[f.env(row)], q.frames.Ticks[k], f.frames.Ticks[i]+1)
		})
		if !reset {
			out = append(out, moment{i, k})
		}
	}
	return out
}

// rowsFrom judges an observation against one part of the state.
func (c *Case) rowsFrom(f, q *field) (Feature, bool) {
	at := c.moments(f, q)
	if len(at) < mixedFrames {
		return Feature{}, false
	}
	from := map[[2]int]int{} // env of the observation and of the state: columns
	for col := range min(f.to-f.from, mixedMost) {
		for part := range min(q.to-q.from, mixedMost) {
			for row := range min(f.rows, mixedMost) {
				for other := range min(q.rows, mixedMost) {
					if !f.copies(q, at, row, other, col, part) {
						continue
					}
					if row == other {
						return Feature{}, false
					}
					from[[2]int{row, other}]++
				}
			}
		}
	}
	var pairs [][2]int
	for p, n := range from {
		if n >= mixedCols {
			pairs = append(pairs, p)
		}
	}
	if len(pairs) < mixedEnvs {
		return Feature{}, false
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return a[0] - b[0] })
	row, other := pairs[0][0], pairs[0][1]
	out := found(mixedUp, fmt.Sprintf("%s of env %d holds %s of env %d bit for bit, not its own, and so in %d envs of the file: the rows are shifted or gathered by a wrong index",
		f.Name, f.env(row), q.Name, q.env(other), len(pairs)))
	out.Measured, out.Baseline = float64(len(pairs)), mixedEnvs
	return out.in(f, f.env(row), -1, f.frames.Ticks[at[len(at)-1].obs]), true
}

// copies reports whether a column of an observation's row is, in single precision and in
// every moment, that of a row of the state, and changes from moment to moment.
func (f *field) copies(q *field, at []moment, row, other, col, part int) bool {
	for n, m := range at {
		v := f.at(m.obs, row, col)
		if float32(v) != float32(q.at(m.state, other, part)) || v == 0 || !finite(v) {
			return false
		}
		if n > 0 && math.Abs(v) == math.Abs(f.at(at[n-1].obs, row, col)) {
			return false
		}
	}
	return true
}
