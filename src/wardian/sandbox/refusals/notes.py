"""A note of the supervisor: what stands in it, and a refusal made of it."""

from __future__ import annotations

import os

from wardian.sandbox.run.result import Allow, Caller, Refusal
from wardian.syscalls.effects import act_of

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any

UNKNOWN = Caller(0, "", ())


def text_of(noted: str) -> str:
    """The launcher reports bytes, each as one character; this decodes them."""
    return os.fsdecode(noted.encode("latin-1"))


def shown(text: str) -> str:
    r"""Text that any document can hold: bytes that are no text are written as ``\xe9``."""
    return os.fsencode(text).decode("utf-8", "backslashreplace")


def args_of(event: dict[str, Any]) -> list[int]:
    return [int(arg) for arg in event["args"].split()]


def act_word(name: str) -> str:
    """What a call does, in the word of a refusal."""
    word = act_of(name).word
    return name if word in ("", "reach") else word


def refusal_of(kind: str, action: str, target: str, reason: str, allow: Allow | None) -> Refusal:
    return Refusal(kind, action, target, UNKNOWN, reason, allow=allow)
