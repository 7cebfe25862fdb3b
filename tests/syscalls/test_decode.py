"""A call is printed in familiar words, and nothing a guest does makes printing fail."""

from __future__ import annotations

import ipaddress
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardian import syscalls
from wardian.errors import WallError
from wardian.syscalls.decode import call_text, number_text, sockaddr_text
from wardian.syscalls.names import family
from wardian.syscalls.roles import FAMILIES
from wardian.text import printable

P = 0x7FFD12345678  # somewhere in the guest's memory
HERE = 2**64 - 100  # AT_FDCWD as a register has it


@pytest.mark.parametrize(
    ("text", "args", "strings"),
    [
        ('openat(AT_FDCWD, "/a", O_RDONLY|O_CLOEXEC)', [HERE, P, 0o2000000, 0], {1: "/a"}),
        ('openat(AT_FDCWD, "a", O_WRONLY|O_CREAT, 0640)', [2**32 - 100, P, 0o101, 0o640], {1: "a"}),
        ('openat(3</srv>, "a", O_RDWR)', [3, P, 2, 0o777], {0: "/srv", 1: "a"}),
        ("ptrace(PTRACE_ATTACH, 42)", [16, 42, 0, 0], {}),
        ("ptrace(PTRACE_TRACEME)", [0, 7, 7, 7], {}),
        ("socket(AF_PACKET, SOCK_RAW, 3)", [17, 3, 3], {}),
        (
            "socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC|SOCK_NONBLOCK, IPPROTO_TCP)",
            [2, 0o2004001, 6],
            {},
        ),
        ("socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT)", [16, 3, 9], {}),
        ("socket(999, 0xf, 1)", [999, 15, 1], {}),
        ('mount("none", "/mnt", …)', [P, P, P, 0, 0], {0: "none", 1: "/mnt"}),
        (
            'mount("none", "/mnt", "tmpfs", MS_NOSUID|MS_NODEV)',
            [P, P, P, 6, P],
            {0: "none", 1: "/mnt", 2: "tmpfs"},
        ),
        ("unshare(CLONE_NEWUSER)", [0x10000000], {}),
        ("unshare(CLONE_NEWTIME|0x80000000)", [0x80000080], {}),
        ("unshare(0)", [0], {}),
        ("clone(CLONE_VM|CLONE_VFORK|SIGCHLD)", [0x4111, P, 0, 0, 0], {}),
        ("kill(1, SIGTERM)", [1, 15], {}),
        ("kill(-1, 0)", [2**32 - 1, 0], {}),
        ("kill(-5, 40)", [2**64 - 5, 40], {}),
        ("prctl(PR_SET_NAME)", [15, P, 0, 0, 0], {}),
        ('prctl(PR_SET_NAME, "x")', [15, P, 0, 0, 0], {1: "x"}),
        ("prctl(PR_SET_DUMPABLE, 0)", [4, 0, 0, 0, 0], {}),
        ("prctl(PR_SET_PDEATHSIG, SIGKILL)", [1, 9, P, P, P], {}),
        ("ioctl(0, TIOCSTI)", [0, 0x5412, P], {}),
        ("ioctl(0, TIOCSTI)", [0, 2**32 + 0x5412, P], {}),
        ("ioctl(0, 0xdeadbeef, 3)", [0, 0xDEADBEEF, 3], {}),
        ("fcntl(3, F_SETFD, FD_CLOEXEC)", [3, 2, 1], {}),
        ("fcntl(3, F_SETFD, 0)", [3, 2, 0], {}),
        ("fcntl(3, F_GETFD)", [3, 1, P], {}),
        ("fcntl(3, F_SETLK, …)", [3, 6, P], {}),
        (
            "mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)",
            [0, 4096, 1, 0x22, 2**64 - 1, 0],
            {},
        ),
        (
            "mmap(0x7ffd12345678, 4096, PROT_NONE, MAP_SHARED, 3, 4096)",
            [P, 4096, 0, 1, 3, 4096],
            {},
        ),
        ("connect(3, …)", [3, P, 16], {}),
        ("connect(3, [::1]:80)", [3, P, 16], {1: "[::1]:80"}),
        ("sendto(3, …, 5, MSG_NOSIGNAL)", [3, P, 5, 0x4000, 0, 0], {}),
        ('execve("/bin/ls", …)', [P, P, P], {0: "/bin/ls"}),
        ('execve("ls", ["ls", "-l"], …)', [P, P, P], {0: "ls", 1: '["ls", "-l"]'}),
        (
            'renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_EXCHANGE)',
            [HERE, P, HERE, P, 2],
            {1: "a", 3: "b"},
        ),
        ('mknod("d", S_IFBLK|0600, 8:1)', [P, 0o60600, 0x801], {0: "d"}),
        ('chmod("f", 04755)', [P, 0o4755], {0: "f"}),
        ('chown("f", 0, -1)', [P, 0, 2**32 - 1], {0: "f"}),
        ("lseek(3, -1, SEEK_CUR)", [3, 2**64 - 1, 1], {}),
        ("futex(…, FUTEX_WAIT|FUTEX_PRIVATE_FLAG, 2)", [P, 128, 2, 0, 7, 7], {}),
        ("setsockopt(3, SOL_SOCKET, SO_REUSEADDR, …, 4)", [3, 1, 2, P, 4], {}),
        ("setsockopt(3, SOL_TCP, TCP_NODELAY, …, 4)", [3, 6, 1, P, 4], {}),
        ("getrusage(RUSAGE_CHILDREN, …)", [2**64 - 1, P], {}),
        ("personality(-1)", [2**32 - 1], {}),
        ("personality(PER_LINUX|ADDR_NO_RANDOMIZE)", [0x40000], {}),
        ("semget(0, 1, IPC_CREAT|0600)", [0, 1, 0o1600], {}),
        ('mq_open("/q", O_RDWR)', [P, 2, 0o600, P], {0: "/q"}),
        ('unlinkat(AT_FDCWD, "f")', [HERE, P, 0], {1: "f"}),
        ('unlinkat(AT_FDCWD, "d", AT_REMOVEDIR)', [HERE, P, 0x200], {1: "d"}),
        ('faccessat2(AT_FDCWD, "d", F_OK, AT_EACCESS)', [HERE, P, 0, 0x200], {1: "d"}),
        (
            "reboot(0xfee1dead, 672274793, LINUX_REBOOT_CMD_RESTART)",
            [0xFEE1DEAD, 672274793, 0x1234567, P],
            {},
        ),
        ("nanosleep(…)", [P, 0], {}),
        ("sync()", [1, 2, 3], {}),
        ("exit_group(0)", [0], {}),
        ("kill()", [], {}),
        ("kill(1)", [1], {}),
        ("no_such_call(0x1, 0xffffffffffffffff)", [1, -1], {}),
    ],
)
def test_a_call_is_printed_as_people_write_it(
    text: str, args: list[int], strings: dict[int, str]
) -> None:
    name = text.partition("(")[0]
    assert call_text(name, args, strings=strings) == text


def test_a_registers_whole_content_is_printed_the_same_as_the_arguments_alone() -> None:
    assert call_text("kill", [1, 15, P, P, P, P]) == call_text("kill", [1, 15])


def test_each_architecture_has_its_own_flags() -> None:
    reported = {arch: call_text("open", [P, 0o200000], arch=arch) for arch in ("x86_64", "aarch64")}
    assert reported["x86_64"] == "open(…, O_RDONLY|O_DIRECTORY)"
    assert reported["aarch64"] == "open(…, O_RDONLY|O_DIRECT)"
    with pytest.raises(WallError, match="riscv64"):
        call_text("open", [P, 0], arch="riscv64")


def test_text_of_the_guest_can_not_reach_the_terminal_or_end_its_quotes() -> None:
    reported = call_text("unlink", [P], strings={0: 'a"\x1b[31m\n\\\u202e'})
    assert reported == r'unlink("a\"\x1b[31m\n\\\u202e")'
    assert call_text("connect", [3, P, 9], strings={1: "unix:\x1b"}) == r"connect(3, unix:\x1b)"


registers = st.one_of(
    st.integers(0, 2**64 - 1), st.integers(0, 64), st.integers(-(2**63), -1), st.just(P)
)


@given(
    st.one_of(st.sampled_from([row.name for row in syscalls.rows()]), st.text(max_size=20)),
    st.lists(registers, max_size=8),
    st.dictionaries(st.integers(-1, 8), st.text(max_size=10), max_size=3),
    st.sampled_from(["x86_64", "arm64"]),
)
def test_any_call_can_be_printed_on_one_printable_line(
    name: str, args: list[int], strings: dict[int, str], arch: str
) -> None:
    reported = call_text(name, args, strings=strings, arch=arch)
    assert reported.endswith(")")
    assert reported == printable(reported)


@given(
    st.sampled_from(sorted(FAMILIES)),
    st.integers(0, 2**32 - 1) | st.integers(0, 2**12),
    st.sampled_from(["x86_64", "arm64"]),
)
def test_the_names_of_a_value_add_up_to_it(role: str, value: int, arch: str) -> None:
    known = {name: number for name, number, _ in family(role, arch)}
    total = 0
    for piece in number_text(role, value, arch).split("|"):
        is_octal = re.fullmatch("0[0-7]{3,}", piece)
        number = known[piece] if piece in known else int(piece, 8 if is_octal else 0)
        assert total & number == 0
        total += number
    assert total % 2**32 == value


@pytest.mark.parametrize(
    ("address", "text"),
    [
        (struct.pack("<H", 2) + struct.pack(">H4B8x", 443, 93, 184, 216, 34), "93.184.216.34:443"),
        (struct.pack("<H", 10) + struct.pack(">HI15xB4x", 80, 7, 1), "[::1]:80"),
        (b"\x0a\0\0\x50\0\0\0\0\xfe\x80" + bytes(13) + b"\1\2\0\0\0", "[fe80::1%2]:80"),
        (b"\1\0/run/x.sock\0rest", "unix:/run/x.sock"),
        (b"\1\0x", "unix:x"),
        (b"\1\0\0abstract", "unix:@abstract"),
        (b"\1\0\0a\0\x1b\xff", r"unix:@a\x00\x1b\xff"),
        (b"\1\0", "unix:"),
        (struct.pack("<HHII", 16, 0, 0, 0), "netlink"),
        (struct.pack("<H", 17), "packet"),
        (struct.pack("<H", 2), "inet"),
        (struct.pack("<H", 999), "family 999"),
        (b"\2", "unspec"),
        (b"", "unspec"),
    ],
)  # fmt: skip
def test_an_address_is_printed_as_people_write_it(address: bytes, text: str) -> None:
    assert sockaddr_text(address) == text


@given(st.binary(max_size=130))
def test_any_bytes_are_printed_as_an_address(address: bytes) -> None:
    reported = sockaddr_text(address)
    assert reported == printable(reported)
    assert reported


@given(st.binary(min_size=16, max_size=16), st.integers(0, 65535))
def test_addresses_are_written_as_the_standard_library_does(address: bytes, port: int) -> None:
    packed = struct.pack("<H", socket.AF_INET6) + struct.pack(">HI", port, 0) + address
    host, _, shown_port = sockaddr_text(packed).rpartition(":")
    assert (ipaddress.IPv6Address(host.strip("[]")), int(shown_port)) == (
        ipaddress.IPv6Address(address),
        port,
    )
    assert host == f"[{socket.inet_ntop(socket.AF_INET6, address)}]" or address[:12] == bytes(12)


# Calls that do nothing, for strace to print as well. None has a target that exists.
NOBODY = 0x7FFFFFFE
CALLS: list[tuple[str, list[int | str]]] = [
    ("openat", [-100, "/none/a", os.O_CLOEXEC | os.O_NOFOLLOW | os.O_DIRECTORY]),
    ("openat", [77, "a\n\"", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o640]),
    ("openat", [-100, "/none/a", os.O_RDWR | os.O_SYNC | os.O_NONBLOCK | os.O_PATH]),
    ("openat", [-100, "/none/a", os.O_RDWR | os.O_TMPFILE, 0o600]),
    ("unlinkat", [-100, "/none/a", 0x200]),
    ("renameat2", [-100, "/none/a", 77, "/none/b", 3]),
    ("linkat", [-100, "/none/a", -100, "/none/b", 0x400]),
    ("symlinkat", ["what", -100, "/none/b"]),
    ("mkdirat", [-100, "/none/a", 0o755]),
    ("fchmodat", [-100, "/none/a", 0o6711]),
    ("mknodat", [-100, "/none/a", 0o010600]),
    ("fchownat", [-100, "/none/a", 1000, -1, 0x100]),
    ("faccessat", [-100, "/none/a", 5]),
    ("inotify_add_watch", [77, "/none/a", 0x302]),
    ("socket", [99, 0o2000005, 0]),
    ("socket", [2, 0o2000001, 17]),
    ("socket", [16, 0o4003, 19]),
    ("shutdown", [77, 2]),
    ("listen", [77, 5]),
    ("kill", [NOBODY, 10]),
    ("tgkill", [NOBODY, NOBODY, 15]),
    ("unshare", [0x400]),
    ("fcntl", [77, 0, 5]),
    ("fcntl", [77, 1]),
    ("fcntl", [77, 2, 1]),
    ("fcntl", [77, 4, 0o6001]),
    ("fcntl", [77, 1030, 9]),
    ("flock", [77, 6]),
    ("lseek", [77, -4096, 2]),
    ("mmap", [0, 4096, 3, 0x22, -1, 0]),
    ("mmap", [0, 4096, 5, 0x20001, 77, 8192]),
    ("mprotect", [0, 0, 7]),
    ("madvise", [0, 0, 4]),
    ("memfd_create", ["x", 3]),
    ("mremap", [0, 0, 4096, 3, 4096]),
    ("dup3", [77, 78, 0o2000000]),
    ("prctl", [1, 0]),
    ("prctl", [3]),
    ("ioctl", [77, 0x540E, 0]),
    ("fallocate", [77, 3, 0, 4096]),
    ("getpriority", [0, NOBODY]),
    ("splice", [77, 0, 78, 0, 4096, 3]),
]  # fmt: skip


def test_strace_prints_the_same(tmp_path: Path) -> None:
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    if subprocess.run(["strace", "-o", "/dev/null", "true"], check=False).returncode:
        pytest.skip("strace may not trace here")
    arch = os.uname().machine
    theirs = _straced(tmp_path, arch)
    ours = [
        call_text(
            name,
            [P if isinstance(arg, str) else arg for arg in args],
            strings={place: arg for place, arg in enumerate(args) if isinstance(arg, str)},
            arch=arch,
        )
        for name, args in CALLS
    ]
    assert [_words(text) for text in ours] == [_words(text) for text in theirs]


def _straced(where: Path, arch: str) -> list[str]:
    """What strace writes for the calls, made one after the other between two marks."""
    program = (
        "import ctypes, sys\n"
        "call = ctypes.CDLL(None).syscall\n"
        "hold = lambda a: ctypes.c_char_p(a.encode()) if isinstance(a, str) else ctypes.c_long(a)\n"
        "calls = [(n, [hold(a) for a in args]) for n, args in eval(sys.argv[1])]\n"
        "for number, args in calls:\n"
        "    call(number, *args)\n"
    )
    mark: tuple[str, list[int | str]] = ("getppid", [])
    numbered = [(syscalls.number(name, arch), args) for name, args in [mark, *CALLS, mark]]
    log = where / "strace"
    names = ",".join({name for name, _ in [mark, *CALLS]})
    subprocess.run(
        [
            "strace",
            "-o",
            log,
            "-e",
            f"trace={names}",
            sys.executable,
            "-c",
            program,
            repr(numbered),
        ],
        check=True,
    )
    lines = [line.rpartition(" = ")[0].strip() for line in log.read_text().splitlines()]
    marks = [place for place, line in enumerate(lines) if line.startswith("getppid(")]
    between = lines[marks[0] + 1 : marks[-1]]
    wanted = [name for name, _ in CALLS]
    # Python itself may map memory meanwhile; what it does has no room between two of ours.
    assert [line.partition("(")[0] for line in between] == wanted
    return between


def _words(call: str) -> tuple[str, list[set[str]]]:
    """Name and arguments; flags without their order, and no trailing argument that says nothing."""
    name, _, arguments = re.sub(r" /\* .*? \*/", "", call).rstrip(")").partition("(")
    words = [{_word(word) for word in argument.split("|")} for argument in arguments.split(", ")]
    while len(words) > 1 and words[-1] <= {"0", "NULL"}:
        words.pop()
    return name, words


def _word(text: str) -> str:
    return str(int(text, 16)) if text.startswith("0x") else text
