"""What programs print: googletest's lines among other people's, TAP, exit codes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardian.measure.suites import gtest, lines
from wardian.measure.suites.selection import Selection, parse_shard

LIST = b"""Running main() from gtest_main.cc
Plain.
  Passes
  DISABLED_Waits
Few/Values.
  AreSmall/0  # GetParam() = 0
  AreSmall/1  # GetParam() = "a  # b"
Widths/0.  # TypeParam = char
  AreWide
DISABLED_Whole.
  Suite
Few/DISABLED_Values.
  Are/0  # GetParam() = 0
"""


def test_the_list_shows_suites_parameters_types_and_what_is_disabled() -> None:
    found = {one.name: one for one in gtest.parse_list(LIST)}
    assert list(found) == [
        "Plain.Passes", "Plain.DISABLED_Waits", "Few/Values.AreSmall/0", "Few/Values.AreSmall/1",
        "Widths/0.AreWide", "DISABLED_Whole.Suite", "Few/DISABLED_Values.Are/0",
    ]  # fmt: skip
    assert found["Few/Values.AreSmall/0"].parameter == "0"
    assert found["Widths/0.AreWide"].parameter == "char"
    disabled = [name for name, one in found.items() if one.disabled]
    assert disabled == [
        "Plain.DISABLED_Waits", "DISABLED_Whole.Suite", "Few/DISABLED_Values.Are/0",
    ]  # fmt: skip


def followed(
    *pieces: bytes, known: tuple[str, ...] = ("A.One", "A.Two", "A.Three")
) -> gtest.Stream:
    stream = gtest.Stream(known)
    for at, piece in enumerate(pieces):
        stream.feed(piece, float(at))
    stream.close(float(len(pieces)))
    return stream


def ended(stream: gtest.Stream) -> dict[str, str]:
    return {name: one.status for name, one in stream.ended.items()}


@pytest.mark.parametrize(
    ("reported", "status"),
    [
        (b"[       OK ] A.One (0 ms)\n", "passed"),
        (b"no line end[       OK ] A.One (12 ms)\n", "passed"),
        (b"\x00\xff[  FAILED  ] A.One (0 ms)\n", "failed"),
        (b"[  FAILED  ] A.One, where GetParam() = 3 (0 ms)\n", "failed"),
        (b"[  FAILED  ] A.One, where GetParam() = two\nlines (0 ms)\n", "failed"),
        (b"[  FAILED  ] A.One, where TypeParam = int (0 ms)\n", "failed"),
        (b"[  SKIPPED ] A.One (0 ms)\n", "skipped"),
        (b"[       OK ] A.One (0 ms)", "passed"),
    ],
)
def test_a_case_ends_however_its_last_line_looks(reported: bytes, status: str) -> None:
    stream = followed(b"[ RUN      ] A.One\nsaid\n" + reported)
    assert ended(stream) == {"A.One": status}
    assert stream.current is None


def test_a_case_that_has_not_ended_is_the_current_one_with_what_it_said() -> None:
    stream = followed(
        b"[ RUN      ] A.One\n", b"[       OK ] A.One (0 ms)\n[ RUN      ] A.Two\nlast"
    )
    assert (stream.current, stream.running_output) == ("A.Two", b"last\n")
    assert (stream.ended["A.One"].began_s, stream.ended["A.One"].ended_s) == (0.0, 1.0)


def test_lines_of_cases_that_are_not_listed_are_only_output() -> None:
    text = b"[ RUN      ] A.One\n[ RUN      ] Z.Z\n[       OK ] Z.Z (0 ms)\n[  FAILED  ] A.Two\n"
    stream = followed(text + b"[       OK ] A.One (0 ms)\n")
    assert ended(stream) == {"A.One": "passed"}
    assert b"Z.Z" in stream.ended["A.One"].output


def test_the_summary_at_the_end_changes_nothing() -> None:
    text = b"[ RUN      ] A.One\n[       OK ] A.One (0 ms)\n[==========] ran.\n[  FAILED  ] A.One\n"
    assert ended(followed(text)) == {"A.One": "passed"}


def test_a_child_that_runs_on_can_make_it_worse_and_not_better() -> None:
    again = b"[ RUN      ] A.One\n[  FAILED  ] A.One (0 ms)\n[       OK ] A.One (0 ms)\n"
    assert ended(followed(again)) == {"A.One": "failed"}
    twice = b"[ RUN      ] A.One\n[       OK ] A.One (0 ms)\n[  FAILED  ] A.One (0 ms)\n"
    assert ended(followed(twice)) == {"A.One": "failed"}


def test_an_endless_line_takes_no_memory() -> None:
    stream = gtest.Stream(("A.One",), keep_bytes=1024)
    stream.feed(b"[ RUN      ] A.One\n", 0.0)
    for _ in range(400):
        stream.feed(b"x" * 10_000, 0.0)
    stream.feed(b"[       OK ] A.One (0 ms)\n", 1.0)
    assert ended(stream) == {"A.One": "passed"}
    assert len(stream.ended["A.One"].output) < 4096


@given(st.lists(st.integers(1, 40), max_size=60))
def test_it_does_not_matter_how_the_stream_is_cut(cuts: list[int]) -> None:
    text = b"".join(
        b"[ RUN      ] A.%b\nsaid \xff\n[       OK ] A.%b (0 ms)\n" % (name, name)
        for name in (b"One", b"Two", b"Three")
    )
    pieces, at = [], 0
    for cut in cuts:
        pieces.append(text[at : at + cut])
        at += cut
    stream = followed(*pieces, text[at:])
    assert ended(stream) == dict.fromkeys(("A.One", "A.Two", "A.Three"), "passed")
    assert all(one.output == b"said \xff\n" for one in stream.ended.values())


@given(st.binary(max_size=400))
def test_garbage_never_ends_anything(garbage: bytes) -> None:
    stream = followed(b"[ RUN      ] A.One\n", garbage, b"\n[       OK ] A.One (0 ms)\n")
    assert ended(stream)["A.One"] in ("passed", "failed", "skipped")


def test_filters_name_whole_suites_and_stay_short() -> None:
    every = [f"{'L' * 50}/S.case/{n}" for n in range(5000)] + ["T.a", "T.b"]
    assert gtest.filters(every, every) == [(f"{'L' * 50}/S.*:T.*", every)]
    found = gtest.filters(every[1:-1], every)
    assert [name for _, names in found for name in names] == every[1:-1]
    assert len(found) > 1
    assert all(len(pattern) <= gtest.MAX_FILTER_BYTES for pattern, _ in found)


def test_the_report_is_read_with_care() -> None:
    case = {"name": "One", "status": "RUN", "result": "COMPLETED", "time": "0.5s"}
    bad = {**case, "name": "Two", "failures": [{"failure": "f.cc:1\nno"}, 7]}
    skipped = {**case, "name": "Three", "result": "SKIPPED", "time": "soon"}
    off = {**case, "name": "Four", "status": "NOTRUN"}
    suite = {"name": "A", "testsuite": [case, bad, skipped, off, None]}
    found = gtest.parse_report({"testsuites": [suite, "x", {"name": "B"}]})
    assert {name: one.status for name, one in found.items()} == {
        "A.One": "passed", "A.Two": "failed", "A.Three": "skipped",
    }  # fmt: skip
    assert found["A.One"].seconds == 0.5
    for odd in ([], None, {"testsuites": {"a": 1}}, {"testsuites": [{"testsuite": 3}]}):
        assert gtest.parse_report(json.loads(json.dumps(odd))) == {}


# TAP and exit codes

TAP = """TAP version 13
1..6
ok 1 opens
# about closing
not ok 2 - closes
ok 3 seeks # SKIP no such device
not ok 4 locks # TODO some day
    ok 1 - a subtest
ok 5 opens
ok
"""


def test_points_of_tap_have_names_and_statuses() -> None:
    points, planned = lines.parse_tap(TAP)
    assert planned == 6
    assert [(one.case, one.status) for one in points] == [
        ("opens", "passed"), ("closes", "failed"), ("seeks", "skipped"), ("locks", "skipped"),
        ("opens #2", "passed"), ("6", "passed"),
    ]  # fmt: skip
    assert points[1].output == "# about closing"
    assert points[2].detail == "no such device"


@pytest.mark.parametrize(
    ("text", "end", "expected"),
    [
        ("TAP version 13\n1..1\nok 1 a\n", lines.ProgramEnd(0), [("a", "passed")]),
        (
            "1..2\nok 1 a\n",
            lines.ProgramEnd(0),
            [("a", "passed"), ("(program)", "failed"), ("3", "not_run")],
        ),
        ("1..1\nok 1 a\n", lines.ProgramEnd(139, 11), [("a", "passed"), ("(program)", "crashed")]),
        ("1..1\nok 1 a\n", lines.ProgramEnd(3), [("a", "passed"), ("(program)", "failed")]),
        ("1..1\nnot ok 1 a\n", lines.ProgramEnd(1), [("a", "failed")]),
        ("1..0 # SKIP no such device\n", lines.ProgramEnd(4), [("(program)", "skipped")]),
        ("TAP version 13\n", lines.ProgramEnd(0), [("(program)", "failed")]),
    ],
)
def test_what_was_planned_and_never_came_is_reported(
    text: str, end: lines.End, expected: list[tuple[str, str]]
) -> None:
    assert [(one.case, one.status) for one in lines.judge_tap(text, end)] == expected


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (lines.ProgramEnd(0), "passed"),
        (lines.ProgramEnd(1), "failed"),
        (lines.ProgramEnd(4), "skipped"),
        (lines.ProgramEnd(32), "skipped"),
        (lines.ProgramEnd(77), "skipped"),
        (lines.ProgramEnd(139, 11), "crashed"),
        (lines.ProgramEnd(137, None, "memory limit"), "crashed"),
    ],
)
def test_an_exit_code_is_a_status(end: lines.End, status: str) -> None:
    assert lines.judge_exit(end)[0] == status


# Which cases are wanted


@given(st.integers(1, 9), st.lists(st.text("abc./", min_size=1), unique=True))
def test_every_case_is_in_exactly_one_shard(shards: int, cases: list[str]) -> None:
    parts = [
        [one for one in cases if Selection(shard=i, shards=shards).wants("p", one)]
        for i in range(1, shards + 1)
    ]
    assert sorted(one for part in parts for one in part) == sorted(cases)


def test_a_glob_names_a_case_a_program_or_both() -> None:
    for glob in ("A.*", "p_test", "p_test:A.One", "*:*One"):
        assert Selection((glob,)).wants("p_test", "A.One")
        assert not Selection((), (glob,)).wants("p_test", "A.One")
    assert not Selection(("B.*",)).wants("p_test", "A.One")


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2", "1/2/3"])
def test_a_shard_that_is_none_is_an_error(text: str) -> None:
    with pytest.raises(Exception, match="--shard"):
        parse_shard(text)
