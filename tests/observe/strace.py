"""The oracle: what strace saw of a guest, read from its logs (one for each task: ``-ff -y``)."""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

OPTIONS = ("-ff", "-y", "-s", "8192", "-qq", "--decode-pids=pidns")
_LINE = re.compile(r"(?P<name>[a-z]\w*)\((?P<args>.*)\) += (?P<result>\S+)(?P<rest>.*)$", re.DOTALL)
_UNFINISHED = re.compile(r"(?P<name>[a-z]\w*)\(")
_REPLACING = re.compile(r"execve\((?P<args>.*) <pid changed to \d+ \.\.\.>$", re.DOTALL)
_TRANSLATED = re.compile(r"/\* (\d+) in strace's PID NS \*/")
_FORKS = frozenset(("fork", "vfork", "clone", "clone3"))
_OPENS = frozenset(("open", "openat", "creat"))
_REMOVES = frozenset(("unlink", "unlinkat", "rmdir"))
_MAKES = frozenset(("mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat"))
_MOVES = frozenset(("rename", "renameat", "renameat2"))
_LINKS = frozenset(("link", "linkat"))


class Line(NamedTuple):
    """One call as strace prints it; ``error`` is empty for one that succeeded."""

    name: str
    args: list[str]
    result: str = ""
    error: str = ""
    rest: str = ""

    @property
    def taken_back(self) -> bool:
        """A signal came before the call was made, or while it waited: it ended the task, or the
        call was made again after it."""
        return self.result == "?" and self.name not in ("exit", "exit_group")


class Seen(NamedTuple):
    """What strace saw of a guest, from its first successful execve on."""

    calls: Counter[str]
    taken_back: Counter[str]
    tasks: dict[int, list[Line]]
    opened: set[str]
    made: set[str]
    deleted: set[str]
    executed: set[str]


def seen(prefix: Path, first: int, cwd: str) -> Seen:
    """Read the logs ``prefix.TID``; ``first`` is the host's pid of the guest's first process."""
    found = Seen(Counter(), Counter(), {}, set(), set(), set(), set())
    todo = [(first, cwd, False)]
    while todo:
        task, cwd, runs = todo.pop()
        lines = read_log(Path(f"{prefix}.{task}"))
        if not runs:
            begins = (i for i, one in enumerate(lines) if one.name == "execve" and not one.error)
            lines = lines[next(begins) :]
        found.tasks[task] = lines
        for line in lines:
            found.calls[line.name] += 1
            found.taken_back[line.name] += line.taken_back
            if line.name == "chdir" and not line.error:
                cwd = _paths(line, cwd)[0]
            elif line.name == "fchdir" and not line.error:
                cwd = _descriptor(line.args[0])
            elif line.name in _FORKS and not line.error and line.result != "?":
                inside = _TRANSLATED.search(line.rest)
                todo.append((int(inside[1] if inside else line.result), cwd, True))
            _note(found, line, cwd)
    return found


def read_log(log: Path) -> list[Line]:
    """The calls of one task. What a killed task never finished is among them, without a result."""
    lines = []
    for text in log.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        if match := _LINE.match(text):
            rest = match["rest"].strip()
            failed = match["result"] in ("-1", "?") and re.match(r"E[A-Z0-9]+", rest)
            lines.append(
                Line(
                    match["name"],
                    _split(match["args"]),
                    match["result"],
                    failed[0] if failed else "",
                    rest,
                )
            )
        elif match := _REPLACING.match(text):
            lines.append(Line("execve", _split(match["args"]), "0"))
        elif match := _UNFINISHED.match(text):
            lines.append(Line(match["name"], [], "?"))
    return lines


def _note(found: Seen, line: Line, cwd: str) -> None:
    if line.error or line.result == "?":
        return
    if line.name in _OPENS:
        found.opened.add(_paths(line, cwd)[0])
    elif line.name in _MAKES:
        found.made.add(_paths(line, cwd)[-1])
    elif line.name in _REMOVES:
        found.deleted.add(_paths(line, cwd)[0])
    elif line.name in _MOVES:
        old, new = _paths(line, cwd)
        found.deleted.add(old)
        found.made.add(new)
    elif line.name in _LINKS:
        found.made.add(_paths(line, cwd)[1])
    elif line.name == "execve" and line.args[0].startswith('"'):  # the launcher's is unreadable
        found.executed.add(_paths(line, cwd)[0])


def _paths(line: Line, cwd: str) -> list[str]:
    """The paths among the arguments, absolute and normalised."""
    paths = []
    for before, argument in zip(["", *line.args], line.args, strict=False):
        if argument.startswith('"'):
            start = _descriptor(before) if before.endswith(">") else cwd
            paths.append(os.path.normpath(os.path.join(start, _unquoted(argument))))
    return paths


def _descriptor(argument: str) -> str:
    return os.fsdecode(_bytes(argument[argument.index("<") + 1 : -1]))


def _unquoted(argument: str) -> str:
    return os.fsdecode(_bytes(argument[1 : argument.rindex('"')]))


def _bytes(text: str) -> bytes:
    """C's escapes in strings are Python's in bytes."""
    value = ast.literal_eval('b"' + text.replace('\\"', '"').replace('"', '\\"') + '"')
    assert isinstance(value, bytes)
    return value


def _split(text: str) -> list[str]:
    """Arguments at the commas that stand in no bracket, string or ``<…>`` of a descriptor."""
    parts, depth, at, start = [], 0, 0, 0
    while at < len(text):
        char = text[at]
        if char == '"':
            at += 1
            while at < len(text) and text[at] != '"':
                at += 2 if text[at] == "\\" else 1
        elif char == "<" and at and (text[at - 1].isdigit() or text[at - 1] == "D"):
            end = text.find(">", at)
            at = end if end >= 0 else at
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
        at += 1
    return [*parts, text[start:].strip()]
