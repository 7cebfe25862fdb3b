"""What is known of each call beyond the decision: complete, and ranked by a rule."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wardian import syscalls
from wardian.errors import InputError
from wardian.measure.suites.catalogue import read_catalogue
from wardian.measure.syscalls.refresh import gvisor_tests, manual_pages, refreshed
from wardian.measure.syscalls.usage import programs
from wardian.syscalls.knowledge import (
    COLUMNS,
    INTERPRETERS,
    PRIORITIES,
    TOOLS,
    Knowledge,
    known,
    parse,
    written,
)

# What the analysis of another sandbox ranks, by the names that it uses and Linux has.
CRITICAL = (
    "read write readv writev open openat close execve fork mmap munmap brk getpid getppid getpgrp "
    "gettid getuid geteuid getgid getegid rt_sigaction rt_sigprocmask"
)
HIGH = (
    "pipe2 dup fcntl ioctl clone clone3 wait4 waitid vfork epoll_create epoll_ctl epoll_pwait "
    "socket bind connect accept"
)


def knowledge(*used_by: str, named: str | None = None) -> Knowledge:
    return Knowledge("read", named, used_by, None, ())  # type: ignore[arg-type]


def test_there_is_knowledge_of_every_call_in_the_order_of_the_table() -> None:
    assert list(known()) == [row.name for row in syscalls.rows()]


@pytest.mark.parametrize(
    ("one", "priority"),
    [
        (knowledge(*INTERPRETERS), "critical"),
        (knowledge(*INTERPRETERS[1:]), "high"),
        (knowledge("sh", "r"), "high"),
        (knowledge("sh"), "medium"),
        (knowledge(TOOLS), "medium"),
        (knowledge("sh", TOOLS), "medium"),
        (knowledge(), "low"),
        (knowledge(named="critical"), "critical"),
        (knowledge("sh", "r", named="medium"), "high"),
        (knowledge("sh", named="low"), "medium"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value.used_by),
)
def test_a_priority_is_the_more_urgent_of_use_and_name(one: Knowledge, priority: str) -> None:
    assert one.priority == priority
    assert one.why


@pytest.mark.parametrize(("names", "at_least"), [(CRITICAL, "critical"), (HIGH, "high")])
def test_what_the_analysis_ranks_is_at_least_as_urgent_here(names: str, at_least: str) -> None:
    for name in names.split():
        assert PRIORITIES.index(known()[name].priority) <= PRIORITIES.index(at_least), name  # type: ignore[arg-type]


def test_nothing_that_programs_need_is_denied() -> None:
    for row in syscalls.rows():
        if known()[row.name].priority != "low":
            assert row.kind in ("allow", "when"), row.name


def test_tests_are_names_of_source_files_and_pages_are_words() -> None:
    for one in known().values():
        assert len(one.tests) <= 5
        assert len(set(one.tests)) == len(one.tests)
        assert all(re.fullmatch(r"[a-z0-9_]+\.cc", file) for file in one.tests), one.name
        assert one.man is None or re.fullmatch(r"_?[a-z0-9_]+", one.man), one.name


def test_files_that_do_not_exist_in_gvisor_are_not_named() -> None:
    invented = {"clone", "execve", "getpid", "ioctl_tty", "setpgid", "setsid", "tee", "vmsplice"}
    named = {file for one in known().values() for file in one.tests}
    assert not named & {f"{name}.cc" for name in invented}
    assert known()["setpgid"].tests[0] == "processes.cc"
    assert known()["tee"].tests == ("splice.cc",)


def test_programs_that_are_traced_are_those_that_priorities_count() -> None:
    assert [one.name for one in programs()] == [*INTERPRETERS, TOOLS]
    assert {one.name: one.kind for one in programs()} == {
        **dict.fromkeys(INTERPRETERS, "interpreter"),
        TOOLS: "tools",
    }


def test_what_was_written_is_read_back() -> None:
    assert parse(written(known())) == known()


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (("named\t", "nomed\t"), 1),
        (("read\tcritical", "read\turgent"), 2),
        (("read\tcritical\tsh", "read\tcritical\tzsh"), 2),
        (("\nwrite\t", "\nwrote\t"), 3),
        (("\nwrite\tcritical", "\nwrite\tcritical\tx"), 3),
    ],
    ids=["columns", "priority", "program", "order", "fields"],
)
def test_what_is_malformed_is_refused_with_its_line(change: tuple[str, str], line: int) -> None:
    text = written(known()).replace(*change)
    with pytest.raises(InputError) as caught:
        parse(text, "knowledge.tsv")
    assert caught.value.line == line


def test_a_call_without_knowledge_is_missed() -> None:
    text = written(known()).rstrip("\n").rpartition("\n")[0]
    with pytest.raises(InputError, match="another number of rows"):
        parse(text)


def test_the_page_describes_every_column() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/syscall-table.md").read_text()
    for column in COLUMNS:
        assert f"`{column}`" in page


# The generator


def test_test_files_are_found_by_name_and_by_what_their_cases_call(tmp_path: Path) -> None:
    case = "TEST(Suite, {}) {{ {} }}\n"
    sources = {
        "read.cc": case.format("A", "read(fd, b, 1);"),
        "pipe.cc": case.format("A", "read(a, b, 1);") + case.format("B", 'text = "write(1)";'),
        "inotify.cc": "".join(case.format(name, "read(a, b, 1);") for name in "ABC"),
        "processes.cc": case.format("A", "syscall(SYS_setpgid, 0, 0);"),
        "kill.cc": case.format("A", "setpgid(0, 0);"),
        "stat.cc": case.format("A", "fstatat(AT_FDCWD, p, &s, 0);"),
        "futex.cc": case.format("A", "futex_wait(x);"),
    }
    for name, text in sources.items():
        (tmp_path / name).write_text(text)
    found = gvisor_tests(read_catalogue(str(tmp_path)), {"newfstatat": "stat"})
    assert found["read"] == ["read.cc", "inotify.cc", "pipe.cc"]
    assert found["setpgid"] == ["processes.cc", "kill.cc"]
    assert found["newfstatat"] == ["stat.cc"]
    assert found["futex_wait"] == []
    assert found["mount"] == []


def test_links_between_manual_pages_are_followed(tmp_path: Path) -> None:
    (tmp_path / "stat.2").write_text(".TH stat 2\n")
    (tmp_path / "newfstatat.2").write_text(".so man2/fstatat.2\n")
    (tmp_path / "fstatat.2").write_text(".so man2/stat.2\n")
    (tmp_path / "read.2").write_text(".so man2/read.2\n")
    pages = manual_pages(tmp_path)
    assert (pages["stat"], pages["newfstatat"]) == ("stat", "stat")
    assert pages["write"] is None
    assert pages["read"] is None  # leads to itself
    assert pages["io_uring_setup"] == "io_uring_setup"


def test_what_was_not_asked_for_stays_as_it_is() -> None:
    assert refreshed(known(), None, None, None) == known()
    users = {"sh": ["read"], "tools": ["read", "write"]}
    new = refreshed(known(), users, None, None)
    assert new["read"].used_by == ("sh", "tools")
    assert new["close"].used_by == ()
    assert new["read"]._replace(used_by=()) == known()["read"]._replace(used_by=())
