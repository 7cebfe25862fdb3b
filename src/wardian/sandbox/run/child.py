"""The supervisor as a process of ours: waited for, looked after, and ended if it does not end."""

from __future__ import annotations

import os
import select
import time

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
else:
    import _signal as signal  # without the enums of signal, which cost as much as ten modules

LAST_S = 5.0  # for what was killed; longer, and it hangs in the kernel
# The supervisor ends by itself, in all but three cases: it is stopped, it hangs in the kernel, or
# someone else holds its end of a pipe. So it is looked after now and then.
TICK_S = 5.0
STOPPED_S = 2.0  # after a kill, or beyond the time limit, that a stopped supervisor can't hear
KILL_S = 30.0  # it gives a guest that hangs in the kernel 20 s
OVERDUE_S = 60.0  # beyond the time limit: setting up may take 30 s


class Child:
    """A process of ours to be waited for, and ended if it does not end. Every wait has a bound: it
    may be stopped, or hang in the kernel."""

    def __init__(self, pid: int) -> None:
        """``pid`` 0: there is none to be waited for."""
        self.pid, self.fd = pid, -1
        self.is_gone = pid <= 0
        try:
            self.fd = -1 if self.is_gone else os.pidfd_open(pid)
        except ProcessLookupError:
            self.is_gone = True  # SIGCHLD is ignored, or someone else waited, and it was quick
        except OSError:
            pass  # an old kernel, or no descriptor is left: then it is asked now and then

    def gone(self, within_s: float = 0.0) -> bool:
        """True once it has ended."""
        deadline = time.monotonic() + within_s
        while not self.is_gone:
            left_s = max(0.0, deadline - time.monotonic())
            if self.fd >= 0:
                self.is_gone = bool(_readable(self.fd, left_s))
            else:
                self.is_gone = not _lives(self.pid)
                time.sleep(min(left_s, 0.01))
            if left_s <= 0:
                break
        return self.is_gone

    def is_stopped(self) -> bool:
        """Someone has sent it SIGSTOP; left as it is, it would never end."""
        try:
            options = os.WSTOPPED | os.WNOHANG | os.WNOWAIT
            return self.fd >= 0 and os.waitid(os.P_PIDFD, self.fd, options) is not None
        except OSError:
            return False

    def kill(self) -> None:
        """Also what is stopped ends by this; with a launcher ends its guest."""
        try:
            if self.fd >= 0:
                signal.pidfd_send_signal(self.fd, signal.SIGKILL)
            elif not self.is_gone:
                os.kill(self.pid, signal.SIGKILL)
        except OSError:
            pass  # it has ended

    def reap(self, within_s: float) -> bool:
        """Wait for its end, bring it about if that does not come; True if it is gone."""
        if not self.gone(within_s):
            self.kill()
            self.gone(LAST_S)
        fd, self.fd = self.fd, -1
        try:
            if fd >= 0:  # by pid, this could be another one that has its number now
                os.waitid(os.P_PIDFD, fd, os.WEXITED | os.WNOHANG)
            elif self.pid > 0:
                os.waitpid(self.pid, os.WNOHANG)
        except OSError:
            pass  # SIGCHLD is ignored, or someone else waited
        finally:
            if fd >= 0:
                os.close(fd)
        return self.is_gone


class SharedChild(Child):
    """The supervisor of a living sandbox, as one command of it sees it: others wait for it, too."""

    def __init__(self, child: Child) -> None:
        """It has no descriptor of its own to be polled: whoever closes the sandbox closes that,
        and its number may be another's then. A command's status pipe ends with the supervisor."""
        self._child = child
        self.pid, self.fd, self.is_gone = child.pid, -1, child.is_gone

    def gone(self, within_s: float = 0.0) -> bool:
        """True once it has ended."""
        self.is_gone = self._child.gone(within_s)
        return self.is_gone

    def is_stopped(self) -> bool:
        """Someone has sent it SIGSTOP."""
        return self._child.is_stopped()

    def kill(self) -> None:
        """With it ends the sandbox."""
        self._child.kill()

    def reap(self, within_s: float) -> bool:
        """Left to whoever closes the sandbox."""
        return True


class Oversight:
    """How long a supervisor is waited for; ``time_s`` is the limit that it holds itself."""

    def __init__(self, child: Child, time_s: float | None) -> None:
        self.child = child
        self._deadline = None if time_s is None else time.monotonic() + time_s + OVERDUE_S
        self._stopped_s: float | None = None  # since when it was seen to be stopped
        self.killed_s: float | None = None  # since when its end is wanted

    def is_over(self, kill: Callable[[], None]) -> bool:
        """Look after it: is nothing more to be expected of it? ``kill`` asks it to end the run."""
        child, now_s = self.child, time.monotonic()
        if child.gone():
            return True
        if self._deadline is not None and self.killed_s is None:
            if now_s >= self._deadline:
                kill()
            elif now_s >= self._deadline - OVERDUE_S + STOPPED_S:
                self._end_stopped(child, now_s, kill)
        if self.killed_s is None:
            return False
        waited_s = now_s - self.killed_s
        if waited_s >= KILL_S or (waited_s >= STOPPED_S and child.is_stopped()):
            child.kill()
        return waited_s >= KILL_S + LAST_S

    def _end_stopped(self, child: Child, now_s: float, kill: Callable[[], None]) -> None:
        """Time is up, and whoever holds the limit may be stopped. Whoever stopped us as well may
        have continued us first, so it is looked at twice."""
        if not child.is_stopped():
            self._stopped_s = None
        elif self._stopped_s is None:
            self._stopped_s = now_s
        elif now_s - self._stopped_s >= STOPPED_S:
            kill()
            child.kill()


def _readable(fd: int, within_s: float) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(int(within_s * 1000) + 1 if within_s > 0 else 0))


def _lives(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except OSError:
        return False
