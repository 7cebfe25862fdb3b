"""The backend ``host``: no sandbox at all, the oracle that says how a command behaves without.

It keeps to the protocol of the others: same jobs, same results, time and output limits, and no
process of the command's own group left behind. It protects from nothing, and its results say so.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import time

from wardian.errors import BackendError, ShareError
from wardian.sandbox.backends import Job
from wardian.sandbox.backends.lanes import Streams, captured
from wardian.sandbox.backends.supervision import End, Run, Told, time_limit
from wardian.sandbox.backends.tree import Tree
from wardian.sandbox.policy.policy import Limits, Policy
from wardian.sandbox.root.layout import WORK
from wardian.sandbox.root.shares import admitted_unwalled, is_below
from wardian.sandbox.run.plan import ALWAYS, DEGRADABLE
from wardian.sandbox.run.process import Process
from wardian.sandbox.run.result import Limit, Protection

# The host's own, as a command started by hand would find them.
ENVIRONMENT = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR")
NOTE = "backend host puts up no walls"


class HostBackend:
    """Starts commands as they are."""

    name = "host"

    def prepare(self, policy: Policy, *, own_work: str | None = None) -> None:
        """Raises ShareError if the work directory is not one, or a share is not there."""
        self._policy, self._work = policy, policy.work or own_work
        if self._work is not None and not os.path.isdir(self._work):
            raise ShareError(self._work, "it is not a directory")
        self._work = admitted_unwalled(policy, own_work)

    def start(self, job: Job) -> Process:
        """Start the job; a command that can't be executed is a result, as elsewhere."""
        output_bytes = None if job.inherit else self._policy.limits.output_bytes
        told = Told(
            self.name,
            self._policy,
            tuple(_absent(name) for name in _wall_names()),
            (
                Limit("time", time_limit(job, self._policy), "host backend"),
                Limit("output", output_bytes, "host backend"),
            ),
        )
        return Run(
            job,
            _Command(job, self._policy, self._work),
            lambda: Streams({}, {}, []) if job.inherit else captured(job),
            told,
        ).start()


def _wall_names() -> tuple[str, ...]:
    return tuple(dict.fromkeys((*ALWAYS, "namespace.network", *DEGRADABLE)))


def _absent(name: str) -> Protection:
    return Protection(name, requested=True, available=False, enforced=False, note=NOTE)


class _Command:
    """A plain child and its process group."""

    told = -1

    def __init__(self, job: Job, policy: Policy, work: str | None) -> None:
        self._job, self._policy, self._work = job, policy, work
        self.pid = 0
        self.started: float | None = None
        self.watch: Tree | None = None
        self._private: str | None = None

    def start(self, streams: Streams) -> None:
        """Raises OSError for a command that can't be executed, BackendError for a bad cwd."""
        nothing = None if self._job.inherit else subprocess.DEVNULL
        cwd = self._cwd()
        try:
            self._child = subprocess.Popen(
                self._job.argv,
                stdin=streams.given.get(0, nothing),
                stdout=streams.given.get(1),
                stderr=streams.given.get(2),
                cwd=cwd,
                env=self._environment(),
                start_new_session=not self._job.inherit,
            )
        except OSError as error:
            if error.filename is not None and error.filename == cwd:
                raise BackendError(
                    f"the working directory can't be used: {cwd}: {error.strerror}"
                ) from None
            raise OSError(self._told_errno(error.errno or errno.EIO, cwd), "") from None
        self.pid, self.started = self._child.pid, time.monotonic()
        self.watch = Tree(self.pid, Limits())

    def _environment(self) -> dict[str, str]:
        own = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
        return own | self._policy.environment(os.environ) | dict(self._job.env)

    def _told_errno(self, number: int, cwd: str) -> int:
        """A directory of PATH that is closed to us does not make a missing program forbidden, nor
        a missing interpreter a script missing."""
        import shutil

        name = self._job.argv[0]
        if number == errno.EACCES and "/" not in name and shutil.which(name) is None:
            return errno.ENOENT
        if number == errno.ENOENT and "/" in name and os.path.isfile(os.path.join(cwd, name)):
            return errno.ELIBBAD
        return number

    def _cwd(self) -> str:
        wanted = os.path.join(WORK, self._job.cwd or "")
        if not is_below(wanted, WORK):
            return wanted
        work = self._work or self._private_work()
        return os.path.normpath(work + wanted[len(WORK) :])

    def _private_work(self) -> str:
        if self._private is None:
            import tempfile

            self._private = tempfile.mkdtemp(prefix="wardian-host-")
        return self._private

    def on_told(self) -> bool:
        """There is nobody between us and the command."""
        return False

    def send(self, number: int) -> None:
        """To the command alone."""
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            pass

    def kill(self) -> None:
        """Its process group; a command that shares our own is killed alone."""
        try:
            if self._job.inherit:
                os.kill(self.pid, signal.SIGKILL)
            else:
                os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def ended(self, status: int | None) -> End:
        """Raises BackendError where nobody can know the status."""
        self._child.returncode = status or 0  # waited for already
        if status is None:
            raise BackendError("how the command ended can't be known: this process ignores SIGCHLD")
        return End(status) if status >= 0 else End(signal=-status)

    def close(self) -> None:
        """The private work directory goes."""
        if self._private is not None:
            from wardian.sandbox.files import remove_tree

            try:
                remove_tree(self._private)
            except FileNotFoundError:
                pass  # the command has done that
