"""What an ELF file asks the loader for, read from its headers; nothing is executed. 64-bit only."""

from __future__ import annotations

import glob
import os
import struct
from collections.abc import Iterator
from typing import NamedTuple

MAX_HEADERS = 256
MAX_DYNAMIC_BYTES = 1 << 20
MAX_STRING_BYTES = 1 << 26
MAX_CONF_FILES = 256
_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NULL, _DT_NEEDED, _DT_STRTAB, _DT_STRSZ, _DT_RPATH, _DT_RUNPATH = 0, 1, 5, 10, 15, 29
_DEFAULT = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")


class Elf(NamedTuple):
    """``search`` is the file's own search path, ``$ORIGIN`` still in it."""

    machine: int
    loader: str | None
    needed: tuple[str, ...]
    search: tuple[str, ...]


class _Segment(NamedTuple):
    kind: int
    offset: int
    address: int
    size: int


def read_elf(path: str) -> Elf | None:
    """None for anything that is not a well-formed 64-bit little-endian ELF file."""
    try:
        with open(path, "rb") as file:
            head = file.read(64)
            if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
                return None
            machine = struct.unpack_from("<H", head, 18)[0]
            (start,) = struct.unpack_from("<Q", head, 32)
            size, count = struct.unpack_from("<HH", head, 54)
            if size != 56 or count > MAX_HEADERS:
                return None
            file.seek(start)
            table = file.read(size * count)
            segments = [
                _Segment(kind, offset, address, filesize)
                for kind, _, offset, address, _, filesize, _, _ in struct.iter_unpack(
                    "<IIQQQQQQ", table
                )
            ]

            def piece(offset: int, length: int) -> bytes:
                file.seek(offset)
                return file.read(length)

            loader = next(
                (piece(s.offset, min(s.size, 4096)) for s in segments if s.kind == _PT_INTERP), None
            )
            dynamic = next((s for s in segments if s.kind == _PT_DYNAMIC), None)
            entries: list[tuple[int, int]] = []
            if dynamic is not None:
                data = piece(dynamic.offset, min(dynamic.size, MAX_DYNAMIC_BYTES))
                entries = list(struct.iter_unpack("<qQ", data[: len(data) // 16 * 16]))
            values = dict(entries)
            strings = b""
            if _DT_STRTAB in values:
                where = _offset(segments, values[_DT_STRTAB])
                strings = piece(where, min(values.get(_DT_STRSZ, 0), MAX_STRING_BYTES))
    except (OSError, OverflowError, struct.error, ValueError):
        return None
    needed = tuple(_string(strings, at) for tag, at in entries if tag == _DT_NEEDED)
    paths = [_string(strings, at) for tag, at in entries if tag in (_DT_RPATH, _DT_RUNPATH)]
    search = tuple(one for path in paths for one in path.split(":") if one)
    return Elf(
        machine, os.fsdecode(loader.rstrip(b"\0")) if loader is not None else None, needed, search
    )


def _offset(segments: list[_Segment], address: int) -> int:
    for segment in segments:
        if segment.kind == _PT_LOAD and 0 <= address - segment.address < segment.size:
            return segment.offset + address - segment.address
    raise ValueError("an address outside of the file")


def _string(strings: bytes, at: int) -> str:
    end = strings.find(b"\0", at)
    return os.fsdecode(strings[at : end if end >= 0 else None])


def library(name: str, wanted_by: str, elf: Elf, folders: list[str]) -> str | None:
    """Where the loader would find ``name`` for the file ``wanted_by``."""
    if "/" in name:
        return name if name.startswith("/") and os.path.isfile(name) else None
    origin = os.path.dirname(os.path.realpath(wanted_by))
    own = [
        one.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)
        for one in elf.search
        if one.startswith(("/", "$ORIGIN", "${ORIGIN}"))
    ]
    for folder in (*own, *folders):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            found = read_elf(path)
            if found is not None and found.machine == elf.machine:
                return path
    return None


def library_folders() -> list[str]:
    """Where the loader looks on this host, by its configuration and by default."""
    found = [*_configured("/etc/ld.so.conf", set()), *_DEFAULT]
    triple = f"{os.uname().machine}-linux-gnu"
    found += [f"/lib/{triple}", f"/usr/lib/{triple}"]
    return [folder for folder in dict.fromkeys(found) if os.path.isdir(folder)]


def _configured(path: str, seen: set[str]) -> Iterator[str]:
    if path in seen or len(seen) > MAX_CONF_FILES:
        return
    seen.add(path)
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read(1 << 20).splitlines()
    except OSError:
        return
    for line in lines:
        words = line.partition("#")[0].split()
        if words[:1] == ["include"]:
            for pattern in words[1:]:
                for one in sorted(glob.glob(os.path.join("/etc", pattern))):
                    yield from _configured(one, seen)
        elif words and words[0].startswith("/"):
            yield words[0]
