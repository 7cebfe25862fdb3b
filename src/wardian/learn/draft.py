"""A draft policy to be proven, and its text, with the origin of each line."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from wardian.learn.calls import Calls, by_group, calls
from wardian.learn.limits import limits
from wardian.learn.needs import CHANGING, NOTHING, ObservedNeeds
from wardian.learn.places import BasePart, places, still_used
from wardian.sandbox.policy.file import CALLER
from wardian.sandbox.policy.policy import Limits, Policy, Share
from wardian.sandbox.policy.units import format_duration, format_size, human_bytes
from wardian.sandbox.policy.writing import network_limits_toml
from wardian.sandbox.root.layout import WORK
from wardian.sandbox.root.shares import is_below
from wardian.text import printable
from wardian.toml import quoted

WIDTH = 96
MOST_ENDPOINTS = 20


class Wider(NamedTuple):
    """What failed proofs have shown to be needed besides."""

    needs: ObservedNeeds = NOTHING
    times: Mapping[str, float] = {}
    network: bool = False
    environment: bool = False
    listed: bool = False


class Draft(NamedTuple):
    """``allowed`` is what the runs that were learned from were allowed."""

    allowed: Policy
    needs: ObservedNeeds
    places: tuple[BasePart, ...]
    calls: Calls
    limits: Limits
    shares: tuple[Share, ...]
    work: str | None
    network: str
    hosts: tuple[str, ...]  # rules of a network by name
    passed: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]


def draft(needs: ObservedNeeds, allowed: Policy, wider: Wider) -> Draft:
    """The smallest that has all of this, and nothing that was not allowed."""
    needs = needs | wider.needs
    if allowed.base is not None:
        found = still_used(allowed.base, needs.files)
    else:
        found = places(needs.files, needs.directories, listed_too=wider.listed)
    network, hosts = _reached(needs, allowed, wider)
    passed, variables = _environment(allowed, wider)
    return Draft(
        allowed=allowed,
        needs=needs,
        places=tuple(found),
        calls=calls(needs.calls, allowed),
        limits=limits(needs.peaks, allowed.limits, wider.times),
        shares=tuple(_shares(needs, allowed.shares)),
        work=allowed.work if allowed.work and _used(needs, WORK) else None,
        network=network,
        hosts=hosts,
        passed=passed,
        variables=variables,
    )


def _reached(needs: ObservedNeeds, allowed: Policy, wider: Wider) -> tuple[str, tuple[str, ...]]:
    """By name, until a proof shows that names are not enough; then all that was allowed."""
    if not needs.endpoints and not wider.network:
        return "none", ()
    if allowed.network == "none" or wider.network:
        return allowed.network, allowed.allow_hosts
    if needs.hosts:
        return "names", tuple(sorted(needs.hosts))
    return ("none" if allowed.network == "names" else allowed.network), ()


def _used(needs: ObservedNeeds, place: str) -> bool:
    return any(is_below(path, place) for path in needs.files)


def _shares(needs: ObservedNeeds, shares: Iterable[Share]) -> Iterable[Share]:
    for share in shares:
        if _is_socket(share.path):
            yield share  # what goes through it is seen nowhere
            continue
        done = [actions for path, actions in needs.files.items() if is_below(path, share.at)]
        if done:
            yield share._replace(write=share.write and any(one & CHANGING for one in done))


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False


def _environment(
    allowed: Policy, wider: Wider
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Whether a program reads a variable can't be seen: those that every run gets are left out, and
    stay out if the proof holds; those that the caller named stay."""
    usual = set(Policy.default().pass_env)
    passed = [name for name in allowed.pass_env if wider.environment or name not in usual]
    variables = []
    for name, value in allowed.set_env:
        if os.environ.get(name) == value:  # the caller's own, and perhaps a secret
            passed.append(name)
        else:
            variables.append((name, value))
    return tuple(dict.fromkeys(passed)), tuple(variables)


# Text


def text(one: Draft, header: Iterable[str]) -> str:
    """A policy file."""
    lines = [f"# {printable(line)}".rstrip() for line in header]
    lines += ["", *_files(one), "", *_network(one), "", *_environment_lines(one)]
    lines += ["", *_limits(one), "", *_syscalls(one), "", *_walls(one), ""]
    return "\n".join(lines)


def _files(one: Draft) -> list[str]:
    lines = [
        "[files]",
        "# Of the host's /usr and /etc only this is there, with what links on the way name.",
        "# An interpreter outside of /usr comes along as a whole, whatever stands here.",
        "base = [",
    ]
    width = min(60, max((len(place.path) for place in one.places), default=0) + 3)
    lines += [f"    {quoted(place.path) + ',':<{width}}  # {place.why}" for place in one.places]
    lines.append("]")
    for key, write in (("read", False), ("write", True)):
        given = [share for share in one.shares if share.write == write]
        if given:
            lines.append("# Shared by the caller, and used.")
            lines.append(f"{key} = [{', '.join(quoted(str(share)) for share in given)}]")
    if one.work is not None:
        lines.append("# A directory was used: each run names its own, with --work.")
        lines.append(f"work = {quoted(CALLER)}")
    return lines


def _network(one: Draft) -> list[str]:
    lines = ["[network]"]
    if one.network == "none":
        lines.append("# Nothing outside was reached.")
    elif one.network == "names":
        lines.append("# What was reached, and nothing else.")
        lines.append(f"allow = [{', '.join(map(quoted, one.hosts))}]")
        if one.allowed.deny_hosts:
            lines.append(f"deny = [{', '.join(map(quoted, one.allowed.deny_hosts))}]")
        lines += network_limits_toml(one.allowed)
    else:
        lines.append("# Names were not enough; these were used:")
        lines += [f"#   {printable(name)}" for name in sorted(one.needs.endpoints)[:MOST_ENDPOINTS]]
    return [*lines, f"mode = {quoted(one.network)}"]


def _environment_lines(one: Draft) -> list[str]:
    lines = ["[environment]"]
    lines.append(
        "# Whether a program reads a variable can't be seen. The runs passed with these only,"
    )
    lines.append("# and those that wardian itself sets (PATH, HOME, …).")
    lines.append(f"only = [{', '.join(map(quoted, one.passed))}]")
    if one.variables:
        pairs = ", ".join(f"{quoted(name)} = {quoted(value)}" for name, value in one.variables)
        lines.append(f"set = {{ {pairs} }}")
    return lines


def _limits(one: Draft) -> list[str]:
    return [
        "[limits]",
        "# What was used, with head-room.",
        *(f"{f'{key} = {value}':<20}  # {why}" for _, key, value, why in spelt_limits(one)),
    ]


def spelt_limits(one: Draft) -> list[tuple[str, str, str, str]]:
    """Each limit: its field, its key in a file, its value there, and what was seen."""
    peaks, found = {field: one.needs.peaks.get(field, 0) for field in Limits._fields}, one.limits
    memory, disk, printed = (
        human_bytes(peaks[field]) for field in ("memory_bytes", "disk_bytes", "output_bytes")
    )
    return [
        ("time_s", "time", _time(found.time_s), f"{peaks['time_s']:.1f} s at most"),
        ("cpu_s", "cpu", _time(found.cpu_s), f"{peaks['cpu_s']:.1f} s at most"),
        ("memory_bytes", "memory", _size(found.memory_bytes), f"{memory} at most"),
        ("processes", "processes", str(found.processes), f"{peaks['processes']:.0f} at once"),
        ("files", "files", str(found.files),
         f"{peaks['files']:.0f} opened in all; at once unseen"),
        ("disk_bytes", "disk", _size(found.disk_bytes),
         f"{disk} at most, by what was left and by memory"),
        ("output_bytes", "output", _size(found.output_bytes), f"{printed} at most"),
    ]  # fmt: skip


def _time(seconds: float | None) -> str:
    return quoted(format_duration(seconds))


def _size(size: int | None) -> str:
    return quoted(format_size(size))


def _syscalls(one: Draft) -> list[str]:
    lines = ["[syscalls]"]
    allow = [name for name in one.allowed.allow_syscalls if name in one.needs.calls]
    if allow:
        lines.append("# Allowed by the caller, and used.")
        lines.append(f"allow = [{', '.join(map(quoted, allow))}]")
    grouped = by_group(one.calls.all - set(allow))
    lines += [
        f"# {len(one.calls.made)} were made. {len(one.calls.kept)} more stay, each line marked:",
        "# a C library may make them at the start or the end of a program, or another kernel or",
        "# library makes them in place of one that was.",
        "only = [",
    ]
    for group, names in grouped.items():
        if names:
            lines.append(f"    # {group}")
            lines += _wrapped([name for name in names if name in one.calls.made], "")
            lines += _wrapped([name for name in names if name in one.calls.kept], "  # kept")
    lines.append("]")
    unused = [group for group, names in grouped.items() if not names]
    if unused:
        lines.append(f"# Nothing at all of: {', '.join(unused)}.")
    return lines


def _wrapped(names: list[str], remark: str) -> list[str]:
    lines, line = [], ""
    for name in names:
        more = f"{quoted(name)}, "
        if line and len(line) + len(more) + len(remark) + 4 > WIDTH:
            lines.append(line)
            line = ""
        line += more
    return [f"    {line.rstrip()}{remark}" for line in (*lines, line) if line]


def _walls(one: Draft) -> list[str]:
    lines = ["[landlock]", f"abi = {one.allowed.landlock_abi}"]
    if one.allowed.degrade:
        lines += ["", "[protections]", "# Given up by the caller."]
        lines.append(f"degrade = [{', '.join(map(quoted, one.allowed.degrade))}]")
    return lines
