"""Policy × host → plan, by table: no kernel is asked."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardian import Limits, Policy
from wardian.errors import UsageError, WallError
from wardian.sandbox.host import Host, kernel_version
from wardian.sandbox.root.shares import Source
from wardian.sandbox.run import landlock
from wardian.sandbox.run.plan import Plan, finish, make_plan
from wardian.sandbox.run.protections import ALWAYS, DEGRADABLE
from wardian.sandbox.run.records import MAGIC, record

NEW = Host("x86_64", (6, 18), 7, 1000)


def records(data: bytes) -> list[list[bytes]]:
    """The plan taken apart again, as core/plan.c does."""
    assert data.startswith(MAGIC)
    at, found = len(MAGIC), []
    while at < len(data):
        count, at, fields = data[at], at + 1, []
        for _ in range(count):
            (size,) = struct.unpack_from("<I", data, at)
            fields.append(data[at + 4 : at + 4 + size])
            at += size + 5
            assert data[at - 1] == 0
        found.append(fields)
    return found


def named(plan: Plan, name: str) -> list[list[str]]:
    return [
        [field.decode("latin-1") for field in fields[1:]]
        for fields in records(plan.records)
        if fields[0] == name.encode()
    ]


def state(plan: Plan, name: str) -> tuple[bool, bool, bool]:
    found = next(p for p in plan.protections if p.name == name)
    return found.requested, found.available, found.enforced


YES, GIVEN_UP, UNASKED = (True, True, True), (True, True, False), (False, True, False)
ABSENT = (True, False, False)


@pytest.mark.parametrize(
    ("abi", "policy", "name", "expected"),
    [
        (7, {}, "landlock", YES),
        (7, {}, "landlock.scope_signal", YES),
        (1, {}, "landlock.refer", ABSENT),
        (4, {}, "landlock.truncate", YES),
        (4, {}, "landlock.ioctl_dev", ABSENT),
        (5, {}, "landlock.scope_signal", ABSENT),
        (7, {"degrade": ("landlock",)}, "landlock", GIVEN_UP),
        (7, {"degrade": ("landlock",)}, "landlock.refer", GIVEN_UP),
        (7, {"degrade": ("landlock.scope_signal",)}, "landlock.scope_signal", GIVEN_UP),
        (7, {"degrade": ("landlock.scope_signal",)}, "landlock", YES),
        (0, {"degrade": ("landlock",)}, "landlock", ABSENT),
        (7, {"landlock_abi": 0}, "landlock", UNASKED),
        (7, {"degrade": ("notify",)}, "notify", GIVEN_UP),
        (7, {"degrade": ("proc",)}, "proc", GIVEN_UP),
        (7, {}, "notify", YES),
        (7, {}, "namespace.network", YES),
        (7, {"network": "host"}, "namespace.network", UNASKED),
        (7, {}, "limits.processes", YES),
        (7, {"limits": Limits()}, "limits.processes", UNASKED),
    ],
)
def test_each_protection_is_requested_available_enforced(
    abi: int, policy: dict[str, object], name: str, expected: tuple[bool, bool, bool]
) -> None:
    plan = make_plan(Policy.default().but(**policy), [], NEW._replace(landlock_abi=abi))  # type: ignore[arg-type]
    assert state(plan, name) == expected


def test_the_walls_that_make_a_sandbox_always_stand() -> None:
    plan = make_plan(Policy.default().but(degrade=DEGRADABLE), [], NEW)
    assert all(state(plan, name) == YES for name in ALWAYS)


@pytest.mark.parametrize(
    ("host", "policy", "words", "hint"),
    [
        (
            NEW._replace(landlock_abi=0),
            {},
            "needs Landlock ABI 1; this kernel has none",
            "landlock",
        ),
        (
            NEW._replace(landlock_abi=4),
            {"landlock_abi": 6},
            "landlock.ioctl_dev: needs Landlock ABI 5; this kernel has 4",
            "--degrade landlock.ioctl_dev",
        ),
        (NEW._replace(kernel=(5, 13)), {}, "needs Linux 5.14; this is 5.13", "limits.processes"),
    ],
)
def test_a_wall_that_is_wanted_and_not_there_stops_the_plan(
    host: Host, policy: dict[str, object], words: str, hint: str
) -> None:
    with pytest.raises(WallError) as caught:
        make_plan(Policy.default().but(**policy), [], host)  # type: ignore[arg-type]
    assert words in str(caught.value)
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize("name", [*ALWAYS, "namespace.network"])
def test_what_makes_the_sandbox_can_t_be_given_up(name: str) -> None:
    with pytest.raises(UsageError, match="without it there is no sandbox") as caught:
        make_plan(Policy.default().but(degrade=(name,)), [], NEW)
    assert "--backend host" in (caught.value.hint or "")


def test_a_protection_that_does_not_exist_is_told() -> None:
    with pytest.raises(UsageError, match="there is no protection 'landlok'") as caught:
        make_plan(Policy.default().but(degrade=("landlok",)), [], NEW)
    assert "landlock" in (caught.value.hint or "")


def test_shares_are_bound_with_what_they_allow() -> None:
    sources = [Source("/d", "/in", False, True), Source("/w", "/out", True, True)]
    plan = make_plan(Policy.default(), sources, NEW)
    binds = {(bind[0], bind[1]): int(bind[2]) for bind in named(plan, "bind")}
    assert binds["/d", "/in"] & 1 == 0
    assert binds["/w", "/out"] & 1 == 1
    assert named(plan, "watch") == [["/w"]]
    rights = {path: int(right) for path, right in named(plan, "rule")}
    assert rights["/in"] & landlock.WRITE_FILE == 0
    assert rights["/out"] & landlock.WRITE_FILE
    assert rights["/"] == landlock.READ_DIR


def test_nothing_of_the_host_but_usr_etc_and_devices_is_bound_by_default() -> None:
    plan = make_plan(Policy.default(), [], NEW)
    for source, place, _flags in named(plan, "bind"):
        assert source.startswith(("/usr", "/bin", "/sbin", "/lib", "/etc/", "/dev/")), place
        assert source not in ("/etc", "/etc/passwd", "/etc/shadow", "/etc/machine-id", "/etc/ssh")


def test_limits_become_records_and_the_result_says_who_holds_them() -> None:
    policy = Policy(
        limits=Limits(
            time_s=1.5,
            cpu_s=2,
            memory_bytes=1 << 30,
            processes=10,
            files=64,
            disk_bytes=1 << 20,
            output_bytes=1000,
        )
    )
    plan = make_plan(policy, [], NEW)
    assert named(plan, "wall-ms") == [["1500"]]
    assert named(plan, "cpu-ms") == [["2000"]]
    assert named(plan, "memory") == [[str(1 << 30)]]
    assert named(plan, "output") == [["1000"]]
    assert named(plan, "root")[0][0] == str(1 << 20)
    held = {limit.name: limit for limit in plan.limits}
    assert set(held) == {"time", "cpu", "memory", "processes", "files", "disk", "output"}
    assert all(limit.mechanism for limit in held.values())
    assert held["files"].value == 64


def test_no_limits_no_records() -> None:
    plan = make_plan(Policy(), [], NEW)
    for name in ("wall-ms", "cpu-ms", "memory", "output"):
        assert named(plan, name) == []


def test_the_network_flag_is_there_only_for_a_network_of_its_own() -> None:
    assert ["network"] in named(make_plan(Policy.default(), [], NEW), "flag")
    shared = make_plan(Policy.default().but(network="host"), [], NEW)
    assert ["network"] not in named(shared, "flag")


def test_both_architectures_have_a_filter_and_an_unknown_one_is_refused() -> None:
    for arch in ("x86_64", "aarch64"):
        assert named(make_plan(Policy.default(), [], NEW._replace(arch=arch)), "filter")
    with pytest.raises(Exception, match="riscv64"):
        make_plan(Policy.default(), [], NEW._replace(arch="riscv64"))


def test_a_plan_is_the_same_each_time() -> None:
    assert make_plan(Policy.default(), [], NEW) == make_plan(Policy.default(), [], NEW)


def test_one_run_s_own_records_come_on_top() -> None:
    plan = make_plan(Policy.default(), [], NEW)
    data = finish(
        plan,
        argv=["a", "", "ü", "\udcff"],
        env={"PATH": "/x", "A": "1=2"},
        cwd=None,
        streams=[("null", 0), ("relay", 7), ("relay", 8)],
        parent=42,
        time_s=0.0001,
    )
    found = records(data)
    assert [r[1] for r in found if r[0] == b"arg"] == [b"a", b"", "ü".encode(), b"\xff"]
    assert [b"env", b"A=1=2"] in found
    assert [b"path", b"/x"] in found
    assert [b"cwd", b"/work"] in found
    assert [b"stream", b"1", b"relay", b"7"] in found
    assert [b"wall-ms", b"1"] in found  # the last one counts, and never 0


@given(st.lists(st.binary(max_size=40) | st.integers(0, 1 << 64), min_size=1, max_size=6))
def test_any_record_can_be_taken_apart_again(fields: list[bytes | int]) -> None:
    raw = [field if isinstance(field, bytes) else str(field).encode() for field in fields]
    assert records(MAGIC + record(*fields)) == [raw]


@pytest.mark.parametrize(
    ("release", "version"),
    [
        ("6.18.44-fc-v1", (6, 18)),
        ("5.4.0-150-generic", (5, 4)),
        ("6.1", (6, 1)),
        ("6.8.0+", (6, 8)),
        ("4.18.0-553.el8_10.x86_64", (4, 18)),
        ("odd", (0, 0)),
        ("", (0, 0)),
    ],
)
def test_a_kernel_release_is_read(release: str, version: tuple[int, int]) -> None:
    assert kernel_version(release) == version


@pytest.mark.parametrize(
    ("abi", "degraded", "fs_bits", "scoped"),
    [
        *((1, (), 13, 0), (2, (), 14, 0), (3, (), 15, 0), (4, (), 15, 0), (5, (), 16, 0)),
        *((6, (), 16, 3), (7, ("landlock.refer",), 15, 3), (7, ("landlock.scope_signal",), 16, 1)),
    ],
)
def test_landlock_handles_the_most_that_its_abi_can(
    abi: int, degraded: tuple[str, ...], fs_bits: int, scoped: int
) -> None:
    rules = landlock.ruleset(abi, frozenset(degraded))
    assert rules.handled_fs.bit_count() == fs_bits
    assert rules.scoped == scoped
