"""A skill's scripts, wherever they lie, and the interpreter each asks for."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from wardian.skills.reading import FolderEntry, Listing, read_bytes, walk

InterpreterName = Literal[
    "python", "sh", "bash", "zsh", "node", "deno", "bun", "ruby", "perl", "r", "elf"
]
Evidence = Literal["shebang", "extension", "content"]

_HEAD_BYTES = 8192


@dataclass(frozen=True, slots=True)
class Interpreter:
    """What runs a script: ``version`` is its wish (``3.12``, ``>=22``), ``options`` its flags."""

    name: InterpreterName
    evidence: Evidence
    version: str | None = None
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """One script; ``interpreter`` is None when nothing known runs it.

    ``entry`` is true for a command, false for a module that others import.
    """

    path: str
    interpreter: Interpreter | None
    executable: bool
    size: int
    shebang: str | None = None
    entry: bool = True


def scripts_in(folder: Path, listing: Listing | None = None) -> tuple[Script, ...]:
    """Every script below ``folder``, by path; other files are not opened."""
    found = []
    for entry in (listing or walk(folder)).files:
        if may_be_script(entry):
            script = script_at(folder, entry)
            if script is not None:
                found.append(script)
    return tuple(found)


def may_be_script(entry: FolderEntry) -> bool:
    """Whether the name or the mode makes it worth opening the file."""
    name = PurePosixPath(entry.path)
    suffix = name.suffix.lower()
    if suffix in _BY_EXTENSION or suffix in _OTHER_LANGUAGES:
        return True
    if suffix in _DATA:
        return False
    return entry.executable or not suffix


def script_at(folder: Path, entry: FolderEntry) -> Script | None:
    """The script that ``entry`` is, or None if its content says that it is none."""
    try:
        head = read_bytes(folder / entry.path, _HEAD_BYTES, truncate=True)
    except OSError:
        return None
    suffix = PurePosixPath(entry.path).suffix.lower()
    shebang = _shebang(head)
    interpreter = interpreter_of(entry.path, head)
    if interpreter is None and shebang is None and suffix not in _OTHER_LANGUAGES:
        # An executable text without a shebang, say a font copied from a Windows disk, is data.
        return None
    return Script(
        path=entry.path,
        interpreter=interpreter,
        executable=entry.executable,
        size=entry.size,
        shebang=shebang,
        entry=_is_entry(entry.path, interpreter, folder),
    )


def interpreter_of(path: str, head: bytes) -> Interpreter | None:
    """The interpreter by shebang, then by extension, then by content; pure."""
    shebang = _shebang(head)
    if shebang is not None:
        return _from_shebang(shebang)
    suffix = PurePosixPath(path).suffix.lower()
    name = _BY_EXTENSION.get(suffix)
    if name is not None:
        if suffix in _TYPESCRIPT:
            return _typescript(head)
        if suffix == ".sh" and _BASH_ONLY.search(head):
            return Interpreter("bash", "extension")
        return Interpreter(name, "extension")
    return _from_content(head) if suffix not in _OTHER_LANGUAGES else None


_BY_EXTENSION: dict[str, InterpreterName] = {
    ".py": "python", ".pyw": "python", ".sh": "sh", ".bash": "bash", ".zsh": "zsh",
    ".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "node", ".mts": "node",
    ".cts": "node", ".rb": "ruby", ".pl": "perl", ".r": "r",
}  # fmt: skip
_TYPESCRIPT = frozenset((".ts", ".mts", ".cts"))
# Languages that are scripts to their authors, and that nothing here runs.
_OTHER_LANGUAGES = frozenset((
    ".ps1", ".bat", ".cmd", ".php", ".lua", ".tcl", ".awk", ".fish", ".csh", ".ksh", ".groovy",
    ".jl", ".exs", ".applescript", ".vbs",
))  # fmt: skip
# The execute bit on these is an accident of the disk they came from.
_DATA = frozenset((
    ".md", ".txt", ".json", ".toml", ".yaml", ".yml", ".xml", ".xsd", ".html", ".htm", ".css",
    ".csv", ".tsv", ".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".pdf", ".ttf",
    ".otf", ".woff", ".woff2", ".zip", ".gz", ".xz", ".bz2", ".tar", ".skill", ".docx", ".xlsx",
    ".pptx", ".lock", ".cfg", ".ini", ".mp3", ".mp4", ".wav",
))  # fmt: skip

_PROGRAMS: tuple[tuple[re.Pattern[str], InterpreterName], ...] = (
    (re.compile(r"(?:python|pypy)(\d+(?:\.\d+)?)?w?"), "python"),
    (re.compile(r"(?:da|a)?sh()"), "sh"),
    (re.compile(r"bash(\d+(?:\.\d+)?)?"), "bash"),
    (re.compile(r"zsh()"), "zsh"),
    (re.compile(r"node(?:js)?(\d+)?"), "node"),
    (re.compile(r"deno()"), "deno"),
    (re.compile(r"bun()"), "bun"),
    (re.compile(r"ruby(\d+(?:\.\d+)?)?"), "ruby"),
    (re.compile(r"perl(\d+(?:\.\d+)?)?"), "perl"),
    (re.compile(r"Rscript()"), "r"),
)
_BASH_ONLY = re.compile(
    rb"\[\[ |^\s*function \w|pipefail|<\(|<<<|\$\{\w+(?://|\^|,,|\[)|^\s*declare |=\(", re.MULTILINE
)


def _shebang(head: bytes) -> str | None:
    if not head.startswith(b"#!"):
        return None
    return head[2:].split(b"\n", 1)[0].decode("utf-8", "replace").strip(" \t") or None


def _from_shebang(line: str) -> Interpreter | None:
    try:
        words = shlex.split(line.rstrip("\r"))
    except ValueError:
        words = line.split()
    if words and PurePosixPath(words[0]).name == "env":
        words = _after_env(words[1:])
    if words[:2] == ["uv", "run"]:
        # `uv run --script` is how PEP 723 scripts start themselves; its flags are uv's.
        return Interpreter("python", "shebang")
    if not words:
        return None
    program = PurePosixPath(words[0]).name
    for pattern, name in _PROGRAMS:
        match = pattern.fullmatch(program)
        if match is not None:
            return Interpreter(name, "shebang", match[1] or None, tuple(words[1:]))
    return None


def _after_env(words: list[str]) -> list[str]:
    while words and (words[0].startswith("-") or "=" in words[0]):
        if words[0].startswith("-S") and len(words[0]) > 2:
            return shlex.split(words[0][2:]) + words[1:]
        words = words[1:]
    return words


def _typescript(head: bytes) -> Interpreter:
    if re.search(rb"\bDeno\.|from ['\"](?:npm|jsr|https?):", head):
        return Interpreter("deno", "extension")
    if re.search(rb"\bBun\.|from ['\"]bun(?::|['\"])", head):
        return Interpreter("bun", "extension")
    # Node strips types without a flag from 22.18 on.
    return Interpreter("node", "extension", ">=22.18")


def _from_content(head: bytes) -> Interpreter | None:
    if head.startswith(b"\x7fELF"):
        return Interpreter("elf", "content")
    if b"\0" in head:
        return None
    if re.search(rb"^(?:const|let|var) \w+ = require\(|^import .+ from ['\"]", head, re.MULTILINE):
        return Interpreter("node", "content")
    if re.search(rb"^(?:import \w+|from [\w.]+ import |def \w+\(.*\):)", head, re.MULTILINE):
        return Interpreter("python", "content")
    if re.search(rb"^(?:set -[eux]+|if \[ .* \]; then)\s*$", head, re.MULTILINE):
        return Interpreter("bash" if _BASH_ONLY.search(head) else "sh", "content")
    return None


def _is_entry(path: str, interpreter: Interpreter | None, folder: Path) -> bool:
    if interpreter is None or interpreter.name != "python":
        return True
    if PurePosixPath(path).name == "__init__.py":
        return False
    try:
        source = read_bytes(folder / path, 1 << 20, truncate=True)
    except OSError:
        return False
    return b"__main__" in source or not re.search(rb"^(?:def|class|async def) ", source, re.M)
