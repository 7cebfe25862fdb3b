"""Archives by their hash. Only wardian writes here, after it has hashed what it takes in; no
sandbox sees more of it than the archives that it needs, and those read-only."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Sequence

from wardian.descriptors import FILE, FOLDER
from wardian.runner.packages.cabinet import drawer, path_of
from wardian.runner.packages.model import Archive, PreparationError

# DIRECT holds what skills and packages name by URL, which never serves a requirement by name.
PYTHON, DIRECT, NPM = "python", "python-direct", "npm"
ALGORITHMS = {PYTHON: "sha256", DIRECT: "sha256", NPM: "sha512"}  # by which each is named
ARCHIVE_BYTES = 8 << 30
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]*")


def find(tool: str, digest: str, filename: str) -> Archive | None:
    """The archive if it is there; its content is hashed again, for disks and people err."""
    if not _NAME.fullmatch(filename) or not _NAME.fullmatch(digest):
        return None
    with drawer("store", tool) as folder:
        try:
            fd = os.open(f"{digest}/{filename}", FILE, dir_fd=folder)
        except OSError:
            return None
        try:
            is_file = stat.S_ISREG(os.fstat(fd).st_mode)
            same = is_file and _digest(fd, ALGORITHMS[tool]) == digest
            if same:
                os.utime(fd)  # it serves now: ``wardian cache`` goes by that
        finally:
            os.close(fd)
        if not same:
            os.unlink(f"{digest}/{filename}", dir_fd=folder)
            return None
    return Archive(path_of("store", tool, digest, filename), filename, digest)


def take_in(
    tool: str, folder: int, name: str, filename: str, hashes: Sequence[tuple[str, str]]
) -> Archive:
    """Move a fetched file into the store. Raises PreparationError unless it is what its index said.

    ``folder`` is the descriptor of the directory it was fetched to; the sandbox that wrote there
    has ended, so that nobody holds the file open.
    """
    return _moved(folder, name, filename, hashes, ("store", tool), ALGORITHMS[tool])


def keep(folder: int, filename: str, names: Sequence[str]) -> Archive:
    """Move a file that a build left to a directory of wardian's own, which is not the store."""
    return _moved(folder, filename, filename, (), names, "sha256")


def _moved(
    folder: int,
    name: str,
    filename: str,
    hashes: Sequence[tuple[str, str]],
    names: Sequence[str],
    algorithm: str,
) -> Archive:
    if not _NAME.fullmatch(filename):
        raise PreparationError(f"{filename!r} can't be the name of an archive")
    try:
        fd = os.open(name, FILE, dir_fd=folder)
    except OSError as error:
        raise PreparationError(f"{filename} was not fetched: {error.strerror}") from None
    try:
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode) or about.st_nlink != 1 or about.st_size > ARCHIVE_BYTES:
            raise PreparationError(f"{filename} was not fetched as a file")
        digests = {kind: _digest(fd, kind) for kind in {algorithm, *dict(hashes)}}
        for kind, expected in hashes:
            if digests[kind] != expected.lower():
                raise PreparationError(
                    f"{filename} does not match its index: its {kind} differs",
                    hint="the index or a proxy returned another file; nothing was installed",
                )
        digest = digests[algorithm]
        os.fchmod(fd, 0o444)
        with drawer(*names, digest) as place:
            os.rename(name, filename, src_dir_fd=folder, dst_dir_fd=place)
    finally:
        os.close(fd)
    return Archive(path_of(*names, digest, filename), filename, digest)


def hashes_of(folder: int, name: str, algorithms: Iterable[str]) -> list[tuple[str, str]]:
    """More hashes of a fetched file."""
    fd = os.open(name, FILE, dir_fd=folder)
    try:
        return [(one, _digest(fd, one)) for one in algorithms]
    finally:
        os.close(fd)


def laid_out(archives: Iterable[Archive], names: Sequence[str], called: str | None = None) -> str:
    """A directory of the cache with these archives in it, to be shared read-only."""
    with drawer(*names) as folder:
        for archive in archives:
            name = called or archive.filename
            try:
                os.link(archive.path, name, dst_dir_fd=folder, follow_symlinks=False)
            except FileExistsError:
                pass
    return path_of(*names)


def every(tool: str) -> list[Archive]:
    """All archives of a tool, as their names claim them; ``find`` looks at their content."""
    found = []
    with drawer("store", tool) as folder:
        for digest in sorted(os.listdir(folder)):
            try:
                place = os.open(digest, FOLDER, dir_fd=folder)
            except OSError:
                continue  # nothing that wardian put there
            try:
                names = sorted(os.listdir(place))
            finally:
                os.close(place)
            found += [Archive(path_of("store", tool, digest, one), one, digest) for one in names]
    return found


def _digest(fd: int, algorithm: str) -> str:
    os.lseek(fd, 0, os.SEEK_SET)
    with os.fdopen(os.dup(fd), "rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()
