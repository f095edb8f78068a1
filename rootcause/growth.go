package rootcause

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// growth is the way up of one env's speeds before the end: the frames
// [from, to] of a row, cut at the env's last reset.
type growth struct {
	f        *field
	row      int
	from, to int
	start    float64 // size where it set out
	end      float64 // size at the last finite frame
	rate     float64 // median ln ratio of the last five frames
	lead     int     // column that was the largest at the end
	law      string  // "jump", "accelerating", "exponential" or ""
	slope    float64 // of ln size, per frame, when exponential
	peers    float64 // median size of the other envs at the end, 0 without any
}

// factor returns how many times larger the end is than the start.
func (g *growth) factor() float64 {
	if g.start <= 0 {
		return 0
	}
	return g.end / g.start
}

// frames returns how many frames the way up took.
func (g *growth) frames() int { return g.to - g.from }

// growthOf follows the speeds of env up to, and not including, tick end. ok is
// false when the file holds fewer than two finite frames of them.
func (c *Case) growthOf(f *field, env int, end int64) (growth, bool) {
	row := f.row(env)
	if f.len() == 0 || row < 0 {
		return growth{}, false
	}
	lo, hi := f.window(c.lastReset(env, end-1), end, f.len())
	for i := lo; i < hi; i++ {
		if f.cell(i, row).bad > 0 {
			hi = i
		}
	}
	lo = c.afterDrop(f, row, lo, hi)
	if hi-lo < 2 {
		return growth{}, false
	}
	g := growth{f: f, row: row, to: hi - 1, end: f.cell(hi-1, row).max, lead: int(f.cell(hi-1, row).arg)}
	g.from = f.setOut(row, lo, hi-1)
	g.start = f.cell(g.from, row).max
	g.rate = f.logRate(row, max(lo, hi-6), hi)
	g.peers = f.peers(hi-1, row)
	g.fit(max(lo, g.from), hi)
	return g, true
}

// afterDrop returns the first frame after the last fall by two decades to a
// healthy size: a reset that nobody noted.
func (c *Case) afterDrop(f *field, row, lo, hi int) int {
	for i := hi - 1; i > lo; i-- {
		was, is := f.cell(i-1, row).max, f.cell(i, row).max
		if was > f.limit && is < was/100 && is <= f.limit {
			return i
		}
	}
	return lo
}

// setOut returns the frame where the size set out to the end: the last one that
// was no larger than three times the healthy size, or the smallest of all.
func (f *field) setOut(row, lo, end int) int {
	best := lo
	for i := end - 1; i >= lo; i-- {
		size := f.cell(i, row).max
		if size <= 3*f.base {
			return i
		}
		if size < f.cell(best, row).max {
			best = i
		}
	}
	return best
}

// logRate returns the median of ln(size[i]/size[i-1]) over [lo, hi).
func (f *field) logRate(row, lo, hi int) float64 {
	var r []float64
	for i := lo + 1; i < hi; i++ {
		was, is := f.cell(i-1, row).max, f.cell(i, row).max
		if was > 0 && is > 0 {
			r = append(r, math.Log(is/was))
		}
	}
	if len(r) == 0 {
		return 0
	}
	slices.Sort(r)
	return stat.Quantile(0.5, stat.Empirical, r, nil)
}

// peers returns the median size of the other rows of a frame, 0 without any.
func (f *field) peers(i, row int) float64 {
	var v []float64
	for r := range f.rows {
		if c := f.cell(i, r); r != row && c.bad == 0 {
			v = append(v, c.max)
		}
	}
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return stat.Quantile(0.5, stat.Empirical, v, nil)
}

// fit names the law of the way up.
func (g *growth) fit(lo, hi int) {
	n := hi - lo
	if n <= 4 && g.factor() >= 10 {
		g.law = "jump"
		return
	}
	if n < 5 {
		return
	}
	x, y := make([]float64, 0, n), make([]float64, 0, n)
	for i := lo; i < hi; i++ {
		if size := g.f.cell(i, g.row).max; size > 0 {
			x, y = append(x, float64(i-lo)), append(y, math.Log(size))
		}
	}
	if len(x) < 5 {
		return
	}
	a, slope := stat.LinearRegression(x, y, nil, false)
	switch {
	case g.factor() >= 10 && g.burst(lo, hi):
		g.law = "jump"
	case g.factor() >= 100 && accelerates(y):
		g.law = "accelerating"
	case g.factor() >= 3 && slope > 0.01 && stat.RSquared(x, y, nil, a, slope) > 0.8:
		g.law, g.slope = "exponential", slope
	}
}

// accelerates reports whether the logarithm of a size bends upwards: the growth
// in its last third is more than twice that in its first, and no third falls.
func accelerates(y []float64) bool {
	n := len(y)
	if n < 6 {
		return false
	}
	first, middle, last := y[n/3]-y[0], y[2*n/3]-y[n/3], y[n-1]-y[2*n/3]
	return first >= 0 && middle >= 0 && last > 2*first && last > middle
}

// burst reports whether most of the growth, in decades, came in the last three
// frames.
func (g *growth) burst(lo, hi int) bool {
	knee := max(lo, hi-4)
	was := g.f.cell(knee, g.row).max
	if was <= 0 {
		return false
	}
	late := math.Log(g.end / was)
	return late > 0.6*math.Log(g.factor()) && late > math.Log(10)
}

// physicsGrowth is F2: speeds that ran away before the first non-finite value,
// in the env to blame and cut at its resets.
func (c *Case) physicsGrowth() Feature {
	f := c.velocity()
	if f.len() == 0 {
		f = c.first(qacc)
	}
	if f.len() == 0 {
		return c.growthInObs()
	}
	r := c.root()
	env, ok := c.focus()
	if r != nil && r.class == masked {
		return unmeasured("the substep in which it happened: the evidence was replaced at once")
	}
	if c.afterReset().Value == "written" || c.writtenOutside() {
		return idle("nothing grew: the value was written from outside the physics")
	}
	if !ok && len(c.culprits) > 0 {
		return unmeasured("the rows of the env to blame")
	}
	if !ok {
		return c.anyGrowth(f)
	}
	end := c.deadline()
	if r.placed() && !r.is(body...) && c.drives() == nil {
		end = r.tick + 1 // what grew later is no precursor
	}
	if f.row(env) < 0 {
		return c.growthInTrace(f, env, end)
	}
	g, ok := c.growthOf(f, env, end)
	if !ok {
		return c.tooShort(f, env, end)
	}
	return c.judge(&g, env)
}

// growthInTrace is F2 for an env whose rows are not in the file: the trace names
// the env of the largest value.
func (c *Case) growthInTrace(f *field, env int, end int64) Feature {
	j := f.entryBefore(end)
	for j >= 0 && (f.argmax(j) != env || f.traced(j) == "" || nonFinite(f.traced(j))) {
		j--
	}
	if j < 0 {
		return unmeasured("the rows of the env to blame")
	}
	first := f.beginTrace(j)
	size, t := at(f.trace.AbsMax, j), f.trace.Ticks[j]
	out := found(yes, fmt.Sprintf("%s of env %d ran away from tick %d on, to %s at tick %d (healthy: %s); its rows are not in the file, the trace over all envs shows it",
		f.Name, env, f.trace.Ticks[first], num(size), t, num(f.base)))
	out.Measured, out.Baseline = size, f.base
	return out.in(f, env, -1, t)
}

// judge turns a way up into F2.
func (c *Case) judge(g *growth, env int) Feature {
	value := no
	big := g.end > math.Max(10*g.f.base, 50)
	steady := g.rate >= 0.3 && g.frames() >= 3
	r := c.root()
	ran := r.is(body...) && (r.class == growing || r.class == huge)
	if g.end > g.f.limit || big && steady || ran {
		value = yes
	}
	f := found(value, c.say(g, env)+c.posture(g, env))
	f.Half = value == no && r == nil && c.guardFired() // the step that failed is not shown
	f = f.in(g.f, env, g.lead, g.f.frames.Ticks[g.to])
	f.Measured, f.Baseline = g.end, g.f.base
	return f
}

// tooShort judges an env with a single finite frame before the end.
func (c *Case) tooShort(f *field, env int, end int64) Feature {
	row := f.row(env)
	i := f.upTo(end - 1)
	if i < 0 || row < 0 || f.cell(i, row).bad > 0 {
		return unmeasured(fmt.Sprintf("a finite frame of %s in env %d before it went bad", f.Name, env))
	}
	cell := f.cell(i, row)
	if cell.max > f.limit {
		return found(yes, fmt.Sprintf("%s of env %d stands at %s in the only frame before it went bad", f.column(int(cell.arg)), env, c.quantity(f, int(cell.arg), cell.max))).
			in(f, env, int(cell.arg), f.frames.Ticks[i])
	}
	return unmeasured(fmt.Sprintf("more than one finite frame of %s in env %d before it went bad", f.Name, env))
}

// anyGrowth looks at all rows when no env is to blame.
func (c *Case) anyGrowth(f *field) Feature {
	end := c.beginning()
	lo, hi := f.window(start, end, 20)
	worst, at := 0.0, -1
	for i := lo; i < hi; i++ {
		for row := range f.rows {
			if m := f.cell(i, row).max; m > worst {
				worst, at = m, i*f.rows+row
			}
		}
	}
	if at < 0 {
		return unmeasured("frames of " + f.Name + " before it went bad")
	}
	i, row := at/f.rows, at%f.rows
	cell := f.cell(i, row)
	value := no
	if worst > f.limit {
		value = yes
	}
	out := found(value, fmt.Sprintf("the fastest of all envs in the last %d frames before it is %s at %s", hi-lo, f.column(int(cell.arg)), c.quantity(f, int(cell.arg), worst)))
	out.Measured, out.Baseline = worst, f.base
	return out.in(f, f.env(row), int(cell.arg), f.frames.Ticks[i])
}

// growthInObs is F2 for dumps without physics: an observation in which several
// columns grow from step to step follows a state that does, for a term of an
// observation has no memory.
func (c *Case) growthInObs() Feature {
	f := c.first(obs)
	r := c.root()
	if f.len() < 3 || r == nil || r.f != f || r.row < 0 {
		return unmeasured("qvel or qacc")
	}
	env := r.env
	g, ok := c.growthOf(f, env, c.deadline())
	if !ok || g.frames() < 3 || g.rate < 0.3 || f.grown(&g) < 2 {
		return unmeasured("qvel or qacc (and " + f.Name + " does not grow steadily)")
	}
	out := found(yes, c.say(&g, env)+"; "+fmt.Sprintf("%d of its %d columns grew with it, which is a state that runs away", f.grown(&g), f.to-f.from))
	out.Measured, out.Baseline = g.end, f.base
	return out.in(f, env, g.lead, f.frames.Ticks[g.to])
}

// grown counts the columns that grew at least tenfold on the way up.
func (f *field) grown(g *growth) int {
	n := 0
	for col := range f.to - f.from {
		was, is := math.Abs(f.at(g.from, g.row, col)), math.Abs(f.at(g.to, g.row, col))
		if is > 10*math.Max(was, f.base) {
			n++
		}
	}
	return n
}
