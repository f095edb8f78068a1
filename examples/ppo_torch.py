"""Plain PPO in torch, guarded by nanguard: the lines with `guard` are all there is to it.

usage: python ppo_torch.py [--device cpu|cuda] [--fault none|stiff|reward|std] [--out DIR]

The task is a point in a tunnel that has to follow a commanded speed: floor and
ceiling are springs that push back. Each fault is one line of this file, such as
people write, and breaks the run after a while; then ask

    nanguard diagnose nan_dumps/nan_dump_latest.npz

    stiff    floor and ceiling are 200 times as stiff, with the same time step
    reward   a reward term divides by the commanded speed, which is 0 for those who stand
    std      the policy's std is a parameter of its own, and the entropy is driven down
"""

import argparse
import math

import torch
from torch import nn

import nanguard

SUBSTEPS, DT, HORIZON, EPISODE = 4, 0.005, 24, 200
LIMIT = 40.0  # of the actuators, in N
CEILING = 1.2  # in m


class Env:
    """Points of mass 1 between floor and ceiling, each a spring with a damper."""

    def __init__(self, n, device, fault, seed):
        self.n, self.device, self.fault = n, device, fault
        self.rng = torch.Generator(device=device).manual_seed(seed)
        self.stiffness, self.damping = (2e5 if fault == "stiff" else 1e3), 20.0
        self.qpos, self.qvel, self.ctrl = (torch.zeros(n, 2, device=device) for _ in range(3))
        self.command, self.age = torch.zeros(n, device=device), torch.zeros(n, dtype=torch.int32, device=device)
        self.reset(torch.ones(n, dtype=torch.bool, device=device))
        self.age += torch.randint(0, EPISODE, (n,), generator=self.rng, device=device, dtype=torch.int32)

    def uniform(self, low, high):
        return low + (high - low) * torch.rand(self.n, generator=self.rng, device=self.device)

    def reset(self, mask):
        where = mask[:, None]
        start = torch.stack([torch.zeros(self.n, device=self.device), self.uniform(0.2, 0.6)], 1)
        self.qpos = torch.where(where, start, self.qpos)
        self.qvel = torch.where(where, torch.zeros_like(self.qvel), self.qvel)
        speed = self.uniform(-1, 1)
        speed = torch.where(speed.abs() < 0.02, torch.zeros_like(speed), speed)  # some stand
        self.command = torch.where(mask, speed, self.command)
        self.age = torch.where(mask, torch.zeros_like(self.age), self.age)

    def substep(self, action):
        height = self.qpos[:, 1]
        depth = height.clamp(0, CEILING) - height  # above 0 in the floor, below 0 in the ceiling
        touching = depth != 0
        push = torch.where(touching, self.stiffness * depth - self.damping * self.qvel[:, 1], torch.zeros_like(depth))
        grip = torch.where(touching, -self.damping * self.qvel[:, 0], torch.zeros_like(depth))
        self.ctrl = LIMIT * torch.tanh(action)
        force = self.ctrl + torch.stack([grip, push - 9.81], 1)
        self.qvel = self.qvel + DT * force
        self.qpos = self.qpos + DT * self.qvel
        return touching.int()

    def observe(self):
        return torch.cat([self.qpos[:, 1:], self.qvel, self.command[:, None]], 1).clamp(-10, 10)

    def rewards(self):
        error = self.qvel[:, 0] - self.command
        terms = {"track": torch.exp(-(error**2)), "effort": -1e-4 * self.ctrl.square().sum(1)}
        if self.fault == "reward":
            terms["heading"] = 0.1 * self.qvel[:, 0] * self.command / self.command.abs()
        return terms


class Policy(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 64), nn.ELU(), nn.Linear(64, 64), nn.ELU(), nn.Linear(64, 2))
        self.critic = nn.Sequential(nn.Linear(4, 64), nn.ELU(), nn.Linear(64, 64), nn.ELU(), nn.Linear(64, 1))
        self.scalar = fault == "std"
        self.std_param = nn.Parameter(torch.full((2,), 0.6) if self.scalar else torch.full((2,), math.log(0.6)))

    def std(self):
        return self.std_param if self.scalar else self.std_param.exp()

    def forward(self, obs):
        mean = self.actor(obs)
        return torch.distributions.Normal(mean, self.std().expand_as(mean)), self.critic(obs).squeeze(-1)


def rollout(env, policy, guard):
    """Collects HORIZON steps; everything that the loop makes is shown to the guard."""
    steps = []
    obs = env.observe()
    for _ in range(HORIZON):
        with torch.no_grad():
            dist, value = policy(obs)
            action = dist.sample()
            log_prob = dist.log_prob(action).sum(-1)
        fields = {"policy.mean": dist.mean, "policy.std": dist.stddev, "action": action, "log_prob": log_prob, "value": value}
        guard.check_same("step", fields)
        for _ in range(SUBSTEPS):
            ncon = env.substep(action)
            guard.check("substep", qpos=env.qpos, qvel=env.qvel, ctrl=env.ctrl, ncon=ncon)
        env.age = env.age + 1
        terms = env.rewards()
        reward, done = sum(terms.values()), env.age >= EPISODE
        env.reset(done)
        steps.append((obs, action, log_prob, value, reward, done))
        obs = env.observe()
        guard.check("step", {f"reward.{k}": v for k, v in terms.items()}, reward=reward, done=done, obs=obs)
    with torch.no_grad():
        last = policy.critic(obs).squeeze(-1)
    return [torch.stack(x) for x in zip(*steps)], last


def advantages(value, reward, done, last, gamma=0.99, lam=0.95):
    out, running, following = torch.zeros_like(value), torch.zeros_like(last), last
    for t in reversed(range(HORIZON)):
        alive = 1.0 - done[t].float()
        running = reward[t] + gamma * following * alive - value[t] + gamma * lam * alive * running
        out[t], following = running, value[t]
    return out


def update(policy, optimizer, batch, last, entropy_weight, guard):
    obs, action, old_log_prob, value, reward, done = batch
    advantage = advantages(value, reward, done, last)
    target = (advantage + value).flatten()
    advantage = ((advantage - advantage.mean()) / (advantage.std() + 1e-8)).flatten()
    obs, action, old_log_prob = (x.flatten(0, 1) for x in (obs, action, old_log_prob))
    for part in torch.randperm(len(obs), device=obs.device).chunk(4):
        dist, value = policy(obs[part])
        log_ratio = dist.log_prob(action[part]).sum(-1) - old_log_prob[part]
        ratio = log_ratio.exp()
        surrogate = -torch.min(ratio * advantage[part], ratio.clamp(0.8, 1.2) * advantage[part]).mean()
        value_loss = (value - target[part]).square().mean()
        entropy = dist.entropy().sum(-1).mean()
        loss = surrogate + value_loss - entropy_weight * entropy
        optimizer.zero_grad()
        loss.backward()
        grad_norm = nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        guard.log(
            {"param.std": policy.std_param.detach()},
            policy_loss=surrogate,
            value_loss=value_loss,
            entropy=entropy,
            kl=-log_ratio.mean(),
            grad_norm=grad_norm,
            lr=optimizer.param_groups[0]["lr"],
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--fault", default="none", choices=["none", "stiff", "reward", "std"])
    parser.add_argument("--out", default="nan_dumps")
    parser.add_argument("--envs", type=int, default=256)
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    env, policy = Env(args.envs, args.device, args.fault, args.seed), Policy(args.fault).to(args.device)
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2 if args.fault == "std" else 1e-3)

    run = {"framework": "torch", "framework_version": torch.__version__, "seed": args.seed}
    with nanguard.Guard(args.envs, args.out, on_trip="raise", run=run) as guard:
        guard.facts({"sim.timestep": DT, "sim.decimation": SUBSTEPS, "action.scale": LIMIT})
        guard.facts({"policy.std_param": "scalar" if policy.scalar else "log", "normalizer.enabled": False})
        for i in range(args.iterations):
            batch, last = rollout(env, policy, guard)
            update(policy, optimizer, batch, last, -0.05 if args.fault == "std" else 0.005, guard)
            if i % 10 == 9:
                print(f"iteration {i + 1}: reward {batch[4].mean():.3f}, std {policy.std().mean():.3f}", flush=True)


if __name__ == "__main__":
    main()
