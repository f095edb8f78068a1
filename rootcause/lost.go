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
	lonely    = 0.1 // share of what a run has made that a normalizer of its own has seen at most
)

// normalizerLost is X19: the normalizer forgot what it had seen: its count fell,
// it is as good as new in an old run, its statistics were overwritten, or the
// observations it makes jumped when a checkpoint was loaded.
func (c *Case) normalizerLost() Feature {
	if c.seenCount() == nil && c.first(normMean, normVar, obsNorm) == nil {
		return unmeasured("the normalizer")
	}
	if f, ok := c.firstOf((*Case).countFell, (*Case).neverFed, (*Case).likeNew, (*Case).leftOut, (*Case).wiped, (*Case).overwritten,
		(*Case).twiceNormalized, (*Case).zLeapt, (*Case).cameAlone, (*Case).misfit); ok {
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

// seenCount returns the count of observations that the normalizer has seen, nil
// where it is not recorded.
func (c *Case) seenCount() *field { return c.counterOf("normalizer.count") }

// countsSamples reports whether a count grows by about one for each env in an env
// step, or stands still: others count the updates, or what a window holds.
func (c *Case) countsSamples(n *field) bool {
	if n.len() < 2 || n.Clock != dump.ClockStep || len(n.frames.Counts) != n.len() {
		return n.len() == 1
	}
	steps := float64(n.frames.Counts[n.len()-1] - n.frames.Counts[0])
	grown := n.at(n.len()-1, 0, 0) - n.at(0, 0, 0)
	return grown == 0 || grown >= steps*float64(c.man.NumEnvs)/2
}

// fallen is the share of what it was to which a count must fall: a rollback to a
// checkpoint of this run takes away the end, and a window breathes.
const fallen = 0.5

// countFell finds a count of observations that became much smaller.
func (c *Case) countFell() (Feature, bool) {
	n := c.seenCount()
	if n == nil {
		return Feature{}, false
	}
	ticks, v := n.history()
	for i := 1; i < len(v); i++ {
		if v[i] < fallen*v[i-1] && !c.meantTo(ticks[i-1], ticks[i]) {
			f := found(yes, fmt.Sprintf("%s fell from %s to %s at tick %d: what the normalizer had seen is gone", n.Name, num(v[i-1]), num(v[i]), ticks[i]))
			f.Measured, f.Baseline = v[i], v[i-1]
			return f.in(n, -1, 0, ticks[i]), true
		}
	}
	return Feature{}, false
}

// meantTo reports whether the run notes between two ticks that its normalizer begins anew.
func (c *Case) meantTo(from, to int64) bool {
	return slices.ContainsFunc(c.man.Events, func(e dump.Event) bool {
		return e.Kind == dump.EventCurriculum && e.Tick >= from && e.Tick <= to && about(fmt.Sprint(e.Name, e.Detail), "normaliz", "statistic")
	})
}

// neverFed finds a normalizer in use that has not seen a single observation although
// the run is in its learning: nobody updates it.
func (c *Case) neverFed() (Feature, bool) {
	n := c.seenCount()
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
	if a.bad+b.bad > 0 || a.max != 0 || b.max != 1 || b.min != 1 || z.largest(math.MaxInt64) < zOrdinary {
		return Feature{}, false // what is of the order of one needs no normalizer
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

// likeNew finds a normalizer that has seen next to nothing in a run that is old.
func (c *Case) likeNew() (Feature, bool) {
	it, ok := c.updates()
	if v, fact := c.fact("iteration"); fact {
		it, ok = v, true
	}
	n := c.seenCount()
	if !ok || it < trained || n.len() == 0 || !c.countsSamples(n) {
		return Feature{}, false
	}
	seen := n.cell(n.len()-1, 0).max
	if seen == 0 || seen >= it {
		return Feature{}, false
	}
	f := found(yes, fmt.Sprintf("%s is %s in learner iteration %s: fewer observations than iterations", n.Name, num(seen), num(it)))
	f.Measured, f.Baseline = seen, it
	return f.in(n, -1, 0, n.frames.Ticks[n.len()-1]), true
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

// cameAlone finds a policy that was loaded without its normalizer: the run goes on at
// the checkpoint's step, and the normalizer has seen next to nothing of what was made
// until then. Steps are spread evenly over the ticks. A normalizer that has also seen
// what the run made before the load was kept, and a run that begins with what another
// one learned, a teacher or an encoder, begins with a normalizer of its own.
func (c *Case) cameAlone() (Feature, bool) {
	n := c.seenCount()
	resumed := slices.IndexFunc(c.man.Events, func(e dump.Event) bool { return e.Kind == dump.EventCheckpointLoaded })
	if resumed < 0 || n.len() == 0 || n.Clock != dump.ClockStep || len(n.frames.Counts) == 0 || c.man.NumEnvs == 0 || c.man.Events[resumed].Tick > n.frames.Ticks[0] {
		return Feature{}, false
	}
	load, first, steps := float64(c.man.Events[resumed].Tick), float64(n.frames.Ticks[0]), float64(n.frames.Counts[0])
	since := steps * (1 - load/max(first, 1))
	seen, made := n.cell(0, 0).max, (math.Ceil(since)+1)*float64(c.man.NumEnvs)
	if seen > lonely*made || seen > earlyCount || !c.countsSamples(n) {
		return Feature{}, false
	}
	f := found(yes, fmt.Sprintf("checkpoint %s was loaded at tick %d, and %s is %s although the run counts %.0f env steps of %d envs: the normalizer has seen no more, nothing came with the checkpoint",
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
