package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// statsOf is a run of two ranks with a mean and a variance of five columns for each, named
// by a pattern of which # is the rank; the second rank's mean is off by some std in one.
func statsOf(mean, spread string, off, variance float64) *loopRun {
	r := ranked(2)
	for rank, id := range []string{"0", "1"} {
		at := func(name string) string { return rankedName(name, id) }
		cols := make([]string, 5)
		r.add(at(mean), dump.StageNormalizer, cols, func(i, col int) float64 {
			v := 0.1 * hash(i, col, rank)
			if col == 3 && rank == 1 {
				v += off
			}
			return v
		}).add(at(spread), dump.StageNormalizer, cols, func(int, int) float64 { return variance })
	}
	return r
}

// rankedName puts a rank into the place of the # in a name.
func rankedName(name, id string) string {
	out := ""
	for _, c := range name {
		if c == '#' {
			out += id
		} else {
			out += string(c)
		}
	}
	return out
}

// TestRankStatistics is X20 for normalizers of ranks that are far apart.
func TestRankStatistics(t *testing.T) {
	for name, r := range map[string]*loopRun{
		"at the end":   statsOf("normalizer.mean.rank#", "normalizer.var.rank#", 3, 0.5),
		"at the start": statsOf("rank#.normalizer.mean", "rank#.normalizer.var", -8, 1),
		"std":          statsOf("obs_rms.mean.rank_#", "obs_rms.std.rank_#", 30, 4),
	} {
		c, d := r.judge()
		assert.Equal(t, yes, c.feature(X20).Value, "%s: %s", name, c.feature(X20).Text)
		assert.Equal(t, RankDesync, d.Verdict, name)
	}
	one := statsOf("normalizer.mean.rank#", "normalizer.var.rank#", 3, 0.5)
	one.man.Run.WorldSize = 1
	for name, r := range map[string]*loopRun{
		"each its own, of the same task": statsOf("normalizer.mean.rank#", "normalizer.var.rank#", 0.5, 0.5),
		"a number of each rank":          statsOf("normalizer.mean.rank#", "normalizer.var.rank#", 3, 1e-6),
		"of returns":                     statsOf("return_normalizer.mean.rank#", "return_normalizer.var.rank#", 3, 0.5),
		"without a spread":               statsOf("normalizer.mean.rank#", "normalizer.size.rank#", 3, 0.5),
		"one rank":                       one,
	} {
		c, _ := r.judge()
		assert.NotEqual(t, yes, c.feature(X20).Value, "%s: %s", name, c.feature(X20).Text)
	}
}
