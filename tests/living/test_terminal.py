"""``exec --sandbox`` on a terminal: a real pty, with the test at its other end."""

from __future__ import annotations

import os
import signal
import termios
from collections.abc import Iterator

import pytest

from tests.cli.test_terminal import RUNNING, Terminal
from tests.living.conftest import Living
from tests.living.test_command_line import until


@pytest.fixture
def terminal(living: Living, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """bash in a living sandbox, at its prompt."""
    living.up("dev")
    monkeypatch.setenv("XDG_RUNTIME_DIR", living.env["XDG_RUNTIME_DIR"])
    bash = ("bash", "--norc", "--noprofile", "-i")
    made = Terminal("--sandbox", "dev", "--env", "PS1=[ready] ", "--", *bash)
    made.until("[ready] ")
    yield made
    made.close()


def test_the_guest_has_a_terminal_of_its_own(terminal: Terminal, living: Living) -> None:
    terminal.type("tty; test -t 0 && test -t 1 && test -t 2 && echo three-$((1 + 2)) $TERM\n")
    assert "/dev/pts/" in terminal.until("three-3 xterm")
    assert len(living.status("dev")["commands"]) == 1
    terminal.type("exit 5\n")
    assert terminal.exit_code() == 5


def test_interrupt_ends_the_job_and_not_the_shell(terminal: Terminal) -> None:
    terminal.type(RUNNING)
    terminal.until("up-2")
    terminal.type("\x03")
    terminal.until("[ready] ")
    terminal.type("echo code=$?\n")
    terminal.until("code=130")


def test_jobs_can_be_stopped_and_resumed(terminal: Terminal) -> None:
    terminal.type(RUNNING)
    terminal.until("up-2")
    terminal.type("\x1a")
    terminal.until("Stopped")
    terminal.until("[ready] ")
    terminal.type("fg\n")
    terminal.until("on-2")
    terminal.type("\x03")
    terminal.until("[ready] ")


def test_a_resized_window_is_passed_on(terminal: Terminal) -> None:
    terminal.type("stty size\n")
    terminal.until("40 100")
    terminal.type("until stty size | grep '25 80'; do sleep 0.1; done; echo seen-$((1 + 1))\n")
    terminal.resize(25, 80)
    terminal.until("seen-2")


def test_the_terminal_is_as_it_was_afterwards(
    living: Living, monkeypatch: pytest.MonkeyPatch
) -> None:
    living.up("dev")
    monkeypatch.setenv("XDG_RUNTIME_DIR", living.env["XDG_RUNTIME_DIR"])
    made = Terminal("--sandbox", "dev", "--", "sh", "-c", "echo raw; read x")
    made.until("raw")
    assert termios.tcgetattr(made.fd)[3] != made.before[3]
    made.type("x\r")
    made.exit_code()
    assert termios.tcgetattr(made.fd) == made.before
    made.close()


def test_a_terminal_that_hangs_up_takes_its_command_along(
    terminal: Terminal, living: Living
) -> None:
    terminal.type("trap '' HUP; sleep 997\n")
    terminal.until("sleep 997")
    os.kill(terminal.pid, signal.SIGHUP)
    os.close(terminal.fd)
    terminal.fd = os.open("/dev/null", os.O_RDWR)
    until(lambda: not living.status("dev")["commands"], "the command goes on")
