"""The hints that the code can print, found in its syntax tree.

``python -m tests.cures.hints`` prints those that no cure of the tables covers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import wardian

SOURCES = Path(wardian.__file__).parent
# Functions whose literal results are hints, and calls whose second argument is one.
WRITERS = {"_hint", "_limit_hint", "cwd_hint", "_too_small"}
MAKERS = {"Advice"}


class Hint(NamedTuple):
    """A hint as the code has it: its text, with ``{}`` for what is put in; or the expression."""

    module: str
    line: int
    text: str
    literal: bool

    @property
    def package(self) -> str:
        return self.module.partition("/")[0]

    @property
    def pattern(self) -> re.Pattern[str]:
        parts = (re.escape(part) for part in self.text.split("{}"))
        return re.compile(".*".join(parts), re.DOTALL)

    def covers(self, printed: str) -> bool:
        """Can this hint, with something put in, be what was printed?"""
        words = self.text.replace("{}", "").strip()
        return self.literal and bool(words) and self.pattern.fullmatch(printed) is not None


@cache
def all_hints() -> tuple[Hint, ...]:
    found = []
    for path in sorted(SOURCES.rglob("*.py")):
        module = path.relative_to(SOURCES).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found += [Hint(module, *text) for text in _in_module(tree)]
    return tuple(dict.fromkeys(found))


def _in_module(tree: ast.Module) -> Iterator[tuple[int, str, bool]]:
    known: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known.setdefault(node.targets[0].id, []).append(node.value)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name in WRITERS:
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    yield from _texts(node.value, known)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg in ("hint", "fix"):
                    yield from _texts(keyword.value, known)
            if isinstance(node.func, ast.Name) and node.func.id in MAKERS and len(node.args) > 1:
                yield from _texts(node.args[1], known)


def _texts(node: ast.expr, known: dict[str, list[ast.expr]]) -> Iterator[tuple[int, str, bool]]:
    """The texts that an expression can be. What comes from elsewhere is counted there: the hint of
    another error, a parameter, a function of WRITERS."""
    if isinstance(node, ast.IfExp):
        yield from _texts(node.body, known)
        yield from _texts(node.orelse, known)
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _texts(value, known)
    elif isinstance(node, ast.Name):
        for value in known.get(node.id, ()):
            yield from _texts(value, known)
    elif (text := _template(node)) is not None:
        if any(character.isalnum() for character in text.replace("{}", "")):
            yield node.lineno, text, True
    elif isinstance(node, ast.Call) and not _writes(node):
        yield node.lineno, ast.unparse(node), False


def _template(node: ast.expr) -> str | None:
    """A text with ``{}`` for what is put in; None for what is no text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _template(node.left), _template(node.right)
        return None if left is None and right is None else f"{left or '{}'}{right or '{}'}"
    return None


def _writes(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in WRITERS


def untested(printed: tuple[str, ...]) -> tuple[Hint, ...]:
    """The hints that are none of those that tests saw printed and applied."""
    return tuple(h for h in all_hints() if not any(h.covers(text) for text in printed))


if __name__ == "__main__":
    from tests.cures.tables import SAMPLES

    for hint in untested(SAMPLES):
        print(f"{hint.module}:{hint.line}: {hint.text if hint.literal else f'<{hint.text}>'}")
    print(len(untested(SAMPLES)), "of", len(all_hints()))
