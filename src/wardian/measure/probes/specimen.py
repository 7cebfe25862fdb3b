"""Find specimens by path and read them. Nothing here runs one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from wardian.errors import InputError, NothingMatched, UsageError
from wardian.skills.reading import read_inside

# extension → language; whatever else lies in the tree is no specimen
LANGUAGES = {
    ".py": "python",
    ".c": "c",
    ".R": "r",
    ".sh": "sh",
    ".bash": "bash",
    ".mjs": "node",
    ".cjs": "node",
}
KINDS = ("core", "fuzz")
_CAPABILITY = re.compile(
    r"""^(?:\#define\ +CAPABILITY\ +|(?:const\ +)?CAPABILITY\ *(?:=|<-)\ *)["']?([A-Za-z0-9_]+)""",
    re.MULTILINE | re.VERBOSE,
)
_SLUG = re.compile(r"[a-z][a-z0-9_]*")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_FIRST_WORDS = re.compile(r"""(?:\#!.*\n)?\s*(?:"{3}|/\*+|//|\#)\s*(.+)""")
MAX_BYTES = 1 << 20
HERE = os.path.dirname(os.path.abspath(__file__))


class Specimen(NamedTuple):
    """One small program that makes one observation. ``path`` is relative to ``root``."""

    id: str
    capability: str
    language: str
    path: str
    root: str
    summary: str = ""

    @property
    def source(self) -> str:
        """The file itself."""
        return os.path.join(self.root, self.path)

    @property
    def domain(self) -> str:
        """The directory below core or fuzz: filesystem, network …"""
        return self.path.split("/")[1]

    @property
    def kind(self) -> str:
        """core or fuzz."""
        return self.path.split("/")[0]


def shipped(name: str) -> str:
    """A directory that ships with wardian: in the package, or beside src in its repository."""
    packaged = os.path.join(HERE, "data", name)
    return packaged if os.path.isdir(packaged) else os.path.join(HERE, "..", "..", "..", "..", name)


def ships(root: str) -> bool:
    """Do these specimens ship with wardian, and could no guest have changed them? Only those run on
    the bare host unasked."""
    from wardian.sandbox.paths.named import was_shared

    real = os.path.realpath(root)
    return real == os.path.realpath(shipped("probes")) and was_shared(real) is None


def probes_dir(given: str | None = None) -> str:
    """Where the specimens are. Raises UsageError if there is no such directory."""
    place = os.path.realpath(given or shipped("probes"))
    if not os.path.isdir(place):
        raise UsageError(f"{given or place} is not a directory of specimens")
    return place


def find_specimens(root: str) -> list[Specimen]:
    """All specimens below ``root``, by ID. Raises InputError for an ID that is not unique."""
    found: dict[str, Specimen] = {}
    for path in _files(root):
        specimen = read_specimen(root, path)
        other = found.setdefault(specimen.id, specimen)
        if other is not specimen:
            raise InputError(
                f"{other.path} has the same ID, {specimen.id}",
                path=specimen.source,
                hint="two specimens differ by more than their extension: x.py, x_native.c",
            )
    return [found[key] for key in sorted(found)]


def _files(root: str) -> list[str]:
    paths = []
    for kind in KINDS:
        for folder, below, names in os.walk(os.path.join(root, kind)):
            below[:] = sorted(name for name in below if not name.startswith(("_", ".")))
            for name in names:
                stem, extension = os.path.splitext(name)
                if extension in LANGUAGES and not stem.startswith(("_", ".")):
                    paths.append(os.path.relpath(os.path.join(folder, name), root))
    return sorted(paths)


def identify(path: str) -> str:
    """``core/filesystem/tmp_write.py`` → ``core__filesystem__tmp_write``."""
    return os.path.splitext(path)[0].replace("/", "__")


def read_specimen(root: str, path: str) -> Specimen:
    """One specimen from its file. Raises InputError."""
    source = os.path.join(root, path)
    folders = path.split("/")
    if len(folders) < 3:
        raise InputError("a specimen lies in a domain: core/<domain>/name.ext", path=source)
    for part in (*folders[:-1], os.path.splitext(folders[-1])[0]):
        if not _NAME.fullmatch(part) or "__" in part:
            raise InputError(f"{part!r} can't be part of an ID: use a-z, 0-9, - and _", path=source)
    try:
        text = read_inside(root, path, MAX_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text", path=source) from None
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"can't be read: {why}", path=source) from None
    declared = _CAPABILITY.search(text)
    if declared is None or not _SLUG.fullmatch(declared[1]):
        raise InputError(
            "declares no capability",
            path=source,
            hint='a line of its own: CAPABILITY = "filesystem_tmp_write"',
        )
    first = _FIRST_WORDS.match(text)
    summary = first[1].strip().removesuffix("*/").removesuffix('"""').strip() if first else ""
    language = LANGUAGES[os.path.splitext(path)[1]]
    return Specimen(identify(path), declared[1], language, path, root, summary)


def select(
    specimens: Sequence[Specimen],
    patterns: Iterable[str] = (),
    domains: Iterable[str] = (),
    kinds: Iterable[str] = (),
) -> list[Specimen]:
    """Those that match one of the patterns (IDs, globs, capabilities) and every other condition.

    Raises NothingMatched for a pattern or a domain that selects nothing.
    """
    chosen = list(specimens)
    for domain in domains:
        if all(one.domain != domain for one in specimens):
            known = ", ".join(sorted({one.domain for one in specimens}))
            raise NothingMatched(f"there is no domain {domain!r}", hint=f"domains: {known}")
    if domains:
        chosen = [one for one in chosen if one.domain in set(domains)]
    if kinds:
        chosen = [one for one in chosen if one.kind in set(kinds)]
    wanted = list(patterns)
    for pattern in wanted:
        if not any(_matches(one, pattern) for one in specimens):
            raise NothingMatched(f"no specimen matches {pattern!r}", hint=_near(pattern, specimens))
    if wanted:
        chosen = [one for one in chosen if any(_matches(one, pattern) for pattern in wanted)]
    if not chosen:
        raise NothingMatched("no specimen matches", hint="see: wardian probe list")
    return chosen


def _matches(one: Specimen, pattern: str) -> bool:
    pattern = pattern.removeprefix("./").removeprefix("probes/")
    return pattern in (one.capability, one.path) or fnmatchcase(one.id, pattern)


def _near(pattern: str, specimens: Sequence[Specimen]) -> str:
    import difflib

    names = [one.id for one in specimens] + [one.capability for one in specimens]
    near = list(dict.fromkeys(difflib.get_close_matches(pattern, names, 3, 0.6)))
    return f"did you mean {' or '.join(near)}?" if near else "see: wardian probe list"


def capabilities(specimens: Iterable[Specimen]) -> dict[str, list[Specimen]]:
    """The specimens of each capability."""
    found: dict[str, list[Specimen]] = {}
    for one in specimens:
        found.setdefault(one.capability, []).append(one)
    return found


def choose_capabilities(specimens: Sequence[Specimen], names: Iterable[str]) -> list[Specimen]:
    """The specimens of these capabilities. Raises NothingMatched for one that has none."""
    known = capabilities(specimens)
    for name in names:
        if name not in known:
            import difflib

            near = difflib.get_close_matches(name, list(known), 3, 0.6)
            hint = f"did you mean {' or '.join(near)}?" if near else "see: wardian probe list"
            raise NothingMatched(f"there is no capability {name!r}", hint=hint)
    return [one for name in dict.fromkeys(names) for one in known[name]]
