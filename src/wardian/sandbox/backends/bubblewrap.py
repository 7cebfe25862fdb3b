"""The backend ``bubblewrap``: the same policy as options of ``bwrap``, with our syscall filter.

What it lacks: Landlock, and reports of refused syscalls. As root its guest has an unprivileged id,
and so reaches only what others may; bubblewrap has no idmapped mounts.
"""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Iterator, Sequence

from wardian.errors import BackendError, ShareError
from wardian.sandbox.backends import Job, bare, bwrap, walls
from wardian.sandbox.backends.interior import (
    active,
    check_in_place,
    exec_errno,
    in_order,
    on_host,
    place,
)
from wardian.sandbox.host import this_host
from wardian.sandbox.limits import limit_records, rlimit_records
from wardian.sandbox.policy.policy import Limits, Policy
from wardian.sandbox.root.layout import WORK
from wardian.sandbox.root.root import Root, make_root
from wardian.sandbox.root.shares import admitted
from wardian.sandbox.run import launcher
from wardian.sandbox.run.plan import Plan, cgroup_records
from wardian.sandbox.run.process import Process
from wardian.sandbox.run.records import BARE, record
from wardian.sandbox.run.result import Limit

KEYS = {"add_key", "keyctl", "request_key"}
SETSID = "/usr/bin/setsid"


class Bubblewrap:
    """Turns a policy into bwrap's options once, then starts it."""

    name = "bubblewrap"
    hardened = True  # with masks in /proc and without nested user namespaces
    filter: bytes | None

    def shortfall(self, policy: Policy) -> tuple[str, ...]:
        """What a run under this policy has to give up here. Raises UsageError."""
        return walls.shortfall(policy, self._walls(policy))

    def version(self) -> str:
        """Raises BackendError."""
        return bwrap.version(bwrap.program())

    def prepare(self, policy: Policy, *, own_work: str | None = None) -> None:
        """Raises SandboxError."""
        self.path = bwrap.program()
        self.policy, self.own_work = policy, own_work
        self.protections = walls.settled(policy, self._walls(policy))
        self.standing = {wall.name for wall in self.protections if wall.enforced}
        self._sources = admitted(policy, own_work, WORK, copies=False)
        self._around = active(policy, self._sources)
        self.identity = walls.outside_id(policy, own_work)
        walls.check_reach(self._sources, self.identity, self.name)
        walls.give_up_work(policy, own_work)
        self.filter = _filter(policy, nested="--disable-userns" not in bwrap.options(self.path))

    def start(self, job: Job) -> Process:
        """Start the job. Raises SandboxError."""
        argv, env, more = place(job, self.policy, self._sources, self._around)
        made = make_root(self.policy, in_order((*more, *self._sources)))
        check_in_place(made)
        setsid = on_host(SETSID, made)
        if job.tty and setsid is not None and os.path.exists(setsid):
            argv = (SETSID, "--ctty", *argv)  # a session of its own for its terminal
        call = bwrap.call(
            self.path,
            made,
            env.items(),
            job.cwd or WORK,
            identity=self.identity,
            network=self.policy.network == "host",
            proc="proc" in self.standing,
            tty=job.tty,
            hardened=self.hardened,
        )
        limits = bare.held(
            job,
            self.policy,
            cpu="supervisor, RLIMIT_CPU",
            memory="supervisor, RLIMIT_DATA, tmpfs size",
            counted="limits.processes" in self.standing,
        )
        return _Guest(self, job, made).start(call, argv, limits)

    def _walls(self, policy: Policy) -> walls.Walls:
        lacking = dict.fromkeys(
            (name for name in walls.NAMES if name.startswith("landlock")),
            "bubblewrap does not use Landlock",
        )
        lacking["notify"] = "bubblewrap does not report refused system calls"
        if this_host().kernel < (5, 14):
            lacking["limits.processes"] = "counting a sandbox's processes needs Linux 5.14"
        elif os.geteuid() == 0 and walls.outside_id(policy) is None:
            lacking["limits.processes"] = "the kernel does not count root's processes"
        if os.geteuid() == 0 and walls.outside_id(policy) is None:
            lacking["identity"] = "the guest has root's own rights over what it reaches"
        if KEYS & set(policy.allow_syscalls):
            lacking["seccomp"] = "bubblewrap can't give the guest a keyring of its own"
        return walls.Walls(self.name, lacking)


def _filter(policy: Policy, *, nested: bool) -> bytes:
    """The policy's filter, answering by itself; where user namespaces could be nested, clone3 goes,
    whose flags no filter can read."""
    from wardian.syscalls import compile_filter

    deny = frozenset(policy.deny_syscalls) | ({"clone3"} if nested else frozenset())
    allow = frozenset(policy.allow_syscalls)
    return compile_filter(this_host().arch, allow=allow, deny=deny, refuse="errno")


class _Guest:
    """One run of bwrap: its options and descriptors, its limits, and how it ended."""

    def __init__(self, backend: Bubblewrap, job: Job, made: Root) -> None:
        self._backend, self._job, self._made = backend, job, made

    def start(
        self, call: bwrap.BwrapCall, argv: tuple[str, ...], limits: tuple[Limit, ...]
    ) -> Process:
        """Raises SandboxError."""
        kept: list[int] = []
        backend = self._backend
        try:
            words = [backend.path, *_numbered(call, backend.filter, kept), "--", *argv]
            records = b"".join(self._records(call))
        except BaseException as error:
            for fd in kept:
                os.close(fd)
            if isinstance(error, OSError):
                raise _explained(error.strerror or str(error)) from None
            raise
        plan = Plan(records, backend.protections, limits)
        command = bare.Bare(
            backend.name,
            backend.policy,
            plan,
            words,
            bare.ENVIRONMENT,
            "/",
            judge=self._judged,
            kept=kept,
            voice=bwrap.SAYS,
        )
        return bare.start(self._job, command)

    def _records(self, call: bwrap.BwrapCall) -> Iterator[bytes]:
        backend = self._backend
        limits = backend.policy.limits
        if "limits.processes" not in backend.standing:
            limits = limits._replace(processes=None)
        yield BARE
        yield record("flag", "inner")
        if backend.identity is not None:
            yield record("identity", backend.identity, backend.identity)
        if backend.own_work is not None:
            yield record("discard", backend.own_work)
        yield from limit_records(_with_own_processes(limits))
        yield from rlimit_records(limits)
        yield from cgroup_records(this_host(), backend.standing)
        yield record("inodes", self._made.most_files)
        yield from (record("watch", source.path) for source in self._made.sources if source.write)
        yield from (record("place", path) for path, _ in self._made.private)
        if call.staged:
            yield record("stage", call.stage)
        for path in call.staged:
            info = os.lstat(path)
            yield record("staged", path, info.st_dev, info.st_ino)

    def _judged(self, ending: bare.Ending) -> bare.Ending:
        """Raises SandboxError if bwrap failed."""
        if ending.event["exec_errno"]:
            raise _explained(os.strerror(ending.event["exec_errno"]))
        if ending.code is not None:
            return ending.exited(ending.code, range(1, signal.SIGRTMAX + 1))
        text = ending.words.removeprefix(bwrap.SAYS)
        if text.startswith("execvp "):
            number = exec_errno(text.rpartition(": ")[2], self._job, self._made)
            return ending.not_executed(number)
        raise bwrap.failure(text or "it was killed")


def _with_own_processes(limits: Limits) -> Limits:
    """bwrap's two come on top, where a control group counts them."""
    own = 2
    return limits._replace(processes=limits.processes and limits.processes + own)


def _numbered(call: bwrap.BwrapCall, program: bytes | None, kept: list[int]) -> list[str]:
    """The options with descriptors put in, as a file: a command line has a size."""
    numbers = {}
    for i, data in enumerate(call.data):
        kept.append(launcher.memory_file(data))
        numbers[f"{{data {i}}}"] = str(kept[-1])
    for i, path in enumerate(call.opened):
        kept.append(_opened(path))
        numbers[f"{{opened {i}}}"] = str(kept[-1])
    words = [numbers.get(word, word) for word in call.words]
    if program is not None:
        kept.append(launcher.memory_file(program))
        words += ["--seccomp", str(kept[-1])]
    words += ["--block-fd", str(bare.FD_BLOCK), "--json-status-fd", str(bare.FD_JSON_STATUS)]
    kept.append(launcher.memory_file(_nul_separated(words)))
    return ["--args", str(kept[-1])]


def _opened(path: str) -> int:
    """Raises ShareError if the path leads elsewhere by now."""
    low = os.open(path, os.O_PATH | os.O_CLOEXEC)
    fd = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, launcher.CLEAR_OF_TARGETS)
    os.close(low)
    if os.readlink(f"/proc/self/fd/{fd}") != path:
        os.close(fd)
        raise ShareError(path, "something else has been put in its place")
    return fd


def _nul_separated(words: Sequence[str]) -> bytes:
    return b"\0".join(os.fsencode(word) for word in words) + b"\0"


def _explained(why: str) -> BackendError:
    return BackendError(
        f"{bwrap.PROGRAM} can't be started: {why.lower()}",
        hint="a limit on processes or open files may be too low; see: ulimit -a",
    )


backend = Bubblewrap
__all__ = ["Bubblewrap", "backend"]
