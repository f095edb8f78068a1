package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestDividedByZeroPlusEpsilon: a finite reward at its bound that ruins the loss.
func TestDividedByZeroPlusEpsilon(t *testing.T) {
	at := func(v, loss float64) *loopRun {
		r := newRun(60)
		for _, i := range []int{20, 25, 31, 40, 52} {
			r.set("reward.reach", i, 0, 0, v).set("reward", i, 0, 0, v)
		}
		return r.all("loss.total", 0, loss)
	}
	c, d := at(1e8, 3e15).judge()
	assert.Equal(t, RewardOverflow, d.Verdict)
	assert.Equal(t, "reward.reach", c.root().name)
	assert.Contains(t, c.feature(F6).Text, "dividing by a distance of zero plus 1e-8")
	for name, r := range map[string]*loopRun{
		"it was so once":     newRun(60).set("reward", 20, 0, 0, 1e8).all("loss.total", 0, 3e15),
		"the loss bears it":  at(1e8, 30),
		"not at any epsilon": at(4.2e7, 3e9),
		"always so large":    at(1, 0.3).all("reward.reach", 0, 1e8).all("reward", 0, 1e8),
	} {
		_, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, name)
	}
}
