"""A classic BPF machine for seccomp filters, as strict as the kernel's checker, and no faster."""

from __future__ import annotations

import struct
from typing import NamedTuple


class Run(NamedTuple):
    value: int
    steps: int


def run(program: bytes, number: int, args: tuple[int, ...] = (), *, audit_arch: int) -> Run:
    """What the filter returns for one call, and how many instructions it took."""
    registers = [*args, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("<IIQ6Q", number, audit_arch, 0x7F0000001234, *registers)
    code = list(struct.iter_unpack("<HBBI", program))
    at = steps = accumulator = 0
    while True:
        opcode, if_true, if_false, k = code[at]
        at += 1
        steps += 1
        match opcode:
            case 0x20:  # load a word of seccomp_data, aligned and inside it
                assert k % 4 == 0
                assert k + 4 <= len(data)
                (accumulator,) = struct.unpack_from("<I", data, k)
            case 0x54:  # and
                accumulator &= k
            case 0x05:  # jump
                at += k
            case 0x15:  # jump if equal
                at += if_true if accumulator == k else if_false
            case 0x35:  # jump if at least
                at += if_true if accumulator >= k else if_false
            case 0x06:  # return
                return Run(k, steps)
            case _:
                raise AssertionError(f"instruction {at - 1} is {opcode:#x}, which we never emit")
