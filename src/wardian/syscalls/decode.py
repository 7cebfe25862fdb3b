"""A call as people read it."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence


def call_text(
    name: str,
    args: Sequence[int],
    *,
    strings: Mapping[int, str] | None = None,
    arch: str = "x86_64",
) -> str:
    """The call with its arguments."""
    shown = strings or {}
    return f"{name}({', '.join(shown.get(i, hex(arg)) for i, arg in enumerate(args[:3]))})"


def sockaddr_text(raw: bytes) -> str:
    """A socket's address."""
    family, port = raw[0] | raw[1] << 8, raw[2] << 8 | raw[3]
    if family == socket.AF_INET:
        return f"{socket.inet_ntoa(raw[4:8])}:{port}"
    if family == socket.AF_INET6:
        return f"[{socket.inet_ntop(socket.AF_INET6, raw[8:24])}]:{port}"
    return "unix:@" + raw[3:].decode("utf-8", "replace")
