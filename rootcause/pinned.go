package rootcause

import (
	"fmt"
	"math"
)

// The bounds of speeds that are clamped: how many values of an env, in how many
// columns, sit at one size bit for bit, and by how much the other envs stay below.
const (
	pinnedShare = 0.1
	pinnedLeast = 50
	pinnedCols  = 3
	pinnedOver  = 2.0
)

// pinned finds speeds of one env that are clamped: a good part of them is exactly
// plus or minus one number, which no other env comes near. A body that
// glides keeps its speed, but never changes its sign at the same size.
func (c *Case) pinned() (Feature, bool) {
	for _, f := range c.fields {
		if f.kind != qvel || !f.PerEnv || f.len() < enough || f.rows < 2 {
			continue
		}
		for row := range f.rows {
			if out, ok := f.pinnedRow(row); ok {
				return out, true
			}
		}
	}
	return Feature{}, false
}

// pinnedRow is pinned for one row.
func (f *field) pinnedRow(row int) (Feature, bool) {
	most, others, first := 0.0, 0.0, -1
	for i := range f.len() {
		for r := range f.rows {
			cell := f.cell(i, r)
			switch {
			case cell.bad > 0:
				return Feature{}, false
			case r != row:
				others = math.Max(others, cell.max)
			case cell.max > most:
				most, first = cell.max, i
			}
		}
	}
	if !(most > pinnedOver*others) || others == 0 {
		return Feature{}, false
	}
	n, cols := 0, f.to-f.from
	both := 0
	for col := range cols {
		up, down := 0, 0
		for i := range f.len() {
			switch f.at(i, row, col) {
			case most:
				up++
			case -most:
				down++
			}
		}
		if n += up + down; up > 1 && down > 1 {
			both++
		}
	}
	share := float64(n) / float64(cols*f.len())
	if n < pinnedLeast || both < pinnedCols || share < pinnedShare {
		return Feature{}, false
	}
	out := found("shown", fmt.Sprintf("%.0f %% of %s of env %d are exactly plus or minus %s, in %d columns with both signs, and the other envs stay below %s: a clamp puts back what runs away",
		100*share, f.Name, f.env(row), num(most), both, num(others)))
	out.Measured, out.Baseline = share, pinnedShare
	return out.in(f, f.env(row), int(f.cell(first, row).arg), f.frames.Ticks[first]), true
}
