"""Ports of a living sandbox: a connection to one, and one made reachable on the host's loopback.
Nothing inside is reachable unless one of these is asked for."""

from __future__ import annotations

import select
import socket
import threading
import time

from wardian.errors import PortClosed, SandboxError, UsageError
from wardian.sandbox.network.loop import Loop
from wardian.sandbox.network.relay import Allowance, Pipes, Relay
from wardian.sandbox.run.place import Place

RETRY_S = 0.02
CONNECT_S = 10.0
_LOOPBACK = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))


def checked(port: int) -> int:
    """Raises UsageError for what is no port."""
    if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 1 << 16:
        raise UsageError(f"{port!r} is no port", hint="a number from 1 to 65535")
    return port


def connected(place: Place, port: int, *, wait_s: float = 0.0) -> socket.socket:
    """A socket connected to what listens on that port of the sandbox's loopback. ``wait_s`` is how
    long to wait for it to listen. Raises PortClosed, SandboxError, UsageError."""
    checked(port)
    deadline = time.monotonic() + wait_s
    while True:
        for family, host in _LOOPBACK:
            found = _try(place, family, host, port)
            if found is not None:
                return found
        if time.monotonic() >= deadline:
            raise PortClosed(port)
        time.sleep(RETRY_S)


def _try(place: Place, family: int, host: str, port: int) -> socket.socket | None:
    """It lives in the guest's network, and is ours: no filter of the guest's is asked."""
    one = socket.socket(fileno=place.socket(family))
    one.settimeout(CONNECT_S)
    try:
        one.connect((host, port))
    except OSError:
        one.close()
        return None
    one.settimeout(None)
    return one


class Forward:
    """A port of a sandbox, reachable on 127.0.0.1 of the host until ``close``: by every user of
    this machine, as every port there. ``host_port`` says where."""

    def __init__(self, place: Place, port: int, host_port: int = 0) -> None:
        """Raises UsageError, and SandboxError if the host's port can't be had."""
        self.port = checked(port)
        if host_port:
            checked(host_port)
        self._place, self._loop, self._pipes = place, Loop(), Pipes()
        self._listener = socket.socket()
        try:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._listener.bind(("127.0.0.1", host_port))
            self._listener.listen(64)
        except OSError as error:
            self._listener.close()
            self._loop.close()
            raise SandboxError(
                f"port {host_port} of this host can't be had: {(error.strerror or '').lower()}",
                hint="omit host_port to use a free one",
            ) from None
        self._listener.setblocking(False)
        self.host_port: int = self._listener.getsockname()[1]
        self._relays: set[Relay] = set()
        self._closed = False
        self._loop.attend(self._listener, self._accept)
        self._thread = threading.Thread(target=self._serve, name="wardian-forward", daemon=True)
        self._thread.start()

    @property
    def address(self) -> tuple[str, int]:
        """Where to connect to, on the host."""
        return "127.0.0.1", self.host_port

    @property
    def url(self) -> str:
        """The same, for a web browser."""
        return f"http://127.0.0.1:{self.host_port}"

    def _serve(self) -> None:
        while not self._closed:
            self._loop.turn(1.0)
            if self._place.gone:
                break
        for relay in list(self._relays):
            self._end(relay, broken=True)
        self._loop.forget(self._listener)
        self._listener.close()
        self._loop.close()
        self._pipes.close()

    def _accept(self) -> None:
        try:
            outside, _ = self._listener.accept()
        except OSError:
            time.sleep(RETRY_S)  # no descriptor is left, say: it would be asked again at once
            return
        try:
            inside = connected(self._place, self.port)
        except (PortClosed, SandboxError):
            outside.close()  # nobody listens inside: neither does anybody here
            return
        for end in (outside, inside):
            end.setblocking(False)
        unlimited = (Allowance(None, "sent"), Allowance(None, "received"))
        relay = Relay(inside, outside, unlimited)
        self._relays.add(relay)
        self._move(relay)

    def _move(self, relay: Relay) -> None:
        try:
            goes_on = relay.move(self._pipes)
        except OSError:
            self._end(relay, broken=True)
            return
        if not goes_on:
            self._end(relay, broken=False)
            return
        for end, mask in zip((relay.inside, relay.outside), relay.interests(), strict=True):
            self._loop.attend(end, lambda: self._move(relay), mask or select.EPOLLERR)

    def _end(self, relay: Relay, *, broken: bool) -> None:
        self._relays.discard(relay)
        for end in (relay.inside, relay.outside):
            self._loop.forget(end)
        relay.close(broken=broken)

    def close(self) -> None:
        """Nobody reaches it any more; connections that are open are ended. Safe to call twice."""
        self._closed = True
        self._loop.call_later(lambda: None)
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=10.0)

    def __enter__(self) -> Forward:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"127.0.0.1:{self.host_port}"
        return f"<Forward of port {self.port} at {state}>"
