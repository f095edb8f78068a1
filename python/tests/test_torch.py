"""The guard on torch tensors, and the layers of a torch module."""

import gc
import math
import weakref

import numpy as np
import pytest
from conftest import ENVS, Dump, diagnosis, python

import nanguard

torch = pytest.importorskip("torch", reason="torch is not installed")
nn = torch.nn

NAN = float("nan")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_dtypes(dumps, dtype) -> None:
    x = torch.zeros(ENVS, 3, dtype=getattr(torch, dtype))
    with nanguard.Guard(ENVS, dumps) as guard:
        for i in range(3):
            x[:] = i
            guard.check(obs=x)
        x[4, 1] = -math.inf
        guard.check(obs=x)
        v = guard.wait()
    assert (v.env, v.col, v.value) == (4, 1, "neginf")
    d = Dump(v.path)
    assert d.spec("obs")["dtype"] == dtype
    frames = d.field("obs")[:, 0, 0]
    if dtype == "bfloat16":
        frames = (frames.astype(np.uint32) << 16).view(np.float32)
    assert list(frames[:3]) == [0, 1, 2]


def test_integers_and_flags(dumps) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        for dtype in (torch.int32, torch.int64, torch.uint8, torch.bool):
            guard.check_same("step", {f"termination.{str(dtype)[6:]}": torch.ones(ENVS, dtype=dtype)})
        with pytest.raises(TypeError, match="complex64"):
            guard.check(obs=torch.zeros(ENVS, dtype=torch.complex64))


def test_views_and_copies(dumps) -> None:
    """Slices, transposes, expanded and fresh tensors, all read where they are."""
    base = torch.full((2 * ENVS, 9), NAN)
    rows = base[::2, 1:8:3]
    rows.zero_()
    wide = torch.zeros(5, ENVS)
    cube = torch.full((ENVS, 4, 6), NAN)
    part = cube[:, :3, ::2]
    part.zero_()

    def fields() -> dict:
        return {"obs.rows": rows, "obs.wide": wide.t(), "obs.one": torch.zeros(5).expand(ENVS, 5), "obs.part": part}

    with nanguard.Guard(ENVS, dumps) as guard:
        for _ in range(3):
            guard.check("step", fields())
        assert guard.poll() is None
        wide[4, 6] = NAN
        guard.check("step", fields())
        v = guard.wait()
    assert (v.field, v.env, v.col) == ("obs.wide", 6, 4)


def test_a_tensor_that_changes_its_layout(dumps, open_dump) -> None:
    x = torch.arange(2.0 * ENVS).reshape(ENVS, 2)
    same = [x, x.t().contiguous().t(), torch.stack([x, x], 2)[..., 0], x.clone()]
    with nanguard.Guard(ENVS, dumps) as guard:
        for y in same * 3:
            guard.check(obs=y)
        d = open_dump(guard.dump())
    frames = d.field("obs")
    assert (frames == frames[0]).all() and frames[0].ravel()[1] == 1


def test_changes_that_are_refused(dumps) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        x = torch.zeros(ENVS, 4)
        guard.check(obs=x)
        for wrong in (
            torch.zeros(ENVS, 5),
            torch.zeros(4, ENVS),
            torch.zeros(ENVS, 4).double(),
            torch.zeros(0, 4),
            torch.zeros(ENVS, 2, 2)[:, :, 0],
        ):
            with pytest.raises(nanguard.NanGuardError, match="field changed"):
                guard.check(obs=wrong)
        x.resize_(ENVS, 3)  # the very same tensor
        with pytest.raises(nanguard.NanGuardError, match="field changed"):
            guard.check(obs=x)
        with pytest.raises(TypeError, match="device meta"):
            guard.check(obs=torch.zeros(ENVS, 4, device="meta"))


def test_no_tensor_is_kept_alive(dumps) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        x = torch.zeros(ENVS, 4)
        guard.check(obs=x)
        gone = weakref.ref(x)
        del x
        gc.collect()
        assert gone() is None


def test_memory_taken_from_under_a_tensor(dumps, open_dump) -> None:
    """A tensor whose storage was given back has no address: the check is refused, and the guard goes on."""
    x, kept = torch.zeros(ENVS, 300), torch.zeros(ENVS, 2)
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.check("step", {"obs": x, "action": kept})
        guard.check("step", {"obs": x, "action": kept})
        x.untyped_storage().resize_(0)
        for _ in range(3):
            with pytest.raises(nanguard.NanGuardError, match="obs"):
                guard.check("step", {"obs": x, "action": kept})
        for i in range(5):
            guard.check("step", {"obs": torch.full((ENVS, 300), float(i)), "action": kept})
            gc.collect()
        assert guard.poll() is None
        assert list(open_dump(guard.dump()).field("obs")[:, 0, 7]) == [0, 0, 0, 1, 2, 3, 4]


def test_an_exception_of_torch_that_nobody_catches(dumps) -> None:
    """With hooks the dump has the exception, and the loss's tensors of the step that raised are in it."""
    done = python(
        "import sys, torch, nanguard\n"
        "guard = nanguard.Guard(4, sys.argv[1], hooks=True)\n"
        "policy = torch.nn.Linear(3, 2)\n"
        "for i in range(5):\n"
        "    mean = policy(torch.ones(4, 3))\n"
        "    guard.check('step', {'policy.mean': mean})\n"
        "    loss = mean.square().mean()\n"
        "    guard.log(loss=loss)\n"
        "    torch.distributions.Normal(mean, torch.tensor(1.0 - i))\n",
        str(dumps),
    )
    assert done.returncode == 1 and "ValueError" in done.stderr, done
    (path,) = dumps.glob("nan_dump_2*.npz")
    d = Dump(path)
    assert d.manifest["run"]["exception"].startswith("ValueError: Expected parameter scale")
    assert d.field("loss.total").shape[0] == d.field("policy.mean").shape[0] == 2


def test_gradients_are_left_alone(dumps) -> None:
    w = nn.Parameter(torch.ones(ENVS))
    with nanguard.Guard(ENVS, dumps) as guard:
        y = (w * 2).exp()
        guard.check(reward=y)
        guard.check("step", {"reward.w": w})
        y.sum().backward()
        guard.log(value_loss=y.mean(), kl=torch.tensor(0.1), grad_norm=w.grad.norm())
        guard.log(value_loss=3.0, kl=torch.tensor(0.1, dtype=torch.float64), grad_norm=2)
        path = guard.dump()
    assert [float(x) for x in Dump(path).field("loss.value")[:, 0]] == pytest.approx([math.exp(2), 3.0], rel=1e-6)


class Proxy:
    """A stand-in for a tensor that passes everything on, as mjlab's TorchArray does."""

    def __init__(self, tensor) -> None:
        self._tensor = tensor

    def __getattr__(self, name):
        return getattr(self._tensor, name)


def test_stand_ins(dumps, open_dump) -> None:
    kept = Proxy(torch.zeros(ENVS, 2))
    with nanguard.Guard(ENVS, dumps) as guard:
        for i in range(4):
            kept._tensor[:] = i
            guard.check("substep", qvel=kept)
        kept._tensor = torch.full((ENVS, 2), 9.0)  # the buffer behind it was made anew
        guard.check("substep", qvel=kept)
        d = open_dump(guard.dump())
    assert list(d.field("qvel")[:, 0, 0]) == [0, 1, 2, 3, 9]


def test_stand_ins_that_cannot_be_remembered(dumps, open_dump) -> None:
    Slotted = type("Slotted", (), {"__slots__": ("_tensor",), "__init__": Proxy.__init__, "__getattr__": Proxy.__getattr__})
    kept = Slotted(torch.zeros(ENVS, 2))
    with nanguard.Guard(ENVS, dumps) as guard:
        for i in range(3):
            kept._tensor = torch.full((ENVS, 2), float(i))
            guard.check("substep", qvel=kept)
        assert list(open_dump(guard.dump()).field("qvel")[:, 0, 0]) == [0, 1, 2]


def test_a_policy_whose_std_turns_negative(dumps, binary) -> None:
    """torch refuses it with an exception; the dump must have both, and the right cause."""
    torch.manual_seed(1)
    std = nn.Parameter(torch.full((3,), 0.3))
    mean = nn.Linear(4, 3)
    with pytest.raises(ValueError, match="scale"):
        with nanguard.Guard(ENVS, dumps) as guard:
            guard.facts({"policy.std_param": "scalar"})
            for _ in range(60):
                obs = torch.randn(ENVS, 4)
                m = mean(obs).detach()
                guard.check("step", {"obs.policy": obs, "policy.mean": m, "policy.std": std.detach().expand(ENVS, 3)})
                dist = torch.distributions.Normal(m, std.detach())
                action = dist.sample()
                guard.check_same("step", {"action": action, "log_prob": dist.log_prob(action).sum(-1)})
                guard.log({"param.std_min": std.min()}, lr=1e-3)
                with torch.no_grad():
                    std -= 0.006
    (path,) = dumps.glob("nan_dump_2*.npz")
    assert Dump(path).manifest["run"]["exception"].startswith("ValueError: Expected parameter scale")
    assert diagnosis(binary, str(path))["verdict"] == "policy-std"


def net(*layers):
    return nn.Sequential(*layers)


def test_the_first_bad_layer(dumps) -> None:
    torch.manual_seed(0)
    policy = net(nn.Linear(4, 8), nn.ELU(), nn.Linear(8, 8), nn.ELU(), nn.Linear(8, 2))
    with nanguard.Guard(ENVS, dumps) as guard:
        watch = guard.watch_module(policy)
        for i in range(4):
            if i == 3:
                with torch.no_grad():
                    policy[2].weight[5, 1] = math.inf
            policy(torch.ones(ENVS, 4)).mean().backward()
            guard.check(obs=torch.zeros(ENVS, 4))
        v = guard.wait()
    assert (v.field, v.label) == ("policy.layers.out", "2 Linear")
    assert (watch.first_bad.layer, watch.first_bad.what) == ("2 Linear", "output")
    assert 0 < watch.first_bad.input_absmax < 10
    d = Dump(v.path)
    assert d.spec("policy.layers.out")["cols"] == ["0 Linear", "1 ELU", "2 Linear", "3 ELU", "4 Linear"]
    assert d.field("policy.layers.in").shape == (4, 5)
    assert np.isfinite(d.field("policy.layers.in")[-1][:3]).all()


class Poison(torch.autograd.Function):
    """The identity, whose gradient is not finite."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g * NAN


class PoisonLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.on = False

    def forward(self, x):
        return Poison.apply(x) if self.on else x * 1


def test_the_first_bad_gradient(dumps) -> None:
    """Outputs are fine; the gradient turns bad within layer 2, so that of layer 1's output is the first."""
    policy = net(nn.Linear(4, 8), nn.Tanh(), PoisonLayer(), nn.Linear(8, 2))
    with nanguard.Guard(ENVS, dumps) as guard:
        watch = guard.watch_module(policy, "actor")
        for i in range(3):
            policy[2].on = i == 2
            policy(torch.ones(ENVS, 4)).pow(2).mean().backward()
            guard.check(obs=torch.zeros(ENVS, 4))
        v = guard.wait()
    assert (v.field, v.label) == ("grad.actor", "1 Tanh")
    assert watch.first_bad.what == "gradient of the output"
    assert Dump(v.path).spec("grad.actor")["cols"] == ["3 Linear", "2 PoisonLayer", "1 Tanh", "0 Linear"]


def test_a_bad_gradient_of_the_weights(dumps) -> None:
    """Input and gradient of the output are finite, their product is not."""
    policy = net(nn.Linear(2, 1, bias=False))
    with nanguard.Guard(ENVS, dumps) as guard:
        watch = guard.watch_module(policy)
        with torch.no_grad():
            policy[0].weight.fill_(0.0)
        (policy(torch.full((ENVS, 2), 1e30)).sum() * 1e30).backward()
        guard.check(obs=torch.zeros(ENVS, 2))
        v = guard.wait()
    assert (v.field, v.label, watch.first_bad.what) == ("grad.policy.weights", "0 Linear", "gradient of the weights")


def test_bad_inputs_are_not_the_layer_s_fault(dumps) -> None:
    policy = net(nn.Linear(4, 2))
    with nanguard.Guard(ENVS, dumps) as guard:
        watch = guard.watch_module(policy)
        policy(torch.full((ENVS, 4), NAN))
        guard.check(obs=torch.zeros(ENVS, 4))
    assert watch.first_bad.layer == "0 Linear" and math.isnan(watch.first_bad.input_absmax)


def test_a_forward_that_raises(dumps) -> None:
    """What the layers made before the exception is in the dump."""

    class Head(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Linear(4, 2)

        def forward(self, x):
            return torch.distributions.Normal(self.body(x), -torch.ones(2)).sample()

    policy = Head()
    with pytest.raises(ValueError, match="scale"):
        with nanguard.Guard(ENVS, dumps) as guard:
            guard.watch_module(policy)
            policy(torch.ones(ENVS, 4))
    (path,) = dumps.glob("nan_dump_2*.npz")
    assert Dump(path).field("policy.layers.out").shape == (1, 1)


def test_layers_with_several_results_and_those_that_do_not_run(dumps) -> None:
    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.unused, self.rnn, self.actor, self.critic = nn.Linear(1, 1), nn.GRU(3, 4), nn.Linear(4, 2), nn.Linear(4, 1)

        def forward(self, x, critic):
            y, _ = self.rnn(x)
            return self.critic(y) if critic else self.actor(y)

    policy = Two()
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.watch_module(policy)
        policy(torch.ones(5, ENVS, 3), False)
        policy(torch.ones(5, ENVS, 3), True)
        guard.check(obs=torch.zeros(ENVS, 3))
        d = Dump(guard.dump())
    assert d.spec("policy.layers.out")["cols"] == ["rnn GRU", "actor Linear", "unused Linear", "critic Linear"]
    out = d.field("policy.layers.out")
    assert (
        out.shape == (2, 4) and (out[0] > 0).tolist() == [True, True, False, False] and (out[1] > 0).tolist() == [True, False, False, True]
    )


def test_watching_for_a_while(dumps) -> None:
    policy = net(nn.Linear(4, 2))
    with nanguard.Guard(ENVS, dumps) as guard:

        @guard.watch_module(policy)
        def update(n):
            for _ in range(n):
                policy(torch.ones(ENVS, 4))
            return n

        policy(torch.ones(ENVS, 4))
        assert update(3) == 3
        policy(torch.ones(ENVS, 4))
        with guard.watch_module(policy, "other"):
            policy(torch.ones(ENVS, 4))
        assert not policy[0]._forward_hooks and not guard._watches
        d = Dump(guard.dump())
    assert d.field("policy.layers.out").shape[0] == 3
    assert d.field("other.layers.out").shape[0] == 1


def test_on_trip_raise_from_within_a_pass(dumps) -> None:
    policy = net(nn.Linear(4, 2))
    with pytest.raises(nanguard.Tripped, match="policy.layers.out"):
        with nanguard.Guard(ENVS, dumps, on_trip="raise") as guard:
            guard.watch_module(policy)
            policy(torch.full((ENVS, 4), NAN))
            policy(torch.zeros(ENVS, 4))
            guard.check(obs=torch.zeros(ENVS, 4))


def test_a_watch_forgets_a_guard_that_is_gone(dumps) -> None:
    policy = net(nn.Linear(4, 2))
    guard = nanguard.Guard(ENVS, dumps)
    guard.watch_module(policy)
    guard.close()
    policy(torch.ones(ENVS, 4))
    policy(torch.ones(ENVS, 4))
    del guard
    gc.collect()
    policy(torch.ones(ENVS, 4)).sum().backward()
    policy(torch.ones(ENVS, 4))
