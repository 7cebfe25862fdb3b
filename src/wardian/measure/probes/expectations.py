"""What should happen, by profile: strict TOML, with a reason for each. See docs/probe.md.

Precedence: specimen, capability, domain, the syscall table where a profile says so, then allowed.
Errors name the file and the line.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from wardian.errors import InputError
from wardian.measure.probes.specimen import Specimen, shipped
from wardian.measure.probes.verdict import ERRNOS, EXPECTED, ProbeExpectation
from wardian.syscalls.table import find
from wardian.toml import locate, suggest

SECTIONS = ("specimen", "capability", "domain")
_KEYS = {"description": str, "extends": str, "syscalls": str} | dict.fromkeys(SECTIONS, dict)
TABLE = "table"
SYSCALL = "syscall_"
_ENTRY_KEYS = ("expect", "errno", "reason")
_DENIED = {"deny": "EPERM", "absent": "ENOSYS"}
MAX_BYTES = 1 << 20
MAX_DEPTH = 8


class Profile(NamedTuple):
    """Expectations by name, in each section."""

    name: str
    description: str
    specimen: Mapping[str, ProbeExpectation]
    capability: Mapping[str, ProbeExpectation]
    domain: Mapping[str, ProbeExpectation]
    syscalls: str = ""  # "table": what the table denies is expected to be denied

    def of(self, specimen: Specimen) -> ProbeExpectation:
        """What is expected of this specimen."""
        for table, name in (
            (self.specimen, specimen.id),
            (self.capability, specimen.capability),
            (self.domain, specimen.domain),
        ):
            if name in table:
                return table[name]
        return self._by_table(specimen.capability) or ProbeExpectation()

    def _by_table(self, capability: str) -> ProbeExpectation | None:
        row = find(capability.removeprefix(SYSCALL)) if capability.startswith(SYSCALL) else None
        if self.syscalls != TABLE or row is None or row.kind not in _DENIED:
            return None
        return ProbeExpectation("blocked", row.reason.removesuffix("."), (_DENIED[row.kind],))


NO_EXPECTATIONS = Profile("none", "", {}, {}, {})


class Known(NamedTuple):
    """The names that a profile may speak of."""

    specimen: Collection[str]
    capability: Collection[str]
    domain: Collection[str]

    @classmethod
    def of(cls, specimens: Iterable[Specimen]) -> Known:
        """Those of these specimens."""
        ones = list(specimens)
        return cls(
            {one.id for one in ones}, {one.capability for one in ones}, {one.domain for one in ones}
        )


def profile_names() -> list[str]:
    """The profiles that ship with wardian."""
    place = shipped("expectations")
    names = os.listdir(place) if os.path.isdir(place) else []
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def default_profile(sandbox: str) -> str:
    """The name of the profile that stands for a sandbox here."""
    if sandbox == "host":
        return "host-root" if os.geteuid() == 0 else "host-user"
    return sandbox


def read_profile(name: str, known: Known | None = None) -> Profile:
    """A shipped profile by name, or a file: whatever ends in .toml or holds a slash.

    With ``known``, an entry for something that does not exist is an error. Raises InputError.
    """
    return _Reader(_path(name, os.getcwd()), known).profile(0)


def profile_path(name: str) -> str:
    """The file of a profile. Raises InputError for a name that is none."""
    return _path(name, os.getcwd())


def _path(name: str, base: str) -> str:
    if name.endswith(".toml") or "/" in name:
        return os.path.join(base, os.path.expanduser(name))
    if name not in profile_names():
        names = ", ".join(profile_names()) or "none"
        raise InputError(
            f"there is no profile {name!r}", hint=f"profiles: {names}; or a .toml file"
        )
    return os.path.normpath(os.path.join(shipped("expectations"), f"{name}.toml"))


class _Reader:
    """One file: knows its text, so that what is wrong can be pointed at."""

    def __init__(self, path: str, known: Known | None) -> None:
        self.path, self.known = path, known
        self.text = self._text()

    def _text(self) -> str:
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(fd, "rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise InputError(f"can't be read: {error.strerror}", path=self.path) from None
        if len(data) > MAX_BYTES:
            raise InputError(f"is larger than {MAX_BYTES} bytes", path=self.path)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise InputError("is not UTF-8 text", path=self.path, line=line) from None

    def wrong(self, keys: list[str], message: str, hint: str | None = None) -> InputError:
        line, column = locate(self.text, keys)
        return InputError(message, path=self.path, line=line, column=column, hint=hint)

    def profile(self, depth: int) -> Profile:
        try:
            document = tomllib.loads(self.text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"not TOML: {error}", path=self.path) from None
        for key, value in document.items():
            if key not in _KEYS:
                raise self.wrong([key], f"there is no {key!r}", suggest(key, _KEYS))
            if not isinstance(value, _KEYS[key]):
                kind = "a table" if _KEYS[key] is dict else "a text"
                raise self.wrong([key], f"{key} must be {kind}")
        base = self._base(document.get("extends"), depth)
        syscalls = document.get("syscalls", base.syscalls)
        if syscalls not in (TABLE, ""):
            raise self.wrong(["syscalls"], f'syscalls is "{TABLE}" or ""')
        tables = {
            section: {**getattr(base, section), **self._section(section, document.get(section, {}))}
            for section in SECTIONS
        }
        name = os.path.basename(self.path).removesuffix(".toml")
        description = document.get("description", base.description)
        return Profile(name, description, **tables, syscalls=syscalls)

    def _base(self, name: str | None, depth: int) -> Profile:
        if name is None:
            return Profile("", "", {}, {}, {})
        if depth >= MAX_DEPTH:
            raise self.wrong(["extends"], f"more than {MAX_DEPTH} profiles extend each other")
        try:
            path = _path(name, os.path.dirname(os.path.abspath(self.path)))
        except InputError as error:
            raise self.wrong(["extends"], str(error), error.hint) from None
        return _Reader(path, self.known).profile(depth + 1)

    def _section(self, section: str, entries: dict[str, Any]) -> dict[str, ProbeExpectation]:
        known = getattr(self.known, section) if self.known is not None else None
        for name in entries:
            if known is not None and name not in known:
                import difflib

                near = difflib.get_close_matches(name, list(known), 1)
                hint = f"did you mean {near[0]!r}?" if near else "see: wardian probe list"
                raise self.wrong([section, name], f"there is no {section} {name!r}", hint)
        return {name: self._entry([section, name], raw) for name, raw in entries.items()}

    def _entry(self, keys: list[str], raw: Any) -> ProbeExpectation:
        if not isinstance(raw, dict):
            raise self.wrong(keys, f"{keys[1]} must be a table with expect and reason")
        for key in raw:
            if key not in _ENTRY_KEYS:
                hint = suggest(key, _ENTRY_KEYS)
                raise self.wrong([*keys, key], f"there is no {key!r} in an expectation", hint)
        expect, reason, errno = raw.get("expect"), raw.get("reason"), raw.get("errno", [])
        if expect not in EXPECTED:
            where = [*keys, "expect"] if "expect" in raw else keys
            raise self.wrong(where, f"{keys[1]}: expect is one of {', '.join(EXPECTED)}")
        if not isinstance(reason, str) or not reason.strip():
            raise self.wrong(keys, f"{keys[1]} needs a reason, one sentence")
        names = [errno] if isinstance(errno, str) else errno
        if not isinstance(names, list) or not all(name in ERRNOS for name in names):
            raise self.wrong([*keys, "errno"], f"{keys[1]}: errno holds names such as EPERM")
        if names and expect == "allowed":
            raise self.wrong([*keys, "errno"], f"{keys[1]}: what is allowed has no errno")
        return ProbeExpectation(expect, reason.strip(), tuple(names))
