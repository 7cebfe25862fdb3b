"""What a guest that has the network gets of the user's package settings, so that `pip install` and
`npm install` find the same indexes: their URLs and the certificates of this host. Never a name, a
password, a token or a file of settings: those are given by name, `--env PIP_INDEX_URL`."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    from collections.abc import Mapping

    from wardian.sandbox.policy.policy import Policy

_URLS = (
    "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX",
    "UV_EXTRA_INDEX_URL", "npm_config_registry",
)  # fmt: skip
_CERTIFICATES = (
    "PIP_CERT", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS", "npm_config_cafile",
)  # fmt: skip


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
