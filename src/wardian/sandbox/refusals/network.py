"""What a guest could not reach: names, addresses, ports, the host's sockets; and who in the guest
asked for what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wardian.sandbox.refusals.notes import UNKNOWN, act_word, refusal_of, shown, text_of
from wardian.sandbox.refusals.remedies import (
    RefusalContext,
    setting,
    to_name,
    to_reach,
    to_request,
)
from wardian.sandbox.run.result import Caller, Refusal

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any

    from wardian.sandbox.network.addresses import Address
    from wardian.sandbox.network.outcomes import Connection, Outcomes, RefusedName
    from wardian.sandbox.network.terminating import RefusedRequest

    Asked = Mapping[tuple[str, int | None], Caller]

AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
LOW_PORTS = 1024
DNS = 53
_LOOPBACK = {4: "127.0.0.1", 6: "::1"}


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
        reason = "the host's abstract sockets are not reachable"
    elif len(raw) < {AF_INET: 8, AF_INET6: 24}.get(family, 2):
        return None  # the kernel takes no such address either
    elif action == "bind" and 0 < port < LOW_PORTS:
        reason, allow = "ports below 1024 need a capability that no guest has", None
        if around.policy.network == "host" and port >= setting(
            "net/ipv4/ip_unprivileged_port_start"
        ):
            return None
    elif event["other"] == "loopback":
        if port == DNS or not around.host.listens(port):
            return None  # whoever asks there asks for a name, and that is reported
        return _by_own_loopback(action, raw, around)
    elif around.policy.network == "names":
        return _by_rules(action, raw, event["other"] == "stream", around)
    else:
        reason = "this run has no network"
        if event["other"] == "stream":
            from wardian.sandbox.network.rules import NetworkRules

            rule = NetworkRules().missing_for_address(_address(raw), port).rule
            allow = to_name(rule) if rule is not None else allow
    return refusal_of("network", action, sockaddr_text(raw), reason, allow)


def _by_own_loopback(action: str, raw: bytes, around: RefusalContext) -> Refusal | None:
    """A server that the host has and the guest has not; a rule for its address is the way there."""
    from ipaddress import ip_network

    from wardian.sandbox.network.rules import AddressRule, NetworkRules
    from wardian.syscalls.decode import sockaddr_text

    address, port = _address(raw), int.from_bytes(raw[2:4], "big")
    if address.is_unspecified:
        address = type(address)(_LOOPBACK[address.version])
    if around.policy.network == "names":
        rules = NetworkRules.parse(around.policy.allow_hosts, around.policy.deny_hosts)
        if rules.shares_loopback(address, port):
            return None
    reason = "the run has its own loopback; the host's is not reachable"
    allow = to_reach(around)
    if action == "connect" and around.host.accepts(port):
        allow = to_name(str(AddressRule(ip_network(address), ((port, port),))))
    return refusal_of("network", action, sockaddr_text(raw), reason, allow)


def _address(raw: bytes) -> Address:
    """The host of a socket's address; an IPv4 one inside IPv6 is the former."""
    import _socket

    from wardian.sandbox.network.addresses import parsed

    family = int.from_bytes(raw[:2], "little")
    return parsed(_socket.inet_ntop(family, raw[4:8] if family == AF_INET else raw[8:24]))


def _by_rules(action: str, raw: bytes, stream: bool, around: RefusalContext) -> Refusal | None:
    """What no rule of a network by name allows."""
    from wardian.sandbox.network.resolver import SYNTHETIC
    from wardian.sandbox.network.rules import NetworkRules

    rules = NetworkRules.of(around.policy)
    address, port = _address(raw), int.from_bytes(raw[2:4], "big")
    name = around.names.get(str(address))
    host = name or (str(address) if address.version == 4 else f"[{address}]")
    if name is None and address in SYNTHETIC:
        return None  # nobody has it
    if not stream:
        if action == "bind":
            reason = "a network by name cannot bind an address of the host"
        else:
            reason = "a network by name carries TCP connections, not datagrams"
        return refusal_of("network", action, f"{host}:{port}", reason, to_reach(around))
    if rules.allows_name(name, port) if name else rules.allows_address(address, port):
        return None
    missing = rules.missing_for_name(name, port) if name else None
    reason, rule = missing or rules.missing_for_address(address, port)
    allow = to_name(rule) if rule is not None else None
    return refusal_of("network", action, f"{host}:{port}", reason, allow)


def with_gateway(
    outcomes: Outcomes, asked: Asked, known: Sequence[Refusal] = ()
) -> tuple[Refusal, ...]:
    """What is known, with the reasons that the gateway of a network by name had, and what else it
    refused. A program that asks by ``write`` (Go's own resolver) is known to the gateway alone."""
    callers = {**outcomes.callers, **asked}
    found = [by_rule(one, callers) for one in outcomes.refused.values()]
    reasons = {(one.action, one.target): one.reason for one in found}
    things = {(one.action, one.target) for one in known}
    return (
        *(one._replace(reason=reasons.get((one.action, one.target), one.reason)) for one in known),
        *(one for one in found if (one.action, one.target) not in things),
    )


def with_callers(outcomes: Outcomes, asked: Asked) -> tuple[Connection, ...]:
    """The connections, each with the first process that connected there."""
    return tuple(
        one._replace(process=asked.get((one.name, one.port), UNKNOWN))
        for one in outcomes.connections
    )


def who_asked(
    events: Sequence[dict[str, Any]], callers: Mapping[int, Caller], names: Mapping[str, str]
) -> Asked:
    """Who first connected to a name or an address and a port, or, with None as port, asked for a
    name. ``names`` are those that addresses inside stand for."""
    found: dict[tuple[str, int | None], Caller] = {}
    for event in events:
        if event["event"] != "refused" or event["by"] not in ("n", "d"):
            continue
        caller = callers.get(event["process"], UNKNOWN)
        raw = event["text"].encode("latin-1")
        if event["by"] == "d":
            found.setdefault((shown(text_of(event["text"])).rstrip(".").lower(), None), caller)
        elif event["other"] == "stream" and len(raw) >= 8:
            address = str(_address(raw))
            port = int.from_bytes(raw[2:4], "big")
            found.setdefault((names.get(address, address), port), caller)
    return found


def by_rule(refused: RefusedName, asked: Asked) -> Refusal:
    if refused.request is not None:
        return _by_request(refused, refused.request, asked)
    action, target = "resolve", shown(refused.name)
    if refused.port is not None:
        address = f" ({refused.address})" if refused.address is not None else ""
        action, target = "connect", f"{target}{address}:{refused.port}"
    allow = to_name(refused.rule) if refused.rule is not None else None
    return refusal_of("network", action, target, refused.reason, allow)._replace(
        process=asked.get((refused.name, refused.port), UNKNOWN),
        count=refused.times,
        time_s=refused.at_s,
    )


def _by_request(refused: RefusedName, request: RefusedRequest, asked: Asked) -> Refusal:
    target = shown(f"{request.method} https://{refused.name}{request.target}".lstrip())
    allow = None
    if request.path is not None and "*" not in request.path:
        allow = to_request(refused.name, request.method, request.path)
    return refusal_of("network", "request", target, refused.reason, allow)._replace(
        process=asked.get((refused.name, refused.port), UNKNOWN),
        count=refused.times,
        time_s=refused.at_s,
    )


def by_name(_: str, event: dict[str, Any], around: RefusalContext) -> Refusal | None:
    from wardian.errors import UsageError
    from wardian.sandbox.network.rules import NetworkRules, normal_name

    host = shown(text_of(event["text"].rstrip(".")))
    reason = "this run has no network and resolves no names"
    try:
        name = normal_name(host)
    except UsageError:
        return refusal_of("network", "resolve", host, reason, None)
    rule: str | None = name
    if around.policy.network == "names":
        rules = NetworkRules.of(around.policy)
        if rules.ports_of(name):
            return None
        reason, rule = rules.missing_for_name(name)
    allow = to_name(rule) if rule is not None else None
    return refusal_of("network", "resolve", host, reason, allow)
