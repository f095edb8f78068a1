"""mjlab's own training, guarded by nanguard's plain API: see `watch` below, it is all there is to it.

usage: python mjlab_plain.py [--device cpu|cuda:0] [--fault none|stiff|reward|std] [--no-graph] [--out DIR]

It needs mjlab 1.6 (pip install mjlab==1.6.0). On a CPU 48 envs take about 40 s, on
a GPU give --envs 4096. mjlab runs its physics as CUDA graphs there, and the checks of
the physics become part of them, unless --no-graph has Python make them after each
substep. Then ask

    nanguard diagnose nan_dumps/nan_dump_latest.npz

    stiff    contacts stiffer than the time step resolves (refsafe off, solref 4e-4 s)
    reward   a reward term divides by the command, which is 0 for those who stand
    std      the policy's std is a parameter without a floor, and the entropy is driven down
"""

import argparse
import os
from dataclasses import asdict

os.environ.setdefault("MUJOCO_GL", "disable")
os.environ.setdefault("WANDB_MODE", "disabled")

import mjlab.tasks  # noqa: F401  registers the tasks
import mujoco_warp
import torch
from mjlab.envs import ManagerBasedRlEnv
from mjlab.managers.reward_manager import RewardTermCfg
from mjlab.rl import MjlabOnPolicyRunner, RslRlVecEnvWrapper
from mjlab.tasks.registry import load_env_cfg, load_rl_cfg, load_runner_cls
from rsl_rl.modules.distribution import GaussianDistribution

import nanguard


def after(owner, name, seen):
    """Has seen called after each call of a method, with its result and its arguments."""
    method = getattr(owner, name)

    def wrapped(*args, **kwargs):
        result = method(*args, **kwargs)
        seen(result, *args)
        return result

    setattr(owner, name, wrapped)


def watch(guard, env, runner, graph):
    """Shows the guard what the simulation, the envs and the learner make, where they make it."""
    sim, alg, rewards = env.sim, runner.alg, env.reward_manager
    state = ("ctrl", "nefc", "solver_niter", "qacc", "qacc_warmstart", "qvel", "qpos", "sensordata")
    placed = ("qpos", "qvel")  # as the resets leave them; forward() follows
    views = {name: getattr(sim.data, name)[:] for name in state}  # torch tensors over the simulation's memory
    for group, shape in env.observation_manager.group_obs_dim.items():  # on a GPU the large fields had better come early
        guard.bind(f"obs.{group}", torch.zeros(env.num_envs, *shape, device=env.device), clock="step")

    if graph:  # the checks are parts of mjlab's CUDA graphs: no Python runs for them again
        guard.check_same("substep", views)  # none can be captured of what was not seen yet
        part_of(mujoco_warp, "step", sim, lambda data: guard.check("substep", {name: getattr(data, name) for name in state}))
        part_of(mujoco_warp, "forward", sim, lambda data: guard.check_same("substep", {name: getattr(data, name) for name in placed}))
        sim.create_graph()
    else:
        after(sim, "step", lambda _: guard.check("substep", views))
        after(sim, "forward", lambda _: guard.check_same("substep", {name: views[name] for name in placed}))

    made = {}  # by the env step under way
    for name, term in zip(rewards._term_names, rewards._term_cfgs):  # the manager goes on with NaN made 0
        term.func = Recorded(term.func, made, f"reward.{name}")
    groups = [(group, f"obs.{group}") for group in env.observation_manager.group_obs_dim]

    def stepped(result, *_):
        for group, name in groups:
            made[name] = result[0][group]
        made["reward"], made["done"], made["episode_step"] = env.reward_buf, env.reset_buf, env.episode_length_buf
        guard.check("step", made, defer=True)  # nobody changes these before the policy has acted on them

    def acted(action, *_):
        t = alg.transition
        mean, std = t.distribution_params
        policy = {"policy.mean": mean, "policy.std": std, "action": action, "log_prob": t.actions_log_prob, "value": t.values}
        guard.check_same("step", policy)

    after(env, "step", stepped)
    after(alg, "act", acted)
    name, std = next(("param.log_std" if "log" in name else "param.std", p.detach()) for name, p in alg.actor.named_parameters() if "std" in name)
    after(alg.optimizer, "step", lambda *_: guard.check("minibatch", {name: std}))  # changed in place
    after(alg, "update", lambda losses: guard.log({f"loss.{k}": x for k, x in losses.items()}, lr=alg.learning_rate, clock="update"))


def part_of(module, name, sim, check):
    """Has a check follow a function of mujoco_warp for one simulation, also when mjlab captures it anew."""
    after(module, name, lambda _, model, data, *rest: check(data) if data is sim.wp_data else None)


class Recorded:
    """A reward term that leaves its latest value in a mapping."""

    def __init__(self, term, values, name):
        self.__dict__.update(_term=term, _values=values, _name=name)

    def __call__(self, *args, **kwargs):
        value = self._term(*args, **kwargs)
        self._values[self._name] = value
        return value

    def __getattr__(self, name):
        return getattr(self.__dict__["_term"], name)


def heading(env):
    """The fault "reward": speed along the command, divided by its length."""
    speed, command = env.scene["robot"].data.root_link_lin_vel_b[:, :2], env.command_manager.get_command("twist")[:, :2]
    return (speed * command).sum(-1) / command.norm(dim=-1)


def configure(args):
    """Returns the configurations of env and learner, with the fault built in."""
    cfg, rl = load_env_cfg(args.task), load_rl_cfg(args.task)
    cfg.scene.num_envs, cfg.seed, rl.seed, rl.logger = args.envs, args.seed, args.seed, "tensorboard"
    if args.fault == "stiff":
        cfg.sim.mujoco.disableflags = (*cfg.sim.mujoco.disableflags, "refsafe")
    elif args.fault == "reward":
        cfg.rewards["heading"] = RewardTermCfg(func=heading, weight=1.0, params={})
    elif args.fault == "std":
        rl.algorithm.entropy_coef, rl.algorithm.learning_rate, rl.algorithm.schedule = -0.3, 5e-3, "fixed"
        rl.actor.distribution_cfg = {**rl.actor.distribution_cfg, "class_name": NoFloor, "init_std": 0.25}
    return cfg, rl


class NoFloor(GaussianDistribution):
    """The fault "std": rsl_rl's distribution as it was before it clamped the std."""

    def update(self, mlp_output):
        self._distribution = torch.distributions.Normal(mlp_output, self.std_param)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="Mjlab-Velocity-Flat-Unitree-Go1")
    parser.add_argument("--device", default="cuda:0" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--fault", default="none", choices=["none", "stiff", "reward", "std"])
    parser.add_argument("--out", default="nan_dumps")
    parser.add_argument("--envs", type=int, default=48)
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--graph", action=argparse.BooleanOptionalAction, help="check inside of mjlab's CUDA graphs (default: on a GPU)")
    args = parser.parse_args()
    if args.graph is None:
        args.graph = args.device != "cpu"
    cfg, rl = configure(args)
    env = ManagerBasedRlEnv(cfg=cfg, device=args.device)
    if args.fault == "stiff":
        env.sim.expand_model_fields(("geom_solref",))
        env.sim.model.geom_solref[:] = torch.tensor([4e-4, 1.0], device=args.device)
    runner_class = load_runner_cls(args.task) or MjlabOnPolicyRunner
    runner = runner_class(RslRlVecEnvWrapper(env, clip_actions=rl.clip_actions), asdict(rl), None, args.device)

    run = {"framework": "mjlab", "seed": args.seed}
    with nanguard.Guard(env.num_envs, args.out, on_trip="raise", post_frames=2, model=env.sim.mj_model, run=run) as guard:
        sim = cfg.sim.mujoco
        guard.facts({"sim.timestep": sim.timestep, "sim.iterations": int(sim.iterations), "sim.decimation": cfg.decimation})
        guard.facts({"policy.std_param": rl.actor.distribution_cfg["std_type"], "normalizer.enabled": rl.actor.obs_normalization})
        watch(guard, env, runner, args.graph)
        runner.learn(args.iterations, init_at_random_ep_len=True)


if __name__ == "__main__":
    main()
