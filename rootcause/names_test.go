package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestKindOfNames: the names that frameworks and loops use, with what they hold.
// RSL-RL, Isaac Lab and mjlab: std, std_param, log_std_param; Stable-Baselines3 and
// skrl: log_std, log_std_parameter; CleanRL: actor_logstd; rl_games: sigma, which is a
// logarithm as a parameter and none as an output, running_mean_std, value_mean_std.
func TestKindOfNames(t *testing.T) {
	for _, c := range []struct {
		stage dump.Stage
		want  kind
		names []string
	}{
		{dump.StagePolicy, std, []string{
			"policy.std", "policy.sigma", "policy.sigmas", "policy.action_std", "policy.mean_std", "policy.noise_std", "policy.es_sigma",
			"policy.exploration_noise_std", "policy.actor_critic.std", "policy.stddev", "policy.actionStd", "policy.std.batch",
		}},
		{dump.StagePolicy, logStd, []string{
			"policy.log_std", "policy.logstd", "policy.logStd", "policy.log.std", "policy.log-std", "policy.log_sigma", "policy.logsigma",
			"policy.std_log", "policy.lnstd", "policy.log_scale", "policy.actor_logstd", "policy.log_stddev",
		}},
		{dump.StagePolicy, other, []string{
			"policy.raw_std", "policy.std_logits", "policy.pre_softplus_std", "policy.std_unconstrained", "policy.return_std", "policy.value_std",
			"policy.ensemble_std", "policy.obs_std", "policy.std_head.bias",
		}},
		{dump.StagePolicy, mean, []string{"policy.mean", "policy.mu", "policy.logits", "policy.scale", "policy.hidden", "policy.standing", "policy.ctrl_mean", "policy.controller"}},
		{dump.StagePolicy, ctrl, []string{"ctrl", "policy.ctrl", "ctrl_applied"}},
		{dump.StagePolicy, logProb, []string{"log_prob", "policy.logp", "policy.entropy", "log_prob.batch", "policy.std_entropy"}},
		{dump.StagePolicy, action, []string{"action", "policy.action", "policy.raw_action"}},
		{dump.StageParam, paramStd, []string{"param.std", "param.distribution.std_param", "param.actor_critic.std", "param.noise_std"}},
		{dump.StageParam, logStd, []string{
			"param.log_std", "param.actor_logstd", "param.log_std_parameter", "param.distribution.log_std_param", "param.policy_net.log_std", "param.log_sigma",
		}},
		{dump.StageParam, param, []string{
			"param.sigma", "param.a2c_network.sigma", "param.std_head.weight", "param.actor.log_std_head.bias", "param.std_net.0.kernel", "param.std_raw",
			"param.log_alpha", "alpha", "param.alpha", "ent_coef", "param.actor.0.weight", "param.wheelroll.weight", "param.understand.bias",
			"param.tail.lrelu.weight", "param.log_scale", "param.mean_head.weight", "param.layer_norm.weight", "param.standardize.bias",
		}},
		{dump.StageParam, lr, []string{"lr", "param.lr", "learning_rate", "param.lr_by_rank", "actor_lr", "param.lr.critic", "param.learningRate"}},
		{dump.StageParam, monitor, []string{
			"lr_delta", "param.lr_decay", "log_lr", "lr_scale", "param.loss_scale", "param.amp_scale", "param.grad_scaler.scale",
			"param.bn.num_batches_tracked", "param.optimizer.step", "param.running_mean_std.running_mean", "param.value_mean_std.running_var",
			"param.popart.std", "param.obs_normalizer._std", "param.value_mean_std.count", "param.skipped_steps", "param.lagrange_multiplier",
		}},
		{dump.StageNormalizer, normMean, []string{"normalizer.mean", "running_mean_std.running_mean", "obs_normalizer._mean", "obs_rms.mean", "normalizer.batch_mean.local"}},
		{dump.StageNormalizer, normVar, []string{"normalizer.var", "normalizer.std", "running_mean_std.running_var", "obs_normalizer._std", "normalizer.var_ema"}},
		{dump.StageNormalizer, counter, []string{"normalizer.count", "running_mean_std.count", "obs_rms.count"}},
		{dump.StageNormalizer, obsNorm, []string{"obs.policy.normalized", "obs.policy", "obs.critic.normalized"}},
		{dump.StageLoss, loss, []string{"loss.value", "loss.lr", "loss.entropy", "surrogate"}},
		{dump.StageLoss, lr, []string{"lr", "learning_rate"}},
	} {
		for _, name := range c.names {
			assert.Equal(t, c.want, kindOf(dump.FieldSpec{Name: name, Stage: c.stage}), "%s in stage %s", name, c.stage)
		}
	}
}

// TestNamesNaN: a word that holds these three letters is none of them.
func TestNamesNaN(t *testing.T) {
	for _, name := range []string{"termination.nan", "termination.nan_guard", "termination.isnan", "termination.state_is_nan", "done.NaN"} {
		assert.True(t, namesNaN(name), name)
	}
	for _, name := range []string{"termination.banana_dropped", "termination.maintenance", "termination.nano_tipped", "termination.finance"} {
		assert.False(t, namesNaN(name), name)
	}
}

// TestALogarithmByItsValues: a std that is below zero all the time is the logarithm of
// one, one that crosses zero is none.
func TestALogarithmByItsValues(t *testing.T) {
	_, d := newRun(60).all("policy.std", 0, -0.7).judge()
	assert.Equal(t, Clean, d.Verdict)
	_, d = newRun(60).set("policy.std", -3, 1, 0, -0.01, -0.01, -0.01).judge()
	assert.Equal(t, PolicyStd, d.Verdict)
}

// TestNamesRoot: a variance of a running_mean_std is no std.
func TestNamesRoot(t *testing.T) {
	assert.True(t, namesRoot("normalizer.std"))
	assert.False(t, namesRoot("running_mean_std.running_var"))
	assert.False(t, namesRoot("normalizer.var"))
}
