"""What a wall is here: a program that runs into it, how that is reported, and what lets it through.

The tables beside this file have one row for each. In every text of a row ``@NAME@`` stands for
something of the scene. Programs are written as

py CODE            Python
call NAME ARGS     one system call as it is, without the C library's own ideas; ARGS in Python
sh CODE            for the shell
run WORDS          the program itself

and end with 0 only if they got what they wanted. ``flag`` is ``-`` where nothing would allow it and
``*`` where it is not spelled out here; ``count`` is ``*`` where it may vary.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from wardian.syscalls import number

PYTHON = "/usr/bin/python3"
ARCH = os.uname().machine
_CALL = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *args):
    pointers = (bytes, ctypes.Array, type(None))
    words = [a if isinstance(a, pointers) else ctypes.c_long(a) for a in args]
    result = libc.syscall(ctypes.c_long(number), *words)
    if result < 0:
        sys.exit(os.strerror(ctypes.get_errno()))
    return result
"""


class Wall(NamedTuple):
    """A row."""

    name: str
    kind: str
    action: str
    target: str
    reason: str  # a part of it
    flag: str
    options: str
    needs: str  # something of the scene that a host may lack, or -
    times: str
    program: str

    def command(self) -> list[str]:
        """The program's words."""
        how, _, text = self.program.partition(" ")
        if how == "run":
            return text.split()
        if how == "sh":
            return ["/bin/sh", "-c", text]
        if how == "call":
            name, _, arguments = text.partition(" ")
            text = f"{_CALL}call({number(name, ARCH)}, {arguments})"
        return [PYTHON, "-I", "-S", "-c", text.replace("\\n", "\n")]


def walls(table: str) -> list[Wall]:
    """The rows of a table."""
    path = Path(__file__).with_name(table)
    _, *lines = path.read_text(encoding="utf-8").splitlines()
    return [Wall(*line.split("\t")) for line in lines]


def filled(text: str, scene: dict[str, str]) -> str:
    """The text with every ``@NAME@`` in it replaced."""
    for name, value in scene.items():
        text = text.replace(f"@{name}@", value)
    return text
