package rootcause

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// outlying is how many times larger than the median of the others a rank's value
// must be.
const outlying = 1e3

// ranksOnly says why nothing of one rank speaks for or against its ranks differing
// where no value of it is wrong.
const ranksOnly = "the ranks differ, and nothing of this one is wrong by itself"

// ranks is X20: the ranks of a run do not agree, or what is bad here came from
// another one.
func (c *Case) ranks() Feature {
	if f, ok := c.rankFacts(); ok {
		return f
	}
	for _, f := range c.fields {
		if out, ok := c.rankColumns(f); ok {
			return out
		}
	}
	if out, ok := c.rankFields(); ok {
		return out
	}
	if out, ok := c.rankStatistics(); ok {
		return out
	}
	if c.man.Run.WorldSize <= 1 && !c.severalRanks() {
		return idle("a run of one rank")
	}
	if f, ok := c.reduced(); ok {
		return f
	}
	if r := c.root(); r.is(grad) && nonFinite(r.class) && c.lossesFine(r) {
		return found("elsewhere", fmt.Sprintf("%s is %s here while every loss of this rank is finite: an all-reduce may have brought it (rank %d of %d)",
			r.name, words[r.class], c.man.Run.Rank, c.man.Run.WorldSize)).in(r.f, -1, max(r.col, 0), r.tick)
	}
	if f, ok := c.sharedStatistic(); ok {
		return f
	}
	return unmeasured("values per rank (grad_norm with a column for each)")
}

// severalRanks reports whether a fact says that there are several ranks.
func (c *Case) severalRanks() bool {
	for _, name := range []string{"ranks", "world_size", "ranks.count"} {
		if n, ok := c.fact(name); ok && n > 1 {
			return true
		}
	}
	return false
}

// rankFact matches a fact that belongs to one rank: "rank.3.grad_norm",
// "ranks.grad_norm.3" or "grad_norm.rank3".
var rankFact = regexp.MustCompile(`^(?:ranks?\.?(\d+)\.(.+)|ranks?\.(.+)\.(\d+)|(.+?)\.rank_?(\d+))$`)

// rankFacts judges what the run says of its ranks: that they are not kept
// together, or a number for each.
func (c *Case) rankFacts() (Feature, bool) {
	groups := map[string]map[string]float64{}
	for _, name := range slices.Sorted(maps.Keys(c.man.Facts)) {
		v := c.man.Facts[name]
		if flag, ok := v.(bool); ok && !flag && strings.HasPrefix(name, "ranks.") && keepsTogether(name) && (c.man.Run.WorldSize > 1 || c.severalRanks()) {
			return found(yes, fmt.Sprintf("the run says %s is false: nothing keeps its ranks together", name)), true
		}
		m := rankFact.FindStringSubmatch(name)
		if m == nil || !about(m[2]+m[3]+m[5], rankedWords...) {
			continue
		}
		if n, ok := number(v); ok {
			what := m[2] + m[3] + m[5]
			if groups[what] == nil {
				groups[what] = map[string]float64{}
			}
			groups[what][m[1]+m[4]+m[6]] = n
		}
	}
	for _, what := range slices.Sorted(maps.Keys(groups)) {
		ids := slices.Sorted(maps.Keys(groups[what]))
		v := make([]float64, len(ids))
		for i, id := range ids {
			v[i] = groups[what][id]
		}
		if i, ok := oddOne(v, 0); ok {
			return found(yes, fmt.Sprintf("%s of rank %s is %s, out of all proportion to the other %d ranks", what, ids[i], num(v[i]), len(v)-1)), true
		}
	}
	return Feature{}, false
}

// rankColumn matches the label of a column that belongs to one rank.
var rankColumn = regexp.MustCompile(`(?i)\brank[ _:]?\d+`)

// rankColumns judges a field with one column per rank, up to the trip: from then
// on all of them may share what one had.
func (c *Case) rankColumns(f *field) (Feature, bool) {
	if !c.perRank(f) {
		return Feature{}, false
	}
	v := make([]float64, f.to-f.from)
	alike, usual := false, usualOf([]*field{f})
	for i := range f.len() {
		for col := range v {
			v[col] = f.at(i, 0, col)
		}
		alike = alike || i == 0 && slices.Max(v) == slices.Min(v)
		if col, ok := oddOne(v, usual); ok {
			return found(yes, fmt.Sprintf("%s is %s at tick %d, and no other rank's is anywhere near", f.label(col), num(v[col]), f.frames.Ticks[i])).in(f, -1, col, f.frames.Ticks[i]), true
		}
		if slices.Max(v) > slices.Min(v) && i > 0 && f.ofWeights(alike) {
			return found(yes, fmt.Sprintf("%s differs between ranks at tick %d (%.8g to %.8g): they no longer share their weights", f.Name, f.frames.Ticks[i], slices.Min(v), slices.Max(v))).in(f, -1, 0, f.frames.Ticks[i]), true
		}
	}
	return Feature{}, false
}

// digestWords are in the names of numbers that stand for all weights of a rank.
var digestWords = []string{"checksum", "hash", "digest", "fingerprint"}

// ofWeights reports whether a field is of the weights, which ranks share to the bit:
// weights themselves, or a number made from them, whatever its stage, that was the
// same for all ranks once. Where each rank holds a part of them it never was.
func (f *field) ofWeights(alike bool) bool {
	if about(f.Name, "shard", "fsdp", "zero", "local") {
		return false
	}
	return f.kind == param || alike && about(f.Name, digestWords...) && about(f.Name, "param", "weight", "model", "policy", "net")
}

// perRank reports whether a field has one column for each rank: its labels say
// so, or its name does and it is as wide as there are ranks.
func (c *Case) perRank(f *field) bool {
	n := f.to - f.from
	if f.len() == 0 || f.PerEnv || n < 2 || !about(f.Name, rankedWords...) {
		return false
	}
	if len(f.names) >= n && rankColumn.MatchString(f.names[0]) && rankColumn.MatchString(f.names[1]) {
		return true
	}
	return about(f.Name, "rank") && (n == c.man.Run.WorldSize || c.severalRanks() && c.man.Run.WorldSize <= 1)
}

// rankName matches a field that belongs to one rank: "rank0.grad_norm",
// "grad_norm.rank_1".
var rankName = regexp.MustCompile(`(?i)\branks?[ _.:/-]?(\d+)`)

// rankFields compares fields that exist once for each rank, frame by frame.
func (c *Case) rankFields() (Feature, bool) {
	groups := map[string][]*field{}
	for _, f := range c.fields {
		if m := rankName.FindStringIndex(f.Name); m != nil && f.len() > 0 && !f.PerEnv && about(f.Name, rankedWords...) {
			key := f.Name[:m[0]] + f.Name[m[1]:]
			groups[key] = append(groups[key], f)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		fs, alike, usual := groups[key], false, usualOf(groups[key])
		for i := 0; len(fs) > 1 && i < fs[0].len(); i++ {
			v := make([]float64, 0, len(fs))
			for _, f := range fs {
				if k := f.upTo(fs[0].frames.Ticks[i]); k >= 0 {
					v = append(v, f.at(k, 0, 0))
				}
			}
			if col, ok := oddOne(v, usual); ok && len(v) == len(fs) {
				f := fs[col]
				return found(yes, fmt.Sprintf("%s is %s at tick %d, and no other rank's is anywhere near", f.Name, num(v[col]), f.frames.Ticks[i])).in(f, -1, 0, fs[0].frames.Ticks[i]), true
			}
			alike = alike || i == 0 && len(v) == len(fs) && slices.Max(v) == slices.Min(v)
			if i > 0 && len(v) == len(fs) && slices.Max(v) > slices.Min(v) && fs[0].ofWeights(alike) {
				return found(yes, fmt.Sprintf("%s and its like differ between ranks at tick %d (%.8g to %.8g): they no longer share their weights", fs[0].Name, fs[0].frames.Ticks[i], slices.Min(v), slices.Max(v))).in(fs[0], -1, 0, fs[0].frames.Ticks[i]), true
			}
		}
	}
	return Feature{}, false
}

// rankedWords are in the names of what ranks have in common: how long one of them
// waits, or that it alone writes the video, says nothing.
var rankedWords = []string{"grad", "loss", "param", "weight", "norm", "kl", "adv", "return", "value", "reward", "obs", "std", "entropy", "ratio", "action", "lr", "learning_rate", "checksum", "hash", "digest", "fingerprint"}

// keepsTogether reports whether a fact is about what keeps the weights of ranks
// together, and not about how: a setting of the library, or who is the first of them.
func keepsTogether(name string) bool {
	return about(name, "reduce", "broadcast", "equal", "in_sync", "sync_param", "sync_grad", "sync_weight", "params_sync", "grads_sync", "average", "same") && !about(name, "buffer", "norm", "async")
}

// usualOf returns the size that the ranks' values usually have: below it, what one has
// more than the others is the last place of numbers near zero, such as a KL before
// the first step.
func usualOf(fs []*field) float64 {
	usual := math.Inf(1)
	for _, f := range fs {
		for col := range f.to - f.from {
			var v []float64
			for i := range f.len() {
				if x := f.at(i, 0, col); finite(x) {
					v = append(v, x)
				}
			}
			usual = math.Min(usual, median(v))
		}
	}
	return usual
}

// oddOne returns the one value that is non-finite, or a thousand times the
// median of the others and above what is usual, while all others are ordinary.
func oddOne(v []float64, usual float64) (int, bool) {
	odd := -1
	for i, x := range v {
		others := slices.Delete(slices.Clone(v), i, i+1)
		if slices.ContainsFunc(others, func(o float64) bool { return !finite(o) }) {
			continue
		}
		if m := median(others); !finite(x) || m > 0 && math.Abs(x) > outlying*m && math.Abs(x) > usual {
			odd = i
		}
	}
	return odd, odd >= 0 && len(v) > 1
}

// median returns the median size of finite values, 0 for none.
func median(v []float64) float64 {
	sizes := make([]float64, len(v))
	for i, x := range v {
		sizes[i] = math.Abs(x)
	}
	slices.Sort(sizes)
	if len(sizes) == 0 {
		return 0
	}
	return sizes[len(sizes)/2]
}
