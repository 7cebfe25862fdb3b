"""The packages that a skill's Python script imports and nobody declares, by itself or by the
skill's own modules. Sources are read, never executed."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from wardian.homes import own_directory
from wardian.runner.needs import MAX_BYTES, needs_of
from wardian.sandbox.root.shares import is_below
from wardian.skills.dependencies import declared_by, requirement_name
from wardian.skills.imports import distribution_of, modules_named, normalized, parse, third_party
from wardian.skills.reading import read_bytes

if TYPE_CHECKING:
    from wardian.runner.script import Chosen

MAX_FILES = 200
MAX_ENTRIES, MAX_DEPTH = 2000, 4
FOLDERS = ("", "scripts")  # beside the script's own, where its modules are looked for


def undeclared(skill: str, script: Chosen, python: str) -> list[str]:
    """Distributions that the script needs, and that neither ``python`` nor the skill has."""
    stated = [text for needs in needs_of(skill, script) for text in needs.python]
    declared = declared_by(Path(skill)).python_names | {requirement_name(one) for one in stated}
    there = _installed(python)
    missing: dict[str, None] = {}
    present: dict[str, None] = {}
    for tree in own_sources(skill, script.path).values():
        for one in third_party(tree):
            name = distribution_of(one.module)
            own = own_files(skill, script.path, one.module) or _folder(skill, script, one.module)
            if not own and not one.optional and normalized(name) not in declared:
                kind = present if one.module in there else missing
                kind[requirement_name(name) or name] = None
    # An environment that is prepared for what is missing has nothing of another Python's.
    also = present if missing and not _is_prepared(python) else {}
    return [*missing, *(name for name in also if name not in missing)]


def _is_prepared(python: str) -> bool:
    return is_below(python, os.path.realpath(own_directory("cache")))


def own_sources(skill: str, script: str) -> dict[str, ast.Module]:
    """The script and the modules of the skill that it loads, by their paths in the skill."""
    sources: dict[str, ast.Module] = {}
    waiting = [script]
    while waiting and len(sources) < MAX_FILES:
        path = waiting.pop()
        if path in sources:
            continue
        try:
            sources[path] = parse(read_bytes(Path(skill) / path, MAX_BYTES))
        except (OSError, SyntaxError):
            continue
        for level, name in modules_named(sources[path]):
            if level == 0:
                waiting += own_files(skill, script, name)
            else:
                folder = path
                for _ in range(level):
                    folder = os.path.dirname(folder)
                waiting += _files_of(skill, folder, name)
    return sources


def own_files(skill: str, script: str, module: str) -> list[str]:
    """The files of the skill that a module's dotted name loads for a script."""
    folders = dict.fromkeys((os.path.dirname(script), *FOLDERS))
    found = (list(_files_of(skill, folder, module)) for folder in folders)
    return next(filter(None, found), [])


def own_module(root: str, module: str) -> str | None:
    """Where below a folder a module of that name is, by file names alone; the nearest one."""
    top = module.partition(".")[0]
    waiting, seen = [("", 0)], 0
    while waiting:
        folder, depth = waiting.pop(0)
        try:
            entries = sorted(os.scandir(os.path.join(root, folder)), key=lambda one: one.name)
        except OSError:
            continue
        names = {entry.name: entry for entry in entries}
        if f"{top}.py" in names or (top in names and names[top].is_dir(follow_symlinks=False)):
            return os.path.join(folder, f"{top}.py" if f"{top}.py" in names else top)
        if "pyvenv.cfg" in names:
            continue
        seen += len(entries)
        if depth < MAX_DEPTH and seen < MAX_ENTRIES:
            waiting += [
                (os.path.join(folder, entry.name), depth + 1)
                for entry in entries
                if not entry.name.startswith((".", "node_modules", "site-packages"))
                and entry.is_dir(follow_symlinks=False)
            ]
    return None


def _files_of(skill: str, folder: str, module: str) -> Iterator[str]:
    place = folder
    for part in module.split("."):
        place = os.path.join(place, part)
        for path in (f"{place}.py", f"{place}/__init__.py"):
            if os.path.isfile(os.path.join(skill, path)):
                yield path
        if not os.path.isdir(os.path.join(skill, place)):
            return


def _folder(skill: str, script: Chosen, module: str) -> bool:
    folders = (os.path.dirname(script.path), *FOLDERS)
    return any(os.path.isdir(os.path.join(skill, folder, module)) for folder in folders)


def _installed(python: str) -> set[str]:
    """The names that a Python could import from its packages, by looking at their folders."""
    from glob import escape, glob

    from wardian.sandbox.root.programs import find_program

    program = find_program(python, os.environ).path or os.path.realpath(f"/usr/bin/{python}")
    prefix = escape(os.path.dirname(os.path.dirname(program)))
    names: set[str] = set()
    for folder in glob(f"{prefix}/lib*/python3*/[sd]*-packages"):
        names.update(name.partition(".")[0] for name in os.listdir(folder))
    return names
