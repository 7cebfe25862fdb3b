"""The executor reports truthfully, harms nothing, and checks its input."""

from __future__ import annotations

import errno
import os
import random
import socket
import struct
import subprocess
from pathlib import Path

import pytest

from tests.conftest import MakeSandbox
from wardian.errors import BackendError
from wardian.measure.fuzz.generate import choose, generate
from wardian.measure.fuzz.program import RESULT, Arg
from wardian.measure.fuzz.sides import HERE, NAME, SOURCES, Side, executor
from wardian.measure.fuzz.wire import ENDED_BY_TIME, GarbledError, decode, encode
from wardian.measure.probes.building import compiler
from wardian.sandbox.root.layout import WORK

from .conftest import ARCH, answers, program

pytestmark = pytest.mark.long

CHOICE = choose(ARCH)


def test_results_errnos_and_memory_are_reported(host: Side) -> None:
    pipe = program(("pipe2", b"", 0), ("close", 99), ("read", 3, 0x1000, 5))
    (outcome,) = host.run([pipe])
    assert outcome is not None
    assert [one.result for one in outcome.answers][:2] == [0, -errno.EBADF]
    assert outcome.answers[0].changes() == {0: 3 | 4 << 32}
    assert (outcome.ended, outcome.started, len(outcome.answers)) == (ENDED_BY_TIME, 3, 2)


def test_results_of_earlier_calls_are_arguments(host: Side) -> None:
    write = (("openat", -100, b"f", 1), ("write", Arg(RESULT, 0), b"abc", 3))
    assert answers(host, *write) == [3, 3]
    (outcome,) = host.run([program(*write)])
    assert outcome is not None
    assert outcome.files is not None
    assert "100644 45 1" in outcome.files


def test_how_a_program_ends_is_reported(host: Side) -> None:
    ends = [("exit_group", 9), ("kill", 0, 15), ("getpid",)]
    outcomes = host.run([program(one) for one in ends])
    assert [one.ended for one in outcomes if one is not None] == [9, -15, 0]


def test_each_program_finds_the_scratch_directory_fresh(host: Side) -> None:
    spoil = program(("unlinkat", -100, b"f", 0), ("mkdirat", -100, b"d/new", 0o700),
                    ("fchmodat", -100, b"d", 0))  # fmt: skip
    look = program(("newfstatat", -100, b"f", b"", 0), ("newfstatat", -100, b"d/new", b"", 0))
    for outcome in host.run([spoil, look, spoil, look])[1::2]:
        assert outcome is not None
        assert [one.result for one in outcome.answers] == [0, -errno.ENOENT]
        assert outcome.files is None


def test_the_oracle_is_an_ordinary_user_without_rights(host: Side) -> None:
    assert answers(host, ("getuid",), ("getgid",), ("setuid", 0)) == [1000, 1000, -errno.EINVAL]
    (outcome,) = host.run([program(("capget", struct.pack("<II", 0x20080522, 0), b""))])
    assert outcome is not None
    assert outcome.answers[0].result == 0
    assert outcome.answers[0].changes() == {}  # no capability at all
    flags = [0x10000000, 0x20000, 0x40000000]
    assert answers(host, *(("unshare", flag) for flag in flags))[1:] == [-errno.EPERM] * 2
    assert answers(host, ("unshare", flags[0]))[0] < 0


def test_the_oracle_reaches_no_file_of_the_host(host: Side, tmp_path: Path) -> None:
    (tmp_path / "own").write_text("x")
    tmp_path.chmod(0o777)
    for place in (str(tmp_path).encode(), b"/var/tmp", b"/dev/shm"):
        answers(host, ("openat", -100, place + b"/made", 0o101, 0o666))
    answers(host, ("unlinkat", -100, str(tmp_path / "own").encode(), 0))
    assert [path.name for path in tmp_path.iterdir()] == ["own"]
    assert not os.path.exists("/var/tmp/made")
    assert not os.path.exists("/dev/shm/made")
    made = answers(host, ("openat", -100, b"/usr/made", 0o101, 0o666))[0]
    assert -made in (errno.EROFS, errno.EACCES)


def test_the_oracle_reaches_no_process_and_no_port_of_the_host(host: Side) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = struct.pack("<H", 2) + struct.pack(">H", server.getsockname()[1]) + b"\x7f\0\0\1"
        made = answers(host, ("socket", 2, 1, 0), ("connect", Arg(RESULT, 0), address, 16))
    assert made[1] == -errno.ECONNREFUSED
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        try:
            assert answers(host, ("kill", sleeper.pid, 9))[0] == -errno.ESRCH
            assert sleeper.poll() is None
        finally:
            sleeper.kill()


def test_it_runs_nothing_for_root_unless_it_is_confined(as_root: bool, tmp_path: Path) -> None:
    if not as_root:
        pytest.skip("only root can try")
    data = encode([program(("getpid",))], 100, ARCH)
    done = subprocess.run([executor(), "--inside"], input=data, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"root" in done.stderr


@pytest.mark.parametrize("spoil", ["cut", "bytes", "count", "place", "empty"])
def test_input_that_is_no_batch_is_refused(spoil: str) -> None:
    data = encode([generate(1, index, CHOICE) for index in range(3)], 100, ARCH)
    broken = {
        "cut": data[:-5],
        "bytes": b"x" * 100,
        "count": b"WFZ1"
        + struct.pack("<II", 1, 100)
        + struct.pack("<III", 0, 0, 9)
        + bytes(9 * 64),
        "place": b"WFZ1" + struct.pack("<IIIIIII", 1, 100, 0, 1, 0, 1 << 31, 8) + bytes(64),
        "empty": b"",
    }[spoil]
    done = subprocess.run([executor(), "--oracle"], input=broken, capture_output=True, check=False)
    assert done.returncode == 3
    assert done.stderr


def test_sanitizers_find_nothing_in_it(tmp_path: Path) -> None:
    binary = tmp_path / "sanitized"
    cc = compiler()
    assert cc is not None
    flags = ["-std=c17", "-g", "-O1", "-no-pie", "-fsanitize=address,undefined"]
    built = subprocess.run(
        [cc, *flags, "-fno-sanitize-recover=all", "-o", binary, *SOURCES],
        cwd=HERE, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "cannot find" in built.stderr:
        pytest.skip("libasan is not installed")
    assert built.returncode == 0, built.stderr
    harmless = ("files", "metadata", "directories", "descriptors", "ipc", "network")
    choice = choose(ARCH, harmless)
    programs = [generate(2, index, choice) for index in range(300)]
    done = subprocess.run(
        [binary, "--oracle"], input=encode(programs, 2000, ARCH), capture_output=True, check=False,
        env={"ASAN_OPTIONS": "detect_leaks=0:handle_segv=0:handle_abort=0"}, timeout=280,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    outcomes, whole = decode(done.stdout, programs)
    assert whole
    assert len(outcomes) == 300


def test_bytes_of_a_guest_are_read_strictly(host: Side) -> None:
    programs = [generate(4, index, CHOICE) for index in range(40)]
    data = encode(programs, 100, ARCH)
    done = subprocess.run([executor(), "--oracle"], input=data, capture_output=True, check=True)
    outcomes, whole = decode(done.stdout, programs)
    assert whole
    assert len(outcomes) == 40
    rng = random.Random(1)
    for _ in range(3000):
        spoilt = bytearray(done.stdout)
        for _ in range(rng.randint(1, 4)):
            spoilt[rng.randrange(len(spoilt))] = rng.choice((0, 1, 127, 128, 255))
        cut = bytes(spoilt[: rng.randrange(len(spoilt))]) if rng.random() < 0.5 else bytes(spoilt)
        try:
            found, _ = decode(cut, programs)
        except GarbledError:
            continue
        assert len(found) <= 40
        for outcome, one in zip(found, programs, strict=False):
            assert len(outcome.answers) <= len(one.calls)


HOSTILE = {
    "silence": "exit 0",
    "noise": "head -c 100000 /dev/urandom",
    "endless": "while :; do echo WFR1PROG; done",
    "another program": "printf 'WFR1PROG\\001\\0\\0\\0'; head -c 400 /dev/zero",
}


@pytest.mark.parametrize("said", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_guest_that_lies_is_reported_and_nothing_else(
    said: str, make_sandbox: MakeSandbox
) -> None:
    from wardian import Policy

    sandbox = make_sandbox(Policy.default().with_limits(output_bytes=1 << 20, time_s=20))
    sandbox.files.write(NAME, f"#!/bin/sh\n{said}\n".encode(), executable=True)
    side = Side(sandbox, (f"{WORK}/{NAME}", "--inside"), ARCH, "wardian")
    with pytest.raises(BackendError, match=r"can't be run|garbled"):
        side.run([program(("getpid",))] * 3)
