"""What the compiler offers is in the launcher's file, and works when something goes wrong."""

from __future__ import annotations

import platform
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from .conftest import CORE, Build

FAULTS = r"""
#include "fortify.h"
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
volatile size_t much = 64;
static __attribute__((noinline)) void smash(char *at) {
    for (size_t i = 0; i < much; i++)
        ((volatile char *)at)[i] = 'x';
}
static __attribute__((noinline)) int smashed(void) {
    char room[16];
    smash(room);
    return room[3];
}
static __attribute__((noinline)) int copied(void) {
    char room[16];
    memcpy(room, "0123456789012345678901234567890123456789012345678901234567890123456789", much);
    return room[3];
}
static const char *const words[] = {"zero", "one"}; /* relocated, then closed */
static __attribute__((noinline)) int changed(int which) {
    *(const char *volatile *)(uintptr_t)&words[which] = "two";
    return 0;
}
int main(int argc, char **argv) {
    if (argc == 2 && argv[1][0] == 's')
        return smashed();
    if (argc == 2 && argv[1][0] == 'c')
        return copied();
    if (argc == 2 && argv[1][0] == 'r')
        return changed(argc - 1);
    const char *word = words[argc - 1]; /* an address that was relocated */
    return write(1, word, strlen(word)) < 0;
}
"""


@pytest.fixture(params=["cc", "gcc", "clang"])
def compiler(request: pytest.FixtureRequest) -> str:
    if platform.machine() not in ("x86_64", "aarch64"):
        pytest.skip("the launcher links the system's C library here")
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return str(request.param)


def flags(compiler: str) -> list[str]:
    """As the Makefile would pass them, without the launcher's own files."""
    out = "/nonexistent/x"
    shown = subprocess.run(
        ["make", "-sn", "-C", CORE, f"CC={compiler}", f"OUT={out}", f"{out}/wardian-launch"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.replace("\\\n", " ")
    words = next(line for line in shown.splitlines() if "-static-pie" in line).split()
    kept = [word for word in words[1:] if not word.endswith(".c") and "WARDIAN_VERSION" not in word]
    kept[kept.index("-o") : kept.index("-o") + 2] = []
    return [word for word in kept if word != "-s"]


@pytest.fixture
def faults(compiler: str, build: Build, tmp_path: Path) -> Path:
    assert build is not None
    (tmp_path / "faults.c").write_text(FAULTS)
    quiet = ["-w", f"-I{CORE}"]
    sources = (tmp_path / "faults.c", CORE / "libc.c", CORE / "libc_text.c")
    subprocess.run(
        [compiler, *flags(compiler), *quiet, "-o", tmp_path / "faults", *sources],
        check=True,
        cwd=CORE,
    )
    return tmp_path / "faults"


def test_it_runs_at_an_address_that_the_kernel_chose(faults: Path) -> None:
    shown = subprocess.run([faults, "x"], capture_output=True, text=True, check=True)
    assert shown.stdout == "one"


TRAPS = (-signal.SIGILL, -signal.SIGTRAP)


def test_a_smashed_stack_ends_it(faults: Path) -> None:
    assert subprocess.run([faults, "s"], check=False).returncode in TRAPS


def test_a_copy_that_is_larger_than_its_target_ends_it(faults: Path) -> None:
    assert subprocess.run([faults, "c"], check=False).returncode in TRAPS


def test_what_was_relocated_can_t_be_changed(faults: Path) -> None:
    assert subprocess.run([faults, "r"], check=False).returncode == -signal.SIGSEGV


def read_elf(option: str, file: Path) -> str:
    if shutil.which("readelf") is None:
        pytest.skip("readelf is not installed")
    command = ["readelf", "-W", option, file]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_launcher_s_file_has_its_protections(build: Build) -> None:
    if platform.machine() not in ("x86_64", "aarch64"):
        pytest.skip("the launcher links the system's C library here")
    launcher = build("wardian-launch")
    assert "DYN (" in read_elf("-h", launcher)
    segments = read_elf("-l", launcher)
    assert "INTERP" not in segments
    assert "GNU_RELRO" in segments
    for line in segments.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"]:
            assert "W" not in line[-16:] or " E " not in line[-16:], line
        if words[:1] == ["GNU_STACK"]:
            assert " RW " in line
    assert "BIND_NOW" in read_elf("-d", launcher)
    relocations = read_elf("-r", launcher)
    assert "RELATIVE" in relocations
    assert "JUMP_SLOT" not in relocations
    if platform.machine() == "x86_64":
        assert "IBT, SHSTK" in read_elf("-n", launcher)


def test_the_compiler_is_asked_for_all_it_offers() -> None:
    asked = " ".join(flags("cc"))
    for option in ("-fstack-protector-strong", "-fPIE", "-static-pie", "-Wl,-z,relro,-z,now"):
        assert option in asked
    known = ["-fstack-clash-protection", "-ftrivial-auto-var-init=zero"]
    known += ["-fzero-call-used-regs=used-gpr"]
    if platform.machine() == "x86_64":
        known.append("-fcf-protection=full")
    for option in known:
        offered = subprocess.run(
            ["cc", "-Werror", option, "-x", "c", "-c", "-o", "/dev/null", "/dev/null"],
            capture_output=True,
            check=False,
        )
        assert (offered.returncode == 0) == (option in asked), option
