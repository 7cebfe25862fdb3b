"""What an archive holds, whatever its format: members in order, each read once, under limits."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from wardian.errors import SkillError

CHUNK_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """How much an archive may hold, in bytes really read; ``ratio`` is unpacked to packed."""

    archive_bytes: int = 512 << 20
    entries: int = 10_000
    file_bytes: int = 256 << 20
    total_bytes: int = 1 << 30
    ratio: int = 200
    ratio_from_bytes: int = 32 << 20


class Member(Protocol):
    """One file or folder. ``chunks`` may be read once, before the next member is asked for."""

    @property
    def name(self) -> str: ...
    @property
    def folder(self) -> bool: ...
    @property
    def executable(self) -> bool: ...
    def chunks(self) -> Iterator[bytes]: ...


class Budget:
    """Counts the bytes that really come out; raises SkillError when a limit is passed."""

    def __init__(self, limits: ArchiveLimits, packed_bytes: int) -> None:
        self._limits = limits
        self._packed = max(packed_bytes, 1)
        self._total = 0
        self._entries = 0

    def entry(self) -> None:
        """One more member."""
        self._entries += 1
        if self._entries > self._limits.entries:
            raise SkillError(f"the archive holds more than {self._limits.entries} entries")

    def metered(self, member: Member) -> Iterator[bytes]:
        """The member's chunks, counted as they pass."""
        size = 0
        for chunk in member.chunks():
            size += len(chunk)
            if size > self._limits.file_bytes:
                limit = self._limits.file_bytes >> 20
                raise SkillError(f"{member.name!r} unpacks to more than {limit} MiB")
            self.spend(len(chunk))
            yield chunk

    def spend(self, count: int) -> None:
        """So many bytes came out."""
        self._total += count
        if self._total > self._limits.total_bytes:
            limit = self._limits.total_bytes >> 20
            raise SkillError(f"the archive unpacks to more than {limit} MiB")
        if (
            self._total > self._limits.ratio_from_bytes
            and self._total > self._packed * self._limits.ratio
        ):
            raise SkillError(
                f"the archive unpacks to more than {self._limits.ratio} times its size:"
                " it may be a decompression bomb"
            )


@contextmanager
def archive_file(path: Path, limits: ArchiveLimits) -> Iterator[BinaryIO]:
    """The archive's bytes, opened once for both passes; raises SkillError if it is no file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise SkillError(f"can't be opened: {error.strerror}", path=str(path)) from None
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise SkillError("not a regular file", path=str(path))
        if status.st_size > limits.archive_bytes:
            limit = limits.archive_bytes >> 20
            raise SkillError(f"the archive is larger than {limit} MiB", path=str(path))
        yield file


def members_of(file: BinaryIO, limits: ArchiveLimits) -> Iterator[Member]:
    """The members, from the start; the format is detected from the content, never from the name.

    Raises SkillError for links, devices, encryption, damage and anything unknown.
    """
    file.seek(0)
    head = file.read(512)
    file.seek(0)
    if head.startswith(b"PK"):
        from wardian.skills.archive.zips import zip_members

        return zip_members(file, limits)
    from wardian.skills.archive.tars import compression_of, tar_members

    kind = compression_of(head)
    if kind is None:
        raise SkillError(
            "not a zip or tar archive", hint="a .skill is a zip of the skill's directory"
        )
    return tar_members(file, kind, limits)
