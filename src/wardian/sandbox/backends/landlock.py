"""The backend ``landlock``, for hosts without user namespaces: no namespaces, no mounts, no
privileges. Landlock, the syscall filter, rlimits and the supervisor stand; what can't be hidden
without namespaces is listed in the result.

Paths that are not shared can't be opened (EACCES), though they can be seen to exist. /tmp, home and
/work are directories of the run's own, found by TMPDIR, HOME and the working directory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from wardian.errors import BackendError, PolicyError, ShareError, UsageError, WallError
from wardian.sandbox.backends import Job, bare, walls
from wardian.sandbox.backends.interior import active, in_order, place
from wardian.sandbox.backends.runs_own import SHM, OnHost, RunsOwn
from wardian.sandbox.host import Host, this_host
from wardian.sandbox.limits import RLIMIT_NPROC, limit_records, rlimits
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.layout import WORK, layout
from wardian.sandbox.root.root import Root, make_root
from wardian.sandbox.root.shares import Source, admitted, is_below
from wardian.sandbox.run import landlock, launcher
from wardian.sandbox.run.plan import Plan, cgroup_records
from wardian.sandbox.run.process import Process
from wardian.sandbox.run.protections import COPIES, check_degrade, protections
from wardian.sandbox.run.records import CONFINED, record
from wardian.sandbox.run.result import Limit, Protection

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from wardian.syscalls.confined import Confinement
    from wardian.syscalls.watching import Scope

ENOENT, EACCES = 2, 13
PTMX = "/dev/ptmx"  # its other end is had without a name, by TIOCGPTPEER
# What is not there, and what that means.
WITHOUT = {
    "namespace.user": "no user namespace: the guest has the caller's own id, or as root another",
    "namespace.mount": "no mounts: what is not shared can't be opened, but its name, size and times"
    " can be seen",
    "namespace.pid": "other processes can be seen, not signalled or traced",
    "namespace.ipc": "System V objects and message queues are refused instead",
    "namespace.uts": "the host's name can be read, not changed",
    "namespace.cgroup": "the host's control groups can be read",
    "namespace.network": "all sockets but UNIX ones are refused instead; there is no loopback",
    "pivot_root": "the host's root: Landlock closes what is not shared",
    "proc": "the host's /proc can be read; of other processes only what every user may read",
    COPIES: "only the backend wardian makes copies; it is read-only",
}
BY_SUPERVISOR = {
    "landlock.truncate": "the supervisor judges truncate instead",
    "landlock.scope_signal": "the supervisor sends the guest's signals instead",
    "landlock.scope_abstract_socket": "connecting to abstract sockets is refused instead",
}


class Landlock:
    """Plans once for a policy, then launches."""

    name = "landlock"

    def __init__(self, *, binary: str = launcher.LAUNCHER, extra: bytes = b"") -> None:
        """``binary`` and ``extra`` records are for tests, which have a launcher of their own."""
        self._binary, self._extra = binary, extra

    def shortfall(self, policy: Policy) -> tuple[str, ...]:
        """Namespaces are given up by this backend's name; the rest, it says itself."""
        return ()

    def version(self) -> str:
        """None of its own."""
        return ""

    def prepare(self, policy: Policy, *, own_work: str | None = None) -> None:
        """Raises SandboxError."""
        host = this_host()
        _refuse_namespaced(policy)
        self._policy, self._own_work = policy, own_work
        self._protections = _protections(policy, host)
        self._standing = {wall.name for wall in self._protections if wall.enforced}
        self._sources = admitted(policy, own_work, WORK, copies=False)
        _refuse_inner(self._sources)
        self._identity = walls.outside_id(policy, own_work)
        if host.is_root and self._identity in (None, 0):
            raise WallError(
                "identity", "root's guest would be root itself here: no other id is mapped"
            )
        self._check_reach(self._sources)
        self._around = active(policy, self._sources)
        self._rules = _rules(policy, host, make_root(policy, ()))
        self._filters: dict[bool, bytes] = {}
        self._filter(traced=False)

    def _check_reach(self, sources: Sequence[Source]) -> None:
        walls.check_reach(sources, self._identity, self.name)
        for source in sources if self._identity is not None else ():
            if not walls.is_reached(source.path, self._identity or 0):
                raise WallError(
                    "identity",
                    f"{source.path} lies in a directory that is closed to a guest without root's"
                    " rights",
                    hint="open it to others (chmod), run as an ordinary user, or use --backend"
                    " wardian",
                )

    def _reachable(self, more: Sequence[Source], program: str) -> tuple[Source, ...]:
        """Of what the caller's own surroundings bring, what root's guest can reach; the program
        itself has to be. Raises WallError."""
        self._check_reach([source for source in more if is_below(program, source.at)])
        if self._identity is None:
            return tuple(more)
        return tuple(s for s in more if walls.is_reached(s.path, self._identity))

    def _filter(self, *, traced: bool) -> bytes:
        if traced not in self._filters:
            self._filters[traced] = b"".join(
                _filter_records(self._policy, this_host(), self._standing, traced=traced)
            )
        return self._filters[traced]

    def start(self, job: Job) -> Process:
        """Start the job. Raises SandboxError."""
        argv, env, more = place(job, self._policy, self._sources, self._around)
        more = self._reachable(more, argv[0])
        sources = in_order((*more, *self._sources))
        root = make_root(self._policy, sources)
        _check_in_place(root)
        own = RunsOwn(self._identity)
        there = OnHost(own.places, sources)
        try:
            plan = Plan(
                b"".join(self._records(job, root, own, there)),
                self._protections,
                self._limits(job),
                tuple(sources),
            )
            # What the caller set is meant as it is; our own names places inside.
            given = self._policy.environment(os.environ) | dict(job.env)
            ours = dict(layout().environment_confined)
            ours |= {name: there.value(value) for name, value in env.items() if name not in given}
            command = bare.Bare(
                self.name,
                self._policy,
                plan,
                [there.word(word) for word in argv],
                ours | {name: there.word(value) for name, value in given.items()},
                there.path(os.path.normpath(os.path.join(WORK, job.cwd or ""))),
                judge=lambda ending: _judged(ending, argv[0], env["PATH"]),
                over=own.remove,
                seen=True,
                binary=self._binary,
            )
        except BaseException:
            own.remove()
            raise
        return bare.start(job, command)

    def _limits(self, job: Job) -> tuple[Limit, ...]:
        held = bare.held(
            job,
            self._policy,
            cpu="supervisor, RLIMIT_CPU",
            memory="supervisor, RLIMIT_DATA",
            counted="limits.processes" in self._standing,
        )
        otherwise = {"disk": "RLIMIT_FSIZE, supervisor"}
        if self._identity is None and "limits.processes" in self._standing:
            otherwise["processes"] = "supervisor, at each fork"
        return tuple(
            limit._replace(mechanism=otherwise.get(limit.name, limit.mechanism)) for limit in held
        )

    def _records(self, job: Job, root: Root, own: RunsOwn, there: OnHost) -> Iterator[bytes]:
        policy, host = self._policy, this_host()
        limits = policy.limits
        if "limits.processes" not in self._standing:
            limits = limits._replace(processes=None)
        yield CONFINED
        if self._identity is not None:
            yield record("identity", self._identity, self._identity)
        yield from (record("discard", p) for p in (own.path, self._own_work) if p is not None)
        yield self._rules
        yield from _own_rules(policy, host, root.sources, own)
        yield self._filter(traced=job.on_trace is not None)
        yield from limit_records(limits)
        for kind, value in sorted(rlimits(limits).items()):
            if kind != RLIMIT_NPROC or self._identity is not None:
                yield record("rlimit", kind, value)
        yield from cgroup_records(host, self._standing)
        yield record("inodes", root.most_files)
        yield record("home", os.path.expanduser("~"))
        yield record("shm", own.places[SHM])
        yield record("watch", own.path)
        yield from (record("watch", source.path) for source in root.sources if source.write)
        if policy.network == "host":
            yield record("flag", "internet")
        if job.on_trace is not None:
            yield record("flag", "trace-every" if job.trace_every else "trace")
        yield self._extra


def _judged(ending: bare.Ending, name: str, path: str) -> bare.Ending:
    """A directory of PATH that is closed to the guest does not make a missing program forbidden."""
    if ending.event["exec_errno"] != EACCES or "/" in name:
        return ending
    found = any(os.path.exists(os.path.join(part, name)) for part in path.split(":") if part)
    return ending if found else ending.not_executed(ENOENT)


# What this backend can't give


def _refuse_namespaced(policy: Policy) -> None:
    """Raises BackendError, UsageError, PolicyError for what a policy asks for and needs a
    namespace."""
    if policy.network == "names":
        raise BackendError(
            "landlock has no network by name: without a network namespace nothing keeps a socket"
            " to the names that are allowed",
            hint="run with --net none or --net host, or use --backend wardian",
        )
    if policy.interface and policy.network != "host":
        raise UsageError(
            "landlock makes no network interface",
            hint="leave --interface out, or use --backend wardian",
        )
    if policy.rootfs is not None:
        raise ShareError(policy.rootfs, "landlock has no root but the host's own")
    judged = _confinement(policy, this_host())
    for name in policy.allow_syscalls:
        if name in judged.otherwise or name in judged.acted or name in ("unshare", "clone"):
            raise PolicyError(f"{name} can't be allowed by name in the backend landlock")


def _refuse_inner(sources: Sequence[Source]) -> None:
    """A rule of Landlock's holds for all that lies below. Raises ShareError."""
    for source in sources:
        for outer in sources:
            if outer.write and not source.write and is_below(source.path, outer.path):
                raise ShareError(
                    outer.path,
                    f"landlock can't keep {source.path}, which lies in it, read-only",
                    hint="share a directory that does not hold it, or use --backend wardian",
                )


def _check_in_place(root: Root) -> None:
    """Raises ShareError for a source that leads elsewhere by now: a guest may have replaced it."""
    for source in root.sources:
        if os.path.realpath(source.path) != source.path:
            raise ShareError(source.path, "something else has been put in its place")


def _protections(policy: Policy, host: Host) -> tuple[Protection, ...]:
    """Raises WallError, UsageError."""
    degraded = check_degrade(policy.degrade)
    if "landlock" in degraded or policy.landlock_abi < 1:
        raise UsageError(
            "landlock can't be given up in the backend landlock",
            hint="to run without any sandbox, say so: --backend host",
        )
    newer = host._replace(kernel=max(host.kernel, (5, 14)))  # the processes are counted otherwise
    found = protections(policy, newer, degraded)
    return tuple(_as_it_is(wall, policy, host) for wall in found)


def _as_it_is(wall: Protection, policy: Policy, host: Host) -> Protection:
    if wall.name in WITHOUT:
        requested = policy.network != "host" if wall.name == "namespace.network" else True
        return Protection(wall.name, requested, False, False, WITHOUT[wall.name])
    if wall.name in BY_SUPERVISOR and not wall.available:
        return wall._replace(note=BY_SUPERVISOR[wall.name])
    if wall.name == "limits.processes" and not host.is_root and "notify" in policy.degrade:
        why = "nobody counts an ordinary user's processes without notify"
        return Protection(wall.name, wall.requested, False, False, why)
    if wall.name == "notify" and wall.enforced:
        return wall._replace(note=_seen(policy))
    return wall._replace(note=wall.note or ("" if wall.available else "this kernel lacks it"))


def _seen(policy: Policy) -> str:
    from wardian.sandbox.run.protections import EXPLAINED

    return (
        EXPLAINED
        if policy.explain
        else "a file that was to be read and is not shared is not reported"
    )


# Rules and filter


def _rules(policy: Policy, host: Host, root: Root) -> bytes:
    """What does not differ between runs: the ruleset, and the rules for what every guest has."""
    handled = _handled(policy, host)
    shape = layout()
    readable = [os.path.realpath(source) for source, _ in root.binds]
    readable += [path for path, _ in root.files if os.path.isfile(path)]
    readable += [path for path in shape.read_confined if os.path.exists(path)]
    devices = [f"/dev/{name}" for name in shape.devices] + [os.path.realpath(PTMX)]
    rights = dict.fromkeys(readable, landlock.READ)
    rights["/proc"] = landlock.READ_FILE | landlock.READ_DIR
    rights |= dict.fromkeys(filter(os.path.exists, devices), landlock.DEVICE)
    records = [record("landlock", *handled)]
    for path, access in rights.items():
        of_kind = access if os.path.isdir(path) else access & landlock.OF_FILES
        records.append(record("rule", path, of_kind & handled.handled_fs))
    return b"".join(records)


def _own_rules(
    policy: Policy, host: Host, sources: Sequence[Source], own: RunsOwn
) -> Iterator[bytes]:
    handled = _handled(policy, host).handled_fs
    for path in sorted(set(own.places.values())):
        yield record("rule", path, landlock.WRITE & handled)
    for source in sources:
        access = landlock.WRITE if source.write else landlock.READ
        yield record("rule", source.path, access & handled)


def _handled(policy: Policy, host: Host) -> landlock.Ruleset:
    return landlock.ruleset(host.landlock_abi, frozenset(policy.degrade))


def _confinement(policy: Policy, host: Host) -> Confinement:
    from wardian.syscalls.confined import confinement

    return confinement(
        network=policy.network == "host",
        landlock_abi=host.landlock_abi,
        ordinary_user=not host.is_root,
    )


def _filter_records(
    policy: Policy, host: Host, standing: set[str], *, traced: bool
) -> Sequence[bytes]:
    from wardian.sandbox.run.filter import make_filter

    watch: Scope = "everything" if traced else "paths" if policy.explain else "changes"
    if "notify" not in standing:
        watch = "nothing"
    return make_filter(
        policy,
        host,
        standing,
        shares_written=True,
        watch=watch,
        confined=_confinement(policy, host),
    )


backend = Landlock
