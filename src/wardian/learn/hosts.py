"""Rules of a network by name for what a run reached: what its gateway saw, or with the host's
network each name that was asked for with each port that was connected to. A proof shows whether
they are enough."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

from wardian.errors import UsageError
from wardian.observe.trace import Endpoint, Trace
from wardian.sandbox.network.addresses import parsed, special_range
from wardian.sandbox.network.outcomes import Connection
from wardian.sandbox.network.rules import AddressRule, NameRule, normal_name

UNREACHED = ("refused", "failed")


def reached_hosts(trace: Trace) -> frozenset[str]:
    """As a policy names them. Pure."""
    made = [one for one in trace.result.connections if one.outcome not in UNREACHED]
    if trace.result.connections:
        return frozenset(rule for one in made for rule in _of_connection(one))
    return frozenset(_of_endpoints(trace.endpoints))


def _of_connection(one: Connection) -> Iterator[str]:
    yield _rule(one.name, one.port)
    if one.address is not None and one.address != one.name and _is_special(one.address):
        yield _rule(one.address, one.port)


def _of_endpoints(endpoints: tuple[Endpoint, ...]) -> Iterator[str]:
    names = {one.name for one in endpoints if one.action == "resolve"}
    connected = [_split(one.address) for one in endpoints if one.action == "connect"]
    outside = [(host, port) for host, port in connected if _is_outside(host) and port]
    for name in names:
        try:
            normal = normal_name(name)
        except UsageError:
            continue
        yield from (_rule(normal, port) for port in {port for _, port in outside})
    for host, port in outside:
        if not names or _is_special(host):
            yield _rule(host, port)


def _split(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port) if port.isdigit() and port != "53" else 0


def _is_outside(host: str) -> bool:
    try:
        return not parsed(host).is_loopback
    except ValueError:
        return False


def _is_special(address: str) -> bool:
    return special_range(parsed(address)) is not None


def _rule(host: str, port: int) -> str:
    ports = ((port, port),)
    try:
        return str(AddressRule(ip_network(parsed(host)), ports))
    except ValueError:
        return str(NameRule(host, "", ports))
