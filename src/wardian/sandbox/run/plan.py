"""Policy × host → plan: exactly what the launcher will do, and what could not be had. Pure, but for
looking at which of the root's paths this host has."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence

from wardian.sandbox.host import Host
from wardian.sandbox.limits import held_limits, limit_records, milliseconds, rlimit_records
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.layout import ADDRESS, HOSTNAME, INTERFACE, MQUEUE, USER_ID, WORK
from wardian.sandbox.root.root import Root, make_root
from wardian.sandbox.root.shares import Source
from wardian.sandbox.root.steps import root_steps
from wardian.sandbox.run import landlock
from wardian.sandbox.run.protections import CGROUP, check_degrade, protections
from wardian.sandbox.run.records import MAGIC, environment_records, record
from wardian.sandbox.run.result import Limit, Protection

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple

    from wardian.syscalls.watching import Scope
else:
    from wardian.values import NamedTuple

# What the build compiles filters for; the others are made when they are needed.
COMPILED_SCOPES: tuple[Scope, ...] = ("changes", "opens", "paths")


class Plan(NamedTuple):
    """``records`` go to the launcher; the rest goes into the result."""

    records: bytes
    protections: tuple[Protection, ...]
    limits: tuple[Limit, ...]
    sources: tuple[Source, ...] = ()
    counted: tuple[str, ...] = ("cpu", "memory", "processes")  # by a control group, if there is one


def make_plan(
    policy: Policy,
    sources: Sequence[Source],
    host: Host,
    *,
    watch: Scope | None = None,
    empty_work: bool = False,
) -> Plan:
    """``watch`` is what to watch besides refused calls; None: the cheapest set that shows all.

    Raises WallError for a wall that was asked for and can't be had, and was not given up.
    """
    degraded = check_degrade(policy.degrade)
    copies = {share.at for share in policy.shares if share.copy}
    foreign = any(not source.copy for source in sources if source.at in copies)
    walls = protections(policy, host, degraded, foreign=foreign)
    standing = {wall.name for wall in walls if wall.enforced}
    root = make_root(policy, sources)
    shares_written = any(source.write for source in sources)
    if "notify" not in standing:
        watch = "nothing"
    elif watch is None:
        watch = "paths" if policy.explain else _scope(host, empty_work=empty_work)
    records = [
        MAGIC,
        record("identity", USER_ID, USER_ID),
        record("hostname", HOSTNAME),
        # Who lets unshare pass by name means namespaces.
        *root_steps(root, proc="proc" in standing, nests="unshare" in policy.allow_syscalls),
        *(_landlock(root, host, degraded) if "landlock" in standing else ()),
        *_filter(policy, host, standing, shares_written=shares_written, watch=watch),
        *limit_records(policy.limits),
        *rlimit_records(policy.limits, shares_written=shares_written),
        *cgroup_records(host, standing),
        *_flags(policy, host, watch),
        *_routes(policy),
        *_interface(policy),
    ]
    return Plan(
        b"".join(records),
        walls,
        _held(policy, sources, standing),
        tuple(sources),
    )


def _flags(policy: Policy, host: Host, watch: Scope) -> list[bytes]:
    records = [] if watch == "nothing" else [record("home", os.path.expanduser("~"))]
    flags = {
        "network": policy.network != "host",
        # Nothing that the launcher still has to do is refused or looked at, so the filter can go up
        # meanwhile.
        "early-filter": not policy.deny_syscalls and watch in ("nothing", "changes", "opens"),
        "lookups": host.fuse and watch in ("changes", "opens"),
        "opens": watch == "opens",
        "no-preload": host.fuse and not os.path.lexists("/etc/ld.so.preload"),
    }
    return records + [record("flag", name) for name, wanted in flags.items() if wanted]


def _routes(policy: Policy) -> list[bytes]:
    """Where the gateway of a network by name listens in the guest."""
    if policy.network != "names":
        return []
    import socket

    from wardian.sandbox.network.resolver import SYNTHETIC
    from wardian.sandbox.network.rules import NetworkRules

    rules = NetworkRules.of(policy)
    families = {4: socket.AF_INET, 6: socket.AF_INET6}
    return [
        record("route", int(families[net.version]), net.prefixlen, net.network_address.packed)
        for net in (SYNTHETIC, *rules.networks)
        if not net.is_loopback
    ]


def _interface(policy: Policy) -> list[bytes]:
    """With the host's network, its own are there."""
    if not policy.interface or policy.network == "host":
        return []
    address = bytes(map(int, ADDRESS.split(".")))
    return [record("interface", INTERFACE, int.from_bytes(address, "big"))]


def _scope(host: Host, *, empty_work: bool) -> Scope:
    """With /dev/fuse, what is missing is seen where it is looked up; but not by a relative path,
    which a command that starts in an empty /work of its own may well use for what lies where it
    was called. Without it, a look-up would be seen only as a call that waits for the supervisor, at
    several times its price: that is done where ``explain`` asks for it."""
    return "opens" if host.fuse and empty_work else "changes"


# Landlock, filter, limits


def _landlock(root: Root, host: Host, degraded: frozenset[str]) -> list[bytes]:
    handled = landlock.ruleset(host.landlock_abi, degraded)
    readable = ["/etc", "/proc", *(at for _, at in root.binds)]
    readable += [source.at for source in root.sources if not (source.write or source.copy)]
    writable = [path for path, _ in root.private]
    writable += [source.at for source in root.sources if source.write or source.copy]
    writable.append(MQUEUE)
    records = [record("landlock", *handled)]
    for path, access in landlock.rules(readable, writable, ["/dev"], handled.handled_fs):
        records.append(record("rule", path, access))
    return records


FILTER_SOURCES = (
    "sandbox/run/filter.py",
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

    def make() -> list[bytes]:
        from wardian.sandbox.run.filter import make_filter

        return make_filter(policy, host, standing, shares_written=shares_written, watch=watch)

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


def cgroup_records(host: Host, standing: Collection[str]) -> list[bytes]:
    """Where a control group is to be made, if one can be."""
    if CGROUP not in standing:
        return []
    place = [record("cgroup", host.cgroup)] if host.cgroup else []
    return [record("flag", "cgroups"), *place]


def _held(policy: Policy, sources: Sequence[Source], standing: set[str]) -> tuple[Limit, ...]:
    otherwise = {}
    if "proc" not in standing:  # then nobody can look
        otherwise = {"cpu": "RLIMIT_CPU", "memory": "RLIMIT_DATA, tmpfs size"}
    if not any(source.write for source in sources):
        otherwise["disk"] = "tmpfs size"
    return held_limits(policy.limits, otherwise)


def timed(plan: Plan, time_s: float | None) -> Plan:
    """The plan of a run whose call has a time limit of its own."""
    if plan.limits[0].value == time_s:
        return plan
    return plan._replace(limits=(plan.limits[0]._replace(value=time_s), *plan.limits[1:]))


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
    records.append(environment_records(tuple(env.items())))
    if time_s is not None:
        records.append(record("wall-ms", milliseconds(time_s)))
    if keep_session:
        records.append(record("flag", "keep-session"))
    return b"".join(records)
