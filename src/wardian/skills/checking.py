"""The strict reading of a skill: every rule of the specification, and what authors get wrong."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePosixPath

from wardian.errors import SkillError
from wardian.skills import dependencies, imports, syntax
from wardian.skills.clones import at_and_above, clone_top
from wardian.skills.diagnostic import Diagnostic, UnreadableError, finding
from wardian.skills.manifest import Manifest
from wardian.skills.reading import (
    FolderEntry,
    Listing,
    read_bytes,
    skipped_links,
    stays_inside,
    walk,
)
from wardian.skills.references import normal_target, references_in
from wardian.skills.scripts import InterpreterName, Script, scripts_in
from wardian.skills.skill import MANIFEST_NAMES, Folder, opened, read_manifest
from wardian.text import shell_word

MAX_SCRIPT_BYTES = 1 << 20
MAX_BODY_LINES = 500
_NEWER = "if it needs a newer Python, set `requires-python`"

# Compilers and editors read these with comments.
_JSON_WITH_COMMENTS = re.compile(r"(?:^|/)(?:[tj]sconfig[\w.-]*|devcontainer)\.json$")


def check(path: Path | str) -> list[Diagnostic]:
    """Everything there is to say about the skill at ``path``; valid if none is an error.

    Raises SkillError only if there is nothing at ``path``.
    """
    try:
        with opened(path) as folder:
            return check_folder(folder)
    except SkillError as error:
        if not Path(path).exists():
            raise
        return [finding("archive", _message(error), str(path), hint=error.hint)]


def check_folder(folder: Folder) -> list[Diagnostic]:
    """``check`` for a directory that is already open."""
    try:
        manifest = read_manifest(folder)
    except UnreadableError as error:
        return [error.diagnostic]
    listing = walk(folder.path)
    return [
        *manifest.diagnostics,
        *_body(folder, manifest, listing),
        *_files(folder, listing),
        *_scripts(folder, manifest, listing),
    ]


def check_manifest(folder: Folder) -> list[Diagnostic]:
    """Only what the specification says of SKILL.md itself."""
    try:
        return list(read_manifest(folder).diagnostics)
    except UnreadableError as error:
        return [error.diagnostic]


def _message(error: SkillError) -> str:
    return str(error).removeprefix(f"{error.path}: ")


def _body(folder: Folder, manifest: Manifest, listing: Listing) -> Iterator[Diagnostic]:
    shown = f"{folder.shown}/SKILL.md"
    first = manifest.body_line
    if not manifest.body.strip():
        yield finding("empty-body", "there are no instructions", shown, first)
        return
    lines = manifest.body.count("\n") + 1
    if lines > MAX_BODY_LINES:
        message = f"{lines} lines of instructions; {MAX_BODY_LINES} are recommended"
        hint = "move details into files that are read when needed"
        yield finding("long-body", message, shown, first, hint=hint)
    there = _paths(listing)
    said: set[str] = set()
    for one in references_in(manifest.body):
        target = normal_target(one.target)
        where = (shown, first + one.line - 1, one.column)
        if one.target in said or target == "" or target in there:
            continue
        said.add(one.target)
        if target is None:
            yield finding("outside-link", f"{one.target} is outside the skill", *where)
        elif one.kind == "link":
            if not os.path.lexists(folder.path / target):
                yield finding("missing-link", f"{one.target} does not exist", *where)
        elif not _in_or_above(folder, target):
            yield finding("missing-mention", f"{one.target} is named, but does not exist", *where)


def _in_or_above(folder: Folder, target: str) -> bool:
    """Whether a path is the skill's, or one of a folder above it in its clone: the plugin's."""
    real = os.path.realpath(folder.path)
    top = clone_top(real) or real
    places = (place for place in at_and_above(real) if stays_inside(Path(top), place))
    return any(os.path.lexists(os.path.join(place, target)) for place in places)


def _files(folder: Folder, listing: Listing) -> Iterator[Diagnostic]:
    if not listing.complete:
        message = f"only the first {len(listing.entries)} files were checked"
        yield finding("too-many-files", message, folder.shown)
    skipped = skipped_links(folder.path)
    if listing.complete and not skipped.complete:
        message = "the folders of tools and packages hold more files than were checked for links"
        yield finding("too-many-files", message, folder.shown)
    for entry in skipped.entries:
        if not stays_inside(folder.path, entry.path):
            yield _outside(folder, entry, "remove it: no run needs files that tools left there")
    for entry in listing.entries:
        shown = f"{folder.shown}/{entry.path}"
        if entry.kind == "link" and entry.path in MANIFEST_NAMES and _in_clone(folder, entry):
            hint = "put the file itself there: links do not survive packing"
            yield finding("link", "a symbolic link to elsewhere in the clone", shown, hint=hint)
        elif entry.kind == "link" and not stays_inside(folder.path, entry.path):
            hint = "put the file itself there: inside the sandbox the link leads nowhere"
            yield _outside(folder, entry, hint)
        elif entry.kind == "link":
            hint = "put the file itself there: links do not survive packing"
            yield finding("link", "a symbolic link", shown, hint=hint)
        elif entry.kind == "other":
            yield finding("special-file", "neither a file nor a directory", shown)
        elif entry.path.endswith(".json") and not _JSON_WITH_COMMENTS.search(entry.path):
            content = _content(folder, entry.path)
            flaw = syntax.json_flaw(content) if content is not None else None
            if flaw is not None and not _is_template(entry.path, content):
                message = f"not JSON: {flaw.message}"
                yield finding("does-not-parse", message, shown, flaw.line, flaw.column)


def _in_clone(folder: Folder, entry: FolderEntry) -> bool:
    real = os.path.realpath(folder.path)
    top = clone_top(real)
    return top is not None and stays_inside(Path(top), os.path.relpath(f"{real}/{entry.path}", top))


def _outside(folder: Folder, entry: FolderEntry, hint: str) -> Diagnostic:
    try:
        target = os.readlink(folder.path / entry.path)
    except OSError:
        target = "?"  # it went away
    message = f"a symbolic link out of the skill, to {target}"
    return finding("link-outside", message, f"{folder.shown}/{entry.path}", hint=hint)


def _scripts(folder: Folder, manifest: Manifest, listing: Listing) -> Iterator[Diagnostic]:
    scripts = scripts_in(folder.path, listing)
    declared = dependencies.declared_by(folder.path, manifest.body, listing)
    for path, line, message in declared.problems:
        yield finding("script-metadata", message, f"{folder.shown}/{path}", line)
    local = _local_modules(listing)
    said: set[str] = set()
    for script in scripts:
        shown = f"{folder.shown}/{script.path}"
        yield from _start(script, shown)
        if script.interpreter is None:
            continue
        source = _content(folder, script.path)
        if source is None:
            continue
        reading = _reading(script.interpreter.name, source)
        if reading.flaw is not None:
            if not (_is_template(script.path, source) or _wants_newer(script, source)):
                flaw = reading.flaw
                message = f"does not parse as {syntax.parser_of(script.interpreter.name)}"
                message += f": {flaw.message}"
                hint = _NEWER if script.interpreter.name == "python" else None
                yield finding("does-not-parse", message, shown, flaw.line, flaw.column, hint=hint)
        elif script.interpreter.name == "python":
            for one in _needs(shown, source, reading.imports, declared, local):
                # Once for a package, at the first script that wants it.
                if one.message not in said:
                    said.add(one.message)
                    yield one


def _start(script: Script, shown: str) -> Iterator[Diagnostic]:
    if script.shebang is not None and script.shebang.endswith("\r"):
        hint = "save the file with line feeds only"
        yield finding(
            "shebang-line-end", "the shebang ends with a carriage return", shown, 1, hint=hint
        )
    if script.interpreter is None:
        why = f"`#!{script.shebang}`" if script.shebang else PurePosixPath(script.path).suffix
        yield finding("unknown-interpreter", f"no known interpreter for {why}", shown, 1)
    elif script.interpreter.name == "elf":
        return
    elif script.shebang is not None and not script.executable:
        hint = f"chmod +x {shell_word(script.path)}"
        yield finding("not-executable", "a shebang without execute bit", shown, 1, hint=hint)
    elif script.shebang is None and script.executable:
        hint = "add a shebang, or remove the execute bit"
        yield finding("no-shebang", "executable, and no shebang", shown, 1, hint=hint)


def _needs(
    shown: str,
    source: bytes,
    found: tuple[imports.Import, ...],
    declared: dependencies.Declared,
    local: frozenset[str],
) -> Iterator[Diagnostic]:
    names = declared.python_names
    try:
        inline = dependencies.inline_metadata(source.decode("utf-8", "replace"))
    except dependencies.DeclarationError as error:
        yield finding("script-metadata", str(error), shown, error.line)
        return
    if inline is not None:
        own = filter(None, map(dependencies.requirement_name, inline.dependencies))
        names = frozenset(own)
    for one in found:
        package = imports.distribution_of(one.module)
        known = {imports.normalized(package), imports.normalized(one.module)}
        if one.optional or one.module in local or known & names:
            continue
        if known & declared.prose_names and inline is None:
            message = f"`{package}` is named only in the instructions"
            yield finding("prose-dependency", message, shown, one.line)
            continue
        hint = f"declare {package} in a `# /// script` block, requirements.txt or pyproject.toml"
        message = f"`{one.module}` is imported, but not declared"
        yield finding("undeclared-import", message, shown, one.line, hint=hint)


def _is_template(path: str, source: bytes | None) -> bool:
    """Whether the file is there to be filled in, and parses only then."""
    folders = path.split("/")[:-1]
    placed = "templates" in folders or "assets" in folders
    return placed and source is not None and (b"{{" in source or b"<%" in source)


def _wants_newer(script: Script, source: bytes) -> bool:
    """Whether a Python script asks for a newer Python than the one that parses it here."""
    if script.interpreter is None or script.interpreter.name != "python":
        return False
    wishes = [script.interpreter.version or ""]
    try:
        inline = dependencies.inline_metadata(source.decode("utf-8", "replace"))
        wishes.append((inline and inline.requires_python) or "")
    except dependencies.DeclarationError:
        pass
    minors = [int(minor) for wish in wishes for minor in re.findall(r"\b3\.(\d{1,3})", wish)]
    return any(minor > sys.version_info.minor for minor in minors)


@lru_cache(maxsize=512)
def _reading(language: InterpreterName, source: bytes) -> syntax.Reading:
    # Skills in one folder share many a script; each is parsed once.
    return syntax.read_script(language, source)


def _content(folder: Folder, path: str) -> bytes | None:
    try:
        return read_bytes(folder.path / path, MAX_SCRIPT_BYTES)
    except OSError:
        return None


def _paths(listing: Listing) -> frozenset[str]:
    found: set[str] = set()
    for entry in listing.entries:
        path = entry.path
        while path and path not in found:
            found.add(path)
            path = path.rpartition("/")[0]
    return frozenset(found)


def _local_modules(listing: Listing) -> frozenset[str]:
    names: set[str] = set()
    for entry in listing.files:
        if entry.path.endswith((".py", ".so")):
            parts = PurePosixPath(entry.path)
            names.update(parts.parts[:-1])
            names.add(parts.name.partition(".")[0])
    return frozenset(names)
