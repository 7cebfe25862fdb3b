"""A directory of records: list, find, read and prune them.

A record is a directory called ID, such as ``20260727-143005.482-k3f9qd``: the time (UTC) and a few
letters that make it unique and are enough to name it. Until its run has ended it is called
``ID.running``; whoever writes it holds a lock on it, so that a killed run differs from one
that is under way. What is read here may have been altered by anyone who can write there: nothing is
followed, nothing is trusted to be whole.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Iterator

from wardian.descriptors import FILE, FOLDER
from wardian.errors import InputError, NothingMatched, UsageError

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any, Literal, NamedTuple

    State = Literal["ended", "failed", "running", "incomplete", "damaged"]
else:
    from wardian.values import NamedTuple

SCHEMA = "wardian.record/1"
RECORD, RESULT, POLICY = "record.json", "result.json", "policy.toml"
OUTPUTS = ("stdout", "stderr")
RUNNING = ".running"
NEW = ".new"
FILES = (*OUTPUTS, RESULT, POLICY, RECORD + NEW, RECORD)  # removed in this order
# Without vowels no word is spelt by chance, and nothing looks like another letter.
LETTERS = "bcdfghjkmnpqrstvwxz"
_ANY = LETTERS + "23456789"
TAIL_LENGTH = 6
MAX_RECORD_BYTES = 16 << 20
MAX_RESULT_BYTES = 256 << 20

_ID = re.compile(
    r"([12]\d\d\d)(0[1-9]|1[012])([0-3]\d)-([012]\d)([0-5]\d)([0-5]\d)\.(\d\d\d)-"
    rf"[{LETTERS}][{_ANY}]{{{TAIL_LENGTH - 1}}}",
    re.ASCII,
)


class JournalEntry(NamedTuple):
    """One record. ``document`` is its record.json, or None where that can't be read."""

    id: str
    path: str
    state: State
    document: dict[str, Any] | None

    @property
    def short(self) -> str:
        """The letters at the end, by which it is called."""
        return self.id.rpartition("-")[2]


def new_id(now_s: float) -> str:
    """An ID for a run that starts now: sorts by time, and is like no other."""
    milliseconds = int(now_s * 1000)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(milliseconds // 1000))
    chance = int.from_bytes(os.urandom(8), "little")  # enough for an even choice of 2e8
    chance, first = divmod(chance, len(LETTERS))
    tail = LETTERS[first]
    for _ in range(TAIL_LENGTH - 1):
        chance, next_one = divmod(chance, len(_ANY))
        tail += _ANY[next_one]
    return f"{stamp}.{milliseconds % 1000:03d}-{tail}"


def started_s(record_id: str) -> float:
    """The time in an ID, in seconds since 1970."""
    import calendar

    match = _ID.fullmatch(record_id)
    if match is None:
        raise ValueError(record_id)
    *moment, milliseconds = map(int, match.groups())
    return calendar.timegm(tuple(moment)) + milliseconds / 1000


def names(directory: str) -> list[str]:
    """The names of all records, ``ID`` or ``ID.running``, newest first. Raises InputError."""
    try:
        found = os.listdir(directory)
    except FileNotFoundError:
        return []  # nothing has been recorded yet
    except OSError as error:
        raise InputError((error.strerror or "can't be read").lower(), path=directory) from None
    return sorted((name for name in found if _is_record(name)), reverse=True)


def entries(directory: str) -> Iterator[JournalEntry]:
    """All records, newest first, each read when it is asked for. Raises InputError."""
    for name in names(directory):
        entry = load(directory, name)
        if entry is not None:
            yield entry


def load(directory: str, name: str) -> JournalEntry | None:
    """The record of that name; None if it is gone, or is no directory."""
    path = os.path.join(directory, name)
    try:
        fd = os.open(path, FOLDER)
    except FileNotFoundError:
        # It may have ended since its name was read.
        return load(directory, name.removesuffix(RUNNING)) if name.endswith(RUNNING) else None
    except OSError:
        return None
    try:
        document = _document(fd)
        return JournalEntry(name.removesuffix(RUNNING), path, _state(fd, name, document), document)
    finally:
        os.close(fd)


def find(directory: str, given: str) -> JournalEntry:
    """The one record whose ID, or its letters, begin like this; ``last`` is the newest.

    Raises NothingMatched, and UsageError if there are several.
    """
    known = names(directory)
    matching = [name for name in known if name.startswith(given) or _tail(name).startswith(given)]
    if given == "last":
        matching = known[:1]
    exact = [name for name in matching if given in (name.removesuffix(RUNNING), _tail(name))]
    if not given or not matching:
        raise NothingMatched(
            f"no run {given!r} is recorded in {directory}",
            hint="list them: wardian log; name one by its ID or the last letters of it",
        )
    if len(exact or matching) > 1:
        some = ", ".join(_tail(name) for name in matching[:8])
        raise UsageError(f"{given!r} is the beginning of {len(matching)} runs", hint=f"say {some}")
    entry = load(directory, (exact or matching)[0])
    if entry is None:
        raise NothingMatched(f"run {given!r} is no longer there")
    return entry


def read_file(entry: JournalEntry, name: str, limit: int) -> bytes | None:
    """One file of a record; None if it is not there. Raises InputError if it is not as it was."""
    try:
        fd = os.open(entry.path, FOLDER)
    except OSError as error:
        raise InputError((error.strerror or "can't be read").lower(), path=entry.path) from None
    try:
        return _bytes(fd, name, limit)
    except FileNotFoundError:
        return None
    except OSError as error:
        why = (error.strerror or "it can't be read").lower()
        raise InputError(why, path=os.path.join(entry.path, name)) from None
    finally:
        os.close(fd)


def read_result(entry: JournalEntry) -> dict[str, Any] | None:
    """The result document; None if the run has none. Raises InputError if it is damaged."""
    data = read_file(entry, RESULT, MAX_RESULT_BYTES)
    if data is None:
        return None
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError("is damaged", path=os.path.join(entry.path, RESULT))
    return found


# Pruning


def chosen(directory: str, *, older_s: float | None, keep: int | None, now_s: float) -> list[str]:
    """Names that are to go, oldest first. A run under way is counted among those that are kept."""
    old = names(directory)[keep or 0 :]
    if older_s is not None:
        old = [one for one in old if now_s - started_s(one.removesuffix(RUNNING)) > older_s]
    return old[::-1]


def remove(directory: str, name: str) -> str | None:
    """Remove one record; returns why it is still there, if it is. Files that are not ours stay."""
    path = os.path.join(directory, name)
    try:
        fd = os.open(path, FOLDER)
    except FileNotFoundError:
        return None
    except OSError as error:
        return (error.strerror or "it can't be opened").lower()
    try:
        if name.endswith(RUNNING) and not _take_lock(fd):
            return "it is under way"
        for file in FILES:
            try:
                os.unlink(file, dir_fd=fd)
            except FileNotFoundError:
                continue
        os.rmdir(path)
    except OSError as error:
        return (error.strerror or "it can't be removed").lower()
    finally:
        os.close(fd)
    return None


# One record, looked at


def _is_record(name: str) -> bool:
    return _ID.fullmatch(name.removesuffix(RUNNING)) is not None


def _tail(name: str) -> str:
    return name.removesuffix(RUNNING).rpartition("-")[2]


def _state(fd: int, name: str, document: dict[str, Any] | None) -> State:
    if name.endswith(RUNNING):
        return "incomplete" if _take_lock(fd) else "running"
    if document is None or document["end"] is None:
        return "damaged"
    return "failed" if document["end"]["error"] is not None else "ended"


def _take_lock(fd: int) -> bool:
    """False if its writer holds it. It goes when the descriptor does."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system without locks
    return True


def _document(fd: int) -> dict[str, Any] | None:
    try:
        found = json.loads(_bytes(fd, RECORD, MAX_RECORD_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return found if fits(found, _SHAPE) else None


def _bytes(directory: int, name: str, limit: int) -> bytes:
    """At most ``limit`` bytes of a regular file. Raises OSError."""
    with open(os.open(name, FILE, dir_fd=directory), "rb") as file:
        if not os.path.isfile(f"/proc/self/fd/{file.fileno()}"):
            raise OSError(0, "it is not a regular file")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise OSError(0, f"it has more than {limit} bytes")
    return data


_TEXT = (str, type(None))
_COUNT = (int, type(None))
_STREAM = {"bytes": _COUNT, "kept_bytes": int, "cut": bool}
_SHAPE: dict[str, Any] = {
    "schema": str,
    "id": str,
    "started": str,
    "ended": _TEXT,
    "kind": str,
    "command": [str],
    "cwd": _TEXT,
    "who": {"uid": int, "user": _TEXT},
    "host": {"name": str, "kernel": str, "machine": str},
    "wardian": str,
    "backend": str,
    "program": {"path": _TEXT, "digest": _TEXT, "why": str},
    "environment": {"passed": [str], "set": [str]},
    "policy_digest": str,
    "output": {"captured": bool, "why": str, "stdout": _STREAM, "stderr": _STREAM},
}
_SKILL = {"name": str, "path": str, "script": str, "digest": _TEXT, "why": str}
_END = {
    "exit_code": int,
    "reason": str,
    "signal": _COUNT,
    "wall_s": (int, float),
    "refusals": int,
    "error": _TEXT,
}


def fits(value: Any, shape: Any) -> bool:
    """Is it a document of this version, as far as this module and its readers use it?"""
    if shape is _SHAPE and isinstance(value, dict):
        optional = (("skill", _SKILL), ("end", _END))
        if value.get("schema") != SCHEMA or not all(
            name in value and (value[name] is None or fits(value[name], part))
            for name, part in optional
        ):
            return False
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(
            name in value and fits(value[name], part) for name, part in shape.items()
        )
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(item, shape[0]) for item in value)
    return isinstance(value, shape)
