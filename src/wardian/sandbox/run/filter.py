"""The syscall filter of a policy, as the launcher's records: which calls are refused, which are
looked at, and what is answered. The build compiles the usual ones ahead (``plan``)."""

from __future__ import annotations

import functools
import struct

from wardian.errors import PolicyError
from wardian.sandbox.host import Host
from wardian.sandbox.policy.policy import NEVER_DENIED, Policy
from wardian.sandbox.run.records import record
from wardian.syscalls import compile_filter, number, rows

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import NamedTuple

    from wardian.syscalls.confined import Confinement
    from wardian.syscalls.watching import Scope
else:
    from wardian.values import NamedTuple

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


def make_filter(
    policy: Policy,
    host: Host,
    standing: set[str],
    *,
    shares_written: bool,
    watch: Scope,
    confined: Confinement | None = None,
) -> list[bytes]:
    """The records that say which calls are refused, which are looked at, and what is answered;
    ``confined``: for a guest without namespaces."""
    deny = set(policy.deny_syscalls)
    if NEVER_DENIED in deny:
        raise PolicyError(f"{NEVER_DENIED} can't be denied: the filter is handed over with it")
    if "proc" not in standing:
        # Nothing counts nested user namespaces then, and clone3's flags lie behind a pointer.
        deny.add("clone3")
    notify = "notify" in standing
    allow = frozenset(policy.allow_syscalls)
    otherwise, acted = ({}, frozenset[str]()) if confined is None else confined
    if not notify:  # then nobody carries them out
        deny |= acted
    acted -= deny
    if "unshare" in allow:  # then a namespace of the guest's own may map more than one ID
        allow |= {row.name for row in rows() if "OWN_ID" in row.decision} - deny
    budgeted = (
        number("fallocate", host.arch) if shares_written and "fallocate" not in allow else None
    )
    if budgeted is not None and notify:
        # The one call that takes space faster than anyone can look. Its length is in a register, so
        # the supervisor can count it, and lets it go on while the disk limit allows.
        deny.add("fallocate")
    quotas = [q for q in QUOTAS if notify and q.call not in allow | deny]
    deny |= {quota.call for quota in quotas}
    compile_for = functools.partial(
        compile_filter, host.arch, allow=allow, deny=frozenset(deny), otherwise=otherwise
    )
    program = compile_for(watch=watch, refuse="notify" if notify else "errno", acted=acted)
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
    records += _acted(acted, host.arch)
    if allow & {"keyctl", "add_key", "request_key"}:
        records.append(record("flag", "keyring"))
    return records


def _acted(names: Collection[str], arch: str) -> list[bytes]:
    numbers = sorted(found for name in names if (found := number(name, arch)) is not None)
    return [record("acted", struct.pack(f"<{len(numbers)}H", *numbers))] if numbers else []
