"""What else a guest could not have: calls, networks, processes, and more than its limits."""

from __future__ import annotations

import os

from wardian.sandbox.policy.units import human_bytes
from wardian.sandbox.refusals.notes import act_word, args_of, refusal_of, shown, text_of
from wardian.sandbox.refusals.remedies import (
    RefusalContext,
    setting,
    spelled,
    to_call,
    to_name,
    to_reach,
    to_use,
)
from wardian.sandbox.run.result import Limit, Refusal
from wardian.syscalls.effects import does

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any

    from wardian.sandbox.network.addresses import Address
    from wardian.sandbox.network.outcomes import RefusedName

AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
LOW_PORTS = 1024
DNS = 53


def by_filter(name: str, event: dict[str, Any], around: RefusalContext) -> Refusal:
    from wardian.syscalls import lookup
    from wardian.syscalls.decode import call_text

    if name.startswith("syscall "):
        return refusal_of("syscall", name, name, "unknown call", None)
    args, row = args_of(event), lookup(name)
    strings = {}
    if event["text"] and "path" in row.arguments:
        strings = {row.arguments.index("path"): shown(text_of(event["text"]))}
    target = call_text(name, args, strings=strings, arch=around.arch)
    kind = "process" if does(name, "trace") else "syscall"
    denied = name in around.policy.deny_syscalls
    reason = "this run's policy denies it" if denied else row.reason
    return refusal_of(kind, name, target, reason, to_call(name, args, around.policy))


# The network


def by_network(name: str, event: dict[str, Any], around: RefusalContext) -> Refusal | None:
    from wardian.syscalls.decode import sockaddr_text

    raw = event["text"].encode("latin-1")
    family = int.from_bytes(raw[:2], "little")
    port = int.from_bytes(raw[2:4], "big")
    action = act_word(name)
    allow = to_reach(around, family)
    if family == AF_UNIX:
        if action == "bind" or allow is None or not around.host.has_abstract(raw[2:]):
            return None
        reason = "the host's abstract sockets are out of reach"
    elif len(raw) < {AF_INET: 8, AF_INET6: 24}.get(family, 2):
        return None  # the kernel takes no such address either
    elif action == "bind" and 0 < port < LOW_PORTS:
        reason, allow = "ports below 1024 need a right that no guest has", None
        if around.policy.network == "host" and port >= setting(
            "net/ipv4/ip_unprivileged_port_start"
        ):
            return None
    elif event["other"] == "loopback":
        if not around.host.listens(port) or (around.policy.network == "names" and port == DNS):
            return None
        reason = "the run has a loopback of its own; the host's is out of reach"
    elif around.policy.network == "names":
        return _by_rules(action, raw, event["other"] == "stream", around)
    else:
        reason = "this run has no network"
        if event["other"] == "stream" and (rule := _rule_for(_address(raw), port)) is not None:
            allow = to_name(rule)
    return refusal_of("network", action, sockaddr_text(raw), reason, allow)


def _address(raw: bytes) -> Address:
    """The host of a socket's address; an IPv4 one inside IPv6 is the former."""
    import _socket

    from wardian.sandbox.network.addresses import parsed

    family = int.from_bytes(raw[:2], "little")
    return parsed(_socket.inet_ntop(family, raw[4:8] if family == AF_INET else raw[8:24]))


def _rule_for(address: Address, port: int) -> str | None:
    """The narrowest; None where none helps: on a link only its own name would say which link."""
    from ipaddress import ip_network

    from wardian.sandbox.network.rules import AddressRule

    if port == 0 or address.is_multicast or (address.version == 6 and address.is_link_local):
        return None
    return str(AddressRule(ip_network(address), ((port, port),)))


def _by_rules(action: str, raw: bytes, stream: bool, around: RefusalContext) -> Refusal | None:
    """What no rule of a network by name allows."""
    from wardian.sandbox.network.resolver import SYNTHETIC
    from wardian.sandbox.network.rules import NameRule, NetworkRules

    rules = NetworkRules.parse(around.policy.allow_hosts, around.policy.deny_hosts)
    address, port = _address(raw), int.from_bytes(raw[2:4], "big")
    name = around.names.get(str(address))
    host = name or (str(address) if address.version == 4 else f"[{address}]")
    if name is None and address in SYNTHETIC:
        return None  # nobody has it
    if not stream:
        if action == "bind":
            reason = "a network by name has no address of the host's"
        else:
            reason = "a network by name carries connections, no datagrams"
        return refusal_of("network", action, f"{host}:{port}", reason, to_reach(around))
    if rules.allows_name(name, port) if name else rules.allows_address(address, port):
        return None
    rule = str(NameRule(name, "", ((port, port),))) if name else _rule_for(address, port)
    reason = "no rule allows this port" if name else "no rule allows this address"
    allow = to_name(rule) if rule is not None else None
    return refusal_of("network", action, f"{host}:{port}", reason, allow)


def by_rule(refused: RefusedName) -> Refusal:
    """What the gateway of a network by name refused."""
    from wardian.sandbox.network.addresses import parsed
    from wardian.sandbox.network.rules import NameRule

    name, port = shown(refused.name), refused.port
    if port is None:
        return refusal_of("network", "resolve", name, refused.reason, to_name(name))
    rule = None
    if refused.address is not None:
        rule = _rule_for(parsed(refused.address), port)
        name = f"{name} ({refused.address})"
    elif refused.wanted is not None:
        rule = str(NameRule(refused.wanted, "", ((port, port),)))
    found = refusal_of(
        "network", "connect", f"{name}:{port}", refused.reason, to_name(rule) if rule else None
    )
    return found._replace(count=refused.times, time_s=refused.at_s)


def by_name(name: str, event: dict[str, Any], around: RefusalContext) -> Refusal | None:
    from wardian.errors import UsageError
    from wardian.sandbox.network.rules import NetworkRules, normal_name

    host = shown(text_of(event["text"].rstrip(".")))
    reason = "this run has no network, so no names either"
    try:
        rule = to_name(str(normal_name(host)))
    except UsageError:
        return refusal_of("network", "resolve", host, reason, None)
    if around.policy.network == "names":
        rules = NetworkRules.parse(around.policy.allow_hosts, around.policy.deny_hosts)
        if rules.ports_of(normal_name(host)):
            return None
        reason = "no rule allows this name"
    return refusal_of("network", "resolve", host, reason, rule)


# Processes and limits


def by_pid(name: str, event: dict[str, Any], around: RefusalContext) -> Refusal | None:
    pid = args_of(event)[0] & 0xFFFFFFFF
    if not os.path.isdir(f"/proc/{pid}"):
        return None
    reason = "the host's processes are out of reach"
    return refusal_of("process", act_word(name), f"pid {pid}", reason, None)


def by_limit(name: str, event: dict[str, Any], around: RefusalContext) -> Refusal | None:
    limits = around.policy.limits
    if event["text"] == "processes":
        held = Limit("processes", limits.processes, "")
        return limit_refusal(held, "it may have no more processes and threads")
    if event["text"] == "files":
        held = Limit("files", limits.files, "")
        return limit_refusal(held, "it may have no more open files in one process")
    if event["text"] == "memory":
        needed = int(event["other"])
        reason = f"it asked for memory that would come to {human_bytes(needed)} at once"
        return limit_refusal(Limit("memory", limits.memory_bytes, ""), reason, needed)
    memory = limits.memory_bytes is not None and limits.memory_bytes < (
        limits.disk_bytes or 1 << 62
    )
    held = (
        Limit("memory", limits.memory_bytes, "") if memory else Limit("disk", limits.disk_bytes, "")
    )
    return limit_refusal(held, "its private files are full, or they were")


def limit_refusal(limit: Limit, reason: str, needed: int = 0) -> Refusal:
    """A limit that was met, and what would allow more: twice as much, or what is needed."""
    value = spelled(limit.name, limit.value or 0)
    return refusal_of("limit", limit.name, value, reason, to_use(limit, needed))
