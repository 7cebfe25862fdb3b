"""What ``--with`` names: packages of Python, and ``npm:NAME[@RANGE]`` of Node. Pure.

Names and versions alone: a path, an option, a repository or another protocol is refused, here for
Node and by ``packages.requirements`` for Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from wardian.errors import UsageError
from wardian.text import printable

NPM = "npm:"
_FORMS = "write NAME, NAME==VERSION, npm:NAME, npm:NAME@RANGE or npm:@SCOPE/NAME"


class Requested(NamedTuple):
    """``node`` has name and range of each."""

    python: tuple[str, ...] = ()
    node: tuple[tuple[str, str], ...] = ()

    @property
    def empty(self) -> bool:
        return not self.python and not self.node


def requested(words: Sequence[str]) -> Requested:
    """Raises UsageError."""
    python = tuple(word for word in words if not word.startswith(NPM))
    if not all(word.strip() for word in python):
        raise UsageError("--with: '' is not a package", hint=_FORMS)
    node = dict(_of_npm(word) for word in words if word.startswith(NPM))
    return Requested(python, tuple(sorted(node.items())))


def _of_npm(word: str) -> tuple[str, str]:
    from wardian.runner.packages.specs import spec_fault

    text = word.removeprefix(NPM)
    at = text.find("@", 1)
    name, spec = (text, "*") if at < 0 else (text[:at], text[at + 1 :])
    if spec_fault(name, "*") or not spec:
        raise UsageError(f"--with: {printable(word)!r} is not a package of a registry", hint=_FORMS)
    why = spec_fault(name, spec)
    if why:
        raise UsageError(f"--with: {why}", hint=_FORMS)
    return name, spec
