"""The guard."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import shutil
import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Callable, Union

from . import _hooks, _library, _run
from ._again import Again
from ._arrays import is_scalar, layout_of, view_of
from ._convert import clock_number, device_number, env_ids, json_of, logged, model_file, with_addresses
from ._library import CLOCKS, TRIPPED, UNLIKE, NanGuardError
from ._names import LOG_NAMES, is_shared, may_be_shared
from ._numbers import One
from ._plan import BoundField, Plan, locate, number_view
from ._verdict import Tripped, Verdict, verdict_of

log = logging.getLogger("nanguard")

OnTrip = Union[str, Callable[[Verdict], Any]]

_guards: weakref.WeakSet[Guard] = weakref.WeakSet()


class Guard:
    """Watches the arrays of one training loop and dumps when a value is not finite.

    Args:
        num_envs: rows of every field that has one per env.
        out: folder of the dumps, made when it is first needed.
        device: ``"auto"`` (wherever the arrays are), ``"cpu"`` or ``"cuda:N"``; an
            array elsewhere is an error.
        on_trip: ``"dump"`` goes on training; ``"raise"`` raises :class:`Tripped` from
            the check that sees the trip, once the dump is written; a function is
            called once per trip with the :class:`Verdict`, whose path is empty as long
            as the dump is being written, and may raise. A dump is written in every
            case, off the loop.
        ring_bytes: memory for the frames of all fields; :meth:`plan` says what it buys.
        max_frames: frames of one field at most, however much memory is left.
        trace_len: checks that the trace (counts, extremes and mean over all envs) of a
            field reaches back.
        post_frames: frames of the tripping clock to record after the trip.
        max_envs: culprits in the dump, in the order in which they went bad.
        control_envs: healthy envs in the dump, for comparison.
        max_dumps: dumps of the run, those that are asked for included.
        cooldown: seconds of rest after the dump of a trip, before the next one counts.
        model: the simulator's model, copied beside the dump: the path of an ``.mjb``
            or ``.xml``, or a ``mujoco.MjModel``.
        state_spec: mjtState bits of the dump's ``states_step_*``, for MuJoCo's tools;
            the default says qpos, qvel, act when there is a model.
        run: what the dump shall say of the run beside what is known anyway:
            ``framework``, ``framework_version``, ``seed``, ``rank``, ``world_size``, ...
        hooks: dump at an uncaught exception and at SIGTERM too.

    Use it as a context manager: leaving the block by an exception writes a dump
    with the exception in it. All methods may be called from any thread. A guard
    lives in the process that made it; in a forked child every call raises.
    """

    def __init__(
        self,
        num_envs: int,
        out: str | os.PathLike[str] = "nan_dumps",
        *,
        device: Any = "auto",
        on_trip: OnTrip = "dump",
        ring_bytes: int = 512 << 20,
        max_frames: int = 1000,
        trace_len: int = 10_000,
        post_frames: int = 0,
        max_envs: int = 5,
        control_envs: int = 2,
        max_dumps: int = 1,
        cooldown: float = 0.0,
        model: Any = None,
        state_spec: int | None = None,
        run: Mapping[str, Any] | None = None,
        hooks: bool = False,
    ) -> None:
        if not callable(on_trip) and on_trip not in ("dump", "raise"):
            raise ValueError(f'on_trip {on_trip!r}: want "dump", "raise" or a function of a Verdict')
        self._lib = _library.load()
        self._on_trip, self._post_frames, self._max_dumps = on_trip, post_frames, max_dumps
        self._num_envs = num_envs
        self._lock = threading.RLock()
        self._fields: dict[str, BoundField] = {}
        self._watched: dict[str, list[BoundField]] = {clock: [] for clock in CLOCKS}
        self._plans: dict[tuple[str, ...], Plan] = {}
        self._reported: Verdict | None = None  # the latest trip that was acted upon
        self._closed_with: tuple[Verdict | None] | None = None  # the verdict as it stood when the guard was closed
        self._again = Again(self._lib)
        self._said_plan = False
        # A check that waits, by clock and whether its stream is the current one: its arrays and its stream.
        self._deferred: dict[tuple[str, bool], tuple[dict[str, Any], Any]] = {}
        self._watches: list[Any] = []  # ModuleWatch
        self._hooks: _hooks.Hooks | None = None
        path, scratch = model_file(model)
        config = _library.Config(
            struct_size=ctypes.sizeof(_library.Config),
            device=device_number(device),
            num_envs=num_envs,
            ring_bytes=ring_bytes,
            dir=os.fsencode(out),
            model=path and os.fsencode(path),
            run_json=json_of(_run.describe(run)),
            max_frames=max_frames,
            trace_len=trace_len,
            post_frames=post_frames,
            max_envs=max_envs,
            control_envs=control_envs,
            max_dumps=max_dumps,
            state_spec=(14 if path else 0) if state_spec is None else state_spec,
            cooldown_s=cooldown,
        )
        handle = ctypes.c_uint64()
        try:
            self._lib.ok(self._lib.ng_guard_new(ctypes.byref(config), ctypes.byref(handle)))
        except NanGuardError:
            _remove(scratch)
            raise
        self._handle = handle.value
        self._pid = os.getpid()
        self._close = weakref.finalize(self, _close, self._lib, self._handle, scratch, self._pid)
        if hooks:
            self._hooks = _hooks.Hooks(self)
        _guards.add(self)

    # What is watched.

    def bind(
        self,
        name: str,
        array: Any,
        *,
        stage: str | None = None,
        clock: str | None = None,
        cols: Sequence[str] | None = None,
        unit: str = "",
        order: float = 0.0,
        shared: bool | None = None,
        limit: float = 0.0,
        growth: Sequence[float] | None = None,
        watch: bool = False,
    ) -> None:
        """Adds a field. Checks bind what they see first, so this is for what a name does not say.

        On a GPU it also says in time what there will be: fields that come after the
        first check share an eighth of the ring's memory (:meth:`plan` tells what is
        left of it), and one that is first seen while a CUDA graph is being captured
        is refused: check it once before.

        Args:
            name: of the dump format: ``qvel``, ``obs.policy``, ``reward.upright``, ...
            array: one like those that checks will be given, ``(num_envs, ...)`` or, for
                a shared field, of any shape; or a number, which is a shared float64.
            stage: place in the loop, needed when the name is not one of the format:
                model, solver, physics, sensor, obs, normalizer, policy, reward, done,
                value, loss, grad, param, monitor (recorded, but never the trip).
            clock: what counts its frames: substep, step, minibatch or update; by
                default what is usual for the stage.
            cols: one label per column, trailing dimensions flattened.
            unit: such as ``"rad/s"``.
            order: place among the fields of one check, ascending; 0: from the name.
            shared: one row for the whole run (a loss, the normalizer, parameters)
                instead of one per env. None: a number or a 0-d array is, and what the
                name says: ``normalizer.*``, ``param.*``, ``loss.*``, ``grad.*``, ``lr``,
                ``kl``, ``alpha``, ``grad_norm``.
            limit: largest absolute value that is no trip, to see a divergence before it
                is NaN; 0: no limit.
            growth: ``(factor, frames)`` or ``(factor, frames, floor)``: trip when the
                largest absolute value is above floor and more than factor times what
                it was so many frames before.
            watch: this very array is meant, at this address, because a CUDA graph or
                the simulator goes on reading it there. Checks of its clock include it
                without being given it, and an address that changes becomes an event
                ``buffer_moved``. ``array`` may be a function that returns the array.
        """
        if name in self._fields:
            raise NanGuardError(f"bind: field {name!r} is bound already")
        if watch and clock is None:
            raise ValueError(f"bind: field {name!r}: say the clock of a watched field")
        now = array() if watch and callable(array) else array
        f = BoundField(name, bool(shared), None if cols is None else [str(c) for c in cols])
        keep: list[Any] = []
        if is_scalar(now):
            f.shared, f.number = True, (ctypes.c_double * 1)(float(now))
            view, layout = number_view(f), layout_of(number_view(f), True)
        else:
            if shared is None:
                f.shared = self._is_shared(name, view_of(now).shape)
            view, layout, _ = locate(now, f.shared, keep)
        assert layout is not None
        if f.shared and layout.cols == 1 and not watch:
            f.one = One(view.dtype, view.memory, view.device)
        f.id = self._bind(f, view, layout, stage=stage, clock=clock, unit=unit, order=order, limit=limit, growth=tuple(growth or ()))
        with self._lock:
            self._fields[name] = f
            if watch and clock is not None:
                f.watched, f.address = array, view.address
                self._watched[clock].append(f)
                self._plans.clear()
                self._again.forget()

    def _is_shared(self, name: str, shape: tuple[int, ...]) -> bool:
        """Decides what bind was not told: whether a field has one row for the whole run."""
        if shape == () or is_shared(name):
            return True
        if shape == (self._num_envs,) and may_be_shared(name):
            log.warning(
                '%s of shape %s is taken to have one row per env: guard.bind("%s", x, shared=True) if it is one for all envs, '
                "shared=False if it is not",
                name,
                shape,
                name,
            )
        return False

    def _bind(
        self,
        f: BoundField,
        view: Any,
        layout: Any,
        *,
        stage: str | None,
        clock: str | None,
        unit: str,
        order: float,
        limit: float,
        growth: tuple[float, ...],
    ) -> int:
        """Binds a field in the library, without an address: each check says where it is."""
        factor, frames, floor = [*growth, 0.0, 0.0, 0.0][:3]
        labels = (ctypes.c_char_p * len(f.cols))(*[c.encode() for c in f.cols]) if f.cols else None
        field = _library.Field(
            struct_size=ctypes.sizeof(_library.Field),
            shared=f.shared,
            name=f.name.encode(),
            stage=stage and stage.encode(),
            unit=unit.encode(),
            cols=labels,
            n_cols=len(f.cols) if f.cols else 0,
            order=order,
            clock=clock_number(clock) if clock else 0,
            limit=limit,
            growth_factor=factor,
            growth_frames=int(frames),
            growth_floor=floor,
        )
        ref = _library.Ref(
            struct_size=ctypes.sizeof(_library.Ref),
            rows=layout.rows,
            cols=layout.cols,
            row_stride=layout.row_stride,
            col_stride=layout.col_stride,
            dtype=_library.DTYPES[view.dtype][0],
            memory=view.memory,
            device=view.device,
        )
        number = ctypes.c_int32()
        self._lib.ok(self._lib.ng_bind(self._handle, ctypes.byref(field), ctypes.byref(ref), ctypes.byref(number)))
        return number.value

    # The loop.

    def check(
        self,
        clock: str = "step",
        arrays: Mapping[str, Any] | None = None,
        *,
        stream: Any = None,
        defer: bool = False,
        **named: Any,
    ) -> None:
        """Looks at arrays as they stand now; this is one more count of the clock.

        ``guard.check(obs=obs, reward=rew)``, or with a mapping for names with dots:
        ``guard.check("step", {"obs.policy": obs, "reward.upright": r})``. Arrays are
        ``(num_envs, ...)``, or of any shape where the field is shared. What is seen
        for the first time is bound, to this clock; from then on shape and dtype stay.
        Watched fields of the clock come along by themselves.

        Arrays on a GPU are read in the order of the stream that is current in their
        framework, or of ``stream`` (an address, or what has ``cuda_stream``), nothing
        waits for it, and a trip is known to a later call. While the stream is being
        captured, the check becomes part of the graph and happens at each replay.
        Arrays in host memory are read before check returns; a graph cannot have them.
        Give all arrays that belong together in one check: among them, the first bad
        one is told by their place in the loop, not by the order in which they come.
        Two checks are two counts of the clock, also within one minibatch: what comes
        later in the same count goes to :meth:`check_same`. They are two ticks in any
        case, and what is bad in the earlier one is bad first.

        With ``defer`` the check waits for the :meth:`check_same` of its clock that
        follows, and both are one launch and one tick: what an env step made, and what
        the policy makes of it. Until then the arrays must stay as they are. Whatever
        else comes first, an exception that leaves the block included, has the check
        made as it would have been. Not for what a graph captures.

        Check observations right after a reset and before the policy reads them:
        torch's distributions raise on a NaN, and the guard sees nothing of what is
        checked behind that. The dump then has the exception and no trip.
        """
        if self._watches or self._deferred:
            self._flush()
        if defer:
            kept = dict(arrays or ())  # quicker than {**arrays}
            kept.update(named)
            mine = kept, stream
            while self._deferred.setdefault((clock, stream is None), mine) is not mine:
                self._flush()  # another thread deferred one meanwhile
        else:
            self._check(True, clock, arrays, named, stream)

    def check_same(self, clock: str = "step", arrays: Mapping[str, Any] | None = None, *, stream: Any = None, **named: Any) -> None:
        """:meth:`check` within the present count of the clock.

        For what belongs to the step under way, such as the policy's outputs before
        the envs step, or for a second look, such as at the state right after a reset.
        """
        if self._deferred and not self._watches and stream is None:
            deferred = self._deferred.pop((clock, True), None)  # one thread gets it
            if deferred is not None:
                code = self._again.check(clock, deferred[0], arrays, named)
                if code == UNLIKE:
                    self._check_both(clock, deferred[0], arrays, named)
                elif code != 0:
                    self._after(code)
                return
        if self._watches or self._deferred:
            self._flush()
        self._check(False, clock, arrays, named, stream)

    def log(self, numbers: Mapping[str, Any] | None = None, *, clock: str = "minibatch", same: bool = False, **named: Any) -> None:
        """Checks numbers of the learner: losses, KL, entropy, learning rate, gradient norm.

        ``guard.log(value_loss=v, kl=kl, lr=lr)`` once per minibatch, or with
        ``clock="update"`` once per learner iteration; ``same`` as in :meth:`check_same`.
        Usual names are translated to those of the dump format (``value_loss`` to
        ``loss.value``, ``entropy`` to ``policy.entropy``); a name that the format does
        not have is recorded and never trips. Numbers are kept as float64; a number
        that lies on a GPU stays there and keeps its type, and a field that was bound
        keeps the type it was bound in.
        """
        if self._watches or self._deferred:
            self._flush()
        arrays: dict[str, Any] = {}
        for given in (numbers, named):
            for name, x in given.items() if given else ():
                name = LOG_NAMES.get(name, name)
                f = self._fields.get(name)
                if type(x) is not float and (f is None or f.number is not None):
                    x = logged(x)
                arrays[name] = x
                if f is None:
                    self._bind_number(name, x, clock)
        self._check(not same, clock, arrays, {}, None)

    def _bind_number(self, name: str, x: Any, clock: str) -> None:
        try:
            self.bind(name, x, clock=clock, shared=True)
        except NanGuardError as e:
            if e.code != "argument":
                raise
            self.bind(name, x, clock=clock, shared=True, stage="monitor")

    def _check(self, advance: bool, clock: str, arrays: Mapping[str, Any] | None, named: dict[str, Any], stream: Any) -> None:
        again = self._again.check if advance else self._again.same
        code = again(clock, arrays, named) if stream is None else UNLIKE
        if code == UNLIKE:
            self._check_anew(advance, clock, {**(arrays or {}), **named}, stream)
        elif code != 0:
            self._after(code)

    def _check_both(self, clock: str, deferred: dict[str, Any], arrays: Mapping[str, Any] | None, named: dict[str, Any]) -> None:
        """Makes a check that was deferred together with what follows it; one after the other where a field is of both."""
        try:
            named = {**(arrays or {}), **named}
            code = UNLIKE if deferred.keys() & named.keys() else self._make(True, clock, {**deferred, **named}, None)
        except Exception:
            self._check_anew(True, clock, deferred, None)  # which is not to be lost with what follows it
            raise
        if code == UNLIKE:
            self._check_anew(True, clock, deferred, None)
            self._check_anew(False, clock, named, None)
        elif code != 0 or not self._said_plan:
            self._after(code)

    def _check_anew(self, advance: bool, clock: str, named: dict[str, Any], stream: Any) -> None:
        """Makes a check that the library does not know, or not like this, and has it know it if it can."""
        code = self._make(advance, clock, named, stream)
        if code != 0 or not self._said_plan:
            self._after(code)

    def _make(self, advance: bool, clock: str, named: dict[str, Any], stream: Any) -> int:
        """Makes a check and returns its code; when it raises, nothing was checked."""
        with self._lock:
            if self._watched.get(clock):
                named = self._with_watched(clock, named)
            plan = self._plans.get((clock, *named)) or self._make_plan(clock, named)
            keep = plan.fill(tuple(named.values()))
            if plan.watched:
                self._note_moved(plan)
            on = plan.on(stream)
            code: int = (self._lib.ng_check if advance else self._lib.ng_check_same)(*plan.args, on)
            if plan.lent:
                plan.hold(on)
            del keep
            self._lib.ok(code)
            if plan.known_to_library and stream is None:
                self._again.learn(plan, advance, clock, tuple(named))
        return code

    def _flush(self) -> None:
        """Makes the check that was deferred and has the watched modules check what they saw: both were before whatever comes now."""
        for key in list(self._deferred):
            deferred = self._deferred.pop(key, None)
            if deferred is not None:
                self._check(True, key[0], deferred[0], {}, deferred[1])
        for watch in list(self._watches):
            watch.flush()

    def _with_watched(self, clock: str, named: Mapping[str, Any]) -> dict[str, Any]:
        """Returns what is to be checked with the watched fields that were not given."""
        out = dict(named)
        for f in self._watched[clock]:
            if f.name not in out:
                out[f.name] = f.watched() if callable(f.watched) else f.watched
        return out

    def _make_plan(self, clock: str, named: Mapping[str, Any]) -> Plan:
        number = clock_number(clock)
        for name, x in named.items():
            if name not in self._fields:
                self.bind(name, x, clock=clock)
        plan = Plan(self._lib, self._handle, number, [self._fields[name] for name in named])
        self._plans[(clock, *named)] = plan
        return plan

    def _note_moved(self, plan: Plan) -> None:
        for f, was, now in plan.moved():
            self.note("buffer_moved", f.name, detail={"field": f.name, "from": was, "to": now})

    def _after(self, code: int) -> None:
        """Does what a check's code asks for, beyond going on."""
        self._lib.ok(code)
        if not self._said_plan:
            self._said_plan = True
            log.info("%s", self.plan())
        if code != TRIPPED or (self._max_dumps == 1 and self._reported is not None and self._reported.done):
            return
        v = self.poll()
        if v is not None and v != self._reported:
            self._act(v)
            if self._on_trip == "raise" and self._reported is not None and self._reported.done:
                raise Tripped(self._reported)

    def _act(self, v: Verdict) -> None:
        """Tells of a trip, or of its dump, whoever is to be told."""
        first = self._reported is None or v.tick != self._reported.tick
        if self._on_trip == "raise" and not v.done and self._post_frames == 0:
            v = self.wait() or v
        missed = v.number - (0 if self._reported is None else self._reported.number) - 1
        self._reported = v
        if first and missed > 0:  # in CUDA graphs, between two looks
            log.warning("%d trips came and went before anybody looked; their dumps lie beside that of the next:", missed)
        if first:
            log.warning("tripped: %s", v)
        elif v.done:
            log.warning("dump of the trip at tick %d: %s", v.tick, v.path or v.error)
        if first:
            for watch in self._watches:
                watch._on_trip(v)
        if first and callable(self._on_trip):
            self._on_trip(v)

    # What was found.

    def poll(self) -> Verdict | None:
        """Returns what is known about the latest trip, None when there was none. It never waits.

        Of a closed guard it is what was known when it was closed.
        """
        return self._verdict(self._lib.ng_poll)

    def wait(self) -> Verdict | None:
        """:meth:`poll` after making the check that was deferred and waiting for the dump under way, if there are any."""
        if self._deferred and self._close.alive:
            with contextlib.suppress(Tripped):  # the caller is about to be told
                self._flush()
        return self._verdict(self._lib.ng_wait)

    def _verdict(self, call: Any) -> Verdict | None:
        if self._closed_with is not None:
            return self._closed_with[0]
        v = _library.VerdictStruct(struct_size=ctypes.sizeof(_library.VerdictStruct))
        if self._lib.ok(call(self._handle, ctypes.byref(v))) != TRIPPED:
            return None
        field = self._fields.get(v.field.decode("utf-8", "replace"))
        return verdict_of(v, field.cols if field else None)

    def plan(self) -> str:
        """Says in one line how many frames of each field the ring keeps."""
        buffer = ctypes.create_string_buffer(1 << 16)
        self._lib.ok(self._lib.ng_plan(self._handle, buffer, len(buffer)))
        return buffer.value.decode("utf-8", "replace")

    # What the run says.

    def note(self, kind: str, name: str = "", *, envs: Any = None, count: int = 0, detail: Any = None) -> None:
        """Records an event at the present tick.

        Args:
            kind: ``reset``, ``graph_capture``, ``dr``, ``capacity``, ``amp``,
                ``checkpoint_loaded``, ``curriculum``, ``nan_replaced``, ``warning``,
                ``note``, ...
            name: of what it happened to: a field, a graph, a curriculum term.
            envs: those it touched: a list, an array of ids or a mask of num_envs. An
                array on a GPU has to be waited for.
            count: how many envs it touched, when that is more than envs.
            detail: what JSON can hold. Arrays below ``reads`` become their addresses:
                ``guard.note("graph_capture", "step", detail={"graph": "step",
                "reads": {"qvel": qvel}})`` lets the guard see when qvel moves.
        """
        ids = env_ids(envs)
        list_of = (ctypes.c_int64 * len(ids))(*ids) if ids else None
        event = _library.Event(
            struct_size=ctypes.sizeof(_library.Event),
            kind=kind.encode(),
            name=name.encode(),
            envs=list_of,
            n_envs=len(ids),
            count=count,
            detail_json=None if detail is None else json_of(with_addresses(detail)),
        )
        self._lib.ok(self._lib.ng_note(self._handle, ctypes.byref(event)))

    def fact(self, name: str, value: Any) -> None:
        """Records what the run declares: ``guard.fact("sim.timestep", 0.005)``. Numbers, text and bools."""
        self._lib.ok(self._lib.ng_fact(self._handle, name.encode(), json_of(value)))

    def facts(self, values: Mapping[str, Any] | None = None, **named: Any) -> None:
        """Records several facts."""
        for name, value in {**(values or {}), **named}.items():
            self.fact(name, value)

    def dump(self, reason: str = "", suspects: Iterable[int] = ()) -> str:
        """Writes what the guard holds now, tripped or not; waits for the file and returns its path.

        suspects are envs that the caller blames; a number that is no env is left out,
        which a warning of the dump tells. When ``max_dumps`` are written, it raises
        with ``code == "no_dumps"``.
        """
        self._flush()
        ids = [int(i) for i in suspects]
        path = ctypes.create_string_buffer(4096)
        self._lib.ok(
            self._lib.ng_dump(self._handle, reason.encode("utf-8", "replace"), (ctypes.c_int64 * len(ids))(*ids), len(ids), path, len(path))
        )
        return os.fsdecode(path.value)

    def watch_module(self, module: Any, name: str = "policy", **options: Any) -> Any:
        """Watches the layers of a torch module, see :class:`nanguard.ModuleWatch`."""
        from ._modules import ModuleWatch

        return ModuleWatch(self, module, name, **options)

    # The end.

    def _dump_at_end(self, reason: str) -> None:
        """Writes a dump for a run that is going down; what goes wrong is only logged."""
        if not self._close.alive or os.getpid() != self._pid:  # a worker that was forked has nothing to tell
            return
        try:
            self._flush()
            log.warning("dump of a run that ends: %s", self.dump(reason))
        except NanGuardError as e:
            if e.code not in ("no_dumps", "nothing_new"):  # the trip's dump is there
                log.error("no dump of the run that ends: %s", e)

    def close(self) -> None:
        """Writes the dump of a trip that has none yet, waits for a dump under way, gives the memory back.

        A trip that no check has seen yet (a GPU is behind) is told in the log and to
        the function of ``on_trip``, and no more raised. It raises when the dump could
        not be written. A guard that is closed already is left alone; one that is
        forgotten is closed all the same.
        """
        if self._hooks is not None:
            self._hooks.remove()
            self._hooks = None
        if not self._close.alive:
            return
        try:
            if os.getpid() == self._pid:
                v = self.wait()
                if v is not None and not v.done:
                    v = self._finish(v)
                self._closed_with = (v,)
                if v is not None and v != self._reported:
                    self._act(v)
                for watch in list(self._watches):
                    watch.remove()
        finally:
            code = self._close()
        if code is not None:
            self._lib.ok(code)

    def _finish(self, v: Verdict) -> Verdict:
        """Writes the dump of a trip whose later frames will not come any more, and returns the verdict with it."""
        error = ""
        try:
            self.dump()
        except NanGuardError as e:
            error = str(e)
        v = self.wait() or v
        return v if v.done else replace(v, error=v.error or error, done=True)

    def __reduce__(self) -> Any:
        raise TypeError("a guard lives in one process: make another one there")

    def __enter__(self) -> Guard:
        return self

    def __exit__(self, kind: Any, value: Any, tb: Any) -> None:
        if kind is not None and _is_trouble(value):
            self._dump_at_end(_hooks.text_of(kind, value, tb))
        try:
            self.close()
        except NanGuardError as e:  # the block's own result counts more
            log.error("%s", e)


def _is_trouble(e: BaseException | None) -> bool:
    """Reports whether an exception deserves a dump: not a trip, which has one, and no orderly exit."""
    if isinstance(e, SystemExit):
        return e.code not in (None, 0)
    return not isinstance(e, (Tripped, GeneratorExit))


def _close(lib: Any, handle: int, scratch: str | None, pid: int) -> int | None:
    """Closes a guard; a finalizer calls it, so it holds no reference to the guard."""
    if os.getpid() != pid:
        return None
    code: int = lib.ng_close(handle)
    _remove(scratch)
    return code


def _remove(folder: str | None) -> None:
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def _after_fork_in_child() -> None:
    """Leaves the locks of the parent's guards open, so that a call gets as far as the library's refusal."""
    _library._loading = threading.Lock()
    for guard in list(_guards):
        guard._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
