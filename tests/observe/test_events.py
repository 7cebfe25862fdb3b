"""The stream of core/trace.c, read in pieces of any size, and what its records mean."""

from __future__ import annotations

import errno
import os
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardian.observe.actions import actions
from wardian.observe.events import (
    Became,
    Event,
    Path,
    Reader,
    Total,
    TracedCall,
    Waited,
    normal,
)

ARCH = "x86_64"
OPENAT, EXIT_GROUP = 257, 231


def record(kind: int, body: bytes, *, call: int = 0, error: int = 0, at_ns: int = 1000) -> bytes:
    """One record, of task 11 in process 10."""
    return struct.pack("<IBBHIIQ", 24 + len(body), kind, error, call, 11, 10, at_ns) + body


def text(argument: int, what: int, content: bytes) -> bytes:
    """One text of a call."""
    return struct.pack("<BBH", argument, what, len(content)) + content


ARGS = struct.pack("<6Q", 2**64 - 100, 7, os.O_RDONLY, 0, 0, 0)
STREAM = b"".join((
    record(2, struct.pack("<II", 9, 2) + b"sh\0-c\0true\0"),
    record(1, ARGS + text(1, 1, b"/etc/../etc/./passwd"), call=OPENAT),
    record(1, ARGS + text(1, 4, b"/none"), call=OPENAT, error=errno.ENOENT),
    record(1, ARGS, call=EXIT_GROUP),
    record(4, struct.pack("<Q", 2_000_000), call=OPENAT),
    record(3, struct.pack("<QQQ", 5, 1, 3_000_000_000), call=OPENAT),
))  # fmt: skip


def events(data: bytes) -> list[Event]:
    return list(Reader(ARCH).feed(data))


def test_records_become_events() -> None:
    became, read, missing, ended, waited, total = events(STREAM)
    assert became == Became(1e-6, 10, 9, 2, ("sh", "-c", "true"))
    assert isinstance(read, TracedCall)
    assert isinstance(missing, TracedCall)
    assert isinstance(ended, TracedCall)
    assert (read.name, read.task, read.process) == ("openat", 11, 10)
    assert read.paths == {1: Path("/etc/passwd")}
    assert (missing.error, missing.paths[1].lay) == (errno.ENOENT, "nothing")
    assert (ended.name, ended.paths) == ("exit_group", {})
    assert waited == Waited(1e-6, 11, 10, "openat", 0.002)
    assert total == Total("openat", 5, 1, 3.0)


@given(st.lists(st.integers(1, len(STREAM)), max_size=20))
def test_the_size_of_the_pieces_does_not_matter(cuts: list[int]) -> None:
    reader, at = Reader(ARCH), 0
    found: list[Event] = []
    for cut in [*sorted(cuts), len(STREAM)]:
        found += reader.feed(STREAM[at:cut])
        at = cut
    assert found == events(STREAM)


@given(st.binary(max_size=300))
def test_what_is_no_record_is_an_error_and_never_anything_else(data: bytes) -> None:
    try:
        events(data)
    except ValueError:
        pass


def test_a_record_of_a_later_launcher_is_passed_over() -> None:
    assert len(events(record(99, b"whatever") + STREAM)) == 6


def test_a_call_that_the_table_does_not_know_keeps_its_number() -> None:
    (call,) = events(record(1, ARGS, call=1000))
    assert isinstance(call, TracedCall)
    assert call.name == "syscall_1000"


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/a/./b", "/a/b"), ("/a/../../b", "/b"), ("//a//b/", "/a/b"), ("/", "/"), ("/..", "/")],
)
def test_paths_are_reported_without_dots(path: str, expected: str) -> None:
    assert normal(path) == expected


def done(
    name: str, *paths: tuple[str, str], args: tuple[int, ...] = (), error: int = 0
) -> set[tuple[str, str]]:
    """What a call does, for paths given as (text, what lay there)."""
    named = {i: Path(*path) for i, path in enumerate(paths)}
    call = TracedCall(0, 1, 1, name, (*args, *([0] * (6 - len(args)))), error, named)
    return {(path.text, action) for path, action in actions(call)}


THERE, FOLDER, NOTHING = "something", "directory", "nothing"
W, RW, CREATE, TRUNC = os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC


@pytest.mark.parametrize(
    ("name", "flags", "lay", "expected"),
    [
        ("openat", os.O_RDONLY, THERE, {"read"}),
        ("openat", W, THERE, {"written"}),
        ("openat", RW, THERE, {"read", "written"}),
        ("openat", os.O_RDONLY | TRUNC, THERE, {"read", "written"}),
        ("openat", W | CREATE, NOTHING, {"created"}),
        ("openat", W | CREATE, THERE, {"written"}),
        ("openat", os.O_RDONLY, FOLDER, {"listed"}),
        ("openat", os.O_RDONLY | os.O_DIRECTORY, THERE, {"listed"}),
        ("openat", 0o10000000, THERE, {"looked at"}),
        ("openat", 0o20000000 | os.O_DIRECTORY | RW, FOLDER, {"written"}),
    ],
)
def test_flags_and_what_lay_there_say_what_an_open_does(
    name: str, flags: int, lay: str, expected: set[str]
) -> None:
    assert done(name, ("/a", lay), args=(0, 0, flags)) == {("/a", one) for one in expected}


@pytest.mark.parametrize(
    ("name", "paths", "expected"),
    [
        ("creat", [("/a", NOTHING)], {("/a", "created")}),
        ("creat", [("/a", THERE)], {("/a", "written")}),
        ("mkdir", [("/a", NOTHING)], {("/a", "created")}),
        ("unlink", [("/a", THERE)], {("/a", "deleted")}),
        ("rename", [("/a", THERE), ("/b", NOTHING)], {("/a", "deleted"), ("/b", "created")}),
        ("rename", [("/a", THERE), ("/b", THERE)], {("/a", "deleted"), ("/b", "written")}),
        ("link", [("/a", THERE), ("/b", NOTHING)], {("/a", "looked at"), ("/b", "created")}),
        ("bind", [("/a", NOTHING)], {("/a", "created")}),
        ("connect", [("/a", THERE)], {("/a", "looked at")}),
        ("chmod", [("/a", THERE)], {("/a", "written")}),
        ("execve", [("/a", THERE)], {("/a", "executed")}),
        ("stat", [("/a", THERE)], {("/a", "looked at")}),
        ("getpid", [], set()),
    ],
)
def test_other_calls_do_what_their_names_say(
    name: str, paths: list[tuple[str, str]], expected: set[tuple[str, str]]
) -> None:
    assert done(name, *paths) == expected


def test_exchanging_two_files_deletes_neither() -> None:
    swapped = done("renameat2", ("/a", THERE), ("/b", THERE), args=(0, 0, 0, 0, 2))
    assert swapped == {("/a", "written"), ("/b", "written")}


def test_what_failed_did_nothing() -> None:
    assert done("openat", ("/a", NOTHING), error=errno.ENOENT) == {("/a", "missing")}
    assert done("openat", ("/a", THERE), error=errno.EROFS) == {("/a", "refused")}
    assert done("mkdir", ("/a", FOLDER), error=errno.EEXIST) == {("/a", "looked at")}
