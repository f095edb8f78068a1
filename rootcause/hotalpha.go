package rootcause

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// The bounds of a temperature that runs away: by how much it grows over the file, how many
// times the largest reward it is at the end, how little the entropy follows, in nats, and by
// how much the loss of the critic grows.
const (
	hotFor     = 40
	hotGrowth  = 30.0
	hotReward  = 3.0
	hotEntropy = 0.15
	hotLoss    = 100.0
)

// hotTemperature finds the temperature of a soft actor-critic that grows by the same factor
// in every record, by decades, to above every reward, while the entropy that it is to raise
// does not follow and the loss of the critic grows with it: the target cannot be reached, and
// what the critic learns is the temperature.
func (c *Case) hotTemperature() (Feature, bool) {
	paid := c.largestReward()
	if !(paid > 0) || !c.tuned() || !c.entropyRests() || c.rising(loss, hotFor, hotLoss, criticWords...) == nil {
		return Feature{}, false
	}
	for _, f := range c.fields {
		if !f.learnedScalar() || f.len() < hotFor || !c.runsHot(f, paid) {
			continue
		}
		first, last := f.temperature(0), f.temperature(f.len()-1)
		out := found(ascends, fmt.Sprintf("the temperature %s grew in every of %d records, from %s to %s, above every reward (%s at most), and the entropy does not follow: its target cannot be reached, and the critic learns the temperature",
			f.Name, f.len(), num(first), num(last), num(paid)))
		out.Measured, out.Baseline = last/first, hotGrowth
		return out.in(f, -1, 0, f.frames.Ticks[0]), true
	}
	return Feature{}, false
}

// temperature returns a temperature of which the field may hold the logarithm.
func (f *field) temperature(i int) float64 {
	if hasToken(f.Name, logTokens...) {
		return math.Exp(f.at(i, 0, 0))
	}
	return f.at(i, 0, 0)
}

// runsHot reports whether a temperature grows in every record, as fast at the end as at the
// start, to far above the rewards.
func (c *Case) runsHot(f *field, paid float64) bool {
	n := f.len()
	for i := 1; i < n; i++ {
		if !(f.temperature(i) > f.temperature(i-1)) {
			return false
		}
	}
	first, mid, last := f.temperature(0), f.temperature(n/2), f.temperature(n-1)
	return first > 0 && last > hotGrowth*first && last > hotReward*paid && math.Log(last/mid) > math.Log(mid/first)/2
}

// entropyRests reports whether an entropy is recorded and is at the end what it was at the
// start.
func (c *Case) entropyRests() bool {
	return slices.ContainsFunc(c.fields, func(f *field) bool {
		if f.len() < hotFor || f.PerEnv || !hasToken(f.Name, "entropy") || about(f.Name, "target", "loss", "coef") {
			return false
		}
		v := f.means()
		n := len(v) / 4
		return n > 0 && math.Abs(stat.Mean(v[len(v)-n:], nil)-stat.Mean(v[:n], nil)) < hotEntropy
	})
}
