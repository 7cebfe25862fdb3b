"""The host that the first bytes of a connection name: the server name of TLS, the Host of HTTP.

Only looked for on 443 and 80, and never changed on their way. Bytes are the guest's.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

MOST_BYTES = 1 << 16  # of a hello, or of a request's head


class NotNamedError(ValueError):
    """The bytes name nobody: said in words."""


WAIT: Final = None  # more bytes are needed


def server_name(data: bytes) -> str | None:
    """The name in a TLS ClientHello, once all of that has come; None before. Raises NotNamedError.

    A hello may be spread over several records. One that has another encrypted in it (ECH; browsers
    send the like to everybody) counts by the name outside.
    """
    hello, at = bytearray(), 0
    while True:
        if len(data) < at + 5:
            if data[at : at + 1] not in (b"", b"\x16"):
                raise NotNamedError("it is not TLS")
            break
        if data[at] != 0x16 or data[at + 1] != 3:
            raise NotNamedError("it is not TLS")
        size = int.from_bytes(data[at + 3 : at + 5], "big")
        if not 0 < size <= 1 << 14:
            raise NotNamedError("it is not TLS")
        hello += data[at + 5 : at + 5 + size]
        if len(hello) >= 4:
            if hello[0] != 1:
                raise NotNamedError("it does not begin with a ClientHello")
            length = int.from_bytes(hello[1:4], "big")
            if length > MOST_BYTES:
                raise NotNamedError("its ClientHello is too long")
            if len(hello) >= 4 + length:
                return _name_in(bytes(hello[4 : 4 + length]))
        if len(data) < at + 5 + size:
            break
        at += 5 + size
    if len(data) > MOST_BYTES:
        raise NotNamedError("its ClientHello is too long")
    return WAIT


def _name_in(hello: bytes) -> str:
    try:
        at = 34  # version and random
        at += 1 + hello[at]  # session
        at += 2 + int.from_bytes(hello[at : at + 2], "big")  # ciphers
        at += 1 + hello[at]  # compression
        end = at + 2 + int.from_bytes(hello[at : at + 2], "big")
        if end != len(hello):
            raise NotNamedError("its ClientHello is malformed")
        at += 2
        found: list[str] = []
        while at < end:
            kind, size = (int.from_bytes(hello[i : i + 2], "big") for i in (at, at + 2))
            body = hello[at + 4 : at + 4 + size]
            if len(body) != size or at + 4 + size > end:
                raise NotNamedError("its ClientHello is malformed")
            if kind == 0:
                found.append(_host_name(body))
            at += 4 + size
    except IndexError:
        raise NotNamedError("its ClientHello is malformed") from None
    if len(found) != 1:
        raise NotNamedError("its ClientHello names no server")
    return found[0]


def _host_name(body: bytes) -> str:
    """RFC 6066, 3: one name of the one kind that there is."""
    size = int.from_bytes(body[3:5], "big")
    if (
        len(body) != 5 + size
        or int.from_bytes(body[:2], "big") != 3 + size
        or body[2] != 0
        or not body[5:].isascii()
    ):
        raise NotNamedError("its server name is malformed")
    return body[5:].decode("ascii")


_REQUEST = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32} [!-~]+ HTTP/1\.[01]\Z")


def host_header(data: bytes) -> str | None:
    """The host in the head of an HTTP request, once all of that has come; None before.
    Raises NotNamedError."""
    head, end, _ = data.partition(b"\r\n\r\n")
    if not end:
        if data and not re.match(rb"[!-~]", data):
            raise NotNamedError("it is not HTTP")
        if len(data) > MOST_BYTES or b"\n\n" in data or re.search(rb"[^\r]\n", data):
            raise NotNamedError("it is not HTTP")
        return WAIT
    lines = head.split(b"\r\n")
    request = _REQUEST.match(lines[0])
    if request is None or any(not line or b"\n" in line or b"\r" in line for line in lines):
        raise NotNamedError("it is not HTTP")
    if any(line[:1] in b" \t" for line in lines[1:]):
        raise NotNamedError("a header of it is folded")
    hosts = [line[5:].strip(b" \t") for line in lines[1:] if line[:5].lower() == b"host:"]
    if len(hosts) != sum(line.partition(b":")[0].strip().lower() == b"host" for line in lines[1:]):
        raise NotNamedError("its Host header is malformed")
    target = lines[0].split(b" ")[1]
    absolute = re.match(rb"(?i)http://(?:[^/?#@]*@)?([^/?#]*)", target)
    if lines[0].startswith(b"CONNECT "):
        raise NotNamedError("it asks for a tunnel (CONNECT)")
    if absolute:
        hosts.append(absolute[1])
    elif not target.startswith((b"/", b"*")):
        raise NotNamedError("it is not HTTP")
    names = {_without_port(host) for host in hosts}
    if len(names) != 1:
        raise NotNamedError("it names no host, or several")
    return names.pop()


def _without_port(host: bytes) -> str:
    match = re.fullmatch(rb"([A-Za-z0-9_.-]{1,254}|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?", host)
    if match is None:
        raise NotNamedError("its Host header is malformed")
    return match[1].decode("ascii")
