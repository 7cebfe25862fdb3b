"""The running kernel's own account of its syscalls' parameters; nothing of the table is known here.

Two sources: the format files of its trace events, which have nearly every call and which only root
may read, and its type information (BTF), which anyone may read and which has those calls that the
compiler kept as functions.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

TRACING = [Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing")]
BTF = Path("/sys/kernel/btf/vmlinux")

# Where the kernel's function is not called what its syscall is called. The older stat, fstat, lstat
# and uname are other functions, which neither architecture has in its table.
RENAMED = {
    "newstat": "stat",
    "newfstat": "fstat",
    "newlstat": "lstat",
    "newuname": "uname",
    "sendfile64": "sendfile",
    "umount": "umount2",
}


class Parameter(NamedTuple):
    """``type`` is without const and star: of ``const char * path``, it is ``char``."""

    name: str
    type: str
    is_pointer: bool
    is_read_only: bool  # a pointer to something const


Prototypes = dict[str, list[Parameter]]


@cache
def traced() -> Prototypes:
    """By the trace events; none if they can't be read."""
    found: Prototypes = {}
    for root in TRACING:
        try:
            events = sorted((root / "events" / "syscalls").glob("sys_enter_*"))
            for event in events:
                name = event.name.removeprefix("sys_enter_")
                found[name] = list(_fields((event / "format").read_text()))
        except OSError:
            continue
    return _renamed(found)


def _fields(text: str) -> Iterator[Parameter]:
    for line in text.splitlines():
        declaration, _, rest = line.strip().removeprefix("field:").partition(";")
        offset = rest.strip().removeprefix("offset:").partition(";")[0]
        if line.startswith("\tfield:") and int(offset) >= 16:  # the call's number comes before
            kind, _, name = declaration.rpartition(" ")
            is_pointer = "*" in kind or "cap_user_" in kind  # these are typedefs of pointers
            words = kind.replace("*", " ").split()
            is_read_only = is_pointer and words[0] == "const"
            bare = " ".join(word for word in words if word not in ("const", "struct", "union"))
            yield Parameter(name.strip("_"), bare, is_pointer, is_read_only)


@cache
def typed() -> Prototypes:
    """By the type information; none if there is none."""
    try:
        types = _Types(BTF.read_bytes())
    except OSError:
        return {}
    return _renamed(types.functions("__do_sys_"))


def _renamed(found: Prototypes) -> Prototypes:
    for theirs, ours in RENAMED.items():
        if theirs in found:
            found[ours] = found.pop(theirs)
    return found


# What follows the header of a type in BTF, by kind: bytes, and bytes for each of its members.
_EXTRA = {1: (4, 0), 3: (12, 0), 4: (0, 12), 5: (0, 12), 6: (0, 8), 13: (0, 8), 14: (4, 0)}
_EXTRA |= {15: (0, 12), 17: (4, 0), 19: (0, 12)}


class _Types:
    """BTF, as far as functions need it: linux/btf.h and Documentation/bpf/btf.rst."""

    _POINTER, _TYPEDEF, _VOLATILE, _CONST, _FUNCTION, _TAG = 2, 8, 9, 10, 12, 18

    def __init__(self, data: bytes) -> None:
        header, types, types_size, strings, strings_size = struct.unpack_from("<4x5I", data)
        self._strings = data[header + strings :][:strings_size]
        self._types: list[tuple[int, str, int, bytes]] = [(0, "void", 0, b"")]
        at, end = header + types, header + types + types_size
        while at < end:
            name, info, refers = struct.unpack_from("<3I", data, at)
            kind, members = info >> 24 & 31, info & 0xFFFF
            fixed, each = _EXTRA.get(kind, (0, 0))
            size = fixed + each * members
            self._types.append((kind, self._text(name), refers, data[at + 12 : at + 12 + size]))
            at += 12 + size

    def functions(self, prefix: str) -> Prototypes:
        found: Prototypes = {}
        for kind, name, prototype, _ in self._types:
            if kind == self._FUNCTION and name.startswith(prefix):
                pairs = struct.iter_unpack("<2I", self._types[prototype][3])
                found[name.removeprefix(prefix)] = [
                    self._parameter(*pair)
                    for pair in pairs
                    if self._text(pair[0]) != "__unused"  # stands where a call takes none
                ]
        return found

    def _parameter(self, name: int, number: int) -> Parameter:
        is_pointer = is_read_only = False
        kind, spelled, refers, _ = self._types[number]
        while kind in (self._POINTER, self._TYPEDEF, self._VOLATILE, self._CONST, self._TAG):
            if kind == self._TYPEDEF and self._types[refers][0] != self._POINTER:
                break
            is_read_only |= is_pointer and kind == self._CONST
            is_pointer |= kind == self._POINTER
            kind, spelled, refers, _ = self._types[refers]
        return Parameter(self._text(name).strip("_"), spelled, is_pointer, is_read_only)

    def _text(self, offset: int) -> str:
        return self._strings[offset : self._strings.index(b"\0", offset)].decode()
