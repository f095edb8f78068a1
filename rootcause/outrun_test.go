package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// compounding is a run whose returns grow by a factor over the file, with values that follow
// them up to a size, losses that are the square of what is left, and gradients of some growth.
func compounding(returns string, factor, upTo, grads float64) *loopRun {
	r := newRun(400).drop("grad_norm")
	n := float64(len(r.fields["loss.total"].v))
	at := func(i int) float64 { return math.Pow(factor, float64(i)/n) }
	steps := float64(len(r.fields["value"].v))
	for i, frame := range r.fields["value"].v {
		size := min(upTo, math.Pow(factor, float64(i)/steps))
		for row := range frame {
			frame[row][0] = size * (0.8 + 0.2*hash(i, row))
		}
	}
	left := func(i int) float64 { return at(i) - min(upTo, at(i)) + 0.1*min(upTo, at(i)) }
	return r.batchOn(returns, dump.StageValue, func(i, col int) float64 { return at(i) * 2 * (hash(i, col) - 0.3) }).
		add("loss.value", dump.StageLoss, nil, func(i, _ int) float64 { return left(i) * left(i) }).
		add("grad_norm", dump.StageGrad, nil, func(i, _ int) float64 { return 3 * math.Pow(grads, float64(i)/n) * (1 + 0.1*hash(i)) })
}

// TestOutrun is X25 for returns that leave the values behind.
func TestOutrun(t *testing.T) {
	for name, r := range map[string]*loopRun{
		"return":  compounding("return", 3e4, 30, 3e3),
		"returns": compounding("returns", 8e4, 100, 500),
		"buffer":  compounding("buffer.return", 3e4, 3, 1e4),
	} {
		c, d := r.judge()
		assert.Equal(t, ascends, c.feature(X25).Value, "%s: %s", name, c.feature(X25).Text)
		assert.Equal(t, LearnerExplosion, d.Verdict, name)
	}
	for name, r := range map[string]*loopRun{
		"the critic follows":      compounding("return", 3e4, 1e9, 3e3),
		"gradients stay":          compounding("return", 3e4, 30, 2),
		"by a decade":             compounding("return", 20, 3, 3e3),
		"not recorded as returns": compounding("payoff", 3e4, 30, 3e3),
	} {
		_, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, name)
	}
}
