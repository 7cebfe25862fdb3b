"""C++ sources of tests, read as text: the cases in them, and the system calls of each. Pure.

No compiler is asked. What stands in comments and literals is no code; a call by a method or in a
namespace is someone else's, and so is one of a function of the file's own, whatever its name; what
a case calls by way of functions and fixtures of its file and of headers is its own.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable
from typing import NamedTuple

from wardian.syscalls.table import find

CASES = ("TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TYPED_TEST_P")
MAX_HEAD = 1000  # characters before a brace, in which its name is looked for
MAX_ARGUMENTS = 20_000  # characters of what a suite is instantiated with
MAX_REACH = 4  # functions that call functions that call functions

# What is never closed goes on to the end, and literals have a length: else each opening would be
# looked at from, to the end, in vain.
_BLANKED = re.compile(
    r"//(?:\\\n|[^\n])*+"
    r"|/\*.*?(?:\*/|\Z)"
    r'|R"([^()\\\s]{0,16})\(.*?(?:\)\1"|\Z)'
    r'|"(?:\\.|[^"\\\n]){0,4096}+"'
    r"|'(?:\\.|[^'\\\n]){1,256}+'",
    re.S,
)
_CASE = re.compile(rf"\b({'|'.join(CASES)})\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)\s*\{{")
_INSTANCE = re.compile(
    r"\b(INSTANTIATE_(?:TYPED_)?TEST_(?:SUITE|CASE)_P)\s*\(\s*(\w+)\s*,\s*(\w+)\s*,"
)
_TYPED = re.compile(r"\bTYPED_TEST_(?:SUITE|CASE)\s*\(\s*(\w+)\s*,")
_NUMBER = re.compile(r"\b(?:SYS|__NR)_([a-z]\w*)")
# RetryEINTR(read)(fd, …): a function that is handed on and called there
_HANDED_ON = re.compile(r"\((::)?([a-z_]\w*)\)\(")
_BRACE = re.compile(r"[{}]")
_INSIDE = re.compile(r"\bnamespace\b[^()=]*$|\bextern\s*$")
_CALL = re.compile(r"(?<![\w.:])(?<!->)(::)?([a-z_]\w*)\s{0,2}\(")
_LAMBDA = re.compile(r"\bauto\s+([a-z_]\w*)\s*=\s*\[")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"\n]{1,200})"', re.M)
_PAREN = re.compile(r"[()]")
_DEFINED = re.compile(r"([A-Za-z_]\w*)\s*\((?:[^;{}]|\{\})*\)[^;{}()]*$", re.S)
_CLASS = re.compile(r"\b(?:class|struct)\s+(\w+)[^;{}()]*$", re.S)
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")


class SourceCase(NamedTuple):
    """``macro`` is the one that it is written with; ``instances`` are the prefixes that it gets."""

    suite: str
    name: str
    macro: str
    line: int
    syscalls: tuple[str, ...]
    instances: tuple[str, ...] = ()

    @property
    def full_name(self) -> str:
        return f"{self.suite}.{self.name}"


class SuiteSource(NamedTuple):
    """One file. ``unknown`` are constants SYS_… and __NR_… that the table has no row for."""

    path: str
    cases: tuple[SourceCase, ...]
    syscalls: tuple[str, ...]
    unknown: tuple[str, ...] = ()


class _Block(NamedTuple):
    """Braces at the top of the file, or inside namespaces; ``name`` is the function or class."""

    name: str
    body: str


def read_source(path: str, text: str, headers: Iterable[str] = ()) -> SuiteSource:
    """The cases of a file, in order; ``headers`` are the texts of those that it includes."""
    code = code_only(text)
    numbers = dict.fromkeys(_NUMBER.findall(code))
    unknown = tuple(name for name in numbers if find(name) is None)
    blocks: dict[str, list[str]] = {}
    for part in (code, *map(code_only, headers)):
        for block in _blocks(part):
            blocks.setdefault(block.name, []).append(block.body)
    local = frozenset((*blocks, *_LAMBDA.findall(code)))
    own = {name: (_named(bodies, local), _words(bodies)) for name, bodies in blocks.items()}
    instances: dict[str, list[str]] = {}
    handed: dict[str, str] = {}  # suite → what its cases are instantiated with
    for found in _INSTANCE.finditer(code):
        _, prefix, suite = found.groups()
        instances.setdefault(suite, []).append(prefix)
        handed[suite] = handed.get(suite, "") + code[found.end() : _end_of_call(code, found.end())]
    for suite in _TYPED.findall(code):
        instances.setdefault(suite, []).append("")
    cases = []
    end = 0
    for found in _CASE.finditer(code):
        if found.start() < end:
            continue  # a case in a case is none, and would be read over and over
        macro, suite, name = found.groups()
        end = _closing(code, found.end() - 1)
        body = code[found.end() : end] + handed.get(suite, "")
        calls = syscalls_in(body, local) | _reached({suite, *_WORD.findall(body)}, own)
        line = code.count("\n", 0, found.start()) + 1
        prefixes = tuple(instances.get(suite, ()))
        cases.append(SourceCase(suite, name, macro, line, tuple(sorted(calls)), prefixes))
    return SuiteSource(path, tuple(cases), tuple(sorted(syscalls_in(code, local))), unknown)


def code_only(text: str) -> str:
    """Comments and literals as blanks; every other character stays where it was."""
    return _BLANKED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def includes(text: str) -> list[str]:
    """The headers that a source names in quotes."""
    return _INCLUDE.findall(text)


def syscalls_in(code: str, local: frozenset[str] = frozenset()) -> set[str]:
    """What the code calls by its number or by the name of a function of the C library; ``local``
    are functions of its own, which are meant unless the global one is named: ``::futex(…)``."""
    found = {name for name in _NUMBER.findall(code) if find(name) is not None}
    for scope, name in (*_CALL.findall(code), *_HANDED_ON.findall(code)):
        if scope or name not in local:
            found.update(_functions().get(name, ()))
    return found


@functools.cache
def _functions() -> dict[str, tuple[str, ...]]:
    """Function → system calls: the call of its name, and those that the C library makes for it."""
    from wardian.syscalls.table import rows

    known: dict[str, tuple[str, ...]] = {row.name: (row.name,) for row in rows()}
    path = os.path.join(os.path.dirname(__file__), "calls.tsv")
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines()[1:]:
            name, calls = line.split("\t")
            known[name] = (*known.get(name, ()), *(calls.split(" ") if calls != "-" else ()))
    return known


def _named(bodies: Iterable[str], local: frozenset[str]) -> set[str]:
    return {call for body in bodies for call in syscalls_in(body, local)}


def _words(bodies: Iterable[str]) -> set[str]:
    return {word for body in bodies for word in _WORD.findall(body)}


def _reached(words: set[str], own: dict[str, tuple[set[str], set[str]]]) -> set[str]:
    """By way of functions and classes of this file and its headers."""
    found: set[str] = set()
    seen: set[str] = set()
    for _ in range(MAX_REACH):
        fresh = (words & own.keys()) - seen
        if not fresh:
            break
        seen |= fresh
        found |= {call for name in fresh for call in own[name][0]}
        words = {word for name in fresh for word in own[name][1]}
    return found


def _blocks(code: str) -> list[_Block]:
    """Functions and classes; namespaces are gone into."""
    found: list[_Block] = []
    at = start = 0
    while (at := code.find("{", at)) >= 0:
        head = code[max(start, at - MAX_HEAD) : at]
        head = head[max(head.rfind(";"), head.rfind("}")) + 1 :]
        if _INSIDE.search(head):
            at = start = at + 1
            continue
        end = _closing(code, at)
        named = _CLASS.search(head) or _DEFINED.search(head)
        if named and named[1] not in CASES:
            found.append(_Block(named[1], code[at:end]))
        at = start = end + 1
    return found


def _end_of_call(code: str, at: int) -> int:
    """Where the parenthesis ends in which ``at`` lies; not further than ``MAX_ARGUMENTS``."""
    depth = 1
    for paren in _PAREN.finditer(code, at, at + MAX_ARGUMENTS):
        depth += 1 if paren[0] == "(" else -1
        if depth == 0:
            return paren.start()
    return min(len(code), at + MAX_ARGUMENTS)


def _closing(code: str, opening: int) -> int:
    """Where the brace is closed; the end of the text if it is not."""
    return _pairs(code).get(opening, len(code))


@functools.lru_cache(2)
def _pairs(code: str) -> dict[int, int]:
    """Opening brace → closing brace, all of them in one pass."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for brace in _BRACE.finditer(code):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            found[opened.pop()] = brace.start()
    return found
