"""One end of a TLS connection, over a socket that never blocks: bytes in clear on this side,
bounded on their way to the other."""

from __future__ import annotations

import select
import socket
import ssl
import time

CHUNK = 1 << 18
MOST_WAITING = 1 << 20  # bytes for an end that does not read


class TlsEnd:
    """``head`` is what was read of the socket already. Used by one thread."""

    def __init__(
        self, one: socket.socket, context: ssl.SSLContext, name: str | None, head: bytes = b""
    ) -> None:
        """With a ``name`` it is a client's, which checks that the server has it."""
        one.setblocking(False)
        self.socket = one
        self._come, self._go = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._come.write(head)
        self._tls = context.wrap_bio(
            self._come, self._go, server_side=name is None, server_hostname=name
        )
        self._unsent = memoryview(b"")
        self.broken = False  # nothing more can be written

    @property
    def waiting(self) -> int:
        """Bytes that its socket has not taken."""
        return len(self._unsent) + self._go.pending

    def handshake(self, wait_s: float) -> None:
        """Raises OSError; ssl.SSLError is one."""
        end_s = time.monotonic() + wait_s
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self.flush()
                self._await(end_s)
                if not self.take():
                    raise ConnectionResetError("it was closed") from None
                continue
            except ssl.SSLError:
                self.flush()  # the alert says why
                raise
            self.flush()
            return

    def _await(self, end_s: float) -> None:
        events = select.POLLIN | (select.POLLOUT if self.waiting else 0)
        poll = select.poll()
        poll.register(self.socket, events)
        if not poll.poll(max(0.0, end_s - time.monotonic()) * 1000):
            raise TimeoutError("TLS was not begun in time")
        self.flush()

    def take(self) -> bool:
        """What the socket has. False at its end. Raises OSError."""
        try:
            piece = self.socket.recv(CHUNK)
        except BlockingIOError:
            return True
        if piece:
            self._come.write(piece)
        else:
            self._come.write_eof()
        return bool(piece)

    def read(self) -> bytes | None:
        """In clear; None: nothing yet; empty: no more will come. Raises OSError."""
        pieces, size = list[bytes](), 0
        try:
            while size < CHUNK:  # each is one record, of 16 KB at most
                pieces.append(self._tls.read(CHUNK - size))
                size += len(pieces[-1])
                if not pieces[-1]:
                    break
        except ssl.SSLWantReadError:
            if not pieces:
                return None
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            pass  # said again at the next time
        return b"".join(pieces)

    def write(self, data: bytes) -> None:
        """It goes as the socket takes it. Raises OSError."""
        if self.broken:
            return
        view = memoryview(data)
        while view:
            view = view[self._tls.write(view) :]

    def flush(self) -> None:
        """What goes without waiting."""
        while self.waiting and not self.broken:
            if not self._unsent:
                self._unsent = memoryview(self._go.read())
            try:
                self._unsent = self._unsent[self.socket.send(self._unsent) :]
            except BlockingIOError:
                return
            except OSError:
                self.broken = True  # what it has said may still be read
                self._unsent = memoryview(b"")

    def say_goodbye(self) -> None:
        """Nothing more will be written."""
        try:
            self._tls.unwrap()
        except (ssl.SSLError, OSError, ValueError):
            pass
        self.flush()
