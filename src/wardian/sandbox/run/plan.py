"""Policy × host → plan: exactly what the launcher will do, and what could not be had. Pure, but for
looking at which of the root's paths this host has."""

from __future__ import annotations

import functools
import math
import os
import struct
from collections.abc import Collection, Mapping, Sequence

from wardian.errors import PolicyError, UsageError, WallError
from wardian.sandbox.host import NO_CGROUP, Host
from wardian.sandbox.policy.policy import NEVER_DENIED, Limits, Policy
from wardian.sandbox.root.layout import HOSTNAME, MQUEUE, USER_ID, WORK, layout
from wardian.sandbox.root.shares import Source
from wardian.sandbox.root.steps import private_places, readable_places, root_steps
from wardian.sandbox.run import landlock
from wardian.sandbox.run.records import MAGIC, record
from wardian.sandbox.run.result import Limit, Protection

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple

    from wardian.syscalls.watching import Scope
else:
    from wardian.values import NamedTuple

NO_FUSE = "/dev/fuse can't be opened, so every call on a path is watched: 4 µs each"
# What the build compiles filters for; the others are made when they are needed.
COMPILED_SCOPES: tuple[Scope, ...] = ("changes", "opens", "paths")
ENOSYS, ENOSPC, EAGAIN, ENOMEM = 38, 28, 11, 12
FALLOCATE_LENGTH = 3  # which argument


class Quota(NamedTuple):
    """A call that takes what nobody counts: how much one argument may add up to in a run, the errno
    after that, and whether it holds only where no control group counts what the call takes."""

    call: str
    argument: int
    most: int
    errno: int
    uncounted: bool


QUOTAS = (
    # Events of the whole machine's fs.aio-max-nr, which is 65,536 by default.
    Quota("io_setup", 0, 4096, EAGAIN, False),
    # A segment pins a huge page of 2 MiB that no process has mapped any more.
    Quota("vmsplice", 2, 16, ENOMEM, True),
)

# Resource numbers that x86-64 and arm64 share; getrlimit(2).
RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_CORE = 0, 1, 2, 4
RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_MEMLOCK, RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE = 6, 7, 8, 11, 12
RLIMIT_NICE, RLIMIT_RTPRIO = 13, 14
# A reaper and the guest itself come before what the guest starts.
OWN_PROCESSES = 2
# Mapped is not used: thread stacks alone map 8 MB each. The supervisor holds the limit itself;
# this only keeps one process from running far past it between two looks.
MAPPED_SLACK = 512 << 20

CGROUP = "limits.cgroup"

# Walls that always stand: there is no run without them, so they can't be given up.
ALWAYS = (
    "namespace.user",
    "namespace.mount",
    "namespace.pid",
    "namespace.ipc",
    "namespace.uts",
    "namespace.cgroup",
    "pivot_root",
    "identity",
    "capabilities",
    "no_new_privs",
    "seccomp",
)
DEGRADABLE = (*dict(landlock.FEATURES), "notify", "proc", "limits.processes", CGROUP)


class Plan(NamedTuple):
    """``records`` go to the launcher; the rest goes into the result."""

    records: bytes
    protections: tuple[Protection, ...]
    limits: tuple[Limit, ...]
    environment: dict[str, str]
    sources: tuple[Source, ...] = ()
    counted: tuple[str, ...] = ("cpu", "memory", "processes")  # by a control group, if there is one


def check_degrade(names: Sequence[str]) -> frozenset[str]:
    """The names as a set. Raises UsageError for one that can't be given up."""
    for name in names:
        if name in DEGRADABLE:
            continue
        if name in ALWAYS or name == "namespace.network":
            raise UsageError(
                f"{name} can't be given up: without it there is no sandbox",
                hint="to run without any sandbox, say so: --backend host",
            )
        raise UsageError(f"there is no protection {name!r}", hint="known: " + ", ".join(DEGRADABLE))
    return frozenset(names)


def make_plan(
    policy: Policy,
    sources: Sequence[Source],
    host: Host,
    *,
    watch: Scope | None = None,
    empty_work: bool = False,
) -> Plan:
    """``watch`` is what to look at besides refused calls; None: what tells all refusals cheapest.

    Raises WallError for a wall that was asked for and can't be had, and was not given up.
    """
    degraded = check_degrade(policy.degrade)
    protections = _protections(policy, host, degraded)
    standing = {p.name for p in protections if p.enforced}
    if "notify" not in standing:
        watch = "nothing"
    elif watch is None:
        watch = _scope(host, empty_work=empty_work)
    environment = dict(layout().environment)
    records = [
        MAGIC,
        record("identity", USER_ID, USER_ID),
        record("hostname", HOSTNAME),
        *root_steps(policy, sources, standing),
        *_landlock(policy, sources, host, degraded, standing),
        *_filter(policy, host, standing, shares_written=any(s.write for s in sources), watch=watch),
        *limit_records(policy.limits),
        *rlimit_records(policy.limits),
        *cgroup_records(host, standing),
    ]
    if watch != "nothing":
        records.append(record("home", os.path.expanduser("~")))
    if policy.network == "none":
        records.append(record("flag", "network"))
    if not policy.deny_syscalls and watch in ("nothing", "changes", "opens"):
        # Nothing that the launcher still has to do is refused or looked at, so the filter can go up
        # meanwhile.
        records.append(record("flag", "early-filter"))
    if watch in ("changes", "opens"):
        records.append(record("flag", "lookups"))
    if watch == "opens":
        records.append(record("flag", "opens"))
    return Plan(
        b"".join(records),
        protections,
        _held(policy, sources, standing),
        environment,
        tuple(sources),
    )


def _scope(host: Host, *, empty_work: bool) -> Scope:
    """With /dev/fuse, what is missing is seen where it is looked up; but not by a relative path,
    which a command that starts in an empty /work of its own may well use for what lies where it
    was called. Without it, every call that takes a path is looked at."""
    if not host.fuse:
        return "paths"
    return "opens" if empty_work else "changes"


# Protections: requested, available, enforced


def _protections(policy: Policy, host: Host, degraded: frozenset[str]) -> tuple[Protection, ...]:
    found = [Protection(name, True, True, True) for name in ALWAYS]
    wants_network = policy.network == "none"
    found.append(Protection("namespace.network", wants_network, True, wants_network))
    found += [
        _landlock_protection(name, abi, policy, host, degraded) for name, abi in landlock.FEATURES
    ]
    told = "" if host.fuse else NO_FUSE
    found.append(Protection("notify", True, True, "notify" not in degraded, told))
    found.append(Protection("proc", True, True, "proc" not in degraded))
    counted = host.kernel >= (
        5,
        14,
    )  # before that, RLIMIT_NPROC counted a user's processes everywhere
    wants_count = policy.limits.processes is not None
    if wants_count and not counted and "limits.processes" not in degraded:
        raise WallError(
            "limits.processes",
            "counting a sandbox's processes needs Linux 5.14; this is "
            f"{host.kernel[0]}.{host.kernel[1]}",
            hint="run with --degrade limits.processes, or use a newer kernel",
        )
    found.append(
        Protection(
            "limits.processes",
            wants_count,
            counted,
            wants_count and "limits.processes" not in degraded,
        )
    )
    found.append(cgroup_protection(host, degraded))
    return tuple(found)


def cgroup_protection(host: Host, degraded: Collection[str]) -> Protection:
    """Taken where one can be made; only the launcher finds out, and the result says so."""
    wanted = host.cgroup != NO_CGROUP and CGROUP not in degraded
    return Protection(CGROUP, wanted, wanted, wanted)


def _landlock_protection(
    name: str, abi: int, policy: Policy, host: Host, degraded: frozenset[str]
) -> Protection:
    available = host.landlock_abi >= abi
    given_up = name in degraded or "landlock" in degraded
    required = policy.landlock_abi >= abi
    if required and not available and not given_up:
        has = (
            f"this kernel has {host.landlock_abi}" if host.landlock_abi else "this kernel has none"
        )
        raise WallError(
            name,
            f"needs Landlock ABI {abi}; {has}",
            hint=f"run with --degrade {name}, or use a kernel with Landlock enabled (lsm=landlock)",
        )
    wanted = policy.landlock_abi > 0
    return Protection(name, wanted, available, wanted and available and not given_up)


# Landlock, filter, limits


def _landlock(
    policy: Policy,
    sources: Sequence[Source],
    host: Host,
    degraded: frozenset[str],
    standing: set[str],
) -> list[bytes]:
    if "landlock" not in standing:
        return []
    handled = landlock.ruleset(host.landlock_abi, degraded)
    readable = readable_places(policy) + [source.at for source in sources if not source.write]
    writable = [path for path, _ in private_places({source.at for source in sources})]
    writable += [source.at for source in sources if source.write]
    writable.append(MQUEUE)
    records = [record("landlock", *handled)]
    for path, access in landlock.rules(readable, writable, ["/dev"], handled.handled_fs):
        records.append(record("rule", path, access))
    return records


FILTER_SOURCES = (
    "sandbox/run/plan.py",
    *(
        f"syscalls/{name}"
        for name in (
            "table.tsv", "table.py", "filter.py", "conditions.py", "constants.py",
            "effects.py", "watching.py",
        )
    ),
)  # fmt: skip


def _filter(
    policy: Policy, host: Host, standing: set[str], *, shares_written: bool, watch: Scope
) -> list[bytes]:
    """``make_filter``, or what the build has made of it for policies that change no syscall."""
    make = functools.partial(
        make_filter, policy, host, standing, shares_written=shares_written, watch=watch
    )
    if (
        policy.allow_syscalls
        or policy.deny_syscalls
        or not {"proc", "notify"} <= standing
        or watch not in COMPILED_SCOPES
    ):
        return make()
    from wardian import compiled

    name = filter_name(host.arch, shares_written, watch)
    found: list[bytes] = compiled.load(name, FILTER_SOURCES, make)
    return found


def filter_name(arch: str, shares_written: bool, watch: Scope) -> str:
    """The name of a compiled filter."""
    return f"filter-{arch}-{'shares' if shares_written else 'private'}-{watch}"


def make_filter(
    policy: Policy, host: Host, standing: set[str], *, shares_written: bool, watch: Scope
) -> list[bytes]:
    """The records that say which calls are refused, which are looked at, and what is answered."""
    from wardian.syscalls import compile_filter, number

    deny = set(policy.deny_syscalls)
    if NEVER_DENIED in deny:
        raise PolicyError(f"{NEVER_DENIED} can't be denied: the filter is handed over with it")
    if "proc" not in standing:
        # Nothing counts nested user namespaces then, and clone3's flags lie behind a pointer.
        deny.add("clone3")
    notify = "notify" in standing
    allow = frozenset(policy.allow_syscalls)
    budgeted = (
        number("fallocate", host.arch) if shares_written and "fallocate" not in allow else None
    )
    if budgeted is not None and notify:
        # The one call that takes space faster than anyone can look. Its length is in a register, so
        # the supervisor can count it, and lets it go on while the disk limit allows.
        deny.add("fallocate")
    quotas = [q for q in QUOTAS if notify and q.call not in allow | deny]
    deny |= {quota.call for quota in quotas}
    compile_for = functools.partial(compile_filter, host.arch, allow=allow, deny=frozenset(deny))
    program = compile_for(watch=watch, refuse="notify" if notify else "errno")
    errnos: dict[int, int] = {}  # other than the filter's own
    if "clone3" in deny:
        clone3 = number("clone3", host.arch)
        if clone3 is not None:
            errnos[clone3] = ENOSYS
    if "fallocate" in deny and budgeted is not None:
        errnos[budgeted] = ENOSPC
    counted = [(found, q) for q in quotas if (found := number(q.call, host.arch)) is not None]
    errnos |= {call: quota.errno for call, quota in counted}
    pairs = b"".join(struct.pack("<HBB", call, errno, 0) for call, errno in sorted(errnos.items()))
    records = [record("filter", program), record("refusals", pairs)]
    if "fallocate" in deny and budgeted is not None and "fallocate" not in policy.deny_syscalls:
        records.append(record("budget", budgeted, FALLOCATE_LENGTH))
    records += [
        record("quota", call, quota.argument, quota.most, int(quota.uncounted))
        for call, quota in counted
    ]
    if notify:
        records.append(record("flag", "notify"))
        records.append(record("verdict", compile_for(refuse="errno")))
    if watch != "nothing":
        from wardian.syscalls.watching import watched_calls

        known: Scope = "paths" if watch in ("changes", "opens") else watch
        records.append(record("watched", watched_calls(known, host.arch)))
    if allow & {"keyctl", "add_key", "request_key"}:
        records.append(record("flag", "keyring"))
    return records


def limit_records(limits: Limits) -> list[bytes]:
    """The limits that the supervisor holds for all processes together."""
    records = []
    if limits.time_s is not None:
        records.append(record("wall-ms", max(1, math.ceil(limits.time_s * 1000))))
    if limits.cpu_s is not None:
        records.append(record("cpu-ms", max(1, math.ceil(limits.cpu_s * 1000))))
    if limits.memory_bytes is not None:
        records.append(record("memory", limits.memory_bytes))
    if limits.processes is not None:
        records.append(record("processes", limits.processes))
    if limits.disk_bytes is not None:
        records.append(record("disk", limits.disk_bytes))
    if limits.output_bytes is not None:
        records.append(record("output", limits.output_bytes))
    return records


def rlimit_records(limits: Limits) -> list[bytes]:
    """The limits that the kernel holds for each process."""
    held = {
        # Not 0: only 1 keeps a crash away from a piped core_pattern, core(5).
        RLIMIT_CORE: 1,
        RLIMIT_SIGPENDING: 4096,
        # Of the caller's own allowance, so that one guest leaves most of it to others: two message
        # queues of the usual size out of ten, and 4 MiB of locked memory out of 8,
        # which is enough for mlockall in a small program.
        RLIMIT_MSGQUEUE: 204800,
        RLIMIT_MEMLOCK: 4 << 20,
        RLIMIT_NICE: 0,
        RLIMIT_RTPRIO: 0,
    }
    if limits.cpu_s is not None:
        held[RLIMIT_CPU] = math.ceil(limits.cpu_s) + 1
    if limits.memory_bytes is not None:
        held[RLIMIT_DATA] = 2 * limits.memory_bytes + MAPPED_SLACK
    if limits.processes is not None:
        held[RLIMIT_NPROC] = limits.processes + OWN_PROCESSES
    if limits.files is not None:
        held[RLIMIT_NOFILE] = limits.files
    if limits.disk_bytes is not None:
        held[RLIMIT_FSIZE] = limits.disk_bytes
    return [record("rlimit", resource, value) for resource, value in sorted(held.items())]


def cgroup_records(host: Host, standing: Collection[str]) -> list[bytes]:
    """Where a control group is to be made, if one can be."""
    if CGROUP not in standing:
        return []
    place = [record("cgroup", host.cgroup)] if host.cgroup else []
    return [record("flag", "cgroups"), *place]


def _held(policy: Policy, sources: Sequence[Source], standing: set[str]) -> tuple[Limit, ...]:
    limits = policy.limits
    watched = "proc" in standing
    shared = any(source.write for source in sources)
    return (
        Limit("time", limits.time_s, "supervisor"),
        Limit("cpu", limits.cpu_s, "supervisor, RLIMIT_CPU" if watched else "RLIMIT_CPU"),
        Limit(
            "memory",
            limits.memory_bytes,
            "supervisor, RLIMIT_DATA, tmpfs size" if watched else "RLIMIT_DATA, tmpfs size",
        ),
        Limit("processes", limits.processes, "RLIMIT_NPROC"),
        Limit("files", limits.files, "RLIMIT_NOFILE"),
        Limit(
            "disk",
            limits.disk_bytes,
            "tmpfs size, RLIMIT_FSIZE, supervisor" if shared else "tmpfs size, RLIMIT_FSIZE",
        ),
        Limit("output", limits.output_bytes, "supervisor"),
    )


@functools.lru_cache(maxsize=16)
def _environment(variables: tuple[tuple[str, str], ...]) -> bytes:
    records = [record("env", f"{name}={value}") for name, value in variables]
    return b"".join(records) + record("path", dict(variables).get("PATH", ""))


def finish(
    plan: Plan,
    *,
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str | None,
    streams: Sequence[tuple[str, int]],
    parent: int,
    time_s: float | None = None,
    keep_session: bool = False,
    extra: bytes = b"",
) -> bytes:
    """The bytes for one run: what differs between runs, on top of the plan."""
    records = [plan.records, extra, record("parent", parent), record("cwd", cwd or WORK)]
    records += [record("stream", i, kind, fd) for i, (kind, fd) in enumerate(streams)]
    records += [record("arg", arg) for arg in argv]
    records.append(_environment(tuple(env.items())))
    if time_s is not None:
        records.append(record("wall-ms", max(1, math.ceil(time_s * 1000))))
    if keep_session:
        records.append(record("flag", "keep-session"))
    return b"".join(records)
