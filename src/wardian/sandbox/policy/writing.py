"""A policy as the TOML that reads as the same policy."""

from __future__ import annotations

from collections.abc import Iterable

from wardian.sandbox.policy.file import NETWORK_LIMITS, all_but
from wardian.sandbox.policy.policy import Limits, Policy
from wardian.sandbox.policy.units import format_duration, format_size
from wardian.syscalls import rows
from wardian.toml import quoted


def write_policy(policy: Policy) -> str:
    """The policy as TOML; reading it on top of an empty policy, or of the default, gives the same
    value. So what passes of the environment is written as all that does."""
    lines = ["[files]"]
    lines.append(f"read = {_list(s for s in policy.shares if not s.write and not s.copy)}")
    if any(share.copy for share in policy.shares):
        lines.append(f"copy = {_list(s for s in policy.shares if s.copy)}")
    lines.append(f"write = {_list(s for s in policy.shares if s.write)}")
    if policy.work:
        lines.append(f"work = {quoted(policy.work)}")
    if policy.rootfs:
        lines.append(f"rootfs = {quoted(policy.rootfs)}")
    if policy.base is not None:
        lines.append(f"base = {_list(policy.base)}")
    lines += ["", "[network]", f"mode = {quoted(policy.network)}"]
    if policy.network == "names":
        lines.append(f"allow = {_list(policy.allow_hosts)}")
        lines.append(f"deny = {_list(policy.deny_hosts)}")
    lines += network_limits_toml(policy)
    if policy.interface:
        lines.append("interface = true")
    if policy.tls:
        from wardian.sandbox.policy.tls import tls_toml

        lines += ["", "[network.tls]", *tls_toml(policy.tls)]
    lines += ["", "[environment]", f"only = {_list(policy.pass_env)}"]
    variables = ", ".join(f"{quoted(k)} = {quoted(v)}" for k, v in policy.set_env)
    lines.append(f"set = {{{variables}}}")
    lines += ["", "[limits]", *_limits_toml(policy.limits)]
    lines += ["", "[syscalls]", f"allow = {_list(policy.allow_syscalls)}"]
    lines.append(_denied_toml(policy))
    lines += ["", "[landlock]", f"abi = {policy.landlock_abi}"]
    lines += ["", "[protections]", f"degrade = {_list(policy.degrade)}", ""]
    if policy.explain:
        lines += ["[refusals]", "explain = true", ""]
    return "\n".join(lines)


def network_limits_toml(policy: Policy) -> list[str]:
    """The limits of a network by name that are not the usual ones, as lines of its table."""
    usual = Policy()
    return [
        f"{key} = {quoted('none' if value is None else str(value))}"
        for key, field in NETWORK_LIMITS.items()
        if (value := getattr(policy, field)) != getattr(usual, field)
    ]


def _list(items: Iterable[object]) -> str:
    return "[" + ", ".join(quoted(str(item)) for item in items) + "]"


def _limits_toml(limits: Limits) -> list[str]:
    return [
        f"time = {quoted(format_duration(limits.time_s))}",
        f"cpu = {quoted(format_duration(limits.cpu_s))}",
        f"memory = {quoted(format_size(limits.memory_bytes))}",
        f"processes = {quoted(str(limits.processes or 'none'))}",
        f"files = {quoted(str(limits.files or 'none'))}",
        f"disk = {quoted(format_size(limits.disk_bytes))}",
        f"output = {quoted(format_size(limits.output_bytes))}",
    ]


def _denied_toml(policy: Policy) -> str:
    """What is denied, or all that is left where that is the same and shorter."""
    denied = set(policy.deny_syscalls)
    left = [
        row.name
        for row in rows()
        if row.kind in ("allow", "when") and row.name not in {*denied, *policy.allow_syscalls}
    ]
    same = tuple(all_but({*left, *policy.allow_syscalls})) == policy.deny_syscalls
    if same and len(left) < len(denied):
        return f"only = {_list(left)}"
    return f"deny = {_list(policy.deny_syscalls)}"
