"""The house: names mean one thing, packages say what is in them, and the map shows every room."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "wardian"
MODULES = sorted(path for path in SOURCE.rglob("*.py"))
PACKAGES = sorted(path.parent for path in MODULES if path.name == "__init__.py")


def contents(package: Path) -> set[str]:
    """What a package has: modules by name, packages and folders of data with a slash."""
    modules = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
    folders = {path.name for path in package.iterdir() if path.is_dir()}
    return modules | {f"{name}/" for name in folders if not name.startswith(("_", "."))}


def mapped(package: Path) -> set[str]:
    """The names at the beginning of the lines of its docstring: ``name, name   what they are``.
    Files of data may stand there, too; they must exist."""
    docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    names: set[str] = set()
    for line in docstring.splitlines():
        head = re.match(r"[a-z_]+(?:/|\.\w+)?(?:(?:, | → )[a-z_]+(?:/|\.\w+)?)*(?=\s{2,})", line)
        names |= set(re.split(", | → ", head[0])) if head else set()
    return {name for name in names if "." not in name or not (package / name).exists()}


def name_of(package: Path) -> str:
    return ".".join(package.relative_to(SOURCE.parent).parts)


def test_a_public_class_name_means_one_thing() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert not {name: found for name, found in places.items() if len(found) > 1}


@pytest.mark.parametrize("package", PACKAGES, ids=name_of)
def test_a_package_says_what_each_of_its_modules_is(package: Path) -> None:
    if package == SOURCE:
        pytest.skip("docs/architecture.md does")
    assert mapped(package) == contents(package)


def test_every_package_is_on_the_map() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    missing = [name_of(package) for package in PACKAGES if f"`{name_of(package)}`" not in page]
    top = sorted(contents(SOURCE))
    missing += [f"wardian.{name}" for name in top if f"`wardian.{name.rstrip('/')}`" not in page]
    assert not missing


def test_every_file_that_the_map_names_is_there() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    named = set(re.findall(r"`((?:src/wardian|core|docs|tests)/[\w./-]+\.\w+)`", page))
    assert named
    assert not [name for name in named if not (ROOT / name).exists()]
