package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestNeverWritten is X18 for a replay buffer: samples of which all is NaN, and
// samples of which a formula spoiled one part.
func TestNeverWritten(t *testing.T) {
	replay := func(rewards ...int) *loopRun {
		r := newRun(200)
		last := len(r.fields["loss.total"].v) - 1
		batch := func(bad ...int) func(i, col int) float64 {
			return func(i, col int) float64 {
				for _, b := range bad {
					if i == last && col == b {
						return nan
					}
				}
				return 1 + 0.1*hash(i, col)
			}
		}
		cols := make([]string, 32)
		return r.add("obs.batch", dump.StageObs, cols, batch(4, 19)).add("reward.batch", dump.StageReward, cols, batch(rewards...)).
			set("loss.total", -1, 0, 0, nan)
	}
	c, d := replay(4, 19).judge()
	assert.Equal(t, "unwritten", c.feature(X18).Value, c.feature(X18).Text)
	assert.Equal(t, PaddingRows, d.Causes[0].ID)
	for _, other := range [][]int{{4}, {5, 19}, {}} {
		c, _ = replay(other...).judge()
		assert.NotEqual(t, "unwritten", c.feature(X18).Value, "%v", other)
	}
}
