"""What a living sandbox may be called: a name that is safe as a file's, in a shell and on a
terminal. Pure, but for the name that is made up."""

from __future__ import annotations

import os

from wardian.errors import UsageError

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Collection

LONGEST = 40
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_FIRST = frozenset(_LETTERS + "0123456789")
_OTHER = _FIRST | frozenset("-_.")
_QUALITIES = (
    "amber", "brave", "calm", "clear", "crisp", "early", "fresh", "gentle", "green", "keen",
    "light", "lucky", "merry", "neat", "quick", "quiet", "sharp", "silver", "swift", "warm",
)  # fmt: skip
_ANIMALS = (
    "badger", "crane", "dolphin", "falcon", "finch", "fox", "gecko", "heron", "ibex", "lark",
    "lynx", "marten", "otter", "owl", "plover", "robin", "seal", "stoat", "swan", "wren",
)  # fmt: skip


def is_name(name: str) -> bool:
    """Lower-case letters, digits, ``-``, ``_`` and ``.``; a letter or digit first."""
    return (
        0 < len(name) <= LONGEST and name[0] in _FIRST and all(letter in _OTHER for letter in name)
    )


def checked_name(name: str) -> str:
    """Raises UsageError."""
    if not is_name(name):
        shown = name if len(name) <= LONGEST else f"{name[:LONGEST]}…"
        raise UsageError(
            f"{shown!r} can't be the name of a sandbox",
            hint=f"lower-case letters, digits, - _ and ., at most {LONGEST}, a letter or digit "
            "first: build-1",
        )
    return name


def made_up_name(taken: Collection[str]) -> str:
    """Two words that nobody uses yet."""
    while True:
        first, second, number = os.urandom(3)
        name = f"{_QUALITIES[first % len(_QUALITIES)]}-{_ANIMALS[second % len(_ANIMALS)]}"
        for candidate in (name, f"{name}-{number}"):
            if candidate not in taken:
                return candidate


def nearest_name(name: str, known: Collection[str]) -> str | None:
    """What was probably meant."""
    import difflib

    near = difflib.get_close_matches(name, list(known), 1, 0.6)
    return near[0] if near else None
