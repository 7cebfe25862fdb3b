"""Odd environments, directories, words and neighbours: poisoned, empty, huge, nested."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import MakeSandbox
from wardian import Policy, Share

from .doors import DOORS, GUEST, HERE, PYTHON, SOURCES, attempt, environment, refused, stands

pytestmark = pytest.mark.long

each_door = pytest.mark.parametrize("door", DOORS)


def surrounding(*, drop: str = "", **changes: str) -> dict[str, str]:
    env = environment(**changes)
    env.pop(drop, None)
    return env


@each_door
@pytest.mark.parametrize(
    "env",
    [
        surrounding(drop="HOME"),
        surrounding(drop="PATH"),
        {"PYTHONPATH": SOURCES},
        surrounding(HOME="relative"),
        surrounding(HOME="/no/such/home"),
        surrounding(LC_ALL="xx_YY.ISO-8859-99", LANG="nonsense"),
        surrounding(LC_ALL="C", PYTHONUTF8="0"),
        surrounding(TZ=":/etc/passwd", TERM="\x1b[31m", COLUMNS="-1"),
        surrounding(LD_PRELOAD="/no/such/library.so", LD_LIBRARY_PATH="/tmp"),
        surrounding(PYTHONHASHSEED="0", PYTHONOPTIMIZE="2", PYTHONMALLOC="debug"),
        surrounding(PATH=":.:relative::/no/such:/usr/bin:/bin"),
        surrounding(HUGE="x" * 120_000, MORE="y" * 120_000),
        surrounding(**{f"N{n}": "v" for n in range(5000)}),
        surrounding(**{"BAD\udcff": "\udcfe", "NEW\nLINE": "a\nb"}),
        surrounding(TMPDIR="/no/such/tmp"),
        surrounding(TMPDIR=""),
    ],
    ids=[
        *("no HOME", "no PATH", "nothing at all", "relative HOME", "missing HOME", "odd locale"),
        *("C locale", "odd TZ and TERM", "preload", "Python's own", "odd PATH", "huge", "many"),
        *("odd bytes", "missing TMPDIR", "empty TMPDIR"),
    ],
)
def test_whatever_the_environment_all_walls_stand(
    env: dict[str, str], door: str, tmp_path: Path
) -> None:
    outcome = attempt(DOORS[door], tmp_path, [], env=env)
    if door == "api" and env.get("TMPDIR"):
        refused(outcome, "TMPDIR")  # its work directory, which the command has inside instead
    else:
        stands(outcome)


@each_door
def test_a_poisoned_working_directory_is_not_imported_from(door: str, tmp_path: Path) -> None:
    poison = tmp_path / "poison"
    poison.mkdir()
    for name in ("re", "json", "os", "errno", "select", "click", "wardian", "typing", "struct"):
        (poison / f"{name}.py").write_text(
            f"print('OPEN: imported {name}')\nraise SystemExit(99)\n"
        )
    if door == "cli":
        command = shutil.which("wardian", path=os.path.dirname(sys.executable))
        if command is None:
            pytest.skip("the command wardian is not installed beside this Python")
        stands(attempt([command, "exec", "--json", "--"], tmp_path, [], cwd=poison))
    else:
        stands(attempt(DOORS[door], tmp_path, [], cwd=poison))


def test_python_m_wardian_does_not_import_from_the_working_directory(tmp_path: Path) -> None:
    """Whatever wardian itself imports; what Python's own -m imports first is Python's."""
    poison = tmp_path / "poison"
    poison.mkdir()
    for name in ("json", "errno", "select", "click", "struct", "tomllib", "hashlib", "signal"):
        (poison / f"{name}.py").write_text(
            f"print('OPEN: imported {name}')\nraise SystemExit(99)\n"
        )
    stands(attempt(DOORS["cli"], tmp_path, [], cwd=poison))


WORDS = [
    ([""], "empty"),
    (["x" * 100_000], "long"),
    (["a\nb", "\x1b[2J", "-n", "--", "--help"], "control characters and dashes"),
    (["w"] * 10_000, "many"),
]


@each_door
@pytest.mark.parametrize(("words", "name"), WORDS, ids=[name for _, name in WORDS])
def test_odd_words_arrive_as_they_are(
    words: list[str], name: str, door: str, tmp_path: Path
) -> None:
    outcome = attempt(DOORS[door], tmp_path, [], guest=["printf", "%s\\0", *words])
    assert outcome.code == 0, outcome.error
    assert outcome.document["stdout"].split("\0")[: len(words)] == words


@each_door
def test_bytes_that_are_no_text_arrive(door: str, tmp_path: Path) -> None:
    odd = os.fsdecode(b"\xff\xfe\x80")
    outcome = attempt(
        DOORS[door], tmp_path, [], guest=["sh", "-c", "printf %s $1 | wc -c", "x", odd]
    )
    assert outcome.code == 0, outcome.error
    assert outcome.document["stdout"] == "3\n"


@each_door
@pytest.mark.parametrize("program", ["", "no-such-program", "/etc/passwd", "/", "./x"])
def test_a_program_that_is_none_is_told(program: str, door: str, tmp_path: Path) -> None:
    outcome = attempt(DOORS[door], tmp_path, [], guest=[program])
    assert outcome.code in (
        {"": {2, 125, 127}, "/etc/passwd": {126, 127}, "/": {126}}.get(program, {127})
    )


# The launcher itself


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package whose launcher can be harmed."""
    place = tmp_path / "copy"
    shutil.copytree(f"{SOURCES}/wardian", place / "wardian", ignore=shutil.ignore_patterns("*.pyc"))
    return place


@each_door
def test_a_whole_copy_works(door: str, copy: Path, tmp_path: Path) -> None:
    stands(attempt(DOORS[door], tmp_path, [], env=environment(PYTHONPATH=str(copy))))


@each_door
@pytest.mark.parametrize(
    "harm", ["missing", "not executable", "empty", "truncated", "text", "another program", "dir"]
)
def test_a_harmed_launcher_is_told(harm: str, door: str, copy: Path, tmp_path: Path) -> None:
    launcher = copy / "wardian/_bin/wardian-launch"
    whole = launcher.read_bytes()
    launcher.unlink()
    if harm == "not executable":
        launcher.write_bytes(whole)
        launcher.chmod(0o644)
    elif harm == "dir":
        launcher.mkdir()
    elif harm != "missing":
        contents = {"empty": b"", "truncated": whole[: len(whole) // 2], "text": b"hello\n"}
        launcher.write_bytes(contents.get(harm, b'#!/bin/sh\ncat <&3 >/dev/null\nexec "$@"\n'))
        launcher.chmod(0o755)
    outcome = attempt(DOORS[door], tmp_path, [], env=environment(PYTHONPATH=str(copy)))
    refused(outcome)


# Inside other sandboxes


def test_inside_wardian_it_fails_closed(tmp_path: Path, make_sandbox: MakeSandbox) -> None:
    """A sandbox refuses nested namespaces; the inner wardian says so."""
    sources = tmp_path / "sources"
    shutil.copytree(f"{SOURCES}/wardian", sources / "wardian")
    shutil.copytree(HERE, sources / "faults")
    policy = Policy.default().with_shares([Share(str(sources), "/mnt/src")])
    result = make_sandbox(policy).run(
        [PYTHON, "/mnt/src/faults/use.py", *GUEST, "/etc/shadow"],
        env={"PYTHONPATH": "/mnt/src", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert result.exit_code == 125, (result.text, result.stderr)
    assert b"Traceback" not in result.stderr
    assert b"hint: " in result.stderr
    assert b"inside" not in result.stdout


BWRAP = ["bwrap", "--dev-bind", "/", "/", "--die-with-parent"]


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="not installed: bwrap")
@each_door
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--unshare-all"],
        ["--unshare-user"],
        ["--unshare-pid", "--proc", "/proc"],
        ["--unshare-all", "--disable-userns", "--unshare-user"],
        ["--tmpfs", "/sys"],
        ["--tmpfs", "/proc"],
    ],
    ids=" ".join,
)
def test_inside_bubblewrap_all_walls_stand_or_nothing_runs(
    options: list[str], door: str, tmp_path: Path
) -> None:
    can = subprocess.run([*BWRAP, *options, "true"], capture_output=True, check=False)
    if can.returncode:
        pytest.skip(f"bwrap can't: {can.stderr.decode().strip()}")
    outcome = attempt(DOORS[door], tmp_path, [], before=[*BWRAP, *options])
    if outcome.code == 0:
        stands(outcome)
    else:
        refused(outcome)


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="not installed: setpriv")
@each_door
def test_under_no_new_privs_all_walls_stand(door: str, tmp_path: Path) -> None:
    stands(attempt(DOORS[door], tmp_path, [], before=["setpriv", "--no-new-privs"]))
