"""The host's loopback: out of reach, but for a port at an address that a rule names."""

from __future__ import annotations

import pytest

from tests.network.conftest import Internet
from tests.network.internet import REACHED
from tests.network.test_bypasses import PRELUDE

FETCH = """
import socket
def fetch(address, port):
    try:
        with socket.create_connection((address, port), 5) as one:
            one.sendall(b'GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n')
            one.settimeout(2)
            while data := one.recv(4096):
                print(data)
    except OSError as error:
        print(type(error).__name__)
"""


def test_a_rule_for_a_port_of_it_reaches_that_server(internet: Internet) -> None:
    done = internet.guest(FETCH + "fetch('127.0.0.1', 8080)", "127.0.0.1:8080")
    assert REACHED in done.document["stdout"]
    assert not [one for one in done.document["refusals"] if one["kind"] == "network"]
    done = internet.guest(FETCH + "fetch('::ffff:127.0.0.1', 80)", "127.0.0.1")
    assert REACHED in done.document["stdout"]


@pytest.mark.parametrize(
    ("address", "port"),
    [("127.0.0.1", 9999), ("127.0.0.1", 80), ("127.0.0.2", 8080), ("::1", 8080), ("0.0.0.0", 9999)],
)
def test_and_no_other(address: str, port: int, internet: Internet) -> None:
    done = internet.guest(FETCH + f"fetch({address!r}, {port})", "127.0.0.1:8080")
    assert REACHED not in done.document["stdout"]
    assert done.visits == []


@pytest.mark.parametrize("port", [80, 8080])
def test_a_range_of_it_is_for_names_that_lead_there(port: int, internet: Internet) -> None:
    rules = (f"loop.example.com:{port}", f"127.0.0.0/8:{port}")
    code = f"get('loop.example.com', {port}, 'loop.example.com')\nfetch('127.0.0.1', {port})"
    done = internet.guest(PRELUDE + FETCH + code, *rules)
    assert done.document["stdout"].count(REACHED) == 1, done.document["stdout"]


def test_a_rule_against_it_holds(internet: Internet) -> None:
    policy = internet.directory / "loopback.toml"
    policy.write_text(
        '[network]\nallow = ["127.0.0.1:8080", "127.0.0.1:9999"]\ndeny = ["127.0.0.0/8:8080"]\n'
    )
    code = FETCH + "fetch('127.0.0.1', 8080)\nfetch('127.0.0.1', 9999)"
    done = internet.guest(code, options=("--policy", policy))
    assert done.document["stdout"].count(REACHED) == 1
    assert [one[0] for one in done.visits] == ["text"]


def test_other_ports_are_the_guest_s_own(internet: Internet) -> None:
    code = FETCH + (
        "own = socket.create_server(('127.0.0.1', 9999))\n"
        "with socket.create_connection(('127.0.0.1', 9999)) as one: print('own')\n"
        "try: socket.create_server(('127.0.0.1', 8080))\n"
        "except OSError: print('taken')\n"
    )
    done = internet.guest(code, "127.0.0.1:8080")
    assert done.document["stdout"] == "own\ntaken\n"
    assert done.visits == []
