"""Messages between us and an interpreter inside: four bytes of length, then JSON, both ways on one
socket. Whatever is read here was written by a guest."""

from __future__ import annotations

import json
import os
from typing import Any

from wardian.sandbox.python.outcome import Malformed

MOST_BYTES = 64 << 20  # of one message
_DEEPEST = 200
_READ = 1 << 16


def framed(message: dict[str, Any]) -> bytes:
    """One message, as it is sent."""
    data = json.dumps(message).encode()
    return len(data).to_bytes(4, "little") + data


class Incoming:
    """Bytes as they come, until they are a message."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def take(self, fd: int) -> Any | None:
        """Read what is there; the message, once it is whole. Raises Malformed for what is none,
        EOFError at the end."""
        try:
            piece = os.read(fd, _READ)
        except BlockingIOError:
            return None
        except OSError:
            raise EOFError from None
        if not piece:
            raise EOFError
        self._bytes += piece
        if len(self._bytes) < 4:
            return None
        length = int.from_bytes(self._bytes[:4], "little")
        if not 0 < length <= MOST_BYTES or len(self._bytes) > 4 + length:
            raise Malformed
        return parsed(bytes(self._bytes[4:])) if len(self._bytes) == 4 + length else None


def parsed(data: bytes) -> Any:
    """Raises Malformed."""
    if data.count(b"[") + data.count(b"{") > _DEEPEST and _depth(data) > _DEEPEST:
        raise Malformed
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise Malformed from None


def _depth(data: bytes) -> int:
    """How deep it is nested, at most; brackets in strings count too much, never too little."""
    deepest = depth = 0
    quoted = escaped = False
    for byte in data:
        if quoted:
            quoted, escaped = escaped or byte != 0x22, not escaped and byte == 0x5C
        elif byte == 0x22:
            quoted = True
        elif byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest
