"""The backend ``gvisor``: the same policy as an OCI bundle for ``runsc``, a kernel in user space.

What it lacks: Landlock, reports of refused syscalls, and for an ordinary caller an ordinary user
inside: only one id can be mapped then, and gVisor wants it to be 0. That user has no capabilities.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import threading
from collections.abc import Iterator
from typing import Any

from wardian.errors import BackendError, SandboxError
from wardian.sandbox.backends import Job, bare, runsc, walls
from wardian.sandbox.backends.interior import (
    active,
    check_in_place,
    exec_errno,
    in_order,
    on_host,
    place,
)
from wardian.sandbox.host import this_host
from wardian.sandbox.limits import (
    limit_records,
)
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.layout import HOSTNAME, USER_ID, WORK
from wardian.sandbox.root.root import Root, make_root
from wardian.sandbox.root.shares import admitted
from wardian.sandbox.run.failures import cwd_hint
from wardian.sandbox.run.plan import Plan, cgroup_records
from wardian.sandbox.run.process import Process
from wardian.sandbox.run.records import BARE, record
from wardian.sandbox.workdir import WorkDir

SAYS = "running container: "
FAILED = 128  # what runsc exits with when it could not run anything
SEND_S = 10.0
NAMESPACES = ("pid", "ipc", "uts", "mount")


def _walls(policy: Policy) -> walls.Walls:
    lacking = dict.fromkeys(
        (name for name in walls.NAMES if name.startswith("landlock")),
        "gVisor does not use Landlock",
    )
    lacking["notify"] = "gVisor does not report refused system calls"
    if os.geteuid() != 0:
        lacking["identity"] = "an ordinary caller's guest is user 0 inside gVisor"
    elif walls.outside_id(policy) is None:
        lacking["identity"] = "the guest has root's own rights over what it reaches"
    own = "gVisor's own kernel"
    notes = dict.fromkeys((n for n in walls.NAMES if n.startswith("namespace.")), own)
    notes |= {"proc": own, "no_new_privs": own}
    notes["seccomp"] = "by name, inside; gVisor's own filter stands between it and the host"
    return walls.Walls("gvisor", lacking, notes)


class Gvisor:
    """Makes a bundle for each run: a directory of our own, gone with it."""

    name = "gvisor"

    def shortfall(self, policy: Policy) -> tuple[str, ...]:
        """What a run under this policy has to give up here. Raises UsageError."""
        return walls.shortfall(policy, _walls(policy))

    def version(self) -> str:
        """Raises BackendError."""
        return runsc.version(runsc.program())

    def prepare(self, policy: Policy, *, own_work: str | None = None) -> None:
        """Raises SandboxError."""
        self._path = runsc.program()
        self._policy, self._own_work = policy, own_work
        self._protections = walls.settled(policy, _walls(policy))
        self._counted = "limits.processes" in {p.name for p in self._protections if p.enforced}
        self._sources = admitted(policy, own_work, WORK, copies=False)
        self._around = active(policy, self._sources)
        self._identity = walls.outside_id(policy, own_work)
        walls.check_reach(self._sources, self._identity, self.name)
        walls.give_up_work(policy, own_work)
        self._seccomp = runsc.seccomp(policy)

    def start(self, job: Job) -> Process:
        """Start the job. Raises SandboxError."""
        argv, env, more = place(job, self._policy, self._sources, self._around)
        made = make_root(self._policy, in_order((*more, *self._sources)))
        check_in_place(made)
        _check_cwd(job.cwd or WORK, made)
        config = self._config(job, made, env, argv)
        limits = bare.held(
            job,
            self._policy,
            cpu="supervisor",
            memory="supervisor, tmpfs size",
            counted=self._counted,
        )
        records = b"".join(self._records(made))
        plan = Plan(records, self._protections, limits, counted=("cpu", "memory"))
        return _Guest(self._call(made), config, job, made).start(plan, self._policy)

    def _records(self, made: Root) -> Iterator[bytes]:
        """gVisor's kernel counts what is inside; out here are its own processes, and all memory."""
        yield BARE
        if self._own_work is not None:
            yield record("discard", self._own_work)
        yield from limit_records(self._policy.limits._replace(processes=None))
        yield from cgroup_records(this_host(), {p.name for p in self._protections if p.enforced})
        yield record("inodes", made.most_files)
        yield from (record("watch", source.path) for source in made.sources if source.write)

    def _call(self, made: Root) -> list[str]:
        network = "host" if self._policy.network == "host" else "none"
        words = [self._path, f"--network={network}", "--ignore-cgroups", "--oci-seccomp"]
        words += [] if os.geteuid() == 0 else ["--rootless"]
        if any(_is_socket(source.path) for source in made.sources):
            words.append("--host-uds=open")
        return words

    def _config(
        self, job: Job, made: Root, env: dict[str, str], argv: tuple[str, ...]
    ) -> dict[str, Any]:
        inside, maps = self._ids()
        namespaces = [*NAMESPACES, *(["network"] if self._policy.network != "host" else [])]
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
            "mounts": list(runsc.mounts(made, inside)),
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
                    for name, value in runsc.rlimits_of(
                        self._policy.limits, counted=self._counted
                    ).items()
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


def _check_cwd(path: str, made: Root) -> None:
    """runsc would make it, on the host if need be. Raises SandboxError."""
    path = os.path.normpath(path)
    there = {"/", "/proc", "/dev", "/sys", *(at for at, _ in made.private)}
    places = [*there, *(at for _, at in made.binds), *(share.at for share in made.sources)]
    there |= {at[: i or 1] for at in places for i, c in enumerate(at) if c == "/"}
    outside = on_host(path, made)
    if path in there or (outside is not None and os.path.isdir(outside)):
        return
    raise SandboxError(f"{path}: no such file or directory", hint=cwd_hint(path))


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False


class _Guest:
    """One run of runsc: its bundle, and how it ended."""

    def __init__(self, call: list[str], config: dict[str, Any], job: Job, made: Root) -> None:
        self._call, self._config = call, config
        self._job, self._made = job, made
        self._place = WorkDir(guests=False)  # runsc is root, and maps no other owner

    def start(self, plan: Plan, policy: Policy) -> Process:
        """Raises SandboxError, and UsageError for what runsc can't express."""
        try:
            self._bundle = self._place.path
            runsc.make_root_in(os.path.join(self._bundle, "root"), self._made)
            runsc.write(os.path.join(self._bundle, "config.json"), self._config)
            self._state = os.path.join(self._bundle, "state")
            os.mkdir(self._state, 0o700)
        except OSError as error:
            raise _explained(error.strerror or str(error)) from None
        log = os.path.join(self._bundle, "log")
        words = [*self._call, "--root", self._state, "--log", log, "--log-format", "json"]
        words += ["run", "--bundle", self._bundle, os.path.basename(self._bundle)]
        return bare.start(
            self._job,
            bare.Bare(
                Gvisor.name,
                policy,
                plan._replace(records=plan.records + record("discard", self._bundle)),
                words,
                bare.ENVIRONMENT,
                "/",
                judge=self._judged,
                over=self._place.remove,
                send=self._send,
                voice=SAYS,
            ),
        )

    def _send(self, number: int) -> None:
        """By a runsc of its own, which takes a while: the one that runs keeps none for the
        command."""
        name = os.path.basename(self._bundle)
        words = [*self._call, "--root", self._state, "kill", name, str(number)]
        threading.Thread(target=_sent, args=(words,), name="wardian-kill", daemon=True).start()

    def _judged(self, ending: bare.Ending) -> bare.Ending:
        """Raises SandboxError if runsc failed."""
        event = ending.event | {"tasks": 1}  # those inside are gVisor's own, and not known
        if event["exec_errno"]:
            raise _explained(os.strerror(event["exec_errno"]))
        if event["signal"]:
            raise BackendError(
                f"{runsc.PROGRAM} was killed by signal {event['signal']}",
                hint="did the host run out of memory, or did someone kill it?",
            )
        said = self._errors() if event["code"] == FAILED else []
        if said:
            return self._failed(ending._replace(event=event), said[-1], said[0])
        ended = ending._replace(event=event)
        return ended.exited(event["code"], range(1, signal.SIGRTMAX + 1))

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

    def _failed(self, ending: bare.Ending, said: str, first: str) -> bare.Ending:
        what, _, why = said.rpartition(": ")
        if "failed to load" in what or "error finding executable" in what:
            return ending.not_executed(exec_errno(why, self._job, self._made))
        raise _failure(first if first == said else f"{said} ({first})", first)


def _sent(words: list[str]) -> None:
    try:
        subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=SEND_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        pass  # it may have ended


def _failure(text: str, first: str) -> SandboxError:
    """What runsc wrote last as an error with a cure; the first of its messages has the reason."""
    from wardian.sandbox.doctor.advice import peer_advice, surroundings

    cure = peer_advice(first, surroundings(runsc.program()))
    alone = f"does it work by itself? {runsc.PROGRAM} {runsc.ALONE}"
    hint = f"{cure.why}; {cure.fix}" if cure else alone
    return BackendError(f"gvisor: {text}", hint=hint)


def _explained(why: str) -> BackendError:
    return BackendError(
        f"{runsc.PROGRAM} can't be started: {why.lower()}",
        hint="a limit on processes or open files may be too low; see: ulimit -a",
    )


backend = Gvisor
__all__ = ["Gvisor", "backend"]
