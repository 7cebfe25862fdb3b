"""Which names, addresses and ports a run may reach: rules as people write them.

``api.example.com`` · ``*.github.com:443,22`` · ``**.example.org:8000-8010`` ·
``10.1.2.0/24:5432`` · ``[fd00::/8]:443``. Without ports a rule means 80 and 443.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import TYPE_CHECKING, NamedTuple

from wardian.errors import UsageError
from wardian.sandbox.network.addresses import Address, special_range

if TYPE_CHECKING:
    from wardian.sandbox.policy.policy import Policy

TLS_PORT = 443
WEB_PORTS = ((80, 80), (TLS_PORT, TLS_PORT))
LONGEST_NAME = 253
MOST_PORTS = 64  # of one rule
MOST_NETWORKS = 60  # each is a route in the guest (MAX_ROUTES in core/plan.h)
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\Z")
_FORMS = "write NAME, *.NAME, ADDRESS or ADDRESS/BITS, each with :PORT,PORT or without"

Ports = tuple[tuple[int, int], ...]


class NameRule(NamedTuple):
    """Names, and the ports there. ``left`` is what may stand before ``name``: nothing, ``*`` for
    one label, ``**`` for any number of them."""

    name: str
    left: str = ""
    ports: Ports = WEB_PORTS

    def matches(self, name: str) -> bool:
        """``name`` is a normal one."""
        if not self.left:
            return name == self.name
        before, found = name[: -len(self.name) - 1], name.endswith("." + self.name)
        return found and bool(before) and (self.left == "**" or "." not in before)

    def covers(self, name: str | None, address: Address | None, port: int) -> bool:
        """Is a connection to this name, at this address, one of those it is about?"""
        return name is not None and self.matches(name) and _among(port, self.ports)

    def __str__(self) -> str:
        return (f"{self.left}." if self.left else "") + self.name + _ports_text(self.ports)


class AddressRule(NamedTuple):
    """Addresses by number, and the ports there."""

    network: IPv4Network | IPv6Network
    ports: Ports = WEB_PORTS

    def matches(self, address: Address) -> bool:
        """An IPv4 address inside IPv6 counts as the former."""
        return address.version == self.network.version and address in self.network

    @property
    def single(self) -> bool:
        """One address, not a range."""
        return self.network.prefixlen == self.network.max_prefixlen

    def covers(self, name: str | None, address: Address | None, port: int) -> bool:
        """Is a connection to this name, at this address, one of those it is about?"""
        return address is not None and self.matches(address) and _among(port, self.ports)

    def __str__(self) -> str:
        text = str(self.network.network_address if self.single else self.network)
        return (f"[{text}]" if self.network.version == 6 else text) + _ports_text(self.ports)


Rule = NameRule | AddressRule


class MissingRule(NamedTuple):
    """Why something can't be reached, and the narrowest rule that allows it; None if none does."""

    reason: str
    rule: str | None


class NetworkRules(NamedTuple):
    """What may be reached; a rule of ``deny`` beats every one of ``allow``."""

    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    by_request: frozenset[str] = frozenset()  # names that have rules for each request: 443 alone

    @classmethod
    def of(cls, policy: Policy) -> NetworkRules:
        """Those of a policy; rules for a host's requests are a rule for its port 443. Raises
        UsageError."""
        hosts = dict.fromkeys(rule.host for rule in policy.tls)
        allow = (*policy.allow_hosts, *(f"{host}:{TLS_PORT}" for host in hosts))
        return cls.parse(dict.fromkeys(allow), policy.deny_hosts, hosts)

    @classmethod
    def parse(
        cls, allow: Iterable[str], deny: Iterable[str] = (), by_request: Iterable[str] = ()
    ) -> NetworkRules:
        """Raises UsageError."""
        rules = cls(
            tuple(map(parse_rule, allow)), tuple(map(parse_rule, deny)), frozenset(by_request)
        )
        if len(rules.networks) > MOST_NETWORKS:
            raise UsageError(f"rules name more than {MOST_NETWORKS} ranges of addresses")
        return rules

    def also(self, rules: tuple[Rule, ...]) -> NetworkRules:
        """The same, allowing more."""
        return self._replace(allow=(*self.allow, *rules)) if rules else self

    def ports_of(self, name: str) -> Ports:
        """The ports that may be reached at a normal name; none if it may not be known at all."""
        found = [one for rule in _naming(self.allow, name) for one in rule.ports]
        if name in self.by_request:  # whose other ports would be a way around the rules
            found = [(TLS_PORT, TLS_PORT)] if _among(TLS_PORT, tuple(found)) else []
        for rule in _naming(self.deny, name):
            found = [left for one in found for left in _without(one, rule.ports)]
        return tuple(dict.fromkeys(found))

    def allows_name(self, name: str, port: int) -> bool:
        """By a rule that names it."""
        return _among(port, self.ports_of(name))

    def allows_address(self, address: Address, port: int) -> bool:
        """By a rule that names a range it lies in."""
        return self._at(self.allow, address, port) and not self.denies_address(address, port)

    def shares_loopback(self, address: Address, port: int) -> bool:
        """Is this port of the host's loopback also the guest's? Only if a rule names exactly this
        address: a range is for names that lead there, and leaves the guest its own servers."""
        single = tuple(r for r in self.allow if isinstance(r, AddressRule) and r.single)
        return self._at(single, address, port) and not self.denies_address(address, port)

    def denies_address(self, address: Address, port: int) -> bool:
        """By a rule against it."""
        return self._at(self.deny, address, port)

    def missing_for_name(self, name: str, port: int | None = None) -> MissingRule:
        """What keeps a run from a normal name, or from one port of it."""
        what = "name" if port is None else "port"
        rule = NameRule(name) if port is None else NameRule(name, "", ((port, port),))
        if name in self.by_request and port not in (None, TLS_PORT):
            return MissingRule("it has rules for its requests, and so port 443 alone", None)
        if not self._replace(allow=(rule,)).ports_of(name):
            return MissingRule(f"a rule denies this {what}", None)
        return MissingRule(f"no rule allows this {what}", str(rule))

    def missing_for_address(self, address: Address, port: int) -> MissingRule:
        """What keeps a run from an address by number. On a link of IPv6 only its own name would
        show which link, so no rule helps."""
        if self.denies_address(address, port):
            return MissingRule("a rule denies this address", None)
        linked = address.version == 6 and address.is_link_local
        rule = str(AddressRule(ip_network(address), ((port, port),)))
        useless = port == 0 or address.is_multicast or linked
        return MissingRule("no rule allows this address", None if useless else rule)

    def why_not_dialled(self, address: Address, port: int) -> str | None:
        """Why an allowed name is not reached at the address that it has; None if it is."""
        if self.denies_address(address, port):
            return "a rule denies this address"
        kind = special_range(address)
        if kind is None or self.allows_address(address, port):
            return None
        return f"it is {kind}"

    @property
    def networks(self) -> tuple[IPv4Network | IPv6Network, ...]:
        """The ranges that rules name."""
        return tuple(dict.fromkeys(r.network for r in self.allow if isinstance(r, AddressRule)))

    @staticmethod
    def _at(rules: Sequence[Rule], address: Address, port: int) -> bool:
        return any(
            isinstance(r, AddressRule) and r.matches(address) and _among(port, r.ports)
            for r in rules
        )


def _naming(rules: Iterable[Rule], name: str) -> list[NameRule]:
    return [rule for rule in rules if isinstance(rule, NameRule) and rule.matches(name)]


def normal_name(text: str) -> str:
    """A host name as rules and questions are compared: lower case, IDNA, no dot at its end.
    Raises UsageError."""
    name = text.removesuffix(".")
    if not name.isascii():
        import idna

        try:
            name = idna.encode(name, uts46=True).decode("ascii")
        except idna.IDNAError as error:
            raise UsageError(f"{text!r} is no host name: {error}") from None
    name = name.lower()
    if len(name) > LONGEST_NAME or not all(_LABEL.match(label) for label in name.split(".")):
        raise UsageError(f"{text!r} is no host name")
    return name


def parse_rule(text: str) -> Rule:
    """One rule. Raises UsageError, which says what is wrong and how a rule is written."""
    host, ports = _split(text)
    if host.startswith("["):
        return AddressRule(_network(host[1:-1], text), ports)
    if re.fullmatch(r"[0-9./]+", host) or "/" in host:
        return AddressRule(_network(host, text), ports)
    left, star, name = "", "", host
    while name.startswith("*"):
        star, _, name = name.partition(".")
        if star not in ("*", "**") or left:
            raise UsageError(f"{text!r}: only *. or **. may stand before a name, once", hint=_FORMS)
        left = star
    if "*" in name:
        raise UsageError(f"{text!r}: a star stands only at the left", hint="*.example.com")
    try:
        name = normal_name(name)
    except UsageError as error:
        raise UsageError(f"{text!r} is no rule: {error}", hint=_FORMS) from None
    if name.rsplit(".", 1)[-1].isdigit():
        raise UsageError(f"{text!r} is neither a name nor an address", hint=_FORMS)
    if left and _is_public_suffix(name):
        raise UsageError(
            f"{text!r} is wider than a rule may be: anyone can have a name below {name}",
            hint=f"name what is meant, such as {left}.example.{name}",
        )
    return NameRule(name, left, ports)


def _split(text: str) -> tuple[str, Ports]:
    match = re.fullmatch(r"(\[[^\]]*\]|[^:\[\]]+)(?::([^:]*))?", text, re.DOTALL)
    if match is None:
        bare = text.count(":") > 1 and "[" not in text
        hint = f"an IPv6 address stands in brackets: [{text}]" if bare else _FORMS
        raise UsageError(f"{text!r} is no rule for the network", hint=hint)
    return match[1], WEB_PORTS if match[2] is None else _ports(match[2], text)


def _ports(text: str, whole: str) -> Ports:
    found = []
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 0 < first <= last < 65536:
            raise UsageError(
                f"{whole!r}: {part!r} is no port", hint="ports are 1 to 65535: :443,8000-8010"
            )
        found.append((first, last))
    if sum(last - first + 1 for first, last in found) > MOST_PORTS:
        raise UsageError(f"{whole!r} names more than {MOST_PORTS} ports")
    return tuple(found)


def _network(text: str, whole: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text)
    except ValueError as error:
        raise UsageError(f"{whole!r}: {error}", hint="such as 10.1.2.0/24:5432") from None


def _ports_text(ports: Ports) -> str:
    if ports == WEB_PORTS:
        return ""
    return ":" + ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ports)


def each_port(ports: Ports) -> list[int]:
    """One by one."""
    return sorted({port for first, last in ports for port in range(first, last + 1)})


def _among(port: int, ports: Ports) -> bool:
    return any(first <= port <= last for first, last in ports)


def _without(one: tuple[int, int], ports: Ports) -> list[tuple[int, int]]:
    left = [one]
    for first, last in ports:
        left = [
            part
            for a, b in left
            for part in ((a, min(b, first - 1)), (max(a, last + 1), b))
            if part[0] <= part[1]
        ]
    return left


def _is_public_suffix(name: str) -> bool:
    """Below it anyone can have a name: com, co.uk, github.io. An unknown top level counts."""
    from publicsuffixlist import PublicSuffixList

    found: bool = PublicSuffixList().is_public(name)
    return found
