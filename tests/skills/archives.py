"""Archives made by hand, good and hostile, in both formats."""

from __future__ import annotations

import io
import stat
import struct
import tarfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

MANIFEST = b"---\nname: my-skill\ndescription: Does it.\n---\nDo it.\n"


@dataclass(frozen=True)
class Item:
    """One member to be written, with whatever name and mode the test wants."""

    name: str
    content: bytes = b"x"
    mode: int = 0o644
    kind: int = stat.S_IFREG
    target: str = ""


GOOD = (Item("my-skill/SKILL.md", MANIFEST), Item("my-skill/scripts/run.sh", b"#!/bin/sh\n", 0o755))


def zip_of(path: Path, *items: Item, compression: int = zipfile.ZIP_DEFLATED) -> Path:
    """A zip of the items, names and modes as they are given."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for item in items:
            info = zipfile.ZipInfo("placeholder")
            info.filename = item.name
            info.external_attr = (item.kind | item.mode) << 16
            info.compress_type = compression
            content = item.target.encode() if item.kind == stat.S_IFLNK else item.content
            archive.writestr(info, content)
    return path


_TYPES = {
    stat.S_IFREG: tarfile.REGTYPE,
    stat.S_IFDIR: tarfile.DIRTYPE,
    stat.S_IFLNK: tarfile.SYMTYPE,
    stat.S_IFCHR: tarfile.CHRTYPE,
    stat.S_IFBLK: tarfile.BLKTYPE,
    stat.S_IFIFO: tarfile.FIFOTYPE,
}


def tar_of(path: Path, *items: Item, mode: str = "w:gz", hard_links: bool = False) -> Path:
    """A tar of the items; with ``hard_links``, links are hard ones."""
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for item in items:
            info = tarfile.TarInfo(item.name)
            info.mode, info.type, info.linkname = item.mode, _TYPES[item.kind], item.target
            if item.kind == stat.S_IFLNK and hard_links:
                info.type = tarfile.LNKTYPE
            content = item.content if item.kind == stat.S_IFREG else b""
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def zip_bytes(*items: tuple[bytes, bytes, int, int]) -> bytes:
    """A zip from (raw name, deflated data, claimed size, crc), with no help from zipfile."""
    out, index = b"", b""
    for name, data, size, crc in items:
        rest = (20, 0, 8, 0, 33, crc, len(data), size, len(name), 0)
        offset = len(out)
        out += struct.pack("<4s5H3I2H", b"PK\3\4", *rest) + name + data
        index += struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, *rest, 0, 0, 0, 0, offset) + name
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, len(items), len(items), len(index), len(out), 0)
    return out + index + end


def deflated(content: bytes) -> bytes:
    """Raw deflate, as zip has it."""
    engine = zlib.compressobj(9, zlib.DEFLATED, -15)
    return engine.compress(content) + engine.flush()
