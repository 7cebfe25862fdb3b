"""The column ``effects`` is well formed and fits the arguments, and it alone makes a call known."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import wardian
from tests.refusals.wall import PYTHON
from wardian import syscalls
from wardian.errors import InputError
from wardian.syscalls.conditions import holds, parse_condition
from wardian.syscalls.constants import CONSTANTS
from wardian.syscalls.effects import (
    DESCRIPTORS,
    MARKS,
    PATHS,
    PROCESSES,
    REMEDIES,
    SOCKETS,
    acts,
    fails_anyway,
    parse_effects,
    settings_needed,
)

from .reference import ROWS, TABLE, condition_holds

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "syscall-table.md"
DONE = PATHS | SOCKETS | PROCESSES
# Where the supervisor finds what it is done to, other than by the roles.
FIXED = {
    "connect": {("sockaddr", 1)},
    "bind": {("sockaddr", 1)},
    "send": {("sockaddr", 4), ("msghdr", 1), ("mmsghdr", 1)},
    "signal": {("pid", 0)},
    "reach": {("pid", 0)},
}


def test_every_word_and_mark_is_used_and_every_used_one_is_known() -> None:
    used = {act.word for row in syscalls.rows() for act in acts(row.name)}
    assert used == {*DONE, *REMEDIES, DESCRIPTORS}
    marks = {act.mark for row in syscalls.rows() for act in acts(row.name) if act.word in DONE}
    assert marks == {*MARKS, ""}


def test_a_row_does_one_thing_at_most_besides_making_descriptors() -> None:
    for row in syscalls.rows():
        assert sum(act.word in DONE for act in acts(row.name)) <= 1, row


def test_what_is_done_fits_the_arguments() -> None:
    for row in syscalls.rows():
        for act in acts(row.name):
            if act.word in PATHS:
                wanted = 2 if act.word in ("rename", "link") else 1
                assert row.arguments.count("path") == wanted, row
            if act.word in FIXED:
                found = {(role, place) for place, role in enumerate(row.arguments)}
                assert found & FIXED[act.word], row


def test_only_what_the_filter_may_refuse_has_no_remedy() -> None:
    for row in syscalls.rows():
        if any(act.word in REMEDIES for act in acts(row.name)):
            assert row.kind in ("deny", "when"), row


def test_the_page_explains_every_word_and_mark() -> None:
    page = PAGE.read_text(encoding="utf-8")
    meanings = {word: meaning for word, (_, meaning) in DONE.items()} | REMEDIES | MARKS
    for word, meaning in meanings.items():
        assert f"| `{word}` | {meaning} |" in page


@pytest.mark.parametrize(
    "text",
    [
        "",
        "shout",
        "stat loudly",
        "fd nofollow",
        "fails nofollow",
        "stat;fd",
        "setting kernel/x",
        "setting kernel/x<=high",
        "stat when arg0 == 0",
        "fails when arg0 == 0 unless arg1 == 0",
    ],
)
def test_what_is_not_of_the_language_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_effects(text)


def test_conditions_hold_as_the_reference_says() -> None:
    values = {0, 1, 2, 3, 10, 2**32, 2**63 + 1, *CONSTANTS.values()}
    checked = 0
    for row in ROWS:
        for act in parse_effects(row["effects"]):
            for condition in filter(None, (act.when, act.unless)):
                for value in values:
                    for args in ((value,) * 6, (value, 1, 1, 1, 1, 1), (1, value, 1, 1, 1, 1)):
                        said = condition_holds(condition, args)
                        assert holds(parse_condition(condition), args) == said, (row, args)
                        checked += 1
    assert checked > 1000


def test_a_part_of_what_a_call_does_can_be_had() -> None:
    assert fails_anyway("mknod", [0, 0o020644, 0, 0, 0, 0])
    assert not fails_anyway("mknod", [0, 0o104755, 0, 0, 0, 0])
    (needed,) = settings_needed("ioctl", [0, 0x5412, 0, 0, 0, 0])
    assert needed == ("dev/tty/legacy_tiocsti", ">=", 1)
    assert not list(settings_needed("ioctl", [0, 0x5423, 0, 0, 0, 0]))


# Adding a syscall is adding a row

NUMBER = 1000  # no kernel's
ROW = f"frobat\t{NUMBER}\t{NUMBER}\tfiles\tallow\tdirfd path\twrite\tFrobs a file.\n"
PROGRAM = f"""
import json, os, sys
from wardian import Policy, Sandbox
from wardian.learn.needs import needs_of
from wardian.observe.trace import traced
from wardian.sandbox.policy.policy import Share
from wardian.syscalls.watching import unless

path = sys.argv[1]
code = "import ctypes; ctypes.CDLL(None).syscall({NUMBER}, -100, %r)" % os.fsencode(path)
command = [{PYTHON!r}, "-I", "-S", "-c", code]
with Sandbox.create() as sandbox:
    refusals = sandbox.run(command).refusals
with Sandbox.create(Policy.default().with_shares([Share(path, path, True)])) as sandbox:
    trace = traced(sandbox, command)
print(json.dumps({{
    "watched": "frobat" in unless("changes"),
    "refused": [
        [one.kind, one.action, one.allow and one.allow.flag]
        for one in refusals if one.target == path
    ],
    "made": [one.name for one in trace.syscalls if one.name in ("frobat", "syscall_{NUMBER}")],
    "learned": sorted(needs_of(trace).files.get(path, ())),
}}))
"""


def in_a_copy(tmp_path: Path, table: str) -> dict[str, object]:
    """What a wardian with this table makes of a call with a number of the table's own."""
    shutil.copytree(Path(wardian.__file__).parent, tmp_path / "wardian")
    (tmp_path / "wardian" / "syscalls" / "table.tsv").write_text(table, encoding="utf-8")
    file = tmp_path / "file"
    file.touch()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, file],
        env=os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_row_is_enough_for_a_call_to_be_watched_refused_and_learned(tmp_path: Path) -> None:
    assert in_a_copy(tmp_path, TABLE.read_text(encoding="utf-8") + ROW) == {
        "watched": True,
        "refused": [["file", "write", f"--write {tmp_path / 'file'}"]],
        "made": ["frobat"],
        "learned": ["written"],
    }


def test_without_the_row_nothing_is_known_of_the_call(tmp_path: Path) -> None:
    found = in_a_copy(tmp_path, TABLE.read_text(encoding="utf-8"))
    assert not found["watched"]
    assert not found["refused"]
    assert not found["learned"]
