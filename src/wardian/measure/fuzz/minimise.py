"""Minimise a program that shows a difference: drop calls, simplify arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from wardian.measure.fuzz.program import (
    AT,
    NUMBER,
    RESULT,
    SELF,
    WORD,
    Arg,
    CallSequence,
    CallStep,
    trimmed,
)

Shows = Callable[[list[CallSequence]], list[bool]]
"""Which of these programs still show the difference; asked for many at once, for a run costs."""

MAX_ROUNDS = 40
PART = 40


def minimise(program: CallSequence, shows: Shows) -> CallSequence:
    """Take the first smaller program that still shows it, until none does."""
    for _ in range(MAX_ROUNDS):
        smaller = [one for one in dict.fromkeys(_smaller(program)) if one != program]
        if not smaller:
            break
        found = _first(smaller, shows)
        if found is None:
            break
        program = found
    return program


def _first(smaller: list[CallSequence], shows: Shows) -> CallSequence | None:
    """The first that still shows it; asked in parts, for the first are the smallest."""
    for start in range(0, len(smaller), PART):
        part = smaller[start : start + PART]
        for one, still in zip(part, shows(part), strict=True):
            if still:
                return one
    return None


def _smaller(program: CallSequence) -> Iterator[CallSequence]:
    """Those with fewer calls first, then those with plainer arguments."""
    count = len(program.calls)
    for keep in (1, 2):
        if count > keep:
            yield _without(program, set(range(count - keep)))
    for index in range(count):
        if count > 1:
            yield _without(program, {index})
    for index, call in enumerate(program.calls):
        for place, arg in enumerate(call.args):
            for plain in _plainer(arg):
                args = (*call.args[:place], plain, *call.args[place + 1 :])
                calls = (
                    *program.calls[:index],
                    CallStep(call.name, args),
                    *program.calls[index + 1 :],
                )
                yield trimmed(program._replace(calls=calls))
    for index, (at, data) in enumerate(program.image):
        if data.strip(b"\0") and not _is_text(data):
            yield program._replace(
                image=(*program.image[:index], (at, bytes(len(data))), *program.image[index + 1 :])
            )


def _plainer(arg: Arg) -> Iterator[Arg]:
    zero = Arg(NUMBER, 0)
    if arg.kind in (RESULT, WORD, SELF, AT):
        yield zero
    elif arg.value not in (0, -1):
        yield zero
        if arg.value.bit_count() > 1 and 0 < arg.value < 1 << 32:
            for bit in range(32):
                if arg.value >> bit & 1:
                    yield Arg(NUMBER, arg.value & ~(1 << bit))


def _without(program: CallSequence, gone: set[int]) -> CallSequence:
    """The calls that remain; what they took from those that are gone becomes -1."""
    places = {
        old: new for new, old in enumerate(i for i in range(len(program.calls)) if i not in gone)
    }
    calls = []
    for index, call in enumerate(program.calls):
        if index in gone:
            continue
        args = []
        for arg in call.args:
            if arg.kind == RESULT:
                at = places.get(arg.value)
                args.append(Arg(NUMBER, -1) if at is None else Arg(RESULT, at))
            else:
                args.append(arg)
        calls.append(CallStep(call.name, tuple(args)))
    return trimmed(program._replace(calls=tuple(calls)))


def _is_text(data: bytes) -> bool:
    return data.endswith(b"\0") and all(32 <= byte < 127 for byte in data.rstrip(b"\0"))
