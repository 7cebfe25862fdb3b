"""What would allow something that was refused: the option, and the same as lines of a policy file.

A remedy is offered only if it would really help: what can't be shared, what the caller may not do
either, and what the kernel refuses once the filter lets it pass, have none.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence

from wardian.errors import WardianError
from wardian.sandbox.policy.grants import Grant
from wardian.sandbox.policy.policy import DEBUG_CALLS, Policy, Share
from wardian.sandbox.refusals.asked_host import AskedHost
from wardian.sandbox.root.layout import WORK, layout
from wardian.sandbox.root.shares import Source, is_below, resolve_shares
from wardian.sandbox.run.result import Allow, Limit, Protection
from wardian.syscalls import lookup
from wardian.syscalls.effects import fails_anyway, settings_needed
from wardian.text import quoted

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from wardian.values import NamedTuple

AF_UNIX = 1


class RefusalContext(NamedTuple):
    """What a run's refusals are explained with."""

    policy: Policy
    sources: tuple[Source, ...]
    protections: tuple[Protection, ...]
    arch: str
    cwd: str  # the caller's
    home: str  # the caller's
    command: tuple[str, ...]
    host: AskedHost
    names: Mapping[str, str] = {}  # of a network by name: the address that the guest has → the name

    @property
    def standing(self) -> frozenset[str]:
        """The walls that stood."""
        return frozenset(p.name for p in self.protections if p.enforced)


# Files


def to_share(
    outside: str, inside: str, write: bool, around: RefusalContext, *, owned: bool = False
) -> Allow | None:
    """Sharing a path of the host at a place inside; ``owned`` if only its owner may do it.
    None also if there is no time to find out."""
    if not around.host.has_time:
        return None
    if inside in (path for path, _ in layout().files):
        return None  # made by us: sharing the host's own in its place would be another thing
    if is_below(inside, WORK) and around.policy.work is None:
        work = _work(around, write)
        if work is not None:
            return work
    while (share := _sharable(outside, inside, write, around)) is None:
        if not _unnameable(outside, inside):
            return None
        if (
            is_below(around.home, os.path.dirname(outside))
            or os.path.dirname(outside).count("/") < 2
        ):
            return None  # that would be half the host
        outside, inside = os.path.dirname(outside), os.path.dirname(inside)
    if (write and not os.access(outside, os.W_OK)) or (owned and not _is_owner(outside)):
        return None
    option, key = ("--write", "write") if write else ("--read", "read")
    return Allow(
        f"{option} {quoted(str(share))}",
        f"[files]\n{key} = [{toml(str(share))}]",
        (Grant("share", share=share),),
    )


def _work(around: RefusalContext, write: bool) -> Allow | None:
    if _sharable(around.cwd, WORK, True, around) is None:
        return None
    if write and not os.access(around.cwd, os.W_OK):
        return None
    return Allow(
        f"--work {quoted(around.cwd)}",
        f"[files]\nwork = {toml(around.cwd)}",
        (Grant("work", around.cwd),),
    )


def _sharable(outside: str, inside: str, write: bool, around: RefusalContext) -> Share | None:
    """The share, if it can be spelled, read back, and put up."""
    share = Share(outside, inside, write)
    try:
        str(share).encode()
        if Share.parse(str(share), write=write) != share:
            return None
        resolve_shares([*around.policy.shares, share])
    except (WardianError, UnicodeEncodeError):
        return None
    return share


def _unnameable(outside: str, inside: str) -> bool:
    """Whether the directory could be shared although the thing itself can't: names that no option
    can spell, and pipes."""
    try:
        outside.encode()
        inside.encode()
        special = not stat.S_ISREG(mode := os.stat(outside).st_mode) and not stat.S_ISDIR(mode)
    except UnicodeEncodeError:
        return True
    except OSError:
        return False
    return special or ":/" in outside or ":" in inside


def _is_owner(path: str) -> bool:
    try:
        return os.geteuid() in (0, os.stat(path).st_uid)
    except OSError:
        return False


def toml(text: str) -> str:
    """A TOML string (json.dumps would do, and takes as long to load as a run takes to start)."""
    shown = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in shown) + '"'


# The network


def network_rule(policy: Policy) -> Allow | None:
    """What gives a run the network; None if it has it."""
    if policy.network == "host":
        return None
    return Allow("--net host", '[network]\nmode = "host"', (Grant("network", "host"),))


def to_reach(around: RefusalContext, family: int = 0) -> Allow | None:
    """The host's network, and for its abstract sockets the wall that scopes them; None if neither
    stands in the way."""
    rule = network_rule(around.policy)
    flags, lines, grants = ([rule.flag], [rule.policy], rule.grants) if rule else ([], [], ())
    scope = "landlock.scope_abstract_socket"
    if family == AF_UNIX and scope in around.standing:
        flags.append(f"--degrade {scope}")
        lines.append(f'[protections]\ndegrade = ["{scope}"]')
        grants = (*grants, Grant("degrade", scope))
    return Allow(" ".join(flags), "\n".join(lines), grants) if flags else None


def to_name(rule: str) -> Allow:
    """One more rule of a network by name."""
    return Allow(
        f"--net {quoted(rule)}", f"[network]\nallow = [{toml(rule)}]", (Grant("host", rule),)
    )


def to_request(host: str, method: str, path: str) -> Allow:
    """One more rule for the requests to a host, which only a policy has."""
    rule = f"{{methods = [{toml(method)}], paths = [{toml(path)}]}}"
    return Allow("--policy FILE", f"[network.tls]\n{toml(host)} = {rule}")


# System calls


def to_call(name: str, args: Sequence[int], policy: Policy) -> Allow | None:
    """Letting a system call pass the filter."""
    if name in policy.allow_syscalls or fails_anyway(name, args):
        return None
    if name in policy.deny_syscalls and lookup(name).kind != "allow":
        return None  # allowing it again would give more than before it was denied
    for held, operator, bound in settings_needed(name, args):
        value = setting(held, unset=bound)
        if value > bound if operator == "<=" else value < bound:
            return None
    if name in DEBUG_CALLS:
        return Allow("--debug", "[syscalls]\ndebug = true", (Grant("debug"),))
    return Allow(
        f"--allow-syscall {name}", f'[syscalls]\nallow = ["{name}"]', (Grant("syscall", name),)
    )


def setting(name: str, *, unset: int = 0) -> int:
    """One of the kernel's settings; ``unset`` where it has none of that name."""
    try:
        with open(f"/proc/sys/{name}", encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return unset


# Limits


def to_use(limit: Limit, needed: int = 0) -> Allow:
    """Twice as much, or what is needed in whole sixteenths of a gigabyte."""
    step = 1 << 26
    value = max((limit.value or 0) * 2, -(-needed // step) * step)
    more = spelled(limit.name, value)
    quoted_more = more if more.isdigit() else f'"{more}"'
    return Allow(
        f"--{limit.name} {more}",
        f"[limits]\n{limit.name} = {quoted_more}",
        (Grant("limit", limit.name, value=value),),
    )


def spelled(name: str, value: float) -> str:
    """A limit's value as its option takes it."""
    from wardian.sandbox.policy.units import format_duration, format_size

    if name in ("time", "cpu"):
        return format_duration(value)
    return str(int(value)) if name in ("processes", "files") else format_size(int(value))
