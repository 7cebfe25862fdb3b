"""A policy file that `wardian learn` wrote, known by its first line."""

from __future__ import annotations

from typing import NamedTuple

from wardian.errors import PolicyError, UsageError
from wardian.sandbox.paths.whole_files import read_decisive
from wardian.sandbox.policy.file import MAX_BYTES, parse_policy
from wardian.sandbox.policy.policy import Policy

LEARNED = "Learned by wardian"
ALLOWS = "It allows"  # a summary follows
_FIRST = f"# {LEARNED} "


class LearnedFile(NamedTuple):
    """The file as it stands, and the policy it is read as."""

    path: str
    text: str
    policy: Policy


def read_learned(path: str) -> LearnedFile:
    """Raises PolicyError for what is no policy, and UsageError for one that was not learned."""
    try:
        text = read_decisive(path, MAX_BYTES, PolicyError).decode("utf-8")
    except UnicodeDecodeError:
        raise PolicyError("is not UTF-8 text", path=path) from None
    if not text.startswith(_FIRST):
        raise UsageError(
            f"--add {path}: this policy was not learned, so nothing can be added to it",
            hint=f"the first line of one that was begins with {_FIRST.strip()!r}; "
            "learn one: wardian learn -o FILE …",
        )
    return LearnedFile(path, text, parse_policy(text, path, Policy.default()))


def starts_as_learned(path: str) -> bool:
    """Raises PolicyError if it can't be read."""
    return read_decisive(path, MAX_BYTES, PolicyError).startswith(_FIRST.encode())
