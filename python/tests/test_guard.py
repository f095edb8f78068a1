"""The guard on numpy arrays: what it is told, what it finds, what the dump says."""

import dataclasses
import logging
import math
import threading

import numpy as np
import pytest
from conftest import ENVS, diagnosis

import nanguard

NAN = float("nan")


def test_trips_that_nobody_saw_are_counted(dumps, caplog) -> None:
    x = np.zeros(ENVS, np.float32)
    with nanguard.Guard(ENVS, dumps, max_dumps=9) as guard:
        guard.check(reward=x)
        x[3] = np.nan
        guard.check(reward=x)
        v = guard.wait()
        assert v is not None and v.number == 1
        guard._act(dataclasses.replace(v, tick=90, number=4))  # the trip of a loop of CUDA graphs
        assert "2 trips came and went before anybody looked" in caplog.text
        guard.check(reward=x)
        v = guard.wait()
        assert v is not None and v.number == 2


def test_the_first_bad_value(dumps, open_dump) -> None:
    qvel, obs = np.zeros((ENVS, 3), np.float32), np.zeros((ENVS, 5), np.float32)
    with nanguard.Guard(ENVS, dumps, run={"seed": 3, "framework": "test"}) as guard:
        guard.bind("qvel", qvel, clock="step", cols=["hip", "knee", "ankle"], unit="rad/s")
        guard.facts({"sim.timestep": 0.005, "policy.std_param": "scalar"}, done=False)
        for i in range(4):
            qvel[:] = i
            guard.check("step", {"obs.policy": obs}, qvel=qvel)
        assert guard.poll() is None
        obs[1, 4] = NAN
        qvel[3, 2] = -math.inf
        guard.check("step", {"obs.policy": obs}, qvel=qvel)
        v = guard.wait()
    assert (v.field, v.env, v.col, v.label, v.value, v.clock, v.count, v.tick) == ("qvel", 3, 2, "ankle", "neginf", "step", 5, 5)
    assert v.done and not v.error
    assert str(v) == f"neginf in qvel[env 3, col 2 (ankle)] at step 5 (tick 5), dump {v.path}"

    d = open_dump(v.path)
    assert d.manifest["trip"] == {"tick": 5, "clock": "step", "count": 5, "field": "qvel", "env": 3, "col": 2, "class": "neginf"}
    assert d.manifest["env_ids"][:2] == [3, 1]
    assert d.metadata["dumped_env_ids"][:2] == [3, 1]
    assert d.manifest["facts"] == {"sim.timestep": 0.005, "policy.std_param": "scalar", "done": False}
    assert (d.spec("qvel")["unit"], d.spec("qvel")["cols"], d.spec("qvel")["per_env"]) == ("rad/s", ["hip", "knee", "ankle"], True)
    assert d.field("qvel").shape == (5, len(d.manifest["env_ids"]), 3)
    assert list(d.field("qvel")[:4, 0, 0]) == [0, 1, 2, 3]
    assert d.arrays["trace.qvel"][3][3] == 3  # absmax over all envs
    run = d.manifest["run"]
    assert (run["seed"], run["framework"]) == (3, "test")
    assert run["command"] and run["pid"] and run["started"]


def test_a_bad_value_in_the_very_first_frame(dumps) -> None:
    reward = np.full(ENVS, NAN, np.float32)
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.check(reward=reward)
        v = guard.wait()
    assert (v.tick, v.count, v.env, v.path != "") == (1, 1, 0, True)


def test_a_clean_run_leaves_nothing(dumps) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        for _ in range(10):
            guard.check(reward=np.zeros(ENVS))
    assert not dumps.exists()


def test_names_without_a_place_need_a_stage(dumps) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        with pytest.raises(nanguard.NanGuardError, match="does not say where in the loop") as e:
            guard.check(gait=np.zeros(ENVS))
        assert e.value.code == "argument"
        guard.bind("gait", np.zeros(ENVS), stage="obs")
        guard.check(gait=np.zeros(ENVS))


def test_fields_show_themselves_one_after_the_other(dumps, open_dump) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        for update in range(3):
            for _step in range(4):
                for substep in range(2):
                    guard.check("substep", qvel=np.full((ENVS, 2), substep, np.float32))
                guard.check_same("step", {"policy.mean": np.zeros((ENVS, 2))})
                guard.check(obs=np.zeros((ENVS, 2)), reward=np.zeros(ENVS))
            guard.log(value_loss=0.1, kl=0.01, lr=1e-3)
            if update == 1:
                guard.log({"sparsity": NAN}, same=True, clock="update")  # a name of the user's own never trips
        path = guard.dump("a look")
    d = open_dump(path)
    assert d.manifest["clocks"] == {"substep": 24, "step": 12, "minibatch": 3, "update": 0}
    assert d.field("loss.value").shape == (3, 1)
    assert d.spec("sparsity")["stage"] == "monitor"
    assert d.manifest["trip"] is None
    assert [b["field"] for b in d.manifest["first_bad"]] == ["sparsity"]


def test_log_translates_and_trips(dumps, open_dump) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.log(policy_loss=1, value_loss=np.float32(2), entropy=np.zeros(()), learning_rate=3e-4, clock="update")
        guard.log(policy_loss=math.inf, value_loss=2.5, entropy=0.5, learning_rate=3e-4, clock="update")
        v = guard.wait()
    assert (v.field, v.env, v.value, v.clock, v.count) == ("loss.policy", None, "posinf", "update", 2)
    d = open_dump(v.path)
    assert [f["name"] for f in d.manifest["fields"]] == ["policy.entropy", "loss.policy", "loss.value", "lr"]
    assert {f["dtype"] for f in d.manifest["fields"]} == {"float64"}
    assert list(d.field("loss.value")[:, 0]) == [2, 2.5]


def test_names_that_are_shared_by_definition(dumps, open_dump, caplog) -> None:
    """Also where their length is num_envs, and where it is not."""
    square, other = np.zeros(ENVS), np.zeros(ENVS + 3)
    names = ["normalizer.mean", "normalizer.var", "param.w", "loss.parts", "grad.w"]
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.bind("param.gamma", square, shared=False, clock="step")
        for _ in range(2):
            guard.check("step", {**dict.fromkeys(names, square), "obs": square, "lr": np.zeros(1), "param.b": other, "param.gamma": square})
        d = open_dump(guard.dump())
    assert {f["name"] for f in d.manifest["fields"] if f["per_env"]} == {"obs", "param.gamma"}
    assert d.field("normalizer.mean").shape == (2, ENVS) and d.field("param.b").shape == (2, ENVS + 3)
    assert "per env" not in caplog.text


def test_a_vector_that_may_be_either_is_said_once(dumps, open_dump, caplog) -> None:
    std = np.ones(ENVS)
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.bind("model.body_mass", std, shared=False, clock="step")
        guard.bind("policy.log_std", std, shared=True, clock="step")
        for _ in range(3):
            guard.check(
                "step", {"policy.std": std, "model.geom_friction": np.ones((ENVS, 3)), "model.body_mass": std, "policy.log_std": std}
            )
        d = open_dump(guard.dump())
    said = [r.getMessage() for r in caplog.records if "per env" in r.getMessage()]
    assert len(said) == 1 and said[0].startswith(
        'policy.std of shape (8,) is taken to have one row per env: guard.bind("policy.std", x, shared=True)'
    )
    assert (d.spec("policy.std")["per_env"], d.spec("policy.log_std")["per_env"]) == (True, False)


def test_strided_arrays(dumps) -> None:
    """Of a bad value only what belongs to the field counts."""
    base = np.full((2 * ENVS, 7), NAN, np.float32)
    view = base[::2, 5:1:-2]
    view[:] = 0
    cube = np.full((ENVS, 4, 6), NAN, np.float32)  # does not collapse into one stride: it is copied
    part = cube[:, :3, ::2]
    part[:] = 0
    with nanguard.Guard(ENVS, dumps) as guard:
        for _ in range(3):
            guard.check("step", {"obs.a": view, "obs.b": part})
        assert guard.poll() is None
        cube[5, 2, 4] = NAN
        guard.check("step", {"obs.a": view, "obs.b": part})
        v = guard.wait()
    assert (v.field, v.env, v.col) == ("obs.b", 5, 2 * 3 + 2)


def test_fresh_and_reused_arrays_are_read_where_they_are_now(dumps, open_dump) -> None:
    buffer = np.zeros(ENVS)
    with nanguard.Guard(ENVS, dumps) as guard:
        for i in range(200):
            buffer[:] = i
            guard.check(
                "step",
                {
                    "reward.kept": buffer,
                    "reward.fresh": np.full(ENVS, i, np.float64),
                    "reward.part": np.full(3 * ENVS, i)[::3].astype("f8"),
                },
            )
        d = open_dump(guard.dump())
    for name in ("kept", "fresh", "part"):
        assert (d.field(f"reward.{name}")[:, :, 0] == np.arange(200)[:, None]).all(), name


def test_layout_may_change_shape_may_not(dumps) -> None:
    c = np.arange(2.0 * ENVS).reshape(ENVS, 2)
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.check(obs=c)
        guard.check(obs=np.asfortranarray(c))
        guard.check(obs=c)
        assert guard.poll() is None
        for wrong in (np.zeros((ENVS, 3)), np.zeros((ENVS + 1, 2)), np.zeros((0, 2)), np.zeros((ENVS, 2), np.float32), np.zeros(ENVS)):
            with pytest.raises(nanguard.NanGuardError, match="field changed") as e:
                guard.check(obs=wrong)
            assert e.value.code == "changed"
        guard.check(obs=c)
        with pytest.raises(TypeError, match="number and was an array"):
            guard.check(obs=1.0)
        guard.check(obs=np.full((ENVS, 2), NAN))
        assert guard.wait().count == 5  # a refused check counts nothing


def test_half_precision_and_integers(dumps) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        half, ints, flags = np.zeros((ENVS, 2), np.float16), np.full(ENVS, 2**31 - 1, np.int32), np.ones(ENVS, bool)
        guard.check("step", {"obs.h": half, "episode_step": ints, "done": flags})
        half[6, 1] = math.inf
        guard.check("step", {"obs.h": half, "episode_step": ints, "done": flags})
        assert (guard.wait().env, guard.wait().value) == (6, "posinf")


def test_on_trip_raise(dumps, open_dump) -> None:
    reward = np.zeros(ENVS)
    with pytest.raises(nanguard.Tripped, match=r"nan in reward\[env 2, col 0\] at step 3") as e:
        with nanguard.Guard(ENVS, dumps, on_trip="raise") as guard:
            for i in range(10):
                reward[2] = NAN if i == 2 else 0
                guard.check(reward=reward)
    assert i == 2
    d = open_dump(e.value.verdict.path)  # written by then
    assert "exception" not in d.manifest["run"]
    assert len(list(dumps.glob("nan_dump_2*.npz"))) == 1


def test_on_trip_raise_after_the_frames_behind_it(dumps, open_dump) -> None:
    reward = np.zeros(ENVS)
    with pytest.raises(nanguard.Tripped) as e:
        with nanguard.Guard(ENVS, dumps, on_trip="raise", post_frames=3) as guard:
            for i in range(100):
                reward[2] = NAN if i >= 2 else 0
                guard.check(reward=reward)
                if i >= 5:
                    guard.wait()
    assert open_dump(e.value.verdict.path).field("reward").shape[0] == 6


def test_on_trip_calls_once_per_trip(dumps) -> None:
    seen = []
    reward = np.zeros(ENVS)
    with nanguard.Guard(ENVS, dumps, on_trip=seen.append, max_dumps=2) as guard:
        for i in range(12):
            reward[:] = 0
            reward[i % ENVS] = NAN if i in (3, 4, 8) else 0
            guard.check(reward=reward)
            guard.wait()
    assert [(v.tick, v.env) for v in seen] == [(4, 3), (5, 4)]
    assert len(list(dumps.glob("nan_dump_2*.npz"))) == 2


def test_what_on_trip_raises_gets_through(dumps) -> None:
    def stop(v: nanguard.Verdict) -> None:
        raise KeyError(v.field)

    with pytest.raises(KeyError, match="reward"):
        with nanguard.Guard(ENVS, dumps, on_trip=stop) as guard:
            guard.check(reward=np.full(ENVS, NAN))


def test_a_function_that_raises_is_called_once(dumps) -> None:
    """The run may catch what it raised and go on: checks do, and the dump is there."""
    seen = []

    def stop(v: nanguard.Verdict) -> None:
        seen.append(v)
        raise KeyError(v.field)

    with nanguard.Guard(ENVS, dumps, on_trip=stop) as guard:
        with pytest.raises(KeyError):
            guard.check(reward=np.full(ENVS, NAN))
        for _ in range(5):
            guard.check(reward=np.zeros(ENVS))
        assert guard.wait().path
    assert len(seen) == 1 and len(list(dumps.glob("nan_dump_2*.npz"))) == 1


@pytest.mark.parametrize("call", ["check", "wait", "dump", "close"])
def test_a_function_may_use_the_guard(dumps, call) -> None:
    x, said = np.zeros(ENVS), []

    def use(v: nanguard.Verdict) -> None:
        try:
            {"check": lambda: guard.check(reward=x), "wait": guard.wait, "dump": guard.dump, "close": guard.close}[call]()
            said.append("done")
        except nanguard.NanGuardError as e:
            said.append(e.code)

    with nanguard.Guard(ENVS, dumps, on_trip=use) as guard:
        x[3] = NAN
        guard.check(reward=x)
    assert said == ["no_dumps" if call == "dump" else "done"]  # the trip's own dump is the one of this run
    assert len(list(dumps.glob("nan_dump_2*.npz"))) == 1


def test_an_array_that_raises_leaves_the_guard_as_it_was(dumps, open_dump) -> None:
    class Broken:
        shape, dtype = (ENVS,), "float64"

        __array_interface__ = property(lambda self: 1 // 0)

    x = np.zeros(ENVS)
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.bind("qpos", lambda: x if len(x) else 1 // 0, clock="step", watch=True)
        for i in range(6):
            if i % 2:
                with pytest.raises(ZeroDivisionError):
                    guard.check(reward=np.full(ENVS, i), value=Broken())
            else:
                guard.check(reward=np.full(ENVS, i), value=np.full(ENVS, i))
        x = np.zeros(0)
        with pytest.raises(ZeroDivisionError):
            guard.check(reward=np.full(ENVS, 9), value=np.zeros(ENVS))
        x = np.zeros(ENVS)
        guard.check(reward=np.full(ENVS, 6), value=np.full(ENVS, 6))
        d = open_dump(guard.dump())
    assert list(d.field("reward")[:, 0, 0]) == list(d.field("value")[:, 0, 0]) == [0, 2, 4, 6]


def test_a_trip_is_said_in_the_log(dumps, caplog) -> None:
    with caplog.at_level(logging.INFO, "nanguard"):
        with nanguard.Guard(ENVS, dumps) as guard:
            guard.check(reward=np.zeros(ENVS))
            guard.check(reward=np.full(ENVS, NAN))
            guard.wait()
            for _ in range(3):
                guard.check(reward=np.zeros(ENVS))
    said = [r.getMessage() for r in caplog.records]
    assert said[0] == "ring 512 MiB: reward 1000 frames"
    assert said[1].startswith("tripped: nan in reward[env 0, col 0]")
    assert len(said) <= 3 and (len(said) == 2 or "nan_dump_" in said[2])


def test_notes(dumps, open_dump) -> None:
    with nanguard.Guard(ENVS, dumps, max_envs=2, control_envs=1) as guard:
        guard.check("substep", qvel=np.zeros((ENVS, 1), np.float32))
        guard.note("reset", envs=[1, 5])
        guard.note("reset", envs=np.array([True] * 3 + [False] * 5))
        guard.note("curriculum", "slope", detail={"to": 0.3, "was": NAN, "n": np.int64(4)})
        guard.note("note", detail="lr halved")
        with pytest.raises(nanguard.NanGuardError, match="kind"):
            guard.note("")
        d = open_dump(guard.dump("odd gait", suspects=[5, 2]))
    assert d.manifest["env_ids"][:2] == [5, 2]
    assert d.manifest["env_roles"] == ["suspect", "suspect", "control"]
    assert [(e["envs"], e["count"]) for e in d.events("reset")] == [([5], 2), ([2], 3)]  # of the envs only those in the file
    assert d.events("curriculum")[0]["detail"] == {"to": 0.3, "was": "NaN", "n": 4}
    assert [e["detail"] for e in d.events("note")] == ["lr halved", "odd gait"]


def test_facts(dumps, open_dump) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.check(reward=np.zeros(ENVS))
        guard.facts({"a.b": 1, "lr.final": NAN, "top": math.inf}, flag=np.bool_(True), n=np.int32(7), x=np.float32(0.5), name="go1")
        for wrong in ([1, 2], {"a": 1}, None):
            with pytest.raises(nanguard.NanGuardError, match="want a number, a string or a bool"):
                guard.fact("wrong", wrong)
        d = open_dump(guard.dump())
    assert d.manifest["facts"] == {"a.b": 1, "lr.final": "NaN", "top": "Infinity", "flag": True, "n": 7, "x": 0.5, "name": "go1"}


def test_watched_arrays_come_along_and_their_moves_are_noted(dumps, open_dump) -> None:
    holder = {"friction": np.ones((ENVS, 2))}
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.bind("model.friction", lambda: holder["friction"], clock="step", watch=True)
        qpos = np.zeros((ENVS, 2))
        guard.bind("qpos", qpos, clock="step", watch=True)
        for i in range(6):
            if i == 3:
                was = holder["friction"]
                holder["friction"] = np.full((ENVS, 2), 0.5)
            guard.check(reward=np.zeros(ENVS))
        guard.check()  # those watched alone
        d = open_dump(guard.dump())
    assert d.field("model.friction").shape[0] == d.field("qpos").shape[0] == 7
    assert list(d.field("model.friction")[:, 0, 0]) == [1, 1, 1, 0.5, 0.5, 0.5, 0.5]
    moved = d.events("buffer_moved")
    assert len(moved) == 1 and moved[0]["name"] == "model.friction" and moved[0]["tick"] == 3
    assert moved[0]["detail"] == {"field": "model.friction", "from": was.ctypes.data, "to": holder["friction"].ctypes.data}


def test_a_captured_address_is_looked_after(dumps, open_dump) -> None:
    qvel, other = np.zeros((ENVS, 2)), np.zeros((ENVS, 2))
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.check("substep", qvel=qvel)
        guard.note("graph_capture", "step", detail={"graph": "step", "reads": {"qvel": qvel}})
        guard.check("substep", qvel=qvel)
        guard.check("substep", qvel=other)
        d = open_dump(guard.dump())
    assert d.events("graph_capture")[0]["detail"] == {"graph": "step", "reads": {"qvel": qvel.ctypes.data}}
    assert d.events("buffer_moved")[0]["detail"] == {"field": "qvel", "from": qvel.ctypes.data, "to": other.ctypes.data}
    assert d.manifest["facts"]["address.qvel"] == other.ctypes.data


def test_a_check_of_nothing_counts(dumps) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.check("step")
        guard.check(reward=np.full(ENVS, NAN))
        assert guard.wait().count == 2


@pytest.mark.parametrize(
    "wrong,error,words",
    [
        ({"num_envs": 0}, nanguard.NanGuardError, "NumEnvs 0"),
        ({"num_envs": 4, "max_dumps": -1}, nanguard.NanGuardError, "negative"),
        ({"num_envs": 4, "on_trip": "panic"}, ValueError, "on_trip 'panic'"),
        ({"num_envs": 4, "device": "tpu"}, ValueError, "device 'tpu'"),
        ({"num_envs": 4, "device": "cuda:x"}, ValueError, "device 'cuda:x'"),
        ({"num_envs": 4, "model": 3}, TypeError, "model of type int"),
        ({"num_envs": 4, "run": {"colour": "red"}}, nanguard.NanGuardError, "colour"),
    ],
)
def test_guards_that_cannot_be_made(wrong, error, words) -> None:
    with pytest.raises(error, match=words):
        nanguard.Guard(**wrong)


def test_wrong_clocks(dumps) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        with pytest.raises(ValueError, match="clock 'tick'"):
            guard.check("tick", reward=np.zeros(ENVS))
        guard.check(reward=np.zeros(ENVS))
        with pytest.raises(nanguard.NanGuardError, match='its clock is "step", not "substep"'):
            guard.check("substep", reward=np.zeros(ENVS))
        with pytest.raises(ValueError, match="say the clock"):
            guard.bind("qvel", np.zeros(ENVS), watch=True)
        with pytest.raises(nanguard.NanGuardError, match="bound already"):
            guard.bind("reward", np.zeros(ENVS))


def test_a_guard_of_the_host_refuses_a_gpu(dumps) -> None:
    class OnGPU:
        __cuda_array_interface__ = {"version": 3, "shape": (ENVS,), "typestr": "<f4", "data": (4096, False), "strides": None}

    with nanguard.Guard(ENVS, dumps, device="cpu") as guard:
        with pytest.raises(nanguard.NanGuardError, match="CUDA device 0, and the guard was made for the host"):
            guard.check(reward=OnGPU())
    with nanguard.Guard(ENVS, dumps, device="cuda:1") as guard:
        with pytest.raises(nanguard.NanGuardError, match="made for device 1"):
            guard.check(reward=OnGPU())


def test_two_guards_and_many_threads(tmp_path) -> None:
    guards = [nanguard.Guard(ENVS, tmp_path / str(i)) for i in range(2)]
    errors = []

    def run(n: int) -> None:
        x = np.zeros((ENVS, 3))
        try:
            for _ in range(300):
                guards[n % 2].check("step", {f"reward.{n}": x})
                guards[n % 2].poll()
        except Exception as e:
            errors.append(e)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors
    for n, guard in enumerate(guards):
        guard.check("step", {f"reward.{n}": np.full((ENVS, 3), NAN)})
        v = guard.wait()
        assert (v.tick, v.count, v.field) == (901, 901, f"reward.{n}")
        guard.close()


def test_a_divergence_before_it_is_nan(dumps, open_dump) -> None:
    x = np.zeros((ENVS, 2))
    with nanguard.Guard(ENVS, dumps, max_dumps=2) as guard:
        guard.bind("qvel", x, clock="step", limit=100)
        guard.bind("reward", x[:, 0], growth=(10, 3, 1.0))
        for i in range(6):
            x[4, 1] = [1, 50, -101][i // 2]
            guard.check(qvel=x, reward=np.full(ENVS, 0.1))
            if guard.poll():
                break
        v = guard.wait()
        assert (v.field, v.value, v.env, v.col, v.count) == ("qvel", "limit", 4, 1, 5)
        assert open_dump(v.path).manifest["env_roles"][0] == "suspect"
        for i in range(8):
            guard.check(qvel=np.ones((ENVS, 2)), reward=np.full(ENVS, 0.1 * 3**i))
        v = guard.wait()
        assert (v.field, v.value, v.count) == ("reward", "growth", 5 + 4)  # 2.7 is 27 times 0.1, three frames before
        for growth in ((1,), (0, 3), (2, 1), (2, 3, -1)):
            with pytest.raises(nanguard.NanGuardError, match="growth"):
                guard.bind("value", np.zeros(ENVS), growth=growth)


def test_a_rest_after_a_dump(dumps) -> None:
    with nanguard.Guard(ENVS, dumps, max_dumps=5, cooldown=60) as guard:
        for _ in range(5):
            guard.check(reward=np.full(ENVS, NAN))
            guard.wait()
        with pytest.raises(nanguard.NanGuardError) as e:
            guard.dump("again")
        assert e.value.code == "nothing_new"
    assert len(list(dumps.glob("nan_dump_2*.npz"))) == 1


def test_the_model_goes_along(dumps, tmp_path, open_dump) -> None:
    model = tmp_path / "robot.xml"
    model.write_text("<mujoco/>")
    with nanguard.Guard(ENVS, dumps, model=model) as guard:
        guard.check("substep", qpos=np.zeros((ENVS, 2)), qvel=np.zeros((ENVS, 2)))
        guard.check("substep", qpos=np.zeros((ENVS, 2)), qvel=np.zeros((ENVS, 2)))
        d = open_dump(guard.dump())
    assert (dumps / d.metadata["model_file"]).read_text() == "<mujoco/>"
    assert (d.metadata["state_spec"], d.metadata["state_size"]) == (14, 4)
    assert "states_step_000001" in d.arrays


def test_the_binary_diagnoses_what_python_wrote(dumps, binary) -> None:
    """A reward term that divides by a distance which becomes zero in one env."""
    distance = np.linspace(1, 2, ENVS).astype(np.float32)
    with np.errstate(divide="ignore"), nanguard.Guard(ENVS, dumps) as guard:
        for i in range(40):
            distance[5] = max(0.0, 1 - i / 30)
            near = 1 / distance
            guard.check(
                "step",
                {"reward.near": near, "reward.alive": np.ones(ENVS, np.float32), "reward": near + 1, "obs.policy": distance[:, None]},
            )
        v = guard.wait()
    assert (v.field, v.env, v.value, v.count) == ("reward.near", 5, "posinf", 31)
    assert diagnosis(binary, v.path)["verdict"] == "reward-overflow"
