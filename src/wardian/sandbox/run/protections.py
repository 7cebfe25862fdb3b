"""Which walls stand under a policy on this host: requested, available, enforced. Pure, but for
``with_look_ups``."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from wardian.errors import UsageError, WallError
from wardian.sandbox.host import NO_CGROUP, Host, this_host
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.run import landlock
from wardian.sandbox.run.result import Protection

# What is seen of look-ups, where that is not all of them at a small price.
UNSEEN = "/dev/fuse can't be opened: a file that was looked for and is not shared is not reported"
EXPLAINED = "every call that takes a path is watched: about 12 µs each"
CGROUP = "limits.cgroup"
COPIES = "files.copy"  # no wall: without it, what would be a copy is read-only

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


def with_look_ups(policy: Policy) -> Policy:
    """The same policy, under which look-ups are reported on every host: for runs that something is
    concluded from."""
    return policy if this_host().fuse else policy.but(explain=True)


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


def protections(
    policy: Policy, host: Host, degraded: frozenset[str], *, foreign: bool = False
) -> tuple[Protection, ...]:
    """``foreign``: a directory to be copied belongs to others."""
    found = [Protection(name, True, True, True) for name in ALWAYS]
    wants_network = policy.network != "host"
    found.append(Protection("namespace.network", wants_network, True, wants_network))
    found += [
        _landlock_protection(name, abi, policy, host, degraded) for name, abi in landlock.FEATURES
    ]
    seen = EXPLAINED if policy.explain else "" if host.fuse else UNSEEN
    found.append(Protection("notify", True, True, "notify" not in degraded, seen))
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
    if any(share.copy for share in policy.shares):
        note = "a directory that belongs to another user or group is read-only" if foreign else ""
        found.append(Protection(COPIES, True, not foreign, not foreign, note))
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
