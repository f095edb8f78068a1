"""Checks that the library finds again by clock and names, without this package looking at them."""

import os
import random
import sys
import threading
from collections import OrderedDict, UserDict
from pathlib import Path

import numpy as np
import pytest
from conftest import ENVS, python
from test_exchange import Tensor

import nanguard
from nanguard import _again

pytestmark = pytest.mark.skipif(not _again._has_lock(), reason="only CPython with its lock makes checks again by names")


@pytest.fixture
def anew(monkeypatch) -> list:
    """The names of each check that was not made again."""
    made = []
    real = nanguard.Guard._check_anew

    def counted(self, advance, clock, named, stream):
        made.append((clock, *named))
        real(self, advance, clock, named, stream)

    monkeypatch.setattr(nanguard.Guard, "_check_anew", counted)
    return made


def ones(i: float, cols: int = 2, dtype=np.float32) -> Tensor:
    return Tensor(np.full((ENVS, cols), i, dtype))


@pytest.mark.parametrize(
    "again,make",
    [
        (True, lambda g, i: g.check("step", {"obs.a": ones(i), "obs.b": ones(i)})),
        (True, lambda g, i: g.check("".join(["st", "ep"]), {f"obs.{x}": ones(i) for x in "ab"})),  # names made anew
        (True, lambda g, i: g.check("step", {"obs.a": ones(i)}, **{"obs.b": ones(i)})),
        (True, lambda g, i: g.check("step", **{"obs.a": ones(i), "obs.b": ones(i)})),
        (True, lambda g, i: g.check("step", {"obs.a": ones(i)}, defer=True) or g.check_same("step", {"obs.b": ones(i)})),
        (True, lambda g, i: g.check("step", {"obs.a": ones(i)}) or g.check_same("step", {"obs.b": ones(i)})),
        (True, lambda g, i: g.check("step", {"obs.a": ones(i), "obs.b": ones(i, 3, np.float64)})),
        (False, lambda g, i: g.check("step", OrderedDict({"obs.a": ones(i), "obs.b": ones(i)}))),
        (False, lambda g, i: g.check("step", {"obs.a": ones(i), "obs.b": ones(i)}, stream=0)),
        (False, lambda g, i: g.check("step", {"obs.a": ones(i), "obs.b": ones(i).array})),  # numpy's has no exchange
        (False, lambda g, i: g.check("step", {f"obs.{x}": ones(i) for x in ["a", "b", *range(70)]})),
    ],
)
def test_what_is_made_again(dumps, open_dump, anew, again, make) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        make(guard, 0)
        first = len(anew)
        for i in range(1, 10):
            make(guard, i)
        assert len(anew) == (first if again else 10 * first)
        d = open_dump(guard.dump())
    for name in ("obs.a", "obs.b"):
        assert list(d.field(name)[:, 0, -1]) == list(d.field(name)[:, -1, 0]) == list(range(10)), name
        assert list(d.field(name + ".count")) == list(range(1, 11)), name


def test_another_order_is_another_check(dumps, open_dump, anew) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        for i in range(10):
            names = ["obs.a", "obs.b"] if i % 2 else ["obs.b", "obs.a"]
            guard.check("step", {name: ones(i + (name == "obs.b")) for name in names})
        assert len(anew) == 2
        d = open_dump(guard.dump())
    assert list(d.field("obs.a")[:, 0, 0]) == list(range(10)) and list(d.field("obs.b")[:, 0, 0]) == list(range(1, 11))


def test_who_tripped_is_told_as_ever(dumps) -> None:
    with nanguard.Guard(ENVS, dumps, on_trip="raise") as guard:
        for _ in range(5):
            guard.check("step", {"obs.a": ones(0)})
        bad = ones(0)
        bad.array[3, 1] = np.nan
        with pytest.raises(nanguard.Tripped) as e:
            for _ in range(3):
                guard.check("step", {"obs.a": bad})
        assert (e.value.verdict.field, e.value.verdict.env, e.value.verdict.count) == ("obs.a", 3, 6)


def test_what_changed_is_an_error_and_the_next_one_is_not(dumps, anew) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.check(obs=ones(0))
        for wrong in (ones(0, 3), ones(0, dtype=np.float64), np.zeros((ENVS, 5)), None):
            with pytest.raises((nanguard.NanGuardError, TypeError)):
                guard.check(obs=wrong)
            before = len(anew)
            for _ in range(3):
                guard.check(obs=ones(0))
            assert len(anew) <= before + 1


def test_a_framework_that_refuses_leaves_no_exception(dumps) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        for broken in (False, False, True, False):
            guard.check(obs=Tensor(np.zeros((ENVS, 2)), broken=broken))
            assert sys.exc_info() == (None, None, None)
        assert guard._again.check("step", None, {"obs": Tensor(np.zeros((ENVS, 2)), broken=True)}) == _again.UNLIKE


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("step",),
        ("step", None),
        ("step", {}),
        ("step", 5),
        (5, {"obs": 1}),
        ("step", {5: ones(0)}),
        ("step", {"obs": 5}),
        (None, None, None),
    ],
)
def test_what_it_does_not_know(dumps, arguments) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.check(obs=ones(0))
        guard.check(obs=ones(0))
        assert guard._again.check(*arguments) == guard._again.same(*arguments) == _again.UNLIKE


def test_a_field_that_is_watched_later_comes_along(dumps, open_dump, anew) -> None:
    held = np.zeros((ENVS, 2), np.float32)
    with nanguard.Guard(ENVS, dumps) as guard:
        for i in range(6):
            if i == 3:
                guard.bind("obs.held", held, clock="step", watch=True)
            guard.check("step", {"obs.a": ones(i)})
        d = open_dump(guard.dump())
    assert len(d.field("obs.held")) == 3 and len(d.field("obs.a")) == 6
    assert len(anew) == 1 + 3


def test_nothing_is_kept(dumps) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        arrays = {"obs.a": ones(0), "obs.b": ones(1)}
        guard.check("step", arrays)
        guard.check("step", arrays)
        before = [sys.getrefcount(x) for x in (*arrays.values(), *arrays, arrays)]
        for _ in range(1000):
            guard.check("step", arrays)
        assert [sys.getrefcount(x) for x in (*arrays.values(), *arrays, arrays)] == before


def test_more_checks_than_places(dumps, anew) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        for _ in range(3):
            for k in range(_again._CHECKS + 6):
                guard.check("step", {f"obs.{k}": ones(k)})
        assert len(anew) == _again._CHECKS + 3 * 6
        bad = ones(1)
        bad.array[5, 0] = np.inf
        guard.check("step", {f"obs.{_again._CHECKS - 1}": bad})
        assert guard.wait().env == 5


def test_threads(dumps, open_dump) -> None:
    """Checks of the same names from several threads are all made, each with its own arrays."""
    bad = []
    with nanguard.Guard(ENVS, dumps, max_frames=2000) as guard:
        guard.check("step", {"obs.a": ones(0), "obs.b": ones(0)})

        def loop(k: int) -> None:
            try:
                for _ in range(200):
                    guard.check("step", {"obs.a": ones(k), "obs.b": ones(k)})
            except Exception as e:  # shown below
                bad.append(e)

        threads = [threading.Thread(target=loop, args=(k,)) for k in range(1, 5)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        d = open_dump(guard.dump())
    assert not bad
    a, b = d.field("obs.a")[1:, 0, 0], d.field("obs.b")[1:, 0, 0]
    assert (a == b).all() and sorted(a) == sorted(list(range(1, 5)) * 200)


def code_of(call, *args, **named) -> str:
    """Returns the code of what a call raises, "none"."""
    try:
        call(*args, **named)
    except nanguard.NanGuardError as e:
        return e.code
    return "none"


FORKED = """
import os, sys
import numpy as np
sys.path.insert(0, sys.argv[2])
from test_exchange import ENVS, Tensor
import nanguard
guard = nanguard.Guard(ENVS, sys.argv[1])
x = Tensor(np.zeros((ENVS, 2), np.float32))
for _ in range(3):
    guard.check(obs=x)
asked = Tensor.asked
if os.fork() == 0:
    try:
        guard.check(obs=x)
    except nanguard.NanGuardError as e:
        print(e.code, Tensor.asked - asked, flush=True)
    os._exit(0)
os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_in_a_forked_child_it_is_refused(dumps) -> None:
    done = python(FORKED, str(dumps), str(Path(__file__).parent))
    assert done.stdout.split() == ["fork", "1"], done


def test_a_closed_guard_is_an_error(dumps) -> None:
    guard = nanguard.Guard(ENVS, dumps)
    for _ in range(3):
        guard.check(obs=ones(0))
    guard.close()
    assert code_of(guard.check, obs=ones(0)) == "handle"


def program(guard: nanguard.Guard, chance: random.Random) -> list:
    """Makes checks of chance; returns what they raised and what was known then."""
    said = []
    for _ in range(60):
        names = chance.sample(["obs.a", "obs.b", "obs.c", "reward"], chance.randint(1, 4))
        clock = chance.choice(["step", "step", "substep"])
        arrays = {n: ones(chance.random(), 2 if chance.random() < 0.95 else 3) for n in names}
        if chance.random() < 0.02:
            arrays[names[0]].array[chance.randrange(ENVS), 0] = np.nan
        if chance.random() < 0.1:
            arrays[names[0]] = arrays[names[0]].array
        given = (arrays, {}) if chance.random() < 0.5 else ({}, arrays)
        how = chance.choice([guard.check, guard.check, guard.check_same, lambda *a, **k: guard.check(*a, defer=True, **k)])
        said.append(code_of(how, clock, given[0], **given[1]))
    said.append(code_of(guard.wait))  # a check that was deferred
    v = guard.wait()
    said.append(v and (v.field, v.env, v.col, v.tick, v.count))
    return said


@pytest.mark.parametrize("seed", range(20))
def test_the_same_comes_of_it(dumps, open_dump, monkeypatch, seed) -> None:
    """A program of chance ends alike whether its checks are made again by names or each looked at."""
    ends = []
    for way in ("again", "anew"):
        if way == "anew":
            monkeypatch.setattr(_again, "_has_lock", lambda: False)
        with nanguard.Guard(ENVS, dumps / way) as guard:
            said = program(guard, random.Random(seed))
            path = guard.wait().path if guard.wait() else guard.dump()
        d = open_dump(path)
        ends.append((said, {n: a for n, a in d.arrays.items() if n.startswith("field.")}))
    (said, fields), (want, want_fields) = ends
    assert said == want and fields.keys() == want_fields.keys()
    for name, a in fields.items():
        np.testing.assert_array_equal(a, want_fields[name], err_msg=name)


class Asks(UserDict):
    """Arrays that run a function when they are listed."""

    def __init__(self, then, arrays) -> None:
        super().__init__(arrays)
        self.then = then

    def keys(self):
        self.then()
        return super().keys()


def test_what_two_threads_defer_at_once_is_all_checked(dumps, open_dump) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        meanwhile = threading.Thread(target=guard.check, args=("step", {"obs.a": ones(1)}), kwargs={"defer": True})

        def other() -> None:
            meanwhile.start()
            meanwhile.join()

        guard.check("step", Asks(other, {"obs.a": ones(2)}), defer=True)
        guard.check_same("step", {"obs.b": ones(3)})
        d = open_dump(guard.dump())
    assert list(d.field("obs.a")[:, 0, 0]) == [1, 2] and list(d.field("obs.b.count")) == [2]


@pytest.mark.parametrize("after", [0, 3])
@pytest.mark.parametrize("wrong", [{"obs.b": ones(0, 3)}, {"obs.b": None}, {"obs.b": np.zeros((ENVS, 2), "c8")}, 5])
def test_what_was_deferred_is_checked_when_what_follows_cannot_be(dumps, wrong, after) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.bind("obs.b", ones(0), clock="step")
        for _ in range(after):
            guard.check("step", {"obs.a": ones(0)}, defer=True)
            guard.check_same("step", {"obs.b": ones(0)})
        bad = ones(0)
        bad.array[4, 1] = np.nan
        for _ in range(2):
            guard.check("step", {"obs.a": bad}, defer=True)
            with pytest.raises((nanguard.NanGuardError, TypeError)):
                guard.check_same("step", wrong)
        v = guard.wait()
        assert v is not None and (v.field, v.env, v.count) == ("obs.a", 4, after + 1)


def test_a_trip_of_both_is_one_check(dumps, open_dump) -> None:
    """What a trip raises does not have the check made twice."""
    with nanguard.Guard(ENVS, dumps, on_trip="raise", post_frames=2) as guard:
        for i in range(2):
            guard.check("step", {"obs.a": ones(i)}, defer=True)
            guard.check_same("step", {"obs.b": ones(np.nan if i else 0)})
        for i in range(2, 6):
            try:
                guard.check("step", {"obs.a": ones(i)})
            except nanguard.Tripped:
                break
        guard.wait()
        v = guard.poll()
        assert (v.field, v.count, v.tick) == ("obs.b", 2, 2)
        d = open_dump(v.path)
    assert list(d.field("obs.a")[:, 0, 0]) == [0, 1, 2, 3]


class Slow(Tensor):
    """A tensor whose framework takes long to say where it is."""

    asked_for = threading.Event()
    go_on = threading.Event()

    @property
    def broken(self) -> bool:
        if threading.current_thread() is not threading.main_thread():
            self.asked_for.set()
            self.go_on.wait(20)
        return False

    @broken.setter
    def broken(self, value: bool) -> None:
        pass


def test_a_check_that_ends_does_not_end_another(dumps, monkeypatch) -> None:
    """A check that was learned anew while one of before was under way is under way for itself."""

    def slow() -> Slow:
        return Slow(np.zeros((ENVS, 2), np.float32))

    with nanguard.Guard(ENVS, dumps) as guard:
        for _ in range(2):
            guard.check(obs=slow())
        again, (known, *_) = guard._again, guard._again._known
        first, first_goes = threading.Thread(target=guard.check, kwargs={"obs": slow()}), threading.Event()
        real, started = type(guard._plans["step", "obs"]).known, []

        def meanwhile(plan, clock, names):
            if not started:
                started.append(first)
                Slow.go_on, Slow.asked_for = first_goes, threading.Event()
                first.start()
                assert Slow.asked_for.wait(20)
            return real(plan, clock, names)

        monkeypatch.setattr("nanguard._plan.Plan.known", meanwhile)
        guard._check_anew(True, "step", {"obs": slow()}, None)  # learns it anew, and another begins meanwhile
        Slow.go_on, Slow.asked_for = threading.Event(), threading.Event()
        second = threading.Thread(target=guard.check, kwargs={"obs": slow()})
        second.start()
        assert Slow.asked_for.wait(20) and known.busy
        first_goes.set()
        first.join(20)
        assert known.busy
        Slow.go_on.set()
        second.join(20)
        assert not known.busy and again.check("step", {"obs": slow()}) == 0


def test_a_check_that_was_refused_is_not_learned(dumps, anew) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.check(obs=ones(0))
        for _ in range(5):
            assert code_of(guard.check, obs=ones(0, 3)) == "changed"
            guard.check(obs=ones(0))
        assert len(anew) == 6
