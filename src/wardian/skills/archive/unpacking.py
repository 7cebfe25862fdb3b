"""An archive onto the disk: verified whole before a byte is written, and all or nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from wardian.descriptors import NEW_FILE
from wardian.errors import SkillError
from wardian.skills.archive.members import ArchiveLimits, Budget, archive_file, members_of
from wardian.skills.archive.names import Names, checked
from wardian.skills.checking import check_manifest
from wardian.skills.skill import Folder, load_folder

# What macOS adds to every zip it makes; not the author's, and not kept.
_FOREIGN_TOP = "__MACOSX"
_EXTENSIONS = frozenset((".skill", ".zip", ".tar", ".gz", ".tgz", ".bz2", ".tbz2", ".xz", ".txz"))


def unpack(
    archive: Path, directory: Path, *, lenient: bool = False, limits: ArchiveLimits | None = None
) -> Path:
    """Put the skill in ``archive`` into ``directory``, as a folder of its own; returns that.

    Raises SkillError, and leaves nothing behind, if the archive is not safe, does not hold a
    skill, or the folder exists already. ``lenient`` keeps a skill that clients load though
    it breaks the specification.
    """
    missing = [place for place in (directory, *directory.parents) if not os.path.lexists(place)]
    try:
        with _extracted(archive, directory, limits or ArchiveLimits()) as folder:
            name = _accepted(archive, folder, lenient=lenient)
            target = directory / name
            with _told_of(archive):
                _move(folder, target)
            return target
    except BaseException:
        for place in missing:
            with suppress(OSError):  # what is not there, or holds something, stays as it is
                place.rmdir()
        raise


@contextmanager
def unpacked(archive: Path, *, limits: ArchiveLimits | None = None) -> Iterator[Path]:
    """The archive's top folder in a private temporary directory, gone at the end."""
    with _extracted(archive, None, limits or ArchiveLimits()) as folder:
        yield folder


@contextmanager
def _extracted(archive: Path, beside: Path | None, limits: ArchiveLimits) -> Iterator[Path]:
    """The skill's folder in a temporary directory, which goes whatever happens."""
    with _told_of(archive):
        root = _extract(archive, beside, limits)
    try:
        yield root
    finally:
        shutil.rmtree(root.parent, ignore_errors=True)


def _extract(archive: Path, beside: Path | None, limits: ArchiveLimits) -> Path:
    """Both passes over ``archive``; returns the folder in a new temporary directory."""
    with archive_file(archive, limits) as file:
        top = verify(file, limits)
        if beside is not None:
            beside.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=".wardian-unpack-", dir=beside))
        try:
            root = place / (top or _stem(archive))
            root.mkdir()
            _write(file, limits, root, under=top)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
    return root


@contextmanager
def _told_of(archive: Path) -> Iterator[None]:
    """Every failure inside is a SkillError that names the archive."""
    try:
        yield
    except SkillError as error:
        if error.path is not None:
            raise
        raise SkillError(str(error), path=str(archive), hint=error.hint) from None
    except OSError as error:
        raise SkillError(f"can't be unpacked: {error}", path=str(archive)) from error


def verify(file: BinaryIO, limits: ArchiveLimits) -> str | None:
    """Read the whole archive and write nothing: the one top folder's name, or None.

    None means that SKILL.md lies at the top itself. Raises SkillError for all that is refused.
    """
    names = Names()
    tops: set[str] = set()
    loose = False
    for parts, folder, _, chunks in _members(file, limits):
        names.add(parts, folder=folder)
        for _chunk in chunks:
            pass
        tops.update(parts[:1])
        loose = loose or (len(parts) == 1 and not folder)
    if not tops:
        raise SkillError("the archive is empty")
    if not loose and len(tops) > 1:
        raise SkillError("the archive holds several folders", hint="a skill is one folder")
    return None if loose else next(iter(tops))


def _members(
    file: BinaryIO, limits: ArchiveLimits
) -> Iterator[tuple[tuple[str, ...], bool, bool, Iterator[bytes]]]:
    """Parts of the checked name, is it a folder, is it executable, and its counted content."""
    file.seek(0, 2)
    budget = Budget(limits, file.tell())
    for member in members_of(file, limits):
        budget.entry()
        parts = checked(member.name)
        if not member.folder and not parts:
            raise SkillError(f"the archive holds a file called {member.name!r}")
        if parts[:1] != (_FOREIGN_TOP,):
            yield parts, member.folder, member.executable, budget.metered(member)


def _write(file: BinaryIO, limits: ArchiveLimits, root: Path, *, under: str | None) -> None:
    """The second pass; names are checked and bytes counted again, as the file may change."""
    for parts, folder, executable, chunks in _members(file, limits):
        if under is not None and parts[:1] not in ((), (under,)):
            raise SkillError("the archive changed while it was read")
        target = root.joinpath(*(parts if under is None else parts[1:]))
        if folder:
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            _write_file(target, chunks, 0o755 if executable else 0o644)


def _write_file(target: Path, chunks: Iterator[bytes], mode: int) -> None:
    with open(os.open(target, NEW_FILE, 0o600), "wb") as out:
        for chunk in chunks:
            out.write(chunk)
        os.fchmod(out.fileno(), mode)


def _stem(archive: Path) -> str:
    """What an archive without a top folder is called: its own name, less the extensions."""
    name = archive.name
    while (shorter := Path(name).stem) != name and Path(name).suffix.lower() in _EXTENSIONS:
        name = shorter
    return name.strip(". ") or "skill"


def _accepted(archive: Path, folder: Path, *, lenient: bool) -> str:
    """The name to unpack under; raises SkillError unless the folder holds a valid skill."""
    here = Folder(folder, folder.name, str(archive))
    load_folder(here, archive, scripts=False)
    wrong = [one for one in check_manifest(here) if one.severity == "error"]
    if wrong and not lenient:
        raise SkillError(
            f"{wrong[0].message} ({wrong[0].code})",
            path=wrong[0].path,
            line=wrong[0].line,
            hint="--lenient unpacks it anyway",
        )
    return folder.name


def _move(folder: Path, target: Path) -> None:
    try:
        target.mkdir()  # claims the name: rename would replace an empty directory silently
    except FileExistsError:
        raise SkillError(
            "exists already", path=str(target), hint="remove it, or choose another directory"
        ) from None
    try:
        folder.chmod(0o755)
        folder.rename(target)
    except BaseException:
        target.rmdir()
        raise
