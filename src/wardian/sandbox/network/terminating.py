"""One connection to a host whose requests are looked at: TLS is ended here, each request is parsed,
checked and written anew (h11), and goes to the real host in a connection whose certificate is
verified. A thread of its own; memory is bounded both ways."""

from __future__ import annotations

import select
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import h11

from wardian.sandbox.network.dialing import Dialled, NotDialledError
from wardian.sandbox.network.relay import Allowance, SpentError, break_off
from wardian.sandbox.network.requests import (
    HOP_HEADERS,
    METHOD_HEADERS,
    PATH_HEADERS,
    verdict,
)
from wardian.sandbox.network.tls_end import MOST_WAITING, TlsEnd

if TYPE_CHECKING:
    from wardian.sandbox.policy.policy import TlsRule

HANDSHAKE_S = 30.0
IDLE_S = 300.0  # between requests
LINGER_S = 2.0
LONGEST_HEAD = 1 << 16
# Not passed on: where else a server would have the request go, or be reached.
_DROPPED = frozenset((*HOP_HEADERS, "alt-svc", "forwarded", "x-forwarded-host"))

Headers = list[tuple[bytes, bytes]]


class HostRequests(NamedTuple):
    """What may be asked of a host. ``secrets`` are headers with their values."""

    name: str
    rules: tuple[TlsRule, ...]
    secrets: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        return f"HostRequests({self.name!r})"  # whatever prints it, prints no secret


class RefusedRequest(NamedTuple):
    """``path`` is what a rule would have to name; None if none helps."""

    method: str
    target: str
    why: str
    path: str | None


class _RefusedError(Exception):
    def __init__(self, request: RefusedRequest, status: int = 403) -> None:
        super().__init__(request.why)
        self.request, self.status = request, status


class _BrokenError(Exception):
    """The connection can't go on: outcome and reason."""

    def __init__(self, outcome: str, why: str) -> None:
        super().__init__(why)
        self.outcome, self.why = outcome, why


class SessionEnd(NamedTuple):
    """How it ended: ``outcome`` and ``reason`` are those of a Connection."""

    outcome: str
    reason: str


class Session:
    """``start``, and ``stop`` from any thread. ``on_end`` and ``on_refused`` are called from the
    session's own thread; then both sockets are closed."""

    def __init__(
        self,
        host: HostRequests,
        inside: socket.socket,
        head: bytes,
        dialled: Dialled,
        *,
        context: ssl.SSLContext,
        outside_context: ssl.SSLContext,
        redial: Callable[[], Dialled],
        allowances: tuple[Allowance, Allowance],
        on_refused: Callable[[RefusedRequest], None],
        on_end: Callable[[SessionEnd], None],
    ) -> None:
        self._host, self._inside = host, inside
        self._guest = TlsEnd(inside, context, None, head)
        self._outside_context, self._redial = outside_context, redial
        self._allowances, self._on_refused, self._on_end = allowances, on_refused, on_end
        self._dialled: Dialled | None = dialled
        self._server: TlsEnd | None = None
        self._ours = h11.Connection(h11.SERVER, max_incomplete_event_size=LONGEST_HEAD)
        self._theirs = h11.Connection(h11.CLIENT, max_incomplete_event_size=LONGEST_HEAD)
        self._stopped = self._guest_ended = self._without_body = False
        self.sent = self.received = 0

    def start(self) -> None:
        """In a thread of its own."""
        threading.Thread(target=self._run, name="wardian-tls", daemon=True).start()

    def stop(self) -> None:
        """Whatever it is at."""
        self._stopped = True
        server = self._server
        for one in (self._inside, server.socket if server is not None else None):
            try:
                if one is not None:
                    one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has ended by itself

    def _run(self) -> None:
        try:
            end = self._served()
        except Exception as error:  # whatever it is, nothing of it may pass
            end = SessionEnd("broken", f"{type(error).__name__}")
        for one in (self._inside, *self._outside_sockets()):
            if end.outcome != "closed":
                break_off(one)
            one.close()
        self._on_end(end)

    def _outside_sockets(self) -> list[socket.socket]:
        found = [self._server.socket] if self._server is not None else []
        return found + ([self._dialled.socket] if self._dialled is not None else [])

    def _served(self) -> SessionEnd:
        try:
            self._guest.handshake(HANDSHAKE_S)
            while self._exchange():
                pass
        except _RefusedError as error:
            self._on_refused(error.request)
            self._say(error.status, f"wardian: {error.request.why}\n")
            return SessionEnd("refused", error.request.why)
        except _BrokenError as error:
            self._say(502, f"wardian: {error.why}\n")
            return SessionEnd(error.outcome, error.why)
        except h11.RemoteProtocolError as error:
            why = f"it is not HTTP as it should be: {error}"
            self._on_refused(RefusedRequest("", "", why, None))
            self._say(400, f"wardian: {why}\n")
            return SessionEnd("refused", why)
        except SpentError as error:
            return SessionEnd("refused", str(error))
        except ssl.SSLError as error:
            return SessionEnd("broken", f"TLS: {(error.reason or 'failed').lower()}")
        except OSError as error:
            return SessionEnd("broken", (error.strerror or str(error)).lower())
        self._guest.say_goodbye()
        return SessionEnd("closed", "")

    # Exchanges

    def _exchange(self) -> bool:
        """One request and its answer. False: no more."""
        while True:
            moved = self._from_guest() | self._from_server()
            if self._is_answered():
                return self._next()
            if self._ours.our_state is h11.IDLE and self._guest_ended:
                return False
            self._flush()
            if not moved:
                self._wait()

    def _is_answered(self) -> bool:
        return self._ours.our_state in (h11.DONE, h11.MUST_CLOSE, h11.CLOSED)

    def _next(self) -> bool:
        """Is there another request on this connection?"""
        if self._ours.our_state is not h11.DONE or self._ours.their_state is not h11.DONE:
            self._drain()
            return False
        self._ours.start_next_cycle()
        if self._theirs.our_state is h11.DONE and self._theirs.their_state is h11.DONE:
            self._theirs.start_next_cycle()
        else:
            self._hang_up()
        return True

    def _from_guest(self) -> bool:
        """Take what the guest says, unless the server is slow to. True: there was something."""
        if self._server is not None and self._server.waiting > MOST_WAITING:
            return False
        event = self._ours.next_event()
        if event is h11.NEED_DATA:
            return self._feed(self._ours, self._guest)
        if event is h11.PAUSED:
            return False
        if isinstance(event, h11.Request):
            self._begin(event)
        elif isinstance(event, h11.Data):
            self._send(h11.Data(data=bytes(event.data)))
        elif isinstance(event, h11.EndOfMessage):
            self._send(h11.EndOfMessage())  # what trails the body is dropped
        elif isinstance(event, h11.ConnectionClosed):
            self._guest_ended = True
            return False
        return True

    def _from_server(self) -> bool:
        """The same the other way."""
        if self._server is None or self._guest.waiting > MOST_WAITING:
            return False
        if self._theirs.their_state is h11.IDLE and self._theirs.our_state is h11.IDLE:
            return False
        try:
            event = self._theirs.next_event()
            if event is h11.NEED_DATA:
                return self._feed(self._theirs, self._server)
        except h11.RemoteProtocolError as error:
            raise _BrokenError("broken", f"the server's answer is not HTTP: {error}") from None
        if isinstance(event, h11.InformationalResponse):
            if event.status_code == 101:
                raise _BrokenError("broken", "the server changes to another protocol")
            return True  # 100 was answered by us, 103 is advice
        if isinstance(event, h11.Response):
            headers = [(k, v) for k, v in event.headers if k.decode("latin-1") not in _DROPPED]
            self._answer(
                h11.Response(status_code=event.status_code, headers=headers, reason=event.reason)
            )
        elif isinstance(event, h11.Data):
            self._answer(h11.Data(data=bytes(event.data)))
        elif isinstance(event, h11.EndOfMessage):
            self._answer(h11.EndOfMessage())
        elif isinstance(event, h11.ConnectionClosed):
            raise _BrokenError("broken", "the server closed the connection")
        else:
            return False  # PAUSED: it has answered
        return True

    def _feed(self, parser: h11.Connection, end: TlsEnd) -> bool:
        piece = end.read()
        if piece is None:
            return False
        if end is self._server:
            self._allowances[1].spend(len(piece))
            self.received += len(piece)
        parser.receive_data(piece)
        return True

    def _send(self, event: h11.Event) -> None:
        data = self._theirs.send(event) or b""
        self._allowances[0].spend(len(data))
        self.sent += len(data)
        if self._server is not None:
            self._server.write(data)

    def _answer(self, event: h11.Event) -> None:
        self._guest.write(self._ours.send(event) or b"")

    # Requests

    def _begin(self, request: h11.Request) -> None:
        """Checked, and on its way."""
        self._without_body = request.method == b"HEAD"
        headers = self._checked(request)
        self._connect()
        if self._ours.they_are_waiting_for_100_continue:
            self._answer(h11.InformationalResponse(status_code=100, headers=[]))
        self._send(h11.Request(method=request.method, target=request.target, headers=headers))

    def _checked(self, request: h11.Request) -> Headers:
        """The headers that it goes on with. Raises _RefusedError."""
        method, target = request.method.decode("ascii"), request.target.decode("latin-1")
        given = [(key.decode("latin-1"), value) for key, value in request.headers]

        def refuse(why: str, path: str | None = None) -> None:
            raise _RefusedError(RefusedRequest(method, target, why, path))

        keys = [key for key, _ in given]
        said = verdict(self._host.rules, method, target)
        if said.why is not None:
            refuse(said.why, said.path)
        hosts = [value.decode("latin-1").lower() for key, value in given if key == "host"]
        if len(hosts) != 1 or hosts[0].removesuffix(":443").removesuffix(".") != self._host.name:
            refuse("its Host is another one")
        if keys.count("content-length") > 1 or {"content-length", "transfer-encoding"} <= {*keys}:
            refuse("where its body ends is said twice")
        if "upgrade" in keys:
            refuse("it asks for another protocol (Upgrade)")
        if any(v.lower() != b"100-continue" for k, v in given if k == "expect"):
            refuse("it expects what is unknown")
        for known, what in ((METHOD_HEADERS, "methods"), (PATH_HEADERS, "paths")):
            named = {key.replace("_", "-") for key in keys}
            if any(getattr(rule, what) for rule in self._host.rules) and named & {*known}:
                refuse(f"a header of it stands for other {what}")
        return self._headers(given)

    def _headers(self, given: list[tuple[str, bytes]]) -> Headers:
        gone = {"host", *_DROPPED}
        gone |= {header.lower().replace("_", "-") for header, _ in self._host.secrets}
        for value in (value for key, value in given if key == "connection"):
            gone |= {one.strip().lower() for one in value.decode("latin-1").split(",")}
        gone -= {"content-length"}
        kept = [
            (key.encode("latin-1"), value)
            for key, value in given
            if key not in gone and key.replace("_", "-") not in gone
        ]
        if any(key == "transfer-encoding" for key, _ in given):
            kept.append((b"Transfer-Encoding", b"chunked"))
        own = [
            (header.encode("ascii"), value.encode("latin-1"))
            for header, value in self._host.secrets
        ]
        return [(b"Host", self._host.name.encode("ascii")), *kept, *own]

    # The real host

    def _connect(self) -> None:
        """Raises _BrokenError."""
        if self._server is not None and not self._is_gone(self._server):
            return
        self._hang_up()
        dialled, self._dialled = self._dialled, None
        try:
            if dialled is None:
                dialled = self._redial()
            self._server = TlsEnd(dialled.socket, self._outside_context, self._host.name)
            self._server.handshake(HANDSHAKE_S)
        except NotDialledError as error:
            outcome = "refused" if error.forbidden else "failed"
            raise _BrokenError(outcome, error.why) from None
        except ssl.SSLCertVerificationError as error:
            why = f"the host's certificate is not valid: {error.verify_message}"
            raise _BrokenError("failed", why) from None
        except OSError as error:
            why = str(getattr(error, "reason", None) or error.strerror or error).lower()
            raise _BrokenError("failed", f"no TLS with the host: {why}") from None

    @staticmethod
    def _is_gone(server: TlsEnd) -> bool:
        """Has it closed a connection that was kept?"""
        try:
            return not server.take() or server.read() is not None  # an answer to nothing
        except OSError:
            return True

    def _hang_up(self) -> None:
        if self._server is not None:
            self._server.socket.close()
            self._server = None
        self._theirs = h11.Connection(h11.CLIENT, max_incomplete_event_size=LONGEST_HEAD)

    # Waiting

    def _flush(self) -> None:
        self._guest.flush()
        if self._guest.broken:
            raise ConnectionResetError("the guest hung up")
        if self._server is not None:
            self._server.flush()

    def _wait(self) -> None:
        """Until an end has something, or takes something. Raises OSError."""
        if self._stopped:
            raise ConnectionAbortedError("it was ended")
        poll, ends = select.poll(), {}
        server = self._server
        for end, other in ((self._guest, server), (server, self._guest)):
            if end is None:
                continue
            reads = (other is None or other.waiting <= MOST_WAITING) and not (
                end is self._guest and self._guest_ended
            )
            mask = (select.POLLIN if reads else 0) | (select.POLLOUT if end.waiting else 0)
            poll.register(end.socket, mask)
            ends[end.socket.fileno()] = end
        idle = self._ours.their_state is h11.IDLE
        events = poll.poll(IDLE_S * 1000 if idle else 5000)
        if not events and idle:
            raise TimeoutError("no request came")
        for fd, event in events:
            end = ends[fd]
            readable = event & (select.POLLIN | select.POLLHUP | select.POLLERR)
            if readable and not end.take() and end is self._guest:
                self._guest_ended = True
            end.flush()
        if self._guest_ended and self._ours.their_state is not h11.IDLE and server is None:
            raise ConnectionResetError("the guest hung up")

    # The last words

    def _say(self, status: int, text: str) -> None:
        """An answer of our own, if one can still be given."""
        if self._ours.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        body = text.encode("utf-8", "replace")
        headers = [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Connection", "close"),
        ]
        try:
            self._answer(h11.Response(status_code=status, headers=headers))
            if not self._without_body:
                self._answer(h11.Data(data=body))
                self._answer(h11.EndOfMessage())
            self._drain()
        except (OSError, h11.LocalProtocolError):
            pass  # nobody listens

    def _drain(self) -> None:
        """Let the guest read what was said before the connection is closed; a reset, which comes of
        bytes that nobody read, would lose it."""
        self._guest.say_goodbye()
        end_s = time.monotonic() + LINGER_S
        try:
            while self._guest.waiting and time.monotonic() < end_s and not self._guest.broken:
                poll = select.poll()
                poll.register(self._inside, select.POLLOUT)
                poll.poll(100)
                self._guest.flush()
            self._inside.shutdown(socket.SHUT_WR)
            while time.monotonic() < end_s:
                poll = select.poll()
                poll.register(self._inside, select.POLLIN)
                if poll.poll(100) and not self._inside.recv(1 << 16):
                    return
        except OSError:
            pass
