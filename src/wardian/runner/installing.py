"""Skills copied into the folders where agents look: whole or not at all. Nothing is executed, no
link is followed out of the skill, and none in the target that a guest may have left."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from wardian.descriptors import NEW_FILE, enter, open_below, parts_of, write_all
from wardian.errors import SkillError, UsageError
from wardian.runner.installs import InstallRecord, drop_record, record_of, write_record
from wardian.sandbox.paths.held import Held
from wardian.sandbox.paths.named import open_directory, trusted_path
from wardian.sandbox.paths.removal import identity, remove_tree, set_mode
from wardian.skills.digest import AUTHORS_OWN, MAX_BYTES, skill_digest
from wardian.skills.reading import JUNK_FOLDERS, FolderEntry, NotRegularError, read_inside, walk
from wardian.skills.skill import MANIFEST_NAMES, manifest_bytes

MAX_FILE_BYTES = 256 << 20


class InstallTarget(NamedTuple):
    """A folder of skills, by its real path, and the name that the skill gets in it."""

    root: str
    name: str

    @property
    def path(self) -> str:
        return os.path.join(self.root, self.name)


def check_target_folder(root: str, name: str, *, force: bool) -> InstallTarget:
    """Where a skill may be put. Raises UsageError if a link that a guest may have left leads there,
    or there is something already."""
    if "/" in name or name in ("", ".", "..") or name.startswith("."):
        raise UsageError(f"{name!r} is not a valid name for a skill's folder")
    target = InstallTarget(trusted_path(root, "--to"), name)
    if os.path.islink(target.path):
        raise UsageError(f"{target.path} is a link", hint="remove it first")
    if os.path.lexists(target.path) and not force:
        raise UsageError(f"{target.path} exists already", hint="--force replaces it")
    return target


def install(folder: Path, target: InstallTarget, source: str) -> InstallRecord:
    """Copy a skill's folder, put it in place, and record it; if that fails, all is as before.

    Raises SkillError for what is no part of a skill: links that lead out, pipes, devices.
    """
    entries = _entries(folder)
    try:
        root = Held(open_directory(target.root, make=0o755))
        beside = f".{target.name}.{os.urandom(6).hex()}.partial"
        os.mkdir(beside, 0o700, dir_fd=root.fd)
        made = Held.below(root.fd, beside)
        try:
            for entry in entries:
                _copy(folder, entry, made.fd)
            set_mode(made.fd, 0o755)
            record = _record(target, source, skill_digest(Path(made.path)))
            _put_in_place(root, beside, target, record)
        except BaseException:
            remove_tree(f"{root.path}/{beside}", known=identity(made.fd))
            raise
    except OSError as error:
        why = (error.strerror or "").lower()
        raise SkillError(f"can't be installed in {target.root}: {why}", path=source) from None
    return record


def planned(folder: Path, target: InstallTarget, source: str) -> InstallRecord:
    """What ``install`` would record; nothing is written. Raises SkillError."""
    for entry in _entries(folder):
        _content(folder, entry)
    return _record(target, source, skill_digest(folder))


def uninstall(record: InstallRecord) -> None:
    """Remove what was installed, and its record. Raises OSError and UsageError."""
    root, name = os.path.split(record.path)
    if trusted_path(record.path, "NAME") != record.path:
        raise UsageError(f"{record.path} is reached through a link")
    if os.path.lexists(record.path):
        parent = Held(open_directory(root))
        there = Held.below(parent.fd, name)
        remove_tree(f"{parent.path}/{name}", known=identity(there.fd))
    drop_record(record.path)


def _record(target: InstallTarget, source: str, digest: str) -> InstallRecord:
    from datetime import UTC, datetime

    now = datetime.now(UTC).isoformat(timespec="seconds")
    return InstallRecord(target.name, target.path, source, now, digest)


def _put_in_place(root: Held, beside: str, target: InstallTarget, record: InstallRecord) -> None:
    """Move what had the name aside first, and back if anything fails."""
    old = f".{target.name}.{os.urandom(6).hex()}.old"
    before = record_of(target.path)
    there = os.path.lexists(f"{root.path}/{target.name}")
    if there:
        os.rename(target.name, old, src_dir_fd=root.fd, dst_dir_fd=root.fd)
    try:
        write_record(record)
        os.rename(beside, target.name, src_dir_fd=root.fd, dst_dir_fd=root.fd)
    except BaseException:
        if there:
            os.rename(old, target.name, src_dir_fd=root.fd, dst_dir_fd=root.fd)
        if before is not None:
            write_record(before)
        else:
            drop_record(target.path)
        raise
    if there:
        gone = Held.below(root.fd, old)
        remove_tree(f"{root.path}/{old}", known=identity(gone.fd))


def _entries(folder: Path) -> list[FolderEntry]:
    """What belongs to a skill, as it is packed too. Raises SkillError."""
    listing = walk(folder)
    if not listing.complete:
        raise SkillError("too many files, or folders that can't be read", path=str(folder))
    found = [one for one in listing.entries if not one.path.startswith(AUTHORS_OWN)]
    if sum(one.size for one in found) > MAX_BYTES:
        raise SkillError(f"more than {MAX_BYTES >> 20} MiB", path=str(folder))
    return found


def _copy(folder: Path, entry: FolderEntry, target: int) -> None:
    content = _content(folder, entry)
    *parents, name = parts_of(entry.path)
    place = open_below(os.dup(target), parents, _made)
    try:
        mode = 0o755 if entry.kind == "file" and entry.executable else 0o644
        fd = os.open(name, NEW_FILE, 0o600, dir_fd=place)
        try:
            write_all(fd, content)
            os.fchmod(fd, mode)
        finally:
            os.close(fd)
    finally:
        os.close(place)


def _content(folder: Path, entry: FolderEntry) -> bytes:
    """A link is replaced by what it names, as long as that is a file of the skill; SKILL.md may be
    one of the same clone. Raises SkillError."""
    try:
        if entry.kind == "link" and entry.path in MANIFEST_NAMES:
            return manifest_bytes(folder / entry.path)
        if entry.kind == "link" and not _is_part(folder, entry.path):
            raise NotRegularError("it is left out of skills")
        if entry.kind != "other":
            return read_inside(str(folder), entry.path, MAX_FILE_BYTES)
        why = "it is neither a file nor a directory"
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        if entry.kind == "link":
            why = f"a link that leads to no file of the skill: {why}"
    raise SkillError(why, path=str(folder / entry.path))


def _is_part(folder: Path, link: str) -> bool:
    """Whether it leads to nothing that is left out itself: version control may hold passwords."""
    root = os.path.realpath(folder)
    real = os.path.relpath(os.path.realpath(os.path.join(root, link)), root)
    return JUNK_FOLDERS.isdisjoint(parts_of(real))


def _made(parent: int, name: str) -> int:
    try:
        os.mkdir(name, 0o755, dir_fd=parent)
    except FileExistsError:
        pass
    return enter(parent, name)
