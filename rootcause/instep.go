package rootcause

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// The bounds of commands that multiply themselves: over how many env steps on end all of
// them rise by one factor, by how much in all, how far apart the factors may be as a share
// of the rise, how much further apart those of the speeds are in the middle, and which
// speeds count, as a share of the largest of their env.
const (
	inStepFor   = 5
	inStepRise  = 10.0
	inStepApart = 0.25
	inStepLoose = 3.0
	fastShare   = 0.1
	inStepLeast = 6   // numbers that are compared
	sameWay     = 0.9 // cosine
)

// inStep is X7 for commands that are made of the last ones with a gain above one: every
// command of every env rises by the same factor in each step, each env in a direction of
// its own, while the speeds that they drive do not yet. An action that answers a state which
// runs away follows it, and points the same way in all envs.
func (c *Case) inStep(r *step) (Feature, bool) {
	v := c.velocity()
	if !r.is(body...) || v.len() == 0 || v.kind == state {
		return Feature{}, false
	}
	for _, f := range []*field{c.first(ctrl), c.first(action, mean)} {
		if f.len() == 0 || !f.PerEnv || f.rows < 2 || f.to-f.from < 2 || !slices.Equal(f.frames.EnvIDs, v.frames.EnvIDs) {
			continue
		}
		end, from, rise := f.upTo(r.tick-1), f.upTo(r.tick-1), 1.0
		var mine, theirs []float64
		at := f.renewed(end)
		for k := len(at) - 1; k > 0; k-- {
			by, apart := f.rises(at[k-1], at[k], 0)
			_, loose := v.rises(v.upTo(f.frames.Ticks[at[k-1]]), v.upTo(f.frames.Ticks[at[k]]), fastShare)
			if !(by > 1) || !(apart < inStepApart) || !(loose > apart) {
				break
			}
			from, rise, mine, theirs = at[k-1], rise*by, append(mine, apart), append(theirs, loose)
		}
		n := len(mine)
		if n < inStepFor || rise < inStepRise || median(theirs) < inStepLoose*median(mine) || f.oneWay(end) {
			continue
		}
		row := max(f.row(r.env), 0)
		out := found(yes, fmt.Sprintf("every column of %s rose by about the same factor in each of %d env steps in every env, %s in all, each env in a direction of its own, and the speeds did not rise alike: it is made of what it was the step before, with a gain above one",
			f.Name, n, times(rise)))
		out.Measured, out.Baseline = rise, inStepRise
		return out.in(f, r.env, int(f.cell(end, row).arg), f.frames.Ticks[from]), true
	}
	return Feature{}, false
}

// rises returns the median factor from one frame to another of all numbers of a field that
// are at least a share of the largest of their row, and how far apart the factors are as a
// share of the rise; not a number where too few are finite.
func (f *field) rises(from, to int, share float64) (by, apart float64) {
	if from < 0 || to <= from {
		return math.NaN(), math.NaN()
	}
	var v []float64
	for row := range f.rows {
		if f.cell(from, row).bad+f.cell(to, row).bad > 0 {
			return math.NaN(), math.NaN()
		}
		for col := range f.to - f.from {
			was, is := f.at(from, row, col), f.at(to, row, col)
			if was != 0 && math.Abs(is) >= share*f.cell(to, row).max {
				v = append(v, is/was)
			}
		}
	}
	if len(v) < inStepLeast {
		return math.NaN(), math.NaN()
	}
	slices.Sort(v)
	q := func(p float64) float64 { return stat.Quantile(p, stat.Empirical, v, nil) }
	by = q(0.5)
	return by, (q(0.9) - q(0.1)) / math.Abs(by-1)
}

// renewed returns the frames up to one that do not repeat the frame before: commands may be
// recorded in each substep over which they are held.
func (f *field) renewed(end int) []int {
	var at []int
	for i := 0; i <= end; i++ {
		if i == 0 || !f.same(i-1, i) {
			at = append(at, i)
		}
	}
	return at
}

// oneWay reports whether the rows of a field all point the same way in a frame, or the
// opposite one.
func (f *field) oneWay(i int) bool {
	for row := 1; row < f.rows; row++ {
		dot, aa, bb := 0.0, 0.0, 0.0
		for col := range f.to - f.from {
			a, b := f.at(i, 0, col), f.at(i, row, col)
			dot, aa, bb = dot+a*b, aa+a*a, bb+b*b
		}
		if math.Abs(dot) < sameWay*math.Sqrt(aa*bb) {
			return false
		}
	}
	return true
}
