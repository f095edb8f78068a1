"""The layers of a torch module: which of them makes the first bad value.

torch is taken from the running process: whoever has a module has imported it.
"""

from __future__ import annotations

import collections
import functools
import logging
import math
import sys
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from ._guard import Guard
    from ._verdict import Verdict

log = logging.getLogger("nanguard")

#: Passes whose numbers are kept for :attr:`ModuleWatch.first_bad`: on a GPU a trip is seen a few checks late.
_KEPT_PASSES = 16


@dataclass(frozen=True)
class BadLayer:
    """The first layer with a bad value, in the order of the pass."""

    layer: str
    what: str  #: ``"output"``, ``"gradient of the output"`` or ``"gradient of the weights"``
    absmax: float  #: of that, NaN or infinite
    input_absmax: float  #: of what the layer read; NaN or infinite when the trouble came from outside

    def __str__(self) -> str:
        return f"{self.layer}: {self.what} has absmax {self.absmax:g}, its inputs {self.input_absmax:g}"


class ModuleWatch:
    """Watches the largest magnitude of what each layer reads, returns and gets back as gradient.

    Made by :meth:`Guard.watch_module`, and active from then on::

        watch = guard.watch_module(policy)          # until watch.remove()

        with guard.watch_module(policy):            # inside of the block
            ...

        @guard.watch_module(policy)                 # inside of calls of the function
        def update(batch): ...

    Each pass becomes a frame of shared fields with one column per layer (a module
    without children), in the order in which the layers ran: ``<name>.layers.in``,
    ``<name>.layers.out``, ``grad.<name>`` (of the outputs) and
    ``grad.<name>.weights``. The trip then names the layer in its label, and
    :attr:`first_bad` says what went in. The numbers stay on the device; nothing
    waits for it. It costs two small kernels per layer and pass, so it is for
    finding out rather than for every run.

    Args:
        guard: the guard that checks the fields.
        module: a ``torch.nn.Module``.
        name: begins the names of the fields.
        clock: of the passes forward; gradients are on clock minibatch.
    """

    def __init__(self, guard: Guard, module: Any, name: str = "policy", *, clock: str = "step") -> None:
        self._guard = weakref.ref(guard)
        self._torch = sys.modules["torch"]
        self._name, self._clock = name, clock
        self._layers = {m: f"{n or name} {type(m).__name__}" for n, m in module.named_modules() if not any(m.children())}
        self._columns: dict[str, list[str]] = {}
        self._pending: dict[str, dict[str, Any]] = {"in": {}, "out": {}, "grad": {}, "weights": {}}
        self._passes: collections.deque[tuple[dict[str, Any], dict[str, Any]]] = collections.deque(maxlen=_KEPT_PASSES)
        self._hooks: list[Any] = []
        #: Which layer was the first with a bad value; None as long as no trip named one.
        self.first_bad: BadLayer | None = None
        self.install()

    # Coming and going.

    def install(self) -> None:
        """Puts the hooks in place; does nothing when they are."""
        guard = self._guard()
        if self._hooks or guard is None:
            return
        for m, layer in self._layers.items():
            self._hooks.append(m.register_forward_hook(functools.partial(self._on_forward, layer)))
            for p in m.parameters(recurse=False):
                if hasattr(p, "register_post_accumulate_grad_hook"):  # torch 2.1
                    self._hooks.append(p.register_post_accumulate_grad_hook(functools.partial(self._on_weights, layer)))
        guard._watches.append(self)

    def remove(self) -> None:
        """Takes the hooks away; what they saw last is still checked."""
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        guard = self._guard()
        if guard is not None and self in guard._watches:
            try:
                self.flush()
            finally:
                guard._watches.remove(self)

    def __enter__(self) -> ModuleWatch:
        self.install()
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the function with the hooks in place while it runs."""
        self.remove()

        @functools.wraps(function)
        def watched(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return watched

    # What the hooks do.

    def _on_forward(self, layer: str, _: Any, args: Any, output: Any) -> None:
        if layer in self._pending["out"]:  # it runs again: another pass
            self.flush()
        self._pending["in"][layer] = self._absmax(args)
        self._pending["out"][layer] = self._absmax(output)
        for x in self._floats(output):
            if x.requires_grad:
                x.register_hook(functools.partial(self._on_gradient, layer))

    def _on_gradient(self, layer: str, grad: Any) -> None:
        if layer in self._pending["grad"]:
            self.flush()
        self._pending["grad"][layer] = self._absmax(grad)

    def _on_weights(self, layer: str, parameter: Any) -> None:
        now, before = self._absmax(parameter.grad), self._pending["weights"].get(layer)
        self._pending["weights"][layer] = now if before is None else self._torch.maximum(now, before)

    def _floats(self, x: Any) -> Iterator[Any]:
        """Yields the floating tensors of a layer's arguments or result."""
        if isinstance(x, self._torch.Tensor):
            if x.is_floating_point():
                yield x
        elif isinstance(x, (list, tuple)):
            for part in x:
                yield from self._floats(part)
        elif isinstance(x, dict):
            yield from self._floats(list(x.values()))

    def _absmax(self, x: Any) -> Any:
        """Returns the largest magnitude as a 0-d float64 tensor; NaN when there is a NaN."""
        found = None
        for t in self._floats(x):
            if t.numel():
                m = self._torch.linalg.vector_norm(t.detach(), ord=math.inf).double()
                found = m if found is None else self._torch.maximum(found, m)
        return self._torch.zeros((), dtype=self._torch.float64) if found is None else found

    # What becomes of it.

    def flush(self) -> None:
        """Checks what the hooks saw since the last time; the guard does it before its own checks."""
        self._check({"in": f"{self._name}.layers.in", "out": f"{self._name}.layers.out"}, self._clock)
        self._check({"grad": f"grad.{self._name}", "weights": f"grad.{self._name}.weights"}, "minibatch")

    def _check(self, parts: dict[str, str], clock: str) -> None:
        """Checks some of the pending numbers, one field for each part that has any."""
        guard = self._guard()
        seen = {part: self._pending[part] for part in parts if self._pending[part]}
        if guard is None or not seen:
            return
        for part in seen:
            self._pending[part] = {}
        self._passes.append((seen, dict(parts)))
        arrays = {}
        for part, numbers in seen.items():
            field = parts[part]
            if field not in self._columns:
                self._bind(guard, part, field, numbers, clock)
            arrays[field] = self._row(self._columns[field], numbers)
        guard._check(False, clock, arrays, {}, None)

    def _bind(self, guard: Guard, part: str, field: str, numbers: dict[str, Any], clock: str) -> None:
        """Binds a field: a column per layer, those that ran first, then the others."""
        rest = [n for n in self._layers.values() if n not in numbers]
        columns = [*numbers, *(rest if part in ("in", "out") else reversed(rest))]
        self._columns[field] = columns
        guard.bind(
            field,
            self._row(columns, numbers),
            clock=clock,
            cols=columns,
            shared=True,
            stage={"in": "monitor", "out": "policy"}.get(part, "grad"),
            order={"in": 58.0, "out": 59.0}.get(part, 80.5),
        )

    def _row(self, columns: list[str], numbers: dict[str, Any]) -> Any:
        """Returns the numbers in the order of the columns; a layer that did not run has 0."""
        like = next(iter(numbers.values()))
        zero = self._torch.zeros((), dtype=like.dtype, device=like.device)
        return self._torch.stack([numbers[c].to(like.device) if c in numbers else zero for c in columns])

    def _on_trip(self, verdict: Verdict) -> None:
        """Looks for the layer behind a trip on one of the fields; this waits for the device."""
        for seen, fields in self._passes:
            for part, what in (("out", "output"), ("grad", "gradient of the output"), ("weights", "gradient of the weights")):
                if fields.get(part) != verdict.field:
                    continue
                for layer, number in seen.get(part, {}).items():
                    if not math.isfinite(float(number)):
                        read = self._input_of(layer)
                        self.first_bad = BadLayer(layer, what, float(number), read)
                        log.warning("%s", self.first_bad)
                        return

    def _input_of(self, layer: str) -> float:
        """Returns the absmax of what a layer read in the latest pass up to the first bad one."""
        read = math.nan
        for seen, _ in self._passes:
            if layer in seen.get("in", {}):
                read = float(seen["in"][layer])
                if any(not math.isfinite(float(x)) for x in seen["out"].values()):
                    break
        return read
