package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// heated is a soft actor-critic whose temperature goes from one value to another at the same
// factor in each record, while its entropy goes by some nats and its loss by a factor.
func heated(name string, from, to, entropy, loss float64) *loopRun {
	r := newRun(400)
	n := float64(len(r.fields["loss.total"].v))
	part := func(i int) float64 { return float64(i) / n }
	return r.add(name, dump.StageParam, nil, func(i, _ int) float64 {
		v := from * math.Pow(to/from, part(i))
		if hasToken(name, "log") {
			return math.Log(v)
		}
		return v
	}).
		add("policy.entropy", dump.StageMonitor, nil, func(i, _ int) float64 { return 0.68 + entropy*part(i) + 0.02*hash(i) }).
		add("loss.alpha", dump.StageLoss, nil, func(i, _ int) float64 { return 1 - 2*part(i) }).
		add("loss.critic", dump.StageLoss, nil, func(i, _ int) float64 { return 0.2 * math.Pow(loss, part(i)) * (1 + 0.1*hash(i)) })
}

// TestHotTemperature is X25 for a temperature that runs away.
func TestHotTemperature(t *testing.T) {
	for name, r := range map[string]*loopRun{
		"logarithm":   heated("param.log_alpha", 0.2, 40, 0, 4000),
		"temperature": heated("temperature", 0.01, 300, -0.1, 1e6),
		"ent_coef":    heated("ent_coef", 1, 90, 0.05, 1000),
	} {
		c, d := r.judge()
		assert.Equal(t, ascends, c.feature(X25).Value, "%s: %s", name, c.feature(X25).Text)
		assert.Equal(t, LearnerExplosion, d.Verdict, name)
	}
	for name, r := range map[string]*loopRun{
		"warming up from little": heated("param.log_alpha", 1e-4, 0.2, 0, 4000),
		"the entropy follows":    heated("param.log_alpha", 0.2, 40, 3, 4000),
		"the critic keeps up":    heated("param.log_alpha", 0.2, 40, 0, 2),
		"it cools":               heated("param.log_alpha", 1, 0.01, 0, 4000),
		"by a factor of ten":     heated("param.log_alpha", 1, 10, 0, 4000),
	} {
		_, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, name)
	}
}
