"""What a remedy gives, as data, and a policy with it: never less than before. Pure."""

from __future__ import annotations

from wardian.errors import UsageError
from wardian.sandbox.policy.policy import LIMIT_FIELDS, Policy, Share

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal, NamedTuple

    from wardian.sandbox.run.result import Refusal

    Giving = Literal["share", "work", "network", "host", "degrade", "syscall", "debug", "limit"]
else:
    from wardian.values import NamedTuple


class Grant(NamedTuple):
    """One thing more that a policy would give. ``what`` says what the other fields mean.

    share     ``share``
    work      ``name`` is the host's directory that is /work
    network   ``name`` is the mode, ``host``
    host      ``name`` is a rule of a network by name
    degrade   ``name`` is the protection that is given up
    syscall   ``name`` is the call that passes the filter
    debug     the calls of debuggers pass
    limit     ``name`` is the limit, by its option, ``value`` its new value
    """

    what: Giving
    name: str = ""
    share: Share | None = None
    value: float = 0


def grants_of(refusals: Iterable[Refusal]) -> tuple[Grant, ...]:
    """What would allow all of these. Raises UsageError where nothing would."""
    from wardian.text import printable

    found: list[Grant] = []
    for one in refusals:
        allow = getattr(one, "allow", None)
        if not hasattr(one, "allow"):
            raise UsageError(
                f"{type(one).__name__} is not a refusal", hint="pass what result.refusals holds"
            )
        what = printable(f"{one.action} {one.target}")
        if allow is None:
            raise UsageError(f"nothing can allow this: {what}: {printable(one.reason)}")
        if not allow.grants:
            raise UsageError(
                f"this refusal was read from a document and grants nothing: {what}",
                hint="run the command again, and use the refusals of that result",
            )
        found += allow.grants
    return tuple(dict.fromkeys(found))


def granted(policy: Policy, grants: Sequence[Grant]) -> Policy:
    """The same policy, giving these too. What it gives already, wider, stays as it is."""
    policy = _with_shares(policy, [one.share for one in grants if one.share is not None])
    for one in grants:
        if one.what != "share":
            policy = _ADDING[one.what](policy, one)
    return policy


def _with_shares(policy: Policy, wanted: Sequence[Share]) -> Policy:
    """A share inside another takes its place there, so what one of the others gives is left out: a
    file to read would be read-only in a directory to write."""
    new = [
        share
        for share in dict.fromkeys(wanted)
        if not any(_gives(other, share) for other in wanted if other != share)
    ]
    missing = [share for share in new if not _given(policy, share)]
    return policy.with_shares(missing) if missing else policy


def _gives(wide: Share, narrow: Share) -> bool:
    """Whether the wider share has the other one's path at the same place, with the same right."""
    if wide.copy or (narrow.write and not wide.write) or not _is_below(narrow.at, wide.at):
        return False
    rest = narrow.at[len(wide.at.rstrip("/")) :]
    return narrow.path == wide.path.rstrip("/") + rest


def _given(policy: Policy, share: Share) -> bool:
    """Whether what stands at its place now gives it already."""
    around = {one.at: one for one in policy.shares if _is_below(share.at, one.at)}  # the later one
    nearest = max(around.values(), key=lambda one: len(one.at), default=None)
    return nearest is not None and _gives(nearest, share)


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def _work(policy: Policy, grant: Grant) -> Policy:
    return policy if policy.work is not None else policy._replace(work=grant.name)


def _network(policy: Policy, grant: Grant) -> Policy:
    return policy if policy.network == "host" else policy.without_rules(grant.name)


def _host(policy: Policy, grant: Grant) -> Policy:
    if policy.network == "host":  # which has every name
        return policy
    rules = tuple(dict.fromkeys((*policy.allow_hosts, grant.name)))
    return policy._replace(network="names", allow_hosts=rules)


def _degrade(policy: Policy, grant: Grant) -> Policy:
    return policy._replace(degrade=tuple(dict.fromkeys((*policy.degrade, grant.name))))


def _syscall(policy: Policy, grant: Grant) -> Policy:
    denied = tuple(name for name in policy.deny_syscalls if name != grant.name)
    allowed = tuple(dict.fromkeys((*policy.allow_syscalls, grant.name)))
    return policy._replace(allow_syscalls=allowed, deny_syscalls=denied)


def _debug(policy: Policy, grant: Grant) -> Policy:
    return policy.debugging()


def _limit(policy: Policy, grant: Grant) -> Policy:
    field = LIMIT_FIELDS[grant.name]
    held = getattr(policy.limits, field)
    if held is None or held >= grant.value:
        return policy
    return policy.with_limits(**{field: grant.value})


_ADDING = {
    "work": _work,
    "network": _network,
    "host": _host,
    "degrade": _degrade,
    "syscall": _syscall,
    "debug": _debug,
    "limit": _limit,
}
