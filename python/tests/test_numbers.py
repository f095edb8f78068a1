"""A number is the same field whether it comes as a float, as an array of one element, or in another type."""

import math

import numpy as np
import pytest
from conftest import ENVS

import nanguard
from nanguard._library import HOST
from nanguard._numbers import _LARGEST, One, fitted

NAN = float("nan")

FORMS = [0.5, 1, np.float32(2.5), np.zeros(()), np.full((1,), 3.5, np.float32), np.full((1, 1), 4.5, np.float16), np.array([7])]


@pytest.mark.parametrize("first", FORMS[:1] + FORMS[3:6], ids=str)
@pytest.mark.parametrize("call", ["check", "log"])
def test_every_form_of_a_number(dumps, open_dump, first, call) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.bind("lr", first, shared=True, clock="minibatch")
        look = (lambda x: guard.check("minibatch", lr=x)) if call == "check" else (lambda x: guard.log(lr=x))
        for _ in range(3):
            for x in FORMS:
                look(x)
        assert guard.poll() is None
        d = open_dump(guard.dump())
    assert d.spec("lr")["dtype"] == str(np.asarray(first).dtype)
    assert list(d.field("lr")[:, 0]) == [float(np.asarray(x).item()) for x in FORMS] * 3


@pytest.mark.parametrize("bad", [NAN, np.float32(NAN), np.array([NAN], np.float16), np.array(NAN)])
@pytest.mark.parametrize("first", [0.0, np.zeros((1,), np.float32)])
def test_a_bad_number_trips_in_every_form(dumps, first, bad) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.bind("alpha", first, shared=True)
        guard.log(alpha=bad)
        v = guard.wait()
    assert (v.field, v.env, v.value) == ("alpha", None, "nan")


def test_a_large_number_does_not_become_infinite(dumps, open_dump) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.bind("grad_norm", np.zeros((1,), np.float32), shared=True)
        for x in (1e300, -1e300, np.array(1e39)):
            guard.log(grad_norm=x)
        assert guard.poll() is None
        assert list(open_dump(guard.dump()).field("grad_norm")[:, 0]) == [*np.float32([1, -1, 1]) * np.finfo("f4").max]


def test_other_shapes_and_types_are_still_refused(dumps) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.bind("lr", 0.0, clock="step")
        guard.bind("normalizer.count", np.array([3]), shared=True)
        for fields in ({"lr": np.zeros(2)}, {"normalizer.count": np.array([3.5])}):
            with pytest.raises(nanguard.NanGuardError, match="field changed"):
                guard.check("step", fields)
        with pytest.raises(TypeError, match="number and was an array"):
            guard.check("step", {"normalizer.count": 3.5})
        guard.log({"normalizer.count": np.array([4])}, lr=1, clock="step")


def test_a_number_of_the_gpu_for_a_field_of_the_host() -> None:
    class OnGPU:
        __cuda_array_interface__ = {"data": (4096, False), "shape": (1,), "typestr": "<f4", "version": 3}

    with pytest.raises(
        nanguard.NanGuardError, match=r'bound as float64 in host memory and this is float32 on cuda:0.*guard.bind\("lr"'
    ) as e:
        fitted("lr", OnGPU(), One("float64", HOST, 0))
    assert e.value.code == "changed"


def test_torch(dumps, open_dump) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    forms = [torch.tensor(1.5), torch.tensor([2.5], dtype=torch.bfloat16), torch.tensor(0.5, dtype=torch.float64, requires_grad=True), 3.0]
    with nanguard.Guard(ENVS, dumps, max_dumps=4) as guard:
        guard.bind("lr", 0.0, clock="step")
        guard.bind("alpha", torch.zeros(1, requires_grad=True), shared=True, clock="step")
        guard.bind("grad_norm", torch.zeros((), dtype=torch.bfloat16), clock="step")
        for _ in range(3):
            for x in forms:
                guard.check("step", lr=x, alpha=x, grad_norm=x)
                guard.log(lr=x, alpha=x, grad_norm=x, clock="step")
        assert guard.poll() is None
        d = open_dump(guard.dump())
    want = [x for x in (1.5, 2.5, 0.5, 3.0) for _ in range(2)] * 3
    assert list(d.field("lr")[:, 0]) == list(d.field("alpha")[:, 0]) == want
    assert list((d.field("grad_norm")[:, 0].astype(np.uint32) << 16).view(np.float32)) == want
    assert [d.spec(n)["dtype"] for n in ("lr", "alpha", "grad_norm")] == ["float64", "float32", "bfloat16"]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_torch_is_narrowed_to_the_finite(dtype) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from nanguard._numbers import _cell, narrowed

    kind = getattr(torch, dtype)
    assert torch.finfo(kind).max == _LARGEST[dtype]
    for x in (0.1, -3.14159, 1e-30, 1e308, -1e308, math.inf, -math.inf, NAN):
        got = narrowed(torch.tensor(x, dtype=torch.float64), kind)
        cell = torch.frombuffer(_cell(x, dtype).keep, dtype=kind)[0]
        want = torch.tensor(max(-_LARGEST[dtype], min(_LARGEST[dtype], x)) if math.isfinite(x) else x, dtype=torch.float64).to(kind)
        assert got.dtype == kind
        assert narrowed(torch.tensor(10**6), kind).isfinite()
        for y in (got, cell):
            assert torch.equal(y, want) or (y.isnan() and want.isnan()), (x, y, want)
