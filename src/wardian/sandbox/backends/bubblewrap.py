"""The backend ``bubblewrap``: the same policy as options of ``bwrap``, with our syscall filter.

What it lacks: Landlock, and telling of refused syscalls. As root its guest is nobody in particular,
and so reaches only what others may; bubblewrap has no idmapped mounts.
"""

from __future__ import annotations

import fcntl
import functools
import json
import math
import os
import resource
import signal
import time
from collections.abc import Sequence

from wardian.errors import BackendError, SandboxError, ShareError
from wardian.sandbox.backends import Job, bwrap, leash, walls
from wardian.sandbox.backends.interior import (
    Root,
    check_in_place,
    exec_errno,
    on_host,
    place,
    shared,
)
from wardian.sandbox.backends.lanes import Streams, captured, inherited
from wardian.sandbox.backends.supervision import End, Run, Told, held
from wardian.sandbox.backends.tree import Tree, kill_tree
from wardian.sandbox.host import this_host
from wardian.sandbox.policy.policy import Limits, Policy
from wardian.sandbox.root.layout import WORK
from wardian.sandbox.run import launcher
from wardian.sandbox.run.plan import MAPPED_SLACK, OWN_PROCESSES
from wardian.sandbox.run.process import Process

SETUP_S = 10.0
KEYS = {"add_key", "keyctl", "request_key"}
SETSID = "/usr/bin/setsid"


def _walls(policy: Policy) -> walls.Walls:
    lacking = dict.fromkeys(
        (name for name in walls.NAMES if name.startswith("landlock")),
        "bubblewrap does not use Landlock",
    )
    lacking["notify"] = "bubblewrap has nobody who could tell of a refused syscall"
    if this_host().kernel < (5, 14):
        lacking["limits.processes"] = "counting a sandbox's processes needs Linux 5.14"
    elif os.geteuid() == 0 and walls.outside_id(policy) is None:
        lacking["limits.processes"] = "the kernel does not count root's processes"
    if os.geteuid() == 0 and walls.outside_id(policy) is None:
        lacking["identity"] = "the guest has root's own rights over what it reaches"
    if KEYS & set(policy.allow_syscalls):
        lacking["seccomp"] = "bubblewrap can't give the guest a keyring of its own"
    return walls.Walls("bubblewrap", lacking)


def shortfall(policy: Policy) -> tuple[str, ...]:
    """What a run under this policy has to give up here. Raises UsageError."""
    return walls.shortfall(policy, _walls(policy))


class Bubblewrap:
    """Turns a policy into bwrap's options once, then starts it."""

    name = "bubblewrap"

    def prepare(self, policy: Policy, *, own_work: str | None = None) -> None:
        """Raises SandboxError."""
        self.path = bwrap.program()
        self.policy, self.own_work = policy, own_work
        self._protections = walls.settled(policy, _walls(policy))
        self.standing = {wall.name for wall in self._protections if wall.enforced}
        self._sources = shared(policy, own_work)
        self.identity = walls.outside_id(policy, own_work)
        walls.check_reach(self._sources, self.identity, self.name)
        walls.give_up_work(policy, own_work)
        self.filter = _filter(policy, nested="--disable-userns" not in bwrap.options(self.path))

    def start(self, job: Job) -> Process:
        """Start the job. Raises SandboxError."""
        argv, env, made = place(job, self.policy, self._sources)
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
        )
        guest = _Guest(self, call, argv, job, made)
        limits = held(
            job,
            self.policy,
            cpu="supervisor, RLIMIT_CPU",
            memory="supervisor, RLIMIT_DATA, tmpfs size",
            counted="limits.processes" in self.standing,
        )
        told = Told(self.name, self.policy, self._protections, limits)
        streams = functools.partial(inherited if job.inherit else captured, job)
        return Run(job, guest, streams, told).start()


def _filter(policy: Policy, *, nested: bool) -> bytes:
    """The policy's filter, answering by itself; where user namespaces could be nested, clone3 goes,
    whose flags no filter can read."""
    from wardian.syscalls import compile_filter

    deny = frozenset(policy.deny_syscalls) | ({"clone3"} if nested else frozenset())
    allow = frozenset(policy.allow_syscalls)
    return compile_filter(this_host().arch, allow=allow, deny=deny, refuse="errno")


def _rlimits(limits: Limits, standing: set[str]) -> dict[int, int]:
    held = {
        resource.RLIMIT_CORE: 1,  # not 0: only 1 keeps a crash from a piped core_pattern, core(5)
        resource.RLIMIT_SIGPENDING: 4096,
        resource.RLIMIT_MSGQUEUE: 819200,
        resource.RLIMIT_NICE: 0,
        resource.RLIMIT_RTPRIO: 0,
    }
    if limits.cpu_s is not None:
        held[resource.RLIMIT_CPU] = math.ceil(limits.cpu_s) + 1
    if limits.memory_bytes is not None:
        held[resource.RLIMIT_DATA] = 2 * limits.memory_bytes + MAPPED_SLACK
    if limits.processes is not None and "limits.processes" in standing:
        held[resource.RLIMIT_NPROC] = limits.processes + OWN_PROCESSES
    if limits.files is not None:
        held[resource.RLIMIT_NOFILE] = limits.files
    if limits.disk_bytes is not None:
        held[resource.RLIMIT_FSIZE] = limits.disk_bytes
    return held


class _Guest:
    """bwrap on its leash: its own process, the first one inside, and the command."""

    def __init__(
        self, backend: Bubblewrap, call: bwrap.Call, argv: tuple[str, ...], job: Job, made: Root
    ) -> None:
        self._backend, self._call, self._argv = backend, call, argv
        self._job, self._made = job, made
        self._leash = leash.Leash(bwrap.SAYS)
        self.pid, self.told = 0, -1
        self.started: float | None = None
        self.watch: Tree | None = None
        self._said, self._code = b"", -1
        self._init, self._init_pidfd = 0, -1
        self._unblock = -1
        self._over = False

    # Starting

    def start(self, streams: Streams) -> None:
        """Raises SandboxError."""
        theirs: list[int] = []
        own_work = self._backend.own_work
        try:
            block, self._unblock = launcher.pipe()
            theirs.append(block)
            argv = [self._backend.path, *self._numbered(theirs, block), "--", *self._argv]
            self._leash.start(
                argv,
                streams,
                discard=[own_work] if own_work else [],
                kept=theirs,
                held=self._unblock,
                identity=self._backend.identity,
                tells=True,
                stage=self._call.stage,
            )
        except OSError as error:
            raise _explained(error) from None
        finally:
            self.pid, self.told = self._leash.pid, self._leash.told
            for fd in theirs:
                os.close(fd)

    def _numbered(self, theirs: list[int], block: int) -> list[str]:
        """The options with descriptors put in, as a file: a command line has a size."""
        numbers = {}
        for i, data in enumerate(self._call.data):
            theirs.append(leash.memory_file("wardian-file", data))
            numbers[f"{{data {i}}}"] = str(theirs[-1])
        for i, path in enumerate(self._call.opened):
            theirs.append(_opened(path))
            numbers[f"{{opened {i}}}"] = str(theirs[-1])
        theirs.append(leash.memory_file("wardian-filter", self._backend.filter))
        words = [numbers.get(word, word) for word in self._call.words]
        words += ["--seccomp", str(theirs[-1]), "--block-fd", str(block)]
        words += ["--json-status-fd", str(leash.READY)]
        theirs.append(leash.memory_file("wardian-options", _nul_separated(words)))
        return ["--args", str(theirs[-1])]

    # Under way

    def on_told(self) -> bool:
        """bwrap's lines of JSON. Raises SandboxError."""
        data = self._leash.hear()
        *lines, self._said = (self._said + (data or b"")).split(b"\n")
        for line in lines:
            said = json.loads(line)
            if "child-pid" in said:
                self._on_child(said["child-pid"])
            self._code = said.get("exit-code", self._code)
        return data is not None

    def _on_child(self, pid: int) -> None:
        """It builds the root now, then waits for us: that is when its limits are set."""
        try:
            self._init_pidfd = os.pidfd_open(pid)
        except ProcessLookupError:
            return  # it says why
        self._init = pid
        if self._over:
            self.kill()
        if self._over or not _is_built(pid):
            return
        limits = self._backend.policy.limits
        leash.limit(pid, _rlimits(limits, self._backend.standing), self._backend.identity)
        self.watch = Tree(
            pid,
            limits,
            written=[source.path for source in self._made.sources if source.write],
            private=[path for path, _ in self._made.private],
            own=1,
        )
        self._leash.watch(pid)  # until it has asked to die with its parent, it would not
        self.started = time.monotonic()
        os.write(self._unblock, b"\n")

    def send(self, number: int) -> None:
        """To the command; what keys send, to its whole group. Before its start, to nobody."""
        try:
            with open(f"/proc/{self._init}/task/{self._init}/children", encoding="ascii") as file:
                command = int(file.read().split()[0])
            if number in _KEYS:
                os.killpg(os.getpgid(command), number)
            else:
                os.kill(command, number)
        except (OSError, IndexError):
            pass  # it has ended

    def kill(self) -> None:
        """The first process inside takes all others with it."""
        self._over = True
        if self._init_pidfd >= 0:
            try:
                signal.pidfd_send_signal(self._init_pidfd, signal.SIGKILL)
            except ProcessLookupError:
                pass
        kill_tree(self.pid)

    # Its end

    def ended(self, status: int | None) -> End:
        """Raises SandboxError if bwrap failed."""
        self._wait_for_init()
        if self._code < 0:
            return self._failed(self._leash.last_words())
        if 128 < self._code <= 128 + signal.SIGRTMAX:
            return End(signal=self._code - 128)  # it tells a signal's number so, like a shell
        return End(self._code)

    def _wait_for_init(self) -> None:
        """Its end is the end of every process inside."""
        import select

        if self._init_pidfd >= 0:
            poll = select.poll()
            poll.register(self._init_pidfd, select.POLLIN)
            poll.poll(SETUP_S * 1000)

    def _failed(self, said: str) -> End:
        text = said.removeprefix(bwrap.SAYS.decode())
        if self._leash.ready and text.startswith("execvp "):
            return End(exec_errno=exec_errno(text.rpartition(": ")[2], self._job, self._made))
        raise bwrap.failure(text or "it was killed")

    def close(self) -> None:
        """Nothing of it is left."""
        for fd in (self._unblock, self._init_pidfd):
            if fd >= 0:
                os.close(fd)
        self._leash.close()


_KEYS = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTSTP, signal.SIGCONT)


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


def _is_built(pid: int) -> bool:
    """Wait until it has given up its capabilities, the last thing before it waits for us."""
    deadline = time.monotonic() + SETUP_S
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            return False
        if "\nState:\tZ" in text:
            return False
        if "\nCapEff:\t0000000000000000\n" in text:
            return True
        time.sleep(0.0005)
    raise SandboxError("bubblewrap does not finish building its root; is a shared path hanging?")


def _explained(error: OSError) -> BackendError:
    return BackendError(
        f"{bwrap.PROGRAM} can't be started: {(error.strerror or str(error)).lower()}",
        hint="is a limit on processes or open files very low? see: ulimit -a",
    )


__all__ = ["Bubblewrap", "shortfall"]
