"""A living sandbox from outside: a launcher whose walls stand, asked for one command after
another (core/commands.c)."""

from __future__ import annotations

import _socket
import _thread
import os
import select
import time

from wardian.errors import BackendError, SandboxError
from wardian.sandbox.policy.policy import Limits
from wardian.sandbox.run import launcher
from wardian.sandbox.run.child import KILL_S, LAST_S, STOPPED_S, Child
from wardian.sandbox.run.records import environment_records, record

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NamedTuple
else:
    from wardian.values import NamedTuple

# core/commands.c
KILL, BEGIN, OUTPUT, LISTENING = 255, 254, 253, 252
_START, _SOCKET, _DIRECTORY, _CLOSE = b"s", b"n", b"d", b"q"
_PTY, _BACKGROUND = 1, 2
_PATH_BYTES = 64
STANDS = b'{"event":"stands"}\n'
FIRST = 3  # what is sent may have any number; only the caller's own streams are no place for it
ANSWER_S = 30.0  # the supervisor may be busy, and the walls may still go up


class Lines(NamedTuple):
    """Our ends of one command's status pipe and control socket."""

    status: int
    control: int


class Place:
    """A launcher with a living sandbox. Safe to use from many threads."""

    _control = -1  # our end of what it is asked through
    _asked_to_end = False
    _heard = b""  # of what the launcher said of itself

    def __init__(self, launched: launcher.Launched, limits: Limits) -> None:
        self.pid = launched.pid
        self._limits = limits
        self.child = Child(launched.pid)
        self._status = launched.status
        self._lock = _thread.RLock()
        self._said: bytes | None = None  # all that the launcher said of itself, once it has ended
        self._owner = os.getpid()
        self._next = 1
        self._owed = 0  # answers that were asked for and not taken
        os.set_blocking(launched.control, True)
        self._control = launched.control

    @property
    def gone(self) -> bool:
        """True once no command can be started any more."""
        return self._control < 0 or self.child.gone()

    def stands(self, within_s: float) -> bool:
        """Do its walls stand, now or within that time? Only one whose plan limits how long it may
        be unused says so (core/supervise.c)."""
        poll = select.poll()
        poll.register(self._status, select.POLLIN)
        with self._lock:
            if self._control < 0 or not poll.poll(int(within_s * 1000)):
                return False
            heard = os.read(self._status, 1 << 16)
            if heard != STANDS:
                self._heard = heard  # it failed, or was ended
            return heard == STANDS

    def start(
        self,
        records: bytes,
        streams: Sequence[int | None],
        *,
        time_ms: int = 0,
        pty: bool = False,
        size: tuple[int, int] = (0, 0),
        background: bool = False,
    ) -> Lines:
        """Start a command; ``streams`` are the guest's ends of its own, which stay the caller's to
        close. Raises SandboxError if the sandbox has ended."""
        opened: list[int] = []
        try:
            plan = launcher.memory_file(records, least=FIRST)
            opened.append(plan)
            status, status_end = launcher.pipe(FIRST)
            opened += (status, status_end)
            control, control_end = _socket_pair()
            opened += (control, control_end)
            given = [fd for fd in streams if fd is not None]
            bits = sum(1 << i for i, fd in enumerate(streams) if fd is not None)
            flags = (_PTY if pty else 0) | (_BACKGROUND if background else 0)
            with self._lock:
                number, self._next = self._next, self._next + 1
                self._ask(
                    _request(_START, bits, flags, size=size, command=number, time_ms=time_ms),
                    [status_end, control_end, plan, *given],
                )
        except OSError as error:
            _close(opened)
            raise self.explained(error) from None
        except BaseException:
            _close(opened)
            raise
        _close([plan, status_end, control_end])
        return Lines(status, control)

    def socket(self, family: int) -> int:
        """A stream socket in the guest's network, not connected. Raises SandboxError."""
        return self._answered(_request(_SOCKET, family=family), "making a socket")

    def directory(self, path: str) -> int:
        """A directory of the guest's own as a descriptor to start from (O_PATH). Raises
        SandboxError."""
        name = os.fsencode(path)
        if len(name) >= _PATH_BYTES:
            raise SandboxError(f"{path}: too long for a directory of the sandbox's own")
        return self._answered(_request(_DIRECTORY, path=name), f"opening {path}")

    def _answered(self, request: bytes, what: str) -> int:
        try:
            with self._lock:
                while self._owed:  # whoever asked was interrupted, or waited long enough
                    _close(self._answer()[1])
                self._ask(request, [])
                self._owed += 1
                error, fds = self._answer()
        except OSError as failed:
            raise self.explained(failed) from None
        if not fds:
            raise SandboxError(f"{what} inside: {os.strerror(error).lower()}")
        return fds[0]

    def _answer(self) -> tuple[int, list[int]]:
        """The next one: an errno, or a descriptor. Raises OSError."""
        ours = _socket.socket(fileno=os.dup(self._control))
        room = _socket.CMSG_SPACE(4)
        try:
            ours.settimeout(ANSWER_S)
            data, control, _, _ = ours.recvmsg(1, room, _socket.MSG_CMSG_CLOEXEC)
        finally:
            ours.setblocking(True)  # for all who share the description
            ours.close()
        self._owed -= 1
        if not data:
            raise ConnectionResetError
        return data[0], [int.from_bytes(one[2][:4], "little") for one in control]

    def _ask(self, request: bytes, fds: list[int]) -> None:
        if self._control < 0:
            raise ConnectionResetError
        rights = b"".join(fd.to_bytes(4, "little") for fd in fds)
        extra = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)] if fds else []
        own = os.dup(self._control)
        ours = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, own)
        try:
            ours.sendmsg([request], extra, _socket.MSG_NOSIGNAL)
        finally:
            ours.close()

    def said(self, within_s: float = LAST_S) -> bytes:
        """What the launcher said of the sandbox as a whole; waits for its end, but not longer. It
        waits itself until its last lines are read, where there are many."""
        with self._lock:
            if self._said is None:
                deadline, pieces = time.monotonic() + within_s, [self._heard]
                poll = select.poll()
                poll.register(self._status, select.POLLIN)
                while (left_s := deadline - time.monotonic()) > 0:
                    if not poll.poll(int(min(left_s, STOPPED_S) * 1000)):
                        if self.child.is_stopped():
                            self.child.kill()  # it would never end by itself
                    elif data := os.read(self._status, 1 << 16):
                        pieces.append(data)
                    else:
                        break
                self._said = b"".join(pieces)
                os.close(self._status)
            return self._said

    def explained(self, error: OSError) -> SandboxError:
        """Why nothing can be asked of it."""
        if self._control < 0:
            return SandboxError("this sandbox is closed")
        if not self.child.gone(LAST_S):
            return BackendError(f"the sandbox does not answer: {(error.strerror or '').lower()}")
        return self.failure(self.said())

    def failure(self, said: bytes) -> SandboxError:
        """Why it could not be set up, or has ended, as its launcher reported it."""
        return _failure(said, self._limits)

    def ask_to_end(self) -> None:
        """Have everything in it ended; ``close`` waits for that."""
        with self._lock:
            if self._control < 0 or self._asked_to_end or self._owner != os.getpid():
                return
            self._asked_to_end = True
            try:
                self._ask(_request(_CLOSE), [])
            except OSError:
                pass  # it has ended

    def close(self) -> bool:
        """End everything in it and wait for that; False if it can't be ended."""
        self.ask_to_end()
        with self._lock:
            if self._control < 0 or self._owner != os.getpid():
                return True
            control, self._control = self._control, -1
        self.said(KILL_S)
        gone = self.child.reap(LAST_S)
        os.close(control)
        return gone

    def __del__(self) -> None:
        if self._control >= 0:
            self.close()


def _failure(said: bytes, limits: Limits) -> SandboxError:
    from wardian.sandbox.run.status import read_events

    by_kind = {event["event"]: event for event in read_events(said)}
    if "failed" in by_kind:
        from wardian.sandbox.run.failures import explain

        return explain(by_kind["failed"], limits)
    reason = by_kind["ended"]["reason"] if "ended" in by_kind else ""
    if reason in ("cpu", "memory", "disk"):
        return SandboxError(
            f"this sandbox met its {reason} limit, and ended", hint="make a new one"
        )
    return BackendError("this sandbox was ended from outside", hint="make a new one")


def command_records(argv: Sequence[str], env: Mapping[str, str], cwd: str) -> bytes:
    """One command, as core/command.c reads it."""
    records = [record("arg", word) for word in argv]
    records += [environment_records(tuple(env.items())), record("cwd", cwd)]
    return b"".join(records)


def _request(
    kind: bytes,
    streams: int = 0,
    flags: int = 0,
    *,
    family: int = 0,
    size: tuple[int, int] = (0, 0),
    command: int = 0,
    time_ms: int = 0,
    path: bytes = b"",
) -> bytes:
    """``struct request`` of core/commands.c."""
    return b"".join(
        (
            kind,
            bytes((streams, flags, family)),
            *(number.to_bytes(2, "little") for number in size),
            command.to_bytes(8, "little"),
            time_ms.to_bytes(8, "little"),
            path.ljust(_PATH_BYTES, b"\0"),
        )
    )


def _socket_pair() -> tuple[int, int]:
    ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
    return launcher.raised(ours.detach(), FIRST), launcher.raised(theirs.detach(), FIRST)


def _close(fds: list[int]) -> None:
    for fd in fds:
        os.close(fd)
