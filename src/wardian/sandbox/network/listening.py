"""Where the gateway listens in the guest's network: on the addresses of names and of numbers."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable, Iterable

from wardian.sandbox.network.inside import Inside
from wardian.sandbox.network.loop import Loop
from wardian.sandbox.network.rules import AddressRule, NetworkRules, Ports, each_port

BACKLOG = 512
FEW = 16  # addresses of one rule that are listened on one by one
LOW_PORTS = 1024  # which no guest can take itself
MOST_LISTENERS = 256
AT_ONCE = 64
_FULL = (errno.EMFILE, errno.ENFILE)

Taker = Callable[[socket.socket], None]


class Listeners:
    """``take`` gets each connection. Ports below 1024 are listened on at every address at once, for
    the guest can have no servers of its own there; others at each address that needs it."""

    def __init__(self, inside: Inside, loop: Loop, take: Taker) -> None:
        self._inside, self._loop, self._take = inside, loop, take
        self._sockets: list[socket.socket] = []
        self._at: set[tuple[str, int]] = set()
        self._everywhere: set[tuple[int, int]] = set()  # version of IP, port
        self._spare = os.open("/", os.O_PATH | os.O_CLOEXEC)

    def open_numbers(self, rules: NetworkRules) -> None:
        """What rules name by number. Raises OSError."""
        for rule in rules.allow:
            if not isinstance(rule, AddressRule) or (rule.network.is_loopback and not rule.single):
                continue  # a range of loopback is for names that lead there
            few = rule.network.num_addresses <= FEW
            for address in rule.network if few else (rule.network.network_address,):
                self.open(str(address), each_port(rule.ports), everywhere=not few)

    def open_everywhere(self, ports: Iterable[int]) -> None:
        """At every address of both kinds. Raises OSError."""
        for address in ("0.0.0.0", "::"):  # noqa: S104 - of the guest's own network
            self.open(address, ports, everywhere=True)

    def open_name(self, address: str, ports: Ports) -> None:
        """A name's own. Raises OSError."""
        self.open(address, each_port(ports))

    def open(self, address: str, ports: Iterable[int], *, everywhere: bool = False) -> None:
        """Raises OSError."""
        version = 6 if ":" in address else 4
        for port in ports:
            if (version, port) in self._everywhere or (address, port) in self._at:
                continue
            if everywhere or port < LOW_PORTS:
                self._listen("::" if version == 6 else "0.0.0.0", port)  # noqa: S104
                self._everywhere.add((version, port))
            else:
                self._listen(address, port)
                self._at.add((address, port))

    def close(self) -> None:
        for one in self._sockets:
            one.close()
        os.close(self._spare)

    def _listen(self, address: str, port: int) -> None:
        if len(self._sockets) >= MOST_LISTENERS:
            raise OSError(errno.EMFILE, "its names and ports are too many")
        listener = self._inside.stream("6" if ":" in address else "4")
        try:
            if ":" in address:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind((address, port))
            listener.listen(BACKLOG)
            listener.setblocking(False)
        except OSError:
            listener.close()
            raise
        self._sockets.append(listener)
        self._loop.attend(listener, lambda: self._accept(listener))

    def _accept(self, listener: socket.socket) -> None:
        for _ in range(AT_ONCE):
            try:
                one, _ = listener.accept()
            except OSError as error:
                if error.errno in _FULL:
                    self._turn_away(listener)
                return
            self._take(one)

    def _turn_away(self, listener: socket.socket) -> None:
        """This process has no descriptor left: the spare one takes it, and lets it go."""
        os.close(self._spare)
        try:
            listener.accept()[0].close()
        except OSError:
            pass
        self._spare = os.open("/", os.O_PATH | os.O_CLOEXEC)
