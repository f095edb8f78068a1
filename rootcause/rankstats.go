package rootcause

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The bounds of statistics of ranks that are far apart: by how many of the larger std of
// both, in all of how many records, and which share of the distance a std must be at least.
// What only differs from rank to rank, and is one number within each, has none.
const (
	statsApart  = 2.0
	statsFor    = 8
	statsSpread = 0.02
)

// rankStatistics finds normalizers of two ranks that hold means of an observation more than
// two std apart, in every record: one policy, whose weights they share, is fed other numbers
// for the same state on each. Statistics that are merely not shared agree about that well.
func (c *Case) rankStatistics() (Feature, bool) {
	if c.man.Run.WorldSize <= 1 && !c.severalRanks() {
		return Feature{}, false
	}
	means := map[string][]*field{}
	for _, f := range c.fields {
		if f.kind == normMean && !f.PerEnv && f.len() >= statsFor && rankName.MatchString(f.Name) && !about(f.Name, "reward", "return", "value") {
			key := rankName.ReplaceAllString(f.Name, "#")
			means[key] = append(means[key], f)
		}
	}
	keys := make([]string, 0, len(means))
	for key := range means {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		for i, a := range means[key] {
			for _, b := range means[key][:i] {
				if out, ok := c.statisticsApart(b, a); ok {
					return out, true
				}
			}
		}
	}
	return Feature{}, false
}

// statisticsApart is rankStatistics for the means of two ranks.
func (c *Case) statisticsApart(a, b *field) (Feature, bool) {
	va, vb := c.spreadOf(a), c.spreadOf(b)
	n := a.to - a.from
	if va == nil || vb == nil || b.len() != a.len() || b.to-b.from != n {
		return Feature{}, false
	}
	for col := range n {
		least := math.Inf(1)
		for i := range a.len() {
			d := math.Abs(a.at(i, 0, col) - b.at(i, 0, col))
			sa, sb := stdOf(va.at(i, 0, col), va.Name), stdOf(vb.at(i, 0, col), vb.Name)
			if !(math.Min(sa, sb) >= statsSpread*d) || !finite(d) {
				least = 0
				break
			}
			least = math.Min(least, d/math.Max(sa, sb))
		}
		if !(least > statsApart) {
			continue
		}
		last := a.len() - 1
		out := found(yes, fmt.Sprintf("%s is %s and %s is %s, at least %s std apart in all of %d records: the ranks share their weights and feed them other numbers for the same state",
			a.label(col), num(a.at(last, 0, col)), b.label(col), num(b.at(last, 0, col)), num(least), a.len()))
		out.Measured, out.Baseline = least, statsApart
		return out.in(a, -1, col, a.frames.Ticks[0]), true
	}
	return Feature{}, false
}

// spreadOf returns the variance or std that belongs to a rank's running mean, nil where it
// is not recorded beside it.
func (c *Case) spreadOf(mean *field) *field {
	for _, word := range []string{"variance", "var", "stddev", "std"} {
		f := c.byName[strings.Replace(mean.Name, "mean", word, 1)]
		if f != nil && f != mean && f.len() == mean.len() && f.to-f.from == mean.to-mean.from {
			return f
		}
	}
	return nil
}
