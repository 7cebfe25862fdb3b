"""Which of the policy's walls another sandbox puts up: requested, available, enforced. It fails
closed: a wall that is requested and not available must be given up by name."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from wardian.errors import BackendError, UsageError, WallError
from wardian.sandbox.host import fresh_guest_id, is_guest_id, this_host
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.shares import Source
from wardian.sandbox.run import landlock
from wardian.sandbox.run.protections import ALWAYS, CGROUP, COPIES, DEGRADABLE, cgroup_protection
from wardian.sandbox.run.result import Protection

# A control group is no wall: where none can be made, the supervisor counts.
NAMES = tuple(
    dict.fromkeys((*ALWAYS, "namespace.network", *(n for n in DEGRADABLE if n != CGROUP)))
)
_ABI = dict(landlock.FEATURES)
NO_COPIES = Protection(
    COPIES, True, False, False, "only the backend wardian makes copies; the share is read-only"
)


class Walls(NamedTuple):
    """``lacking``: what this backend can't put up here, with the reason. ``notes``: on the rest."""

    backend: str
    lacking: Mapping[str, str]
    notes: Mapping[str, str] = {}


def shortfall(policy: Policy, walls: Walls) -> tuple[str, ...]:
    """The names that a run under this policy would have to give up. Raises UsageError."""
    given_up = _checked(policy.degrade)
    missing = [
        name
        for name in NAMES
        if name in walls.lacking and _required(name, policy) and not _covered(name, given_up)
    ]
    return tuple(name for name in missing if not ("." in name and name.split(".")[0] in missing))


def settled(policy: Policy, walls: Walls) -> tuple[Protection, ...]:
    """Raises WallError for a wall that is wanted, not available and not given up; BackendError for
    a network by name, and UsageError for an interface, which only our own launcher has."""
    if policy.network == "names":
        raise BackendError(
            f"{walls.backend} has no network by name",
            hint="run with --net none or --net host, or use --backend wardian",
        )
    if policy.interface and policy.network != "host" and "namespace.network" not in walls.lacking:
        raise UsageError(
            f"{walls.backend} has no network interface besides lo",
            hint="omit --interface, or use --backend wardian",
        )
    missing = shortfall(policy, walls)
    if missing:
        flags = " ".join(f"--degrade {name}" for name in missing)
        raise WallError(
            missing[0],
            walls.lacking[missing[0]],
            hint=f"run with {flags}, or use --backend wardian; "
            "to accept it in every run: wardian help backends",
        )
    given_up = _checked(policy.degrade)
    stand = tuple(_protection(name, policy, walls, given_up) for name in NAMES)
    copies = (NO_COPIES,) if any(share.copy for share in policy.shares) else ()
    return (*stand, cgroup_protection(this_host(), given_up), *copies)


def _protection(name: str, policy: Policy, walls: Walls, given_up: Collection[str]) -> Protection:
    requested, available = _requested(name, policy), name not in walls.lacking
    # A wall that this backend always has stands, given up or not.
    stands = requested and available and not (_covered(name, given_up) and name in DEGRADABLE)
    note = walls.notes.get(name, "") if available else walls.lacking[name]
    return Protection(name, requested, available, stands, note)


def _checked(names: Sequence[str]) -> frozenset[str]:
    for name in names:
        if name not in (*NAMES, CGROUP):
            raise UsageError(f"there is no protection {name!r}", hint="known: " + ", ".join(NAMES))
    return frozenset(names)


def _covered(name: str, given_up: Collection[str]) -> bool:
    return name in given_up or name.split(".", maxsplit=1)[0] in given_up


def _requested(name: str, policy: Policy) -> bool:
    if name == "namespace.network":
        return policy.network != "host"
    if name == "limits.processes":
        return policy.limits.processes is not None
    return policy.landlock_abi > 0 if name in _ABI else True


def _required(name: str, policy: Policy) -> bool:
    """Landlock's features count from the version that the policy insists on."""
    return policy.landlock_abi >= _ABI[name] if name in _ABI else _requested(name, policy)


# Whose rights the guest has over files


def outside_id(policy: Policy, own_work: str | None = None) -> int | None:
    """As root: the id to run under instead of root's own; None to stay who we are. A sandbox's work
    directory belongs to the id that its runs have; other runs take one that no other has."""
    if os.geteuid() != 0 or "identity" in policy.degrade:
        return None
    work = own_work or policy.work
    try:
        owner = os.stat(work).st_uid if work is not None else 0
    except OSError:
        owner = 0  # the check of shares says what is wrong with it
    return owner if is_guest_id(owner) else fresh_guest_id()


def check_reach(sources: Sequence[Source], identity: int | None, backend: str) -> None:
    """As root: a guest that is nobody in particular must be able to use what is shared with it,
    for only an idmapped mount could make it the owner. Raises WallError."""
    for source in sources if identity is not None else ():
        wanted = 4 | (1 if source.is_dir else 0) | (2 if source.write else 0)
        if _allowed(source.path, identity or 0) & wanted != wanted:
            what = "written to" if source.write else "read"
            raise WallError(
                "identity",
                f"{source.path} can't be {what} by a guest of {backend} that has no rights of"
                " root's",
                hint="open it to others (chmod), run as an ordinary user, use --backend wardian,"
                " or run with --degrade identity: as root itself",
            )


def give_up_work(policy: Policy, own_work: str | None) -> None:
    """A guest with root's own id, and none of root's power, must own the work directory."""
    if own_work is not None and os.geteuid() == 0 and outside_id(policy) is None:
        os.chown(own_work, 0, 0)


def is_reached(path: str, identity: int) -> bool:
    """May this id go through every directory above?"""
    parts = path.split("/")[1:-1]
    above = ["/" + "/".join(parts[:depth]) for depth in range(len(parts) + 1)]
    return all(_allowed(directory, identity) & 1 for directory in above)


def _allowed(path: str, identity: int) -> int:
    """The rwx bits that count for this id; a socket's are its own business."""
    info = os.stat(path)
    if stat.S_ISSOCK(info.st_mode):
        return 7
    shift = 6 if info.st_uid == identity else 3 if info.st_gid == identity else 0
    return info.st_mode >> shift & 7
