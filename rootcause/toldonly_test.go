package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestToldOnly: where the metadata alone say that an env went bad, what is recorded and
// fine to the end is no place to look in, and the report says so.
func TestToldOnly(t *testing.T) {
	run := func() *loopRun {
		r := newRun(60).only("obs.policy", "action", "reward", "done", "loss.total")
		r.meta["nan_env_ids"] = []any{int64(7)}
		return r
	}
	c, d := run().judge()
	assert.True(t, c.toldOnly())
	assert.Equal(t, UnknownCause, d.Causes[0].ID, "%v", causesOf(&d))

	c, _ = run().set("obs.policy", -1, 0, 2, 4e7).judge()
	assert.Equal(t, 1.0, c.ruledOut(ContactDivergence), "the last observation ran away")
	c, _ = run().set("reward", -2, 0, 0, nan).judge()
	assert.False(t, c.toldOnly(), "a reward is NaN")
	c, _ = run().drop("reward").judge()
	assert.Equal(t, 1.0, c.ruledOut(RewardOverflow), "no reward is recorded")
}
