"""The records of core/trace.c as values: one parser for a stream that comes in pieces."""

from __future__ import annotations

import os
import posixpath
import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from wardian.syscalls.table import canonical_arch, name_of

_HEADER = struct.Struct("<IBBHIIQ")
_ARGS = struct.Struct("<6Q")
_TEXT = struct.Struct("<BBH")
_IDS = struct.Struct("<II")
_TOTAL = struct.Struct("<QQQ")
_WAITED = struct.Struct("<Q")
_CALL, _PROCESS, _TOTALS, _WAITS = 1, 2, 3, 4  # enum record_kind
_PATH, _ADDRESS, _NAME, _ABSENT, _DIRECTORY = 1, 2, 3, 4, 5  # enum text_kind


class Path(NamedTuple):
    """A path that a call names, absolute and normalised; links in it stand as they were written.

    ``lay`` is what lay there before the call: ``something``, ``directory`` or ``nothing``.
    """

    text: str
    lay: str = "something"


class TracedCall(NamedTuple):
    """A call about to be made. ``error`` is the errno it will meet, as far as can be foreseen."""

    at_s: float
    task: int
    process: int
    name: str
    args: tuple[int, ...]
    error: int = 0
    paths: Mapping[int, Path] = {}
    address: bytes = b""
    asked: str = ""  # the host name in a question to a name server


class Became(NamedTuple):
    """A process is seen for the first time, or has become another program."""

    at_s: float
    process: int
    parent: int
    inner_pid: int
    command: tuple[str, ...]


class Total(NamedTuple):
    """All calls of one name, reported at the end."""

    name: str
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody needs
    errors: int
    time_s: float


class Waited(NamedTuple):
    """How long a task waited in its last call, reported when it makes the next."""

    at_s: float
    task: int
    process: int
    name: str
    time_s: float


Event = TracedCall | Became | Total | Waited


class Reader:
    """Parses the stream in pieces of any size and returns each record once it is complete."""

    def __init__(self, arch: str | None = None) -> None:
        self._arch = canonical_arch(arch or os.uname().machine)
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[Event]:
        """The events that this piece completes. Raises ValueError for what is no record."""
        data = self._rest + data
        at = 0
        while len(data) - at >= _HEADER.size:
            size = _HEADER.unpack_from(data, at)[0]
            if size < _HEADER.size:
                self._rest = b""
                raise ValueError(f"a record of {size} bytes")
            if len(data) - at < size:
                break
            event = self._event(data[at : at + size])
            at += size
            if event is not None:
                self._rest = data[at:]
                yield event
        self._rest = data[at:]

    def _event(self, record: bytes) -> Event | None:
        _, kind, error, number, task, process, at_ns = _HEADER.unpack_from(record)
        body = record[_HEADER.size :]
        at_s = at_ns / 1e9
        name = name_of(number, self._arch) or f"syscall_{number}"
        try:
            if kind == _CALL:
                return _call(
                    TracedCall(at_s, task, process, name, _ARGS.unpack_from(body), error), body
                )
            if kind == _PROCESS:
                parent, inner = _IDS.unpack_from(body)
                return Became(at_s, process, parent, inner, _words(body[_IDS.size :]))
            if kind == _TOTALS:
                count, errors, waited_ns = _TOTAL.unpack_from(body)
                return Total(name, count, errors, waited_ns / 1e9)
            if kind == _WAITS:
                return Waited(at_s, task, process, name, _WAITED.unpack_from(body)[0] / 1e9)
        except struct.error as problem:
            raise ValueError(f"a record that is cut short: {problem}") from None
        return None  # a later launcher's


def _call(call: TracedCall, body: bytes) -> TracedCall:
    at = _ARGS.size
    if len(body) == at:
        return call
    paths: dict[int, Path] = {}
    address, asked = b"", ""
    while at < len(body):
        argument, what, length = _TEXT.unpack_from(body, at)
        text = body[at + _TEXT.size : at + _TEXT.size + length]
        at += _TEXT.size + length
        if what == _ADDRESS:
            address = text
        elif what == _NAME:
            asked = os.fsdecode(text)
        elif what in (_PATH, _ABSENT, _DIRECTORY):
            lay = {_ABSENT: "nothing", _DIRECTORY: "directory"}.get(what, "something")
            paths[argument] = Path(normal(os.fsdecode(text)), lay)
    return call._replace(paths=paths, address=address, asked=asked)


def normal(path: str) -> str:
    """``.``, ``..`` and double slashes out of the way; links are not followed."""
    plain = posixpath.normpath(path)
    return plain[1:] if plain.startswith("//") else plain


def _words(line: bytes) -> tuple[str, ...]:
    return (
        tuple(os.fsdecode(word) for word in line.removesuffix(b"\0").split(b"\0")) if line else ()
    )


__all__ = ["Became", "Event", "Path", "Reader", "Total", "TracedCall", "Waited", "normal"]
