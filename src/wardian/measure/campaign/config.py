"""What a nightly measures: nightly.toml, strict TOML. docs/nightly.md describes it.

A file that is named on the command line is the caller's word. One that was only found in the
current directory may have been left there by anybody: it narrows what is measured, and no key of
it adds a program to run, a right or a place to read. `host` is never named by a file.
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from wardian import toml
from wardian.errors import InputError
from wardian.measure.target import HOST, TARGETS
from wardian.sandbox.paths.whole_files import read_decisive
from wardian.sandbox.policy.units import parse_duration
from wardian.skills.reading import NotRegularError, read_bytes
from wardian.toml import locate, suggest, syntax_place

DEFAULT_FILE = "nightly.toml"
MAX_BYTES = 1 << 20
MAX_TITLE = 80
TIMEOUT_S = 20.0
# What names programs to compile and run, or what counts as well: for a named file only.
_NAMED_ONLY = ("probes", "suites", "profiles")
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


class ConfigError(InputError):
    """A nightly.toml that can't be read, or asks for what it may not ask for."""

    exit_code = 2


class Config(NamedTuple):
    """Paths are absolute. ``budget_s`` and ``jobs`` change how much is measured, and never what
    comes of it, so they are not part of the digest.

    ``found``: the file lay in the current directory and nobody named it. ``host_named``: the
    command line says that code which does not ship with wardian may run on the bare host.
    ``try_wider``: it says that changes which widen the policy are tried on such code, too.
    """

    skills: tuple[str, ...] = ()
    sandboxes: tuple[str, ...] = ()
    policy: str = ""
    probes: str = ""
    select: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    profiles: tuple[tuple[str, str], ...] = ()
    timeout_s: float = TIMEOUT_S
    budget_s: float | None = None
    jobs: int | None = None
    title: str = "[nightly]"
    path: str = ""
    found: bool = False
    host_named: bool = False
    try_wider: bool = False

    @property
    def digest(self) -> str:
        """Names what is measured, wherever the files lie."""
        plain = self._replace(
            budget_s=None, jobs=None, title="", path="", found=False, try_wider=False
        )
        place = os.path.dirname(self.path) or os.getcwd()
        wording = json.dumps(plain).replace(json.dumps(place)[1:-1], ".")
        return hashlib.sha256(wording.encode()).hexdigest()


def read_config(path: str | None) -> Config:
    """The file that was given, or nightly.toml here, or what stands for it. Raises ConfigError."""
    if path is not None:
        return _Reader(path, found=False).config()
    if os.path.lexists(DEFAULT_FILE):
        return _Reader(DEFAULT_FILE, found=True).config()
    here = os.path.abspath("skills")
    if not os.path.isdir(here):
        return Config(found=True)
    if not _lies_in(here, os.getcwd()):
        raise ConfigError(
            f"leads to {os.path.realpath(here)}",
            path=here,
            hint=f"name that in a file, and the file by --config {DEFAULT_FILE}",
        )
    return Config(skills=(here,), found=True)


def _text(path: str, *, found: bool) -> str:
    """Raises ConfigError. What is named decides, so no guest may have written it; what is found may
    only narrow, and a link there is not followed."""
    try:
        data = (
            read_bytes(Path(path), MAX_BYTES)
            if found
            else read_decisive(path, MAX_BYTES, ConfigError)
        )
        return data.decode()
    except NotRegularError:
        real = os.path.realpath(path)
        hint = f"name the file itself: --config {real}" if os.path.isfile(real) else None
        raise ConfigError("is not a regular file", path=path, hint=hint) from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"not TOML: {error}", path=path) from None
    except OSError as error:
        raise ConfigError(f"can't be read: {error.strerror or error}", path=path) from None


class _Reader:
    """One file: knows its text, so that what is wrong can be pointed at."""

    def __init__(self, path: str, *, found: bool) -> None:
        self.path, self.found = os.path.abspath(path), found
        self.text = _text(path, found=found)
        try:
            self.document = toml.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            message, line, column = syntax_place(self.text, str(error))
            raise ConfigError(message, path=path, line=line, column=column) from None
        except (RecursionError, ValueError):
            raise ConfigError("not TOML: nested too deeply, or something too long", path=path,
                              line=1, column=1) from None  # fmt: skip

    def wrong(self, key: str, message: str, hint: str | None = None) -> ConfigError:
        line, column = locate(self.text, [key])
        return ConfigError(message, path=self.path, line=line, column=column, hint=hint)

    def too_wide(self, key: str, message: str, hint: str = "") -> ConfigError:
        """For a file that was found, and asks for more than there is without it."""
        wording = f"{message}; a nightly.toml that was not named may only narrow what is measured"
        return self.wrong(key, wording, hint or f"if you trust it, name it: --config {self.path}")

    def config(self) -> Config:
        for key in self.document:
            if key not in _KEYS:
                raise self.wrong(key, f"there is no {key!r}", suggest(key, _KEYS))
            if self.found and key in _NAMED_ONLY:
                raise self.too_wide(key, f"it names {_KEYS[key]}")
        sandboxes = self.texts("sandboxes")
        if self.found and HOST in sandboxes:
            raise self.too_wide("sandboxes", "it names the bare host", "name it: --in host")
        for name in sandboxes:
            if name not in TARGETS:
                known = suggest(name, TARGETS)
                raise self.wrong("sandboxes", f"there is no sandbox {name!r}", known)
        policy = self.one("policy", str, "")
        jobs = self.one("jobs", int, None)
        if jobs is not None and jobs < 1:
            raise self.wrong("jobs", "jobs is a number from 1 on")
        if self.found and jobs is not None and jobs > usual_jobs():
            raise self.too_wide("jobs", f"more than the usual {usual_jobs()}", "name it: --jobs")
        return Config(
            skills=self.skills(),
            sandboxes=sandboxes,
            policy=self.inside("policy", policy) if _is_file(policy) else policy,
            probes=self.place("probes", self.one("probes", str, "")),
            select=self.texts("select"),
            suites=tuple(self.place("suites", one) for one in self.texts("suites")),
            profiles=self.profiles(sandboxes),
            timeout_s=self.timeout(),
            budget_s=self.duration("budget"),
            jobs=jobs,
            title=self.title(),
            path=self.path,
            found=self.found,
        )

    def skills(self) -> tuple[str, ...]:
        """Those named, or the folder of that name beside the file."""
        if "skills" not in self.document:
            beside = self.absolute("skills")
            return (self.inside("skills", "skills"),) if os.path.isdir(beside) else ()
        names = self.texts("skills")
        return tuple(self.inside("skills", self.place("skills", one)) for one in names)

    def inside(self, key: str, path: str) -> str:
        """Absolute; of a file that was found only what lies in the same directory counts."""
        place = self.absolute(path)
        if self.found and not _lies_in(place, os.path.dirname(self.path)):
            raise self.too_wide(key, f"{os.path.realpath(place)} lies elsewhere")
        return place

    def timeout(self) -> float:
        seconds = self.duration("timeout") or TIMEOUT_S
        if self.found and seconds > TIMEOUT_S:
            raise self.too_wide("timeout", f"longer than the usual {TIMEOUT_S:g} s")
        return seconds

    def title(self) -> str:
        title: str = self.one("title", str, "[nightly]")
        if len(title) > MAX_TITLE or not title.isprintable():
            raise self.wrong("title", f"title is one line of up to {MAX_TITLE} characters")
        return title

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
            if name not in TARGETS or not isinstance(value, str):
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
            raise self.wrong(key, f"{key} must be greater than zero")
        return float(seconds)


def usual_jobs() -> int:
    """Each waits for a sandbox most of the time, so there are twice as many as CPUs."""
    return 2 * (os.cpu_count() or 1)


def _lies_in(path: str, folder: str) -> bool:
    real, root = os.path.realpath(path), os.path.realpath(folder)
    return real == root or real.startswith(root.rstrip("/") + "/")


def _is_file(name: str) -> bool:
    return name.endswith(".toml") or "/" in name
