"""Keeping secrets out of a record: each value that the caller gave the run becomes ``${NAME}``.

It is unknown which variables are secrets, so the values of all of them are masked, but for those
that are too short to be one and would be found everywhere. A program that prints a value in another
spelling (encoded, split, reversed) is not seen through.
"""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any

SHORTEST = 6
# Keys of documents whose values no guest and no caller can choose.
OURS = frozenset((
    "schema", "backend", "usage", "limits", "protections", "kind", "policy_digest",
))  # fmt: skip


class Mask:
    """The values of some variables, ready to be replaced."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        pairs: dict[bytes, bytes] = {}
        for name, value in variables.items():
            # Keys and certificates have lines; a program may print them one by one.
            for piece in (value, *value.splitlines()):
                raw = piece.strip().encode("utf-8", "surrogateescape")
                if len(raw) >= SHORTEST:
                    pairs.setdefault(raw, b"${%s}" % name.encode("utf-8", "surrogateescape"))
        # A longer value may hold a shorter one.
        self._pairs = sorted(pairs.items(), key=lambda pair: (-len(pair[0]), pair[0]))

    def __bool__(self) -> bool:
        return bool(self._pairs)

    def data(self, data: bytes, *, cut: bool = False) -> bytes:
        """The bytes without any value; ``cut`` says that they end in the middle of something."""
        for value, name in self._pairs:
            data = data.replace(value, name)
        return data[: len(data) - self._begun(data)] if cut else data

    def _begun(self, data: bytes) -> int:
        """How many bytes at the end may be the beginning of a value."""
        most = 0
        for value, _ in self._pairs:
            for length in range(min(len(value) - 1, len(data)), most, -1):
                if data.endswith(value[:length]):
                    most = length
                    break
        return most

    def text(self, text: str) -> str:
        """Text without any value, and valid: bytes that were not UTF-8 are replaced."""
        return self.data(text.encode("utf-8", "surrogateescape")).decode("utf-8", "replace")

    def document(self, value: Any) -> Any:
        """The same document, every text in it masked but for keys, and words that are ours."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {k: v if k in OURS else self.document(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.document(item) for item in value]
        return value
