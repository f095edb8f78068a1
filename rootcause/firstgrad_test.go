package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFirstGradient: a gradient that is NaN in the first minibatch that there was
// never ran away; where earlier ones were overwritten, nothing says that it did.
func TestFirstGradient(t *testing.T) {
	run := func(before int) *loopRun {
		r := newRun(9).set("grad_norm", 0, 0, 0, nan, nan).set("param.actor", 0, 0, -1, nan, nan).set("loss.total", 1, 0, 0, nan)
		for _, name := range []string{"loss.total", "grad_norm", "lr", "param.actor", "param.std"} {
			for i := range r.fields[name].counts {
				r.fields[name].counts[i] = int64(before + i + 1)
			}
		}
		return r
	}
	c, d := run(0).judge()
	assert.Equal(t, "sudden", c.feature(X3).Value, c.feature(X3).Text)
	assert.Equal(t, yes, c.feature(X22).Value, c.feature(X22).Text)
	assert.Equal(t, AutodiffSingular, d.Verdict)

	c, d = run(40).judge()
	assert.Equal(t, unknown, c.feature(X3).Value, "its way up may have been overwritten")
	assert.NotEqual(t, LearnerExplosion, d.Verdict)

	c, d = newRun(60).set("grad_norm", -3, 0, 0, 4e4, 3e7, nan).judge()
	assert.Equal(t, yes, c.feature(X3).Value, "it grew before it went bad")
	assert.Equal(t, LearnerExplosion, d.Verdict)
}
