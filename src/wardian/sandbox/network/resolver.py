"""The guest's resolver: an allowed name gets an address of its own in the guest's network, any
other does not exist. No question ever leaves the host."""

from __future__ import annotations

import functools
import socket
import time
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network

from wardian.errors import UsageError
from wardian.sandbox.network import dns
from wardian.sandbox.network.askers import GuestPort
from wardian.sandbox.network.listening import Listeners
from wardian.sandbox.network.loop import Loop
from wardian.sandbox.network.outcomes import Outcomes
from wardian.sandbox.network.rules import NetworkRules, normal_name

# Addresses for measurements of networks (RFC 2544), which no host has: names get theirs from it.
SYNTHETIC = IPv4Network("198.18.0.0/15")
MOST_NAMES = 1 << 16
MOST_STREAMS = 32  # questions by TCP, at once
IDLE_S = 10.0
DNS_BYTES = 4096
AT_ONCE = 64
_LOOPBACK = IPv4Address("127.0.0.1").packed
# What programs ask that want to connect there.
_CONNECTING = (dns.A, dns.AAAA, dns.HTTPS, dns.ANY)

# About a name that no rule allows: calls back with why it may not be known, or None if it may now.
AskAbout = Callable[[str, GuestPort | None, Callable[[str | None], None]], None]
Reply = Callable[[bytes | None], None]


class Resolver:
    """Answers on two sockets of the guest's."""

    def __init__(
        self,
        rules: NetworkRules,
        listeners: Listeners,
        loop: Loop,
        outcomes: Outcomes,
        ask: AskAbout | None = None,
    ) -> None:
        self.rules, self._ask = rules, ask
        self._listeners, self._loop, self._outcomes = listeners, loop, outcomes
        self._addresses: dict[str, IPv4Address] = {}
        self.names: dict[str, str] = {}  # synthetic address → name
        self._sockets: tuple[socket.socket, ...] = ()
        self._streams: dict[socket.socket, float] = {}  # since when each is idle
        self._waiting: dict[socket.socket, int] = {}  # for how many answers each waits

    def serve(self, udp: socket.socket, tcp: socket.socket) -> None:
        """From now on."""
        self._sockets = (udp, tcp)
        for one in self._sockets:
            one.setblocking(False)
        self._loop.attend(udp, lambda: self._on_datagrams(udp))
        self._loop.attend(tcp, lambda: self._on_stream(tcp))

    def expire(self, now_s: float) -> None:
        """Whoever connects and asks nothing is not waited for."""
        for one, since_s in list(self._streams.items()):
            if now_s - since_s > IDLE_S and one not in self._waiting:
                self._hang_up(one)

    def close(self) -> None:
        for one in (*self._sockets, *self._streams):
            one.close()

    def _on_datagrams(self, udp: socket.socket) -> None:
        for _ in range(AT_ONCE):
            try:
                packet, who = udp.recvfrom(DNS_BYTES)
            except BlockingIOError:
                return
            except OSError:
                continue  # it asks again
            self._respond(packet, GuestPort("udp", who[1]), functools.partial(_send, udp, who))

    def _on_stream(self, tcp: socket.socket) -> None:
        if len(self._streams) >= MOST_STREAMS:
            idle = [other for other in self._streams if other not in self._waiting]
            self._hang_up(min(idle or self._streams, key=self._streams.__getitem__))
        try:
            one, _ = tcp.accept()
        except OSError:
            return
        one.setblocking(False)
        self._streams[one] = time.monotonic()
        data = bytearray()
        self._loop.attend(one, lambda: self._on_bytes(one, data))

    def _on_bytes(self, one: socket.socket, data: bytearray) -> None:
        """``data`` is what came before, and is not a whole question yet."""
        try:
            piece = one.recv(DNS_BYTES)
            source = GuestPort("tcp", one.getpeername()[1])
        except BlockingIOError:
            return
        except OSError:
            self._hang_up(one)
            return
        data += piece
        while piece and len(data) >= 2 and len(data) >= 2 + (size := data[0] << 8 | data[1]):
            packet = bytes(data[2 : 2 + size])
            del data[: 2 + size]
            self._waiting[one] = self._waiting.get(one, 0) + 1
            self._respond(packet, source, functools.partial(self._send_back, one))
            if one not in self._streams:
                return
        if not piece:
            self._hang_up(one)

    def _send_back(self, one: socket.socket, reply: bytes | None) -> None:
        if one not in self._streams:
            return  # it did not wait
        left = self._waiting.pop(one, 1) - 1
        if left:
            self._waiting[one] = left
        self._streams[one] = time.monotonic()
        try:
            if reply is not None and one.send(len(reply).to_bytes(2, "big") + reply) > 0:
                return
        except OSError:
            pass  # it does not read its answers
        self._hang_up(one)

    def _hang_up(self, one: socket.socket) -> None:
        del self._streams[one]
        self._waiting.pop(one, None)
        self._loop.forget(one)
        one.close()

    def _respond(self, packet: bytes, source: GuestPort, reply: Reply) -> None:
        """At once, or when it has been asked whether the name may be known."""
        name = self._to_be_asked(packet)
        if name is None or self._ask is None:
            reply(self.answer(packet, source))
            return

        def answered(why: str | None) -> None:
            reply(self.answer(packet, source, why))

        self._ask(name, source, answered)

    def _to_be_asked(self, packet: bytes) -> str | None:
        question = dns.question_of(packet) if self._ask is not None else None
        if question is None or question.klass != dns.IN or question.type not in _CONNECTING:
            return None
        try:
            name = normal_name(question.name)
        except UsageError:
            return None
        if name == "localhost" or name.endswith(".localhost") or self.rules.ports_of(name):
            return None
        return None if self.rules.missing_for_name(name).rule is None else name

    def open_again(self) -> None:
        """Names that are known may have more ports by now. Raises OSError."""
        for name, address in self._addresses.items():
            self._listeners.open_name(str(address), self.rules.ports_of(name))

    def answer(
        self, packet: bytes, source: GuestPort | None = None, why_not: str | None = None
    ) -> bytes | None:
        """None where there is nothing to answer to. ``why_not`` is the outcome of a question."""
        question = dns.question_of(packet)
        if question is None:
            return dns.malformed(packet)
        try:
            name = normal_name(question.name)
        except UsageError:
            return dns.answer(question, dns.NXDOMAIN)
        if question.klass != dns.IN:
            return dns.answer(question, dns.REFUSED)
        if name == "localhost" or name.endswith(".localhost"):
            return dns.answer(question, dns.NOERROR, _LOOPBACK if question.type == dns.A else None)
        if not self.rules.ports_of(name):
            reason, rule = self.rules.missing_for_name(name)
            self._outcomes.refuse(name, why_not or reason, rule=rule, source=source)
            return dns.answer(question, dns.NXDOMAIN)
        if question.type not in (dns.A, dns.ANY):
            return dns.answer(question, dns.NOERROR)  # AAAA above all: use the other one
        address = self._address_of(name)
        if address is None:
            return dns.answer(question, dns.SERVFAIL)
        return dns.answer(question, dns.NOERROR, address.packed)

    def _address_of(self, name: str) -> IPv4Address | None:
        """Its own in the guest, listened on before anyone knows of it."""
        found = self._addresses.get(name)
        if found is not None:
            return found
        if len(self._addresses) >= MOST_NAMES:
            self._outcomes.refuse(name, f"a run may look up {MOST_NAMES} allowed names")
            return None
        address = IPv4Address(int(SYNTHETIC.network_address) + len(self._addresses) + 1)
        try:
            self._listeners.open_name(str(address), self.rules.ports_of(name))
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            self._outcomes.refuse(name, f"no more names can be had: {why}")
            return None
        self._addresses[name] = address
        self.names[str(address)] = name
        return address


def _send(udp: socket.socket, who: tuple[str, int], reply: bytes | None) -> None:
    try:
        if reply is not None:
            udp.sendto(reply, who)
    except OSError:
        pass  # it asks again
