package rootcause

import (
	"math"

	"github.com/nanguard/nanguard/dump"
)

// What the policy's std may be made of, as the fact policy.std_param has it; the
// first that fits is taken.
var stdParams = []struct {
	name string
	std  func(param float64) float64
}{
	{"scalar", func(x float64) float64 { return x }},
	{"log", math.Exp},
	{"softplus", func(x float64) float64 { return math.Log1p(math.Exp(x)) }},
}

// stdDrift is how far a std may have moved between two records of it, as a share
// of it: an update changes it by a few percent, and what it is not made of is off
// by more wherever it makes a difference.
const stdDrift = 0.05

// stdParam returns what the policy's std is made of, "" when that is not known: the
// run declared it, or the parameter and the std that was recorded beside it tell.
func (c *Case) stdParam() string {
	if how := c.text("policy.std_param"); how != "" {
		return how
	}
	return c.stdFound
}

// findStdParam compares the first record of the std's parameter with the std that
// was recorded next to it.
func (c *Case) findStdParam(src Source) {
	var param, used *dump.Series
	for _, s := range c.man.Fields {
		switch k := kindOf(s); {
		case k == paramStd && param == nil:
			param, _ = src.Frames(s.Name)
		case k == std && used == nil:
			used, _ = src.Frames(s.Name)
		}
	}
	if param == nil || used == nil || len(param.Ticks) == 0 || len(used.Ticks) == 0 || param.Values.Len() == 0 || used.Values.Len() == 0 {
		return
	}
	made, from := used.Values.Frame(nearest(used.Ticks, param.Ticks[0])), param.Values.Frame(0)
	for _, p := range stdParams {
		fits := made.Len()%from.Len() == 0
		for i := range made.Len() {
			want := p.std(from.Float64(i % from.Len()))
			fits = fits && math.Abs(made.Float64(i)-want) <= stdDrift*math.Abs(want)
		}
		if fits {
			c.stdFound = p.name
			return
		}
	}
}

// nearest returns the index of the tick next to another one.
func nearest(ticks []int64, to int64) int {
	best := 0
	for i, t := range ticks {
		if max(t-to, to-t) < max(ticks[best]-to, to-ticks[best]) {
			best = i
		}
	}
	return best
}
