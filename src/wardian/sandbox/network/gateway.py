"""The gateway of a run that has a network by name: takes the connections to the names that its
resolver gave out, dials, and moves the bytes.

One thread of the caller's process, one loop. All that it listens on lives in the guest's network;
all that it dials is outside. The guest decides which allowed name it connects to, and nothing else.
"""

from __future__ import annotations

import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import NamedTuple

from wardian.errors import UsageError
from wardian.sandbox.network.addresses import Address, parsed
from wardian.sandbox.network.askers import GuestPort, process_at
from wardian.sandbox.network.dialing import (
    Dialers,
    Dialled,
    NotDialledError,
    dial_address,
    dial_name,
    upstream,
)
from wardian.sandbox.network.first_words import NotNamedError, host_header, server_name
from wardian.sandbox.network.inside import Inside
from wardian.sandbox.network.listening import Listeners
from wardian.sandbox.network.loop import Loop
from wardian.sandbox.network.outcomes import (
    Connection,
    Outcomes,
    RefusedName,
)
from wardian.sandbox.network.relay import Allowance, Pipes, Relay, SpentError, break_off
from wardian.sandbox.network.resolver import Resolver
from wardian.sandbox.network.rules import MissingRule, NetworkRules, normal_name
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.run.result import Caller

GREETING_S = 30.0
MOST_LOOKED_UP = 20  # refusals whose process is looked for at once
# Which first words tell whom a connection is for, by port.
_GREETINGS: dict[int, Callable[[bytes], str | None]] = {80: host_header, 443: server_name}


class DialTarget(NamedTuple):
    """Where the guest connects to: a name that it was given an address for, or a number."""

    name: str | None
    address: Address
    port: int

    def __str__(self) -> str:
        return self.name if self.name is not None else str(self.address)


class _Link:
    """A connection of the guest's, from accept to its end."""

    def __init__(self, inside: socket.socket, target: DialTarget) -> None:
        self.inside, self.target, self.started_s = inside, target, time.monotonic()
        self.read_name = _GREETINGS.get(target.port) if target.name is not None else None
        self.head = b""
        self.dialled: Dialled | None = None
        self.relay: Relay | None = None
        self.over = False


class Gateway:
    """``launchers_end`` goes to the launcher; then ``start``. ``close`` ends every connection."""

    def __init__(
        self,
        rules: NetworkRules,
        policy: Policy,
        on_refused: Callable[[RefusedName, Caller | None], None] | None = None,
    ) -> None:
        self.outcomes = Outcomes(self._report)
        self._on_refused, self._launcher, self._looked_up = on_refused, 0, 0
        self._rules, self._policy = rules, policy
        self._allowances = (
            Allowance(policy.max_sent_bytes, "sent"),
            Allowance(policy.max_received_bytes, "received"),
        )
        self._inside, self._loop = Inside(), Loop()
        self.launchers_end = self._inside.launchers_end
        self._listeners = Listeners(self._inside, self._loop, self._take)
        self._resolver = Resolver(rules, self._listeners, self._loop, self.outcomes)
        self._dialers, self._pipes, self._upstream = Dialers(), Pipes(), upstream()
        self._links: set[_Link] = set()
        self._accepted: deque[float] = deque()
        self._closing = self._freed = False
        self._thread: threading.Thread | None = None

    # From any thread

    @property
    def names(self) -> Mapping[str, str]:
        """The addresses that the guest has been given, and whose they are."""
        return self._resolver.names

    def start(self, launcher: int) -> None:
        """Serve, in a thread of its own. The guest's processes are below the launcher's."""
        self._launcher = launcher
        self.launchers_end.close()
        self._thread = threading.Thread(target=self._serve, name="wardian-network", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """The run is over: end what is left, and wait for the thread. Safe to call twice."""
        self._loop.call_later(self._end)
        if self._thread is None:
            self.launchers_end.close()
            self._free()
        elif self._thread is not threading.current_thread():
            self._thread.join(timeout=10.0)

    def allow(self, rules: NetworkRules) -> None:
        """Other rules from now on; connections that they no longer allow are ended."""

        def change() -> None:
            self._rules = self._resolver.rules = rules
            for link in [one for one in self._links if not self._allows(one.target)]:
                self._drop(link, "refused", "the rule was withdrawn")

        self._loop.call_later(change)

    # The loop

    def _serve(self) -> None:
        try:
            self._resolver.serve(*self._inside.resolver())
            self._listeners.open_numbers(self._rules)
            self._loop.attend(self._inside.channel, self._end)  # the run is over
            while not self._closing:
                self._loop.turn(1.0)
                self._expire()
        except OSError:
            pass  # the run never came to have a network, or has ended
        finally:
            self._free()

    def _end(self) -> None:
        self._closing = True

    def _free(self) -> None:
        if self._freed:
            return
        self._freed = True
        for link in list(self._links):
            self._drop(link, "closed" if link.relay is not None else "broken", "the run ended")
        for part in (self._listeners, self._resolver, self._loop, self._inside):
            part.close()
        self._pipes.close()
        self._dialers.close()

    def _expire(self) -> None:
        """Who connects and says nothing, where something must be said first, is not waited for."""
        now_s = time.monotonic()
        self._resolver.expire(now_s)
        for link in [one for one in self._links if one.read_name is not None]:
            if now_s - link.started_s > GREETING_S:
                self._drop(link, "broken", "nothing was said")

    def _report(self, refused: RefusedName, source: GuestPort | None) -> None:
        caller = None
        if source is not None and self._looked_up < MOST_LOOKED_UP:
            self._looked_up += 1
            caller = process_at(self._launcher, source)
            if caller is not None:
                self.outcomes.callers[refused.name, refused.port] = caller
        if self._on_refused is not None:
            self._on_refused(refused, caller)

    # Connections

    def _take(self, inside: socket.socket) -> None:
        """One that was accepted."""
        inside.setblocking(False)
        try:
            where, port = inside.getsockname()[:2]  # whom it was meant for
            inside.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            inside.close()
            return
        target = DialTarget(self.names.get(where), parsed(where), port)
        if target.address.is_loopback and not self._rules.shares_loopback(target.address, port):
            break_off(inside)  # a server of its own that it does not have
            inside.close()
            return
        link = _Link(inside, target)
        self._links.add(link)
        why = self._why_too_much(link.started_s)
        if why is not None:
            self._refuse(link, why)
            return
        if not self._allows(target):
            reason, rule = self._missing_for(target)
            self._refuse(link, reason, rule=rule)
            return
        if link.read_name is not None:
            self._loop.attend(inside, lambda: self._on_first_words(link))
        self._dialers.submit(lambda: self._dial(link))

    def _why_too_much(self, now_s: float) -> str | None:
        while self._accepted and now_s - self._accepted[0] > 1.0:
            self._accepted.popleft()
        self._accepted.append(now_s)
        for count, most, when in (
            (len(self._links), self._policy.max_connections, "at once"),
            (len(self._accepted), self._policy.max_per_second, "in a second"),
        ):
            if most is not None and count > most:
                return f"more than {most} connections {when}"
        return None

    def _allows(self, target: DialTarget) -> bool:
        if target.name is not None:
            return self._rules.allows_name(target.name, target.port)
        return self._rules.allows_address(target.address, target.port)

    def _missing_for(self, target: DialTarget) -> MissingRule:
        if target.name is not None:
            return self._rules.missing_for_name(target.name, target.port)
        return self._rules.missing_for_address(target.address, target.port)

    def _dial(self, link: _Link) -> None:
        """In a thread of its own."""
        target = link.target
        try:
            if target.name is not None:
                dialled = dial_name(target.name, target.port, self._rules, self._upstream)
            else:
                dialled = dial_address(target.address, target.port)
        except NotDialledError as error:
            failure = error
            self._loop.call_later(lambda: self._on_failure(link, failure))
        else:
            if not self._loop.call_later(lambda: self._on_dialled(link, dialled)):
                dialled.socket.close()

    def _on_failure(self, link: _Link, error: NotDialledError) -> None:
        if link.over:
            return
        address = str(error.address) if error.address is not None else None
        if error.forbidden and error.address is not None:
            missing = self._rules.missing_for_address(error.address, link.target.port)
            self._refuse(link, error.why, address, missing.rule)
        else:
            self._drop(link, "failed", error.why, address)

    def _on_dialled(self, link: _Link, dialled: Dialled) -> None:
        if link.over:
            dialled.socket.close()
            return
        dialled.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.dialled = dialled
        if link.read_name is None:
            self._begin(link, dialled)

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
        except (NotNamedError, UsageError) as error:
            self._refuse(
                link, str(error) if isinstance(error, NotNamedError) else "it names no host"
            )
            return
        if name is None:
            return
        if name != link.target.name:  # each name has an address of its own: no rule is missing
            self._refuse(link, f"it is for {name}; connect to {name} itself")
            return
        link.read_name = None
        self._loop.forget(link.inside)
        if link.dialled is not None:
            self._begin(link, link.dialled)

    def _begin(self, link: _Link, dialled: Dialled) -> None:
        try:
            link.relay = Relay(link.inside, dialled.socket, self._allowances, link.head)
        except SpentError as error:
            self._refuse(link, str(error))
            return
        link.head = b""
        self._move(link, link.relay)

    def _move(self, link: _Link, relay: Relay) -> None:
        try:
            more = relay.move(self._pipes)
        except OSError as error:
            self._drop(link, "broken", (error.strerror or "").lower())
            return
        except SpentError as error:
            self._refuse(link, str(error))
            return
        if not more:
            self._drop(link, "closed", "")
        else:
            for end, mask in zip((relay.inside, relay.outside), relay.interests(), strict=True):
                self._loop.attend(end, lambda: self._move(link, relay), mask)

    def _refuse(
        self, link: _Link, why: str, address: str | None = None, rule: str | None = None
    ) -> None:
        target = link.target
        try:
            source = GuestPort("tcp", link.inside.getpeername()[1])
        except OSError:
            source = None  # it did not wait
        self.outcomes.refuse(
            str(target), why, port=target.port, address=address, rule=rule, source=source
        )
        self._drop(link, "refused", why, address)

    def _drop(self, link: _Link, outcome: str, reason: str, address: str | None = None) -> None:
        if link.over:
            return
        link.over = True
        self._links.discard(link)
        self._loop.forget(link.inside)
        relay, dialled, sent, came = link.relay, link.dialled, 0, 0
        if dialled is not None:
            self._loop.forget(dialled.socket)
            address = str(dialled.address) if dialled.address is not None else None
        if relay is not None:
            sent, came = relay.outward.bytes, relay.inward.bytes
            relay.close(broken=outcome != "closed")
        else:
            break_off(link.inside)
            link.inside.close()
            if dialled is not None:
                dialled.socket.close()
        self.outcomes.add(
            Connection(
                name=str(link.target),
                port=link.target.port,
                address=address,
                outcome=outcome,
                reason=reason,
                bytes_out=sent,
                bytes_in=came,
                started_s=link.started_s - self.outcomes.began_s,
                seconds=time.monotonic() - link.started_s,
                inside=str(link.target.address),
            )
        )
