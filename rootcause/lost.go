package rootcause

import (
	"fmt"
	"math"
	"slices"

	"github.com/nanguard/nanguard/dump"
)

// The bounds of X19.
const (
	trained   = 50  // learner iterations after which a normalizer is no longer new
	zLeap     = 5.0 // growth of the largest |z| at a checkpoint
	zOrdinary = 20.0
)

// normalizerLost is X19: the normalizer forgot what it had seen: its count fell,
// it is as good as new in an old run, its statistics were overwritten, or the
// observations it makes jumped when a checkpoint was loaded.
func (c *Case) normalizerLost() Feature {
	n := c.counterOf("normalizer.count")
	if n == nil && c.first(normMean, normVar, obsNorm) == nil {
		return unmeasured("the normalizer")
	}
	if f, ok := c.countFell(n); ok {
		return f
	}
	if f, ok := c.neverFed(n); ok {
		return f
	}
	if f, ok := c.likeNew(n); ok {
		return f
	}
	if f, ok := c.leftOut(); ok {
		return f
	}
	if f, ok := c.wiped(); ok {
		return f
	}
	if f, ok := c.overwritten(); ok {
		return f
	}
	if f, ok := c.twiceNormalized(); ok {
		return f
	}
	if f, ok := c.zLeapt(); ok {
		return f
	}
	if f, ok := c.cameAlone(n); ok {
		return f
	}
	if f, ok := c.misfit(); ok {
		return f
	}
	return found(no, "the normalizer kept what it had seen")
}

// counterOf returns a field by its name, nil when the file has nothing of it.
func (c *Case) counterOf(name string) *field {
	if f := c.byName[name]; f != nil && (f.len() > 0 || f.trace != nil) {
		return f
	}
	return nil
}

// countFell finds a count of observations that became smaller.
func (c *Case) countFell(n *field) (Feature, bool) {
	if n == nil {
		return Feature{}, false
	}
	ticks, v := n.history()
	for i := 1; i < len(v); i++ {
		if v[i] < v[i-1] {
			f := found(yes, fmt.Sprintf("%s fell from %s to %s at tick %d: what the normalizer had seen is gone", n.Name, num(v[i-1]), num(v[i]), ticks[i]))
			f.Measured, f.Baseline = v[i], v[i-1]
			return f.in(n, -1, 0, ticks[i]), true
		}
	}
	return Feature{}, false
}

// neverFed finds a normalizer in use that has not seen a single observation although
// the run is in its learning: nobody updates it.
func (c *Case) neverFed(n *field) (Feature, bool) {
	z, raw := c.first(obsNorm), c.first(obs)
	if n.len() < unfedFor || z.len() == 0 || raw.len() < unfedFor || c.first(loss).len() < unfedLosses || n.PerEnv {
		return Feature{}, false
	}
	if on, ok := c.fact("normalizer.enabled"); ok && on == 0 {
		return Feature{}, false
	}
	m, v := c.first(normMean), c.first(normVar)
	if m.len() == 0 || v.len() == 0 {
		return Feature{}, false
	}
	for i := range n.len() {
		if cell := n.cell(i, 0); cell.bad > 0 || cell.max > 0 {
			return Feature{}, false
		}
	}
	a, b := m.cell(m.len()-1, 0), v.cell(v.len()-1, 0)
	if a.bad+b.bad > 0 || a.max != 0 || b.max != 1 || b.min != 1 {
		return Feature{}, false
	}
	f := found(yes, fmt.Sprintf("%s is 0 in all %d records, with a mean of zero and a variance of one, while the run learns: nothing updates the normalizer, and nothing was loaded into it", n.Name, n.len()))
	f.Measured, f.Baseline = 0, float64(n.len())
	return f.in(n, -1, 0, n.frames.Ticks[0]), true
}

// unfedFor and unfedLosses are how many records and losses a normalizer that has seen nothing must have behind it.
const (
	unfedFor    = 50
	unfedLosses = 5
)

// history returns the finite sizes of a field with one row over time: the trace
// where there is one, else the frames.
func (f *field) history() (ticks []int64, sizes []float64) {
	if f.trace != nil && len(f.trace.AbsMax) == len(f.trace.Ticks) {
		return f.trace.Ticks, f.trace.AbsMax
	}
	for i := range f.len() {
		ticks, sizes = append(ticks, f.frames.Ticks[i]), append(sizes, f.cell(i, 0).max)
	}
	return ticks, sizes
}

// likeNew finds a normalizer that is as it was made, mean zero and variance one
// in every column, or that has seen next to nothing, in a run that is old.
func (c *Case) likeNew(n *field) (Feature, bool) {
	it, ok := c.updates()
	if v, fact := c.fact("iteration"); fact {
		it, ok = v, true
	}
	if !ok || it < trained {
		return Feature{}, false
	}
	if n.len() > 0 {
		if seen := n.cell(n.len()-1, 0).max; seen < it {
			f := found(yes, fmt.Sprintf("%s is %s in learner iteration %s: fewer observations than iterations", n.Name, num(seen), num(it)))
			f.Measured, f.Baseline = seen, it
			return f.in(n, -1, 0, n.frames.Ticks[n.len()-1]), true
		}
	}
	m, v := c.first(normMean), c.first(normVar)
	if m.len() == 0 || v.len() == 0 || v.to-v.from < 3 {
		return Feature{}, false
	}
	a, b := m.cell(0, 0), v.cell(0, 0)
	if a.bad+b.bad == 0 && a.max == 0 && b.max == 1 && b.min == 1 {
		return found(yes, fmt.Sprintf("%s is zero and %s one in every column in learner iteration %s, as they were made", m.Name, v.Name, num(it))).
			in(v, -1, 0, v.frames.Ticks[0]), true
	}
	return Feature{}, false
}

// zLeapt finds normalized observations that jumped at a checkpoint while the raw
// ones did not.
func (c *Case) zLeapt() (Feature, bool) {
	z, raw := c.first(obsNorm), c.first(obs)
	if z == nil {
		return Feature{}, false
	}
	for _, e := range c.man.Events {
		if e.Kind != dump.EventCheckpointLoaded {
			continue
		}
		was, is := z.around(e.Tick)
		if was <= 0 || is < zLeap*was || is < zOrdinary {
			continue
		}
		if a, b := raw.around(e.Tick); a > 0 && b > zLeap*a {
			continue
		}
		f := found(yes, fmt.Sprintf("the largest |z| of %s rose from %s to %s when checkpoint %s was loaded (tick %d), and the raw observations did not", z.Name, num(was), num(is), e.Name, e.Tick))
		f.Measured, f.Baseline = is, was
		return f.in(z, -1, 0, e.Tick), true
	}
	return Feature{}, false
}

// The bounds of a normalizer that does not fit: columns whose middle over all
// envs and frames lies this many standard deviations out, over so many frames.
const (
	zMisfit     = 30.0
	misfitFor   = 20
	misfitShare = 0.25 // of the columns at most: all of them would be another fault
)

// misfit finds a normalizer that came with a checkpoint and does not fit what it
// normalizes: some columns lie far out in every env, from the start on.
func (c *Case) misfit() (Feature, bool) {
	z, raw := c.first(obsNorm), c.first(obs)
	resumed := slices.ContainsFunc(c.man.Events, func(e dump.Event) bool { return e.Kind == dump.EventCheckpointLoaded })
	if z.len() < misfitFor || raw.len() == 0 || !resumed {
		return Feature{}, false
	}
	var far []string
	worst, at := 0.0, 0
	for col := range z.to - z.from {
		v := make([]float64, 0, z.len()*z.rows)
		for i := range z.len() {
			for row := range z.rows {
				if x := z.at(i, row, col); finite(x) {
					v = append(v, x)
				}
			}
		}
		if m := median(v); m > zMisfit {
			far = append(far, z.column(col))
			if m > worst {
				worst, at = m, col
			}
		}
	}
	if len(far) == 0 || float64(len(far)) > misfitShare*float64(z.to-z.from)+1 {
		return Feature{}, false
	}
	f := found(yes, fmt.Sprintf("a checkpoint was loaded, and %s of %s lies %s standard deviations out in the middle of all envs and frames (%d columns beyond %g): the statistics are not those of this observation", z.column(at), z.Name, num(worst), len(far), zMisfit))
	f.Measured, f.Baseline = worst, zMisfit
	return f.in(z, -1, at, z.frames.Ticks[0]), true
}

// cameAlone finds a policy that was loaded without its normalizer: what that has
// seen is what this run alone has made since. Steps are spread evenly over the
// ticks. A normalizer that has also seen what the run made before the load was kept.
func (c *Case) cameAlone(n *field) (Feature, bool) {
	resumed := slices.IndexFunc(c.man.Events, func(e dump.Event) bool { return e.Kind == dump.EventCheckpointLoaded })
	if resumed < 0 || n.len() == 0 || n.Clock != dump.ClockStep || len(n.frames.Counts) == 0 || c.man.NumEnvs == 0 || c.man.Events[resumed].Tick > n.frames.Ticks[0] {
		return Feature{}, false
	}
	load, first, steps := float64(c.man.Events[resumed].Tick), float64(n.frames.Ticks[0]), float64(n.frames.Counts[0])
	since := steps * (1 - load/max(first, 1))
	seen, made := n.cell(0, 0).max, (math.Ceil(since)+1)*float64(c.man.NumEnvs)
	if seen > made+1 || seen > earlyCount {
		return Feature{}, false
	}
	f := found(yes, fmt.Sprintf("checkpoint %s was loaded at tick %d, and %s is %s after %.0f env steps of %d envs since: the normalizer has seen no more, nothing came with the checkpoint",
		c.man.Events[resumed].Name, c.man.Events[resumed].Tick, n.Name, num(seen), math.Round(since), c.man.NumEnvs))
	f.Measured, f.Baseline = seen, made
	return f.in(n, -1, 0, n.frames.Ticks[0]), true
}

// around returns the largest finite sizes in the frames or entries before a tick
// and in the five from it on; 0 where there are none.
func (f *field) around(tick int64) (was, is float64) {
	if f == nil {
		return 0, 0
	}
	after := 0
	for i := range f.len() {
		most := 0.0
		for row := range f.rows {
			most = math.Max(most, f.cell(i, row).max)
		}
		switch t := f.frames.Ticks[i]; {
		case t < tick:
			was = math.Max(was, most)
		case after < 5:
			is, after = math.Max(is, most), after+1
		}
	}
	return was, is
}
