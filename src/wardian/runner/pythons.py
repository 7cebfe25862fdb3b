"""The Pythons of this host, found by looking at files; none is started."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

Version = tuple[int, ...]
_NAME = re.compile(r"python(\d)(?:\.(\d+))?")
MAX_PATCH_LEVEL = 50


class Python(NamedTuple):
    """An installed Python; ``path`` is what to start."""

    path: str
    version: Version


def find(wish: str, env: Mapping[str, str]) -> Python | None:
    """The first that fits: ``python3`` and ``python`` of the PATH first, then the newest."""
    first: list[Python] = []
    others: list[Python] = []
    for python, preferred in _all(env):
        if allows(wish, python.version):
            (first if preferred else others).append(python)
    if first:
        return first[0]
    return max(others, key=lambda one: one.version, default=None)


def allows(wish: str, version: Version) -> bool:
    """Does ``>=3.10,<3.13`` or ``3.12`` allow this version? What can't be read allows none.

    Where a patch level is not known, one that is allowed will do.
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    clauses = (clause.strip() for clause in wish.split(","))
    try:
        wanted = SpecifierSet(",".join(f"=={c}.*" if c[:1].isdigit() else c for c in clauses))
    except InvalidSpecifier:
        return False
    levels = [""] if len(version) > 2 else [f".{level}" for level in range(MAX_PATCH_LEVEL)]
    named = ".".join(map(str, version))
    return bool(wish) and any(wanted.contains(named + level) for level in levels)


def version_of(path: str) -> Version | None:
    """By the names around it: python3.11, lib/python3.11, versions/3.11.7, cpython-3.11.7-…"""
    real = os.path.realpath(path)
    prefix = os.path.dirname(os.path.dirname(real))
    exact = re.fullmatch(r"(?:cpython-|pypy-?)?(\d+\.\d+\.\d+)(?:-.*)?", os.path.basename(prefix))
    if exact is not None:
        return tuple(int(part) for part in exact[1].split("."))
    named = _NAME.fullmatch(os.path.basename(real))
    if named is not None and named[2]:
        return int(named[1]), int(named[2])
    try:
        found = [name for name in os.listdir(os.path.join(prefix, "lib")) if _NAME.fullmatch(name)]
    except OSError:
        return None
    for name in found:
        match = _NAME.fullmatch(name)
        if match is not None and match[2] and os.path.exists(f"{prefix}/lib/{name}/os.py"):
            return int(match[1]), int(match[2])
    return None


def _all(env: Mapping[str, str]) -> Iterator[tuple[Python, bool]]:
    from wardian.errors import ShareError
    from wardian.sandbox.root.active import is_own
    from wardian.sandbox.root.programs import find_program, on_path, program_named

    for name in ("python3", "python"):
        path = program_named(name, env)
        if path is not None:
            try:
                # find_program sees through pyenv's shims; below /usr it has nothing to add.
                real = find_program(path, env).path or path
            except ShareError:
                continue
            version = version_of(real)
            if version is not None:
                yield Python(real, version), True
    for directory in (*_path(env), *_kept(env)):
        if os.path.basename(directory) == "shims" or is_own(directory):
            continue
        try:
            names = os.listdir(directory)
        except OSError:
            continue
        for name in names:
            match = _NAME.fullmatch(name)
            path = os.path.join(directory, name)
            if match is not None and match[2] and on_path(name, {"PATH": directory}) is not None:
                version = version_of(path)
                if version is not None:
                    yield Python(path, version), False


def _path(env: Mapping[str, str]) -> list[str]:
    entries = env.get("PATH", os.defpath).split(os.pathsep)
    return [entry for entry in dict.fromkeys(entries) if entry.startswith("/")]


def _kept(env: Mapping[str, str]) -> Iterator[str]:
    from wardian.sandbox.root.installations import KEPT

    home = os.path.expanduser("~")
    for variable, default, below in KEPT:
        root = os.path.join(env.get(variable) or os.path.join(home, default), below)
        try:
            names = sorted(os.listdir(root))
        except OSError:
            continue
        yield from (os.path.join(root, name, "bin") for name in names)
