"""Runs a command on a terminal of its own and returns what the terminal showed, as text."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Mapping
from pathlib import Path

COLUMNS, LINES = 100, 60
TIMEOUT_S = 120
NOT_FOUND = 127
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[()][A-Z0-9]")


class CommandMissingError(Exception):
    """The shell did not find the command."""


def shown(command: str, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """What a shell command prints on a terminal, colours left out; a line that was overwritten in
    place, as progress bars are, is shown as it stood last.

    Raises CommandMissingError if there is no such command, and subprocess.TimeoutExpired when it
    takes longer than two minutes.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    environment = dict(os.environ if env is None else env)
    environment |= {"TERM": "xterm", "COLUMNS": str(COLUMNS), "NO_COLOR": "1"}
    with open(ours, "rb", buffering=0) as terminal:
        process = subprocess.Popen(
            ["sh", "-c", command],
            cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        pieces = []
        try:
            while piece := terminal.read(65536):
                pieces.append(piece)
        except OSError:  # EIO: the last process that held the terminal's other end is gone
            pass
        if process.wait(TIMEOUT_S) == NOT_FOUND:
            raise CommandMissingError(command)
    return plain(b"".join(pieces).decode("utf-8", "replace"))


def plain(text: str) -> str:
    """Terminal output without escape sequences, each line as it stood last. Pure."""
    lines = ESCAPES.sub("", text).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2].rstrip() for line in lines)
