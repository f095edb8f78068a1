package rootcause

import "math"

// saturating is how many times what the policy says in all other rows it must say
// where a column that never varied is divided by next to nothing, and neverVaried the
// running std of such a column.
const (
	saturating  = 10.0
	neverVaried = 1e-6
	wildScore   = 1e3
	hotLeast    = 5 // rows of records on either side
)

// coldColumn finds a column of the normalized observation that
// is above a thousand where its running variance is next to zero, and with it, in
// exactly these rows, an output of the policy far above all that it said in others.
// A large z alone is no fault: many loops clip it.
func (c *Case) coldColumn() (step, bool) {
	z, v, m := c.first(obsNorm), c.first(normVar), c.first(mean)
	if z.len() == 0 || !z.PerEnv || v.len() == 0 || v.width != z.width || m.len() != z.len() || m.rows != z.rows || m.Clock != z.Clock {
		return step{}, false
	}
	hot, cool, first, row := 0, 0, -1, -1
	least, most := math.Inf(1), 0.0
	for i := range z.len() {
		for r := range z.rows {
			size := m.cell(i, r).max
			if !z.overNothing(v, i, r) {
				if z.cell(i, r).max >= wildScore {
					return step{}, false
				}
				cool, most = cool+1, math.Max(most, size)
				continue
			}
			if hot++; hot == 1 {
				first, row = i, r
			}
			least = math.Min(least, size)
		}
	}
	if hot < hotLeast || cool < hotLeast || !(least > saturating*most) || !(least > saturating) {
		return step{}, false
	}
	s := c.inFrame(z, first, row)
	s.class = growing
	return s, true
}

// overNothing reports whether the largest z of a row is that of a column that never
// varied.
func (f *field) overNothing(v *field, i, row int) bool {
	cell, k := f.cell(i, row), v.upTo(f.frames.Ticks[i])
	return cell.bad == 0 && cell.max >= wildScore && k >= 0 && stdOf(v.at(k, 0, int(cell.arg)), v.Name) < neverVaried
}

// runsAway finds a learner that is running away when the file ends: in the last
// record a weight, a loss and a gradient are beyond what each may be in a healthy
// run, and the weight was not in the first. Any one of them alone is large by nature
// in some run.
func (c *Case) runsAway() (step, bool) {
	var best step
	seen := map[kind]bool{}
	for _, f := range c.fields {
		n := f.len()
		if f.kind != param && f.kind != loss && f.kind != grad || n < hotLeast || f.PerEnv {
			continue
		}
		if class := f.state(n-1, 0); class != growing && class != huge || f.state(0, 0) != "" {
			continue
		}
		if s := c.inFrame(f, n-1, 0); len(seen) == 0 || earlier(&s, &best) {
			best = s
		}
		seen[f.kind] = true
	}
	return best, len(seen) == 3
}
