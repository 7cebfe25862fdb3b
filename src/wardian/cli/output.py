"""Output shared by all commands: errors, JSON documents, colour. stdout is for data only."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


FAILED = 125
USAGE = 2
ERROR_SCHEMA = "wardian.error/1"
_CODES = {"bold": "1", "red": "31", "green": "32", "yellow": "33", "dim": "2"}


def coloured(stream: Any) -> bool:
    """Whether to use colour: NO_COLOR, then FORCE_COLOR, then whether the stream is a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"


def styled(text: str, style: str, stream: Any) -> str:
    """The text with ANSI codes if the stream shows colour."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if coloured(stream) else text


_MUTED: list[bool] = []


def mute(quiet: bool) -> None:
    """With ``-q``, only errors are printed on standard error."""
    _MUTED[:] = [True] if quiet else []


def muted() -> bool:
    """Was ``-q`` given to a command that click parses?"""
    return bool(_MUTED)


def say(text: str) -> None:
    """Print a line on stderr, unless ``-q`` was given; a closed or broken stderr is ignored."""
    if not _MUTED:
        _write(text)


def _write(text: str) -> None:
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON document on stdout, ASCII-only in every locale."""
    import json

    sys.stdout.write(json.dumps(document, indent=2) + "\n")


def print_text(text: str) -> None:
    """Print text on stdout; characters outside the locale's encoding are escaped."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def valid(text: str) -> str:
    """Text for JSON: bytes that are not UTF-8 become replacement characters."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def report(error: Exception, *, as_json: bool, own_codes: bool) -> int:
    """Report an error on stderr (and as JSON on stdout) and return the exit code.

    ``own_codes`` is False for commands that exit with the guest's code: every error of wardian
    itself is 125 there.
    """
    message, hint, code = _explained(error)
    if not own_codes:
        code = FAILED
    if as_json:
        document = {
            "message": valid(message),
            "hint": valid(hint) if hint else None,
            "class": type(error).__name__,
            "exit_code": code,
        }
        print_json({"schema": ERROR_SCHEMA, "error": document})
    say_error(message, hint)
    if os.environ.get("WARDIAN_DEBUG"):
        import traceback

        traceback.print_exception(error)
    return code


def say_error(message: str, hint: str | None) -> None:
    """``error: …``, a blank line, ``hint: …``."""
    from wardian.text import printable

    _write(f"{styled('error:', 'red', sys.stderr)} {printable(message)}")
    if hint:
        say_hint(hint)


def say_hint(hint: str) -> None:
    """A blank line, then ``hint: …``, which may have several lines."""
    from wardian.text import printable

    lines = "\n".join(printable(line) for line in hint.split("\n"))
    _write(f"\n{styled('hint:', 'green', sys.stderr)} {lines}")


def _explained(error: Exception) -> tuple[str, str | None, int]:
    """Message, hint and exit code."""
    from wardian.errors import WardianError

    if isinstance(error, WardianError):
        return str(error), error.hint, error.exit_code
    if isinstance(error, OSError):
        what = error.strerror or str(error)
        if isinstance(error.filename, (str, bytes)):  # not a descriptor's number
            what = f"{os.fsdecode(error.filename)}: {what}"
        return what[:1].lower() + what[1:], None, FAILED
    if isinstance(error, MemoryError):
        return "out of memory", "check: ulimit -v", FAILED
    if isinstance(error, ImportError):
        return str(error), "reinstall: pip install --force-reinstall wardian", FAILED
    return (
        f"internal error: {type(error).__name__}: {error}",
        "this is a bug in wardian; please report it with the traceback (WARDIAN_DEBUG=1 prints it)",
        FAILED,
    )
