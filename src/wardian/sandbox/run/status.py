"""What the launcher said on its status descriptor, turned into a Result or an error. Pure."""

from __future__ import annotations

import errno
import functools
import os
from collections.abc import Mapping, Sequence

from wardian.errors import BackendError, SandboxError
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.layout import HOME, WORK
from wardian.sandbox.run.plan import Plan
from wardian.sandbox.run.protections import CGROUP, COPIES
from wardian.sandbox.run.result import LeftRunning, Limit, Protection, Refusal, Result, Usage

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any, NotRequired, TypedDict, Unpack

    from wardian.sandbox.network.gateway import Gateway
    from wardian.sandbox.network.share import GatewayShare
    from wardian.sandbox.refusals.asked_host import AskedHost
    from wardian.sandbox.run.reason import Reason

    class RunFacts(TypedDict):
        """What a run was, whatever came of it."""

        command: Sequence[str]
        plan: Plan
        arch: str
        policy: Policy
        gateway: NotRequired[Gateway | GatewayShare | None]


LIMITS: dict[str, Reason] = {
    "time": "time limit",
    "cpu": "cpu limit",
    "memory": "memory limit",
    "output": "output limit",
    "disk": "disk limit",
}
TIME_IS_UP, NOT_EXECUTABLE, NOT_FOUND = 124, 126, 127
NO_GROUP = "no control group can be made here: the supervisor counts memory and CPU time itself"
NO_COPY = "no overlay can be mounted on it here: the guest finds it read-only"
_SIGNAL_LIMITS: dict[int, Reason] = {24: "cpu limit", 25: "disk limit"}  # SIGXCPU, SIGXFSZ


def interpret(status: bytes, stdout: bytes, stderr: bytes, **about: Unpack[RunFacts]) -> Result:
    """Raises SandboxError if the sandbox could not be set up."""
    return concluded(read_events(status), stdout, stderr, **about)


def concluded(
    events: Sequence[dict[str, Any]],
    stdout: bytes,
    stderr: bytes,
    *,
    command: Sequence[str],
    plan: Plan,
    arch: str,
    policy: Policy,
    gateway: Gateway | GatewayShare | None = None,
) -> Result:
    """The same, of what was read already."""
    if gateway is not None:
        gateway.close()
    by_kind = {event["event"]: event for event in events}
    if "failed" in by_kind:
        from wardian.sandbox.run.failures import explain

        raise explain(by_kind["failed"], policy.limits)
    if "ended" not in by_kind:
        raise BackendError(
            "the supervisor was killed; the run ended with it",
            hint="did the host run out of memory, or did someone kill wardian-launch?",
        )
    ended = by_kind["ended"]
    if ended["reason"] == "unkillable":
        raise BackendError(
            "the run was ended, but one of its processes hangs in the kernel",
            hint="a file system that it uses may be hanging",
        )
    if ended["reason"] == "setup":
        raise SandboxError(
            "setting up the sandbox took longer than 30 s; is a shared path hanging?"
        )
    exit_code, reason, detail = _verdict(ended, command[0])
    struck = reason.removesuffix(" limit") if reason.endswith(" limit") else None
    group = ended.get("cgroup", 0)
    limits, usage = _struck(_counted(plan.limits, group, plan.counted), struck), _usage(ended)
    left, more = _left_running(events)
    tail = by_kind["tail"]["text"].encode("latin-1") if "tail" in by_kind else b""
    names = gateway.names if gateway is not None else {}
    # What an answer allowed is no refusal.
    allowed = policy._replace(allow_hosts=gateway.ever_allowed) if gateway is not None else policy
    result = Result(
        command=tuple(command),
        exit_code=exit_code,
        reason=reason,
        signal=ended["signal"] or None,
        detail=detail,
        stdout=stdout,
        stderr=stderr,
        truncated=bool(ended["output_exceeded"]),
        usage=usage,
        limits=limits,
        protections=_copied(_grouped(plan.protections, group), ended.get("not_copied", 0)),
        refusals=_explained(
            _met(limits, usage) or _forks(policy, usage, exit_code, len(left) + more, stderr, tail),
            _refusals(events, plan, arch, allowed, tuple(command), names),
        ),
        refusals_dropped=by_kind.get("refused-more", {}).get("count", 0),
        policy=policy,
        left_running=left,
        left_running_more=more,
        stderr_tail=tail,
    )
    return _weighed(result if gateway is None else _with_network(result, events, gateway))


@functools.lru_cache(maxsize=32)
def _counted(
    limits: tuple[Limit, ...], version: int, counted: tuple[str, ...]
) -> tuple[Limit, ...]:
    """Who held memory and CPU time: a control group counts first, where there was one."""
    if not version:
        return limits
    held = set(counted) - ({"processes"} if version < 2 else set())
    return tuple(
        limit._replace(mechanism=f"cgroup v{version}, {limit.mechanism}")
        if limit.name in held
        else limit
        for limit in limits
    )


@functools.lru_cache(maxsize=32)
def _grouped(protections: tuple[Protection, ...], version: int) -> tuple[Protection, ...]:
    note = f"cgroup v{version}" if version else NO_GROUP
    return tuple(
        one._replace(available=version > 0, enforced=version > 0, note=note)
        if one.name == CGROUP and one.requested
        else one
        for one in protections
    )


def _copied(protections: tuple[Protection, ...], failed: int) -> tuple[Protection, ...]:
    if not failed:
        return protections
    return tuple(
        one._replace(available=False, enforced=False, note=NO_COPY) if one.name == COPIES else one
        for one in protections
    )


def _struck(limits: tuple[Limit, ...], name: str | None) -> tuple[Limit, ...]:
    if name is None:
        return limits
    return tuple(limit._replace(struck=limit.name == name) for limit in limits)


def read_events(status: bytes) -> list[dict[str, Any]]:
    """The launcher's lines, one event each."""
    events = []
    for line in status.splitlines():
        try:
            events.append(_event(line.decode()))
        except ValueError:
            continue  # cut short by the supervisor's death
    return events


def _event(line: str) -> dict[str, Any]:
    """One flat JSON object, as core/status.c writes it, read without loading json."""
    if not line.startswith('{"event":') or not line.endswith("}"):
        raise ValueError("cut short")
    if "\\" not in line:
        return _plain_event(line)
    event: dict[str, Any] = {}
    at = 1
    while at < len(line) - 1:
        name, at = _string(line, at)
        if line[at + 1] == '"':
            event[name], at = _string(line, at + 1)
        else:
            end = min(i for i in (line.find(",", at), len(line) - 1) if i > 0)
            word = line[at + 1 : end]
            event[name] = word == "true" if word in ("true", "false") else int(word)
            at = end
        at += 1
    return event


def _plain_event(line: str) -> dict[str, Any]:
    """Nothing in it is escaped, so ``,"`` stands only before a name."""
    event: dict[str, Any] = {}
    for field in line[2:-1].split(',"'):
        name, _, word = field.partition('":')
        if word[:1] == '"':
            event[name] = word[1:-1]
        else:
            event[name] = word == "true" if word in ("true", "false") else int(word)
    return event


def _string(line: str, at: int) -> tuple[str, int]:
    """The string that begins at a quote, and where it has ended."""
    end = line.index('"', at + 1)
    if "\\" not in line[at:end]:
        return line[at + 1 : end], end + 1
    pieces, at = [], at + 1
    while line[at] != '"':
        if line[at] != "\\":
            pieces.append(line[at])
            at += 1
        elif line[at + 1] == "u":
            pieces.append(chr(int(line[at + 2 : at + 6], 16)))
            at += 6
        else:
            pieces.append(line[at + 1])
            at += 2
    return "".join(pieces), at + 1


def _verdict(ended: dict[str, Any], program: str) -> tuple[int, Reason, str]:
    """Exit code, reason, and a sentence."""
    reason = ended["reason"]
    if reason in LIMITS:
        return (TIME_IS_UP if reason == "time" else 137), LIMITS[reason], ""
    if reason == "exec":
        error = ended["exec_errno"]
        if error == errno.ENOENT:
            return NOT_FOUND, "not found", f"{program}: not found inside the sandbox"
        if error == errno.ELIBBAD:
            return NOT_EXECUTABLE, "not executable", f"{program}: its interpreter is not there"
        return NOT_EXECUTABLE, "not executable", f"{program}: {os.strerror(error).lower()}"
    if reason == "signal":
        number = ended["signal"]
        if number in _SIGNAL_LIMITS:
            return 128 + number, _SIGNAL_LIMITS[number], ""
        return 128 + number, "signal", ""
    if reason == "exited":
        return ended["code"], "exited", ""
    return (
        137,
        "killed",
        {
            "caller": "its caller went away",
            "closed": "the sandbox was closed",
            "supervisor": "the supervisor received a signal to stop",
            "hangup": "the terminal went away",
            "lost": "its first process was killed from outside",
        }.get(reason, ""),
    )


def _usage(ended: dict[str, Any]) -> Usage:
    return Usage(
        wall_s=ended["wall_us"] / 1e6,
        user_s=ended["user_us"] / 1e6,
        system_s=ended["system_us"] / 1e6,
        peak_memory_bytes=ended["peak_bytes"],
        processes=ended["tasks"],
        stdin_bytes=ended["stdin_bytes"],
        stdout_bytes=ended["stdout_bytes"],
        stderr_bytes=ended["stderr_bytes"],
    )


def _left_running(events: Sequence[dict[str, Any]]) -> tuple[tuple[LeftRunning, ...], int]:
    if not any(event["event"] == "left-running" for event in events):
        return (), 0
    from wardian.sandbox.run.left_running import left_running

    return left_running(events)


def _refusals(
    events: Sequence[dict[str, Any]],
    plan: Plan,
    arch: str,
    policy: Policy,
    command: tuple[str, ...],
    names: Mapping[str, str],
) -> tuple[Refusal, ...]:
    if not any(event["event"] == "refused" for event in events):
        return ()
    from wardian.sandbox.refusals.asked_host import AskedHost

    host = AskedHost()
    if not any(event["event"] == "refused" and not _nowhere(event, host) for event in events):
        return ()
    from wardian.sandbox.refusals.reading import refusals
    from wardian.sandbox.refusals.remedies import RefusalContext

    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        cwd = "/"
    home = os.path.expanduser("~")
    around = RefusalContext(
        policy, plan.sources, plan.protections, arch, cwd, home, command, host, names
    )
    return refusals(events, around)


def _weighed(result: Result) -> Result:
    if not result.refusals:
        return result
    from wardian.sandbox.refusals.ranking import weighed

    return weighed(result)


def _with_network(
    result: Result, events: Sequence[dict[str, Any]], gateway: Gateway | GatewayShare
) -> Result:
    """What its network by name saw."""
    from wardian.sandbox.refusals.network import who_asked, with_callers, with_gateway
    from wardian.sandbox.refusals.reading import callers_of

    asked = who_asked(events, callers_of(events, result.command), gateway.names)
    outcomes = gateway.outcomes
    return result._replace(
        refusals=with_gateway(outcomes, asked, result.refusals),
        connections=with_callers(outcomes, asked),
        asked=tuple(outcomes.asked),
    )


def _nowhere(event: dict[str, Any], host: AskedHost) -> bool:
    """Most of what is looked for, the host does not have either; then nothing needs explaining."""
    path = event["text"]
    if event["by"] != "m" or path.startswith((WORK, HOME)):
        return False
    return not host.exists(os.fsdecode(path.encode("latin-1")))


def _met(limits: tuple[Limit, ...], usage: Usage) -> tuple[Refusal, ...]:
    """The limit that ended the run, as a refusal."""
    struck = next((limit for limit in limits if limit.struck), None)
    if struck is None:
        return ()
    from wardian.sandbox.refusals.others import limit_refusal

    reasons = {
        "time": f"the run was ended after {usage.wall_s:.2f} s",
        "cpu": f"the run was ended after {usage.cpu_s:.2f} s of CPU time",
        "memory": f"the run was ended at {usage.peak_memory_bytes >> 20} MB",
        "output": f"the run was ended at {usage.stdout_bytes + usage.stderr_bytes} bytes of output",
    }
    return (limit_refusal(struck, reasons.get(struck.name, "the run was ended")),)


def _forks(
    policy: Policy, usage: Usage, exit_code: int, left: int, stderr: bytes, tail: bytes
) -> tuple[Refusal, ...]:
    """The limit on processes, if a short run failed by it."""
    most = policy.limits.processes
    if not exit_code or not most or usage.processes <= most:
        return ()
    from wardian.sandbox.refusals.forks import met_processes

    return met_processes(most, usage.processes, left, stderr or tail)


def _explained(met: tuple[Refusal, ...], others: tuple[Refusal, ...]) -> tuple[Refusal, ...]:
    """A limit that ended the run may also have been seen before."""
    names = [one.action for one in met]
    return met + tuple(one for one in others if one.kind != "limit" or one.action not in names)
