"""Checks that wait for the next one, to go with it."""

import numpy as np
import pytest
from conftest import ENVS

import nanguard


def obs(x: float = 0.0) -> np.ndarray:
    return np.full((ENVS, 2), x, np.float32)


def ticks(guard: nanguard.Guard, open_dump) -> dict:
    d = open_dump(guard.dump())
    return {f["name"]: (list(d.field(f["name"] + ".tick")), list(d.field(f["name"] + ".count"))) for f in d.manifest["fields"]}


def test_both_are_one_check_with_the_counts_of_two(dumps, open_dump) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        for i in range(3):
            guard.check(obs=obs(i), reward=obs()[:, 0], defer=True)
            guard.check_same("step", {"policy.mean": obs(i)})
        got = ticks(guard, open_dump)
    assert got["obs"] == got["reward"] == got["policy.mean"] == ([1, 2, 3], [1, 2, 3])


def dump(guard: nanguard.Guard) -> None:
    with pytest.raises(nanguard.NanGuardError, match="nothing was recorded since"):  # it tripped, and that dump is under way
        guard.dump("asked for")


@pytest.mark.parametrize(
    "then",
    [
        lambda g: g.check(obs=obs()),
        lambda g: g.check(obs=obs(), defer=True) or g.check_same("substep", qvel=obs()),
        lambda g: g.check_same(obs=obs(), reward=obs()[:, 0]),  # a field of both
        lambda g: g.check_same("substep", qvel=obs()),
        lambda g: g.log(kl=0.5),
        dump,
        lambda g: g.wait(),
        lambda g: g.close(),
    ],
)
def test_whatever_comes_first_has_it_made(dumps, then) -> None:
    guard = nanguard.Guard(ENVS, dumps, max_dumps=2)
    guard.check(obs=obs())
    bad = obs()
    bad[3, 1] = np.nan
    guard.check(obs=bad, defer=True)
    assert guard.poll() is None
    then(guard)
    v = guard.wait()
    assert v is not None and (v.field, v.env, v.tick, v.count) == ("obs", 3, 2, 2)
    guard.close()


def test_an_exception_has_it_made(dumps) -> None:
    guard = nanguard.Guard(ENVS, dumps)
    with pytest.raises(ValueError), guard:
        guard.check(obs=obs())
        guard.check(obs=obs(np.nan), defer=True)
        raise ValueError("normal expects all elements of std >= 0.0")
    v = guard.poll()
    assert v is not None and v.field == "obs" and v.path


def test_raise_comes_from_the_check_that_sees_it(dumps) -> None:
    with nanguard.Guard(ENVS, dumps, on_trip="raise") as guard:
        guard.check(obs=obs(np.inf), defer=True)
        with pytest.raises(nanguard.Tripped):
            guard.check_same("step", {"policy.mean": obs()})
    with nanguard.Guard(ENVS, dumps, on_trip="raise") as guard:
        guard.check(obs=obs(np.inf), defer=True)


def test_its_arrays_are_those_that_were_given(dumps, open_dump) -> None:
    """The mapping may be filled anew meanwhile, as a loop does."""
    made = {}
    with nanguard.Guard(ENVS, dumps) as guard:
        for i in range(3):
            made["obs"] = obs(i)
            guard.check("step", made, defer=True)
            made["obs"] = obs(9)
            guard.check_same("step", {"policy.mean": obs(i)})
        d = open_dump(guard.dump())
    assert list(d.field("obs")[:, 0, 0]) == [0, 1, 2]
