"""A system call as readable text, from its registers; the guest's memory is not read here.

``call_text("openat", [2**64 - 100, 0x7f…, 0o2000000], strings={1: "/etc/passwd"})`` is
``openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC)``.

Arguments that say nothing are left out at the end of a call: NULL, no flags, what a command does
not take. A pointer to something that nobody has read is ``…``.
"""

from __future__ import annotations

from functools import lru_cache

from wardian.syscalls.names import family
from wardian.syscalls.roles import FAMILIES, POINTERS, WHOLE
from wardian.syscalls.table import canonical_arch, find
from wardian.text import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    Weight = Literal["significant", "unread", "nothing"]
    Piece = tuple[str, Weight]
    """An argument's text, and what it is worth where nothing follows."""

UNREAD = "…"
AT_FDCWD = -100
_CREATES = 0o20000100  # O_CREAT and the bit that O_TMPFILE has alone, on both architectures
_LOWEST_ADDRESS = 0x10000  # vm.mmap_min_addr on any distribution: what is less is a number
_SMALL = 0x1000
_OCTAL = frozenset({"nodemode", "ipcflags"})  # what their names leave over are permission bits


def call_text(
    name: str,
    args: Sequence[int],
    *,
    strings: Mapping[int, str] | None = None,
    arch: str = "x86_64",
) -> str:
    """The call as strace would write it, roughly; never raises for any name and any arguments.

    ``args`` are the registers, as many as there are. ``strings`` are texts already read from the
    guest, by the argument's place: a path, an address as ``sockaddr_text`` gives it, or what a
    descriptor stands for. Raises WallError for an architecture without a table.
    """
    arch = canonical_arch(arch)
    row = find(name)
    if row is None:
        return f"{printable(name)}({', '.join(hex(_unsigned(arg)) for arg in args)})"
    return f"{name}({', '.join(_trimmed(_pieces(row.arguments, args, strings or {}, arch)))})"


def number_text(role: str, value: int, arch: str = "x86_64") -> str:
    """A number in the words of its family, such as ``O_RDWR|O_CLOEXEC`` for an ``oflags``."""
    return _named(role, value & WHOLE, arch)


def sockaddr_text(address: bytes) -> str:
    """A socket address, as ``93.184.216.34:443``, ``[::1]:80``, ``unix:/run/x.sock``,
    ``unix:@abstract`` or ``netlink``; what is cut short or of another family is only named.
    """
    known = int.from_bytes(address[:2], "little") if len(address) >= 2 else 0
    port = int.from_bytes(address[2:4], "big")
    name = number_text("sockfamily", known)
    if name == "AF_UNIX":
        return "unix:" + _unix_name(address[2:])
    if name == "AF_INET" and len(address) >= 8:
        return f"{'.'.join(str(byte) for byte in address[4:8])}:{port}"
    if name == "AF_INET6" and len(address) >= 24:
        scope = int.from_bytes(address[24:28], "little")
        return f"[{_ipv6(address[8:24])}{f'%{scope}' if scope else ''}]:{port}"
    return name.removeprefix("AF_").lower() if name.startswith("AF_") else f"family {name}"


def _pieces(
    roles: Sequence[str], args: Sequence[int], strings: Mapping[int, str], arch: str
) -> list[Piece]:
    pieces: list[Piece] = []
    remaining = list(roles)
    asked_for = 0  # arguments before this place are what a command takes: a zero means something
    for place, arg in enumerate(args):
        if not remaining or remaining[0] == "none":
            break
        role = remaining.pop(0)
        takes = _taken_after(role, arg & FAMILIES[role][0], arch) if role in FAMILIES else None
        if takes is not None:
            remaining[: len(takes)] = takes
            asked_for = place + 1 + len(takes)
        if role == "oflags" and remaining[:1] == ["mode"] and not arg & _CREATES:
            remaining = []  # nothing will be made, so the mode and what follows mean nothing
        text, weight = _piece(role, _unsigned(arg), strings.get(place), arch)
        asked = place < asked_for and role not in POINTERS and role != "any"
        pieces.append((text, "significant" if asked else weight))
    return pieces


@lru_cache(maxsize=1024)
def _taken_after(role: str, command: int, arch: str) -> tuple[str, ...] | None:
    """What a command says about the arguments after it."""
    commands = (takes for _, number, takes in family(role, arch) if takes and number == command)
    return next(commands, None)


def _piece(role: str, value: int, text: str | None, arch: str) -> Piece:
    if text is not None:
        return _with_text(role, value, text, arch), "significant"
    if role in POINTERS:
        return (UNREAD, "unread") if value else ("NULL", "nothing")
    if role == "any" and value >= _LOWEST_ADDRESS:
        return UNREAD, "nothing"
    shown = _number(role, value, arch)
    bits = role in ("any", "flags") or (role in FAMILIES and FAMILIES[role][0] == 0)
    return shown, "nothing" if role == "addrlen" or (bits and shown == "0") else "significant"


def _with_text(role: str, value: int, text: str, arch: str) -> str:
    if role in ("path", "str", "any"):
        return _quoted(text)
    if role in POINTERS:
        return printable(text)
    return f"{_number(role, value, arch)}<{printable(text)}>"


def _trimmed(pieces: list[Piece]) -> list[str]:
    """The texts, without those at the end that say nothing; the first always stays."""
    end = len(pieces)
    while end > 1 and pieces[end - 1][1] != "significant":
        end -= 1
    texts = [text for text, _ in pieces[:end]]
    if any(weight == "unread" for _, weight in pieces[end:]) and texts != [UNREAD]:
        texts.append(UNREAD)
    return texts


def _number(role: str, value: int, arch: str) -> str:
    low = value & WHOLE
    if role in FAMILIES:
        return number_text(role, value, arch)
    if role == "dirfd" and _signed(low, 32) == AT_FDCWD:
        return "AT_FDCWD"
    if role in ("fd", "dirfd", "pid", "int", "addrlen"):
        return str(_signed(low, 32))
    if role in ("uid", "gid"):
        return str(low) if low != WHOLE else "-1"
    if role == "mode":
        return f"0{low:03o}" if low else "0"
    if role == "dev":  # as linux/kdev_t.h packs it
        return f"{low >> 8 & 0xFFF}:{low & 0xFF | low >> 12 & 0xFFF00}"
    if role == "addr":
        return hex(value) if value else "NULL"
    if role in ("offset", "long"):
        return str(_signed(value, 64))
    if role == "flags":
        return _hex(low)
    number = low if role == "uint" else value
    return str(number) if number < 1 << 31 else hex(number)


@lru_cache(maxsize=4096)  # a program makes the same few calls over and over
def _named(role: str, value: int, arch: str) -> str:
    mask = FAMILIES[role][0]
    names = family(role, arch)
    if mask == WHOLE or value in (0, WHOLE):
        return next((name for name, number, _ in names if number == value), _plain(value))
    found, rest = _split(value, mask, names)
    if rest or not found:
        found.append(f"{rest:#05o}".replace("o", "") if role in _OCTAL else _hex(rest))
    return "|".join(found)


def _split(
    value: int, mask: int, names: Sequence[tuple[str, int, object]]
) -> tuple[list[str], int]:
    """The names of the value in the order of the table, and the bits that have none."""
    found = {}
    rest = value
    # A name for several bits goes before the names of each of them.
    widest_first = sorted(enumerate(names), key=lambda entry: -entry[1][1].bit_count())
    for place, (name, number, _) in widest_first:
        is_flag = number & ~mask
        if rest & number == number if is_flag else mask and value & mask == number:
            found[place] = name
            rest &= ~number
    return [found[place] for place in sorted(found)], rest


def _plain(value: int) -> str:
    if value > WHOLE - _SMALL:
        return str(_signed(value, 32))
    return str(value) if value < _SMALL else hex(value)


def _hex(value: int) -> str:
    return hex(value) if value else "0"


def _unsigned(value: int) -> int:
    return value & 0xFFFFFFFFFFFFFFFF


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{printable(escaped)}"'


def _unix_name(name: bytes) -> str:
    """A path ends at its NUL; an abstract name starts with one, and may have more."""
    if name[:1] == b"\0":
        return "@" + printable(name[1:].decode("utf-8", "backslashreplace"))
    return printable(name.split(b"\0", 1)[0].decode("utf-8", "backslashreplace"))


def _ipv6(address: bytes) -> str:
    """As RFC 5952 has it: the longest run of zeros, the first of the longest, is left out."""
    if address[:12] == b"\0" * 10 + b"\xff\xff":
        return f"::ffff:{'.'.join(str(byte) for byte in address[12:])}"
    words = [int.from_bytes(address[i : i + 2], "big") for i in range(0, 16, 2)]
    longest = start = 0
    for first in range(8):
        length = next((n for n in range(8 - first) if words[first + n]), 8 - first)
        if length > max(longest, 1):
            start, longest = first, length
    texts = [f"{word:x}" for word in words]
    if not longest:
        return ":".join(texts)
    return f"{':'.join(texts[:start])}::{':'.join(texts[start + longest :])}"
