"""Questions of a guest's, and their answers: the bytes are anyone's."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardian.sandbox.network import dns


def asked(name: str, kind: int = dns.A, *, number: int = 7, flags: int = 0x100) -> bytes:
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split(".") if part)
    return (
        struct.pack(">HHHHHH", number, flags, 1, 0, 0, 0)
        + labels
        + b"\0"
        + struct.pack(">HH", kind, 1)
    )


def test_a_question_is_read_and_answered() -> None:
    question = dns.question_of(asked("Api.Example.com") + b"\0\0\x29\x10\0\0\0\0\0\0\0")
    assert question is not None
    assert (question.name, question.type, question.number) == ("Api.Example.com", dns.A, 7)
    reply = dns.answer(question, dns.NOERROR, b"\xc6\x12\x00\x01")
    assert struct.unpack(">HHHHHH", reply[:12]) == (7, 0x8180, 1, 1, 0, 0)
    assert reply[12 : 12 + len(question.raw)] == question.raw  # letters as they were asked
    assert reply.endswith(b"\xc6\x12\x00\x01")


def test_an_answer_without_an_address_repeats_the_question_alone() -> None:
    question = dns.question_of(asked("x.example", dns.AAAA))
    assert question is not None
    assert dns.answer(question, dns.NXDOMAIN)[2:12] == struct.pack(">HHHHH", 0x8183, 1, 0, 0, 0)


@pytest.mark.parametrize(
    "packet",
    [
        b"", b"\0" * 11, asked("a.example", flags=0x8100), asked("a.example", flags=0x2800),
        asked("a.example")[:-1], asked("a.example")[:14],
        struct.pack(">HHHHHH", 1, 0, 2, 0, 0, 0) + b"\1a\0\0\1\0\1",  # two questions
        struct.pack(">HHHHHH", 1, 0, 1, 0, 0, 0) + b"\xc0\x0c\0\1\0\1",  # a pointer to itself
        struct.pack(">HHHHHH", 1, 0, 1, 0, 0, 0) + b"\3a.b\0\0\1\0\1",  # a dot inside a label
        struct.pack(">HHHHHH", 1, 0, 1, 0, 0, 0) + b"\1\xff\0\0\1\0\1",
        struct.pack(">HHHHHH", 1, 0, 1, 0, 0, 0) + b"\x3f" + b"a" * 63 + b"\x3f" * 200,
    ],
)  # fmt: skip
def test_what_is_no_question_is_none(packet: bytes) -> None:
    assert dns.question_of(packet) is None


def test_nobody_answers_an_answer() -> None:
    assert dns.malformed(asked("a.example", flags=0x8100)) is None
    assert dns.malformed(b"abc") is None
    assert dns.malformed(asked("a.example")[:14]) is not None


@given(st.binary(max_size=600))
def test_any_bytes_are_a_question_or_none(packet: bytes) -> None:
    question = dns.question_of(packet)
    if question is not None:
        assert dns.question_of(dns.answer(question, dns.NXDOMAIN)) is None  # it is an answer
    dns.malformed(packet)
