"""The little of DNS that a resolver for known names needs: one question, one answer (RFC 1035).
Packets are the guest's; nothing of them goes anywhere but into the answer."""

from __future__ import annotations

import struct
from typing import NamedTuple

A, AAAA, HTTPS, ANY, IN = 1, 28, 65, 255, 1
NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED = range(6)
TTL_S = 60
LONGEST = 255
_HEADER = struct.Struct(">HHHHHH")


class Question(NamedTuple):
    """What is asked; ``raw`` is the question itself, to be repeated in the answer."""

    number: int
    name: str
    type: int
    klass: int
    recursive: bool
    raw: bytes


def question_of(packet: bytes) -> Question | None:
    """None for what is no plain question about one name."""
    if len(packet) < _HEADER.size:
        return None
    number, flags, asked, *_ = _HEADER.unpack_from(packet)
    if flags & 0xF800 or asked != 1:  # an answer, or another kind of request
        return None
    at, labels = _HEADER.size, []
    while at < len(packet) and packet[at]:
        size = packet[at]
        label = packet[at + 1 : at + 1 + size]
        if size > 63 or len(label) != size:  # a pointer has nothing to point to here
            return None
        labels.append(label)
        at += 1 + size
    if at + 5 > len(packet) or at - _HEADER.size > LONGEST:
        return None
    kind, klass = struct.unpack_from(">HH", packet, at + 1)
    try:
        name = b".".join(labels).decode("ascii")
    except UnicodeDecodeError:
        return None
    if any(b"." in label for label in labels):
        return None  # a dot inside a label would read as two
    return Question(number, name, kind, klass, bool(flags & 0x100), packet[12 : at + 5])


def answer(question: Question, code: int, address: bytes | None = None) -> bytes:
    """The whole packet; with four bytes of an address, that one."""
    flags = 0x8080 | (0x100 if question.recursive else 0) | code
    head = _HEADER.pack(question.number, flags, 1, address is not None, 0, 0)
    if address is None:
        return head + question.raw
    return head + question.raw + struct.pack(">HHHIH", 0xC00C, A, IN, TTL_S, 4) + address


def malformed(packet: bytes) -> bytes | None:
    """The answer to what is no question; None if it has no number to answer to."""
    if len(packet) < _HEADER.size or packet[2] & 0x80:
        return None
    number = struct.unpack_from(">H", packet)[0]
    return _HEADER.pack(number, 0x8080 | FORMERR, 0, 0, 0, 0)
