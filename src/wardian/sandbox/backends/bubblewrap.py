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
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import NamedTuple

from wardian.errors import BackendError, SandboxError, ShareError, WallError
from wardian.sandbox import launcher
from wardian.sandbox.backends import Job, leash, walls
from wardian.sandbox.backends.interior import (
    Root,
    check_in_place,
    exec_errno,
    on_host,
    place,
    shared,
)
from wardian.sandbox.backends.lanes import Lane, Streams, captured, inherited
from wardian.sandbox.backends.supervision import End, Run, Told, time_limit
from wardian.sandbox.backends.tree import Tree, kill_tree
from wardian.sandbox.host import this_host
from wardian.sandbox.layout import HOSTNAME, USER_ID, WORK, layout
from wardian.sandbox.plan import MAPPED_SLACK, OWN_PROCESSES
from wardian.sandbox.policy import Limits, Policy
from wardian.sandbox.process import Process
from wardian.sandbox.result import Limit
from wardian.sandbox.shares import is_below

PROGRAM, PACKAGE = "bwrap", "bubblewrap"
SAYS = b"bwrap: "
SETUP_S = 10.0
KEYS = {"add_key", "keyctl", "request_key"}
MASK_BYTES = 4096
SETSID = "/usr/bin/setsid"
STAGES = ("/mnt", "/media", "/srv", "/opt", "/run")


def program() -> str:
    """Where bwrap is. Raises BackendError."""
    found = shutil.which(PROGRAM)
    if found is None:
        raise BackendError(f"{PROGRAM} is not installed", hint=f"sudo apt install {PACKAGE}")
    return found


@functools.cache
def options(path: str) -> frozenset[str]:
    """The options that this bwrap knows; it says no more of its age."""
    done = subprocess.run(
        [path, "--help"], capture_output=True, text=True, timeout=SETUP_S, check=False
    )
    return frozenset(word for word in done.stdout.split() if word.startswith("--"))


def version(path: str) -> str:
    """What it says of itself."""
    done = subprocess.run(
        [path, "--version"], capture_output=True, text=True, timeout=SETUP_S, check=False
    )
    return done.stdout.strip() or path


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
        self._path = program()
        self._policy, self._own_work = policy, own_work
        self._protections = walls.settled(policy, _walls(policy))
        self._standing = {wall.name for wall in self._protections if wall.enforced}
        self._sources = shared(policy, own_work)
        self._identity = walls.outside_id(policy)
        walls.check_reach(self._sources, self._identity, self.name)
        walls.give_up_work(policy, own_work)
        self._filter = _filter(policy, nested="--disable-userns" not in options(self._path))

    def start(self, job: Job) -> Process:
        """Start the job. Raises SandboxError."""
        argv, env, made = place(job, self._policy, self._sources)
        check_in_place(made)
        setsid = on_host(SETSID, made)
        if job.tty and setsid is not None and os.path.exists(setsid):
            argv = (SETSID, "--ctty", *argv)  # a session of its own for its terminal
        guest = _Guest(self._call(job, made, env, argv), job, self._policy, made)
        held = _held(job, self._policy, counted="limits.processes" in self._standing)
        told = Told(self.name, self._policy, self._protections, held)
        streams = functools.partial(inherited, tty=job.tty)
        if not job.inherit:
            streams = functools.partial(captured, job)
        return Run(job, guest, streams, told).start()

    def _call(self, job: Job, made: Root, env: dict[str, str], argv: tuple[str, ...]) -> _Call:
        known = options(self._path)
        words = ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts"]
        words += ["--unshare-cgroup", "--die-with-parent", "--clearenv", "--cap-drop", "ALL"]
        words += ["--uid", str(USER_ID), "--gid", str(USER_ID), "--hostname", HOSTNAME]
        words += ["--unshare-net"] if self._policy.network == "none" else []
        words += ["--disable-userns"] if "--disable-userns" in known else []
        words += [] if job.tty else ["--new-session"]
        for name, value in env.items():
            words += ["--setenv", name, value]
        steps = _Steps(words, self._identity, _stage(made), pins="--bind-fd" in known)
        steps.root(made, proc="proc" in self._standing)
        words += ["--chdir", job.cwd or WORK]
        return _Call(
            self._path,
            tuple(words),
            tuple(steps.data),
            tuple(steps.opened),
            leash.Stage(steps.stage, tuple(steps.staged)),
            self._filter,
            argv,
            self._identity,
            self._standing,
            self._own_work,
        )


class _Call(NamedTuple):
    """What bwrap is called with; words like ``{data 3}`` stand for descriptors."""

    path: str
    words: tuple[str, ...]
    data: tuple[bytes, ...]
    opened: tuple[str, ...]
    stage: leash.Stage
    filter: bytes
    argv: tuple[str, ...]
    identity: int | None
    standing: set[str]
    own_work: str | None


class _Steps:
    """The options that build the root, in order."""

    def __init__(self, words: list[str], identity: int | None, stage: str, *, pins: bool) -> None:
        self._words, self._identity, self.stage, self._pins = words, identity, stage, pins
        self.data: list[bytes] = []
        self.opened: list[str] = []
        self.staged: list[str] = []

    def root(self, made: Root, *, proc: bool) -> None:
        words = self._words
        for path in _parents(made):
            words += ["--perms", "0755", "--dir", path]
        for path, target in made.links:
            words += ["--symlink", target, path]
        for source, at in made.binds:
            self._bind(source, at)
        for path, data in made.files:
            words += ["--perms", "0644", "--file", f"{{data {len(self.data)}}}", path]
            self.data.append(data)
        words += ["--dev", "/dev"]
        for path, mode in made.private:
            words += ["--perms", f"{mode:o}", "--size", str(made.space), "--tmpfs", path]
        # A file system of its own, without a size: nothing may be put there but what is there.
        words += ["--remount-ro", "/dev"]
        if proc:
            words += ["--proc", "/proc"]
            self._masks()
            words += ["--remount-ro", "/proc"]
        else:
            words += ["--dir", "/proc"]
        for share in made.sources:
            self._bind(share.path, share.at, write=share.write, pin=self._pins)
        words += ["--remount-ro", "/"]

    def _masks(self) -> None:
        for path in layout().masks:
            if os.path.isdir(path):
                size = str(MASK_BYTES)
                self._words += ["--perms", "0555", "--size", size, "--tmpfs", path]
                self._words += ["--remount-ro", path]
            elif os.path.exists(path):
                self._words += ["--ro-bind", os.devnull, path]

    def _bind(self, source: str, at: str, *, write: bool = False, pin: bool = False) -> None:
        """bwrap runs as nobody for root, to whom directories above may be closed: then we bring
        the source nearer, where only this run sees it. With ``pin`` bwrap makes sure that it is
        what we have opened, whatever has been put in its place since."""
        option = "--bind" if write else "--ro-bind"
        if self._identity is not None and not walls.is_reached(source, self._identity):
            self.staged.append(source)
            source = f"{self.stage}/{len(self.staged) - 1}"
        elif pin:
            self.opened.append(source)
            option, source = f"{option}-fd", f"{{opened {len(self.opened) - 1}}}"
        self._words += [option, source, at]


def _stage(made: Root) -> str:
    """An empty place on the host, for this run: one that nothing shared lies below."""
    sources = [source for source, _ in made.binds] + [share.path for share in made.sources]
    free = (d for d in STAGES if os.path.isdir(d) and not any(is_below(s, d) for s in sources))
    return next(free, STAGES[0])


def _parents(made: Root) -> list[str]:
    """Directories to make for what stands in them; bwrap's own would be closed to others."""
    places = [at for _, at in made.binds] + [path for path, _ in (*made.links, *made.files)]
    places += [path for path, _ in made.private]
    found = {
        parent
        for place in places
        for depth in range(2, place.count("/") + 1)
        if (parent := "/".join(place.split("/")[:depth])) not in ("/dev", "/proc")
    }
    return sorted(found)


def _filter(policy: Policy, *, nested: bool) -> bytes:
    """The policy's filter, answering by itself; where user namespaces could be nested, clone3 goes,
    whose flags no filter can read."""
    from wardian.syscalls import compile_filter

    deny = frozenset(policy.deny_syscalls) | ({"clone3"} if nested else frozenset())
    allow = frozenset(policy.allow_syscalls)
    return compile_filter(this_host().arch, allow=allow, deny=deny, refuse="errno")


def _held(job: Job, policy: Policy, *, counted: bool) -> tuple[Limit, ...]:
    limits, disk = policy.limits, "tmpfs size, RLIMIT_FSIZE, supervisor"
    return (
        Limit("time", time_limit(job, policy), "supervisor"),
        Limit("cpu", limits.cpu_s, "supervisor, RLIMIT_CPU"),
        Limit("memory", limits.memory_bytes, "supervisor, RLIMIT_DATA, tmpfs size"),
        Limit("processes", limits.processes, "RLIMIT_NPROC" if counted else walls.NOT_HELD),
        Limit("files", limits.files, "RLIMIT_NOFILE"),
        Limit("disk", limits.disk_bytes, disk),
        Limit("output", limits.output_bytes, "supervisor"),
    )


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

    def __init__(self, call: _Call, job: Job, policy: Policy, made: Root) -> None:
        self._call, self._job, self._policy, self._made = call, job, policy, made
        self.pid, self.told = 0, -1
        self.started: float | None = None
        self.watch: Tree | None = None
        self._said, self._code, self._ready = b"", -1, False
        self._init, self._init_pidfd = 0, -1
        self._go = self._unblock = -1
        self._guard: leash.Guard | None = None
        self._heard: Lane | None = None

    # Starting

    def start(self, streams: Streams) -> None:
        """Raises SandboxError."""
        self._heard = next((lane for lane in reversed(streams.lanes) if lane.stream), None)
        if self._heard is not None:
            self._heard.hold(SAYS)
        theirs: list[int] = []
        try:
            self.told, ready = launcher.pipe()
            theirs.append(ready)
            go, self._go = launcher.pipe()
            theirs.append(go)
            block, self._unblock = launcher.pipe()
            theirs.append(block)
            places = [self._call.own_work] if self._call.own_work else []
            self._guard = leash.Guard(places, held=self._unblock)
            argv = [self._call.path, *self._numbered(theirs, block)]
            self.pid = leash.start(
                [*argv, "--", *self._call.argv],
                streams=streams.given,
                ready=ready,
                go=go,
                kept=[fd for fd in theirs if fd not in (ready, go)],
                identity=self._call.identity,
                tells=True,
                stage=self._call.stage,
            )
            self._guard.watch(self.pid, group=True)
        except OSError as error:
            raise _explained(error) from None
        finally:
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
        theirs.append(leash.memory_file("wardian-filter", self._call.filter))
        words = [numbers.get(word, word) for word in self._call.words]
        words += ["--seccomp", str(theirs[-1]), "--block-fd", str(block)]
        words += ["--json-status-fd", str(leash.READY)]
        theirs.append(leash.memory_file("wardian-options", _nul_separated(words)))
        return ["--args", str(theirs[-1])]

    # Under way

    def on_told(self) -> bool:
        """The leash's one byte, then bwrap's lines of JSON. Raises SandboxError."""
        data = os.read(self.told, 4096)
        if data and not self._ready:
            self._ready = True
            os.write(self._go, b"\n")
            self._said = data[1:]
        else:
            self._said += data
        *lines, self._said = self._said.split(b"\n")
        for line in lines:
            said = json.loads(line)
            if "child-pid" in said:
                self._on_child(said["child-pid"])
            self._code = said.get("exit-code", self._code)
        return bool(data)

    def _on_child(self, pid: int) -> None:
        """It builds the root now, then waits for us: that is when its limits are set."""
        try:
            self._init_pidfd = os.pidfd_open(pid)
        except ProcessLookupError:
            return  # it says why
        self._init = pid
        if not _is_built(pid):
            return
        held = _rlimits(self._policy.limits, self._call.standing)
        leash.limit(pid, held, self._call.identity)
        self.watch = Tree(
            pid,
            self._policy.limits,
            written=[source.path for source in self._made.sources if source.write],
            private=[path for path, _ in self._made.private],
            own=1,
        )
        if self._guard is not None:
            self._guard.watch(pid)  # until it has asked to die with its parent, it would not
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
            return self._failed(self._heard.held if self._heard is not None else b"")
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

    def _failed(self, said: bytes) -> End:
        text = said.decode("utf-8", "replace").strip().removeprefix(SAYS.decode())
        what, _, why = text.rpartition(": ")
        if self._heard is not None:
            self._heard.held = b""  # it was not the command's
        if what.startswith("execvp "):
            return End(exec_errno=exec_errno(why, self._job, self._made))
        raise _failure(text or "it was killed", what, why)

    def close(self) -> None:
        """Nothing of it is left."""
        for fd in (self.told, self._go, self._unblock, self._init_pidfd):
            if fd >= 0:
                os.close(fd)
        if self._guard is not None:
            self._guard.close()


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


def _errno(text: str) -> int:
    import errno

    found = (number for number in errno.errorcode if os.strerror(number) == text)
    return next(found, errno.EIO)


def _explained(error: OSError) -> BackendError:
    return BackendError(
        f"{PROGRAM} can't be started: {(error.strerror or str(error)).lower()}",
        hint="is a limit on processes or open files very low? see: ulimit -a",
    )


def _failure(text: str, what: str, why: str) -> SandboxError:
    """bwrap's last words as an error that says what to do."""
    if what.startswith("Can't chdir to "):
        path = what.removeprefix("Can't chdir to ")
        return SandboxError(
            f"{path}: {why.lower()}",
            hint="share it with --read or --write, or choose another with --cwd",
        )
    if what.startswith("Can't find source path "):
        return ShareError(what.removeprefix("Can't find source path "), why.lower())
    if "namespace" in text:
        from wardian.sandbox.surroundings import advice, surroundings

        told = advice("namespace.user", _errno(why), surroundings(program()))
        return WallError("namespace.user", f"bubblewrap: {text}", hint=f"{told.why}; {told.fix}")
    return BackendError(f"bubblewrap: {text}", hint="`wardian doctor` says whether it works here")


__all__ = ["Bubblewrap", "options", "program", "shortfall", "version"]
