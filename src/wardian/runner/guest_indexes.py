"""The user's package indexes and a guest: which rules of a network by name reach them, and what a
guest that has the network gets of the settings, so that `pip install` and
`npm install` find the same indexes: their URLs and the certificates of this host. Never a name, a
password, a token or a file of settings: those are given by name, `--env PIP_INDEX_URL`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from wardian.errors import UsageError
from wardian.runner.indexes import (
    INSIDE,
    npm_settings,
    pip_settings,
    uv_settings,
    without_password,
    words,
)
from wardian.sandbox.root.shares import is_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wardian.sandbox.policy.policy import Policy

_URLS = (
    "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX",
    "UV_EXTRA_INDEX_URL", "npm_config_registry",
)  # fmt: skip
_CERTIFICATES = (
    "PIP_CERT", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS", "npm_config_cafile",
)  # fmt: skip


def file_hosts() -> dict[str, list[str]]:
    """Where an index keeps its files, if not at home (file_hosts.toml)."""
    import os
    import tomllib

    with open(os.path.join(os.path.dirname(__file__), "file_hosts.toml"), "rb") as file:
        return tomllib.load(file)


def rules_for(tool: str, ecosystem: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """The rules that let a package tool reach the indexes that the user's settings name; none where
    one of these is no remote name, and only the host's network would do."""
    if ecosystem == "node":
        return index_rules(npm_settings(env).indexes)
    found = uv_settings(env) if tool.startswith("uv") else pip_settings(env)
    return index_rules((*found.indexes, *found.find_links))


def index_rules(urls: Iterable[str]) -> tuple[str, ...]:
    """The same for URLs; what lies on this host's disk needs no network. Pure."""
    from wardian.sandbox.network.rules import WEB_PORTS, NameRule, normal_name

    rules: dict[str, None] = {}
    for url in urls:
        parts = urlsplit(url)
        if "://" not in url or parts.scheme == "file":
            continue
        try:
            name, port = normal_name(parts.hostname or ""), parts.port
        except (UsageError, ValueError):
            return ()
        labels = name.split(".")
        if len(labels) < 2 or labels[-1].isdigit() or labels[-1] in ("local", "localhost"):
            return ()
        ports = WEB_PORTS if port in (None, 80, 443) else ((port, port),)
        rules[str(NameRule(name, "", ports))] = None
        rules |= dict.fromkeys(file_hosts().get(name, ()))
    return tuple(rules)


def with_indexes(policy: Policy, env: Mapping[str, str]) -> Policy:
    """The policy of a run with the network, with these variables; what the caller sets comes
    first."""
    if policy.network == "none" or policy.rootfs is not None:
        return policy
    given = {name.lower() for name in (*dict(policy.set_env), *policy.pass_env)}
    found = guest_variables(env)
    return policy.with_env({n: v for n, v in found.items() if n.lower() not in given})


def guest_variables(env: Mapping[str, str]) -> dict[str, str]:
    """The variables; empty where nothing but the tools' own defaults is set."""
    settings = {
        name if name.isupper() else name.lower(): value
        for tool in (pip_settings, uv_settings, npm_settings)
        for name, value in tool(env).variables.items()
    }
    found = {}
    for name in _URLS:
        urls = [without_password(word) for word in words(settings.get(name, ""))]
        remote = [url for url in urls if "://" in url and "file://" not in url]
        if remote:
            found[name] = " ".join(remote)
    for name in _CERTIFICATES:
        path = settings.get(name, "")
        if any(is_below(path, place) for place in INSIDE):
            found[name] = path
    return found
