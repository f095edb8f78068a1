package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNetworkFormula: a policy's mean that is NaN in one env, from observations that
// are fine, is a formula of the network; from ones that are not, or in all envs, it
// is something else.
func TestNetworkFormula(t *testing.T) {
	c, d := newRun(60).set("policy.mean", -1, 1, -1, nan).set("action", -1, 1, -1, nan).judge()
	assert.Equal(t, "network", c.feature(X23).Value, c.feature(X23).Text)
	assert.Equal(t, MathDomain, d.Verdict)

	c, _ = newRun(60).set("obs.policy.normalized", -2, 1, 2, nan).set("policy.mean", -1, 1, -1, nan).judge()
	assert.NotEqual(t, "network", c.feature(X23).Value, "it read a NaN")
	c, _ = newRun(60).all("policy.mean", -1, nan).judge()
	assert.NotEqual(t, "network", c.feature(X23).Value, "all envs have it: the weights")
	c, _ = newRun(60).drop("obs.policy", "obs.policy.normalized").set("policy.mean", -1, 1, -1, nan).judge()
	assert.NotEqual(t, "network", c.feature(X23).Value, "what it read is not recorded")
	c, _ = newRun(60).set("policy.mean", -3, 1, -1, 9e3, 8e5, nan).judge()
	assert.NotEqual(t, "network", c.feature(X23).Value, "it ran away before")
}

// TestPolicyAlone: what begins in the policy's output of one env is not a reward's
// doing, even where nothing else is recorded; in all envs it may be.
func TestPolicyAlone(t *testing.T) {
	c, d := newRun(60).only("action", "ctrl", "reward", "done").set("action", -2, 2, 1, nan).judge()
	assert.Equal(t, hardly, c.ruledOut(RewardOverflow))
	assert.Equal(t, UnknownCause, d.Verdict)
	assert.Equal(t, UnknownCause, d.Causes[0].ID)

	c, _ = newRun(60).only("action", "ctrl", "reward", "done").all("action", -2, nan).judge()
	assert.Equal(t, 1.0, c.ruledOut(RewardOverflow))
}

// TestPolicyRunsAway: a policy's output that grows in one env, from observations that
// are fine, is neither a reward's doing nor that of the physics.
func TestPolicyRunsAway(t *testing.T) {
	run := func() *loopRun {
		r := newRun(60).drop("ctrl", "qacc", "qvel", "qpos", "nefc", "solver_niter", "sensordata", "reward.upright", "reward.reach")
		v := 1.0
		for i := 30; i < 60; i++ {
			v *= 1.8
			r.set("policy.mean", i, 1, 0, v)
		}
		return r.set("policy.mean", -1, 1, 0, inf)
	}
	belief := func(r *loopRun, cause string) float64 {
		_, d := r.judge()
		for _, h := range d.Causes {
			if h.ID == cause {
				return h.Probability
			}
		}
		return 0
	}
	assert.Less(t, belief(run(), RewardOverflow), 0.1)
	c, _ := run().judge()
	assert.LessOrEqual(t, c.hidden[onPhysics], implied, "what the policy saw of the state was fine")
	c, _ = run().drop("obs.policy", "obs.policy.normalized", "normalizer.mean", "normalizer.var").judge()
	assert.Greater(t, c.hidden[onPhysics], implied, "what it saw is not recorded")
}

// TestAmidRollout: a policy that is NaN in the middle of a rollout was not made so by
// the learner; one that is NaN in the first step after an update may have been.
func TestAmidRollout(t *testing.T) {
	c, d := newRun(60).all("policy.mean", 52, nan).judge()
	assert.Equal(t, hardly, c.ruledOut(LearnerExplosion))
	assert.NotEqual(t, LearnerExplosion, d.Verdict)
	c, _ = newRun(60).all("policy.mean", 56, nan).judge()
	assert.Equal(t, 1.0, c.ruledOut(LearnerExplosion), "an update came before it")
	c, _ = newRun(60).drop("loss.total", "grad_norm", "lr", "param.actor", "param.std").all("policy.mean", 52, nan).judge()
	assert.Equal(t, 1.0, c.ruledOut(LearnerExplosion), "the learner is not recorded")
}

// TestSibling: a normalizer whose observations the critic made an ordinary value of is
// not what made the action NaN in the same record.
func TestSibling(t *testing.T) {
	run := func() *loopRun {
		return newRun(60).drop("obs.policy.normalized", "normalizer.mean", "normalizer.var", "policy.mean").all("action", 52, nan)
	}
	c, d := run().judge()
	assert.Equal(t, hardly, c.ruledOut(NormalizerCold))
	assert.NotEqual(t, NormalizerCold, d.Verdict)
	c, _ = run().all("value", 52, nan).judge()
	assert.NotEqual(t, hardly, c.ruledOut(NormalizerCold), "the critic's value is NaN as well")
}
