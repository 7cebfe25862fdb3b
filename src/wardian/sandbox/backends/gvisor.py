"""The backend ``gvisor``: the same policy as an OCI bundle for ``runsc``, a kernel in user space.

What it lacks: Landlock, telling of refused syscalls, and for an ordinary caller an ordinary user
inside: only one id can be mapped then, and gVisor wants it to be 0. That user has no capabilities.
"""

from __future__ import annotations

import functools
import json
import os
import select
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from typing import Any

from wardian.errors import BackendError, SandboxError, UsageError
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
from wardian.sandbox.backends.tree import Tree, descendants, kill_tree
from wardian.sandbox.files import WorkDir
from wardian.sandbox.host import this_host
from wardian.sandbox.layout import HOSTNAME, USER_ID, WORK
from wardian.sandbox.policy import Limits, Policy
from wardian.sandbox.process import Process
from wardian.sandbox.result import Limit

PROGRAM, PACKAGE = "runsc", "runsc"
SAYS = b"running container: "
FAILED = 128  # what runsc exits with when it could not run anything
GONE_S = SEND_S = 10.0
NAMESPACES = ("pid", "ipc", "uts", "mount")


def program() -> str:
    """Where runsc is. Raises BackendError."""
    found = shutil.which(PROGRAM)
    if found is None:
        raise BackendError(
            f"{PROGRAM} is not installed", hint=f"sudo apt install {PACKAGE}, or see gvisor.dev"
        )
    return found


def version(path: str) -> str:
    """What it says of itself."""
    done = subprocess.run(
        [path, "--version"], capture_output=True, text=True, timeout=SEND_S, check=False
    )
    return next(iter(done.stdout.splitlines()), path)


def _walls(policy: Policy) -> walls.Walls:
    lacking = dict.fromkeys(
        (name for name in walls.NAMES if name.startswith("landlock")),
        "gVisor does not use Landlock",
    )
    lacking["notify"] = "gVisor tells nobody of a refused syscall"
    if os.geteuid() != 0:
        lacking["identity"] = "an ordinary caller's guest is user 0 inside gVisor"
    elif walls.outside_id(policy) is None:
        lacking["identity"] = "the guest has root's own rights over what it reaches"
    own = "gVisor's own kernel"
    notes = dict.fromkeys((n for n in walls.NAMES if n.startswith("namespace.")), own)
    notes |= {"proc": own, "no_new_privs": own}
    notes["seccomp"] = "by name, inside; gVisor's own filter stands between it and the host"
    return walls.Walls("gvisor", lacking, notes)


def shortfall(policy: Policy) -> tuple[str, ...]:
    """What a run under this policy has to give up here. Raises UsageError."""
    return walls.shortfall(policy, _walls(policy))


class Gvisor:
    """Makes a bundle for each run: a directory of our own, gone with it."""

    name = "gvisor"

    def prepare(self, policy: Policy, *, own_work: str | None = None) -> None:
        """Raises SandboxError."""
        self._path = program()
        self._policy, self._own_work = policy, own_work
        self._protections = walls.settled(policy, _walls(policy))
        self._counted = "limits.processes" in {p.name for p in self._protections if p.enforced}
        self._sources = shared(policy, own_work)
        self._identity = walls.outside_id(policy)
        walls.check_reach(self._sources, self._identity, self.name)
        walls.give_up_work(policy, own_work)
        self._seccomp = _seccomp(policy)

    def start(self, job: Job) -> Process:
        """Start the job. Raises SandboxError."""
        argv, env, made = place(job, self._policy, self._sources)
        check_in_place(made)
        _check_cwd(job.cwd or WORK, made)
        bundle = WorkDir()
        try:
            _make_root(os.path.join(bundle.path, "root"), made)
            _write(bundle.path, self._config(job, made, env, argv))
        except BaseException:
            bundle.remove()
            raise
        guest = _Guest(self._call(made), bundle, job, self._policy, made, self._own_work)
        held = _held(job, self._policy, counted=self._counted)
        told = Told(self.name, self._policy, self._protections, held)
        streams = functools.partial(inherited, tty=job.tty)
        if not job.inherit:
            streams = functools.partial(captured, job)
        return Run(job, guest, streams, told).start()

    def _call(self, made: Root) -> list[str]:
        network = "none" if self._policy.network == "none" else "host"
        words = [self._path, f"--network={network}", "--ignore-cgroups", "--oci-seccomp"]
        words += [] if os.geteuid() == 0 else ["--rootless"]
        if any(_is_socket(source.path) for source in made.sources):
            words.append("--host-uds=open")
        return words

    def _config(
        self, job: Job, made: Root, env: dict[str, str], argv: tuple[str, ...]
    ) -> dict[str, Any]:
        inside, maps = self._ids()
        namespaces = [*NAMESPACES, *(["network"] if self._policy.network == "none" else [])]
        linux: dict[str, Any] = {"seccomp": self._seccomp}
        if maps:
            namespaces.append("user")
            linux["uidMappings"] = linux["gidMappings"] = [
                {"containerID": here, "hostID": there, "size": 1} for here, there in maps
            ]
        linux["namespaces"] = [{"type": name} for name in namespaces]
        return {
            "ociVersion": "1.0.2",
            "hostname": HOSTNAME,
            "root": {"path": "root", "readonly": True},
            "mounts": list(_mounts(made, inside)),
            "process": {
                "terminal": job.tty,
                "user": {"uid": inside, "gid": inside},
                "args": argv,
                "env": [f"{name}={value}" for name, value in env.items()],
                "cwd": job.cwd or WORK,
                "noNewPrivileges": True,
                "capabilities": {},
                "rlimits": [
                    {"type": f"RLIMIT_{name}", "soft": value, "hard": value}
                    for name, value in _rlimits(self._policy.limits, counted=self._counted).items()
                ],
            },
            "linux": linux,
        }

    def _ids(self) -> tuple[int, list[tuple[int, int]]]:
        """The user inside, and who everyone inside is outside. runsc itself wants a 0 inside."""
        if os.geteuid() != 0:
            return 0, []
        if self._identity is None:
            return 0, []
        return USER_ID, [(0, 0), (USER_ID, self._identity)]


# The bundle


def _write(path: str, config: dict[str, Any]) -> None:
    try:
        text = json.dumps(config, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError(
            "gvisor takes words, variables and paths in UTF-8 only",
            hint="use --backend wardian for other bytes",
        ) from None
    with open(os.path.join(path, "config.json"), "wb") as file:
        file.write(text)


def _make_root(path: str, made: Root) -> None:
    """What is mounted later needs a place; our own files are simply there."""
    for at, target in made.links:
        os.makedirs(os.path.dirname(path + at), exist_ok=True)
        os.symlink(target, path + at)
    places = [(source, at) for source, at in made.binds]
    places += [(source.path, source.at) for source in made.sources]
    for source, at in places:
        if on_host(os.path.dirname(at), made) is None and not os.path.lexists(path + at):
            _make_place(path + at, is_dir=os.path.isdir(source))
    for at, _ in (*made.private, ("/proc", 0), ("/dev", 0), ("/sys", 0)):
        os.makedirs(path + at, exist_ok=True)
    for at, data in made.files:
        os.makedirs(os.path.dirname(path + at), exist_ok=True)
        with open(path + at, "wb") as file:
            file.write(data)


def _make_place(path: str, *, is_dir: bool) -> None:
    os.makedirs(path if is_dir else os.path.dirname(path), exist_ok=True)
    if not is_dir:
        with open(path, "wb"):
            pass


def _mounts(made: Root, inside: int) -> Iterator[dict[str, Any]]:
    def bind(source: str, at: str, access: str) -> dict[str, Any]:
        kinds = ["rbind", access, "nosuid", "nodev"]
        return {"destination": at, "type": "bind", "source": source, "options": kinds}

    yield {"destination": "/proc", "type": "proc", "source": "proc"}
    for source, at in made.binds:
        yield bind(source, at, "ro")
    for at, mode in made.private:
        kinds = [f"mode={mode:o}", f"size={made.space}", f"uid={inside}", f"gid={inside}"]
        yield {"destination": at, "type": "tmpfs", "source": "tmpfs", "options": kinds}
    for share in made.sources:
        yield bind(share.path, share.at, "rw" if share.write else "ro")


@functools.cache
def _denied(arch: str, allow: tuple[str, ...], deny: tuple[str, ...]) -> tuple[str, ...]:
    from wardian.syscalls import rows

    return tuple(
        row.name
        for row in rows()
        if row.number(arch) is not None
        and (row.name in deny or (row.decision == "deny" and row.name not in allow))
    )


def _seccomp(policy: Policy) -> dict[str, Any]:
    """The calls that the table refuses outright, and new namespaces; what else it asks of arguments
    is gVisor's matter."""
    from wardian.syscalls.constants import CONSTANTS

    refused = {"action": "SCMP_ACT_ERRNO", "errnoRet": 1}
    names = _denied(this_host().arch, policy.allow_syscalls, policy.deny_syscalls)
    rules: list[dict[str, Any]] = [{"names": list(names)} | refused]
    namespaces = CONSTANTS["NAMESPACE_FLAGS"]
    guarded = [name for name in ("clone", "unshare") if name not in policy.allow_syscalls]
    for flag in (1 << bit for bit in range(32) if namespaces & 1 << bit):
        has_flag = {"index": 0, "value": flag, "valueTwo": flag, "op": "SCMP_CMP_MASKED_EQ"}
        rules.append({"names": guarded, "args": [has_flag]} | refused)
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        "architectures": [f"SCMP_ARCH_{this_host().arch.upper()}"],
        "syscalls": rules,
    }


def _rlimits(limits: Limits, *, counted: bool) -> dict[str, int]:
    held = {"CORE": 0}
    if limits.processes is not None and counted:
        held["NPROC"] = limits.processes + 1  # the command itself comes first
    if limits.files is not None:
        held["NOFILE"] = limits.files
    if limits.disk_bytes is not None:
        held["FSIZE"] = limits.disk_bytes
    return held


def _held(job: Job, policy: Policy, *, counted: bool) -> tuple[Limit, ...]:
    limits, disk = policy.limits, "tmpfs size, RLIMIT_FSIZE, supervisor"
    return (
        Limit("time", time_limit(job, policy), "supervisor"),
        Limit("cpu", limits.cpu_s, "supervisor"),
        Limit("memory", limits.memory_bytes, "supervisor, tmpfs size"),
        Limit("processes", limits.processes, "RLIMIT_NPROC" if counted else walls.NOT_HELD),
        Limit("files", limits.files, "RLIMIT_NOFILE"),
        Limit("disk", limits.disk_bytes, disk),
        Limit("output", limits.output_bytes, "supervisor"),
    )


def _check_cwd(path: str, made: Root) -> None:
    """runsc would make it, on the host if need be. Raises SandboxError."""
    path = os.path.normpath(path)
    there = {"/", "/proc", "/dev", "/sys", *(at for at, _ in made.private)}
    places = [*there, *(at for _, at in made.binds), *(share.at for share in made.sources)]
    there |= {at[: i or 1] for at in places for i, c in enumerate(at) if c == "/"}
    outside = on_host(path, made)
    if path in there or (outside is not None and os.path.isdir(outside)):
        return
    raise SandboxError(
        f"{path}: no such file or directory",
        hint="share it with --read or --write, or choose another with --cwd",
    )


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False


class _Guest:
    """runsc on its leash, and the kernel and file server that it starts."""

    def __init__(
        self,
        call: list[str],
        bundle: WorkDir,
        job: Job,
        policy: Policy,
        made: Root,
        own_work: str | None,
    ) -> None:
        """``own_work`` goes too should our caller be killed."""
        self._call, self._place, self._job = call, bundle, job
        self._bundle, self._own_work = bundle.path, own_work
        self._policy, self._made = policy, made
        self.pid, self.told = 0, -1
        self.started: float | None = None
        self.watch: Tree | None = None
        self._go = -1
        self._ready = False
        self._killed: dict[int, int] = {}
        self._guard: leash.Guard | None = None
        self._heard: Lane | None = None

    def start(self, streams: Streams) -> None:
        """Raises SandboxError."""
        self._heard = next((lane for lane in reversed(streams.lanes) if lane.stream), None)
        if self._heard is not None:
            self._heard.hold(SAYS)
        theirs: list[int] = []
        state, log = (os.path.join(self._bundle, name) for name in ("state", "log"))
        words = [*self._call, "--root", state, "--log", log, "--log-format", "json"]
        words += ["run", "--bundle", self._bundle, os.path.basename(self._bundle)]
        try:
            os.mkdir(state, 0o700)
            self.told, ready = launcher.pipe()
            theirs.append(ready)
            go, self._go = launcher.pipe()
            theirs.append(go)
            places = [self._bundle, *([self._own_work] if self._own_work else [])]
            self._guard = leash.Guard(places)
            self.pid = leash.start(words, streams=streams.given, ready=ready, go=go)
            self._guard.watch(self.pid, group=True)
        except OSError as error:
            raise BackendError(
                f"{PROGRAM} can't be started: {(error.strerror or str(error)).lower()}",
                hint="is a limit on processes or open files very low? see: ulimit -a",
            ) from None
        finally:
            for fd in theirs:
                os.close(fd)

    def on_told(self) -> bool:
        """The leash holds: go."""
        data = os.read(self.told, 64)
        if data and not self._ready:
            self._ready = True
            written = [source.path for source in self._made.sources if source.write]
            self.watch = Tree(self.pid, self._policy.limits, written=written, kernel=True)
            self.started = time.monotonic()
            os.write(self._go, b"\n")
        return bool(data)

    def send(self, number: int) -> None:
        """By a runsc of its own: the one that runs keeps none for the command."""
        state = os.path.join(self._bundle, "state")
        words = [*self._call, "--root", state, "kill", os.path.basename(self._bundle), str(number)]
        try:
            subprocess.run(
                words, stdin=subprocess.DEVNULL, capture_output=True, timeout=SEND_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            pass  # it may have ended

    def kill(self) -> None:
        """runsc, its kernel, its file server, and the processes that the kernel runs."""
        for pid in descendants(self.pid):
            if pid != self.pid and pid not in self._killed:
                try:
                    self._killed[pid] = os.pidfd_open(pid)
                except OSError:
                    continue  # it has ended
        kill_tree(self.pid)

    def ended(self, status: int | None) -> End:
        """Raises SandboxError if runsc failed."""
        deadline = time.monotonic() + GONE_S
        for pidfd in self._killed.values():
            select.select([pidfd], [], [], max(0.0, deadline - time.monotonic()))
        if status is None:
            raise BackendError("how the command ended can't be known: this process ignores SIGCHLD")
        if status < 0:
            raise BackendError(
                f"{PROGRAM} was killed by signal {-status}",
                hint="did the host run out of memory, or someone kill it?",
            )
        said = self._errors() if status == FAILED else []
        if said:
            return self._failed(said[-1], said[0])
        if FAILED < status <= FAILED + signal.SIGRTMAX:
            return End(signal=status - FAILED)  # it tells a signal's number so, like a shell
        return End(status)

    def _errors(self) -> list[str]:
        """What runsc wrote to its log: documents, one after the other."""
        try:
            with open(os.path.join(self._bundle, "log"), encoding="utf-8") as file:
                text = file.read()
        except OSError:
            return []
        found, decoder = [], json.JSONDecoder()
        while text := text.lstrip():
            try:
                document, end = decoder.raw_decode(text)
            except ValueError:
                break
            text = text[end:]
            if document.get("level") in ("error", "fatal"):
                found.append(str(document.get("msg", "")))
        return found

    def _failed(self, said: str, first: str) -> End:
        what, _, why = said.rpartition(": ")
        if self._heard is not None:
            self._heard.held = b""  # it was not the command's
        if "failed to load" in what or "error finding executable" in what:
            return End(exec_errno=exec_errno(why, self._job, self._made))
        raise BackendError(
            f"gvisor: {first if first == said else f'{said} ({first})'}",
            hint="`wardian doctor` says whether it works here",
        )

    def close(self) -> None:
        """Nothing of it is left."""
        for fd in (self.told, self._go, *self._killed.values()):
            if fd >= 0:
                os.close(fd)
        if self._guard is not None:
            self._guard.close()
        self._place.remove()


__all__ = ["Gvisor", "program", "shortfall", "version"]
