"""The guest of a network by name starts when all that rules name by number is listened on."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from wardian import Policy, Sandbox
from wardian.sandbox.network.listening import Listeners
from wardian.sandbox.network.rules import NetworkRules

LATE_S = 0.5


def test_a_guest_that_connects_at_once_finds_who_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the gateway comes to it late, as on a busy machine."""
    usual = Listeners.open_numbers

    def late(self: Listeners, rules: NetworkRules) -> None:
        time.sleep(LATE_S)
        usual(self, rules)

    monkeypatch.setattr(Listeners, "open_numbers", late)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def greet() -> None:
            with server.accept()[0] as one:
                one.sendall(b"here")

        threading.Thread(target=greet, daemon=True).start()
        policy = Policy.default().but(network="names", allow_hosts=(f"127.0.0.1:{port}",))
        code = f"exec 3<>/dev/tcp/127.0.0.1/{port} && head -c 4 <&3"
        with Sandbox(policy) as sandbox:
            result = sandbox.run(["bash", "-c", code])
    assert (result.exit_code, result.stdout) == (0, b"here"), result.stderr
