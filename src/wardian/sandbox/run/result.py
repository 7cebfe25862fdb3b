"""What came of a run: the guest's end, what it used, what held it, what it was refused."""

from __future__ import annotations

from wardian.errors import CommandFailed
from wardian.sandbox.policy.policy import Policy

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any, NamedTuple

    from wardian.sandbox.network.asking import AskedConnection
    from wardian.sandbox.network.outcomes import Connection
    from wardian.sandbox.policy.grants import Grant
    from wardian.sandbox.rerunning import Given
    from wardian.sandbox.run.reason import Reason
    from wardian.sandbox.run.weight import Weight
else:
    from wardian.values import NamedTuple

SCHEMA = "wardian.result/1"


class Usage(NamedTuple):
    """What the run used, all its processes together."""

    wall_s: float = 0.0
    user_s: float = 0.0
    system_s: float = 0.0
    peak_memory_bytes: int = 0
    processes: int = 0
    stdin_bytes: int = 0
    stdout_bytes: int = 0
    stderr_bytes: int = 0

    @property
    def cpu_s(self) -> float:
        """User and system time together."""
        return self.user_s + self.system_s

    def __repr__(self) -> str:
        from wardian.sandbox.run.shown import usage_line

        return usage_line(self)


class Limit(NamedTuple):
    """A limit, the mechanism that held it, and whether it ended the run."""

    name: str
    value: float | None
    mechanism: str
    struck: bool = False


class Protection(NamedTuple):
    """A wall: was it asked for, could this host give it, did it stand during the run."""

    name: str
    requested: bool
    available: bool
    enforced: bool
    note: str = ""


class Caller(NamedTuple):
    """A process of the guest's: its pid inside, its command line, and who started it."""

    pid: int
    command: str
    parents: tuple[Caller, ...] = ()

    def __str__(self) -> str:
        return self.command

    def document(self) -> dict[str, Any]:
        """As JSON; the nearest parent first."""
        above = [{"pid": one.pid, "command": one.command} for one in self.parents]
        return {"pid": self.pid, "command": self.command, "parents": above}


class Allow(NamedTuple):
    """What would allow it: the option, the lines of a policy file, and the same as data."""

    flag: str
    policy: str
    grants: tuple[Grant, ...] = ()  # none if it was read from a document

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {"flag": self.flag, "policy": self.policy}


class Refusal(NamedTuple):
    """Something the guest tried and was refused. ``kind`` is file, network, syscall, process or
    limit; ``allow`` is None where nothing would allow it; ``weight`` is how much it matters."""

    kind: str
    action: str
    target: str
    process: Caller
    reason: str
    count: int = 1  # type: ignore[assignment]  # hides tuple.count, which nobody needs
    time_s: float = 0.0
    allow: Allow | None = None
    weight: Weight = "notable"

    def document(self) -> dict[str, Any]:
        """As JSON (docs/reference/result.md)."""
        return self._asdict() | {
            "process": self.process.document(),
            "allow": self.allow.document() if self.allow is not None else None,
        }

    def __repr__(self) -> str:
        from wardian.sandbox.run.shown import refusal_line

        return refusal_line(self)


class LeftRunning(NamedTuple):
    """A process that was still running when the command had ended, and was ended: its pid inside,
    its command line on one harmless line, the TCP addresses that it listened on."""

    pid: int
    command: str
    listening: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = f" (listening on {', '.join(self.listening)})" if self.listening else ""
        return self.command + where


class Result(NamedTuple):
    """The end of one run. A non-zero exit is a result; ``check()`` turns it into an exception."""

    command: tuple[str, ...]
    exit_code: int
    reason: Reason
    signal: int | None = None
    detail: str = ""
    stdout: bytes = b""
    stderr: bytes = b""
    truncated: bool = False
    usage: Usage = Usage()
    limits: tuple[Limit, ...] = ()
    protections: tuple[Protection, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    refusals_dropped: int = 0
    policy: Policy | None = None
    backend: str = "wardian"
    left_running: tuple[LeftRunning, ...] = ()
    left_running_more: int = 0
    stderr_tail: bytes = b""  # of a command on the caller's own streams
    connections: tuple[Connection, ...] = ()  # of a network by name
    given: Given | None = None  # how it was started, for Sandbox.rerun; in no document
    asked: tuple[AskedConnection, ...] = ()  # what on_connect was asked, and what it answered

    @property
    def ok(self) -> bool:
        """The command ran to its end and exited with 0."""
        return self.exit_code == 0

    @property
    def text(self) -> str:
        """Standard output as text; bytes that are not UTF-8 become replacement characters."""
        return self.stdout.decode("utf-8", "replace")

    @property
    def likely_causes(self) -> tuple[Refusal, ...]:
        """Of the refusals those that mattered, the likeliest cause of a failure first."""
        if not self.refusals:
            return ()
        from wardian.sandbox.refusals.ranking import likely_causes

        return likely_causes(self)

    @property
    def policy_digest(self) -> str:
        """Names the policy that was in effect."""
        return self.policy.digest if self.policy is not None else ""

    def check(self) -> Result:
        """Return itself, or raise CommandFailed if the exit code is not 0."""
        if self.exit_code != 0:
            from wardian.sandbox.run.shown import failure_text

            message, stderr = failure_text(self)
            raise CommandFailed(self, message, stderr=stderr)
        return self

    def document(self, *, output: bool = False) -> dict[str, Any]:
        """The JSON document (docs/reference/result.md); output is included on request."""
        usage = self.usage._asdict() | {"cpu_s": self.usage.cpu_s}
        document: dict[str, Any] = {
            "schema": SCHEMA,
            "command": list(self.command),
            "backend": self.backend,
            "exit_code": self.exit_code,
            "signal": self.signal,
            "reason": self.reason,
            "detail": self.detail,
            "truncated": self.truncated,
            "usage": usage,
            "limits": [limit._asdict() for limit in self.limits],
            "protections": [protection._asdict() for protection in self.protections],
            "refusals": [refusal.document() for refusal in self.refusals],
            "refusals_dropped": self.refusals_dropped,
            "likely_causes": _positions(self.likely_causes, self.refusals),
            "left_running": [one._asdict() for one in self.left_running],
            "left_running_more": self.left_running_more,
            "policy_digest": self.policy_digest,
            "connections": [one.document() for one in self.connections],
            "asked": [one.document() for one in self.asked],
        }
        if output:
            document["stdout"] = self.stdout.decode("utf-8", "replace")
            document["stderr"] = self.stderr.decode("utf-8", "replace")
        return document

    def __repr__(self) -> str:
        from wardian.sandbox.run.shown import result_line

        return result_line(self)


def _positions(some: tuple[Refusal, ...], every: tuple[Refusal, ...]) -> list[int]:
    places = {id(one): i for i, one in enumerate(every)}
    return [places[id(one)] for one in some]
