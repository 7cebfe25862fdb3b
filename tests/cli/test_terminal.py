"""``wardian exec`` on a terminal: a real pty, with the test at its other end."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Iterator

import pytest

from tests.command import COMMAND, environment

LONGEST_S = 60.0
# A job that says when it runs in the foreground, and when it does so again. Not a shell's loop: a
# stop that comes while a shell vforks stops its child only, and the shell waits for that.
JOB = (
    "import os, signal as s, time; "
    "s.signal(s.SIGCONT, lambda *_: os.write(1, b'on-%d ' % (1 + 1))); "
    "print(f'up-{1 + 1}', flush=True); any(time.sleep(0.1) for _ in iter(int, 1))"
)
RUNNING = f'python3 -c "{JOB}"\n'


class Terminal:
    """A session leader of its own, on a pty of 40 × 100, running wardian."""

    def __init__(self, *args: str) -> None:
        self.seen = ""
        held, go = os.pipe()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.close(go)
                os.read(held, 1)  # until the terminal is as it should be
                command = [*COMMAND, "exec", *args]
                os.execve(command[0], command, environment(TERM="xterm"))  # noqa: S606
            finally:
                os._exit(99)
        self.resize(40, 100)
        self.before = termios.tcgetattr(self.fd)
        os.close(held)
        os.close(go)

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def until(self, text: str) -> str:
        """What has appeared up to and including ``text``."""
        deadline = time.monotonic() + LONGEST_S
        while text not in self.seen:
            ready = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))[0]
            assert ready, f"{text!r} did not appear in {self.seen!r}"
            try:
                data = os.read(self.fd, 4096)
            except OSError:
                data = b""
            assert data, f"ended without {text!r}: {self.seen!r}"
            self.seen += data.decode(errors="replace")
        before, _, self.seen = self.seen.partition(text)
        return before + text

    def exit_code(self) -> int:
        deadline = time.monotonic() + LONGEST_S
        while time.monotonic() < deadline:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    self.seen += os.read(self.fd, 4096).decode(errors="replace")
                except OSError:
                    time.sleep(0.05)
        raise AssertionError(f"still running: {self.seen!r}")

    def close(self) -> None:
        os.close(self.fd)
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


@pytest.fixture
def shell() -> Iterator[Terminal]:
    """bash in the sandbox, at its prompt."""
    terminal = Terminal("--env", "PS1=[ready] ", "--", "bash", "--norc", "--noprofile", "-i")
    terminal.until("[ready] ")
    yield terminal
    terminal.close()


def test_the_guest_has_a_terminal_of_its_own(shell: Terminal) -> None:
    shell.type("tty; test -t 0 && test -t 1 && test -t 2 && echo three-$((1 + 2))\n")
    assert "/dev/pts/" in shell.until("three-3")
    shell.type("exit 5\n")
    assert shell.exit_code() == 5


def test_interrupt_ends_the_job_and_not_the_shell(shell: Terminal) -> None:
    shell.type(RUNNING)
    shell.until("up-2")
    shell.type("\x03")
    shell.until("[ready] ")
    shell.type("echo code=$?\n")
    shell.until("code=130")


def test_jobs_can_be_stopped_and_resumed(shell: Terminal) -> None:
    shell.type(RUNNING)
    shell.until("up-2")
    shell.type("\x1a")
    shell.until("Stopped")
    shell.until("[ready] ")
    shell.type("fg\n")
    shell.until("on-2")
    shell.type("\x03")
    shell.until("[ready] ")


def test_a_resized_window_is_told(shell: Terminal) -> None:
    shell.type("stty size\n")
    shell.until("40 100")
    shell.type("until stty size | grep '25 80'; do sleep 0.1; done; echo told-$((1 + 1))\n")
    shell.resize(25, 80)
    shell.until("told-2")


def test_the_terminal_is_as_it_was_afterwards() -> None:
    terminal = Terminal("--", "sh", "-c", "stty raw; echo raw; read x")
    terminal.until("raw")
    assert termios.tcgetattr(terminal.fd)[3] != terminal.before[3]
    terminal.type("\n")
    terminal.exit_code()
    assert termios.tcgetattr(terminal.fd) == terminal.before
    terminal.close()


def test_the_terminal_is_as_it_was_even_if_the_supervisor_is_killed() -> None:
    terminal = Terminal("--", "sh", "-c", "echo up; exec sleep 100")
    terminal.until("up")
    with open(f"/proc/{terminal.pid}/task/{terminal.pid}/children", encoding="ascii") as file:
        os.kill(int(file.read().split()[0]), signal.SIGKILL)
    assert terminal.exit_code() == 125
    assert "the supervisor was killed" in terminal.seen
    assert termios.tcgetattr(terminal.fd)[3] == terminal.before[3]
    terminal.close()


def test_the_guest_ends_when_the_terminal_goes_away() -> None:
    terminal = Terminal("--", "sh", "-c", "trap '' HUP; echo up; sleep 100")
    terminal.until("up")
    os.close(terminal.fd)
    deadline = time.monotonic() + LONGEST_S
    while time.monotonic() < deadline and not os.waitpid(terminal.pid, os.WNOHANG)[0]:
        time.sleep(0.05)
    with pytest.raises(ChildProcessError):
        os.waitpid(terminal.pid, os.WNOHANG)


def test_without_a_terminal_interrupt_reaches_the_guest_once() -> None:
    script = (
        "trap 'echo got-one; got=1' INT; echo up; until [ $got ]; do sleep 0.1; done; "
        "for i in 1 2 3 4 5; do sleep 0.1; done; echo end"
    )
    terminal = Terminal("--tty", "no", "--", "sh", "-c", script)
    terminal.until("up")
    terminal.type("\x03")
    assert terminal.until("end").count("got-one") == 1
    assert terminal.exit_code() == 0
    terminal.close()
