"""The environments that are active where wardian is called: a venv, conda, pyenv, nvm.

What ``python3``, ``node`` and ``uv`` mean to the caller, they mean to every program inside, also to
those that a shell starts. PATH alone decides, as it does outside; each installation passes the
checks of ``programs``. wardian's own venv is left out: what it runs on is no part of a guest.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from wardian.errors import ShareError
from wardian.sandbox.root.programs import INSIDE, find_program, placed, single_file, why_unfit
from wardian.sandbox.root.shares import Source, as_copy, is_below

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from wardian.values import NamedTuple

NAMES = ("python3", "python", "node")
# Programs of one file each: what lies beside them, in pipx's or another tool's own environment, is
# not what the caller works with.
TOOLS = ("uv", "uvx", "bun", "deno")
# By which programs know the environment that they are started in.
VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX")
_left_out: dict[str, str] = {}


class ActiveEnvironment(NamedTuple):
    """What to share, and directories inside for a PATH: before the system's own, and after."""

    sources: tuple[Source, ...] = ()
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()

    def on(self, path: str) -> str:
        """A PATH with these directories."""
        return os.pathsep.join((*self.first, path, *self.last))

    def changeable(self) -> ActiveEnvironment:
        """The same with venvs and conda's environments as copies: pip installs into them, and
        nothing outside changes. (``lib64`` of a venv is a link to what is beside it.)"""
        from wardian.sandbox.root.installations import is_environment

        changed = [
            as_copy(source)
            if os.path.basename(source.at) != "lib64"
            and any(is_environment(place) for place in (source.path, os.path.dirname(source.path)))
            else source
            for source in self.sources
        ]
        return self._replace(sources=tuple(changed))


NONE = ActiveEnvironment()


def active_environment(env: Mapping[str, str], shares: Sequence[Source] = ()) -> ActiveEnvironment:
    """Looked for in PATH alone, by looking at files; nothing is started.

    What a guest may have written is left out (see ``left_out``), unless ``shares`` show it anyway.
    """
    entries = [e for e in dict.fromkeys(env.get("PATH", "").split(os.pathsep)) if e[:1] == "/"]
    winners: dict[str, list[str]] = {}
    for name in (*NAMES, *TOOLS):
        entry = _entry_with(name, entries, shares)
        if entry is not None:
            winners.setdefault(entry, []).append(name)
    if not winners:
        return NONE
    found = _Found(env, shares)
    for entry in sorted(winners, key=entries.index):
        found.add(entry, winners[entry])
    return found.environment()


class _Found:
    """The environments of PATH, as they are found."""

    def __init__(self, env: Mapping[str, str], shares: Sequence[Source]) -> None:
        self._env, self._shares = env, shares
        self._sources: dict[str, Source] = {}
        self._first: list[str] = []
        self._last: list[str] = []

    def add(self, entry: str, names: Sequence[str]) -> None:
        """What these names, which the caller finds in this entry, bring along."""
        for name in names:
            path = os.path.join(entry, name)
            try:
                if name in TOOLS:
                    program = single_file(path)
                else:
                    program = find_program(path, self._env, self._shares)
                found = placed(program, self._shares)
            except ShareError as error:
                _left_out.setdefault(entry, error.why)
                continue
            for source in found.sources:
                if name not in TOOLS or not self._has(source.at):
                    self._sources[source.at] = source
            folder = os.path.dirname(found.path)
            if folder and folder not in (*self._first, *self._last):
                # One whose python3 is not the caller's must not come before the one that is.
                others = [n for n in NAMES if n not in names and _has(entry, n)]
                alone = all(n in TOOLS for n in names)  # and only these are shared
                (self._last if others and not alone else self._first).append(folder)

    def _has(self, at: str) -> bool:
        return any(is_below(at, known) for known in self._sources)

    def environment(self) -> ActiveEnvironment:
        """All of it."""
        variables = _variables(self._env, self._first)
        sources = tuple(self._sources.values())
        return ActiveEnvironment(sources, tuple(self._first), tuple(self._last), variables)


def left_out() -> dict[str, str]:
    """The entries of PATH whose environments were left out so far, and why."""
    return dict(_left_out)


def is_own(folder: str) -> bool:
    """Is it where the programs of wardian's own venv are?"""
    if sys.prefix == sys.base_prefix:
        return False
    return os.path.realpath(folder) == os.path.join(os.path.realpath(sys.prefix), "bin")


def _entry_with(name: str, entries: Sequence[str], shares: Sequence[Source]) -> str | None:
    """The entry of PATH that has the program; None if the system's own comes first, or none has."""
    for entry in entries:
        if not _has(entry, name):
            continue
        if any(is_below(entry, root) for root in INSIDE) and "/.." not in entry:
            return None
        if is_own(entry):
            continue
        why = why_unfit(os.path.join(entry, name), shares)
        if why is None:
            return entry
        _left_out.setdefault(entry, why)
    return None


def _has(entry: str, name: str) -> bool:
    return os.access(os.path.join(entry, name), os.X_OK)


def _variables(env: Mapping[str, str], first: Sequence[str]) -> tuple[tuple[str, str], ...]:
    named = ((name, env.get(name, "").rstrip("/")) for name in VARIABLES)
    return tuple((name, value) for name, value in named if value and f"{value}/bin" in first)
