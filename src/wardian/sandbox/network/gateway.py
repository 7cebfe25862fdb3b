"""The gateway of a run that has a network by name: answers its questions for names, takes the
connections to them, dials, and moves the bytes.

One thread of the caller's process, one loop. All that it listens on lives in the guest's network;
all that it dials is outside. The guest decides which allowed name it connects to, and nothing else.
"""

from __future__ import annotations

import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network
from typing import NamedTuple

from wardian.errors import UsageError
from wardian.sandbox.network import dns
from wardian.sandbox.network.addresses import Address, parsed
from wardian.sandbox.network.dialing import (
    Dialers,
    Dialled,
    NotDialledError,
    dial_address,
    dial_name,
)
from wardian.sandbox.network.first_words import NotNamedError, host_header, server_name
from wardian.sandbox.network.inside import Inside
from wardian.sandbox.network.relay import Pipes, Relay, break_off
from wardian.sandbox.network.rules import AddressRule, NetworkRules, each_port, normal_name

# Addresses for measurements of networks (RFC 2544), which no host has: names get theirs from it.
SYNTHETIC = IPv4Network("198.18.0.0/15")
MOST_NAMES = 1024
MOST_EVENTS = 1000  # of connections and of refusals, in the result
GREETING_S = 30.0
BACKLOG = 256
FEW = 16  # addresses of one rule that are listened on one by one
DNS_BYTES = 4096
# Which first words tell whom a connection is for, by port.
_GREETINGS: dict[int, Callable[[bytes], str | None]] = {80: host_header, 443: server_name}


class GatewayLimits(NamedTuple):
    """What one run may use; None means no limit."""

    connections: int = 512  # at once
    per_second: int = 256
    bytes_out: int | None = None
    bytes_in: int | None = None


DEFAULT_LIMITS = GatewayLimits()


class Connection(NamedTuple):
    """One that was made, or was to be made. ``outcome`` is ``closed``, ``broken``, ``refused``
    or ``failed``."""

    name: str
    port: int
    address: str | None
    outcome: str
    reason: str
    bytes_out: int
    bytes_in: int
    started_s: float  # since the run began
    seconds: float


class RefusedName(NamedTuple):
    """A name, or a name and a port, that no rule allows, or that may not be reached after all."""

    name: str
    port: int | None
    address: str | None
    reason: str
    at_s: float
    wanted: str | None = None  # the name that the connection was for, in its own words
    times: int = 1


class DialTarget(NamedTuple):
    """Where the guest connects to: a name that it was given an address for, or a number."""

    name: str | None
    address: Address
    port: int

    def __str__(self) -> str:
        return self.name if self.name is not None else str(self.address)


class _Link:
    """A connection of the guest's, from accept to its end."""

    def __init__(self, inside: socket.socket, target: DialTarget, now_s: float) -> None:
        self.inside, self.target, self.started_s = inside, target, now_s
        self.read_name = _GREETINGS.get(target.port) if target.name is not None else None
        self.head = b""
        self.dialled: Dialled | None = None
        self.relay: Relay | None = None
        self.masks: dict[int, int] = {}
        self.over = False


class Gateway:
    """``launchers_end`` goes to the launcher; then ``start``. ``close`` ends every connection."""

    def __init__(self, rules: NetworkRules, limits: GatewayLimits = DEFAULT_LIMITS) -> None:
        self.rules, self._limits = rules, limits
        self._inside = Inside()
        self.launchers_end = self._inside.launchers_end
        self._epoll = select.epoll()
        self._on: dict[int, Callable[[int], None]] = {}
        self._wake, self._waker = socket.socketpair()
        self._later: deque[Callable[[], None]] = deque()
        self._dialers, self._pipes = Dialers(), Pipes()
        self._addresses: dict[str, IPv4Address] = {}
        self.names: dict[str, str] = {}  # synthetic address → name
        self._listeners: list[socket.socket] = []
        self._listening: set[tuple[str, int]] = set()
        self._everywhere: set[int] = set()  # ports that are listened on at every address
        self._links: set[_Link] = set()
        self._accepted: deque[float] = deque()
        self._began_s = time.monotonic()
        self._closing = False
        self._totals = [0, 0]
        self.connections: list[Connection] = []
        self.refused: dict[tuple[str, int | None, str], RefusedName] = {}
        self._thread: threading.Thread | None = None

    # From any thread

    def start(self) -> None:
        """Serve, in a thread of its own."""
        self.launchers_end.close()
        self._thread = threading.Thread(target=self._serve, name="wardian-network", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """The run is over: end what is left, and wait for the thread. Safe to call twice."""
        self._call_later(self._end)
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=10.0)
        elif self._thread is None:
            self.launchers_end.close()
            self._free()

    def allow(self, rules: NetworkRules) -> None:
        """Other rules from now on; connections that they no longer allow are ended."""

        def change() -> None:
            self.rules = rules
            for link in list(self._links):
                if not self._allows(link):
                    self._drop(link, "refused", "the rule was withdrawn")

        self._call_later(change)

    def _call_later(self, job: Callable[[], None]) -> None:
        self._later.append(job)
        try:
            self._waker.send(b".")
        except OSError:
            pass  # it is over

    # The loop

    def _serve(self) -> None:
        try:
            udp, tcp = self._inside.resolver()
            self._attend(udp, lambda _: self._on_datagrams(udp))
            self._attend(tcp, lambda _: self._on_dns_connections(tcp))
            self._attend(self._wake, lambda _: self._on_wake())
            self._listeners += [udp, tcp]
            self._open_numbers()
            self._stock_up()
            while not self._closing:
                for fd, events in self._epoll.poll(1.0):
                    handler = self._on.get(fd)
                    if handler is not None:
                        handler(events)
                self._expire()
        except OSError:
            pass  # the run never came to have a network, or has ended
        finally:
            self._free()

    def _attend(self, one: socket.socket, handler: Callable[[int], None]) -> None:
        one.setblocking(False)
        self._on[one.fileno()] = handler
        self._epoll.register(one, select.EPOLLIN)

    def _forget(self, fd: int) -> None:
        if self._on.pop(fd, None) is not None:
            self._epoll.unregister(fd)

    def _on_wake(self) -> None:
        try:
            self._wake.recv(4096)
        except BlockingIOError:
            pass
        while self._later:
            self._later.popleft()()

    def _end(self) -> None:
        self._closing = True

    def _free(self) -> None:
        for link in list(self._links):
            self._drop(link, "closed" if link.relay is not None else "broken", "the run ended")
        for one in (*self._listeners, self._wake, self._waker):
            one.close()
        self._epoll.close()
        self._inside.close()
        self._pipes.close()
        self._dialers.close()

    # Names

    def _on_datagrams(self, udp: socket.socket) -> None:
        for _ in range(64):
            try:
                packet, who = udp.recvfrom(DNS_BYTES)
            except OSError:
                return
            reply = self._answer(packet)
            if reply is not None:
                try:
                    udp.sendto(reply, who)
                except OSError:
                    pass  # it asks again

    def _on_dns_connections(self, tcp: socket.socket) -> None:
        try:
            one, _ = tcp.accept()
        except OSError:
            return
        data = bytearray()

        def take(_: int) -> None:
            try:
                piece = one.recv(DNS_BYTES)
            except BlockingIOError:
                return
            except OSError:
                piece = b""
            data.extend(piece)
            size = int.from_bytes(data[:2], "big")
            if piece and len(data) < 2 + size:
                return
            reply = self._answer(bytes(data[2 : 2 + size])) if piece and size else None
            if reply is None:
                self._forget(one.fileno())
                one.close()
                return
            del data[: 2 + size]
            try:
                one.send(len(reply).to_bytes(2, "big") + reply)
            except OSError:
                pass  # its next packet tells

        self._attend(one, take)

    def _answer(self, packet: bytes) -> bytes | None:
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
            loopback = IPv4Address("127.0.0.1").packed if question.type == dns.A else None
            return dns.answer(question, dns.NOERROR, loopback)
        if not self.rules.ports_of(name):
            self._refuse(name, None, None, "no rule allows this name")
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
            self._refuse(name, None, None, f"a run may look up {MOST_NAMES} allowed names")
            return None
        address = IPv4Address(int(SYNTHETIC.network_address) + len(self._addresses) + 1)
        try:
            for port in each_port(self.rules.ports_of(name)):
                if port not in self._everywhere:
                    self._listen(str(address), port)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            self._refuse(name, None, None, f"no more names can be had: {why}")
            return None
        self._addresses[name] = address
        self.names[str(address)] = name
        self._call_later(self._stock_up)
        return address

    def _stock_up(self) -> None:
        try:
            self._inside.stock_up()
        except OSError:
            pass  # the next name gets none, and says so

    def _open_numbers(self) -> None:
        """Listen on the addresses that rules name by number: each, or where they are many, on the
        port everywhere. Raises OSError."""
        for rule in self.rules.allow:
            if not isinstance(rule, AddressRule) or rule.network.is_loopback:
                continue
            for port in each_port(rule.ports):
                if rule.network.num_addresses > FEW:
                    self._everywhere.add(port)
                    self._listen("0.0.0.0" if rule.network.version == 4 else "::", port)  # noqa: S104
                    continue
                for address in rule.network:
                    self._listen(str(address), port)

    def _listen(self, address: str, port: int) -> None:
        """Raises OSError."""
        if (address, port) in self._listening:
            return
        listener = self._inside.stream("6" if ":" in address else "4")
        try:
            if ":" in address:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind((address, port))
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            raise
        self._listening.add((address, port))
        self._listeners.append(listener)
        self._attend(listener, lambda _: self._accept(listener))

    # Connections

    def _accept(self, listener: socket.socket) -> None:
        for _ in range(16):
            try:
                inside, _ = listener.accept()
            except OSError:
                return
            try:
                where, port = inside.getsockname()[:2]  # whom it was meant for
            except OSError:
                inside.close()
                continue
            self._take(inside, DialTarget(self.names.get(where), parsed(where), port))

    def _take(self, inside: socket.socket, target: DialTarget) -> None:
        inside.setblocking(False)
        inside.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        now_s = time.monotonic()
        link = _Link(inside, target, now_s)
        self._links.add(link)
        while self._accepted and now_s - self._accepted[0] > 1.0:
            self._accepted.popleft()
        self._accepted.append(now_s)
        why = self._why_too_much()
        if why is None and not self._allows(link):
            why = "no rule allows it any more"
        if why is not None:
            self._refuse_link(link, why)
            return
        if link.read_name is not None:
            self._watch(link, inside, select.EPOLLIN)
        self._dialers.submit(lambda: self._dial(link))

    def _why_too_much(self) -> str | None:
        if len(self._links) > self._limits.connections:
            return f"more than {self._limits.connections} connections at once"
        if len(self._accepted) > self._limits.per_second:
            return f"more than {self._limits.per_second} connections in a second"
        return None

    def _allows(self, link: _Link) -> bool:
        target = link.target
        if target.name is not None:
            return self.rules.allows_name(target.name, target.port)
        return self.rules.allows_address(target.address, target.port)

    def _dial(self, link: _Link) -> None:
        """In a thread of its own."""
        try:
            if link.target.name is not None:
                dialled = dial_name(link.target.name, link.target.port, self.rules)
            else:
                dialled = dial_address(link.target.address, link.target.port)
        except NotDialledError as error:
            failure = error
            self._call_later(lambda: self._on_failure(link, failure))
        else:
            self._call_later(lambda: self._on_dialled(link, dialled))

    def _on_failure(self, link: _Link, error: NotDialledError) -> None:
        if link.over:
            return
        address = str(error.address) if error.address is not None else None
        if error.forbidden:
            self._refuse_link(link, error.why, address)
        else:
            self._drop(link, "failed", error.why, address)

    def _on_dialled(self, link: _Link, dialled: Dialled) -> None:
        if link.over:
            dialled.socket.close()
            return
        dialled.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.dialled = dialled
        if link.read_name is None:
            self._begin(link)

    def _on_first_words(self, link: _Link) -> None:
        """Until they name whom they are for; nothing of them has gone out before."""
        assert link.read_name is not None  # noqa: S101 - else nobody reads them
        try:
            piece = link.inside.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            self._drop(link, "closed", "nothing was said")
            return
        link.head += piece
        try:
            said = link.read_name(link.head)
            name = normal_name(said) if said is not None else None
        except NotNamedError as error:
            self._refuse_link(link, str(error))
            return
        except UsageError:
            self._refuse_link(link, "it names no host")
            return
        if name is None:
            return
        if name != link.target.name and not self.rules.allows_name(name, link.target.port):
            self._refuse_link(link, f"it is for {name}", wanted=name)
            return
        link.read_name = None
        self._watch(link, link.inside, 0)
        if link.dialled is not None:
            self._begin(link)

    def _begin(self, link: _Link) -> None:
        assert link.dialled is not None  # noqa: S101 - or nobody calls
        link.relay = Relay(link.inside, link.dialled.socket, link.head)
        link.head = b""
        self._move(link)

    def _move(self, link: _Link) -> None:
        relay = link.relay
        if relay is None:
            self._on_first_words(link)
            return
        before = relay.outward.bytes, relay.inward.bytes
        try:
            more = relay.move(self._pipes)
        except OSError as error:
            self._drop(link, "broken", (error.strerror or "").lower())
            return
        self._totals[0] += relay.outward.bytes - before[0]
        self._totals[1] += relay.inward.bytes - before[1]
        why = self._why_too_many_bytes()
        if why is not None:
            self._refuse_link(link, why)
        elif not more:
            self._drop(link, "closed", "")
        else:
            inside, outside = relay.interests()
            self._watch(link, relay.inside, inside)
            self._watch(link, relay.outside, outside)

    def _why_too_many_bytes(self) -> str | None:
        for spent, most, way in zip(
            self._totals,
            (self._limits.bytes_out, self._limits.bytes_in),
            ("out", "in"),
            strict=True,
        ):
            if most is not None and spent > most:
                return f"more than {most} bytes went {way}"
        return None

    def _watch(self, link: _Link, end: socket.socket, mask: int) -> None:
        fd = end.fileno()
        if link.masks.get(fd) == mask:
            return
        if mask == 0:
            if fd in link.masks:
                self._forget(fd)
                del link.masks[fd]
            return
        if fd in link.masks:
            self._epoll.modify(fd, mask)
        else:
            self._on[fd] = lambda _: self._move(link)
            self._epoll.register(fd, mask)
        link.masks[fd] = mask

    def _drop(self, link: _Link, outcome: str, reason: str, address: str | None = None) -> None:
        if link.over:
            return
        link.over = True
        self._links.discard(link)
        for fd in link.masks:
            self._forget(fd)
        relay, sent, came = link.relay, 0, 0
        if relay is not None:
            sent, came = relay.outward.bytes, relay.inward.bytes
            relay.close(broken=outcome != "closed")
        else:
            break_off(link.inside)
            link.inside.close()
            if link.dialled is not None:
                link.dialled.socket.close()
        if link.dialled is not None and link.dialled.address is not None:
            address = str(link.dialled.address)
        if len(self.connections) < MOST_EVENTS:
            self.connections.append(
                Connection(
                    name=str(link.target),
                    port=link.target.port,
                    address=address,
                    outcome=outcome,
                    reason=reason,
                    bytes_out=sent,
                    bytes_in=came,
                    started_s=link.started_s - self._began_s,
                    seconds=time.monotonic() - link.started_s,
                )
            )

    def _expire(self) -> None:
        """Who connects and says nothing, where something must be said first, is not waited for."""
        now_s = time.monotonic()
        for link in [one for one in self._links if one.read_name is not None]:
            if now_s - link.started_s > GREETING_S:
                self._drop(link, "broken", "nothing was said")

    def _refuse_link(
        self, link: _Link, why: str, address: str | None = None, wanted: str | None = None
    ) -> None:
        self._refuse(str(link.target), link.target.port, address, why, wanted)
        self._drop(link, "refused", why, address)

    def _refuse(
        self,
        name: str,
        port: int | None,
        address: str | None,
        reason: str,
        wanted: str | None = None,
    ) -> None:
        key = (name, port, reason)
        before = self.refused.get(key)
        if before is not None:
            self.refused[key] = before._replace(times=before.times + 1)
        elif len(self.refused) < MOST_EVENTS:
            at_s = time.monotonic() - self._began_s
            self.refused[key] = RefusedName(name, port, address, reason, at_s, wanted)
