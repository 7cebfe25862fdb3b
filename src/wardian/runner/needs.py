"""What one script needs: the nearest declaration that counts for it. Declarations are read by
``wardian.skills.dependencies``; here it is only decided which of them apply. What all scripts of a
skill need is ``whole_skill``'s."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from wardian.errors import SkillError
from wardian.runner.requested import Requested

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wardian.runner.script import Chosen

MAX_BYTES = 4 << 20
LOCKS = ("package-lock.json", "npm-shrinkwrap.json")
_JAVASCRIPT = ("node", "deno", "bun")


class Needs(NamedTuple):
    """``origin`` says where they are declared; files are given by their content.

    What stands in ``python`` is as it was declared, and only a name for an environment until
    ``packages.requirements`` has parsed it, which is when one has to be made.
    """

    python: tuple[str, ...] = ()
    requires_python: str | None = None
    package_json: bytes | None = None
    package_lock: bytes | None = None
    origin: str = ""

    @property
    def empty(self) -> bool:
        """Nothing has to be prepared."""
        return not self.python and self.package_json is None


def needs_of(
    skill: str,
    script: Chosen,
    extra: Requested = Requested(),  # noqa: B008
) -> tuple[Needs, ...]:
    """What is declared for it and what the caller adds: at most one for Python and one for Node.

    A script's own PEP 723 block is all it needs, as that PEP says. Without one, the nearest
    requirements.txt, pyproject.toml or package.json counts, from its folder up to the skill's.
    Raises SkillError for a declaration that can't be read.
    """
    kind = script.wish.name
    python = inline_needs(skill, script) if kind == "python" else None
    node = None
    for folder in _folders(script.path):
        if kind == "python":
            python = python or _python_in(skill, folder)
        elif kind in _JAVASCRIPT and os.path.isfile(os.path.join(skill, folder, "package.json")):
            node = _node_in(skill, folder)
            break
    return with_requested(python, node, extra)


def needs_in(skill: str, folder: str) -> tuple[Needs, ...]:
    """What the files of one folder of the skill declare. Raises SkillError."""
    node = None
    if os.path.isfile(os.path.join(skill, folder, "package.json")):
        node = _node_in(skill, folder)
    return tuple(one for one in (_python_in(skill, folder), node) if one is not None)


def with_requested(python: Needs | None, node: Needs | None, extra: Requested) -> tuple[Needs, ...]:
    """The same with the packages that the caller names."""
    if extra.python:
        base = python or Needs()
        python = base._replace(python=(*base.python, *extra.python), origin=_with(base))
    if extra.node:
        import json

        base = node or Needs(package_json=b"{}")
        wanted = json.loads(base.package_json or b"{}")
        wanted["dependencies"] = wanted.get("dependencies", {}) | dict(extra.node)
        manifest = json.dumps(wanted, sort_keys=True).encode()
        node = base._replace(package_json=manifest, origin=_with(base))
    return tuple(one for one in (python, node) if one is not None)


def _with(base: Needs) -> str:
    return ", ".join(filter(None, (base.origin, "--with")))


def inline_needs(skill: str, script: Chosen) -> Needs | None:
    """What the script's own PEP 723 block declares. Raises SkillError."""
    from wardian.runner.script import HEAD_BYTES, source_of

    source = script.head
    if b"# /// script" not in source and len(source) >= HEAD_BYTES:
        source = source_of(skill, script)
    if b"# /// script" not in source:
        return None
    from wardian.skills.dependencies import DeclarationError, inline_metadata

    try:
        found = inline_metadata(source_of(skill, script).decode("utf-8", "replace"))
    except DeclarationError as error:
        raise SkillError(str(error), path=script.path, line=error.line) from None
    if found is None:
        return None
    return Needs(found.dependencies, found.requires_python, origin=script.path)


def _python_in(skill: str, folder: str) -> Needs | None:
    path = os.path.join(folder, "requirements.txt")
    if os.path.isfile(os.path.join(skill, path)):
        from wardian.runner.packages.requirements import lines_of

        return Needs(tuple(lines_of(_text(skill, path))), origin=path)
    path = os.path.join(folder, "pyproject.toml")
    return _pyproject(skill, path) if os.path.isfile(os.path.join(skill, path)) else None


def _pyproject(skill: str, path: str) -> Needs:
    from wardian import toml

    try:
        project = toml.loads(_text(skill, path)).get("project", {})
        needs = project.get("dependencies", [])
        wish = project.get("requires-python")
    except (ValueError, RecursionError, AttributeError) as error:
        raise SkillError(f"not a pyproject.toml: {error}", path=path) from None
    if not isinstance(needs, list) or not all(isinstance(one, str) for one in needs):
        raise SkillError("project.dependencies must be a list of strings", path=path)
    return Needs(tuple(needs), wish if isinstance(wish, str) else None, origin=path)


def _node_in(skill: str, folder: str) -> Needs | None:
    """What a package.json declares; None if it needs nothing, or the skill brings it along."""
    path = os.path.join(folder, "package.json")
    if os.path.isdir(os.path.join(skill, folder, "node_modules")):
        return None
    manifest = _slimmed(skill, path)
    if manifest is None:
        return None
    for name in LOCKS:
        lock = os.path.join(folder, name)
        if os.path.isfile(os.path.join(skill, lock)):
            return Needs(package_json=manifest, package_lock=_bytes(skill, lock), origin=path)
    return Needs(package_json=manifest, origin=path)


def _slimmed(skill: str, path: str) -> bytes | None:
    """Of package.json only what npm needs to choose packages; None if it needs none.

    The skill's own scripts, workspaces and settings stay out.
    """
    import json

    try:
        document = json.loads(_text(skill, path))
    except (ValueError, RecursionError) as error:
        raise SkillError(f"not JSON: {error}", path=path) from None
    if not isinstance(document, dict):
        raise SkillError("it must be a JSON object", path=path)
    kept = ("dependencies", "optionalDependencies", "overrides")
    wanted = {key: document[key] for key in kept if key in document}
    from wardian.runner.packages.specs import manifest_fault

    why = manifest_fault(wanted)
    if why:
        raise SkillError(why, path=path)
    if not wanted.get("dependencies") and not wanted.get("optionalDependencies"):
        return None
    return json.dumps(wanted, sort_keys=True).encode()


def _folders(path: str) -> Iterator[str]:
    folder = os.path.dirname(path)
    while folder:
        yield folder
        folder = os.path.dirname(folder)
    yield ""


def _bytes(skill: str, path: str) -> bytes:
    from pathlib import Path

    from wardian.skills.reading import read_bytes

    try:
        return read_bytes(Path(skill) / path, MAX_BYTES)
    except OSError as error:
        raise SkillError(error.strerror or str(error), path=path) from None


def _text(skill: str, path: str) -> str:
    try:
        return _bytes(skill, path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SkillError("it is not UTF-8", path=path) from None
