package rootcause

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestQuietDoubts: what may be meant leaves a run clean, with a word about it.
func TestQuietDoubts(t *testing.T) {
	critic := func(r *loopRun) *loopRun {
		return r.add("param.critic", dump.StageParam, []string{"a", "b"}, func(i, col int) float64 { return float64(1+col) + 0.01*float64(i) })
	}
	latched := func(from, to int) *loopRun {
		r := newRun(60).addEnvs("episode_step", dump.StageDone, "float32", func(i, _ int) float64 { return float64(i) })
		done := r.fields["done"]
		for i := from; i < to; i++ {
			done.v[i][2][0] = 1
		}
		return r
	}
	for name, x := range map[string]struct {
		run  *loopRun
		said string
	}{
		"a rate of zero":       {newRun(240).all("lr", 0, 0), "nothing is learned"},
		"a rate":               {newRun(240), ""},
		"a schedule that ends": {newRun(240).all("lr", 40, 0), ""},
		"a network at rest":    {critic(newRun(240).all("param.actor", 0, 0.2)), "param.actor does not move"},
		"all learn":            {critic(newRun(240)), ""},
		"done for good":        {latched(20, 60), "env 11 is done in 20 records in a row"},
		"done once":            {latched(20, 21), ""},
	} {
		_, d := x.run.judge()
		assert.Equal(t, Clean, d.Verdict, name)
		if x.said == "" {
			assert.Empty(t, d.Warnings, name)
			continue
		}
		assert.Contains(t, strings.Join(d.Warnings, " "), x.said, name)
	}
}
