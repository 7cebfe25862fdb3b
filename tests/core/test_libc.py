"""core/libc.c and libc_text.c against the system's C library: the same arguments and answers."""

from __future__ import annotations

import ctypes
import os
import platform
import random
import subprocess
from pathlib import Path

import pytest

from .conftest import CORE, Build

SYSTEM = ctypes.CDLL(None)


@pytest.fixture(scope="module")
def own(build: Build, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    if platform.machine() not in ("x86_64", "aarch64") or not (CORE / "libc.c").exists():
        pytest.skip("the launcher links the system's C library here")
    assert build is not None
    library = tmp_path_factory.mktemp("libc") / "own.so"
    flags = ["-shared", "-fPIC", "-nostdlib", "-ffreestanding", "-fno-builtin", "-O2", "-std=gnu17"]
    flags += ["-fno-tree-loop-distribute-patterns", "-fno-stack-protector", "-Wl,-Bsymbolic"]
    sources = (CORE / "libc.c", CORE / "libc_text.c")
    subprocess.run(["cc", *flags, "-o", library, *sources], check=True, cwd=CORE)
    return ctypes.CDLL(str(library), mode=os.RTLD_LAZY | os.RTLD_LOCAL)


def texts() -> list[bytes]:
    chance = random.Random(1)
    made = [b"", b"a", b"abc", b"aab", b"/usr/bin:/bin", b"\xff\x80", b"aaaaaaaab"]
    return made + [bytes(chance.choices(b"ab/:\xff", k=chance.randrange(30))) for _ in range(150)]


def sign(value: int) -> int:
    return (value > 0) - (value < 0)


def test_lengths_comparisons_and_searches_agree(own: ctypes.CDLL) -> None:
    searches = ("strchr", "strrchr")
    for library in (own, SYSTEM):
        for name in (*searches, "strstr"):
            getattr(library, name).restype = ctypes.c_void_p
        for name in ("strlen", "strnlen", "strspn", "strcspn"):
            getattr(library, name).restype = ctypes.c_size_t
    everything = [ctypes.create_string_buffer(text) for text in texts()]
    for a in everything:
        assert own.strlen(a) == SYSTEM.strlen(a)
        for most in (0, 1, 5, 100):
            assert own.strnlen(a, most) == SYSTEM.strnlen(a, most)
        for c in b"ab/:\xff\0z":
            for name in searches:
                assert getattr(own, name)(a, c) == getattr(SYSTEM, name)(a, c), (name, a.value, c)
        for b in everything[:60]:
            assert sign(own.strcmp(a, b)) == sign(SYSTEM.strcmp(a, b))
            n = min(len(a), len(b))
            assert sign(own.memcmp(a, b, n)) == sign(SYSTEM.memcmp(a, b, n))
            assert own.strspn(a, b) == SYSTEM.strspn(a, b)
            assert own.strcspn(a, b) == SYSTEM.strcspn(a, b)
            if b.value:  # never asked for with nothing to find
                assert own.strstr(a, b) == SYSTEM.strstr(a, b), (a.value, b.value)


def test_copying_and_filling_touch_what_they_should(own: ctypes.CDLL) -> None:
    for n in (0, 1, 7, 64, 1000):
        for at in (0, 1, 3):
            ours, theirs = (ctypes.create_string_buffer(b"." * 1100) for _ in range(2))
            source = ctypes.create_string_buffer(bytes(range(256)) * 4)
            for library, target in ((own, ours), (SYSTEM, theirs)):
                library.memcpy(ctypes.byref(target, at), source, n)
                library.memset(ctypes.byref(target, at + n), 0x1FF, 5)
            assert ours.raw == theirs.raw


NUMBERS = [0, 1, -1, 9, 10, 42, -42, 2**31 - 1, -(2**31)]
LARGE = [*NUMBERS, 2**63 - 1, -(2**63), 10**18]


def test_formatting_agrees(own: ctypes.CDLL) -> None:
    long, unsigned = ctypes.c_longlong, ctypes.c_ulonglong
    cases: list[tuple[bytes, tuple[object, ...]]] = [(b"plain", ()), (b"100%%", ()), (b"", ())]
    cases += [(b"<%d>", (n,)) for n in NUMBERS]
    cases += [(b"<%u>", (ctypes.c_uint(n),)) for n in NUMBERS]
    cases += [(b"<%lld|%lld>", (long(n), long(-1))) for n in LARGE]
    cases += [(b"<%llu|%lu>", (unsigned(n), ctypes.c_ulong(n))) for n in LARGE]
    cases += [(b"%s/%s %d", (text, b"x", 7)) for text in texts()[:40]]
    for form, values in cases:
        for room in (0, 1, 2, 5, 200):
            ours, theirs = (ctypes.create_string_buffer(b"?" * 200) for _ in range(2))
            assert own.snprintf(ours, ctypes.c_size_t(room), form, *values) == SYSTEM.snprintf(
                theirs, ctypes.c_size_t(room), form, *values
            )
            assert ours.raw == theirs.raw, (form, values, room)


def test_every_format_in_the_launcher_is_one_that_it_knows() -> None:
    """%s %d %u %lu %lld %llu and %% are all that libc_text.c formats."""
    import re

    known = {"%s", "%d", "%u", "%lu", "%ld", "%lld", "%llu", "%%"}
    for source in CORE.glob("*.c"):
        if source.name in ("check.c", "libc.c", "libc_text.c"):
            continue
        for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', source.read_text()):
            for form in re.findall(r"%[-+ #0-9.*]*[hlzjt]*[a-zA-Z%]", literal):
                assert form in known, f"{source.name}: {literal}"


def test_system_calls_come_back_with_their_results(own: ctypes.CDLL, tmp_path: Path) -> None:
    place = os.fsencode(tmp_path)
    at_cwd = -100
    assert own.mkdirat(at_cwd, place + b"/d", 0o755) == 0
    fd = own.openat(at_cwd, place + b"/d/f", os.O_CREAT | os.O_RDWR, 0o640)
    assert fd >= 0
    assert own.write(fd, b"hello", 5) == 5
    assert own.lseek(fd, 1, 0) == 1
    room = ctypes.create_string_buffer(10)
    assert own.read(fd, room, 10) == 4
    assert own.pread(fd, room, 10, 2) == 3
    assert (tmp_path / "d/f").read_bytes() == b"hello"
    assert (tmp_path / "d/f").stat().st_mode & 0o777 == 0o640 & ~current_umask()
    assert own.symlinkat(b"f", own.open(place + b"/d", 0), b"l") == 0
    assert own.readlinkat(at_cwd, place + b"/d/l", room, 10) == 1
    assert own.unlinkat(at_cwd, place + b"/d/l", 0) == 0
    assert own.rmdir(place + b"/d") == -1
    errno_at = own.__errno_location
    errno_at.restype = ctypes.POINTER(ctypes.c_int)
    assert errno_at().contents.value == 39  # ENOTEMPTY
    assert own.close(fd) == 0
    assert own.close(fd) == -1
    assert own.getppid() == os.getppid()
    assert own.geteuid() == os.geteuid()
    ends = (ctypes.c_int * 2)()
    assert own.pipe2(ends, os.O_CLOEXEC) == 0
    ready = (ctypes.c_short * 4)(*memoryview(ctypes.c_int(ends[0])).cast("B").cast("h"), 1, 0)
    assert own.poll(ready, 1, 0) == 0
    assert own.write(ends[1], b"x", 1) == 1
    assert own.poll(ready, 1, -1) == 1
    for end in ends:
        os.close(end)


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
