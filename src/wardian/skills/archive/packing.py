"""A skill's directory into a ``.skill``: the same bytes for the same files, every time."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from wardian.descriptors import FILE
from wardian.errors import SkillError
from wardian.skills.archive.members import CHUNK_BYTES, ArchiveLimits
from wardian.skills.archive.names import Names, checked
from wardian.skills.checking import check_manifest
from wardian.skills.digest import AUTHORS_OWN
from wardian.skills.reading import JUNK_FOLDERS, FolderEntry, is_junk, walk
from wardian.skills.skill import MANIFEST_NAMES, Folder, opened

# The earliest date a zip can hold.
_DATE = (1980, 1, 1, 0, 0, 0)
_UNIX = 3


@dataclass(frozen=True, slots=True)
class Packed:
    """What was packed: the file, its members, and what of the directory was left out."""

    path: Path
    files: tuple[str, ...]
    left_out: tuple[str, ...]
    size: int
    sha256: str


def pack(directory: Path, output: Path | None = None) -> Packed:
    """Pack the skill in ``directory``; without ``output`` into ``NAME.skill`` where we are.

    Raises SkillError if SKILL.md breaks the specification, or a file can't go into an archive
    that others will open: a link, a device, a name that is refused there.
    """
    with opened(directory) as folder:
        _require_valid(folder)
        output = output or Path(f"{folder.name}.skill")
        listing = walk(folder.path)
        if not listing.complete:
            raise SkillError("too many files, or folders that can't be read", path=str(directory))
        chosen = [entry for entry in listing.entries if _belongs(folder.path, entry, output)]
        _require_packable(folder.name, chosen)
        if not any(entry.path in MANIFEST_NAMES for entry in chosen):
            raise SkillError("there is no SKILL.md to pack", path=str(directory))
        _write_atomically(output, folder.path, folder.name, chosen)
        return Packed(
            output,
            tuple(entry.path for entry in chosen),
            _left_out(folder.path, {entry.path for entry in chosen}),
            output.stat().st_size,
            _digest(output),
        )


def _require_valid(folder: Folder) -> None:
    wrong = [one for one in check_manifest(folder) if one.severity == "error"]
    if wrong:
        first = wrong[0]
        raise SkillError(
            f"{first.message} ({first.code})", path=first.path, line=first.line, hint=first.hint
        )


def _belongs(root: Path, entry: FolderEntry, output: Path) -> bool:
    if entry.path.startswith(AUTHORS_OWN):
        return False
    return not (output.exists() and entry.kind == "file" and _same(root / entry.path, output))


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _require_packable(name: str, entries: list[FolderEntry]) -> None:
    limits, names = ArchiveLimits(), Names()
    if sum(entry.size for entry in entries) > limits.total_bytes:
        raise SkillError(f"more than {limits.total_bytes >> 20} MiB to pack", path=name)
    for entry in entries:
        if entry.kind == "link":
            hint = "put the file itself there: links are not unpacked"
            raise SkillError("is a symbolic link", path=f"{name}/{entry.path}", hint=hint)
        if entry.kind == "other":
            raise SkillError("is neither a file nor a directory", path=f"{name}/{entry.path}")
        if entry.size > limits.file_bytes:
            message = f"is larger than {limits.file_bytes >> 20} MiB"
            raise SkillError(message, path=f"{name}/{entry.path}")
        names.add(checked(f"{name}/{entry.path}"), folder=False)


def _write_atomically(output: Path, root: Path, name: str, entries: list[FolderEntry]) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=".wardian-pack-", dir=output.parent)
    try:
        with open(descriptor, "w+b") as file:
            with zipfile.ZipFile(file, "w") as archive:
                for entry in sorted(entries, key=lambda one: one.path.encode()):
                    _add(archive, root, name, entry)
            os.fchmod(file.fileno(), 0o644)
        os.replace(temporary, output)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _add(archive: zipfile.ZipFile, root: Path, name: str, entry: FolderEntry) -> None:
    info = zipfile.ZipInfo(f"{name}/{entry.path}", _DATE)
    info.create_system = _UNIX
    info.external_attr = (stat.S_IFREG | (0o755 if entry.executable else 0o644)) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    info._compresslevel = 9  # type: ignore[attr-defined]  # public only from 3.13 on
    with open(os.open(root / entry.path, FILE), "rb") as source:
        info.file_size = os.fstat(source.fileno()).st_size
        with archive.open(info, "w") as target:
            while chunk := source.read(CHUNK_BYTES):
                target.write(chunk)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _left_out(root: Path, packed: set[str]) -> tuple[str, ...]:
    """Top-most names that are on the disk and not in the archive."""
    found: list[str] = []
    for place, folders, files in os.walk(root):
        prefix = os.path.relpath(place, root)
        here = "" if prefix == "." else prefix + "/"
        junk = [one for one in folders if one in JUNK_FOLDERS or here + one + "/" in AUTHORS_OWN]
        found += [f"{here}{one}/" for one in junk]
        folders[:] = [one for one in folders if one not in junk]
        found += [here + one for one in files if is_junk(one) and here + one not in packed]
    return tuple(sorted(found))
