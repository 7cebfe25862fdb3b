"""The names of values and flags are the headers' own, with the headers' numbers."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from wardian.errors import InputError
from wardian.syscalls.constants import CONSTANTS
from wardian.syscalls.names import COLUMNS, family, parse_names
from wardian.syscalls.roles import FAMILIES, NUMBERS, POINTERS, WHOLE
from wardian.syscalls.table import canonical_arch, rows

NAMES = Path(__file__).parents[2] / "src" / "wardian" / "syscalls" / "names.tsv"

# The C library's headers and the kernel's can not stand in one file, and each has names of its own.
LIBRARY = """
fcntl.h sys/mman.h sched.h signal.h sys/socket.h netinet/in.h netinet/tcp.h netinet/udp.h
sys/ptrace.h sys/prctl.h sys/personality.h sys/wait.h sys/resource.h sys/time.h time.h sys/epoll.h
sys/inotify.h sys/ipc.h sys/sem.h sys/shm.h sys/msg.h sys/mount.h sys/xattr.h sys/file.h sys/stat.h
sys/uio.h sys/ioctl.h sys/random.h unistd.h stdio.h net/if.h
"""
KERNEL = """
linux/fcntl.h linux/mman.h linux/futex.h linux/seccomp.h linux/keyctl.h linux/bpf.h linux/reboot.h
linux/netlink.h linux/fs.h linux/stat.h linux/falloc.h linux/close_range.h linux/memfd.h
linux/mount.h linux/sched.h linux/kd.h linux/vt.h linux/nsfs.h linux/if_tun.h linux/sockios.h
linux/prctl.h linux/inotify.h linux/random.h linux/if_packet.h asm/prctl.h asm/ioctls.h
asm/termbits.h stdio.h
"""
# A 64-bit C library has no use for it and says 0, the kernel has.
LIES = {"O_LARGEFILE"}
# The kernel keeps these in a header of its own.
INTERNAL = re.compile("SYSLOG_ACTION_")

# Where arm64 differs: arch/arm64/include/uapi/asm/fcntl.h and mman.h.
ARM64 = {
    "O_DIRECTORY": 0o40000,
    "O_NOFOLLOW": 0o100000,
    "O_DIRECT": 0o200000,
    "O_LARGEFILE": 0o400000,
    "O_TMPFILE": 0o20040000,
    "PROT_BTI": 0x10,
    "PROT_MTE": 0x20,
}


def table() -> list[dict[str, str]]:
    with NAMES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def numbers(arch: str) -> dict[str, int]:
    return {name: number for role in FAMILIES for name, number, _ in family(role, arch)}


@pytest.mark.parametrize("headers", [LIBRARY, KERNEL], ids=["library", "kernel"])
def test_numbers_are_those_of_the_headers(headers: str, tmp_path: Path) -> None:
    if not shutil.which("cc"):
        pytest.skip("a C compiler is not installed")
    ours = numbers(canonical_arch(os.uname().machine))
    theirs = of_headers(headers.split(), sorted(ours), tmp_path)
    assert len(theirs) > 400
    for name in theirs.keys() - LIES:
        assert (name, ours[name]) == (name, theirs[name])


def test_few_names_are_newer_than_the_headers_of_any_distribution(tmp_path: Path) -> None:
    if not shutil.which("cc"):
        pytest.skip("a C compiler is not installed")
    ours = numbers(canonical_arch(os.uname().machine))
    known = of_headers(LIBRARY.split(), sorted(ours), tmp_path)
    known |= of_headers(KERNEL.split(), sorted(ours), tmp_path)
    strangers = {name for name in ours.keys() - known.keys() if not INTERNAL.match(name)}
    assert len(strangers) < 20, strangers


def test_arm64_has_the_same_numbers_but_for_a_few() -> None:
    x86_64, arm64 = numbers("x86_64"), numbers("arm64")
    differ = {name: number for name, number in arm64.items() if x86_64.get(name) != number}
    assert differ == ARM64
    only_x86 = x86_64.keys() - arm64.keys()
    assert {re.sub("_.*", "", name) for name in only_x86} == {"ARCH", "MAP", "PTRACE"}


def test_a_number_stands_in_one_place_only() -> None:
    for row in table():
        has = row["name"] in CONSTANTS
        assert (row["x86_64"] == "=", row["arm64"] == "=") == (has, has), row


def test_no_name_has_two_rows() -> None:
    names = [row["name"] for row in table()]
    assert len(names) == len(set(names))


def test_every_family_has_names_and_every_name_a_family() -> None:
    used = {role for row in table() for role in row["roles"].split(" ")}
    assert used == {*FAMILIES}


def test_a_family_gives_no_number_two_names() -> None:
    for arch in ("x86_64", "arm64"):
        for role in FAMILIES:
            seen = [number for _, number, _ in family(role, arch)]
            assert len(seen) == len(set(seen)), (arch, role)


def test_what_a_command_takes_is_words_of_the_vocabulary_and_fits_the_call() -> None:
    commands = {role for role, (mask, _) in FAMILIES.items() if mask}
    room = {
        role: len(row.arguments) - 1 - place
        for row in rows()
        for place, role in enumerate(row.arguments)
    }
    for row in table():
        if row["takes"] == "*":
            continue
        *taken, last = row["takes"].split(" ")
        assert {*taken} <= {*FAMILIES, *NUMBERS, *POINTERS}, row
        assert last in {"none", *FAMILIES, *NUMBERS, *POINTERS}, row
        for role in row["roles"].split(" "):
            assert role in commands, row
            assert len(taken) + (last != "none") <= room[role], row


def test_values_fit_their_masks_and_flags_stay_out_of_them() -> None:
    for arch in ("x86_64", "arm64"):
        for role, (mask, _) in FAMILIES.items():
            for name, number, _ in family(role, arch):
                assert 0 <= number <= WHOLE
                assert number & ~mask == 0 or number & mask == 0, (role, name)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("name\tx86_64\n", 1),
        ("\t".join(COLUMNS) + "\nF_OK\t0\t0\taccess\n", 2),
        ("\t".join(COLUMNS) + "\nF_OK\tzero\t0\taccess\t*\n", 2),
        ("\t".join(COLUMNS) + "\nF_OK\t=\t0\taccess\t*\n", 2),
    ],
    ids=["columns", "fields", "number", "constant"],
)
def test_malformed_names_are_refused_with_their_line(text: str, line: int) -> None:
    with pytest.raises(InputError) as caught:
        parse_names(text, "x86_64", "names.tsv")
    assert caught.value.line == line


def of_headers(headers: list[str], names: list[str], where: Path) -> dict[str, int]:
    """What a C program that includes the headers prints for those names that compile there."""
    program = where / "names"
    head = ["#define _GNU_SOURCE", *(f"#include <{header}>" for header in headers)]
    head.append("int main(void) {")
    for _ in range(3):
        lines = [
            f'printf("{name} %lu\\n", (unsigned long)({name}) & 0xffffffff);' for name in names
        ]
        compiler = subprocess.run(
            ["cc", "-w", "-fmax-errors=0", "-x", "c", "-", "-o", program],
            input="\n".join([*head, *lines, "}", ""]),
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
            capture_output=True,
            text=True,
            check=False,
        )
        if compiler.returncode == 0:
            break
        wrong = {int(n) for n in re.findall(r"<stdin>:(\d+):\d+: error", compiler.stderr)}
        names = [name for n, name in enumerate(names, start=len(head) + 1) if n not in wrong]
    assert compiler.returncode == 0, compiler.stderr
    output = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return {name: int(number) for name, number in map(str.split, output.splitlines())}
