package rootcause

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestChecklistRows: ten rows in the order of the table, each with a status, a
// reason and a fix.
func TestChecklistRows(t *testing.T) {
	for _, r := range []*loopRun{newRun(40), runaway(newRun(40), 0), newRun(40).only("qvel")} {
		_, d := r.judge()
		require.Len(t, d.Checklist, 10)
		for i, k := range d.Checklist {
			assert.Equal(t, i+1, k.Row)
			assert.NotEmpty(t, k.Evidence, k.Check)
			assert.NotEmpty(t, k.Fix, k.Check)
			assert.Contains(t, []Status{Implicated, Cleared, Unknown}, k.Status)
		}
	}
}

// TestRowStatus: what implicates, clears and leaves open each row.
func TestRowStatus(t *testing.T) {
	for _, c := range []struct {
		name string
		run  *loopRun
		row  int
		want Status
		says string
	}{
		{"a term over quiet physics", newRun(40).set("reward.reach", -1, 2, 0, nan), 1, Implicated, "reward.reach of env 11 is NaN"},
		{"all terms fine", runaway(newRun(40), 0), 1, Cleared, "over 38 steps"},
		{"no terms", runaway(newRun(40).drop("reward.reach", "reward.upright"), 0), 1, Unknown, "not recorded one by one"},
		{"an action out of range", runaway(newRun(40).set("action", -2, 0, 1, 40), 0), 2, Implicated, "percentile"},
		{"usual actions", runaway(newRun(40), 0), 2, Cleared, "as usual"},
		{"few steps", runaway(newRun(6), 0), 2, Cleared, "over all 5 steps"},
		{"a cold normalizer", newRun(40).all("normalizer.var", 0, 1e-9).all("obs.policy.normalized", -1, 3e5).all("policy.mean", -1, nan), 3, Implicated, "hardly vary"},
		{"a warm one", runaway(newRun(40), 0), 3, Cleared, "|z| at most"},
		{"none", runaway(newRun(40).drop("obs.policy.normalized"), 0), 3, Unknown, "not recorded"},
		{"no model", runaway(newRun(40), 0), 4, Unknown, "not recorded"},
		{"iterations", runaway(newRun(40), 0).set("solver_niter", -18, 0, 0, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10), 6, Implicated, "Fisher p"},
		{"iterations in all envs", runaway(newRun(40), 0).all("solver_niter", 0, 10), 6, Unknown, "in 80 of 80 of the other envs"},
		{"few iterations", runaway(newRun(40), 0), 6, Cleared, "in 0 of 20 substeps"},
		{"room for contacts", runaway(newRun(40), 0), 7, Cleared, "of sim.njmax 300"},
		{"a full buffer", runaway(newRun(40), 0).set("nefc", -9, 0, 0, 320), 7, Implicated, "reached 320"},
		{"no contacts recorded", runaway(newRun(40), 0), 8, Unknown, "not recorded"},
		{"no contact at all", runaway(newRun(40), 0).set("nefc", -6, 0, 0, 0, 0, 0, 0, 0, 0), 8, Cleared, "nefc 0"},
		{"a healthy std", runaway(newRun(40), 0), 9, Cleared, "above zero"},
		{"no std", runaway(newRun(40).drop("policy.std", "param.std"), 0), 9, Unknown, "not recorded"},
		{"no graph", runaway(newRun(40), 0), 10, Unknown, "not recorded"},
	} {
		_, d := c.run.judge()
		k := d.Checklist[c.row-1]
		assert.Equal(t, c.want, k.Status, "%s: %s", c.name, k.Evidence)
		assert.Contains(t, k.Evidence, c.says, c.name)
	}
}

// TestFixesHaveTheRunsValues: the fix names the run's own numbers.
func TestFixesHaveTheRunsValues(t *testing.T) {
	_, d := runaway(newRun(40), 0).judge()
	assert.Contains(t, d.Checklist[4].Fix, "0.005 to 0.0025 s, decimation 4 to 8")
	assert.Contains(t, d.Checklist[5].Fix, "from 10 to 15")
	assert.Contains(t, d.Checklist[2].Fix, "eps (now 0.01)")
	assert.Contains(t, d.Causes[0].Fix, "0.005 to 0.0025 s")
}

// TestNextSteps: what to do is ordered by belief against cost, and ends with the
// one thing to record that would tell most.
func TestNextSteps(t *testing.T) {
	_, d := runaway(newRun(40), 0).set("nefc", -9, 0, 0, 320).judge()
	require.NotEmpty(t, d.Next)
	assert.Equal(t, 7, d.Next[0].Row, "the implicated row comes first: %v", d.Next)
	_, d = runaway(newRun(40).only("qvel", "qacc", "qpos"), 0).judge()
	var asked string
	for _, a := range d.Next {
		if strings.Contains(a.Text, "To tell ") || strings.Contains(a.Text, "cannot tell ") {
			asked = a.Text
		}
	}
	assert.Contains(t, asked, d.Causes[0].ID)
	_, d = newRun(40).judge()
	assert.Empty(t, d.Next, "nothing to do for a clean run")
}

func TestFisher(t *testing.T) {
	assert.InDelta(t, 1, fisher(0, 5, 0, 10), 1e-12)
	assert.InDelta(t, 1.0/252, fisher(5, 5, 0, 5), 1e-12, "one of C(10,5) ways")
	assert.InDelta(t, 0.5, fisher(1, 1, 0, 1), 1e-12)
}
