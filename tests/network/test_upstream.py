"""The host's own way out: its proxy, as its variables name it."""

from __future__ import annotations

import pytest

from tests.network.conftest import Internet
from tests.network.internet import OTHER, PUBLIC, REACHED
from tests.network.test_bypasses import API, PRELUDE
from wardian.sandbox.network.dialing import proxy_for

PROXY = dict.fromkeys(("http_proxy", "https_proxy"), f"http://{OTHER}:3128")


def test_the_host_s_proxy_dials_what_rules_allow(internet: Internet) -> None:
    for code, port in (
        ("get('api.example.com')", 80),
        ("secure('api.example.com', 'api.example.com')", 443),
    ):
        done = internet.guest(PRELUDE + code, API, env=PROXY)
        assert REACHED in done.document["stdout"], code
        assert ["tunnel", OTHER, f"{API}:{port}"] in done.seen
        assert done.document["connections"][0]["address"] is None


def test_the_guest_is_not_told_of_it(internet: Internet) -> None:
    done = internet.guest("import os; print(dict(os.environ))", API, env=PROXY)
    assert "proxy" not in done.document["stdout"].lower()


def test_rules_hold_with_a_proxy_too(internet: Internet) -> None:
    for code in ("get('other.example.org')", "secure('api.example.com', 'other.example.org')"):
        done = internet.guest(PRELUDE + code, API, env=PROXY)
        assert REACHED not in done.document["stdout"]
        assert not [one for one in done.visits if one[0] != "tunnel"]


def test_names_that_no_proxy_has_are_dialled_directly(internet: Internet) -> None:
    env = {**PROXY, "no_proxy": "localhost, .example.com"}
    done = internet.guest(PRELUDE + "get('api.example.com')", API, env=env)
    assert REACHED in done.document["stdout"]
    assert {one[1] for one in done.visits} == {PUBLIC}


def test_a_proxy_that_is_not_there_is_a_failure_with_its_reason(internet: Internet) -> None:
    env = {"http_proxy": "http://127.0.0.1:9"}
    done = internet.guest(PRELUDE + "get('api.example.com')", API, env=env)
    (one,) = done.document["connections"]
    assert one["outcome"] == "failed"
    assert "this host's proxy" in one["reason"]


@pytest.mark.parametrize(
    ("port", "values", "wanted"),
    [
        (443, {"https_proxy": "http://p:3128"}, ("p", 3128)),
        (443, {"HTTPS_PROXY": "p"}, ("p", 80)),
        (443, {"http_proxy": "http://p:1"}, None),
        (80, {"http_proxy": "http://p:1"}, ("p", 1)),
        (80, {"HTTP_PROXY": "http://p:1"}, None),
        (5432, {"https_proxy": "http://p:1"}, None),
        (5432, {"all_proxy": "http://p:1"}, ("p", 1)),
        (443, {"https_proxy": "socks5://p:1"}, None),
        (443, {"https_proxy": "http://p:1", "no_proxy": "*"}, None),
        (443, {"https_proxy": "http://p:1", "no_proxy": "ample.com"}, ("p", 1)),
        (443, {"https_proxy": "http://p:1", "no_proxy": "x, .example.com"}, None),
        (443, {}, None),
    ],
)
def test_which_proxy_is_whose(
    port: int, values: dict[str, str], wanted: tuple[str, int] | None
) -> None:
    found = proxy_for("api.example.com", port, values)
    assert (found and (found.host, found.port)) == wanted


def test_a_proxy_s_password_is_sent_to_it_alone() -> None:
    found = proxy_for(API, 443, {"https_proxy": "http://me:p%40ss@p:1"})
    assert found is not None
    assert found.headers == {"Proxy-Authorization": "Basic bWU6cEBzcw=="}
