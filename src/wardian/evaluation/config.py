"""What a nightly measures: nightly.toml, strict TOML. docs/nightly.md describes it."""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Sequence
from typing import Any, NamedTuple

from wardian.errors import InputError
from wardian.sandbox.backends import NAMES
from wardian.sandbox.policy_file import locate, suggest
from wardian.sandbox.units import parse_duration
from wardian.sandbox.whole_files import read_decisive

DEFAULT_FILE = "nightly.toml"
MAX_BYTES = 1 << 20
_KEYS = {
    "skills": "paths of skills, or of folders with skills below them",
    "sandboxes": "names of sandboxes",
    "policy": "a preset or a policy file",
    "probes": "a folder of specimens",
    "select": "globs of specimens' IDs",
    "suites": "test programs, or folders with test programs",
    "profiles": "sandbox = profile",
    "timeout": "a duration, for each specimen",
    "budget": "a duration, for the whole",
    "jobs": "a number",
    "title": "what titles of pull requests begin with",
}


class Config(NamedTuple):
    """Paths are absolute. ``budget_s`` and ``jobs`` change how much is measured, and never what
    comes of it, so they are not part of the digest."""

    skills: tuple[str, ...] = ()
    sandboxes: tuple[str, ...] = ()
    policy: str = ""
    probes: str = ""
    select: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    profiles: tuple[tuple[str, str], ...] = ()
    timeout_s: float = 20.0
    budget_s: float | None = None
    jobs: int | None = None
    title: str = "[nightly]"
    path: str = ""

    @property
    def digest(self) -> str:
        """Names what is measured, wherever the files lie."""
        plain = self._replace(budget_s=None, jobs=None, title="", path="")
        place = os.path.dirname(self.path) or os.getcwd()
        told = json.dumps(plain).replace(json.dumps(place)[1:-1], ".")
        return hashlib.sha256(told.encode()).hexdigest()


def read_config(path: str | None) -> Config:
    """The file that was given, or nightly.toml here, or what stands for it. Raises InputError."""
    if path is None:
        if not os.path.exists(DEFAULT_FILE):
            here = os.path.abspath("skills")
            return Config(skills=(here,) if os.path.isdir(here) else ())
        path = DEFAULT_FILE
    return _Reader(path).config()


class _Reader:
    """One file: knows its text, so that what is wrong can be pointed at."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        try:
            self.text = read_decisive(path, MAX_BYTES).decode()
            self.document = tomllib.loads(self.text)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"not TOML: {error}", path=path) from None

    def wrong(self, key: str, message: str, hint: str | None = None) -> InputError:
        line, column = locate(self.text, [key])
        return InputError(message, path=self.path, line=line, column=column, hint=hint)

    def config(self) -> Config:
        for key in self.document:
            if key not in _KEYS:
                raise self.wrong(key, f"there is no {key!r}", suggest(key, _KEYS))
        sandboxes = self.texts("sandboxes")
        for name in sandboxes:
            if name not in NAMES:
                raise self.wrong("sandboxes", f"there is no sandbox {name!r}", suggest(name, NAMES))
        policy = self.one("policy", str, "")
        jobs = self.one("jobs", int, None)
        if jobs is not None and jobs < 1:
            raise self.wrong("jobs", "jobs is a number from 1 on")
        return Config(
            skills=self.skills(),
            sandboxes=sandboxes,
            policy=self.absolute(policy) if _is_file(policy) else policy,
            probes=self.place("probes", self.one("probes", str, "")),
            select=self.texts("select"),
            suites=tuple(self.place("suites", one) for one in self.texts("suites")),
            profiles=self.profiles(sandboxes),
            timeout_s=self.duration("timeout") or 20.0,
            budget_s=self.duration("budget"),
            jobs=jobs,
            title=self.one("title", str, "[nightly]"),
            path=self.path,
        )

    def skills(self) -> tuple[str, ...]:
        """Those named, or the folder of that name beside the file."""
        if "skills" not in self.document:
            beside = self.absolute("skills")
            return (beside,) if os.path.isdir(beside) else ()
        return tuple(self.place("skills", one) for one in self.texts("skills"))

    def one(self, key: str, kind: type, default: Any) -> Any:
        value = self.document.get(key, default)
        if value is not default and (not isinstance(value, kind) or isinstance(value, bool)):
            raise self.wrong(key, f"{key} must be {_KEYS[key]}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        values = self.one(key, list, [])
        if not all(isinstance(one, str) and one for one in values):
            raise self.wrong(key, f"{key} must be a list: {_KEYS[key]}")
        return tuple(values)

    def absolute(self, path: str) -> str:
        place = os.path.join(os.path.dirname(self.path), os.path.expanduser(path))
        return os.path.normpath(place)

    def place(self, key: str, path: str) -> str:
        if path and not os.path.exists(self.absolute(path)):
            raise self.wrong(key, f"there is no {self.absolute(path)}")
        return self.absolute(path) if path else ""

    def profiles(self, sandboxes: Sequence[str]) -> tuple[tuple[str, str], ...]:
        given = self.one("profiles", dict, {})
        for name, value in given.items():
            if name not in NAMES or not isinstance(value, str):
                raise self.wrong("profiles", "[profiles] holds sandbox = profile")
        return tuple(
            (name, self.absolute(value) if _is_file(value) else value)
            for name, value in sorted(given.items())
        )

    def duration(self, key: str) -> float | None:
        text = self.one(key, str, None)
        if text is None:
            return None
        try:
            seconds = parse_duration(text)
        except ValueError as error:
            raise self.wrong(key, f"{key}: {error}") from None
        if not seconds or seconds <= 0:
            raise self.wrong(key, f"{key} must be more than nothing")
        return float(seconds)


def _is_file(name: str) -> bool:
    return name.endswith(".toml") or "/" in name
