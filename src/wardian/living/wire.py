"""Messages between a client and the process that holds a sandbox: named fields of bytes, and
descriptors beside them. Not JSON: loading its parser costs a client a third of its start.

A message is its length in four bytes (little-endian), its kind and its fields; each of these words
is preceded by its length. The first message of either side carries the number of the protocol in a
field ``protocol``; that much is the same in every version.
"""

from __future__ import annotations

import _socket
import _thread
import os

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import NamedTuple
else:
    from wardian.values import NamedTuple

PROTOCOL = 1
LONGEST = 16 << 20  # a command line and its variables are at most 6 MiB, execve(2)
MOST_DESCRIPTORS = 4


class Message(NamedTuple):
    """``fds`` are the receiver's to close."""

    kind: str
    fields: tuple[tuple[str, bytes], ...] = ()
    fds: tuple[int, ...] = ()

    def all(self, name: str) -> list[bytes]:
        """Every field of that name, in order."""
        return [value for key, value in self.fields if key == name]

    def text(self, name: str, default: str = "") -> str:
        """A field as text; bytes that are not UTF-8 as ``os.fsdecode`` has them."""
        found = self.all(name)
        return os.fsdecode(found[0]) if found else default

    def number(self, name: str, default: int = 0) -> int:
        """A field as a number. Raises ValueError."""
        return int(self.text(name) or default)

    def has(self, name: str) -> bool:
        """Is there such a field?"""
        return any(key == name for key, _ in self.fields)


def field(name: str, value: str | int | bytes) -> tuple[str, bytes]:
    """One field of a message."""
    return name, value if isinstance(value, bytes) else os.fsencode(str(value))


def packed(kind: str, fields: Iterable[tuple[str, bytes]]) -> bytes:
    """A message as it is sent. Pure."""
    words = [kind.encode()]
    for name, value in fields:
        words += (name.encode(), value)
    body = b"".join(part for word in words for part in (len(word).to_bytes(4, "little"), word))
    return len(body).to_bytes(4, "little") + body


def unpacked(body: bytes, fds: tuple[int, ...] = ()) -> Message:
    """The message that this is. Pure. Raises ValueError."""
    words, at = [], 0
    while at < len(body):
        end = at + 4 + int.from_bytes(body[at : at + 4], "little")
        if at + 4 > len(body) or end > len(body):
            raise ValueError("a message that is cut")
        words.append(body[at + 4 : end])
        at = end
    if len(words) % 2 == 0:
        raise ValueError("a message without a kind, or with half a field")
    names = (word.decode() for word in words[1::2])
    return Message(words[0].decode(), tuple(zip(names, words[2::2], strict=True)), fds)


class Channel:
    """One connection. Sending is safe from several threads, and from a signal handler as long as
    the thread that it interrupts is not sending."""

    def __init__(self, sock: _socket.socket) -> None:
        self.sock = sock
        self._lock = _thread.allocate_lock()

    def fileno(self) -> int:
        """For poll."""
        return self.sock.fileno()

    def send(
        self, kind: str, fields: Iterable[tuple[str, bytes]] = (), fds: Sequence[int] = ()
    ) -> None:
        """Raises OSError."""
        data = packed(kind, fields)
        rights = b"".join(fd.to_bytes(4, "little") for fd in fds)
        extra = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)] if fds else []
        with self._lock:
            sent = self.sock.sendmsg([data], extra, _socket.MSG_NOSIGNAL)
            if sent < len(data):
                self.sock.sendall(data[sent:])

    def receive(self) -> Message | None:
        """The next message; None at the end. Raises OSError, TimeoutError, and ValueError for what
        is no message."""
        room = _socket.CMSG_SPACE(4 * MOST_DESCRIPTORS)
        head, control, flags, _ = self.sock.recvmsg(4, room, _socket.MSG_CMSG_CLOEXEC)
        fds = _descriptors(control)
        try:
            if flags & _socket.MSG_CTRUNC:
                raise ValueError("too many descriptors")
            if not head:
                return None
            size = int.from_bytes(head + self._exactly(4 - len(head)), "little")
            if size > LONGEST:
                raise ValueError("a message that is too long")
            return unpacked(self._exactly(size), fds)
        except BaseException:
            for fd in fds:
                os.close(fd)
            raise

    def _exactly(self, size: int) -> bytes:
        pieces = []
        while size:
            data = self.sock.recv(min(size, 1 << 20))
            if not data:
                raise ValueError("a message that is cut")
            pieces.append(data)
            size -= len(data)
        return b"".join(pieces)

    def close(self) -> None:
        """Safe to call twice."""
        self.sock.close()


def is_one_way(fd: int, mode: int) -> bool:
    """Was it opened for exactly this, ``os.O_RDONLY`` or ``os.O_WRONLY``?"""
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == mode


def _descriptors(control: list[tuple[int, int, bytes]]) -> tuple[int, ...]:
    found: list[int] = []
    for level, kind, data in control:
        if (level, kind) == (_socket.SOL_SOCKET, _socket.SCM_RIGHTS):
            whole = len(data) - len(data) % 4
            found += (int.from_bytes(data[i : i + 4], "little") for i in range(0, whole, 4))
    return tuple(found)
