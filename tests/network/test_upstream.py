"""The host's own way out: its proxy, as its variables name it."""

from __future__ import annotations

from tests.network.conftest import Internet
from tests.network.internet import OTHER, PUBLIC, REACHED
from tests.network.test_bypasses import API, PRELUDE

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
