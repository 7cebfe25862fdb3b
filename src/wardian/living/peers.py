"""Who is at the other end of a socket: this user, and not out of a sandbox of theirs. A guest has
its user's id outside, so the id alone would not do where a policy shares the directory."""

from __future__ import annotations

import os
import select

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    import _socket

SO_PEERCRED, SO_PEERPIDFD = 17, 77  # the second from Linux 6.5 on
_SOL_SOCKET = 1
_NAMESPACES = ("user", "pid")


def peer_ids(sock: _socket.socket) -> tuple[int, int]:
    """Its pid and user id, as the kernel noted them when it connected or listened."""
    data = sock.getsockopt(_SOL_SOCKET, SO_PEERCRED, 12)
    return int.from_bytes(data[:4], "little"), int.from_bytes(data[4:8], "little")


def is_own_user(sock: _socket.socket) -> bool:
    """Does the process at the other end run as this user?"""
    return peer_ids(sock)[1] == os.geteuid()


def is_outside(sock: _socket.socket) -> bool:
    """Is the process at the other end in our namespaces, rather than in a sandbox's? False where
    that can't be seen, as when it has ended."""
    pid, _ = peer_ids(sock)
    pidfd = _peer_pidfd(sock)
    try:
        same = pid > 0 and all(
            os.path.samestat(os.stat(f"/proc/{pid}/ns/{name}"), os.stat(f"/proc/self/ns/{name}"))
            for name in _NAMESPACES
        )
        return same and (pidfd is None or not _has_ended(pidfd))  # else the pid may be another's
    except OSError:
        return False
    finally:
        if pidfd is not None:
            os.close(pidfd)


def _peer_pidfd(sock: _socket.socket) -> int | None:
    try:
        return int.from_bytes(sock.getsockopt(_SOL_SOCKET, SO_PEERPIDFD, 4), "little")
    except OSError:
        return None


def _has_ended(pidfd: int) -> bool:
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(0))
