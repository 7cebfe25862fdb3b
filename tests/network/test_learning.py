"""``wardian learn`` writes the names that a command reached, and proves that they are enough."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from tests.command import COMMAND
from tests.network.conftest import Internet


def learned(internet: Internet, *words: str) -> dict[str, Any]:
    target = internet.directory / "learned.toml"
    target.unlink(missing_ok=True)
    done = internet.run(*COMMAND, "learn", "-o", target, *words, timeout_s=170)
    assert done.code == 0, done.stderr
    return tomllib.loads(target.read_text())


@pytest.mark.parametrize("given", ["**.example.com", "host"])
def test_the_names_that_were_reached_are_learned(given: str, internet: Internet) -> None:
    url = "http://api.example.com/x"
    policy = learned(internet, "--net", given, "--", "curl", "-s", url)
    assert policy["network"] == {"mode": "names", "allow": ["api.example.com:80"]}
    target = internet.directory / "learned.toml"
    done = internet.exec("--policy", target, "--", "curl", "-s", url)
    assert done.document["exit_code"] == 0, done.document
    refused = internet.exec("--policy", target, "--", "curl", "-s", "http://other.example.org/")
    assert refused.visits == []


def test_a_private_address_behind_a_name_is_learned_too(internet: Internet) -> None:
    words = ("--net", "host", "--", "curl", "-s", "http://intern.example.com/x")
    policy = learned(internet, *words)
    assert policy["network"]["allow"] == ["10.9.8.7:80", "intern.example.com:80"]


@pytest.mark.long
def test_where_names_are_not_enough_the_network_stays(internet: Internet) -> None:
    code = (
        "import socket; s = socket.socket(type=socket.SOCK_DGRAM); s.settimeout(3);"
        " s.sendto(b'x', ('93.184.216.34', 9999)); print(s.recv(100))"
    )
    policy = learned(internet, "--net", "host", "--", "/usr/bin/python3", "-c", code)
    assert policy["network"]["mode"] == "host"
