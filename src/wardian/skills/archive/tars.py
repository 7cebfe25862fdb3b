"""Tar archives, plain or compressed: read forward only, headers under a budget of their own."""

from __future__ import annotations

import bz2
import gzip
import lzma
import stat
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Literal, Protocol, cast

from wardian.errors import SkillError
from wardian.skills.archive.members import CHUNK_BYTES, ArchiveLimits, Budget, Member

Compression = Literal["none", "gzip", "bzip2", "xz"]

# Long names and pax records are read into memory by tarfile, whatever size they claim.
MAX_HEADER_BYTES = 256 * 1024
# xz -9 needs 65 MiB to unpack; a crafted stream may ask for 4 GiB.
MAX_XZ_MEMORY_BYTES = 128 << 20

_MAGIC: tuple[tuple[bytes, Compression], ...] = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
)


def compression_of(head: bytes) -> Compression | None:
    """How a tar that starts with these 512 bytes is compressed, or None if it is no tar."""
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    try:
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return None
    return "none"


def tar_members(file: BinaryIO, kind: Compression, limits: ArchiveLimits) -> Iterator[Member]:
    """The members of a tar, in order; each must be read before the next is asked for."""
    file.seek(0, 2)
    stream = _Forward(_decompressed(file, kind), Budget(_doubled(limits), file.tell()))
    file.seek(0)
    with _damage_told(), _opened(stream) as archive:
        while True:
            stream.allow(MAX_HEADER_BYTES)
            info = archive.next()
            if info is None:
                break
            archive.members.clear()  # type: ignore[attr-defined]  # tarfile keeps every header it has seen
            yield _member(info, stream)
        # tarfile takes garbage and a missing end for the end; a tar ends with zeros.
        if stream.last != bytes(tarfile.BLOCKSIZE):
            raise SkillError("the tar is damaged or cut short: it has no end mark")
        stream.drain()  # to the compressor's own checksum


def _opened(stream: _Forward) -> tarfile.TarFile:
    return tarfile.open(fileobj=cast(BinaryIO, stream), mode="r:", errorlevel=2)


@contextmanager
def _damage_told() -> Iterator[None]:
    try:
        yield
    except (
        tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError, ValueError,
        OverflowError, RecursionError,
    ) as error:  # fmt: skip
        raise SkillError(f"the tar is damaged or cut short: {error}") from None


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Forward:
    """A stream that tarfile may read and skip forward in, and not make it read too much."""

    def __init__(self, source: _Readable, budget: Budget) -> None:
        self._source = source
        self._budget = budget
        self._position = 0
        self._allowed = MAX_HEADER_BYTES
        self.last = b""

    def allow(self, count: int) -> None:
        """So many bytes may be read from here on."""
        self._allowed = count

    def tell(self) -> int:
        return self._position

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > self._allowed:
            raise SkillError("the tar has a header that is too large")
        self._allowed -= size
        self.last = self._take(size)
        return self.last

    def seek(self, position: int) -> int:
        if position < self._position:
            raise tarfile.ReadError("it points backwards")
        while self._position < position:
            if not self._take(min(position - self._position, CHUNK_BYTES)):
                break
        return self._position

    def drain(self) -> None:
        while self._take(CHUNK_BYTES):
            pass

    def _take(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size > 0:
            part = self._source.read(min(size, CHUNK_BYTES))
            if not part:
                break
            self._budget.spend(len(part))
            self._position += len(part)
            size -= len(part)
            parts.append(part)
        return b"".join(parts)


@dataclass(frozen=True, slots=True)
class _TarMember:
    name: str
    folder: bool
    executable: bool
    size: int
    start: int
    stream: _Forward

    def chunks(self) -> Iterator[bytes]:
        with _damage_told():
            self.stream.seek(self.start)
            left = self.size
            while left:
                self.stream.allow(CHUNK_BYTES)
                chunk = self.stream.read(min(left, CHUNK_BYTES))
                if not chunk:
                    raise SkillError(f"the tar is cut short inside {self.name!r}")
                left -= len(chunk)
                yield chunk


def _member(info: tarfile.TarInfo, stream: _Forward) -> _TarMember:
    name = info.name
    if info.issym() or info.islnk():
        raise SkillError(f"{name!r} is a link", hint="put the file itself into the archive")
    if info.issparse():
        raise SkillError(f"{name!r} is a sparse file")
    if not (info.isreg() or info.isdir()):
        raise SkillError(f"{name!r} is a device, a pipe or of an unknown kind")
    if info.isreg() and info.mode & (stat.S_ISUID | stat.S_ISGID):
        raise SkillError(f"{name!r} has a setuid or setgid bit")
    size = info.size if info.isreg() else 0
    if size < 0:
        raise SkillError(f"{name!r} has a negative size")
    return _TarMember(name, info.isdir(), bool(info.mode & 0o111), size, info.offset_data, stream)


def _doubled(limits: ArchiveLimits) -> ArchiveLimits:
    """The stream's own limits: the files', and as much again for headers and padding."""
    return ArchiveLimits(total_bytes=limits.total_bytes * 2, ratio=limits.ratio * 2)


def _decompressed(file: BinaryIO, kind: Compression) -> _Readable:
    if kind == "gzip":
        return gzip.GzipFile(fileobj=file)
    if kind == "bzip2":
        return bz2.BZ2File(file)
    return _Xz(file) if kind == "xz" else file


class _Xz:
    """An xz stream under a memory limit, which lzma.LZMAFile does not offer."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decompressor = self._fresh()

    @staticmethod
    def _fresh() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=MAX_XZ_MEMORY_BYTES)

    def read(self, size: int, /) -> bytes:
        while True:
            if self._decompressor.eof:
                rest = self._decompressor.unused_data or self._file.read(CHUNK_BYTES)
                rest = rest.lstrip(b"\0")  # stream padding
                if not rest:
                    return b""
                self._decompressor = self._fresh()
                chunk = self._decompressor.decompress(rest, size)
            elif self._decompressor.needs_input:
                data = self._file.read(CHUNK_BYTES)
                if not data:
                    raise EOFError("the xz stream ends early")
                chunk = self._decompressor.decompress(data, size)
            else:
                chunk = self._decompressor.decompress(b"", size)
            if chunk:
                return chunk
