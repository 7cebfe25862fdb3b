"""Which hosts the sandbox that fetches may reach: those of the user's own index settings, and by
name alone those that a declaration names. What an index, a page or a package links to does not
count."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from wardian.errors import UsageError
from wardian.runner.guest_indexes import file_hosts
from wardian.runner.indexes import bare
from wardian.sandbox.network.addresses import Address, parsed, special_range
from wardian.sandbox.network.dialing import proxy_for
from wardian.sandbox.network.rules import (
    WEB_PORTS,
    AddressRule,
    NameRule,
    Ports,
    Rule,
    normal_name,
    parse_rule,
)

if TYPE_CHECKING:
    from wardian.runner.indexes import Settings
    from wardian.runner.needs import Needs

MORE_HOSTS = "WARDIAN_INDEX_HOSTS"
MOST_DECLARED = 50  # hosts that a declaration names
ANSWER_S = 1.0
_TABLES = ("dependencies", "optionalDependencies", "overrides")
_PROXY = re.compile(
    r"(UV_)?(https?|all|no)_proxy|PIP_PROXY|npm_config_((https?[-_])?proxy|noproxy)", re.I
)
# Whom a tool's own setting is for: the variable that the gateway reads.
_OWN_PROXIES = {
    "pip_proxy": ("http_proxy", "https_proxy"),
    "npm_config_proxy": ("http_proxy", "https_proxy"),
    "npm_config_http_proxy": ("http_proxy",),
    "npm_config_https_proxy": ("https_proxy",),
    "npm_config_noproxy": ("no_proxy",),
    "uv_http_proxy": ("http_proxy",),
    "uv_https_proxy": ("https_proxy",),
    "uv_all_proxy": ("all_proxy",),
    "uv_no_proxy": ("no_proxy",),
}

Resolve = Callable[[str], list[Address]]


class Reach(NamedTuple):
    """Rules of a network by name, the variables of the tool that uses it, and the proxies by which
    the gateway dials: the tool itself knows of none."""

    allow: tuple[str, ...]
    variables: dict[str, str]
    proxies: dict[str, str]


def reach_of(
    settings: Settings, needs: Needs, env: Mapping[str, str], resolve: Resolve | None = None
) -> Reach:
    """What one preparation may reach. Raises UsageError if WARDIAN_INDEX_HOSTS is no list of
    rules."""
    urls = [bare(url) for url in (*settings.indexes, *settings.find_links)]
    proxies = _proxies(settings.variables, urls)
    look = resolve or addresses_of
    found: dict[Rule, None] = {}
    for url in urls:
        found |= dict.fromkeys(_named_by_user(url, proxies, look))
    for rule in _more_hosts(env):
        found |= dict.fromkeys(_with_addresses(rule, proxies, look))
    for url in _declared(needs):
        trusted = needs.origin == "--with"
        rules = _named_by_user(url, proxies, look) if trusted else _named_by_others(url)
        found |= dict.fromkeys(rules)
    kept = {n: v for n, v in settings.variables.items() if not _PROXY.fullmatch(n)}
    return Reach(tuple(map(str, found)), kept, proxies)


# Rules


def _named_by_user(url: str, proxies: Mapping[str, str], resolve: Resolve) -> Iterator[Rule]:
    """The host of a URL of the user's own. If its name leads to a private address, that address
    may be dialled too: the user's setting names this host, wherever it is."""
    host, ports = _host_of(url)
    if host is None:
        return
    address = _literal(host)
    if address is not None:
        yield AddressRule(ip_network(address), ports)
    elif host == "localhost":
        yield from (AddressRule(ip_network(one), ports) for one in _answering(resolve(host), ports))
    else:
        for rule in _named_by_others(url):
            yield from _with_addresses(rule, proxies, resolve)


def _named_by_others(url: str) -> Iterator[Rule]:
    """The host of a URL that a skill wrote: a name, for a name never leads to a private address."""
    host, ports = _host_of(url)
    try:
        name = normal_name(host or "")
        if _literal(name) is not None or name == "localhost":
            return
        yield NameRule(name, "", ports)
    except UsageError:
        return
    for other in file_hosts().get(name, ()):
        yield NameRule(other)


def _with_addresses(rule: Rule, proxies: Mapping[str, str], resolve: Resolve) -> Iterator[Rule]:
    """A rule, and for a name the addresses that it has now and that no name leads to."""
    yield rule
    if not isinstance(rule, NameRule) or rule.left:
        return
    if proxy_for(rule.name, rule.ports[-1][0], proxies) is not None:
        return  # who resolves it is the proxy
    for address in resolve(rule.name):
        if special_range(address) is not None:
            yield AddressRule(ip_network(address), rule.ports)


def _more_hosts(env: Mapping[str, str]) -> list[Rule]:
    try:
        return [parse_rule(word) for word in env.get(MORE_HOSTS, "").split()]
    except UsageError as error:
        raise UsageError(f"{MORE_HOSTS}: {error}", hint=error.hint) from None


def _host_of(url: str) -> tuple[str | None, Ports]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None, WEB_PORTS
    if parts.scheme not in ("http", "https") or not host:
        return None, WEB_PORTS
    return host, WEB_PORTS if port is None or port in (80, 443) else ((port, port),)


def _literal(host: str) -> Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def addresses_of(name: str) -> list[Address]:
    """What this host's own resolver says; nothing if it knows none."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(parsed(str(one[4][0])) for one in found))


def _answering(addresses: Iterable[Address], ports: Ports) -> list[Address]:
    """Of the addresses of localhost those that have a server: a tool that reaches another one first
    would not try the next."""
    found = []
    for address in addresses:
        for port, _ in ports:
            try:
                socket.create_connection((str(address), port), timeout=ANSWER_S).close()
            except OSError:
                continue
            found.append(address)
            break
    return found


# What a declaration names


def _declared(needs: Needs) -> list[str]:
    """The URLs of files that a requirement, a package.json or a lock names itself, one for each
    host."""
    urls = [text.partition(" @ ")[2] for text in needs.python]
    manifest = _document(needs.package_json)
    if isinstance(manifest, dict):
        urls += _urls_in([manifest.get(key) for key in _TABLES], keys=None)
    urls += _urls_in(_document(needs.package_lock), keys=("resolved", "version"))
    by_host = {_host_of(url): url for url in urls if url}
    return list(by_host.values())[:MOST_DECLARED]


def _document(data: bytes | None) -> Any:
    try:
        return json.loads(data or b"null")
    except (ValueError, RecursionError):
        return None


def _urls_in(document: Any, keys: tuple[str, ...] | None) -> list[str]:
    """The values that are URLs, at any depth; of objects those of ``keys`` only, if it is given."""
    found, pending = [], [("", document)]
    while pending:
        key, one = pending.pop()
        if isinstance(one, dict):
            pending += one.items()
        elif isinstance(one, list):
            pending += ((key, value) for value in one)
        elif isinstance(one, str) and one.startswith(("https://", "http://")):
            found += [one] if keys is None or key in keys else []
    return found


# Proxies


def _proxies(variables: Mapping[str, str], urls: Iterable[str]) -> dict[str, str]:
    """The proxies of the environment and of the tool's own settings, as one environment. https to a
    port other than 443 uses the proxy for https, which the gateway can't know by itself."""
    named = {name: value for name, value in variables.items() if _PROXY.fullmatch(name)}
    found: dict[str, str] = {}
    for name, value in named.items():
        if name.lower() not in _OWN_PROXIES and (name.islower() or name.lower() not in named):
            found[name.lower()] = value
    for name, value in named.items():
        found |= dict.fromkeys(_OWN_PROXIES.get(name.lower().replace("-", "_"), ()), value)
    unusual = any(u.startswith("https:") and _host_of(u)[1] is not WEB_PORTS for u in urls)
    if unusual and "https_proxy" in found:
        found.setdefault("all_proxy", found["https_proxy"])
    return found
