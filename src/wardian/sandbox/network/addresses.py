"""Addresses that a name does not make reachable: this host's own, the local networks', metadata."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

# Of the registries of special-purpose addresses, what is not the Internet at large.
_SPECIAL: tuple[tuple[str, str], ...] = (
    ("0.0.0.0/8", "this host"),
    ("10.0.0.0/8", "a private address"),
    ("100.64.0.0/10", "a carrier's own address"),
    ("127.0.0.0/8", "a loopback address"),
    ("169.254.0.0/16", "a link-local address, where clouds have their metadata"),
    ("172.16.0.0/12", "a private address"),
    ("192.0.0.0/24", "an address of the protocol itself"),
    ("192.0.2.0/24", "an address for examples"),
    ("192.88.99.0/24", "a relay that is no more"),
    ("192.168.0.0/16", "a private address"),
    ("198.18.0.0/15", "an address for measurements"),
    ("198.51.100.0/24", "an address for examples"),
    ("203.0.113.0/24", "an address for examples"),
    ("224.0.0.0/4", "a multicast address"),
    ("240.0.0.0/4", "a reserved address"),
    ("::/128", "this host"),
    ("::1/128", "a loopback address"),
    ("100::/64", "an address that discards everything"),
    ("2001::/23", "an address of the protocol itself"),
    ("2001:db8::/32", "an address for examples"),
    ("3fff::/20", "an address for examples"),
    ("5f00::/16", "an address of the protocol itself"),
    ("fc00::/7", "a private address"),
    ("fe80::/10", "a link-local address"),
    ("fec0::/10", "a private address"),
    ("ff00::/8", "a multicast address"),
)
_V4 = [(IPv4Network(net), what) for net, what in _SPECIAL if ":" not in net]
_V6 = [(IPv6Network(net), what) for net, what in _SPECIAL if ":" in net]
# IPv4 inside IPv6: mapped, compatible, NAT64 (both), 6to4; each with the place of the four bytes.
_WRAPPED = (
    (IPv6Network("::ffff:0:0/96"), 12),
    (IPv6Network("::/96"), 12),
    (IPv6Network("::ffff:0:0:0/96"), 12),
    (IPv6Network("64:ff9b::/96"), 12),
    (IPv6Network("64:ff9b:1::/48"), 12),
    (IPv6Network("2002::/16"), 2),
)
MAPPED = _WRAPPED[0][0]


def parsed(text: str) -> Address:
    """An address as the kernel or a resolver spells it; an IPv4 one mapped into IPv6 is the former.
    Raises ValueError."""
    address = ip_address(text.partition("%")[0])
    if address.version == 6 and address in MAPPED:
        return IPv4Address(address.packed[12:])
    return address


def special_range(address: Address) -> str | None:
    """What kind of address it is, if it is not one of the Internet at large."""
    if isinstance(address, IPv4Address):
        return next((what for net, what in _V4 if address in net), None)
    kind = next((what for net, what in _V6 if address in net), None)
    if kind is not None:
        return kind
    for net, at in _WRAPPED:
        if address in net:
            inner = special_range(IPv4Address(address.packed[at : at + 4]))
            return inner or (None if at == 2 or net.prefixlen == 96 else "a translated address")
    return None
