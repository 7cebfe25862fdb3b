"""``wardian log``: listing, finding and showing records, and removing old ones."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.skill_folders import MakeSkill
from wardian.observe import journal

from .conftest import Wardian, document, only


def recorded(wardian: Wardian, records: Path, *words: str) -> str:
    """Record a run; returns its letters."""
    before = set(records.iterdir()) if records.exists() else set()
    wardian("exec", "--record", records, "--", *words)
    (new,) = set(records.iterdir()) - before
    return new.name.rpartition("-")[2]


def rename(records: Path, letters: str, name: str) -> Path:
    """Give a record another ID, as if it had been made at another time."""
    (old,) = records.glob(f"*-{letters}")
    reported = document(old)
    (old / "record.json").write_text(json.dumps(reported | {"id": name}))
    return old.rename(records / name)


def log(wardian: Wardian, records: Path, *args: object) -> dict[str, Any]:
    done = wardian("log", *args, "--json", "--dir", records)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_runs_are_listed_newest_first(wardian: Wardian, records: Path) -> None:
    letters = [recorded(wardian, records, "sh", "-c", f"exit {code}") for code in range(3)]
    done = wardian("log", "--dir", records)
    assert done.returncode == 0
    lines = done.stdout.decode().splitlines()
    assert [line.split()[0] for line in lines] == letters[::-1]
    assert "exit 2" in lines[0]
    assert "sh -c 'exit 2'" in lines[0]
    runs = log(wardian, records)["runs"]
    assert [run["exit_code"] for run in runs] == [2, 1, 0]
    assert [run["command"] for run in runs] == [["sh", "-c", f"exit {c}"] for c in (2, 1, 0)]


def test_the_list_can_be_short_and_hold_failures_only(wardian: Wardian, records: Path) -> None:
    for code in (0, 1, 0, 2):
        recorded(wardian, records, "sh", "-c", f"exit {code}")
    assert [run["exit_code"] for run in log(wardian, records, "-n", 2)["runs"]] == [2, 0]
    assert [run["exit_code"] for run in log(wardian, records, "--failed")["runs"]] == [2, 1]
    failed = log(wardian, records, "--failed", "-n", 1)["runs"]
    assert [run["exit_code"] for run in failed] == [2]


def test_an_unusual_end_and_refusals_are_reported(wardian: Wardian, records: Path) -> None:
    wardian("exec", "--record", records, "--time", "200ms", "--", "sleep", "60")
    code = "import ctypes; ctypes.CDLL(None).ptrace(16, 1, 0, 0)"
    wardian("exec", "--record", records, "--", "/usr/bin/python3", "-c", code)
    newest, oldest = wardian("log", "--dir", records).stdout.decode().splitlines()
    assert "(time limit)" in oldest
    assert " refused" in newest
    assert "ptrace" in wardian("log", "show", "last", "--dir", records).stdout.decode()


def test_one_run_is_shown_in_plain_words(
    wardian: Wardian, records: Path, make_skill: MakeSkill
) -> None:
    skill = make_skill({"scripts/a.sh": "echo hello; exit 4\n"})
    wardian("run", skill, "a.sh", "--record", records, "--env", "MODE=testing")
    letters = only(records).name.rpartition("-")[2]
    shown = wardian("log", "show", letters, "--dir", records).stdout.decode()
    kept = document(only(records))
    for part in ("exit 4", "demo", "scripts/a.sh", kept["skill"]["digest"], kept["policy_digest"],
                 kept["program"]["digest"], "MODE", "stdout 6 bytes", str(only(records)),
                 f"uid {os.getuid()}"):  # fmt: skip
        assert part in shown
    assert "hello" not in shown
    with_output = wardian("log", "show", letters, "--output", "--dir", records).stdout.decode()
    assert "stdout:\n  hello\n" in with_output


def test_one_run_is_shown_as_a_document(wardian: Wardian, records: Path) -> None:
    recorded(wardian, records, "printf", r"a\377")
    shown = log(wardian, records, "show", "last", "--output")
    assert shown["record"] == document(only(records))
    assert shown["result"] == json.loads((only(records) / "result.json").read_text())
    assert (shown["stdout"], shown["stdout_base64"]) == ("a�", "Yf8=")
    assert "stdout" not in log(wardian, records, "show", "last")


def test_what_was_printed_can_not_reach_the_terminal(wardian: Wardian, records: Path) -> None:
    hostile = r"\033]0;title\007\033[2J\x9b31m\302\2332J\342\200\256rtl\r\b\177\377"
    recorded(wardian, records, "printf", hostile)
    wardian("exec", "--record", records, "--", "sh", "-c", "printf '\033[2J' >&2; exit 3\033[31m")
    for args in (("log",), ("log", "show", "last", "--output")):
        done = wardian(*args, "--dir", records)
        assert done.returncode == 0
        for letter in done.stdout.decode():
            assert letter.isprintable() or letter == "\n", ascii(letter)
    (oldest, _) = sorted(path.name for path in records.iterdir())
    shown = wardian("log", "show", oldest, "--output", "--dir", records).stdout.decode()
    assert r"\x1b]0;title\x07\x1b[2J" in shown
    assert r"\u202ertl" in shown
    assert r"\xff" in shown


@pytest.mark.parametrize("given", ["{id}", "{letters}", "{letters:.5}", "last", "{id:.24}"])
def test_a_run_is_found_by_its_beginning(wardian: Wardian, records: Path, given: str) -> None:
    recorded(wardian, records, "true")
    name = only(records).name
    name_or_part = given.format(id=name, letters=name.rpartition("-")[2])
    assert log(wardian, records, "show", name_or_part)["id"] == name


def test_a_beginning_of_several_runs_is_2_and_of_none_is_3(wardian: Wardian, records: Path) -> None:
    first = recorded(wardian, records, "true")
    second = recorded(wardian, records, "true")
    rename(records, first, "20260101-000000.000-bcd234")
    rename(records, second, "20260101-000000.001-bcd567")
    for given in ("b", "bcd", "2026", "20260101-000000.00"):
        done = wardian("log", "show", given, "--dir", records)
        assert done.returncode == 2
        assert b"bcd234" in done.stderr
        assert b"bcd567" in done.stderr
    for given in ("bcd235", "zzz", "1999", "", "../records"):
        assert wardian("log", "show", given, "--dir", records).returncode == 3
    assert wardian("log", "show", "bcd2", "--dir", records).returncode == 0


def test_nothing_recorded_is_3_and_no_directory_is_2(
    wardian: Wardian, records: Path, tmp_path: Path
) -> None:
    records.mkdir()
    assert wardian("log", "--dir", records).returncode == 3
    assert wardian("log", "--dir", records, "--failed").returncode == 3
    assert wardian("log", "show", "last", "--dir", records).returncode == 3
    for args in (("log",), ("log", "prune", "--keep", "0"), ("log", "show", "last")):
        done = wardian(*args, "--dir", records, "--json")
        assert done.returncode == 3
        json.loads(done.stdout)
    assert wardian("log", "--dir", tmp_path / "nonesuch").returncode == 2
    assert wardian("log").returncode == 2
    unmade = str(tmp_path / "unmade")
    assert wardian("log", env={"WARDIAN_RECORD": unmade}).returncode == 3


def test_dir_may_stand_before_the_word_show_too(wardian: Wardian, records: Path) -> None:
    recorded(wardian, records, "true")
    assert wardian("log", "--dir", records, "show", "last").returncode == 0
    assert wardian("log", "show", "last", env={"WARDIAN_RECORD": str(records)}).returncode == 0


# Damage


def damaged(path: Path, kind: str) -> None:
    target = path / "record.json"
    whole = json.loads(target.read_text())
    target.unlink()
    if kind == "empty":
        target.write_bytes(b"")
    elif kind == "cut":
        target.write_text(json.dumps(whole)[:100])
    elif kind == "deep":
        target.write_text("[" * 200_000)
    elif kind == "other type":
        target.write_text(json.dumps(whole | {"command": 7}))
    elif kind == "other version":
        target.write_text(json.dumps(whole | {"schema": "wardian.record/9"}))
    elif kind == "link":
        target.symlink_to("/etc/passwd")
    elif kind == "pipe":
        os.mkfifo(target)
    elif kind == "no text":
        target.write_bytes(b"\xff\xfe{}")


@pytest.mark.parametrize(
    "kind",
    ["missing", "empty", "cut", "deep", "other type", "other version", "link", "pipe", "no text"],
)
def test_a_damaged_record_is_reported_and_the_others_are_listed(
    wardian: Wardian, records: Path, kind: str
) -> None:
    letters = recorded(wardian, records, "true")
    damaged(only(records), kind)
    good = recorded(wardian, records, "true")
    runs = log(wardian, records)["runs"]
    assert {run["id"][-6:]: run["state"] for run in runs} == {letters: "damaged", good: "ended"}
    done = wardian("log", "show", letters, "--dir", records)
    assert done.returncode == 0
    assert b"is damaged" in done.stdout
    assert b"Traceback" not in done.stderr
    assert wardian("log", "prune", "--keep", 1, "--dir", records).returncode == 0
    assert [path.name[-6:] for path in records.iterdir()] == [good]


@pytest.mark.parametrize("content", [b"", b"[1]", b'{"refusals": 3, "usage": []}', b"\xff"])
def test_a_damaged_result_is_an_error_without_a_traceback(
    wardian: Wardian, records: Path, content: bytes
) -> None:
    recorded(wardian, records, "true")
    (only(records) / "result.json").write_bytes(content)
    done = wardian("log", "show", "last", "--dir", records)
    assert done.returncode == (0 if content.startswith(b"{") else 125)
    assert b"Traceback" not in done.stderr


def test_a_result_with_refusals_of_any_shape_is_shown(wardian: Wardian, records: Path) -> None:
    recorded(wardian, records, "true")
    refusals = [
        {"kind": "file", "action": "read", "target": "/home/x/.aws", "reason": "not shared",
         "process": {"pid": 7, "command": ["python3", "x.py"], "parents": []}, "count": 2,
         "allow": {"flag": "--read /home/x/.aws", "policy": "[files]"}},
        {"kind": "syscall", "action": "mount", "process": "python3", "allow": None},
        {}, 7, None,
    ]  # fmt: skip
    (only(records) / "result.json").write_text(json.dumps({"refusals": refusals}))
    shown = wardian("log", "show", "last", "--dir", records).stdout.decode()
    assert "file  read /home/x/.aws ×2  python3 x.py  not shared" in shown
    assert "allow: --read /home/x/.aws" in shown
    assert "syscall  mount  python3" in shown


def test_what_is_no_record_is_left_alone(wardian: Wardian, records: Path, tmp_path: Path) -> None:
    recorded(wardian, records, "true")
    (records / "notes").mkdir()
    (records / "20260101-000000.000-bcd234").symlink_to(tmp_path)
    (records / "20260101-000000.001-bcd234").write_text("a file")
    (records / "20269999-000000.001-bcd234").mkdir()
    (records / "20260101-000000.001-bcd2345").mkdir()
    assert len(log(wardian, records)["runs"]) == 1
    wardian("log", "prune", "--keep", 0, "--dir", records)
    assert len(list(records.iterdir())) == 5
    assert tmp_path.exists()


# Pruning


def old(age_s: float, letters: str) -> str:
    made = journal.new_id(time.time() - age_s)
    return made[: -len(letters)] + letters


def three(wardian: Wardian, records: Path) -> None:
    day = 86400
    for age, letters in ((40 * day, "bbbbbb"), (10 * day, "cccccc"), (0, "dddddd")):
        rename(records, recorded(wardian, records, "true"), old(age, letters))


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (("--older", "30d"), {"cccccc", "dddddd"}),
        (("--older", "5d"), {"dddddd"}),
        (("--keep", "2"), {"cccccc", "dddddd"}),
        (("--keep", "0"), set()),
        (("--keep", "2", "--older", "5d"), {"cccccc", "dddddd"}),
        (("--keep", "0", "--older", "5d"), {"dddddd"}),
        (("--older", "5d", "--dry-run"), {"bbbbbb", "cccccc", "dddddd"}),
    ],
)
def test_old_runs_are_removed_and_new_ones_kept(
    wardian: Wardian, records: Path, options: tuple[str, ...], left: set[str]
) -> None:
    three(wardian, records)
    done = wardian("log", "prune", *options, "--dir", records, "--json")
    assert done.returncode == 0, done.stderr
    assert {path.name[-6:] for path in records.iterdir()} == left
    removed = {name[-6:] for name in json.loads(done.stdout)["removed"]}
    if "--dry-run" not in options:
        assert removed == {"bbbbbb", "cccccc", "dddddd"} - left


@pytest.mark.parametrize(
    ("options", "code"),
    [((), 2), (("--older", "soon"), 2), (("--older", "none"), 2), (("--keep", "-1"), 2),
     (("--older", "90d"), 3), (("--keep", "3"), 3)],
)  # fmt: skip
def test_pruning_nothing_says_so(
    wardian: Wardian, records: Path, options: tuple[str, ...], code: int
) -> None:
    three(wardian, records)
    assert wardian("log", "prune", *options, "--dir", records).returncode == code
    assert len(list(records.iterdir())) == 3


def test_a_file_of_somebody_elses_in_a_record_is_not_removed(
    wardian: Wardian, records: Path
) -> None:
    recorded(wardian, records, "true")
    (only(records) / "my-notes.txt").write_text("keep me")
    done = wardian("log", "prune", "--keep", "0", "--dir", records)
    assert done.returncode == 3
    assert b"is still there" in done.stderr
    assert (only(records) / "my-notes.txt").read_text() == "keep me"


def test_ids_sort_by_time_and_are_short_to_type() -> None:
    made = [journal.new_id(1_000_000_000 + number / 1000) for number in range(2000)]
    assert sorted(made) == made
    assert all(abs(journal.started_s(one) - 1_000_000_000) < 3 for one in made)
    letters = {one.rpartition("-")[2] for one in made}
    assert len(letters) == 2000
    assert all(len(one) == 6 and one[0].isalpha() for one in letters)
