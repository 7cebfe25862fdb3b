"""A skill as data, and the lenient way to load one: what clients do with what they find."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from wardian.errors import SkillError
from wardian.skills import manifest
from wardian.skills.clones import clone_top
from wardian.skills.diagnostic import Diagnostic, UnreadableError, finding
from wardian.skills.manifest import Manifest
from wardian.skills.reading import NotRegularError, TooLargeError, read_bytes, read_inside
from wardian.skills.scripts import Script, scripts_in

MAX_MANIFEST_BYTES = 1 << 20
MANIFEST_NAMES = ("SKILL.md", "skill.md")


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill that loads. ``path`` is what was given; ``diagnostics`` is what is wrong with it.

    ``other`` holds the fields that the specification does not have.
    """

    name: str
    description: str
    path: Path
    license: str | None = None
    compatibility: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)
    allowed_tools: tuple[str, ...] = ()
    other: Mapping[str, str] = field(default_factory=dict, hash=False)
    body: str = ""
    body_line: int = 1
    scripts: tuple[Script, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Folder:
    """A skill's directory on this disk.

    ``name`` is what it is called where it came from, ``shown`` how messages name it.
    """

    path: Path
    name: str
    shown: str


@contextmanager
def opened(path: Path | str) -> Iterator[Folder]:
    """The skill at ``path`` as a directory: itself, or an archive unpacked for the while.

    ``path`` may also be the SKILL.md itself. Raises SkillError if there is nothing to open,
    or if the archive is not safe to open.
    """
    path = Path(path)
    # os.path, since pathlib's questions raise where a parent may not be entered
    if os.path.isdir(path):
        yield Folder(path, path.resolve().name, str(path))
    elif path.name in MANIFEST_NAMES and os.path.exists(path):
        yield Folder(path.parent, path.parent.resolve().name, str(path.parent))
    elif os.path.exists(path):
        from wardian.skills.archive import unpacked

        with unpacked(path) as root:
            yield Folder(root, root.name, str(path))
    else:
        raise SkillError("there is no such skill", path=str(path))


def load_skill(path: Path | str, *, scripts: bool = True) -> Skill:
    """The skill in a directory, a ``.skill`` or ``.zip``, or a tar.

    Raises SkillError when a client would skip it: no description, YAML that can't be read,
    no SKILL.md, an archive that is not safe. Everything else loads, with diagnostics.
    """
    with opened(path) as folder:
        return load_folder(folder, Path(path), scripts=scripts)


def load_folder(folder: Folder, path: Path, *, scripts: bool = True) -> Skill:
    """The skill in a directory that is already open."""
    try:
        read = read_manifest(folder)
    except UnreadableError as error:
        raise _refusal(error.diagnostic) from None
    if read.description is None:
        wrong = next(one for one in read.diagnostics if one.code in ("WS211", "WS212"))
        raise _refusal(wrong)
    return Skill(
        name=read.name or folder.name,
        description=read.description,
        path=path,
        license=read.license,
        compatibility=read.compatibility,
        metadata=read.metadata,
        allowed_tools=read.allowed_tools,
        other=read.other,
        body=read.body,
        body_line=read.body_line,
        scripts=scripts_in(folder.path) if scripts else (),
        diagnostics=read.diagnostics,
    )


def read_manifest(folder: Folder) -> Manifest:
    """The manifest in ``folder``; raises UnreadableError."""
    path, text, found = _manifest_text(folder)
    read = manifest.read(text, path, folder.name)
    return replace(read, diagnostics=(*found, *read.diagnostics)) if found else read


def _manifest_text(folder: Folder) -> tuple[str, str, list[Diagnostic]]:
    for name in MANIFEST_NAMES:
        shown = f"{folder.shown}/{name}"
        try:
            content = manifest_bytes(folder.path / name)
        except FileNotFoundError:
            continue
        except NotRegularError:
            message = f"{name} is not a regular file"
            raise UnreadableError(finding("manifest-kind", message, shown)) from None
        except TooLargeError:
            message = f"{name} is larger than {MAX_MANIFEST_BYTES >> 10} KiB"
            raise UnreadableError(finding("manifest-size", message, shown)) from None
        except OSError as error:
            message = f"{name} can't be read: {error.strerror}"
            raise UnreadableError(finding("manifest-kind", message, shown)) from None
        found = []
        if name != MANIFEST_NAMES[0]:
            message = f"{name} should be called {MANIFEST_NAMES[0]}"
            found.append(finding("manifest-case", message, shown))
        return shown, _decoded(content, shown), found
    raise UnreadableError(finding("no-manifest", "there is no SKILL.md", folder.shown))


def manifest_bytes(path: Path) -> bytes:
    """A link counts as long as it leads to Markdown of the clone that the skill lies in: no other
    file there, such as one with passwords, is taken for a SKILL.md. Raises OSError."""
    try:
        return read_bytes(path, MAX_MANIFEST_BYTES)
    except NotRegularError:
        here = os.path.join(os.path.realpath(path.parent), path.name)
        top = clone_top(os.path.dirname(here)) if os.path.islink(here) else None
        if top is None:
            raise
        real = os.path.realpath(here)
        if os.path.lexists(real) and not real.endswith(".md"):
            raise NotRegularError(f"{path} is a link to a file that is not Markdown") from None
        try:
            return read_inside(top, os.path.relpath(real, top), MAX_MANIFEST_BYTES)
        except FileNotFoundError:
            raise NotRegularError(f"{path} is a broken link") from None


def _decoded(content: bytes, shown: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
        message = f"byte 0x{content[error.start]:02x} is not UTF-8"
        raise UnreadableError(
            finding("encoding", message, shown, line, hint="save the file as UTF-8")
        ) from None


def _refusal(wrong: Diagnostic) -> SkillError:
    return SkillError(
        f"{wrong.message} ({wrong.code})",
        path=wrong.path,
        line=wrong.line,
        column=wrong.column,
        hint=wrong.hint,
    )
