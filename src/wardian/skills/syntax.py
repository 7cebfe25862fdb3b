"""Whether a script parses. Nothing is run: Python by its own parser, shells with ``-n``."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from shutil import which

from wardian.skills import imports
from wardian.skills.scripts import InterpreterName

_SHELLS = frozenset(("sh", "bash", "zsh"))
_TIMEOUT_S = 5.0
MAX_MESSAGE = 1000


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why a source does not parse, and where."""

    message: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """Of parsing: the flaw if there is one, and the packages a Python source imports."""

    flaw: Flaw | None = None
    imports: tuple[imports.Import, ...] = ()


def read_script(language: InterpreterName, source: bytes) -> Reading:
    """Parse ``source``; a language that can't be parsed without running it has no flaw."""
    if language == "python":
        return _read_python(source)
    if language in _SHELLS:
        return Reading(_shell_flaw(language, source))
    return Reading()


def parser_of(language: InterpreterName) -> str:
    """What parsed it, for a message: the Python here may be older than the script."""
    if language == "python":
        return f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return language


def json_flaw(source: bytes) -> Flaw | None:
    """Why ``source`` is not JSON, or None; comments, as editors allow them, are a flaw too."""
    try:
        json.loads(source.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        return Flaw(error.msg, error.lineno, error.colno)
    except (ValueError, RecursionError) as error:
        return Flaw(str(error))
    return None


def _read_python(source: bytes) -> Reading:
    try:
        tree = imports.parse(source)
    except SyntaxError as error:
        return Reading(Flaw(str(error.msg), error.lineno, error.offset or None))
    return Reading(None, imports.third_party(tree))


# Not the caller's PATH: what is found is started outside any sandbox.
_SYSTEM_PATH = "/usr/bin:/bin"


@cache
def _shell_path(name: str) -> str | None:
    return which(name, path=_SYSTEM_PATH)


def _shell_flaw(language: str, source: bytes) -> Flaw | None:
    program = _shell_path(language)
    if program is None:
        return None
    try:
        # The source comes through a pipe and the environment is empty: no BASH_ENV, no
        # exported functions, no start-up file. -f keeps zsh from reading /etc/zshenv.
        done = subprocess.run(
            [program, "-nf"] if language == "zsh" else [program, "-n"],
            input=source,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={"LC_ALL": "C"},
            timeout=_TIMEOUT_S,
            cwd="/",
            check=False,
        )
    except (subprocess.TimeoutExpired, OSError):
        return None
    if done.returncode <= 0:  # a parser that died of a signal has said nothing about the script
        return None
    text = done.stderr.decode("utf-8", "replace").strip().split("\n", 1)[0][:MAX_MESSAGE]
    match = re.match(r".*?(?:line )?(\d+): *(.*)", text)
    return Flaw(match[2], int(match[1])) if match else Flaw(text or "syntax error")
