"""A command under the launcher's supervision, without walls of the launcher's own: the program of
another sandbox, or a command without any. The launcher handles streams, limits, signals and the end
(core/bare.c); the backend interprets what that program reported of the end."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from wardian.sandbox.backends import Job, copy_records
from wardian.sandbox.limits import held_limits
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.run import launcher, streams
from wardian.sandbox.run.plan import Plan, finish
from wardian.sandbox.run.process import Process
from wardian.sandbox.run.records import record
from wardian.sandbox.run.result import Limit, Result
from wardian.sandbox.run.starting import uninterrupted
from wardian.sandbox.run.status import concluded, read_events

NOT_HELD = "nothing: given up by name"
ITS_OWN = ("exited", "signal", "exec")  # ends that nobody brought about
# The descriptors of a program that reports its first process inside, as core/launch.h has them.
FD_JSON_STATUS, FD_BLOCK = 13, 14
# Of another sandbox's program, not of its guest. In English: its words are read.
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}


class Ending(NamedTuple):
    """How a command ended by itself: the launcher's event, the code that another sandbox's program
    reported of its guest, and what may be that program's own words on standard error."""

    event: dict[str, Any]
    code: int | None = None
    words: str = ""
    are_its_own: bool = False  # the words: the guest said nothing

    def exited(self, status: int, signals: range) -> Ending:
        """With a status in which death by a signal is 128 and its number, as a shell has it."""
        if status - 128 in signals:
            return self._with(reason="signal", code=-1, signal=status - 128)
        return self._with(reason="exited", code=status, signal=0)

    def not_executed(self, number: int) -> Ending:
        """The command could not be executed; the words said so."""
        changed = self._with(reason="exec", code=-1, signal=0, exec_errno=number, stderr_bytes=0)
        return changed._replace(are_its_own=True)

    def _with(self, **changes: Any) -> Ending:
        return self._replace(event=self.event | changes)


class Bare(NamedTuple):
    """A command for the launcher, and what its result says of walls and limits."""

    backend: str
    policy: Policy
    plan: Plan
    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    judge: Callable[[Ending], Ending]  # raises SandboxError if the guest was never run
    failed: Callable[[dict[str, Any]], None] = lambda _: None  # raises what it knows better
    over: Callable[[], None] = lambda: None  # called once, whatever becomes of it
    send: Callable[[int], None] | None = None
    kept: Sequence[int] = ()  # descriptors that the command gets, under the same numbers
    seen: bool = False  # the launcher watches its calls: it can be traced
    voice: str = ""  # how its own words on standard error begin
    binary: str = launcher.LAUNCHER
    direct: bool = False  # it may have the caller's own streams and session, if those are inherited


def time_limit(job: Job, policy: Policy) -> float | None:
    """The nearer one of the call's and the policy's."""
    times = [t for t in (job.time_s, policy.limits.time_s) if t is not None]
    return min(times) if times else None


def held(job: Job, policy: Policy, *, cpu: str, memory: str, counted: bool) -> tuple[Limit, ...]:
    """The limits of a run, with what holds each; ``counted``: the wall limits.processes stands."""
    otherwise = {"cpu": cpu, "memory": memory} | ({} if counted else {"processes": NOT_HELD})
    return held_limits(policy.limits._replace(time_s=time_limit(job, policy)), otherwise)


def start(job: Job, bare: Bare) -> Process:
    """Start it, and return its handle; how it fails, the handle reports. Raises BackendError."""
    try:
        return uninterrupted(functools.partial(_launch, job, bare))
    except BaseException:
        bare.over()
        raise


def _launch(job: Job, bare: Bare) -> Process:
    try:
        given, ends = _streams(job, bare)
    except OSError as error:
        for fd in bare.kept:
            os.close(fd)
        raise launcher.explained(error, launcher.LAUNCHER) from None
    time_s = time_limit(job, bare.policy)
    data = finish(
        bare.plan,
        argv=bare.argv,
        env=bare.env,
        cwd=bare.cwd,
        streams=given.kinds,
        parent=os.getpid(),
        time_s=time_s,
        keep_session=given.keep_session,
        extra=_records(job, bare),
    )
    kept = {fd: fd for fd in bare.kept}
    launched = launcher.spawn_and_give(data, given.fds | kept, ends, bare.binary)
    outputs = {ends[i]: on for i, on in ((1, job.on_stdout), (2, job.on_stderr)) if i in ends}
    traces = {} if job.on_trace is None else {ends[launcher.FD_TRACE]: job.on_trace}
    process = Process(
        launched,
        functools.partial(_interpreted, job, bare),
        outputs=outputs,
        stdin=None if job.stdin else ends.get(0),
        input_bytes=job.input_bytes or b"",
        traces=traces,
        keep=job.keep,
        time_s=time_s,
        send=bare.send,
    )
    if job.stdin:
        from wardian.sandbox.run.interaction import Input

        process.input = Input(ends[0])
    return process


def _records(job: Job, bare: Bare) -> bytes:
    records = [record("keep", fd) for fd in sorted(bare.kept)]
    records += [record("voice", bare.voice)] if bare.voice else []
    records += [record("flag", "same-session")] if bare.direct and job.inherit else []
    return b"".join(records) + copy_records(job)


def _streams(job: Job, bare: Bare) -> tuple[streams.Streams, dict[int, int]]:
    """What the launcher gets, and our own ends by stream number."""
    if bare.seen and job.on_trace is not None:
        given, ends = _streams(job._replace(on_trace=None), bare)
        ends[launcher.FD_TRACE], given.fds[launcher.FD_TRACE] = launcher.pipe()
        return given, ends
    if not job.inherit:
        return streams.captured(has_input=bool(job.input_bytes) or job.stdin)
    if bare.direct and job.copies is None:
        return streams.direct(), {}
    given = streams.inherited(tty=job.tty and not bare.direct, seen=job.copies is not None)
    if job.copies is not None:
        streams.copied(given, job.copies[:2])
    if bare.voice and given.kinds[2] == streams.NULL:  # what the program says is listened to
        number = launcher.FD_FIRST_STREAM + 2
        given.fds[number] = launcher.raised(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC))
        given.kinds[2] = ("relay", number)
    return given, {}


def _interpreted(job: Job, bare: Bare, status: bytes, stdout: bytes, stderr: bytes) -> Result:
    try:
        events = read_events(status)
        by_kind = {event["event"]: event for event in events}
        if "failed" in by_kind:
            bare.failed(by_kind["failed"])
        if "ended" in by_kind:
            words = by_kind.get("held", {}).get("text", "").encode("latin-1")
            ending = Ending(
                by_kind["ended"],
                by_kind.get("inner", {}).get("code"),
                words.decode("utf-8", "replace").strip(),
            )
            if ending.event["reason"] in ITS_OWN:
                ending = bare.judge(ending)
            if words and not ending.are_its_own:
                stderr += _delivered(job, words)
            events = [event for event in events if event["event"] != "ended"] + [ending.event]
        result = concluded(
            events,
            stdout,
            stderr,
            command=job.argv,
            plan=bare.plan,
            arch=os.uname().machine,
            policy=bare.policy,
        )
    finally:
        bare.over()
    detail = result.detail
    if not any(wall.enforced for wall in bare.plan.protections):
        detail = detail.replace(" inside the sandbox", "")
    return result._replace(backend=bare.backend, detail=detail)


def _delivered(job: Job, words: bytes) -> bytes:
    """What was held back turned out to be the guest's own, and all that it said there. Returns what
    of it the result keeps."""
    if job.inherit:
        view = memoryview(words)
        while view:
            view = view[os.write(1 if job.tty else 2, view) :]
        if job.copies is not None:
            os.write(job.copies.stderr, words[: job.copies.bytes])
        return b""
    if job.on_stderr is not None:
        job.on_stderr(words)
    return words if job.keep or job.on_stderr is None else b""
