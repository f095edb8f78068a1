package rootcause

import (
	"fmt"
	"math"
	"slices"

	"github.com/nanguard/nanguard/tensor"
)

// zeroRun is how many frames of exact zeros make a replaced value.
const zeroRun = 2

// maskedValues is X17: what went bad was replaced before anybody recorded it. A
// run that counts its replacements says so itself; otherwise the largest finite
// number (what nan_to_num makes of an infinity), a run of exact zeros in an env
// that never had any or a count of skipped steps that rises.
func (c *Case) maskedValues() Feature {
	if s, ok := c.replaced(); ok {
		if r := c.root(); r != nil && r.class != masked && (r.tick < s.tick || r.tick == s.tick && (r.f == nil || r.f.kind.isBody() || s.f != nil && !s.f.kind.isBody())) {
			return found(no, fmt.Sprintf("%s was replaced at tick %d, after %s had gone bad in plain sight", s.name, s.tick, r.name))
		}
		value := yes
		if s.f != nil && !s.f.kind.isBody() {
			value = "named" // which tells where to look
		}
		f := found(value, fmt.Sprintf("the run itself says that %s%s was not finite and was replaced at tick %d", s.name, inEnv(s.env), s.tick))
		f.Tick, f.Env = &s.tick, s.env
		return f
	}
	if f, ok := c.firstOf((*Case).saturated, (*Case).pinned, (*Case).skipping, (*Case).zeroed); ok {
		return f
	}
	return found(no, "no value looks replaced: no run of zeros, no largest finite number")
}

// largestFinite holds the largest finite number of each float type: what
// nan_to_num puts in the place of an infinity.
var largestFinite = map[tensor.DType]float64{
	tensor.Float16: 65504, tensor.BFloat16: 0x1.fep127, tensor.Float32: math.MaxFloat32, tensor.Float64: math.MaxFloat64,
}

// computed reports whether values of a kind come out of arithmetic: limits and
// masks may hold the largest number by design.
func (k kind) computed() bool { return k.isBody() || k == sensor || k >= obs && k <= grad && k != done }

// saturated finds the largest finite number in a computed value.
func (c *Case) saturated() (Feature, bool) {
	for _, f := range c.fields {
		if !f.kind.computed() || f.len() == 0 {
			continue
		}
		most, ok := largestFinite[f.frames.Values.DType]
		if !ok || f.kind.isBody() && f.frames.Values.DType == tensor.Float16 {
			continue // a state is computed in more than half precision: it was rounded
		}
		for i := range f.len() {
			for row := range f.rows {
				if cell := f.cell(i, row); cell.max == most {
					return found("shown", fmt.Sprintf("%s%s is the largest finite number (%s) at tick %d: nan_to_num makes that of an infinity",
						f.label(int(cell.arg)), inEnv(f.env(row)), num(most), f.frames.Ticks[i])).in(f, f.env(row), int(cell.arg), f.frames.Ticks[i]), true
				}
			}
		}
	}
	return Feature{}, false
}

// zeroed finds an observation or sensor of the env to blame that is exactly zero
// in all its columns for some frames, and never was before, nor is in others.
func (c *Case) zeroed() (Feature, bool) {
	env, ok := c.focus()
	if !ok || c.beginning() == start {
		return Feature{}, false
	}
	for _, f := range c.fields {
		row := f.row(env)
		if f.kind != obs && f.kind != sensor && f.kind != obsNorm || f.len() < enough || row < 0 || f.rows < 2 || f.to-f.from < 3 {
			continue
		}
		if since, n := f.zeros(row); n >= zeroRun && since >= enough/2 {
			return found(yes, fmt.Sprintf("%s of env %d is exactly zero in all its %d columns for %s from tick %d on, and in no other env",
				f.Name, env, f.to-f.from, f.clockWord(n), f.frames.Ticks[since])).in(f, env, -1, f.frames.Ticks[since]), true
		}
	}
	return Feature{}, false
}

// zeros returns the first frame of the only run of all-zero frames of a row and
// its length; 0, 0 when there are several, or other rows have such frames.
func (f *field) zeros(row int) (since, n int) {
	var at []int
	for i := range f.len() {
		for r := range f.rows {
			if cell := f.cell(i, r); cell.max != 0 || cell.bad > 0 {
				continue
			}
			if r != row {
				return 0, 0
			}
			at = append(at, i)
		}
	}
	if len(at) == 0 || at[len(at)-1]-at[0] != len(at)-1 || !slices.IsSorted(at) {
		return 0, 0
	}
	return at[0], len(at)
}

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
