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
from typing import TYPE_CHECKING

from wardian.errors import UsageError
from wardian.sandbox.network.addresses import parsed
from wardian.sandbox.network.askers import GuestPort, process_at
from wardian.sandbox.network.asking import Answer, AskedConnection, ConnectRequest
from wardian.sandbox.network.dialing import (
    Dialers,
    Dialled,
    NotDialledError,
    dial_address,
    dial_name,
    upstream,
)
from wardian.sandbox.network.first_words import NotNamedError
from wardian.sandbox.network.in_force import RulesInForce
from wardian.sandbox.network.inside import Inside
from wardian.sandbox.network.links import DialTarget, GuestLink
from wardian.sandbox.network.listening import Listeners
from wardian.sandbox.network.loop import Loop
from wardian.sandbox.network.outcomes import (
    Connection,
    Outcomes,
    RefusedName,
)
from wardian.sandbox.network.relay import Allowance, Pipes, Relay, SpentError, break_off
from wardian.sandbox.network.resolver import Resolver
from wardian.sandbox.network.rules import TLS_PORT, MissingRule, Rule, normal_name, parse_rule
from wardian.sandbox.network.run_rules import RunRules
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.run.result import Caller

if TYPE_CHECKING:
    import asyncio

    from wardian.sandbox.network.by_request import ByRequest
    from wardian.sandbox.network.terminating import RefusedRequest, SessionEnd

GREETING_S = 30.0
MOST_LOOKED_UP = 20  # refusals whose process is looked for at once
MOST_QUESTIONS = 3  # about one connection: its port, and the addresses that its name leads to
WITHDRAWN_S = 10.0
MOST_SESSIONS = 64  # each has a thread
# What is asked about by port, where the guest can have no servers of its own: ssh, mail, the web …
ASKED_PORTS = (21, 22, 25, 80, 110, 143, 389, 443, 465, 587, 636, 853, 873, 993, 995)


class Gateway:
    """``launchers_end`` goes to the launcher; then ``start``. ``close`` ends every connection."""

    def __init__(
        self,
        network: RulesInForce,
        policy: Policy,
        on_refused: Callable[[RefusedName, Caller | None], None] | None = None,
        event_loop: asyncio.AbstractEventLoop | None = None,
        by_request: ByRequest | None = None,
    ) -> None:
        """``event_loop`` is the caller's own, for questions that are coroutines; ``by_request`` has
        the hosts whose requests are looked at."""
        self.outcomes = Outcomes(self._report)
        self._on_refused, self._launcher, self._looked_up = on_refused, 0, 0
        self._network, self._policy, self._event_loop = network, policy, event_loop
        self._by_request, self._sessions = by_request, 0
        self._rules = RunRules(network)
        self._allowances = (
            Allowance(policy.max_sent_bytes, "sent"),
            Allowance(policy.max_received_bytes, "received"),
        )
        self._inside, self._loop = Inside(), Loop()
        self.launchers_end = self._inside.launchers_end
        self._listeners = Listeners(self._inside, self._loop, self._take)
        ask = self._ask_about_name if network.asking is not None else None
        self._resolver = Resolver(self._rules.now, self._listeners, self._loop, self.outcomes, ask)
        self._dialers, self._pipes, self._upstream = Dialers(), Pipes(), upstream()
        self._links: set[GuestLink] = set()
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
        self._network.attach(self)
        self._thread = threading.Thread(target=self._serve, name="wardian-network", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """The run is over: end what is left, and wait for the thread. Safe to call twice."""
        self._network.detach(self)
        self._loop.call_later(self._end)
        if self._thread is None:
            self.launchers_end.close()
            self._free()
        elif self._thread is not threading.current_thread():
            self._thread.join(timeout=10.0)

    @property
    def ever_allowed(self) -> tuple[str, ...]:
        """Every rule that was in force during the run."""
        return self._rules.ever

    def rules_changed(self) -> None:
        """There are more."""
        self._loop.call_later(self._refresh)

    def withdraw(self, rule: Rule) -> bool:
        """It is not in force any more: end what it alone allowed, and wait for that. False if
        nothing was allowed by it here."""
        found, done = list[bool](), threading.Event()

        def change() -> None:
            found.append(self._withdraw(rule))
            done.set()

        if self._thread is threading.current_thread():
            change()
        elif self._loop.call_later(change):
            done.wait(WITHDRAWN_S)
        return any(found)

    # The loop

    def _serve(self) -> None:
        try:
            self._resolver.serve(*self._inside.resolver())
            self._listeners.open_numbers(self._rules.now)
            if self._network.asking is not None:
                self._listeners.open_everywhere(ASKED_PORTS)
            self._inside.ready()
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
            going = link.relay is not None or link.session is not None
            self._drop(link, "closed" if going else "broken", "the run ended")
        for part in (self._listeners, self._resolver, self._loop, self._inside):
            part.close()
        self._pipes.close()
        self._dialers.close()

    def _expire(self) -> None:
        """Who connects and says nothing, where something must be said first, is not waited for."""
        now_s = time.monotonic()
        self._resolver.expire(now_s)
        if self._network.asking is not None:
            self._network.asking.expire(now_s)
        if self._rules.is_due(now_s):
            self._refresh()
        for link in [one for one in self._links if one.read_name is not None]:
            if link.listened_s is not None and now_s - link.listened_s > GREETING_S:
                self._drop(link, "broken", "no data came")

    def _report(self, refused: RefusedName, source: GuestPort | None) -> None:
        caller = None
        if source is not None and self._looked_up < MOST_LOOKED_UP:
            self._looked_up += 1
            caller = process_at(self._launcher, source)
            if caller is not None:
                self.outcomes.callers[refused.name, refused.port] = caller
        if self._on_refused is not None:
            self._on_refused(refused, caller)

    # Rules that change

    def _refresh(self) -> None:
        """What is in force now, and where that can be connected to."""
        more = self._rules.refresh()
        self._resolver.rules = self._rules.now
        try:
            if more:
                self._listeners.open_numbers(self._rules.now)
                self._resolver.open_again()
        except OSError:
            pass  # its names and ports are too many: the one that is new is refused

    def _withdraw(self, rule: Rule) -> bool:
        found = self._rules.forget(rule)
        self._refresh()
        for link in [one for one in self._links if one.needs(rule, self._rules.now)]:
            self._drop(link, "refused", "the rule was withdrawn")
            found = True
        return found

    # Questions

    def _ask(
        self,
        request: ConnectRequest,
        source: GuestPort | None,
        then: Callable[[Answer, str], None],
    ) -> None:
        """``then`` gets the answer, and why it is no: in this loop."""
        asking = self._network.asking
        assert asking is not None  # noqa: S101 - else nobody asks

        def answered(asked: AskedConnection, was_put: bool) -> None:
            def go_on() -> None:
                if was_put:
                    self.outcomes.add_question(asked)
                then(asked.answer, asked.error or "the answer was no")

            self._loop.call_later(go_on)

        def find() -> Caller | None:
            return process_at(self._launcher, source) if source is not None else None

        asking.ask(request, find, answered, self._event_loop)

    def _ask_about_name(
        self, name: str, source: GuestPort | None, then: Callable[[str | None], None]
    ) -> None:
        """A name that no rule allows, and none denies. ``then`` gets why not; None: it is now."""
        reason, rule = self._rules.now.missing_for_name(name)
        assert rule is not None  # noqa: S101 - none denies it

        def answered(answer: Answer, why: str) -> None:
            if answer is Answer.ALLOW:
                self._rules.allow_once(parse_rule(rule))
                self._refresh()
            then(f"{reason}; {why}" if answer is Answer.DENY else None)

        self._ask(ConnectRequest(name, None, None, reason, rule, None), source, answered)

    def _lacks(self, link: GuestLink, missing: MissingRule, address: str | None = None) -> None:
        """A connection waits for the answer, or is refused. ``address`` is what its name led to."""
        (reason, rule), target = missing, link.target
        if rule is None or self._network.asking is None or link.questions >= MOST_QUESTIONS:
            self._refuse(link, reason, address, rule)
            return
        link.questions += 1
        link.listened_s = None
        number = address or (None if target.name is not None else str(target.address))
        request = ConnectRequest(target.name, target.port, number, reason, rule, None)

        def answered(answer: Answer, why: str) -> None:
            if link.over:
                return
            if answer is Answer.DENY:
                self._refuse(link, f"{reason}; {why}", address, rule)
                return
            if answer is Answer.ALLOW:
                link.granted += (parse_rule(rule),)
                self._rules.note(link.granted)
            self._proceed(link)

        self._ask(request, link.source, answered)

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
        if target.address.is_loopback and not self._rules.now.shares_loopback(target.address, port):
            break_off(inside)  # a server of its own that it does not have
            inside.close()
            return
        link = GuestLink(inside, target)
        self._links.add(link)
        why = self._why_too_much(link.started_s)
        if why is not None:
            self._refuse(link, why)
            return
        if not target.is_allowed(self._rules.now):
            self._lacks(link, target.missing(self._rules.now))
            return
        self._proceed(link)

    def _proceed(self, link: GuestLink) -> None:
        """It may be made."""
        if link.read_name is not None:
            link.listened_s = time.monotonic()
            self._loop.attend(link.inside, lambda: self._on_first_words(link))
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

    def _dial(self, link: GuestLink) -> None:
        """In a thread of its own."""
        target = link.target
        try:
            if target.name is not None:
                rules = self._rules.now.also(link.granted)
                dialled = dial_name(target.name, target.port, rules, self._upstream)
            else:
                dialled = dial_address(target.address, target.port)
        except NotDialledError as error:
            failure = error
            self._loop.call_later(lambda: self._on_failure(link, failure))
        else:
            if not self._loop.call_later(lambda: self._on_dialled(link, dialled)):
                dialled.socket.close()

    def _on_failure(self, link: GuestLink, error: NotDialledError) -> None:
        if link.over:
            return
        address = str(error.address) if error.address is not None else None
        if error.forbidden and error.address is not None:
            missing = self._rules.now.missing_for_address(error.address, link.target.port)
            self._lacks(link, missing._replace(reason=error.why), address)
        else:
            self._drop(link, "failed", error.why, address)

    def _on_dialled(self, link: GuestLink, dialled: Dialled) -> None:
        if link.over:
            dialled.socket.close()
            return
        dialled.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.dialled = dialled
        if link.read_name is None:
            self._begin(link, dialled)

    def _on_first_words(self, link: GuestLink) -> None:
        """Until they name whom they are for; nothing of them has gone out before."""
        assert link.read_name is not None  # noqa: S101 - else nobody reads them
        try:
            piece = link.inside.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            self._drop(link, "closed", "no data came")
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

    def _begin(self, link: GuestLink, dialled: Dialled) -> None:
        name = link.target.name
        if self._by_request is not None and name is not None and self._by_request.has(name):
            self._begin_session(link, dialled, name, self._by_request)
            return
        try:
            link.relay = Relay(link.inside, dialled.socket, self._allowances, link.head)
        except SpentError as error:
            self._refuse(link, str(error))
            return
        link.head = b""
        self._move(link, link.relay)

    def _begin_session(
        self, link: GuestLink, dialled: Dialled, name: str, by_request: ByRequest
    ) -> None:
        """Its requests are looked at: a thread has both sockets from now on."""
        if self._sessions >= MOST_SESSIONS:
            self._refuse(
                link, f"more than {MOST_SESSIONS} connections whose requests are looked at"
            )
            return
        self._sessions += 1

        def on_refused(request: RefusedRequest) -> None:
            self._loop.call_later(lambda: self.outcomes.refuse_request(name, request))

        def on_end(end: SessionEnd) -> None:
            def over() -> None:
                self._sessions -= 1
                self._drop(link, end.outcome, end.reason)

            self._loop.call_later(over)

        link.session = by_request.session(
            name,
            link.inside,
            link.head,
            dialled,
            redial=lambda: dial_name(
                name, TLS_PORT, self._rules.now.also(link.granted), self._upstream
            ),
            allowances=self._allowances,
            on_refused=on_refused,
            on_end=on_end,
        )
        link.head = b""
        link.session.start()

    def _move(self, link: GuestLink, relay: Relay) -> None:
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
        self, link: GuestLink, why: str, address: str | None = None, rule: str | None = None
    ) -> None:
        target = link.target
        self.outcomes.refuse(
            str(target), why, port=target.port, address=address, rule=rule, source=link.source
        )
        self._drop(link, "refused", why, address)

    def _drop(self, link: GuestLink, outcome: str, reason: str, address: str | None = None) -> None:
        if link.over:
            return
        link.over = True
        self._links.discard(link)
        relay, dialled, sent, came = link.relay, link.dialled, 0, 0
        if link.session is None:
            self._loop.forget(link.inside)
            if dialled is not None:
                self._loop.forget(dialled.socket)
        if dialled is not None:
            address = str(dialled.address) if dialled.address is not None else None
        if link.session is not None:
            link.session.stop()
            sent, came = link.session.sent, link.session.received
        elif relay is not None:
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
