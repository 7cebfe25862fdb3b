"""Encode programs for executor.c and decode its results.

The executor runs in the sandbox under test, so its results come from a guest: they are read
strictly, with bounds for everything, and may be incomplete.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from wardian.measure.fuzz.program import (
    ARENA_AT,
    ARENA_BYTES,
    AT,
    MAX_CALLS,
    RESULT,
    SELF,
    WORD,
    WORD64,
    CallSequence,
)
from wardian.syscalls.table import lookup

USES_IPC, TOUCHES_ATTRIBUTES = 1, 2
ENDED_BY_TIME = 1000
_KINDS = {RESULT: 1, WORD: 2, SELF: 3}
_TOUCHING = ("xattr", "utime", "setattr", "ioctl", "chown", "chmod", "futimesat")
_CALL = struct.Struct("<I6B6x6Q")
_HEAD = struct.Struct("<4sIIIiII")
_ANSWER = struct.Struct("<qII")
_WORD_BYTES = 16
MAX_WORDS = 1024
MAX_LISTING = 8192
NO_LISTING = 0xFFFFFFFF


class CallAnswer(NamedTuple):
    """What a call returned (minus errno where it failed) and the words of the arena it changed."""

    result: int
    words: bytes
    more: int

    def changes(self) -> dict[int, int]:
        """Changed words, by index."""
        return {index: value for index, _, value in struct.iter_unpack("<IIQ", self.words)}


class Behaviour(NamedTuple):
    """What became of a program. ``ended``: exit code, minus the signal, or ENDED_BY_TIME."""

    pid: int
    parent: int
    ended: int
    started: int
    answers: tuple[CallAnswer, ...]
    files: str | None  # the scratch directory, None if it is as it was

    @property
    def observed(self) -> tuple[int, int, tuple[CallAnswer, ...], str | None]:
        """All that two sides can have in common, pids left out."""
        return self.ended, self.started, self.answers, self.files


class GarbledError(ValueError):
    """Bytes that no executor of ours wrote."""


def encode(programs: Sequence[CallSequence], timeout_ms: int, arch: str) -> bytes:
    """A batch."""
    parts = [b"WFZ1", struct.pack("<II", len(programs), timeout_ms)]
    for program in programs:
        parts.append(_encoded(program, arch))
    return b"".join(parts)


def _encoded(program: CallSequence, arch: str) -> bytes:
    flags = 0
    parts = []
    for call in program.calls:
        row = lookup(call.name)
        number = row.number(arch)
        if number is None:
            raise GarbledError(f"{call.name} does not exist on {arch}")
        if row.group == "ipc":
            flags |= USES_IPC
        if any(word in call.name for word in _TOUCHING):
            flags |= TOUCHES_ATTRIBUTES
        kinds = [0] * 6
        values = [0] * 6
        for place, arg in enumerate(call.args):
            kinds[place] = _KINDS.get(arg.kind, 0)
            values[place] = (ARENA_AT + arg.value if arg.kind == AT else arg.value) & WORD64
        parts.append(_CALL.pack(number, *kinds, *values))
    image = b"".join(struct.pack("<II", at, len(data)) + data for at, data in program.image)
    head = struct.pack("<III", flags, len(program.image), len(program.calls))
    return head + image + b"".join(parts)


def decode(data: bytes, programs: Sequence[CallSequence]) -> tuple[list[Behaviour], bool]:
    """The outcomes, in order, and whether all of them are there: an executor that was ended leaves
    its last record cut short. Raises GarbledError for bytes that can't have come about so.
    """
    outcomes: list[Behaviour] = []
    if data[:4] != b"WFR1"[: len(data)]:
        raise GarbledError("it does not begin as results do")
    reader = _Reader(data, 4)
    try:
        while len(outcomes) < len(programs):
            outcomes.append(_outcome(reader, len(outcomes), programs[len(outcomes)]))
        if reader.take(4) != b"DONE" or reader.at != len(data):
            raise GarbledError("it does not end as results do")
    except EOFError:
        return outcomes, False
    return outcomes, True


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise EOFError
        self.at += size
        return self.data[self.at - size : self.at]


def _outcome(reader: _Reader, index: int, program: CallSequence) -> Behaviour:
    mark, number, pid, parent, ended, started, done = _HEAD.unpack(reader.take(_HEAD.size))
    if mark != b"PROG" or number != index:
        raise GarbledError(f"expected the result of program {index}")
    if not (done <= started <= len(program.calls) <= MAX_CALLS):
        raise GarbledError(f"program {index} has {started} calls begun, {done} done")
    if not (-64 <= ended <= 255 or ended == ENDED_BY_TIME) or pid > 1 << 22 or parent > 1 << 22:
        raise GarbledError(f"program {index} ended impossibly: {ended}")
    answers = []
    for _ in range(done):
        result, count, more = _ANSWER.unpack(reader.take(_ANSWER.size))
        if count > MAX_WORDS or more > ARENA_BYTES // 8:
            raise GarbledError(f"program {index} changed {count} words in one call")
        answers.append(CallAnswer(result, reader.take(count * _WORD_BYTES), more))
        if any(word >= ARENA_BYTES // 8 for word in answers[-1].changes()):
            raise GarbledError(f"program {index} changed words outside the arena")
    (length,) = struct.unpack("<I", reader.take(4))
    files = None
    if length != NO_LISTING:
        if length > MAX_LISTING:
            raise GarbledError(f"program {index} lists {length} bytes of files")
        files = _text(reader.take(length), index)
    return Behaviour(pid, parent, ended, started, tuple(answers), files)


def _text(data: bytes, index: int) -> str:
    if any(byte != 10 and not 32 <= byte < 127 for byte in data):
        raise GarbledError(f"program {index} lists files in bytes that are not text")
    return data.decode("ascii")
