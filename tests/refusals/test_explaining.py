"""What the supervisor noted is a guest's choosing: whatever it holds, it can be explained."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.refusals.wall import ARCH
from wardian import Policy, syscalls
from wardian.cli.refused import refusal_lines
from wardian.sandbox.refusals.asked_host import AskedHost
from wardian.sandbox.refusals.hostpath import distant_places, exists, real_path
from wardian.sandbox.refusals.ranking import weighed
from wardian.sandbox.refusals.reading import refusals
from wardian.sandbox.refusals.remedies import RefusalContext
from wardian.sandbox.run.result import Allow, Caller, Refusal, Result

AROUND = RefusalContext(
    Policy.default(), (), (), ARCH, "/usr", "/nonexistent", ("true",), AskedHost(1e6)
)
latin = st.text(st.characters(max_codepoint=255), max_size=80)
paths = st.lists(
    st.sampled_from(["", "..", ".", "usr", "etc", "root", "a\n", "é", "\xff", "x" * 99])
)
events = st.fixed_dictionaries({
    "event": st.just("refused"),
    "call": st.integers(-1, 500),
    "by": st.sampled_from("fmcrknd"),
    "process": st.integers(-1, 3),
    "count": st.integers(1, 9),
    "at_us": st.integers(0, 10**9),
    "args": st.lists(st.integers(0, 2**64 - 1), min_size=6, max_size=6).map(
        lambda args: " ".join(map(str, args))
    ),
    "text": st.one_of(latin.filter(lambda text: len(text) > 3), paths.map("/".join)),
    "other": st.sampled_from(["", "loopback", "example.com"]),
})  # fmt: skip


@settings(max_examples=200, deadline=None, database=None)
@given(st.lists(events, max_size=8))
def test_anything_can_be_explained_and_printed(noted: list[dict[str, object]]) -> None:
    process = {"event": "process", "number": 0, "pid": 2, "parent": -1, "command": "a\0\xff\0"}
    found = refusals([process, *noted], AROUND)
    for one in found:
        json.dumps(one.document()).encode("utf-8")
        one.target.encode("utf-8")
        assert one.allow is None or (one.allow.flag and one.allow.policy)
    lines = refusal_lines(Result(("true",), 1, "exited", refusals=found), verbose=True, width=80)
    assert all(line.isprintable() for line in lines)


def test_events_of_calls_that_reach_nothing_are_left_out() -> None:
    event = {
        "event": "refused", "call": syscalls.number("connect", ARCH), "by": "n", "process": -1,
        "count": 1, "at_us": 0, "args": "3 0 2 0 0 0", "text": "\2\0\0\1", "other": "",
    }  # fmt: skip
    assert refusals([event], AROUND) == ()


@pytest.mark.parametrize(
    ("name", "action", "option"),
    [
        ("setxattr", "change", "--write"), ("setxattrat", "change", "--write"),
        ("removexattrat", "change", "--write"), ("file_setattr", "change", "--write"),
        ("getxattr", "stat", "--read"), ("getxattrat", "stat", "--read"),
        ("listxattrat", "stat", "--read"), ("file_getattr", "stat", "--read"),
    ],
)  # fmt: skip
def test_a_newer_call_is_refused_in_the_words_of_the_older(
    name: str, action: str, option: str, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.touch()
    event = {
        "event": "refused", "call": syscalls.number(name, ARCH), "by": "m", "process": -1,
        "count": 1, "at_us": 0, "args": "0 0 0 0 0 0", "text": str(file), "other": "",
    }  # fmt: skip
    (found,) = refusals([event], AROUND)
    assert found.action == action
    assert found.allow is not None
    assert found.allow.flag == f"{option} {file}"


def test_the_host_is_looked_at_without_following_links_in_proc() -> None:
    assert exists("/usr/bin/../bin")
    assert real_path("/proc/self/exe") is None
    assert not exists("/dev/fd/0")
    assert not exists("/usr/bin/no-such-program")
    assert not exists("/bin/\udcff\0")
    assert isinstance(distant_places(), frozenset)


def a_refusal(
    target: str, process: str = "python3 x.py", flag: str | None = "--net host"
) -> Refusal:
    allow = Allow(flag, "") if flag else None
    return Refusal(
        "file", "read", target, Caller(2, process), "not shared with the run", allow=allow
    )


def lines_of(*found: Refusal, width: int, exit_code: int = 1, verbose: int = 0) -> list[str]:
    result = weighed(Result(("x",), exit_code, "exited", refusals=found))
    return refusal_lines(result, verbose=verbose, width=width)


def test_a_line_each_where_there_is_room() -> None:
    assert lines_of(a_refusal("/a"), a_refusal("/long/path"), width=100) == [
        "wardian: 2 accesses were blocked, likely cause first",
        "  file  read /a          python3 x.py  not shared with the run  allow: --net host",
        "  file  read /long/path  python3 x.py  not shared with the run  allow: --net host",
    ]


def test_short_lines_where_there_is_not() -> None:
    other = a_refusal("/etc/shadow", "cat /etc/shadow", None)
    assert lines_of(a_refusal("/a"), a_refusal("/long/path"), other, width=60) == [
        "wardian: 3 accesses were blocked, likely cause first",
        "  file  read /a           python3 x.py",
        "  file  read /long/path   python3 x.py",
        "        not shared with the run  allow: --net host",
        "  file  read /etc/shadow  cat /etc/shadow",
        "        not shared with the run",
    ]


def test_nothing_is_wider_than_the_terminal_but_what_is_there_to_be_copied() -> None:
    found = a_refusal("/srv/" + "d/" * 60 + "f", "sh -c " + "x" * 90, "--read " + "y" * 90)
    lines = lines_of(found, width=72)
    assert [
        line for line in lines if len(line) > 72 and "allow" not in line and "/srv" not in line
    ] == []
    assert f"allow: --read {'y' * 90}" in lines[-1]


def test_one_line_when_nothing_failed_and_none_for_what_is_no_news() -> None:
    news = "wardian: 1 access was blocked (-v for details)"
    assert lines_of(a_refusal("/root/x"), width=80, exit_code=0) == [news]
    assert lines_of(a_refusal("/etc/gitconfig"), width=80, exit_code=0) == []
    assert lines_of(a_refusal("/etc/ld.so.preload"), width=80) == []
    assert "/etc/gitconfig" in lines_of(a_refusal("/etc/gitconfig"), width=80)[0]


def test_what_is_shown_to_be_pasted_survives_a_shell() -> None:
    name = "/tmp/two\nlines it's"
    (line,) = [
        part
        for part in lines_of(
            a_refusal("/a", flag=f"--read '{name}'".replace("it's", "it'\"'\"'s")), width=200
        )
        if "allow" in part
    ]
    shown = line.partition("allow: ")[2]
    import subprocess

    done = subprocess.run(["bash", "-c", f"printf %s {shown}"], capture_output=True, check=True)
    assert done.stdout == b"--read" + os.fsencode(name)


def test_settings_alone_are_a_line_and_no_cause() -> None:
    settings = a_refusal("/etc/profile", "bash -lc x"), a_refusal("~/.profile", "bash -lc x")
    assert lines_of(*settings, width=100) == [
        "wardian: the program looked for files that are not shared: /etc/profile, ~/.profile"
    ]
    assert lines_of(*settings, width=100, exit_code=0) == []
    mixed = lines_of(*settings, a_refusal("/srv/data"), width=200)
    assert mixed[0] == "wardian: 1 access was blocked"
    assert "/srv/data" in mixed[1]
    assert len(mixed) == 2


def test_a_look_at_a_folder_above_settings_is_no_news_after_success() -> None:
    looked = a_refusal("~/.cache")._replace(action="stat")
    assert lines_of(looked, width=100, exit_code=0) == []
    assert lines_of(a_refusal("~/.cache"), width=100, exit_code=0) != []
    made = a_refusal("~/.npm/_cacache/content-v2/sha512")._replace(action="create")
    assert lines_of(made, width=100) == []
