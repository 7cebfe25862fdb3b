"""Which packages a Python source imports, and who publishes them; nothing is executed."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Import:
    """One imported top-level package; ``optional`` if the source copes with its absence."""

    module: str
    line: int
    optional: bool = False


def parse(source: bytes) -> ast.Module:
    """The syntax tree; raises SyntaxError for everything that keeps Python from having one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (ValueError, MemoryError, RecursionError) as error:
        raise SyntaxError(str(error) or "nested too deeply") from None


def third_party(tree: ast.Module) -> tuple[Import, ...]:
    """The packages outside the standard library, each once, at its first line."""
    found: dict[str, Import] = {}
    for module, line, optional in _imports(tree):
        top = module.partition(".")[0]
        if not top or top in sys.stdlib_module_names:
            continue
        this, known = Import(top, line, optional), found.get(top)
        if known is None or (this.optional, this.line) < (known.optional, known.line):
            found[top] = this
    return tuple(sorted(found.values(), key=lambda one: one.line))


def modules_named(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every module that a statement may load, its own submodules included: how many levels up it
    is meant from, 0 for none, and its dotted name."""
    for node, _ in _statements(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
            continue
        base = node.module or ""
        if base:
            yield node.level, base
        yield from ((node.level, f"{base}.{alias.name}".lstrip(".")) for alias in node.names)


def distribution_of(module: str) -> str:
    """The name under which the package is published: ``yaml`` is ``PyYAML``."""
    return known_distribution(module) or module


def known_distribution(module: str) -> str | None:
    """The same of a dotted name, if it is known: by its longest part that is."""
    parts = module.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((_published()[name] for name in names if name in _published()), None)


def is_known_distribution(name: str) -> bool:
    """Whether it is a name of the table."""
    return normalized(name) in {normalized(one) for one in _published().values()}


def normalized(name: str) -> str:
    """A distribution's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def _published() -> Mapping[str, str]:
    import tomllib
    from importlib import resources

    text = resources.files(__package__).joinpath("distributions.toml").read_text("utf-8")
    return {key: str(value) for key, value in tomllib.loads(text).items()}


def _imports(tree: ast.Module) -> Iterator[tuple[str, int, bool]]:
    for node, optional in _statements(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno, optional
        elif node.level == 0 and node.module:
            yield node.module, node.lineno, optional


def _statements(tree: ast.Module) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """The import statements, each with whether the source copes with its failure."""
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, optional = waiting.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, optional
        elif isinstance(node, ast.Try) and _catches_absence(node):
            waiting.extend((child, True) for child in node.body)
            waiting.extend((child, True) for child in node.handlers)
            waiting.extend((child, optional) for child in node.orelse + node.finalbody)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            waiting.extend((child, optional) for child in node.orelse)
        elif not isinstance(node, ast.expr):
            # Expressions hold no statements, and are most of any tree.
            waiting.extend((child, optional) for child in ast.iter_child_nodes(node))


def _catches_absence(node: ast.Try) -> bool:
    for handler in node.handlers:
        if handler.type is None:
            return True
        names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        for name in names:
            if isinstance(name, ast.Name) and name.id in (
                "ImportError",
                "ModuleNotFoundError",
                "Exception",
            ):
                # An except branch that only leaves is no way to do without.
                return not _leaves(handler.body)
    return False


def _leaves(body: list[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, ast.Raise):
        return True
    return (
        isinstance(last, ast.Expr)
        and isinstance(last.value, ast.Call)
        and (ast.unparse(last.value.func) in ("sys.exit", "exit", "quit", "os._exit"))
    )
