"""What shows how far a command is: a bar with an estimate on a terminal, lines in a pipe, nothing
with -q; and never a byte of it on standard output."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.watched import Watched
from tests.command import Wardian, environment
from wardian.cli.progress import LINE_S, bar, duration

# A command of its own that takes a second, with the interval of its lines as an argument.
WORK = """
import sys, time
from wardian.cli.progress import Progress
with Progress("work", 10, bad="wrong", line_s=float(sys.argv[1]), quiet=len(sys.argv) > 2) as it:
    for i in range(10):
        time.sleep(0.1)
        it.advance(bad=i == 2, note=f"part {i}")
        if i == 4:
            it.say("a line that stays")
print("data")
"""


def work(*args: str, stderr: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WORK, *args],
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        env=environment(TERM="xterm"),
        timeout=60,
        check=True,
    )


def work_on_a_pty(*args: str) -> tuple[str, str]:
    """Standard output, and what appeared on the terminal."""
    mine, theirs = pty.openpty()
    done = work(*args, stderr=theirs)
    os.set_blocking(mine, False)
    seen = os.read(mine, 1 << 20).decode()
    os.close(mine)
    os.close(theirs)
    return done.stdout, seen


def test_a_terminal_gets_a_bar_with_an_estimate_that_goes_when_it_is_done() -> None:
    printed, seen = work_on_a_pty("10")
    assert printed == "data\n"
    assert re.search(r"\r\[#####+\.+\] \d/10, 1 wrong, about \d s left  part \d\x1b\[K", seen)
    assert "a line that stays\r\n" in seen
    assert seen.endswith("\r\x1b[K")  # nothing of the bar is left


def test_a_pipe_gets_a_line_after_each_interval_and_no_control_characters() -> None:
    done = work("0.25")
    lines = done.stderr.splitlines()
    assert "a line that stays" in lines
    every = [line for line in lines if line.startswith("wardian: work: ")]
    assert 1 <= len(every) <= 8
    assert re.fullmatch(r"wardian: work: \d/10, (1 wrong, )?about \d s left: part \d", every[-1])
    assert not {"\r", "\x1b"} & set(done.stderr)
    assert done.stdout == "data\n"


def test_a_pipe_gets_nothing_before_the_interval_is_over() -> None:
    assert work("10").stderr == "a line that stays\n"


def test_quiet_is_silent_everywhere() -> None:
    assert work("0.1", "quiet").stderr == ""
    mine, theirs = pty.openpty()
    work("0.1", "quiet", stderr=theirs)
    os.close(theirs)
    with pytest.raises(OSError, match="Input/output"):  # at its end, without a byte
        os.read(mine, 1)
    os.close(mine)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (59.4, "59 s"), (61, "1 min 1 s"), (3600, "1 h 0 min"), (-5, "0 s")],
)
def test_durations_are_short(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_bar_is_as_full_as_the_share_and_wanders_without_one() -> None:
    assert bar(0.0) == f"[{'.' * 24}]"
    assert bar(0.5) == f"[{'#' * 12}{'.' * 12}]"
    assert bar(1.0) == f"[{'#' * 24}]"
    assert len({bar(None, at / 2) for at in range(24)}) == 24


# Commands


def test_probes_on_a_terminal_show_a_bar_with_an_estimate(tmp_path: Path) -> None:
    with Watched("probe", "run", "core__time__*", "--artifacts", "out", cwd=tmp_path) as run:
        code, seen = run.end()
    assert code == 0
    assert re.search(r"\[#+\.+\] \d+/14, about \d+ (s|min \d+ s) left", seen)


def test_learning_shows_its_runs(tmp_path: Path) -> None:
    with Watched("learn", "-o", "p.toml", "--", "sleep", "1", cwd=tmp_path) as run:
        run.until("] 0/2 runs, ")
        run.until("] 1/2 runs, about ")
        code, _ = run.end()
    assert code == 0
    assert (tmp_path / "p.toml").exists()


def test_in_a_pipe_a_line_comes_after_ten_seconds(tmp_path: Path) -> None:
    assert LINE_S == 10
    words = ("probe", "fuzz", "--seconds", "12", "--artifacts", "a", "-o", "news")
    with Watched(*words, cwd=tmp_path, tty=False) as run:
        _, seen = run.end()
    lines = [line for line in seen.splitlines() if line.startswith("wardian: probe fuzz: ")]
    assert lines
    assert re.search(r"\d+ programs, \d+/s, .*about \d+ s left|\d+ s so far", lines[0])


@pytest.mark.parametrize(
    "words",
    [
        ("probe", "run", "core__time__sleep", "--artifacts", "out"),
        ("doctor",),
        ("cache", "size"),
    ],
)
def test_quiet_commands_print_data_only(words: tuple[str, ...], wardian: Wardian) -> None:
    loud, quiet = wardian(*words), wardian(*words, "-q")
    assert quiet.stderr == ""
    assert quiet.returncode == loud.returncode
    assert bool(quiet.stdout) == bool(loud.stdout)


def test_errors_are_printed_even_if_it_is_quiet(wardian: Wardian) -> None:
    done = wardian("probe", "run", "nothing-is-called-this", "-q")
    assert done.returncode == 3
    assert done.stderr.startswith("error: no specimen matches")
