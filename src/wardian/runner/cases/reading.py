"""Cases read strictly from TOML.

A skill writes them, so they are data: bounded, read without following a link out of its folder, and
what they ask for is granted or refused by ``granting``.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from wardian import toml
from wardian.errors import InputError
from wardian.runner.cases.model import (
    CaseExpectation,
    FileExpectation,
    SkillCase,
    TextExpectation,
)
from wardian.runner.cases.patterns import PatternError, WrongPatternError, check
from wardian.skills.reading import OutsideError, read_bytes, read_inside

DEFAULT_FILE = "cases.toml"
MAX_BYTES = 4 << 20
MAX_CASES = 2000
MAX_FILE_BYTES = 64 << 20
MAX_FILES_BYTES = 256 << 20  # of all cases in a file
COMPARED = ("exit", "stdout", "stderr", "files")


def read_cases(path: str) -> list[SkillCase]:
    """The cases of a file. Raises InputError that names the case and the key."""
    table = _Table(_document(path), path, "the file")
    raw = table.take("case", list, [])
    table.end()
    if len(raw) > MAX_CASES:
        raise InputError(f"more than {MAX_CASES} cases", path=path)
    base = _Beside(os.path.dirname(os.path.abspath(path)))
    cases = [_case(_Table(one, path, f"case {i}"), base) for i, one in enumerate(raw, 1)]
    _check_patterns(cases, path)
    seen: set[tuple[str | None, str]] = set()
    for case in cases:
        if (case.skill, case.name) in seen:
            raise InputError(f"two cases are called {case.name!r}", path=path)
        seen.add((case.skill, case.name))
    return cases


def _document(path: str) -> dict[str, Any]:
    try:
        return toml.loads(read_bytes(Path(path), MAX_BYTES).decode())
    except OSError as error:
        why = (error.strerror or str(error).removeprefix(f"{path} ") or "it can't be read").lower()
        raise InputError(why, path=path) from None
    except RecursionError:
        raise InputError("not TOML: nested too deeply", path=path) from None
    except ValueError as error:  # TOML, UTF-8, and numbers that are too long
        raise InputError(f"not TOML: {error}", path=path) from None


def _check_patterns(cases: list[SkillCase], path: str) -> None:
    named = [
        (pattern, case.name)
        for case in cases
        for pattern in (
            case.expect.stdout.matches,
            case.expect.stderr.matches,
            *(one.matches for _, one in case.expect.files),
        )
        if pattern is not None
    ]
    try:
        check(tuple(pattern for pattern, _ in named))
    except WrongPatternError as error:
        pattern, name = named[error.number]
        shown = pattern if len(pattern) <= 60 else pattern[:59] + "…"
        message = f"case {name!r}: {shown!r} is not a regular expression: {error}"
        raise InputError(message, path=path) from None
    except PatternError as error:
        raise InputError(f"its regular expressions can't be read: {error}", path=path) from None


class _Beside:
    """The files beside a cases file, and below: so many bytes of them, and none outside."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._left = MAX_FILES_BYTES

    def read(self, path: str) -> bytes:
        """Raises OSError; its text says what is wrong."""
        data = read_inside(self._folder, path, min(MAX_FILE_BYTES, self._left))
        self._left -= len(data)
        return data


class _Table:
    """A TOML table of which each key is taken once, with its type."""

    def __init__(self, raw: Any, path: str, where: str) -> None:
        self.path, self.where = path, where
        if not isinstance(raw, dict):
            raise self.wrong("a table is expected")
        self.raw = dict(raw)
        self.known: list[str] = []

    def wrong(self, what: str) -> InputError:
        return InputError(f"{self.where}: {what}", path=self.path)

    def take(self, key: str, kind: type | tuple[type, ...], default: Any) -> Any:
        self.known.append(key)
        value = self.raw.pop(key, default)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        truth = isinstance(value, bool) and bool not in kinds  # Python counts them as numbers
        if value is not default and (truth or not isinstance(value, kinds)):
            raise self.wrong(f"`{key}` has the wrong type")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; one text stands for a list of one."""
        value = self.take(key, (list, str), [])
        values = [value] if isinstance(value, str) else value
        if not all(isinstance(one, str) for one in values):
            raise self.wrong(f"`{key}` must be a list of strings")
        return tuple(values)

    def end(self) -> None:
        for key in self.raw:
            import difflib

            near = difflib.get_close_matches(key, self.known, 1)
            raise self.wrong(
                f"unknown key `{key}`" + (f"; did you mean `{near[0]}`?" if near else "")
            )


def _case(table: _Table, base: _Beside) -> SkillCase:
    name = table.take("name", str, None)
    if not name:
        raise table.wrong("`name` is needed")
    table.where = f"case {name!r}"
    script = table.take("script", str, None)
    if not script:
        raise table.wrong("`script` is needed")
    stdin = table.take("stdin", str, None)
    case = SkillCase(
        name=name,
        script=script,
        args=table.texts("args"),
        skill=table.take("skill", str, None),
        files=tuple(
            (path, _content(table, path, value, base))
            for path, value in table.take("files", dict, {}).items()
        ),
        setup=tuple(_command(table, one) for one in table.take("setup", list, [])),
        before=tuple(_words(table, "before", one) for one in table.take("before", list, [])),
        stdin=stdin.encode() if stdin is not None else None,
        env=tuple((key, str(value)) for key, value in table.take("env", dict, {}).items()),
        packages=table.texts("with"),
        network=_network(table),
        state=table.take("state", bool, False),
        time_s=_seconds(table),
        compare=_compared(table),
        backends=table.texts("in"),
        needs=_programs(table),
        expect=_expectation(
            _Table(table.take("expect", dict, {}), table.path, f"{table.where}, expect")
        ),
    )
    table.end()
    return case


def _network(table: _Table) -> str:
    network: str = table.take("network", str, "none")
    if network not in ("none", "host"):
        raise table.wrong("`network` must be none or host")
    return network


def _seconds(table: _Table) -> float:
    try:
        seconds = float(table.take("time_s", (int, float), 60.0))
    except OverflowError:
        seconds = math.inf
    if not math.isfinite(seconds) or seconds <= 0:
        raise table.wrong("`time_s` must be a number of seconds greater than zero")
    return seconds


def _programs(table: _Table) -> tuple[str, ...]:
    names = table.texts("needs")
    if not all(name and "/" not in name and "\0" not in name for name in names):
        raise table.wrong("`needs` must hold names of programs, without a path")
    return names


def _compared(table: _Table) -> tuple[str, ...]:
    given = table.take("compare", list, None)
    if given is None:
        return ("exit", "stdout", "files")
    if not all(one in COMPARED for one in given):
        raise table.wrong(f"`compare` takes {', '.join(COMPARED)}")
    return tuple(given)


def _command(table: _Table, value: Any) -> tuple[str, ...]:
    return ("sh", "-c", value) if isinstance(value, str) else _words(table, "setup", value)


def _words(table: _Table, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise table.wrong(f"`{key}` must hold lists of strings")
    return tuple(value)


def _content(table: _Table, path: str, value: Any, base: _Beside) -> bytes:
    """Text, or one of base64 = "…", copy = "path beside the cases file"."""
    if isinstance(value, str):
        return value.encode()
    inner = _Table(value, table.path, f"{table.where}, file {path!r}")
    encoded, source = inner.take("base64", str, None), inner.take("copy", str, None)
    inner.end()
    if encoded is not None:
        import base64

        try:
            return base64.b64decode(encoded, validate=True)
        except ValueError:
            raise inner.wrong("`base64` can't be decoded") from None
    if source is None:
        raise inner.wrong("text, `base64` or `copy` is needed")
    try:
        return base.read(source)
    except OutsideError:
        raise inner.wrong("`copy` must lie beside the cases file or below it") from None
    except OSError as error:
        raise inner.wrong(f"`copy`: {source}: {error.strerror or error}") from None


def _expectation(table: _Table) -> CaseExpectation:
    exit_code = table.take("exit", (int, str), 0)
    if isinstance(exit_code, str) and exit_code != "any":
        raise table.wrong('`exit` must be a number or "any"')
    expected = CaseExpectation(
        exit=None if exit_code == "any" else exit_code,
        stdout=_text(table, "stdout"),
        stderr=_text(table, "stderr"),
        files=tuple(
            (path, _file(table, path, value))
            for path, value in table.take("files", dict, {}).items()
        ),
        refused=table.texts("refused"),
        reason=table.take("reason", str, None),
    )
    table.end()
    return expected


def _text(table: _Table, key: str) -> TextExpectation:
    """``stdout = "…"`` is the whole of it; ``stdout_contains`` and its kin look for parts."""
    return TextExpectation(
        equals=table.take(key, str, None),
        contains=table.texts(f"{key}_contains"),
        lacks=table.texts(f"{key}_lacks"),
        matches=table.take(f"{key}_matches", str, None),
    )


def _file(table: _Table, path: str, value: Any) -> FileExpectation:
    if isinstance(value, str):
        return FileExpectation(equals=value.encode())
    inner = _Table(value, table.path, f"{table.where}, file {path!r}")
    equals = inner.take("equals", str, None)
    expected = FileExpectation(
        exists=inner.take("exists", bool, True),
        equals=equals.encode() if equals is not None else None,
        contains=inner.texts("contains"),
        matches=inner.take("matches", str, None),
        sha256=inner.take("sha256", str, None),
        min_bytes=inner.take("min_bytes", int, None),
    )
    inner.end()
    return expected
