"""Folders with a SKILL.md, found by a walk that is bounded and stays in one tree."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from wardian.skills.clones import clone_top
from wardian.skills.reading import JUNK_FOLDERS
from wardian.skills.skill import MANIFEST_NAMES

# Real repositories keep skills up to six levels down, and have up to 3,000 directories.
MAX_DEPTH = 8
MAX_DIRECTORIES = 20_000
# What the specification gives a skill to keep its own files in.
_OWN_FOLDERS = frozenset(("assets", "references", "scripts"))


@dataclass(slots=True)
class FolderScan:
    """Directories that may still be looked at, and those that were; for several roots."""

    left: int = MAX_DIRECTORIES
    _seen: set[str] = field(default_factory=set)
    _found: set[str] = field(default_factory=set)

    def folders(self, root: Path, top: Path | None, *, with_root: bool = True) -> Iterator[Path]:
        """The skill folders at and below ``root``, each once however it is linked.

        Links are followed as long as they end below ``top``; wherever they end, if that is None.
        Below a skill the search goes on, but for the folders of its own files.
        """
        bound = os.path.realpath(top) if top is not None else None
        waiting = deque([(root, 0)])
        while waiting and self.left > 0:
            here, level = waiting.popleft()
            real = os.path.realpath(here)
            if real in self._seen or not _within(real, bound):
                continue
            self._seen.add(real)
            self.left -= 1
            is_skill = (level > 0 or with_root) and is_skill_folder(here)
            if is_skill:
                yield from self._new(manifest_home(here, bound))
            if level < MAX_DEPTH:
                left_out = _OWN_FOLDERS if is_skill else frozenset()
                waiting.extend((child, level + 1) for child in _children(here, left_out))

    def _new(self, folder: Path) -> Iterator[Path]:
        real = os.path.realpath(folder)
        if real not in self._found:
            self._found.add(real)
            yield folder


def is_skill_folder(path: Path) -> bool:
    """Whether a SKILL.md of any kind lies directly in ``path``."""
    return any(os.path.lexists(path / name) for name in MANIFEST_NAMES)


def manifest_home(folder: Path, bound: str | None) -> Path:
    """The folder itself, or the one with the scripts, where SKILL.md links to another skill's."""
    for name in MANIFEST_NAMES:
        link = folder / name
        if os.path.islink(link):
            real = os.path.realpath(link)
            is_manifest = os.path.basename(real) in MANIFEST_NAMES and os.path.isfile(real)
            if is_manifest and bound is not None and _within(real, bound):
                return Path(os.path.dirname(real))
    return folder


def find_skills(root: Path, *, max_directories: int = MAX_DIRECTORIES) -> list[Path]:
    """The skill folders at or below ``root``, each once, bounded in depth and number.

    A link is followed inside the clone that ``root`` lies in, or inside ``root`` itself.
    """
    top = clone_top(os.path.realpath(root)) or root
    return sorted(FolderScan(max_directories).folders(root, Path(top)))


def _within(real: str, bound: str | None) -> bool:
    return bound is None or real == bound or real.startswith(bound.rstrip("/") + "/")


def _children(folder: Path, left_out: frozenset[str]) -> list[Path]:
    skipped = JUNK_FOLDERS | left_out
    try:
        with os.scandir(folder) as scan:
            return sorted(
                # Links last: a folder is shown under its own name rather than under a link's.
                (Path(item.path) for item in scan if item.name not in skipped and item.is_dir()),
                key=lambda path: (os.path.islink(path), path),
            )
    except OSError:
        return []
