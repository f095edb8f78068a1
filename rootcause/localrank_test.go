package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestOwnAndReduced is X20 by what a rank had before the all-reduce.
func TestOwnAndReduced(t *testing.T) {
	own := func(last float64) *loopRun {
		r := ranked(2)
		n := len(r.fields["loss.total"].v)
		return r.add("grad_norm.local", dump.StageGrad, nil, func(i, _ int) float64 {
			if i == n-1 {
				return last
			}
			return 0.7 + 0.1*hash(i)
		}).set("grad_norm", -1, 0, 0, inf)
	}
	c, d := own(0.7).judge()
	assert.Equal(t, yes, c.feature(X20).Value, c.feature(X20).Text)
	assert.Equal(t, RankDesync, d.Verdict)
	c, d = own(nan).judge()
	assert.Equal(t, no, c.feature(X20).Value, c.feature(X20).Text)
	assert.NotEqual(t, RankDesync, d.Causes[0].ID)
	c, d = ranked(2).set("loss.total", -1, 0, 0, nan).set("grad_norm", -1, 0, 0, nan).judge()
	assert.Equal(t, no, c.feature(X20).Value, c.feature(X20).Text)
	assert.NotContains(t, causesOf(&d), RankDesync)
}
