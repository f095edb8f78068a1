"""A guard for GPU robot RL: finds the first value that is not finite, and says why.

It sees every element of every field that it is given, remembers the last frames
of all envs, and writes a dump when a value goes bad::

    import nanguard

    with nanguard.Guard(num_envs=4096, out="nan_dumps") as guard:
        guard.facts({"sim.timestep": 0.005, "policy.std_param": "log"})
        for step in range(steps):
            action = policy(obs)
            obs, reward, done = env.step(action)
            guard.check(obs=obs, action=action, reward=reward, done=done)

Then ``nanguard diagnose nan_dumps/nan_dump_latest.npz``, or ``viznan`` to replay it.

``nanguard.scan(array)`` looks at one array in host memory without a guard.

Arrays may be torch tensors, Warp, JAX, CuPy or numpy arrays; none of these packages
is imported. The work is done by libnanguard.so.
"""

from ._guard import Guard
from ._library import NanGuardError
from ._scan import Scan, all_finite, scan
from ._verdict import Tripped, Verdict

__version__ = "0.1.0"
__all__ = ["Guard", "ModuleWatch", "NanGuardError", "Scan", "Tripped", "Verdict", "all_finite", "library_version", "scan"]


def library_version() -> str:
    """Returns the version of the loaded libnanguard.so."""
    from ._library import load

    return load().version()


def __getattr__(name: str):  # type: ignore[no-untyped-def]
    if name == "ModuleWatch":  # it is the only part that knows torch
        from ._modules import ModuleWatch

        return ModuleWatch
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
