"""What a skill says it needs: PEP 723 blocks, requirements, pyproject, package.json, prose.

Declarations are collected, never resolved: that is uv's and npm's work.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from wardian import toml
from wardian.skills.imports import normalized
from wardian.skills.reading import Listing, read_bytes, walk

_MAX_BYTES = 1 << 20


class DeclarationError(ValueError):
    """A declaration that is there and can't be read; ``line`` counts from 1."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class InlineMetadata:
    """A PEP 723 ``script`` block: what one script needs, whatever stands around it."""

    dependencies: tuple[str, ...] = ()
    requires_python: str | None = None
    line: int = 1


@dataclass(frozen=True, slots=True)
class Declared:
    """The needs of a whole skill, by the file that states them."""

    python: tuple[str, ...] = ()
    requires_python: str | None = None
    python_files: tuple[str, ...] = ()
    node: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    node_file: str | None = None
    node_lock: str | None = None
    prose: tuple[str, ...] = ()
    problems: tuple[tuple[str, int, str], ...] = ()

    @property
    def python_names(self) -> frozenset[str]:
        return frozenset(filter(None, map(requirement_name, self.python)))

    @property
    def prose_names(self) -> frozenset[str]:
        return frozenset(filter(None, map(requirement_name, self.prose)))


# The expression that PEP 723 gives as the definition of a block.
_BLOCK = re.compile(r"(?m)^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$")


def inline_metadata(source: str) -> InlineMetadata | None:
    """The script's own PEP 723 block, or None; raises DeclarationError if it is malformed."""
    if "# /// script" not in source:
        return None
    blocks = list(_blocks(source.replace("\r\n", "\n").split("\n")))
    if not blocks:
        return None
    line, block = blocks[0]
    if len(blocks) > 1:
        raise DeclarationError("two `# /// script` blocks", line)
    content = "".join(
        text[2:] if text.startswith("# ") else text[1:]
        for text in block["content"].splitlines(keepends=True)
    )
    try:
        table = toml.loads(content)
    except (ValueError, RecursionError) as error:  # also a number of too many digits
        raise DeclarationError(f"the `# /// script` block is not TOML: {error}", line) from None
    wish = table.get("requires-python")
    if wish is not None and not isinstance(wish, str):
        raise DeclarationError("`requires-python` must be text", line)
    return InlineMetadata(_strings(table.get("dependencies", []), "dependencies", line), wish, line)


def _blocks(lines: list[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """The script blocks with their lines, sought in runs of comments that end with a closing line.

    On any other text the expression takes quadratic time.
    """
    start = 0
    for number, line in enumerate([*lines, ""]):
        if line == "#" or line.startswith("# "):
            continue
        run = lines[start:number]
        while run and run[-1] != "# ///":
            run.pop()
        text = "\n".join(run)
        for match in _BLOCK.finditer(text):
            if match["type"] == "script":
                yield start + 1 + text.count("\n", 0, match.start()), match
        start = number + 1


def requirement_name(requirement: str) -> str | None:
    """The normalised name in ``requests[socks]>=2; python_version<'4'``, or None."""
    match = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", requirement)
    return normalized(match[1].rstrip("._-")) if match else None


def requirements_txt(text: str) -> tuple[str, ...]:
    """The requirements of a requirements.txt; options, includes and comments are left out."""
    joined = text.replace("\\\r\n", " ").replace("\\\n", " ")
    lines = (re.split(r"(?:^|\s)#", line, maxsplit=1)[0].strip() for line in joined.splitlines())
    kept = (
        re.split(r"\s--(?:hash|config-settings)", line, maxsplit=1)[0].rstrip() for line in lines
    )
    return tuple(line for line in kept if line and not line.startswith("-"))


def declared_by(folder: Path, body: str = "", listing: Listing | None = None) -> Declared:
    """Everything the files of ``folder`` and the instructions in ``body`` declare."""
    listing = listing or walk(folder)
    python: list[str] = []
    files: list[str] = []
    problems: list[tuple[str, int, str]] = []
    wish: str | None = None
    node: dict[str, str] = {}
    node_file = node_lock = None
    for entry in listing.files:
        name = entry.path.rpartition("/")[2]
        try:
            if re.fullmatch(r"requirements[\w.-]*\.txt", name):
                python += requirements_txt(_text(folder, entry.path))
                files.append(entry.path)
            elif name == "pyproject.toml":
                needs, asked = _pyproject(_text(folder, entry.path))
                python += needs
                wish = wish or asked
                files.append(entry.path)
            elif name == "package.json" and (node_file is None or "/" not in entry.path):
                node = _package_json(_text(folder, entry.path))
                node_file = entry.path
            elif name in ("package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml"):
                node_lock = entry.path
        except (DeclarationError, OSError) as error:
            problems.append((entry.path, getattr(error, "line", 1), str(error)))
    return Declared(
        tuple(python),
        wish,
        tuple(files),
        MappingProxyType(node),
        node_file,
        node_lock,
        prose_requirements(_prose(folder, body, listing)),
        tuple(problems),
    )


_INSTALL = re.compile(
    r"\b(?:pip3?|uv|pipx|conda)[ \t]+(?:pip[ \t]+)?(?:install|add)[ \t]+([^\n`|;&#)]+)"
    r"|--with[ =](\S+)"
)


def prose_requirements(text: str) -> tuple[str, ...]:
    """The packages that ``pip install x`` and its kin name in instructions."""
    found: dict[str, None] = {}
    if "install" not in text and " add " not in text and "--with" not in text:
        return ()
    for match in _INSTALL.finditer(text):
        for word in (match[1] or match[2]).split():
            clean = word.strip("\"'.,:`*")
            if re.fullmatch(r"[A-Za-z0-9][\w.-]*(?:\[[\w,]+\])?(?:[=<>~!]=?[\w.*]+)?", clean):
                found[clean] = None
    return tuple(found)


def _prose(folder: Path, body: str, listing: Listing) -> str:
    parts = [body]
    for entry in listing.files:
        if entry.path.lower() == "skill.md":
            continue  # its body is at hand
        if entry.path.endswith(".md") and entry.path.count("/") < 2 and len(parts) < 50:
            try:
                parts.append(_text(folder, entry.path))
            except (DeclarationError, OSError):
                continue
    return "\n".join(parts)


def _text(folder: Path, path: str) -> str:
    try:
        return read_bytes(folder / path, _MAX_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DeclarationError("not UTF-8") from None


def _pyproject(text: str) -> tuple[tuple[str, ...], str | None]:
    try:
        project = toml.loads(text).get("project", {})
    except (ValueError, RecursionError) as error:
        raise DeclarationError(f"not TOML: {error}") from None
    if not isinstance(project, dict):
        raise DeclarationError("`project` must be a table")
    wish = project.get("requires-python")
    needs = _strings(project.get("dependencies", []), "project.dependencies", 1)
    return needs, wish if isinstance(wish, str) else None


def _package_json(text: str) -> dict[str, str]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DeclarationError(f"not JSON: {error}") from None
    needs = document.get("dependencies", {}) if isinstance(document, dict) else None
    if not isinstance(needs, dict):
        raise DeclarationError("`dependencies` must be an object")
    return {str(name): str(wish) for name, wish in needs.items()}


def _strings(value: Any, where: str, line: int) -> tuple[str, ...]:
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise DeclarationError(f"`{where}` must be a list of strings", line)
    items = tuple(value)
    if not all(isinstance(item, str) for item in items):
        raise DeclarationError(f"`{where}` must be a list of strings", line)
    return items
