"""How a guard ends: by an exception, a signal, the end of the process, a fork, or being forgotten."""

import gc
import os
import pickle
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import ENVS, REPO, Dump, python

import nanguard

HEAD = """
import os, sys, signal, time, numpy as np, nanguard
x = np.zeros(8)
"""


# A guard whose next check trips, and whose dump takes a while.
BIG = """
big = np.random.default_rng(1).normal(size=(64, 4000))
guard = nanguard.Guard(64, sys.argv[1], max_envs=20, hooks=True)
for _ in range(100): guard.check(obs=big)
big[3, 1] = np.nan
"""


def only_dump(folder) -> Dump:
    (path,) = folder.glob("nan_dump_2*.npz")
    return Dump(path)


def test_an_exception_leaves_a_dump(dumps) -> None:
    with pytest.raises(ZeroDivisionError):
        with nanguard.Guard(ENVS, dumps) as guard:
            guard.check(reward=np.zeros(ENVS))
            _ = 1 / 0
    d = only_dump(dumps)
    lines = d.manifest["run"]["exception"].splitlines()
    assert lines[0] == "ZeroDivisionError: division by zero"
    assert lines[1] == "Traceback (most recent call last):"
    assert any(line.strip() == "_ = 1 / 0" for line in lines[2:])
    assert lines[-1] == lines[0]
    assert d.manifest["trip"] is None


def test_a_long_message_is_said_once(dumps) -> None:
    message = "found invalid values:\ntensor([[nan, 0.123]])\nsee above"
    with pytest.raises(ValueError):
        with nanguard.Guard(ENVS, dumps) as guard:
            guard.check(reward=np.zeros(ENVS))
            raise ValueError(message)
    d = only_dump(dumps)
    lines = d.manifest["run"]["exception"].splitlines()
    assert lines[:2] == ["ValueError: found invalid values:", "Traceback (most recent call last):"]
    assert lines[-3:] == ["ValueError: found invalid values:", "tensor([[nan, 0.123]])", "see above"]
    said = [d.manifest["run"]["exception"], d.metadata["note"], *(e["detail"] for e in d.events("note"))]
    assert len(said) == 3 and said[1] == said[2] == lines[0]
    assert sum(text.count("tensor([[nan") for text in said) == 1


def test_what_is_cut_of_an_exception_is_not_its_end(dumps) -> None:
    def deep(n: int) -> None:
        if n:
            return deeper(n - 1)
        raise ValueError("begins\n" + "x" * 100_000 + "\0\nends here")

    def deeper(n: int) -> None:
        deep(n)

    with pytest.raises(ValueError):
        with nanguard.Guard(ENVS, dumps) as guard:
            guard.check(reward=np.zeros(ENVS))
            deep(200)
    text = only_dump(dumps).manifest["run"]["exception"]
    lines = text.splitlines()
    assert lines[0] == "ValueError: begins" and lines[-1] == "ends here"
    assert re.search(r"\(35\d frames left out\)", lines[2]) and any("in deep" in line for line in lines)
    assert re.search(r"\(9\d{4} characters left out\)", text) and len(text) < 20_000


def test_an_exception_of_a_module_is_named_by_its_class(dumps) -> None:
    with pytest.raises(nanguard.NanGuardError):
        with nanguard.Guard(ENVS, dumps) as guard:
            guard.check(reward=np.zeros(ENVS))
            guard.check(reward=np.zeros(ENVS + 1))
    assert only_dump(dumps).manifest["run"]["exception"].startswith('NanGuardError: check: field "reward": field changed')


def test_an_exception_after_the_trip_leaves_the_dump_of_the_trip(dumps) -> None:
    with pytest.raises(RuntimeError):
        with nanguard.Guard(ENVS, dumps) as guard:
            guard.check(reward=np.full(ENVS, np.nan))
            raise RuntimeError("the optimizer met a nan")
    assert only_dump(dumps).manifest["trip"]["field"] == "reward"


@pytest.mark.parametrize("e,dumped", [(KeyboardInterrupt(), True), (SystemExit(2), True), (SystemExit(0), False), (SystemExit(), False)])
def test_other_ways_out(dumps, e, dumped) -> None:
    with pytest.raises(type(e)):
        with nanguard.Guard(ENVS, dumps) as guard:
            guard.check(reward=np.zeros(ENVS))
            raise e
    assert dumps.exists() == dumped


def test_closed_twice_and_used_after(dumps) -> None:
    guard = nanguard.Guard(ENVS, dumps)
    guard.check(reward=np.zeros(ENVS))
    guard.close()
    guard.close()
    with guard:
        pass
    for call in (lambda: guard.check(reward=np.zeros(ENVS)), guard.dump, guard.plan, lambda: guard.fact("a", 1)):
        with pytest.raises(nanguard.NanGuardError, match="it is closed") as e:
            call()
        assert e.value.code == "handle"
    assert guard.poll() is guard.wait() is None


def test_the_verdict_outlives_the_guard(dumps) -> None:
    with nanguard.Guard(ENVS, dumps) as guard:
        guard.check(reward=np.zeros(ENVS))
        guard.check(reward=np.full(ENVS, np.nan))
    v = guard.poll()
    assert v == guard.wait() and (v.field, v.count, v.done) == ("reward", 2, True)
    assert Dump(v.path).manifest["trip"]["field"] == "reward"
    guard.close()
    assert guard.poll() == v


@pytest.mark.parametrize("writable", [True, False])
def test_the_verdict_of_a_trip_whose_later_frames_never_come(dumps, writable: bool) -> None:
    if not writable:
        dumps.write_text("a file where the folder should be")
    told: list[nanguard.Verdict] = []
    x = np.zeros(ENVS, np.float32)
    guard = nanguard.Guard(ENVS, dumps, post_frames=5, on_trip=told.append)
    guard.check(reward=x)
    x[3] = np.nan
    guard.check(reward=x)
    v = guard.wait()
    assert v is not None and not v.done and v.path == ""
    if writable:
        guard.close()
    else:
        with pytest.raises(nanguard.NanGuardError):
            guard.close()
    v = guard.poll()
    assert v is not None and v.done and v == guard.wait()
    if writable:
        assert v.path == only_dump(dumps).path and v.error == ""
        assert Dump(v.path).manifest["trip"]["env"] == 3
    else:
        assert v.path == "" and str(dumps) in v.error
    assert [(t.tick, t.done) for t in told] == [(2, False)]


def test_the_verdict_of_a_trip_that_no_dump_is_left_for(dumps) -> None:
    x = np.zeros(ENVS, np.float32)
    guard = nanguard.Guard(ENVS, dumps, post_frames=5)
    guard.check(reward=x)
    guard.dump("asked")
    x[3] = np.nan
    guard.check(reward=x)
    guard.close()
    v = guard.poll()
    assert v is not None and v.done and v.path == "" and "no dumps left" in v.error


def test_a_forgotten_guard_is_closed(dumps) -> None:
    guard = nanguard.Guard(ENVS, dumps, post_frames=5)
    guard.check(reward=np.full(ENVS, np.nan))
    del guard
    gc.collect()
    assert only_dump(dumps).manifest["trip"]["env"] == 0  # the frames behind the trip never came, the dump did


def test_a_forgotten_guard_with_hooks_is_closed(dumps) -> None:
    excepthook = sys.excepthook
    try:
        guard = nanguard.Guard(ENVS, dumps, hooks=True, post_frames=5)
        guard.check(reward=np.full(ENVS, np.nan))
        del guard
        gc.collect()
        assert only_dump(dumps).manifest["trip"]["env"] == 0
    finally:
        sys.excepthook = excepthook
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def test_a_guard_is_not_sent_to_another_process(dumps) -> None:
    with nanguard.Guard(ENVS, dumps) as guard, pytest.raises(TypeError, match="lives in one process"):
        pickle.dumps(guard)


def test_shutdown_with_a_dump_under_way(dumps) -> None:
    """The interpreter ends right behind the check that trips; nobody closes the guard."""
    done = python(
        HEAD + "x = np.random.default_rng(1).normal(size=(64, 4000))\n"
        "guard = nanguard.Guard(64, sys.argv[1], max_envs=20)\n"
        "for _ in range(100): guard.check(obs=x)\n"
        "x[3, 1] = np.nan\n"
        "guard.check(obs=x)\n",
        str(dumps),
    )
    assert done.returncode == 0, done.stderr
    assert only_dump(dumps).field("obs").shape[0] == 101


def test_shutdown_while_a_thread_checks(dumps) -> None:
    done = python(
        HEAD + "import threading\n"
        "guard = nanguard.Guard(8, sys.argv[1])\n"
        "def run():\n"
        "    while True: guard.check(reward=x)\n"
        "for _ in range(2): threading.Thread(target=run, daemon=True).start()\n"
        "time.sleep(0.3)\n",
        str(dumps),
    )
    assert done.returncode == 0, done.stderr


def test_an_uncaught_exception(dumps) -> None:
    code = HEAD + "guard = nanguard.Guard(8, sys.argv[1], hooks=True)\nguard.check(reward=x)\nraise ValueError('lost')\n"
    done = python(code, str(dumps))
    assert done.returncode == 1 and "ValueError: lost" in done.stderr
    assert only_dump(dumps).manifest["run"]["exception"].startswith("ValueError: lost\nTraceback")


def test_an_uncaught_exception_is_left_alone_unless_asked(dumps) -> None:
    done = python(HEAD + "guard = nanguard.Guard(8, sys.argv[1])\nguard.check(reward=x)\nraise ValueError('lost')\n", str(dumps))
    assert done.returncode == 1 and not dumps.exists()


def terminate(code: str, dumps) -> int:
    """Runs code until it prints, sends SIGTERM, returns the exit status."""
    env = {**os.environ, "PYTHONPATH": str(REPO / "python")}
    with subprocess.Popen([sys.executable, "-c", HEAD + code, str(dumps)], stdout=subprocess.PIPE, env=env) as p:
        assert p.stdout.readline().strip() == b"ready"
        p.send_signal(signal.SIGTERM)
        return p.wait(30)


LOOP = "guard.check(reward=x)\nprint('ready', flush=True)\nwhile True: time.sleep(0.01)\n"


def test_sigterm(dumps) -> None:
    assert terminate("guard = nanguard.Guard(8, sys.argv[1], hooks=True)\n" + LOOP, dumps) == -signal.SIGTERM
    assert only_dump(dumps).manifest["run"]["exception"] == "signal: SIGTERM"


def test_sigterm_goes_on_to_the_handler_before(dumps) -> None:
    before = "signal.signal(signal.SIGTERM, lambda n, f: sys.exit(17))\n"
    assert terminate(before + "guard = nanguard.Guard(8, sys.argv[1], hooks=True)\n" + LOOP, dumps) == 17
    assert only_dump(dumps).manifest["run"]["exception"] == "signal: SIGTERM"


def test_sigterm_unasked(dumps) -> None:
    assert terminate("guard = nanguard.Guard(8, sys.argv[1])\n" + LOOP, dumps) == -signal.SIGTERM
    assert not dumps.exists()


def test_sigterm_between_two_checks_of_a_busy_loop(dumps) -> None:
    busy = LOOP.replace("time.sleep(0.01)", "guard.check(reward=x)")
    assert terminate("guard = nanguard.Guard(8, sys.argv[1], hooks=True)\n" + busy, dumps) == -signal.SIGTERM
    d = only_dump(dumps)
    assert d.manifest["run"]["exception"] == "signal: SIGTERM" and d.field("reward").shape[0] >= 1


def test_sigterm_while_a_dump_is_written(dumps) -> None:
    """It is the dump of the trip that stays, and it is whole."""
    assert terminate(BIG + "guard.check(obs=big)\nprint('ready', flush=True)\nwhile True: time.sleep(0.01)\n", dumps) == -signal.SIGTERM
    d = only_dump(dumps)
    assert d.manifest["trip"]["env"] == 3 and d.field("obs").shape[0] == 101


def test_shutdown_with_a_dump_under_way_and_hooks(dumps) -> None:
    done = python(HEAD + BIG + "guard.check(obs=big)\n", str(dumps))
    assert done.returncode == 0 and only_dump(dumps).field("obs").shape[0] == 101, done


def test_closed_under_a_thread_that_checks(dumps) -> None:
    """The thread's next check is refused, whatever it was at, and nothing worse happens."""
    done = python(
        HEAD + "import threading\n"
        "for _ in range(20):\n"
        "    guard, said = nanguard.Guard(8, sys.argv[1]), []\n"
        "    def run():\n"
        "        try:\n"
        "            while True: guard.check(reward=x)\n"
        "        except nanguard.NanGuardError as e: said.append(e.code)\n"
        "    threads = [threading.Thread(target=run) for _ in range(3)]\n"
        "    for t in threads: t.start()\n"
        "    time.sleep(0.01)\n"
        "    guard.close()\n"
        "    for t in threads: t.join(10)\n"
        "    assert said == ['handle'] * 3, said\n"
        "print('done')\n",
        str(dumps),
    )
    assert done.stdout == "done\n", done
    assert not dumps.exists()


def test_hooks_go_away_with_the_guard(dumps) -> None:
    excepthook, handler = sys.excepthook, signal.getsignal(signal.SIGTERM)
    a = nanguard.Guard(ENVS, dumps, hooks=True)
    b = nanguard.Guard(ENVS, dumps, hooks=True)
    assert sys.excepthook != excepthook
    b.close()
    a.close()
    assert sys.excepthook == excepthook and signal.getsignal(signal.SIGTERM) == handler
    made = []
    t = threading.Thread(target=lambda: made.append(nanguard.Guard(ENVS, dumps, hooks=True)))
    t.start()
    t.join()
    made[0].close()
    assert sys.excepthook == excepthook


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_is_told(dumps) -> None:
    done = python(
        HEAD + "import warnings; warnings.simplefilter('ignore')\n"
        "guard = nanguard.Guard(8, sys.argv[1])\n"
        "guard.check(reward=x)\n"
        "guard._lock.acquire()\n"  # as if another thread were within a check
        "child = os.fork()\n"
        "if child == 0:\n"
        "    signal.alarm(20)\n"
        "    said = []\n"
        "    for call in (lambda: guard.check(reward=x), guard.poll, lambda: nanguard.Guard(8)):\n"
        "        try: call()\n"
        "        except nanguard.NanGuardError as e: said.append(e.code)\n"
        "    try: guard.close(); said.append('closed')\n"
        "    except nanguard.NanGuardError as e: said.append(e.code)\n"
        "    print(said, flush=True)\n"
        "    sys.exit(0)\n"  # with everything that an interpreter does at its end
        "_, status = os.waitpid(child, 0)\n"
        "guard._lock.release()\n"
        "print(status, flush=True)\n"
        "x[2] = np.nan\n"
        "guard.check(reward=x)\n"
        "print(guard.wait().env)\n",
        str(dumps),
    )
    assert done.stdout.splitlines() == ["['fork', 'fork', 'fork', 'closed']", "0", "2"], done
    assert only_dump(dumps).manifest["trip"]["env"] == 2


def test_a_pool_of_forked_workers(dumps) -> None:
    """Workers that do not use the guard are not disturbed by it, not even at their end."""
    done = python(
        HEAD + "import multiprocessing, warnings; warnings.simplefilter('ignore')\n"
        "guard = nanguard.Guard(8, sys.argv[1], hooks=True)\n"
        "guard.check(reward=x)\n"
        "with multiprocessing.get_context('fork').Pool(3) as pool: print(sum(pool.map(abs, range(50))))\n",
        str(dumps),
    )
    assert done.stdout == "1225\n" and done.returncode == 0, done
    assert "no dump" not in done.stderr, done.stderr  # which SIGTERM, by which the pool ends, would have it say
    assert not dumps.exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_forked_children_are_ended_as_ever(dumps) -> None:
    """By SIGTERM at once after the fork, as a pool may do it, where a handler of Python's would lose the signal."""
    done = python(
        HEAD + "import warnings; warnings.simplefilter('ignore')\n"
        "guard = nanguard.Guard(8, sys.argv[1], hooks=True)\n"
        "guard.check(reward=x)\n"
        "handler, ends = signal.getsignal(signal.SIGTERM), set()\n"
        "for _ in range(100):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        time.sleep(20)\n"
        "        os._exit(0)\n"
        "    os.kill(child, signal.SIGTERM)\n"
        "    ends.add(os.waitpid(child, 0)[1])\n"
        "print(ends, signal.getsignal(signal.SIGTERM) == handler, signal.pthread_sigmask(signal.SIG_BLOCK, []))\n",
        str(dumps),
    )
    assert done.stdout == "{15} True set()\n", done
    assert not dumps.exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_while_a_dump_is_written(dumps) -> None:
    """The child goes its way to an orderly end, and the parent's dump is whole."""
    done = python(
        HEAD + BIG + "guard.check(obs=big)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    signal.alarm(20)\n"
        "    sys.exit(0)\n"
        "_, status = os.waitpid(child, 0)\n"
        "print(status, guard.wait().env)\n",
        str(dumps),
    )
    assert done.stdout == "0 3\n", done
    assert only_dump(dumps).field("obs").shape[0] == 101


def test_spawned_workers_have_guards_of_their_own(dumps, tmp_path) -> None:
    script = tmp_path / "spawn.py"
    script.write_text(
        "import multiprocessing, sys, numpy as np, nanguard\n"
        "def work(n):\n"
        "    with nanguard.Guard(4, sys.argv[1] if len(sys.argv) > 1 else n[1]) as g:\n"
        "        g.check(reward=np.zeros(4)); return n[0]\n"
        "if __name__ == '__main__':\n"
        "    with nanguard.Guard(4, sys.argv[1]) as g, multiprocessing.get_context('spawn').Pool(2) as pool:\n"
        "        print(sum(pool.map(work, [(i, sys.argv[1]) for i in range(4)])))\n"
    )
    env = {**os.environ, "PYTHONPATH": str(REPO / "python")}
    done = subprocess.run([sys.executable, str(script), str(dumps)], capture_output=True, text=True, env=env, timeout=120)
    assert done.stdout == "6\n", done


def test_signals_of_the_process_stay_python_s(dumps) -> None:
    """A broken pipe is still an exception, and Ctrl-C still a KeyboardInterrupt, with the library loaded."""
    done = python(
        HEAD + "guard = nanguard.Guard(8, sys.argv[1])\nguard.check(reward=x)\n"
        "r, w = os.pipe(); os.close(r)\n"
        "try: os.write(w, b'x')\n"
        "except BrokenPipeError: print('pipe')\n"
        "try:\n"
        "    os.kill(os.getpid(), signal.SIGINT); time.sleep(5)\n"
        "except KeyboardInterrupt: print('interrupt')\n"
        "os.close(2)\n",
        str(dumps),
    )
    assert done.stdout.split() == ["pipe", "interrupt"], done


def test_a_model_saved_for_the_guard_is_removed(dumps, tmp_path, monkeypatch) -> None:
    import tempfile
    import types

    class MjModel:
        pass

    def save(model, path, buffer):
        with open(path, "wb") as f:
            f.write(b"model")

    monkeypatch.setitem(sys.modules, "mujoco", types.SimpleNamespace(MjModel=MjModel, mj_saveModel=save))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    guard = nanguard.Guard(ENVS, dumps, model=MjModel())
    guard.check(reward=np.zeros(ENVS))
    d = Dump(guard.dump())
    assert (dumps / d.metadata["model_file"]).read_bytes() == b"model"
    assert list(tmp_path.glob("nanguard-*"))
    guard.close()
    assert not list(tmp_path.glob("nanguard-*"))
