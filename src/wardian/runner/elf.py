"""What an ELF file asks the loader for, read from its headers; nothing is executed. 64-bit only."""

from __future__ import annotations

import glob
import os
import stat
import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

MAX_HEADERS = 256
MAX_DYNAMIC_BYTES = 1 << 20
MAX_NAME_BYTES = 4096
MAX_NEEDED = 512
MAX_SEARCH = 64
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
    """None for anything that is not a well-formed 64-bit little-endian ELF file.

    The file is not trusted: it is read in a few bounded pieces, and a pipe is not waited for.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return _read(descriptor)
    except (OSError, OverflowError, struct.error, ValueError):
        return None
    finally:
        os.close(descriptor)


def _read(fd: int) -> Elf | None:
    head = os.pread(fd, 64, 0)
    if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
        return None
    machine = struct.unpack_from("<H", head, 18)[0]
    (start,) = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    if size != 56 or count > MAX_HEADERS:
        return None
    segments = [
        _Segment(kind, offset, address, filesize)
        for kind, _, offset, address, _, filesize, _, _ in struct.iter_unpack(
            "<IIQQQQQQ", os.pread(fd, size * count, start)
        )
    ]
    named = next((s for s in segments if s.kind == _PT_INTERP), None)
    loader = None
    if named is not None:
        text = os.pread(fd, min(named.size, MAX_NAME_BYTES), named.offset)
        loader = os.fsdecode(text.partition(b"\0")[0])
    entries = _entries(fd, segments)
    needed = _strings(fd, segments, entries, (_DT_NEEDED,))[:MAX_NEEDED]
    paths = _strings(fd, segments, entries, (_DT_RPATH, _DT_RUNPATH))
    search = [one for path in paths for one in path.split(":") if one]
    return Elf(machine, loader, tuple(needed), tuple(search[:MAX_SEARCH]))


def _entries(fd: int, segments: list[_Segment]) -> list[tuple[int, int]]:
    """Of the dynamic section, up to its end."""
    dynamic = next((s for s in segments if s.kind == _PT_DYNAMIC), None)
    if dynamic is None:
        return []
    data = os.pread(fd, min(dynamic.size, MAX_DYNAMIC_BYTES), dynamic.offset)
    found = []
    for tag, value in struct.iter_unpack("<qQ", data[: len(data) // 16 * 16]):
        if tag == _DT_NULL:
            break
        found.append((tag, value))
    return found


def _strings(
    fd: int, segments: list[_Segment], entries: list[tuple[int, int]], tags: tuple[int, ...]
) -> list[str]:
    """The texts that entries with these tags name: so many, and each of a bounded length."""
    values = dict(entries)
    places = [at for tag, at in entries if tag in tags][:MAX_NEEDED]
    if not places or _DT_STRTAB not in values:
        return []
    table, size = _offset(segments, values[_DT_STRTAB]), values.get(_DT_STRSZ, 0)
    found = []
    for at in places:
        if at < size:
            data = os.pread(fd, min(MAX_NAME_BYTES, size - at), table + at)
            found.append(os.fsdecode(data.partition(b"\0")[0]))
    return found


def _offset(segments: list[_Segment], address: int) -> int:
    for segment in segments:
        if segment.kind == _PT_LOAD and 0 <= address - segment.address < segment.size:
            return segment.offset + address - segment.address
    raise ValueError("an address outside of the file")


def library(
    name: str, wanted_by: str, elf: Elf, folders: list[str], admitted: Callable[[str], bool]
) -> str | None:
    """The real path of what the loader would find as ``name`` for the file ``wanted_by``: an ELF
    file for the same machine, in a place that is ``admitted``, whatever the file itself names."""
    if "/" in name:
        return _admitted(name, elf, admitted) if name.startswith("/") else None
    if name in ("", ".", ".."):
        return None
    origin = os.path.dirname(os.path.realpath(wanted_by))
    own = [
        one.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)
        for one in elf.search
        if one.startswith(("/", "$ORIGIN", "${ORIGIN}"))
    ]
    for folder in (*own, *folders):
        found = _admitted(os.path.join(folder, name), elf, admitted)
        if found is not None:
            return found
    return None


def _admitted(path: str, wanted_by: Elf, admitted: Callable[[str], bool]) -> str | None:
    if "\0" in path or not os.path.isfile(path):
        return None
    real = os.path.realpath(path)
    if not admitted(real):
        return None
    found = read_elf(real)
    return real if found is not None and found.machine == wanted_by.machine else None


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
