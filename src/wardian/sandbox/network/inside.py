"""Sockets that live in the guest's network and are held out here: the reaper makes them
(core/names.c), one byte of a request for each. The guest starts when one says ready."""

from __future__ import annotations

import array
import socket

ANSWER_S = 10.0


class InsideError(OSError):
    """The run ends, or has no network of its own."""


class Inside:
    """The gateway's end of its socket to the reaper. Used by one thread."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._channel, self.launchers_end = ours, theirs
        ours.settimeout(ANSWER_S)

    @property
    def channel(self) -> socket.socket:
        """Readable without a request only once the run is over."""
        return self._channel

    def resolver(self) -> tuple[socket.socket, socket.socket]:
        """The resolver's port: UDP and TCP. Comes first, as the network is made. Raises OSError."""
        made = self._receive(2)
        if len(made) != 2:
            _close(made)
            raise InsideError("the guest's resolver did not come")
        return made[0], made[1]

    def stream(self, family: str = "4") -> socket.socket:
        """A TCP socket of IPv ``family``, not bound yet. Raises OSError."""
        self._channel.send(family.encode())
        made = self._receive(1)
        if len(made) != 1:
            _close(made)
            raise InsideError("no more sockets can be had in the guest's network")
        return made[0]

    def ready(self) -> None:
        """All that must be listened on is: the guest may start. Raises OSError."""
        self._channel.send(b"r")

    def close(self) -> None:
        """Sockets that it has given out stay open."""
        self._channel.close()

    def _receive(self, most: int) -> list[socket.socket]:
        fds = array.array("i")
        data, parts, _, _ = self._channel.recvmsg(1, socket.CMSG_LEN(most * fds.itemsize))
        for level, kind, raw in parts:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                fds.frombytes(raw[: len(raw) - len(raw) % fds.itemsize])
        if not data:
            raise InsideError("the run has ended")
        return [socket.socket(fileno=fd) for fd in fds]


def _close(sockets: list[socket.socket]) -> None:
    for one in sockets:
        one.close()
