"""Starting the launcher: one spawn, no fork of this process, no descriptor of it left inside."""

from __future__ import annotations

import fcntl
import os

from wardian import compiled
from wardian.errors import BackendError

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from wardian.values import NamedTuple

LAUNCHER = os.path.join(compiled.PLACE, "wardian-launch")
FD_PLAN, FD_STATUS, FD_CONTROL, FD_FIRST_STREAM, FD_TRACE = 3, 4, 5, 6, 9
FD_FIRST_COPY = 10
FD_GATEWAY = 12
ENOUGH_FILES = 64  # for a caller of the launcher that does nothing else
# Above every descriptor that the launcher is given by number.
CLEAR_OF_TARGETS = 16
# Signals that are not ignored, whatever this process ignores: all but KILL, STOP and libc's own
# two, which core/signals.c sees to.
DEFAULTS = [number for number in range(1, 65) if number not in (9, 19, 32, 33)]


class Launched(NamedTuple):
    """A running launcher and this process's ends of its two pipes."""

    pid: int
    status: int
    control: int


def raised(fd: int, least: int = CLEAR_OF_TARGETS) -> int:
    """The same file under a number that no dup2 in the child will overwrite."""
    if fd >= least:
        return fd
    high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, least)
    os.close(fd)
    return high


def pipe(least: int = CLEAR_OF_TARGETS) -> tuple[int, int]:
    """A pipe whose ends stay out of the way."""
    reader, writer = os.pipe()
    return raised(reader, least), raised(writer, least)


def control_socket() -> tuple[int, int]:
    """The launcher's end and ours of what a living sandbox is asked through."""
    import _socket

    theirs, ours = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    return raised(theirs.detach()), raised(ours.detach())


def spawn(
    plan: bytes, streams: dict[int, int], launcher: str = LAUNCHER, *, living: bool = False
) -> Launched:
    """Start the launcher; ``streams`` maps its descriptor numbers to ours. Raises BackendError."""
    opened: list[int] = []
    try:
        plan_fd = memory_file(plan)
        opened.append(plan_fd)
        status, status_out = pipe()
        opened += (status, status_out)
        control_in, control = control_socket() if living else pipe()
        opened += (control_in, control)
        wanted = {FD_PLAN: plan_fd, FD_STATUS: status_out, FD_CONTROL: control_in} | streams
        actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = [
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDWR, 0),
            (os.POSIX_SPAWN_DUP2, 0, 1),
            (os.POSIX_SPAWN_DUP2, 0, 2),
        ]
        actions += [(os.POSIX_SPAWN_DUP2, fd, target) for target, fd in wanted.items()]
        pid = os.posix_spawn(
            launcher, ["wardian-launch"], {}, file_actions=actions, setsigdef=DEFAULTS
        )
    except OSError as error:
        _close(opened)
        raise explained(error, launcher) from None
    except BaseException:
        _close(opened)  # a launcher that was started already ends when its control pipe does
        raise
    for fd in (plan_fd, status_out, control_in):
        os.close(fd)
    return Launched(pid, status, control)


def spawn_and_give(
    plan: bytes,
    given: dict[int, int],
    ends: dict[int, int],
    launcher: str = LAUNCHER,
    *,
    living: bool = False,
) -> Launched:
    """``spawn``, which takes over the descriptors that are ``given``; where it fails, our own
    ``ends`` of them are closed, too. Raises BackendError."""
    try:
        return spawn(plan, given, launcher, living=living)
    except BaseException:
        _close(list(ends.values()))
        raise
    finally:
        _close(list(given.values()))


def memory_file(data: bytes, *, least: int = CLEAR_OF_TARGETS) -> int:
    """A file in memory with this content, to be read from its beginning."""
    fd = raised(os.memfd_create("wardian-file", os.MFD_CLOEXEC), least)
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _close(fds: list[int]) -> None:
    for fd in fds:
        os.close(fd)


def explained(error: OSError, launcher: str) -> BackendError:
    """Why the launcher could not be started, and what to do."""
    try:
        os.stat(launcher)
    except PermissionError:
        pass  # reported below
    except OSError:
        return BackendError(
            f"the launcher is not there: {launcher}",
            hint="install again with a C compiler present: pip install --force-reinstall wardian",
        )
    if not os.access(launcher, os.X_OK):
        return BackendError(
            f"the launcher can't be executed: {launcher}",
            hint="is it on a filesystem mounted noexec, or in a directory closed to this user?",
        )
    what = (error.strerror or str(error)).lower()
    return BackendError(f"the launcher can't be started: {what}", hint=_limit_hint(error))


def _limit_hint(error: OSError) -> str:
    import errno
    import resource

    few = resource.getrlimit(resource.RLIMIT_NOFILE)[0] < ENOUGH_FILES
    if error.errno in (errno.EMFILE, errno.ENFILE) or few:
        return "raise the limit on open files: ulimit -n 1024"
    if error.errno == errno.EFBIG:
        return "raise the limit on file sizes: ulimit -f unlimited"
    return "a limit on processes, open files or file sizes may be too low; see: ulimit -a"
