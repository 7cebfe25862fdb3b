"""The process that holds one living sandbox: it listens on the sandbox's socket, starts what
clients ask for, and ends the sandbox when it is idle, when its login session is over, or when it is
asked to. There is one per sandbox, and no other."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import stat
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from wardian.errors import SandboxError, UsageError, WardianError
from wardian.living.commands import LivingCommands, Rendering, send_error
from wardian.living.directory import LOG, SOCKET, SocketDirectory
from wardian.living.journal import SandboxLog
from wardian.living.peers import is_outside, is_own_user
from wardian.living.wire import PROTOCOL, Channel, Message, field

if TYPE_CHECKING:
    from collections.abc import Callable

    from wardian.living.detaching import Readiness
    from wardian.sandbox.sandbox import Sandbox

LOOK_S = 5.0  # how often it is looked whether sandbox and socket are still there
REQUEST_S = 10.0  # a client that connects and asks nothing
ENDINGS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
PARTING_S = 2.0
KEPT_LOG_S = 7 * 24 * 3600


class Lifetime(NamedTuple):
    """When a sandbox ends by itself: after so long without a command, and with this process, the
    leader of the terminal's session; None for never."""

    idle_s: float | None
    leader: int | None


class Supervisor:
    """Holds a sandbox under a name."""

    def __init__(
        self, name: str, sandbox: Sandbox, lifetime: Lifetime, rendering: Rendering, version: str
    ) -> None:
        self._name, self._sandbox, self._lifetime = name, sandbox, lifetime
        self._version = version
        self._log = SandboxLog()
        self._commands = LivingCommands(sandbox, self._log, rendering)
        self._started_s = time.monotonic()
        self._ending = ""  # why, once it is to end
        self._waiting: list[Channel] = []  # clients of ``down``
        self._attended: dict[threading.Thread, socket.socket] = {}
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._commands.on_change = self._poke

    def hold(self, directory: SocketDirectory, readiness: Readiness) -> None:
        """Take the name, report that all is ready, and serve until the end. Raises SandboxError if
        the name is taken."""
        for number in ENDINGS:
            signal.signal(number, self._on_signal)
        try:
            listener = directory.listen(self._name)
        except FileExistsError:
            raise SandboxError(
                f"there is a sandbox {self._name} already",
                hint=f"use it, or end it: wardian down {self._name}",
            ) from None
        own = os.lstat(f"{self._name}{SOCKET}", dir_fd=directory.fd)
        try:
            leader = _pidfd(self._lifetime.leader)
            log = _new_log(directory, self._name)
            readiness.ready(log)
            os.close(log)
            self._log.add(0, "sandbox", f"{self._name} started by wardian {self._version}")
            self._serve(listener, leader, directory, own)
        finally:
            _give_up(directory, self._name, own)
            listener.close()
            self._close(directory)

    def _on_signal(self, number: int, frame: object) -> None:
        self._end(f"ended by {signal.Signals(number).name}")

    def _end(self, why: str) -> None:
        self._ending = self._ending or why
        self._poke()

    def _poke(self) -> None:
        try:
            os.write(self._wake, b"!")
        except OSError:
            pass  # it is awake

    # Serving

    def _serve(
        self, listener: Any, leader: int | None, directory: SocketDirectory, own: os.stat_result
    ) -> None:
        poll = select.poll()
        for fd in (listener.fileno(), self._woken, leader):
            if fd is not None:
                poll.register(fd, select.POLLIN)
        looked_s = time.monotonic()
        while not self._ending:
            for fd, _ in poll.poll(int(1000 * self._patience_s())):
                if fd == listener.fileno():
                    self._accept(listener)
                elif fd == leader:
                    self._end("its login session ended")
                else:
                    os.read(self._woken, 4096)
            idle_s = self._commands.idle_s()
            if self._lifetime.idle_s is not None and idle_s >= self._lifetime.idle_s:
                self._end(f"idle for {idle_s:.0f} s")
            if time.monotonic() - looked_s >= LOOK_S or not idle_s:
                looked_s = time.monotonic()
                self._look(directory, own)

    def _patience_s(self) -> float:
        if self._lifetime.idle_s is None or not (idle_s := self._commands.idle_s()):
            return LOOK_S
        return min(LOOK_S, max(0.01, self._lifetime.idle_s - idle_s))

    def _look(self, directory: SocketDirectory, own: os.stat_result) -> None:
        if self._sandbox.ended:
            self._end("the sandbox itself ended, by a limit or from outside")
        try:
            found = os.lstat(f"{self._name}{SOCKET}", dir_fd=directory.fd)
            there = os.path.samestat(found, own)
        except OSError:
            there = False
        if not there:
            self._end("its socket was removed")

    def _accept(self, listener: Any) -> None:
        try:
            accepted, _ = listener.accept()
        except OSError:
            time.sleep(0.05)  # no descriptor is left
            return
        thread = threading.Thread(target=self._attend, args=(accepted,), daemon=True)
        self._attended[thread] = accepted
        try:
            thread.start()
        except RuntimeError:
            del self._attended[thread]
            accepted.close()  # no thread can be had

    def _attend(self, accepted: socket.socket) -> None:
        channel = Channel(accepted)
        accepted.settimeout(REQUEST_S)
        fds: tuple[int, ...] = ()
        try:
            if not is_own_user(accepted) or not is_outside(accepted):
                raise UsageError("this sandbox is for processes of its user outside of sandboxes")
            greeting = (("protocol", PROTOCOL), ("version", self._version), ("pid", os.getpid()))
            channel.send("hello", [field(name, value) for name, value in greeting])
            request = channel.receive()
            if request is not None:
                fds = request.fds
                self._answer(channel, request)
        except (WardianError, ValueError) as error:
            send_error(channel, error)
        except OSError:
            pass  # the client is gone
        finally:
            for fd in fds:
                os.close(fd)
            if channel not in self._waiting:
                channel.close()
            self._attended.pop(threading.current_thread(), None)

    def _answer(self, channel: Channel, request: Message) -> None:
        if request.number("protocol") != PROTOCOL:
            raise UsageError(f"this sandbox speaks protocol {PROTOCOL}")
        answers: dict[str, Callable[[Channel, Message], None]] = {
            "run": self._run,
            "status": self._status,
            "log": self._send_log,
            "forward": self._forward,
            "down": self._down,
        }
        if request.kind not in answers:
            raise UsageError(f"this sandbox knows no request {request.kind!r}")
        answers[request.kind](channel, request)

    def _run(self, channel: Channel, request: Message) -> None:
        channel.sock.settimeout(None)
        self._commands.serve(channel, request)

    def _status(self, channel: Channel, request: Message) -> None:
        document = {
            "name": self._name,
            "pid": os.getpid(),
            "age_s": round(time.monotonic() - self._started_s, 3),
            "idle_s": round(self._commands.idle_s(), 3),
            "ends_when_idle_s": self._lifetime.idle_s,
            "ends_with_pid": self._lifetime.leader,
            "work": self._sandbox.policy.work,
            "memory_bytes": _memory_below(os.getpid()),
            "commands": self._commands.documents(),
        }
        channel.send("status", [field("document", json.dumps(document))])

    def _send_log(self, channel: Channel, request: Message) -> None:
        channel.sock.settimeout(None)
        for entry in self._log.entries(follow=request.has("follow")):
            number = request.number("command")
            if number in (0, entry.command):
                channel.send("entry", [field("line", str(entry)), field("kind", entry.kind)])

    def _forward(self, channel: Channel, request: Message) -> None:
        """As long as the client stays."""
        forward = self._sandbox.forward(request.number("port"), request.number("host_port"))
        self._commands.hold(1)
        try:
            channel.send("forwarding", [field("host_port", forward.host_port)])
            channel.sock.settimeout(None)
            channel.receive()
        finally:
            forward.close()
            self._commands.hold(-1)

    def _down(self, channel: Channel, request: Message) -> None:
        """The answer comes when all is gone."""
        running = json.dumps(self._commands.documents())
        channel.send("ending", [field("commands", running)])
        self._waiting.append(channel)
        self._end("wardian down")

    # The end

    def _close(self, directory: SocketDirectory) -> None:
        error = None
        try:
            self._sandbox.close()
        except Exception as failure:
            error = failure
            self._log.add(0, "sandbox", f"could not be ended: {failure}")
        deadline = time.monotonic() + PARTING_S
        while self._commands.running() and time.monotonic() < deadline:
            time.sleep(0.005)  # their threads only have to note the end
        self._log.add(0, "sandbox", self._ending or "ended")
        self._log.close()
        _write_log(directory, self._name, self._log)
        self._part(deadline)
        for channel in self._waiting:
            if error is not None:
                send_error(channel, error)
                continue
            try:
                channel.send("gone")
            except OSError:
                pass  # nobody waits any more

    def _part(self, deadline: float) -> None:
        """Clients hear how their commands ended, and nothing more is heard of them."""
        for thread, accepted in list(self._attended.items()):
            try:
                accepted.shutdown(socket.SHUT_RD)
            except OSError:
                pass  # it is closed
            thread.join(max(0.0, deadline - time.monotonic()))


def _give_up(directory: SocketDirectory, name: str, own: os.stat_result) -> None:
    """Remove the socket, if it is still ours."""
    with directory.locked():
        try:
            if os.path.samestat(os.lstat(f"{name}{SOCKET}", dir_fd=directory.fd), own):
                os.unlink(f"{name}{SOCKET}", dir_fd=directory.fd)
        except OSError:
            pass  # someone removed it


def _pidfd(pid: int | None) -> int | None:
    """Readable once that process has ended. Raises SandboxError."""
    if pid is None:
        return None
    try:
        return os.pidfd_open(pid)
    except OSError as error:
        raise SandboxError(
            f"the login session can't be watched: {(error.strerror or '').lower()}",
            hint="start it without: --keep",
        ) from None


def _new_log(directory: SocketDirectory, name: str) -> int:
    """An empty log file; what is left of sandboxes that ended long ago is removed."""
    now = time.time()
    for found in os.listdir(directory.fd):
        if found.endswith(LOG):
            info = os.lstat(found, dir_fd=directory.fd)
            if stat.S_ISREG(info.st_mode) and now - info.st_mtime > KEPT_LOG_S:
                os.unlink(found, dir_fd=directory.fd)
    return _opened_log(directory, name, os.O_TRUNC | os.O_APPEND)


def _write_log(directory: SocketDirectory, name: str, log: SandboxLog) -> None:
    try:
        fd = _opened_log(directory, name, os.O_APPEND)
        with open(fd, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(f"{entry}\n" for entry in log.entries())
    except OSError:
        pass  # the directory went with the login session, or the disk is full


def _opened_log(directory: SocketDirectory, name: str, flags: int) -> int:
    flags |= os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(f"{name}{LOG}", flags, 0o600, dir_fd=directory.fd)


def _memory_below(pid: int) -> int:
    """What the processes below one have for themselves: resident and not shared with a file."""
    page, total, left = os.sysconf("SC_PAGE_SIZE"), 0, [pid]
    while left:
        one = left.pop()
        try:
            for task in os.listdir(f"/proc/{one}/task"):
                with open(f"/proc/{one}/task/{task}/children", encoding="ascii") as children:
                    left += map(int, children.read().split())
            if one != pid:
                with open(f"/proc/{one}/statm", encoding="ascii") as statm:
                    _, resident, shared, *_ = map(int, statm.read().split())
                total += (resident - shared) * page
        except (OSError, ValueError):
            continue  # it has ended
    return total
