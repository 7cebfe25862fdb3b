"""Zip archives: their members, each verified against its own headers. Writes nothing."""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from wardian.errors import SkillError
from wardian.skills.archive.members import CHUNK_BYTES, ArchiveLimits, Member

# zipfile reads the whole index at once and makes an object of every 46 bytes of it.
MAX_INDEX_BYTES = 2 << 20
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_LOCAL_HEADER_BYTES = 30


def zip_members(file: BinaryIO, limits: ArchiveLimits) -> Iterator[Member]:
    """The members of a zip, in the order of its index."""
    with _damage_reported(), zipfile.ZipFile(_Bounded(file)) as archive:
        infos = archive.infolist()
        if len(infos) > limits.entries:
            raise SkillError(f"the archive holds more than {limits.entries} entries")
        _refuse_overlap(infos)
        for info in infos:
            yield _member(archive, info)


@contextmanager
def _damage_reported() -> Iterator[None]:
    try:
        yield
    except (
        zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError,
        RuntimeError, struct.error,
    ) as error:  # fmt: skip
        raise SkillError(f"the zip is damaged or cut short: {error}") from None


class _Bounded:
    """The file as zipfile sees it, with no single read past the limit on its index."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        # Without a size it wants the end of the file, where the index's own index stands.
        content = self._file.read(min(size, MAX_INDEX_BYTES + 1) if size >= 0 else MAX_INDEX_BYTES)
        if len(content) > MAX_INDEX_BYTES:
            raise SkillError(
                f"the zip's index is larger than {MAX_INDEX_BYTES >> 20} MiB: too many entries"
            )
        return content


@dataclass(frozen=True, slots=True)
class _ZipMember:
    name: str
    folder: bool
    executable: bool
    archive: zipfile.ZipFile
    info: zipfile.ZipInfo

    def chunks(self) -> Iterator[bytes]:
        size = 0
        with _damage_reported(), self.archive.open(self.info) as source:
            while chunk := source.read(CHUNK_BYTES):
                size += len(chunk)
                yield chunk
        if size != self.info.file_size:
            raise SkillError(f"{self.name!r} declares {self.info.file_size} bytes, but has {size}")


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> _ZipMember:
    # filename ends at a NUL; orig_filename is what the archive really says.
    name = info.orig_filename
    mode = info.external_attr >> 16
    kind = stat.S_IFMT(mode)
    if info.flag_bits & _ENCRYPTED:
        raise SkillError(f"{name!r} is encrypted")
    if info.compress_type not in _METHODS:
        raise SkillError(f"{name!r} is compressed in a way that is neither stored nor deflated")
    if kind == stat.S_IFLNK:
        raise SkillError(f"{name!r} is a link", hint="put the file itself into the archive")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise SkillError(f"{name!r} is a device, a pipe or a socket")
    folder = name.endswith("/")
    if folder != (kind == stat.S_IFDIR) and kind:
        raise SkillError(f"{name!r} is listed both as a file and as a directory")
    if not folder and mode & (stat.S_ISUID | stat.S_ISGID):
        raise SkillError(f"{name!r} has a setuid or setgid bit")
    if folder and info.file_size:
        raise SkillError(f"{name!r} is a directory with content")
    return _ZipMember(name, folder, bool(mode & 0o111), archive, info)


def _refuse_overlap(infos: list[zipfile.ZipInfo]) -> None:
    """Members that share bytes are how one small zip unpacks to petabytes."""
    end = 0
    for info in sorted(infos, key=lambda one: one.header_offset):
        if info.header_offset < end:
            raise SkillError(f"{info.orig_filename!r} overlaps another member")
        name_bytes = len(info.orig_filename.encode("utf-8", "surrogateescape"))
        shortest = min(name_bytes, len(info.orig_filename))
        end = info.header_offset + _LOCAL_HEADER_BYTES + shortest + info.compress_size
