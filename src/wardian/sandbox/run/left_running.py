"""What the launcher reported of processes that were still running when the command had ended. Pure.

Their command lines are the guest's own text, and are made harmless here, once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from wardian.sandbox.refusals.notes import shown, text_of
from wardian.sandbox.run.result import LeftRunning
from wardian.text import printable, quoted

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any

COMMAND_BYTES = 256  # core/left_running.h: what was longer is cut there


def left_running(events: Sequence[dict[str, Any]]) -> tuple[tuple[LeftRunning, ...], int]:
    """Those that were described, and how many more there were at least."""
    found = tuple(
        LeftRunning(
            event["pid"],
            _command_line(event["command"]),
            tuple(_address(word) for word in event["listening"].split()),
        )
        for event in events
        if event["event"] == "left-process"
    )
    counts = [event["count"] for event in events if event["event"] == "left-running"]
    return found, max(0, max(counts, default=0) - len(found))


def _command_line(reported: str) -> str:
    """Words that end in NUL, as in /proc/PID/cmdline; or one text, which some programs write there,
    and the launcher where it has nothing but the name."""
    words = [shown(word) for word in text_of(reported).rstrip("\0").split("\0")]
    line = printable(words[0] if len(words) == 1 else " ".join(map(quoted, words)))
    return f"{line}…" if len(reported) >= COMMAND_BYTES else line


def port_of(reported: str) -> int:
    """The port of such an address."""
    return int(reported.partition(":")[2], 16)


def _address(reported: str) -> str:
    """ADDRESS:PORT as in /proc/net/tcp: in hexadecimal, words of 32 bits in the machine's order."""
    import socket

    digits, _, port = reported.partition(":")
    words = [int(digits[at : at + 8], 16) for at in range(0, len(digits), 8)]
    packed = b"".join(word.to_bytes(4, sys.byteorder) for word in words)
    if len(packed) == 4:
        return f"{socket.inet_ntop(socket.AF_INET, packed)}:{int(port, 16)}"
    return f"[{socket.inet_ntop(socket.AF_INET6, packed)}]:{int(port, 16)}"
