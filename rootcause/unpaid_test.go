package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// hungry is a run with a critic whose values begin at a size and grow by a factor over the
// file, with the square of them as its loss.
func hungry(from, factor float64) *loopRun {
	r := newRun(400)
	n := float64(len(r.fields["loss.total"].v))
	at := func(i int) float64 { return from * math.Pow(factor, float64(i)/n) }
	return r.batchOn("q.value", dump.StageValue, func(i, col int) float64 { return at(i) * (1 + 0.1*hash(i, col)) }).
		batchOn("q.target", dump.StageValue, func(i, col int) float64 {
			if (i+3*col)%11 == 0 {
				return 0.5 + hash(i, col)
			}
			return 1.2 * at(i) * (1 + 0.1*hash(i, col))
		}).
		add("loss.td", dump.StageLoss, nil, func(i, _ int) float64 { return 0.01 * at(i) * at(i) })
}

// TestUnpaid is X25 for values that no reward pays for.
func TestUnpaid(t *testing.T) {
	for name, r := range map[string]*loopRun{
		"slowly":             hungry(1e9, 3),
		"by decades":         hungry(3e6, 100),
		"no reward recorded": hungry(1e9, 5).drop("reward", "reward.upright", "reward.reach"),
	} {
		c, d := r.judge()
		assert.Equal(t, ascends, c.feature(X25).Value, "%s: %s", name, c.feature(X25).Text)
		assert.Equal(t, LearnerExplosion, d.Verdict, name)
	}
	large := hungry(1e9, 3)
	for i := range large.fields["reward"].v {
		large.all("reward", i, 1e7*(1+hash(i)))
	}
	for name, r := range map[string]*loopRun{
		"learning":               hungry(0.1, 300),
		"rewards as large":       large,
		"large and at rest":      hungry(1e8, 1),
		"large, and less by now": hungry(1e8, 0.2),
	} {
		c, _ := r.judge()
		assert.NotEqual(t, ascends, c.feature(X25).Value, "%s: %s", name, c.feature(X25).Text)
	}
	shaped := hungry(50, 5).drop("reward", "reward.upright", "reward.reach", "q.target").
		batchOn("q.target", dump.StageValue, func(i, col int) float64 {
			if (i+3*col)%11 == 0 {
				return math.Exp(-20 - 10*hash(i, col))
			}
			return 60 * (1 + 0.02*float64(i)) * (1 + 0.1*hash(i, col))
		})
	goal := hungry(40, 5)
	for i := range goal.fields["reward"].v {
		goal.all("reward", i, -1e-6*(1+hash(i))).all("reward.upright", i, -1e-6).all("reward.reach", i, -1e-7)
	}
	for name, r := range map[string]*loopRun{"bells, far from their middle": shaped, "no goal met of late": goal} {
		c, _ := r.judge()
		assert.NotEqual(t, ascends, c.feature(X25).Value, "%s: %s", name, c.feature(X25).Text)
	}
	for name, r := range map[string]*loopRun{"learning": hungry(0.1, 300), "at rest": hungry(3, 1)} {
		_, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, name)
	}
}
