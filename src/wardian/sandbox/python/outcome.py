"""What came of a cell, read from what the interpreter said: a guest's data, checked and bounded."""

from __future__ import annotations

import base64
import binascii
from typing import Any, NamedTuple

_TEXT_BYTES = 1 << 20
_PNG = b"\x89PNG\r\n\x1a\n"


class CellError(NamedTuple):
    """The exception that ended a cell."""

    type: str
    message: str
    traceback: str


class Shown(NamedTuple):
    """One thing that a cell displayed, in the forms that it has."""

    text: str
    html: str | None = None
    png: bytes | None = None


class PythonOutcome(NamedTuple):
    """What came of one cell. ``restarted`` says that the interpreter is a new one since, its state
    lost; ``why`` says why, in one sentence."""

    text: str | None = None  # repr of the last expression; None: there is none, or it is None
    value: Any = None  # the same as data, where JSON has a form for all of it
    has_value: bool = False
    stdout: str = ""
    stderr: str = ""
    error: CellError | None = None
    display: tuple[Shown, ...] = ()
    truncated: bool = False  # output, text or display was cut
    timed_out: bool = False
    interrupted: bool = False
    restarted: bool = False
    why: str = ""

    @property
    def ok(self) -> bool:
        """Did the cell run to its end?"""
        return self.error is None and not self.restarted


class Malformed(Exception):  # noqa: N818 - reads as the fact it states
    """Not what an interpreter of ours says."""


def read(said: Any) -> PythonOutcome:
    """The outcome in a reply. Raises Malformed."""
    if not isinstance(said, dict):
        raise Malformed
    error = said.get("error")
    found = None
    if error is not None:
        if not isinstance(error, list) or len(error) != 3:
            raise Malformed
        found = CellError(*(_text(part) for part in error))
    shown = said.get("display", [])
    if not isinstance(shown, list) or len(shown) > 1000:
        raise Malformed
    has_value = said.get("has_value") is True
    return PythonOutcome(
        text=None if said.get("text") is None else _text(said["text"]),
        value=said.get("value") if has_value else None,
        has_value=has_value,
        error=found,
        display=tuple(_shown(one) for one in shown),
        truncated=said.get("truncated") is True,
        interrupted=said.get("interrupted") is True,
    )


def _text(said: Any) -> str:
    if not isinstance(said, str):
        raise Malformed
    # A guest may send half of a surrogate pair, which no encoder takes.
    return said[:_TEXT_BYTES].encode("utf-8", "replace").decode("utf-8")


def _shown(said: Any) -> Shown:
    if not isinstance(said, dict):
        raise Malformed
    html, image = said.get("html"), said.get("png")
    png = None
    if image is not None:
        try:
            png = base64.b64decode(_any_text(image), validate=True)
        except (binascii.Error, ValueError):
            raise Malformed from None
        if not png.startswith(_PNG):
            raise Malformed
    return Shown(_text(said.get("text", "")), None if html is None else _text(html), png)


def _any_text(said: Any) -> str:
    if not isinstance(said, str):
        raise Malformed
    return said
