"""The rules of rules.toml, read once and checked: nothing in it is vague or unknown."""

from __future__ import annotations

import functools
import os
import tomllib
from typing import Any, NamedTuple

from wardian.errors import InputError
from wardian.syscalls.table import find

PATH = os.path.join(os.path.dirname(__file__), "rules.toml")
_SECTIONS = ("leave_out", "seldom", "only", "opaque", "unmeasured", "explained")
_EXPLAINED = {"calls", "sandbox", "host", "in", "paths", "command", "aspect", "wall", "reason"}

Place = tuple[str, int]
"""A call, and the place of one of its arguments."""


class Values(NamedTuple):
    """What an argument may be: one of these, or anything but those."""

    allowed: tuple[int, ...]
    without: frozenset[int]


class Explained(NamedTuple):
    """A difference that is meant, and the wall that makes it."""

    calls: frozenset[str]
    sandbox: frozenset[str]
    host: frozenset[str]
    places: frozenset[str]
    paths: tuple[str, ...]
    commands: frozenset[str]
    aspect: str
    wall: str
    reason: str


class Rules(NamedTuple):
    """All of it."""

    leave_out: dict[str, str]
    seldom: dict[str, str]
    only: dict[Place, Values]
    opaque: dict[str, str]
    unmeasured: dict[Place, tuple[tuple[int, int], ...]]
    explained: tuple[Explained, ...]


@functools.cache
def rules() -> Rules:
    """The shipped rules."""
    with open(PATH, encoding="utf-8") as file:
        return parse_rules(file.read())


def parse_rules(text: str, path: str = PATH) -> Rules:
    """Raises InputError for what can't be understood."""
    try:
        data = tomllib.loads(text)
        return _rules(data)
    except tomllib.TOMLDecodeError as error:
        raise InputError(str(error), path=path) from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"not a rule: {error}", path=path) from None


def _rules(data: dict[str, Any]) -> Rules:
    for section in data:
        if section not in _SECTIONS:
            raise ValueError(f"there is no section {section!r}")
    named = {}
    for section in ("leave_out", "seldom", "opaque"):
        named[section] = {_call(name): _reason(why) for name, why in data.get(section, {}).items()}
    only = {}
    for key, rule in data.get("only", {}).items():
        _reason(rule["reason"])
        only[_place(key)] = Values(
            tuple(int(one) for one in rule.get("values", ())),
            frozenset(int(one) for one in rule.get("without", ())),
        )
    unmeasured = {}
    for key, rule in data.get("unmeasured", {}).items():
        _reason(rule["reason"])
        ranges = tuple((int(first), int(end)) for first, end in rule.get("bytes", [[0, 1 << 20]]))
        unmeasured[_place(key)] = ranges
    explained = tuple(_explained(rule) for rule in data.get("explained", ()))
    return Rules(named["leave_out"], named["seldom"], only, named["opaque"], unmeasured, explained)


def _explained(rule: dict[str, Any]) -> Explained:
    if not any(rule.get(key) for key in ("calls", "paths", "in")):
        raise ValueError("an explanation is about calls, paths or sandboxes")
    if unknown := set(rule) - _EXPLAINED:
        raise ValueError(f"unknown keys: {', '.join(sorted(unknown))}")
    return Explained(
        frozenset(_call(name) for name in rule.get("calls", ())),
        frozenset(rule["sandbox"]),
        frozenset(rule.get("host", ())),
        frozenset(rule.get("in", ())),
        tuple(rule.get("paths", ())),
        frozenset(rule.get("command", ())),
        str(rule.get("aspect", "result")),
        str(rule["wall"]),
        _reason(rule["reason"]),
    )


def _call(name: str) -> str:
    if find(name) is None:
        raise ValueError(f"there is no syscall {name!r}")
    return name


def _place(key: str) -> Place:
    name, _, place = key.partition(".")
    return _call(name), int(place)


def _reason(text: Any) -> str:
    if not isinstance(text, str) or not text.strip():
        raise ValueError("a rule needs a reason")
    return text
