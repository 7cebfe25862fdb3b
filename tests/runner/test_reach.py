"""Which hosts the sandbox that fetches may reach, decided from settings and declarations."""

from __future__ import annotations

import json
from ipaddress import ip_address

import pytest

from wardian.errors import UsageError
from wardian.runner.indexes import Settings, npm_settings
from wardian.runner.needs import Needs
from wardian.runner.packages.reach import MOST_DECLARED, reach_of
from wardian.sandbox.network.addresses import Address
from wardian.sandbox.network.dialing import proxy_for
from wardian.sandbox.network.rules import NetworkRules

DNS = {
    "index.example.com": ["93.184.216.34"],
    "index.lan": ["10.1.2.3", "fd00::5"],
    "mixed.example.com": ["93.184.216.34", "192.168.1.1"],
    "files.pythonhosted.org": ["10.0.0.9"],
}


def resolve(name: str) -> list[Address]:
    return [ip_address(one) for one in DNS.get(name, ())]


def allowed(*urls: str, needs: Needs = Needs(), env: dict[str, str] | None = None) -> list[str]:  # noqa: B008
    settings = Settings({}, (), indexes=urls)
    return sorted(reach_of(settings, needs, env or {}, resolve).allow)


@pytest.mark.parametrize(
    ("url", "rules"),
    [
        ("https://index.example.com/simple", ["index.example.com"]),
        ("http://index.example.com:8080/simple", ["index.example.com:8080"]),
        ("https://INDEX.example.com./simple", ["index.example.com"]),
        ("https://index.lan/simple", ["10.1.2.3", "[fd00::5]", "index.lan"]),
        ("http://index.lan:3141/", ["10.1.2.3:3141", "[fd00::5]:3141", "index.lan:3141"]),
        ("https://mixed.example.com/", ["192.168.1.1", "mixed.example.com"]),
        ("https://pypi.org/simple", ["10.0.0.9", "files.pythonhosted.org", "pypi.org"]),
        ("http://10.9.9.9:81/simple", ["10.9.9.9:81"]),
        ("http://[::1]:81/simple", ["[::1]:81"]),
        ("http://devpi/simple", ["devpi"]),
        ("internal=https://index.example.com/", ["index.example.com"]),
        ("file:///opt/simple", []),
        ("/opt/wheels", []),
        ("https://", []),
        ("https://x:99999999/", []),
    ],
)
def test_an_index_is_reached_where_it_is(url: str, rules: list[str]) -> None:
    assert allowed(url) == rules
    NetworkRules.parse(rules)


def test_a_registry_of_the_user_s_own_takes_the_place_of_the_public_one() -> None:
    own = npm_settings({"npm_config_registry": "https://npm.lan/", "NPM_CONFIG_USERCONFIG": "/x"})
    assert own.indexes == ("https://npm.lan/",)
    scoped = {"npm_config_@a:registry": "https://npm.lan/", "NPM_CONFIG_USERCONFIG": "/x"}
    assert npm_settings(scoped).indexes == ("https://registry.npmjs.org/", "https://npm.lan/")


SHA = "sha512-" + "A" * 86 + "=="
LOCK = {
    "packages": {
        "": {"homepage": "https://home.example/"},
        "node_modules/x": {
            "resolved": "https://files.example.net/x.tgz",
            "funding": {"url": "https://fund.example/"},
        },
    },
    "dependencies": {"y": {"version": "https://old.example.net/y.tgz"}},
}
MANIFEST = {
    "homepage": "https://home.example/",
    "dependencies": {"x": "https://files.example.net/x.tgz", "y": "^1"},
    "overrides": {"a": {"b": "https://deep.example.net/b.tgz"}},
}


def test_what_a_declaration_names_is_reached_by_name_alone() -> None:
    urls = ["https://a.example.net/x-1-py3-none-any.whl", "https://index.lan/x-1-py3-none-any.whl"]
    urls += ["http://127.0.0.1:9/x.whl", "https://10.9.9.9/x.whl", "http://localhost:9/x.whl"]
    python = Needs(tuple(f"x @ {url}" for url in urls), origin="requirements.txt")
    assert allowed(needs=python) == ["a.example.net", "index.lan"]  # and no address of its
    node = Needs(
        package_json=json.dumps(MANIFEST).encode(),
        package_lock=json.dumps(LOCK).encode(),
        origin="package.json",
    )
    wanted = ["deep.example.net", "files.example.net", "old.example.net"]
    assert allowed(needs=node) == wanted


def test_what_the_caller_names_is_reached_wherever_it_is() -> None:
    needs = Needs(("x @ https://index.lan/x.whl", "y @ http://127.0.0.1:9/y.whl"), origin="--with")
    assert allowed(needs=needs) == ["10.1.2.3", "127.0.0.1:9", "[fd00::5]", "index.lan"]


def test_a_declaration_names_no_more_than_a_few_hosts() -> None:
    urls = tuple(f"x @ https://h{n}.example.net/x.whl" for n in range(10_000))
    assert len(allowed(needs=Needs(urls, origin="requirements.txt"))) == MOST_DECLARED


def test_more_hosts_are_named_by_the_user() -> None:
    env = {"WARDIAN_INDEX_HOSTS": "index.lan:8443 *.cdn.example.com 10.0.0.0/8"}
    wanted = ["*.cdn.example.com", "10.0.0.0/8", "10.1.2.3:8443", "[fd00::5]:8443"]
    assert allowed(env=env) == [*wanted, "index.lan:8443"]
    with pytest.raises(UsageError, match=r"WARDIAN_INDEX_HOSTS: '\*.com'"):
        allowed(env={"WARDIAN_INDEX_HOSTS": "*.com"})


@pytest.mark.parametrize(
    ("given", "port", "proxy"),
    [
        ({"HTTPS_PROXY": "http://p:1"}, 443, ("p", 1)),
        ({"HTTP_PROXY": "http://p:1"}, 80, ("p", 1)),
        ({"https_proxy": "http://p:1", "HTTPS_PROXY": "http://q:1"}, 443, ("p", 1)),
        ({"PIP_PROXY": "http://p:1"}, 443, ("p", 1)),
        ({"https_proxy": "http://q:1", "PIP_PROXY": "http://p:1"}, 443, ("p", 1)),
        ({"npm_config_https_proxy": "http://p:1"}, 443, ("p", 1)),
        ({"npm_config_https-proxy": "http://p:1"}, 443, ("p", 1)),
        ({"UV_HTTPS_PROXY": "http://p:1"}, 443, ("p", 1)),
        ({"https_proxy": "http://p:1"}, 8443, ("p", 1)),
        ({"https_proxy": "http://p:1", "no_proxy": "example.com"}, 443, None),
        ({"https_proxy": "http://p:1", "npm_config_noproxy": "example.com"}, 443, None),
        ({}, 443, None),
    ],
)
def test_the_gateway_dials_by_the_tool_s_proxy_and_the_tool_knows_of_none(
    given: dict[str, str], port: int, proxy: tuple[str, int] | None
) -> None:
    url = f"http{'' if port == 80 else 's'}://index.example.com:{port}/simple"
    settings = Settings({**given, "PIP_CERT": "/x"}, (), indexes=(url,))
    found = reach_of(settings, Needs(), {}, resolve)
    assert found.variables == {"PIP_CERT": "/x"}
    by = proxy_for("index.example.com", port, found.proxies)
    assert (by and (by.host, by.port)) == proxy
