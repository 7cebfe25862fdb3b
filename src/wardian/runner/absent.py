"""The module or package that a program missed, read from the last of its standard error: text of
the guest's, and only data. Pure."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from wardian.skills.imports import is_known_distribution, known_distribution

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
_MODULE = r"[A-Za-z_]\w{0,60}(?:\.[A-Za-z_]\w{0,60}){0,8}"
_PYTHON = re.compile(rf"No module named '?({_MODULE})(?:'|\s|$|;)")
_NAMESPACE = re.compile(
    rf"cannot import name '(\w{{1,60}})' from '({_MODULE})' \(unknown location\)"
)
_NODE = re.compile(r"Cannot find (?:module|package) '([^'\n]{1,200})'")
_NODE_NAME = re.compile(r"(?:@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*")
_ADVICE = re.compile(r"\b(?:pip3?|uv pip) install ((?:[A-Za-z0-9][\w.\[\],=<>~-]*[ \t]*){1,8})")
_PACKAGE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\[[a-z0-9,_-]+\])?")
_STATEMENT = re.compile(rf"^ *(?:import ({_MODULE})|from ({_MODULE}) import (\w{{1,60}}))", re.M)
_SHARED = ("google", "azure")  # names that hundreds of distributions put modules below


class Absent(NamedTuple):
    """``package`` is what would bring it, empty if nothing would; ``known`` if that is no guess."""

    module: str
    ecosystem: str  # python or node
    package: str
    known: bool = False

    @property
    def option(self) -> str:
        """What prepares the package."""
        return f"--with {'npm:' if self.ecosystem == 'node' else ''}{self.package}"


def absent_from(stderr: bytes) -> Absent | None:
    """The last one that the text reports; None if it reports none."""
    text = _ESCAPES.sub("", stderr.decode("utf-8", "replace"))
    found = max(_found(text), key=lambda pair: pair[0], default=None)
    return found[1] if found is not None else None


def _found(text: str) -> Iterator[tuple[int, Absent]]:
    for match in _PYTHON.finditer(text):
        yield match.start(), _python(_meant(match[1], text[: match.start()]))
    for match in _NAMESPACE.finditer(text):
        yield match.start(), _python(f"{match[2]}.{match[1]}")
    for match in _NODE.finditer(text):
        yield match.start(), _node(match[1])


def _meant(module: str, before: str) -> str:
    """Of a shared name the whole one, which the statement has that a traceback shows above."""
    if module.partition(".")[0] not in _SHARED:
        return module
    statements = list(_STATEMENT.finditer(before[-400:]))
    names = [one[1] or f"{one[2]}.{one[3]}" for one in statements]
    return names[-1] if names and names[-1].startswith(module) else module


def _python(module: str) -> Absent:
    parts = module.split(".")
    known = known_distribution(module)
    if parts[0] in sys.stdlib_module_names or (parts[0].startswith("_") and known is None):
        return Absent(module, "python", "", known=True)
    if parts[0] in _SHARED and known == known_distribution(parts[0]):
        return Absent(module, "python", "-".join(parts[:3]) if len(parts) > 1 else "")
    return Absent(module, "python", known or parts[0], known=known is not None)


def _node(module: str) -> Absent:
    named = _NODE_NAME.match(module)
    if module.startswith((".", "/", "node:", "file:")) or named is None:
        return Absent(module, "node", "", known=True)
    return Absent(module, "node", named[0])


def advised(stderr: bytes) -> tuple[str, ...]:
    """The packages of the last ``pip install …`` that a program itself advises."""
    text = _ESCAPES.sub("", stderr.decode("utf-8", "replace"))
    matches = list(_ADVICE.finditer(text))
    if not matches:
        return ()
    first, *more = (word.rstrip(".,") for word in matches[-1][1].split())
    # What follows may be the rest of a sentence.
    words = (first, *(word for word in more if is_known_distribution(word)))
    return tuple(word for word in words if _PACKAGE.fullmatch(word))
