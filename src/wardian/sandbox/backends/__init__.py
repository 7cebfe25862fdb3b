"""The sandboxes that can run a command, each one leaf with one class that follows ``Backend``.

wardian     our own launcher, every wall of it
bubblewrap  the policy as options of ``bwrap``
bwrap       ``bwrap`` itself: where it is, what it is called with, what its last words mean
gvisor      the policy as an OCI bundle for ``runsc``
host        no sandbox at all
bare        starting a command by the launcher without walls of the launcher's own
walls       which of the policy's walls another sandbox puts up
interior    what a guest of another sandbox finds inside
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from wardian.errors import UsageError
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.run.launcher import FD_FIRST_COPY
from wardian.sandbox.run.process import OnBytes, Process
from wardian.sandbox.run.records import record

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple, Protocol
else:
    from wardian.values import NamedTuple

    Protocol = object

NAMES = ("wardian", "bubblewrap", "gvisor", "host")


class Copies(NamedTuple):
    """Descriptors of files that get standard output and error as well, so many bytes of each."""

    stdout: int
    stderr: int
    bytes: int


class Job(NamedTuple):
    """One command and its surroundings, the same for every backend."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str | None = None
    input_bytes: bytes | None = None
    time_s: float | None = None
    on_stdout: OnBytes | None = None
    on_stderr: OnBytes | None = None
    keep: bool = False  # also what a callback takes
    inherit: bool = False  # the caller's own standard streams instead of pipes
    tty: bool = False
    on_trace: OnBytes | None = None  # gets the records of core/trace.c, as they come
    trace_every: bool = False  # every call, not each thing once
    copies: Copies | None = None  # only with inherit; a backend that can't has none


def copy_records(job: Job) -> bytes:
    """What has the supervisor copy the output that it relays."""
    if job.copies is None:
        return b""
    room = job.copies.bytes
    return b"".join(record("copy", i, FD_FIRST_COPY + i - 1, room) for i in (1, 2))


class Backend(Protocol):
    """What a sandbox must be able to do to stand behind ``Sandbox``."""

    name: str

    def prepare(self, policy: Policy, *, own_work: str | None = None) -> None:
        """Decide everything that does not differ between runs. Raises SandboxError.

        ``own_work`` is a directory of ours that serves as /work where the policy names none; it
        is to be removed should this process be killed during a run.
        """

    def start(self, job: Job) -> Process:
        """Start the job. Raises SandboxError."""


def backend(name: str) -> Backend:
    """The backend of that name. Raises UsageError."""
    makers: dict[str, Callable[[], Backend]] = {
        "wardian": _wardian,
        "bubblewrap": _bubblewrap,
        "gvisor": _gvisor,
        "host": _host,
    }
    if name not in makers:
        raise UsageError(f"there is no backend {name!r}", hint="backends: " + ", ".join(NAMES))
    return makers[name]()


def shortfall(name: str, policy: Policy) -> tuple[str, ...]:
    """The protections that a run of this policy would have to give up by name in that backend, for
    it can't put them up here. ``wardian`` says so itself, by WallError; ``host`` has none to give
    up. Raises UsageError."""
    if name == "bubblewrap":
        from wardian.sandbox.backends import bubblewrap

        return bubblewrap.shortfall(policy)
    if name == "gvisor":
        from wardian.sandbox.backends import gvisor

        return gvisor.shortfall(policy)
    return ()


def version(name: str) -> str:
    """What another sandbox's program says of itself; nothing for our own. Raises BackendError."""
    if name == "bubblewrap":
        from wardian.sandbox.backends import bwrap

        return bwrap.version(bwrap.program())
    if name == "gvisor":
        from wardian.sandbox.backends import gvisor

        return gvisor.version(gvisor.program())
    return ""


def _wardian() -> Backend:
    from wardian.sandbox.backends.wardian import Wardian

    return Wardian()


def _bubblewrap() -> Backend:
    from wardian.sandbox.backends.bubblewrap import Bubblewrap

    return Bubblewrap()


def _gvisor() -> Backend:
    from wardian.sandbox.backends.gvisor import Gvisor

    return Gvisor()


def _host() -> Backend:
    from wardian.sandbox.backends.host import HostBackend

    return HostBackend()


__all__ = ["NAMES", "Backend", "Copies", "Job", "backend", "copy_records", "shortfall", "version"]
