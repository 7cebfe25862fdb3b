"""The compiled filter decides every call as the table says, in a simulator and without a kernel."""

from __future__ import annotations

import errno
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardian import syscalls
from wardian.errors import PolicyError, WallError
from wardian.syscalls.conditions import parse_guards
from wardian.syscalls.constants import CONSTANTS
from wardian.syscalls.filter import Outcome, assemble, compile_filter

from .bpf import run
from .reference import ALLOW, AUDIT_ARCH, BY_NUMBER, ERRNO, NOTIFY, expected

ARCHES = ["x86_64", "arm64"]
MODES = ["notify", "errno"]
GARBAGE = 0xDEADBEEF << 32

EPERM, ENOSYS = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_ALG, AF_VSOCK = 1, 2, 10, 16, 17, 38, 40
STREAM, DGRAM, RAW, CLOEXEC = 1, 2, 3, 0o2000000
SIGCHLD, CREAT, DIRECTORY = 17, 0o100, 0o200000
MPTCP, SCTP = 262, 132

TRUTHS = [
    ("getpid", (), ALLOW),
    ("ptrace", (), EPERM),
    ("openat2", (), ENOSYS),
    ("clone3", (), ALLOW),
    # ioctl: a command is 32 bits wide, whatever the register holds above them
    ("ioctl", (0, 0x5401), ALLOW),
    ("ioctl", (0, 0x541B), ALLOW),
    ("ioctl", (0, 0x5412), EPERM),
    ("ioctl", (0, 0x5412 | 1 << 32), EPERM),
    ("ioctl", (0, 0x5412 | GARBAGE), EPERM),
    ("ioctl", (0, 0x541C), EPERM),
    ("ioctl", (0, 0x541D), EPERM),
    ("ioctl", (0, 0x5423), EPERM),
    ("ioctl", (0, 0x4B3A), EPERM),
    ("ioctl", (0, 0x5606 | GARBAGE), EPERM),
    ("ioctl", (0, 0x80045612), ALLOW),  # the same type letter, another size: not a console's
    # namespaces
    ("clone", (SIGCHLD,), ALLOW),
    ("clone", (0x003D0F00,), ALLOW),  # as a thread library does
    ("clone", (0x80 | 0x00000F00,), ALLOW),  # CLONE_NEWTIME's bit is the exit signal's here
    *(("clone", (SIGCHLD | 1 << bit,), EPERM) for bit in (17, 25, 26, 27, 28, 29, 30)),
    ("clone", (0x10000000 | GARBAGE,), EPERM),
    ("unshare", (0x400,), ALLOW),
    ("unshare", (0x80,), EPERM),
    ("unshare", (0x10000000,), EPERM),
    ("setns", (3, 0), EPERM),
    # set-id bits
    ("chmod", (0, 0o755), ALLOW),
    ("chmod", (0, 0o1777), ALLOW),
    ("chmod", (0, 0o4755), EPERM),
    ("chmod", (0, 0o2755), EPERM),
    ("fchmod", (0, 0o6000 | GARBAGE), EPERM),
    ("fchmodat", (0, 0, 0o644, 0o6000), ALLOW),
    ("fchmodat", (0, 0, 0o4000), EPERM),
    ("fchmodat2", (0, 0, 0o2000), EPERM),
    ("creat", (0, 0o644), ALLOW),
    ("creat", (0, 0o4644), EPERM),
    ("open", (0, 0, 0o6777), ALLOW),  # without O_CREAT the mode is whatever was in the register
    ("open", (0, CREAT, 0o666), ALLOW),
    ("open", (0, CREAT, 0o4666), EPERM),
    ("openat", (0, 0, DIRECTORY, 0o6777), ALLOW),
    ("openat", (0, 0, CREAT | 1, 0o2666), EPERM),
    ("openat", (0, 0, 0o20000000 | DIRECTORY | 2, 0o4600), EPERM),
    ("openat", (0, 0, CREAT | GARBAGE, 0o4600 | GARBAGE), EPERM),
    # device nodes
    ("mknod", (0, 0o644), ALLOW),
    ("mknodat", (0, 0, 0o010644), ALLOW),
    ("mknodat", (0, 0, 0o100644), ALLOW),
    ("mknodat", (0, 0, 0o140644), ALLOW),
    ("mknodat", (0, 0, 0o020644), EPERM),
    ("mknodat", (0, 0, 0o060644), EPERM),
    ("mknodat", (0, 0, 0o104644), EPERM),
    # sockets
    *(("socket", (family, STREAM | CLOEXEC, 0), ALLOW) for family in (AF_UNIX, AF_INET, AF_INET6)),
    ("socket", (AF_INET, STREAM, 6), ALLOW),
    ("socket", (AF_INET, DGRAM, 17), ALLOW),
    ("socket", (AF_NETLINK, RAW | CLOEXEC, 0), ALLOW),
    ("socket", (AF_UNIX, RAW, 0), ALLOW),
    ("socket", (AF_NETLINK, RAW, 9), ERRNO | errno.EAFNOSUPPORT),
    ("socket", (AF_NETLINK | GARBAGE, RAW, 12), ERRNO | errno.EAFNOSUPPORT),
    *(
        ("socket", (family, RAW, 0), ERRNO | errno.EAFNOSUPPORT)
        for family in (0, AF_PACKET, AF_ALG, AF_VSOCK, 0xFFFFFFFF, AF_VSOCK | GARBAGE)
    ),
    ("socket", (AF_INET, RAW | CLOEXEC, 1), EPERM),
    ("socket", (AF_INET6, RAW | GARBAGE, 58), EPERM),
    ("socket", (AF_INET, 10, 0x0300), EPERM),
    ("socket", (AF_INET, STREAM, MPTCP), ERRNO | errno.EPROTONOSUPPORT),
    ("socket", (AF_INET6, 5, SCTP), ERRNO | errno.EPROTONOSUPPORT),
    ("socketpair", (AF_UNIX, STREAM, 0), ALLOW),
    ("socketpair", (AF_INET, STREAM, 0), ERRNO | errno.EOPNOTSUPP),
    ("socketpair", (AF_INET6, CLOEXEC, 0), ERRNO | errno.ESOCKTNOSUPPORT),
    ("socketpair", (AF_VSOCK, STREAM, 0), ERRNO | errno.EAFNOSUPPORT),
    # the rest
    ("prctl", (38,), ALLOW),
    ("prctl", (35,), EPERM),
    ("personality", (0xFFFFFFFF,), ALLOW),
    ("personality", (0xFFFFFFFFFFFFFFFF,), ALLOW),
    ("personality", (0,), ALLOW),
    ("personality", (6,), ALLOW),
    ("personality", (0x7000008,), ALLOW),
    *(("personality", (1 << bit,), EPERM) for bit in (*range(8, 24), *range(27, 32))),
    ("personality", (0x7040008,), EPERM),
    ("personality", (0x0040000,), EPERM),
    ("personality", (0x0400000,), EPERM),
]

# Answered as by a kernel that has no such protocol, without a word to the supervisor.
QUIET = [(AF_INET, STREAM, MPTCP), (AF_INET6, 5, SCTP)]


@pytest.mark.parametrize("arch", ARCHES)
def test_calls_are_decided_as_documented(arch: str) -> None:
    program = compile_filter(arch, refuse="errno")
    for name, args, value in TRUTHS:
        number = syscalls.number(name, arch)
        if number is not None:
            got = run(program, number, args, audit_arch=AUDIT_ARCH[arch]).value
            assert (name, args, hex(got)) == (name, args, hex(value))


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("refuse", MODES)
def test_every_number_is_decided_as_the_table_says(arch: str, refuse: str) -> None:
    program = compile_filter(arch, refuse=refuse)  # type: ignore[arg-type]
    for number in (*range(601), 0x3FFFFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF):
        for args in ((0,) * 6, (2**64 - 1,) * 6, (GARBAGE,) * 6, (0, 0x5412 | GARBAGE, 0, 0, 0, 0)):
            got = run(program, number, args, audit_arch=AUDIT_ARCH[arch]).value
            assert (number, args, got) == (number, args, expected(arch, number, args, refuse))


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("refuse", MODES)
def test_another_abi_is_refused_whole(arch: str, refuse: str) -> None:
    program = compile_filter(arch, refuse=refuse)  # type: ignore[arg-type]
    i386, arm = 0x40000003, 0x40000028
    foreign = {i386, arm, *AUDIT_ARCH.values(), 0} - {AUDIT_ARCH[arch]}
    for audit_arch in foreign:
        for number in range(601):
            assert run(program, number, audit_arch=audit_arch).value == EPERM


@pytest.mark.parametrize("refuse", MODES)
def test_x32_numbers_are_refused_and_arm64_never_heard_of_them(refuse: str) -> None:
    for number in range(0x40000000, 0x40000000 + 601):
        for arch, value in (("x86_64", EPERM), ("arm64", ENOSYS)):
            program = compile_filter(arch, refuse=refuse)  # type: ignore[arg-type]
            assert run(program, number, audit_arch=AUDIT_ARCH[arch]).value == value


def test_a_refusal_is_reported_and_the_lack_of_something_only_by_the_last_guard() -> None:
    program = compile_filter("x86_64", refuse="notify")
    number = syscalls.number("socket", "x86_64") or -1

    def value(args: tuple[int, ...]) -> int:
        return run(program, number, args, audit_arch=AUDIT_ARCH["x86_64"]).value

    for args in QUIET:
        assert value(args) & 0xFFFF0000 == ERRNO
    assert value((AF_INET, RAW | CLOEXEC, 1)) == NOTIFY
    assert value((AF_VSOCK, STREAM, 0)) == NOTIFY


corner = st.one_of(
    st.sampled_from(sorted(CONSTANTS.values())),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0, 1, 2**31, 2**32 - 1, 262, 132, 0o644, 0o4755, 40]),
)
register = st.builds(
    lambda low, other, high: (low | other) & 0xFFFFFFFF | high << 32,
    corner,
    st.one_of(st.just(0), corner),
    st.one_of(st.just(0), st.integers(0, 2**32 - 1)),
)
registers = st.tuples(*[register] * 6)
names = st.sampled_from([row.name for row in syscalls.rows()])
conditional = st.sampled_from([row.name for row in syscalls.rows() if row.kind == "when"])


@settings(max_examples=1500)
@given(st.sampled_from(ARCHES), st.sampled_from(MODES), conditional, registers)
def test_filter_and_table_agree_on_any_arguments(
    arch: str, refuse: str, name: str, args: tuple[int, ...]
) -> None:
    number = syscalls.number(name, arch)
    if number is not None:
        program = compile_filter(arch, refuse=refuse)  # type: ignore[arg-type]
        value = run(program, number, args, audit_arch=AUDIT_ARCH[arch]).value
        assert value == expected(arch, number, args, refuse)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(ARCHES), st.sampled_from(MODES), st.sets(names), st.sets(names), registers)
def test_overrides_change_the_named_calls_and_no_others(
    arch: str, refuse: str, allow: set[str], deny: set[str], args: tuple[int, ...]
) -> None:
    allowed, denied = frozenset(allow), frozenset(deny - allow)
    program = compile_filter(arch, allow=allowed, deny=denied, refuse=refuse)  # type: ignore[arg-type]
    for number in range(480):
        value = run(program, number, args, audit_arch=AUDIT_ARCH[arch]).value
        wanted = expected(arch, number, args, refuse, allow=allowed, deny=denied)
        assert (number, value) == (number, wanted)


def test_a_denied_call_is_answered_eperm_whatever_its_row_says() -> None:
    number = syscalls.number("socket", "x86_64") or -1
    program = compile_filter("x86_64", deny=["socket"], refuse="errno")
    value = run(program, number, (AF_VSOCK, STREAM, 0), audit_arch=AUDIT_ARCH["x86_64"]).value
    assert value == EPERM


def test_a_misspelt_override_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(PolicyError, match="'ptrce'") as caught:
        compile_filter("x86_64", allow=["ptrce"])
    assert caught.value.hint == "did you mean ptrace?"


def test_a_call_can_not_be_both_allowed_and_denied() -> None:
    with pytest.raises(PolicyError, match="both"):
        compile_filter("x86_64", allow=["bpf"], deny=["bpf"])


def test_an_override_for_a_call_this_architecture_lacks_is_no_mistake() -> None:
    assert compile_filter("arm64", deny=["open"]) == compile_filter("arm64")


def test_an_architecture_without_a_table_is_refused() -> None:
    with pytest.raises(WallError, match="riscv64"):
        compile_filter("riscv64")


def test_the_same_question_has_the_same_answer() -> None:
    once = compile_filter("x86_64", allow=["ptrace", "bpf"], deny=["kill"])
    again = compile_filter("x86_64", allow=("bpf", "ptrace", "bpf"), deny={"kill"})
    assert once is again
    assert compile_filter("aarch64") is compile_filter("arm64")


@pytest.mark.parametrize("arch", ARCHES)
def test_the_search_is_a_tree_and_not_a_chain(arch: str) -> None:
    program = compile_filter(arch)
    assert len(program) // 8 <= 280, "the kernel takes 4096; grow on purpose"
    for number in (*range(601), 0xFFFFFFFF):
        row = BY_NUMBER[arch].get(number)
        if row is None or not row["decision"].startswith("when"):
            steps = run(program, number, audit_arch=AUDIT_ARCH[arch]).steps
            assert steps <= 4 + math.ceil(math.log2(128))


@given(st.integers(2, 900), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_far_jumps_land(size: int, chance: random.Random) -> None:
    """The real table fits short jumps; here are programs that do not."""
    guards = [parse_guards(f"when arg0 & 0xff in {{{n},{n + 1}}} else EDOM") for n in range(90)]
    outcomes: list[Outcome] = [ALLOW, ENOSYS, NOTIFY, EPERM, *guards]
    ranges = [(number, chance.choice(outcomes)) for number in range(size)]
    program = assemble("x86_64", ranges, "errno")
    for number, outcome in ranges:
        for argument in (0, 7, 89, 255):
            value = run(program, number, (argument,), audit_arch=AUDIT_ARCH["x86_64"]).value
            if isinstance(outcome, int):
                assert value == outcome
            else:
                within = argument in outcome[0][0][0][0][3]
                assert value == (ALLOW if within else ERRNO | errno.EDOM)
