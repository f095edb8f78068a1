"""What a guard found."""

from __future__ import annotations

from dataclasses import dataclass

from ._library import CLASSES, CLOCKS, NanGuardError, VerdictStruct

_CLOCK_NAMES = {number: name for name, number in CLOCKS.items()}


@dataclass(frozen=True)
class Verdict:
    """The first value that was not finite, or above a field's limit or growth, over all fields and envs.

    ``tick`` counts the guard's checks, ``count`` those of the field's clock, both
    from 1. ``env`` is None for a field that has one row for the whole run; ``col``
    is the column and ``label`` its name where the field has labels.
    """

    field: str
    env: int | None
    col: int
    value: str  #: ``"nan"``, ``"posinf"``, ``"neginf"``, or of a finite one ``"limit"`` or ``"growth"``
    clock: str
    count: int
    tick: int
    path: str  #: of the dump once it is written, else ``""``
    error: str  #: why the dump, or what belongs beside it, could not be written, else ``""``
    done: bool  #: the dump is written, or will never be unless :meth:`Guard.dump` is called
    label: str | None = None
    number: int = 0  #: of the trip in the run, from 1: who finds it two higher has missed one

    def __str__(self) -> str:
        where = "" if self.env is None else f"env {self.env}, "
        label = "" if self.label is None else f" ({self.label})"
        text = f"{self.value} in {self.field}[{where}col {self.col}{label}] at {self.clock} {self.count} (tick {self.tick})"
        if self.path:
            text += f", dump {self.path}"
        return text + (f", {self.error}" if self.error else "")


class Tripped(NanGuardError):
    """Raised by a check of a guard with ``on_trip="raise"``; ``verdict`` says what it found."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(str(verdict), "tripped")
        self.verdict = verdict

    def __reduce__(self):  # type: ignore[no-untyped-def]
        return type(self), (self.verdict,)


def verdict_of(v: VerdictStruct, cols: list[str] | None) -> Verdict:
    """Returns a verdict as the library filled it in; cols are the labels of its field."""
    text = [b.decode("utf-8", "replace") for b in (v.field, v.path, v.error)]
    return Verdict(
        field=text[0],
        env=None if v.env < 0 else v.env,
        col=v.col,
        value=CLASSES.get(v.value_class, "?"),
        clock=_CLOCK_NAMES.get(v.clock, "?"),
        count=v.count,
        tick=v.tick,
        path=text[1],
        error=text[2],
        done=bool(v.done),
        label=cols[v.col] if cols and 0 <= v.col < len(cols) else None,
        number=v.number,
    )
