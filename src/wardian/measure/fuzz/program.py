"""A program: a few system calls whose arguments are numbers, memory or earlier results."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from wardian.syscalls.decode import number_text
from wardian.syscalls.names import family
from wardian.syscalls.roles import FAMILIES, POINTERS
from wardian.syscalls.table import lookup

# The executor's: executor.c
ARENA_AT, ARENA_BYTES = 0x20000000, 8 * 4096
REGION_AT, REGION_BYTES = 0x40000000, 16 * 4096
READ_ONLY_AT = ARENA_BYTES - 4096
MAX_CALLS = 8
SLOT_BYTES = 512  # each argument of each call has its own part of the arena
WORD64 = (1 << 64) - 1

NUMBER, RESULT, WORD, SELF, AT = "number", "result", "word", "self", "at"
KINDS = (NUMBER, RESULT, WORD, SELF, AT)


class Arg(NamedTuple):
    """``number``: itself · ``result``: of that call · ``word``: the int at that place in the arena
    · ``self``: the program's own pid · ``at``: a pointer to that place."""

    kind: str
    value: int = 0


class CallStep(NamedTuple):
    """A system call by its name."""

    name: str
    args: tuple[Arg, ...]


class CallSequence(NamedTuple):
    """Calls, and what lies in the arena before the first: (place, bytes)."""

    calls: tuple[CallStep, ...]
    image: tuple[tuple[int, bytes], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(call.name for call in self.calls)

    def arena(self) -> bytearray:
        """The memory before the first call."""
        memory = bytearray(ARENA_BYTES)
        for at, data in self.image:
            memory[at : at + len(data)] = data
        return memory


def slot(call: int, place: int) -> int:
    """Where the memory of an argument begins."""
    return (call * 6 + place) * SLOT_BYTES


def trimmed(program: CallSequence) -> CallSequence:
    """Without memory that nothing points to."""
    wanted = {arg.value // SLOT_BYTES for call in program.calls for arg in call.args
              if arg.kind in (AT, WORD)}  # fmt: skip
    kept = tuple((at, data) for at, data in program.image if at // SLOT_BYTES in wanted)
    return program._replace(image=kept)


def roles_of(call: CallStep, arch: str) -> tuple[str, ...]:
    """The role of each argument, as far as a command among them says what the others are."""
    roles = list(lookup(call.name).arguments)
    for place, arg in enumerate(call.args[: len(roles)]):
        role = roles[place]
        if role in FAMILIES and arg.kind == NUMBER:
            command = arg.value & FAMILIES[role][0]
            for _, number, takes in family(role, arch):
                if takes and number == command:
                    roles[place + 1 : place + 1 + len(takes)] = takes
                    break
    return tuple(roles[: len(call.args)])


def command_of(call: CallStep, arch: str) -> str:
    """The name of the command of ioctl, fcntl, prctl and the like; nothing for other calls."""
    for role, arg in zip(lookup(call.name).arguments, call.args, strict=False):
        if role in FAMILIES and FAMILIES[role][0] == 0xFFFFFFFF and arg.kind == NUMBER:
            return number_text(role, arg.value, arch)
    return ""


def text(program: CallSequence, arch: str, results: Sequence[str] = ()) -> list[str]:
    """The program as strace would write it; ``results`` stand behind the calls."""
    memory = program.arena()
    lines = []
    for index, call in enumerate(program.calls):
        roles = roles_of(call, arch)
        args = ", ".join(_argument(role, arg, program, memory, arch)
                         for role, arg in zip(roles, call.args, strict=False)
                         if role != "none")  # fmt: skip
        result = f" = {results[index]}" if index < len(results) else ""
        lines.append(f"r{index}: {call.name}({args}){result}")
    return lines


def _argument(role: str, arg: Arg, program: CallSequence, memory: bytearray, arch: str) -> str:
    if arg.kind == RESULT:
        return f"r{arg.value}"
    if arg.kind == SELF:
        return "getpid()"
    if arg.kind == WORD:
        return f"r{_writer(program, arg.value)}.out[{arg.value % SLOT_BYTES // 4}]"
    if arg.kind == AT:
        return _pointed(role, arg.value, memory)
    value = arg.value & WORD64
    if role in FAMILIES:
        return number_text(role, value, arch)
    if role == "dirfd" and value & 0xFFFFFFFF == 0xFFFFFF9C:
        return "AT_FDCWD"
    if role in POINTERS:
        return "NULL" if value == 0 else hex(value)
    if role == "mode":
        return f"0{value:o}" if value else "0"
    signed = value - (1 << 64) if value >> 63 else value
    return str(signed) if -(1 << 31) <= signed < 1 << 31 else hex(value)


def _writer(program: CallSequence, at: int) -> int:
    """The call whose argument points to that part of the arena."""
    wanted = at // SLOT_BYTES
    for index, call in enumerate(program.calls):
        if any(arg.kind == AT and arg.value // SLOT_BYTES == wanted for arg in call.args):
            return index
    return wanted // 6


def _pointed(role: str, at: int, memory: bytearray) -> str:
    if at >= ARENA_BYTES:
        return f"past+{at - ARENA_BYTES:#x}"
    if at >= READ_ONLY_AT and role in ("out", "inout"):
        return "read_only"
    data = bytes(memory[at : at + SLOT_BYTES])
    if role in ("path", "str"):
        return quoted(data.split(b"\0", 1)[0][:64])
    data = data.rstrip(b"\0")
    if role == "out" or not data:
        return f"buf{at // SLOT_BYTES}" if role in ("out", "inout") else "{0}"
    shown = data[:24].hex(" ", 4)
    return "{" + shown + ("…" if len(data) > 24 else "") + "}"


def quoted(data: bytes) -> str:
    """Bytes as a C string."""
    return '"' + "".join(
        f"\\{byte:03o}" if byte < 32 or byte > 126 or byte in b'"\\' else chr(byte)
        for byte in data
    ) + '"'  # fmt: skip


def to_data(program: CallSequence) -> dict[str, Any]:
    """The program for JSON."""
    return {
        "calls": [
            {"name": call.name, "args": [[arg.kind, arg.value & WORD64] for arg in call.args]}
            for call in program.calls
        ],
        "image": [[at, data.hex()] for at, data in program.image],
    }


def from_data(data: Any) -> CallSequence:
    """Raises ValueError for what ``to_data`` did not write."""
    try:
        calls = tuple(
            CallStep(lookup(one["name"]).name, tuple(_read_arg(arg) for arg in one["args"]))
            for one in data["calls"]
        )
        image = tuple((int(at), bytes.fromhex(content)) for at, content in data["image"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not a program: {error}") from None
    if not 0 < len(calls) <= MAX_CALLS or any(len(call.args) > 6 for call in calls):
        raise ValueError("not a program: too many calls or arguments")
    if any(at < 0 or at + len(content) > ARENA_BYTES for at, content in image):
        raise ValueError("not a program: its memory does not fit")
    return CallSequence(calls, image)


def _read_arg(data: Any) -> Arg:
    kind, value = data
    if kind not in KINDS or not isinstance(value, int) or not 0 <= value <= WORD64:
        raise ValueError(f"not an argument: {data!r}")
    return Arg(kind, value - (1 << 64) if kind == NUMBER and value >> 63 else value)


def pointers(places: Iterable[int]) -> bytes:
    """Addresses of places in the arena, as an array; -1 for NULL."""
    return b"".join(struct.pack("<Q", 0 if at < 0 else ARENA_AT + at) for at in places)
