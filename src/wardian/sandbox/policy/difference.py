"""Two policies compared by what they allow, not by how they are written. Pure, but for resolving
links in the paths that they share.

Each difference is one sentence about A and B, and says which of them allows more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from wardian.sandbox.network.rules import NetworkRules
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.policy.tls import tls_toml
from wardian.sandbox.policy.units import format_duration, format_size
from wardian.sandbox.policy.view import NOTHING, READ, WRITE, Region, Resolve, View, moved, regions
from wardian.sandbox.root.shares import is_below
from wardian.sandbox.run import landlock
from wardian.sandbox.run.protections import DEGRADABLE
from wardian.syscalls import lookup

DIMENSIONS = (
    "files",
    "network",
    "environment",
    "syscalls",
    "limits",
    "landlock",
    "protections",
    "refusals",
)
_ACCESS = ("nothing", "read", "write")


class PolicyDifference(NamedTuple):
    """``more`` is "a", "b", or None if neither allows more; ``a`` and ``b`` are what each has."""

    dimension: str
    subject: str
    more: str | None
    a: Any
    b: Any
    text: str


def differences(
    a: Policy, b: Policy, resolve: Resolve = os.path.realpath
) -> list[PolicyDifference]:
    """What one allows and the other does not; none if they allow the same."""
    found = [
        *_files(a, b, resolve),
        *_network(a, b),
        *_environment(a, b),
        *_syscalls(a, b),
        *_limits(a, b),
        *_landlock(a, b),
        *_protections(a, b),
        *_refusals(a, b),
    ]
    return sorted(found, key=lambda one: DIMENSIONS.index(one.dimension))


# Files


def _files(a: Policy, b: Policy, resolve: Resolve) -> Iterator[PolicyDifference]:
    roots = [policy.rootfs and resolve(policy.rootfs) for policy in (a, b)]
    if roots[0] != roots[1]:
        texts = [
            f"the root file system {root}" if root else "the host's own /usr" for root in roots
        ]
        text = f"A has {texts[0]}, B {texts[1]}"
        yield PolicyDifference("files", "root", None, roots[0], roots[1], text)
    views = View(a, resolve), View(b, resolve)
    for region in regions(views):
        yield _access_difference(region, views)
    yield from _places(views)
    yield from _copies(a, b, resolve)


def _access_difference(region: Region, views: tuple[View, View]) -> PolicyDifference:
    path, levels, apart = region
    more = 0 if levels[0] > levels[1] else 1
    one, other = "AB"[more], "BA"[more]
    verbs = {(READ, NOTHING): "read", (WRITE, NOTHING): "read and write", (WRITE, READ): "write"}
    verb = verbs[levels[more], levels[1 - more]]
    places = [place for place in views[more].places(path) if place != path]
    where = f" (at {', '.join(places)})" if places else ""
    but = f", but for {', '.join(apart)}" if apart else ""
    also = f"; {other} only lets it read that" if verb == "write" else ""
    return PolicyDifference(
        "files",
        path,
        one.lower(),
        _ACCESS[levels[0]],
        _ACCESS[levels[1]],
        f"{one} also lets the run {verb} {path}{where}{but}{also}",
    )


def _places(views: tuple[View, View]) -> Iterator[PolicyDifference]:
    """The same of the host, at another place: allows no more, and yet programs notice."""
    listed: list[tuple[str, list[str], list[str]]] = []
    for path in sorted({share.path for view in views for share in view.shares}):
        a, b = (view.places(path) for view in views)
        if a == b or not a or not b:
            continue
        implied = any(
            is_below(path, known)
            and a == sorted(moved(path, known, place) for place in known_a)
            and b == sorted(moved(path, known, place) for place in known_b)
            for known, known_a, known_b in listed
        )
        listed.append((path, a, b))
        if not implied:
            text = f"A shows {path} at {', '.join(a)}, B at {', '.join(b)}"
            yield PolicyDifference("files", path, None, a, b, text)


def _copies(a: Policy, b: Policy, resolve: Resolve) -> Iterator[PolicyDifference]:
    """Changed in a layer of the run's own: allows no more of the host's, and programs notice."""
    copies = [{(resolve(s.path), s.at) for s in one.shares if s.copy} for one in (a, b)]
    for path, at in sorted(copies[0] ^ copies[1]):
        has = [(path, at) in found for found in copies]
        who = "A" if has[0] else "B"
        text = f"{who} lets the run change a copy of {path} at {at}"
        yield PolicyDifference("files", path, None, has[0], has[1], text)


# Network, environment


_NETWORKS = {  # from the narrowest to the widest
    "none": "no network but a loopback of its own",
    "names": "a network by name",
    "host": "the host's network, all of it",
}


def _network(a: Policy, b: Policy) -> Iterator[PolicyDifference]:
    if a.interface != b.interface:
        who = "A" if a.interface else "B"
        text = f"{who} gives the run a network interface besides lo, which leads nowhere"
        yield PolicyDifference("network", "interface", None, a.interface, b.interface, text)
    modes = a.network, b.network
    if modes[0] != modes[1]:
        order = [list(_NETWORKS).index(mode) for mode in modes]
        text = f"A gives the run {_network_text(a)}; B {_network_text(b)}"
        yield PolicyDifference("network", "mode", "ab"[order[0] < order[1]], *modes, text)
        return
    for verb, one, other in (
        ("allows", a.allow_hosts, b.allow_hosts),
        ("denies", a.deny_hosts, b.deny_hosts),
    ):
        for rule in dict.fromkeys((*one, *other)):
            has = rule in one, rule in other
            if has[0] == has[1]:
                continue
            more = "ab"[has[1] == (verb == "allows")]
            text = f"{'A' if has[0] else 'B'} also {verb} {rule}"
            yield PolicyDifference("network", rule, more, *has, text)
    yield from _requests(a, b)
    for field, (noun, spelt) in _NETWORK_NOUNS.items():
        limits = getattr(a, field), getattr(b, field)
        if limits[0] != limits[1]:
            yield _limit("network", field, *limits, noun, spelt)


def _requests(a: Policy, b: Policy) -> Iterator[PolicyDifference]:
    """Rules of a host allow requests; that it has some denies all others."""
    for host in dict.fromkeys(rule.host for rule in (*a.tls, *b.tls)):
        sides = [{one for one in policy.tls if one.host == host} for policy in (a, b)]
        if sides[0] == sides[1]:
            continue
        reached = [NetworkRules.of(policy).allows_name(host, 443) for policy in (a, b)]
        texts = [
            ", ".join(tls_toml(one for one in policy.tls if one.host == host)).partition(" = ")[2]
            or ("any request" if reached[i] else "nothing")
            for i, policy in enumerate((a, b))
        ]
        # without rules a host that is reached at all is reached with any request
        free = [reached[i] and not sides[i] for i in (0, 1)]
        more: str | None = None
        if free[0] or not reached[1] or sides[0] > sides[1] > set():
            more = "a"
        elif free[1] or not reached[0] or sides[1] > sides[0] > set():
            more = "b"
        text = f"to {host}, A allows {texts[0]}; B {texts[1]}"
        yield PolicyDifference("network", host, more, texts[0], texts[1], text)


_NETWORK_NOUNS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "max_connections": ("connections at once", str),
    "max_per_second": ("new connections in a second", str),
    "max_sent_bytes": ("of bytes sent", format_size),
    "max_received_bytes": ("of bytes received", format_size),
}


def _network_text(policy: Policy) -> str:
    names = ", ".join(policy.allow_hosts)
    return _NETWORKS[policy.network] + (f" ({names})" if names else "")


def _environment(a: Policy, b: Policy) -> Iterator[PolicyDifference]:
    for name in sorted({*a.pass_env, *b.pass_env, *dict(a.set_env), *dict(b.set_env)}):
        one, other = _variable(a, name), _variable(b, name)
        if one == other:
            continue
        if one is None or other is None:
            who, what = ("B", other) if one is None else ("A", one)
            yield PolicyDifference(
                "environment", name, who.lower(), one, other, f"{who} also {_setting(name, what)}"
            )
        else:
            text = f"A {_setting(name, one)}; B {_setting(name, other)}"
            yield PolicyDifference("environment", name, None, one, other, text)


def _variable(policy: Policy, name: str) -> dict[str, str] | None:
    """A value that is set wins over one that passes."""
    values = dict(policy.set_env)
    if name in values:
        return {"set": values[name]}
    return {"pass": name} if name in policy.pass_env else None


def _setting(name: str, what: dict[str, str] | None) -> str:
    if what is not None and "set" in what:
        return f"sets {name} to {what['set']!r}"
    return f"passes the caller's {name}"


# Syscalls


def _syscalls(a: Policy, b: Policy) -> Iterator[PolicyDifference]:
    names = {*a.allow_syscalls, *a.deny_syscalls, *b.allow_syscalls, *b.deny_syscalls}
    for name in sorted(names):
        decisions = _decision(a, name), _decision(b, name)
        if decisions[0] == decisions[1]:
            continue
        ranks = [_RANKS[decision.split(" ", 1)[0]] for decision in decisions]
        more = 0 if ranks[0] > ranks[1] else 1
        one, other = "AB"[more], "BA"[more]
        reason = lookup(name).reason
        if ranks[1 - more] == _RANKS["when"]:
            text = f"{one} allows {name} with any arguments, {other} with some: {reason}"
        elif ranks[more] == _RANKS["when"]:
            text = f"{one} also allows {name} with some arguments: {reason}"
        elif ranks[more] == ranks[1 - more]:
            text = f"A answers {name} with {_answer(decisions[0])}, B with {_answer(decisions[1])}"
        else:
            text = f"{one} also allows {name}: {reason}"
        same = ranks[0] == ranks[1]
        yield PolicyDifference("syscalls", name, None if same else one.lower(), *decisions, text)


_RANKS = {"deny": 0, "absent": 0, "when": 1, "allow": 2}


def _answer(decision: str) -> str:
    return "ENOSYS" if decision == "absent" else "EPERM"


def _decision(policy: Policy, name: str) -> str:
    """In the order of the filter, which refuses a policy that both allows and denies a call."""
    if name in policy.deny_syscalls:
        return "deny"
    return "allow" if name in policy.allow_syscalls else lookup(name).decision


# Limits


# field of Limits → what it limits, and how a value is spelt
NOUNS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "time_s": ("by the clock", format_duration),
    "cpu_s": ("of CPU time", format_duration),
    "memory_bytes": ("of memory", format_size),
    "processes": ("processes", str),
    "files": ("open files in one process", str),
    "disk_bytes": ("of files", format_size),
    "output_bytes": ("of output", format_size),
}


def _limits(a: Policy, b: Policy) -> Iterator[PolicyDifference]:
    for field, (noun, spelt) in NOUNS.items():
        one, other = getattr(a.limits, field), getattr(b.limits, field)
        if one != other:
            yield _limit("limits", field, one, other, noun, spelt)


def _limit(
    dimension: str, field: str, one: Any, other: Any, noun: str, spelt: Callable[[Any], str]
) -> PolicyDifference:
    more = "a" if one is None or (other is not None and one > other) else "b"
    if one is None:
        text = f"A sets no limit {_on(noun)}, B allows {spelt(other)} {noun}"
    elif other is None:
        text = f"A allows {spelt(one)} {noun}, B sets no limit {_on(noun)}"
    else:
        text = f"A allows {spelt(one)} {noun}, B {spelt(other)}"
    return PolicyDifference(dimension, field, more, one, other, text)


def _on(noun: str) -> str:
    return "on time" if noun == "by the clock" else f"on {noun.removeprefix('of ')}"


# Walls


def _landlock(a: Policy, b: Policy) -> Iterator[PolicyDifference]:
    if a.landlock_abi == b.landlock_abi:
        return
    more = "a" if a.landlock_abi < b.landlock_abi else "b"
    texts = [
        f"insists on Landlock ABI {abi}" if abi else "wants no Landlock"
        for abi in (a.landlock_abi, b.landlock_abi)
    ]
    text = f"A {texts[0]}, B {texts[1]}"
    yield PolicyDifference("landlock", "abi", more, a.landlock_abi, b.landlock_abi, text)


def _protections(a: Policy, b: Policy) -> Iterator[PolicyDifference]:
    given_up = _given_up(a), _given_up(b)
    for name in DEGRADABLE:
        has = [name in names for names in given_up]
        # Giving up Landlock gives up its parts; they are not listed one by one.
        part_of = name.partition(".")[0]
        implied = part_of != name and any(part_of in names for names in given_up)
        if has[0] == has[1] or (implied and (part_of in given_up[0]) != (part_of in given_up[1])):
            continue
        who, other = ("A", "B") if has[0] else ("B", "A")
        text = f"{who} gives up the wall {name}; {other} keeps it"
        yield PolicyDifference("protections", name, who.lower(), has[0], has[1], text)


def _given_up(policy: Policy) -> set[str]:
    names = set(policy.degrade)
    if "landlock" in names:
        names |= set(dict(landlock.FEATURES))
    return names


def _refusals(a: Policy, b: Policy) -> Iterator[PolicyDifference]:
    """What is reported allows nothing."""
    if a.explain != b.explain:
        who = "A" if a.explain else "B"
        text = f"{who} watches every call that takes a path, to report what was not found"
        yield PolicyDifference("refusals", "explain", None, a.explain, b.explain, text)
