"""What runs were refused, told apart: the likeliest cause of a failure first. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from wardian.measure.store.model import Measurement

_LIKELY = ("limit", "syscall", "process", "network", "file")
Named = tuple[str, str, str]


def refusals_of(result: Measurement) -> list[dict[str, Any]]:
    """Those in the evidence; specimens tell theirs as text."""
    found = []
    for one in result.outcome.evidence.get("refusals", []):
        if isinstance(one, str):
            words = (*one.split(" ", 2), "", "")
            told: dict[str, Any] = dict(zip(("kind", "action", "target"), words, strict=False))
            found.append(told | {"reason": "", "allow": None})
        else:
            found.append(dict(one))
    return found


def new_refusals(
    now: Measurement, before: Measurement | None, usual: Collection[Named] = ()
) -> list[dict[str, Any]]:
    """What it was refused, the likeliest cause first: what it was not refused when it was well,
    and what runs that pass are not refused either (``usual``)."""
    known = {named(one) for one in refusals_of(before)} if before is not None else set()

    def likely(one: Mapping[str, Any]) -> tuple[bool, bool, int, Named]:
        name = named(one)
        kind = _LIKELY.index(name[0]) if name[0] in _LIKELY else len(_LIKELY)
        return name in known, name in usual, kind, name

    ones = sorted(refusals_of(now), key=likely)
    return [one for one in ones if not any(likely(one)[:2])] or ones


def usual_refusals(results: Iterable[Measurement]) -> dict[str, set[Named]]:
    """Sandbox → what runs there are refused and pass all the same."""
    found: dict[str, set[Named]] = {}
    for one in results:
        if one.health == "good":
            names = (named(refusal) for refusal in refusals_of(one))
            found.setdefault(one.case.sandbox, set()).update(names)
    return found


def named(refusal: Mapping[str, Any]) -> Named:
    target = str(refusal["target"])
    if refusal["kind"] in ("syscall", "process"):
        target = ""  # the arguments differ from run to run
    return str(refusal["kind"]), str(refusal["action"]), target
