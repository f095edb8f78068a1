package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// averaging is a run whose target network, of a type, follows with a rate.
func averaging(fact string, rate float64, target, dtype string, moves bool) *loopRun {
	r := newRun(80)
	r.man.Facts[fact] = rate
	cols := make([]string, 16)
	start := func(col int) float64 { return inHalf(0.1+0.031*float64(col), dtype) }
	return r.add("param.critic.0", dump.StageParam, cols, func(i, col int) float64 { return start(col) + 0.002*float64(i) + 1e-3*hash(i, col) }).
		add(target, dump.StageParam, cols, func(i, col int) float64 {
			if moves {
				return inHalf(start(col)+0.002*float64(i/4), dtype)
			}
			return start(col)
		}).typed(target, dtype)
}

// TestAveragedAway is X21 for a target network whose moving average is rounded away.
func TestAveragedAway(t *testing.T) {
	for name, r := range map[string]*loopRun{
		"tau":     averaging("target.tau", 5e-4, "param.critic_target.0", "bfloat16", false),
		"polyak":  averaging("polyak", 0.999, "param.target_critic.0", "bfloat16", false),
		"float16": averaging("sac.tau", 1e-4, "param.critic_target.0", "float16", false),
	} {
		c, d := r.judge()
		assert.Equal(t, yes, c.feature(X21).Value, "%s: %s", name, c.feature(X21).Text)
		assert.Equal(t, PrecisionLoss, d.Verdict, name)
	}
	for name, r := range map[string]*loopRun{
		"single":                    averaging("target.tau", 5e-4, "param.critic_target.0", "float32", false),
		"it moves":                  averaging("target.tau", 5e-4, "param.critic_target.0", "bfloat16", true),
		"copied now and then":       averaging("target.tau", 1, "param.critic_target.0", "bfloat16", false),
		"a large step":              averaging("target.tau", 0.2, "param.critic_target.0", "bfloat16", false),
		"nothing says an average":   averaging("target.interval", 0.5, "param.critic_target.0", "bfloat16", false),
		"both stored in few digits": averaging("target.tau", 5e-4, "param.critic_target.0", "bfloat16", false).typed("param.critic.0", "bfloat16"),
	} {
		_, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, name)
	}
}
