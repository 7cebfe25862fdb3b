"""Programs are made from a seed, keep to the rules, and become smaller."""

from __future__ import annotations

import pytest

from wardian.errors import InputError, NothingMatched
from wardian.measure.fuzz.generate import choose, generate
from wardian.measure.fuzz.minimise import minimise
from wardian.measure.fuzz.program import (
    MAX_CALLS,
    NUMBER,
    RESULT,
    Arg,
    CallSequence,
    from_data,
    roles_of,
    text,
    to_data,
)
from wardian.measure.fuzz.rules import parse_rules, rules
from wardian.measure.fuzz.wire import encode
from wardian.syscalls.roles import FAMILIES
from wardian.syscalls.table import lookup, rows

from .conftest import ARCH, program

CHOICE = choose(ARCH)
PROGRAMS = [generate(5, index, CHOICE) for index in range(3000)]


def test_a_seed_makes_the_same_programs_in_whatever_order() -> None:
    assert [generate(5, index, choose(ARCH)) for index in (7, 3, 2999)] == [
        PROGRAMS[7], PROGRAMS[3], PROGRAMS[2999],
    ]  # fmt: skip
    assert [generate(6, index, CHOICE) for index in range(20)] != PROGRAMS[:20]


def test_programs_are_short_and_survive_being_written_down() -> None:
    for one in PROGRAMS:
        assert 1 <= len(one.calls) <= MAX_CALLS
        again = from_data(to_data(one))
        assert encode([again], 1, ARCH) == encode([one], 1, ARCH)
        assert text(again, ARCH) == text(one, ARCH)


def test_nearly_every_call_that_is_not_left_out_is_tried() -> None:
    tried = {call.name for one in PROGRAMS for call in one.calls}
    every = {row.name for row in rows() if row.number(ARCH) is not None}
    assert tried <= every - set(rules().leave_out)
    assert len(tried) > 0.9 * len(every - set(rules().leave_out))


def test_no_program_names_a_process_that_is_not_its_own() -> None:
    for one in PROGRAMS:
        for call in one.calls:
            for role, arg in zip(roles_of(call, ARCH), call.args, strict=False):
                if role == "pid" and arg.kind == NUMBER:
                    assert arg.value in (0, 0x3FFFFFFF)


def test_arguments_that_could_harm_keep_to_their_values() -> None:
    for one in PROGRAMS:
        for call in one.calls:
            for place, arg in enumerate(call.args):
                kept = rules().only.get((call.name, place))
                if kept and kept.allowed and arg.kind == NUMBER:
                    assert arg.value in kept.allowed or call.name in ("socket", "socketpair")
                if kept and kept.without and arg.kind == NUMBER:
                    command = arg.value & FAMILIES[lookup(call.name).arguments[place]][0]
                    assert command not in kept.without


def test_calls_are_chosen_by_name_and_group() -> None:
    names = {row.name for row in choose(ARCH, ["ipc", "getpid"]).rows}
    assert {"getpid", "msgget", "mq_open"} <= names
    assert "openat" not in names
    with pytest.raises(NothingMatched, match="no syscall and no group"):
        choose(ARCH, ["opne"])
    with pytest.raises(NothingMatched, match="ever tried") as error:
        choose(ARCH, ["reboot"])
    assert "ends the machine" in str(error.value.hint)


@pytest.mark.parametrize(
    "broken",
    [
        "[leave_out]\nreboto = 'x'\n",
        "[leave_out]\nreboot = ''\n",
        "[elsewhere]\n",
        "[only]\n'clone.x' = { values = [1], reason = 'x' }\n",
        "[only]\n'clone.0' = { values = [1] }\n",
        "[[explained]]\nsandbox = ['EPERM']\nwall = 'x'\nreason = 'x'\n",
        "[[explained]]\ncalls = ['kill']\nsandbox = ['EPERM']\nwall = 'x'\nreason = 'x'\nodd = 1\n",
        "[opaque",
    ],
)
def test_rules_that_are_vague_or_unknown_are_refused(broken: str) -> None:
    with pytest.raises(InputError):
        parse_rules(broken)


@pytest.mark.parametrize("data", [{}, {"calls": []}, {"calls": [{"name": "opne", "args": []}]}, 3])
def test_what_is_no_program_is_not_read_as_one(data: object) -> None:
    with pytest.raises((ValueError, InputError)):
        from_data(data)


def test_a_program_becomes_as_small_as_what_it_shows() -> None:
    big = program(
        ("getpid",), ("openat", -100, b"f", 0o102, 0o644), ("getuid",),
        ("lseek", Arg(RESULT, 1), 4096, 4), ("getgid",), ("umask", 0o22),
    )  # fmt: skip

    def shows(candidates: list[CallSequence]) -> list[bool]:
        return [any(call.name == "lseek" and call.args[2].value == 4 for call in one.calls)
                for one in candidates]  # fmt: skip

    small = minimise(big, shows)
    assert text(small, ARCH) == ["r0: lseek(-1, 0, SEEK_HOLE)"]
    assert small.image == ()


def test_what_a_program_needs_stays_when_it_becomes_smaller() -> None:
    big = program(
        ("getpid",), ("openat", -100, b"f", 0o102, 0o644), ("getuid",),
        ("read", Arg(RESULT, 1), 0, 16),
    )  # fmt: skip

    def shows(candidates: list[CallSequence]) -> list[bool]:
        return [
            [call.name for call in one.calls][-2:] == ["openat", "read"]
            and one.calls[-1].args[0] == Arg(RESULT, len(one.calls) - 2)
            for one in candidates
        ]

    small = minimise(big, shows)
    assert [call.name for call in small.calls] == ["openat", "read"]
    assert small.calls[1].args[0] == Arg(RESULT, 0)
