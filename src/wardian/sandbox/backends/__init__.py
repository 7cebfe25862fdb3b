"""The sandboxes that can run a command. Adding one is adding a file that has ``backend``, and its
name to ``NAMES``.

wardian     our own launcher, every wall of it
living      its living sandbox: walls that stand, and the commands behind them
landlock    no namespaces and no mounts: Landlock, the syscall filter and the supervisor
runs_own    where such a run keeps its private files, and what paths inside mean there
spare       a place made ahead of the next run, where each run has one of its own
bubblewrap  the policy as options of ``bwrap``
bubblewrap_stock  ``bwrap`` without what wardian adds, to compare with
bwrap       ``bwrap`` itself: where it is, what it is called with, what its last words mean
gvisor      the policy as an OCI bundle for ``runsc``
runsc       ``runsc`` itself: where it is, what it is called with
host        no sandbox at all: the oracle
bare        a command under the launcher's supervision, without walls of the launcher's own
walls       which of the policy's walls another sandbox puts up
interior    a command as it reads in another sandbox, and where a path inside lies outside
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wardian.errors import UsageError
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.run.launcher import FD_FIRST_COPY
from wardian.sandbox.run.process import Process
from wardian.sandbox.run.records import record
from wardian.sandbox.run.traffic import OnBytes

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NamedTuple, Protocol

    from wardian.sandbox.backends.living import LivingPlace
    from wardian.sandbox.network.in_force import RulesInForce
    from wardian.sandbox.run.result import Refusal
    from wardian.sandbox.run.unreached import OnUnreached

    OnRefusal = Callable[[Refusal], None]
else:
    from wardian.values import NamedTuple

    Protocol = object

    OnRefusal = object

NAMES = ("wardian", "landlock", "bubblewrap", "gvisor", "host")
# For measurements alone: commands that run something for people don't offer it.
MEASURED = ("bubblewrap-stock",)


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
    on_refusal: OnRefusal | None = None  # gets what a network by name refuses, as it does
    on_unreached: OnUnreached | None = None  # as it happens; a backend that can't does not call it
    tail: bool = False  # only with inherit: the result has the last of standard error
    stdin: bool = False  # open until the caller closes it
    pty: tuple[int, int] | None = None  # a terminal of its own: rows and columns
    background: bool = False  # goes on when nobody has its handle, until the sandbox closes
    given: tuple[int | None, ...] | None = None  # the guest's ends of pipes of the caller's own
    network: RulesInForce | None = None  # of a network by name, shared by a sandbox's runs
    to_the_end: bool = False  # nobody has a handle of it while it runs
    event_loop: Any = None  # the caller's own (asyncio), if the run is waited for there


def copy_records(job: Job) -> bytes:
    """What has the supervisor keep, or copy, of the output that it relays."""
    tail = record("flag", "tail") if job.tail else b""
    if job.copies is None:
        return tail
    room = job.copies.bytes
    return tail + b"".join(record("copy", i, FD_FIRST_COPY + i - 1, room) for i in (1, 2))


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

    def shortfall(self, policy: Policy) -> tuple[str, ...]:
        """The protections that are not available here and that a run of this policy would have to
        give up by name. Raises UsageError."""

    def version(self) -> str:
        """What its program says of itself; nothing for our own. Raises BackendError."""


class LivingBackend(Backend, Protocol):
    """One that can keep a place for many commands."""

    programs: tuple[str, ...]  # what the place has besides what its first command needs

    def start_inside(self, job: Job) -> Process:
        """Start the job in the place, made when it is first wanted. Raises SandboxError."""

    def living(self, *, job: Job | None = None) -> LivingPlace:
        """The place itself, started for this job if it is not there. Raises SandboxError."""

    def close(self) -> bool:
        """End the place and all in it; False if that can't be done."""


def backend(name: str) -> Backend:
    """The backend of that name. Raises UsageError."""
    if name not in (*NAMES, *MEASURED):
        raise UsageError(f"there is no backend {name!r}", hint="backends: " + ", ".join(NAMES))
    path = f"{__name__}.{name.replace('-', '_')}"
    module = __import__(path, fromlist=["backend"])  # importlib takes time to load
    made: Backend = module.backend()
    return made


def check_backends(names: str, known: Sequence[str] = NAMES) -> tuple[str, ...]:
    """``wardian,host`` as a tuple. Raises UsageError."""
    chosen = tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    for name in chosen:
        if name not in known:
            raise UsageError(f"there is no backend {name!r}", hint="backends: " + ", ".join(known))
    if not chosen:
        raise UsageError("no backend was named", hint="backends: " + ", ".join(known))
    return chosen


def shortfall(name: str, policy: Policy) -> tuple[str, ...]:
    """What a run of this policy would have to give up in that backend. Raises UsageError."""
    return backend(name).shortfall(policy)


def fitted(name: str, policy: Policy) -> Policy:
    """The policy with its shortfall in that backend given up by name; whoever asks for it reports
    ``shortfall``. Raises UsageError."""
    given_up = shortfall(name, policy)
    return policy._replace(degrade=tuple(dict.fromkeys((*policy.degrade, *given_up))))


def version(name: str) -> str:
    """What the program of that backend says of itself. Raises BackendError, UsageError."""
    return backend(name).version()


__all__ = [
    "MEASURED",
    "NAMES",
    "Backend",
    "Copies",
    "Job",
    "backend",
    "check_backends",
    "copy_records",
    "fitted",
    "shortfall",
    "version",
]
