"""What came of a run's questions and connections, for its result."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from wardian.sandbox.network.askers import GuestPort
from wardian.sandbox.network.asking import AskedConnection
from wardian.sandbox.run.result import Caller

if TYPE_CHECKING:
    from wardian.sandbox.network.terminating import RefusedRequest

MOST_EVENTS = 1000  # of connections and of refusals
MOST_TARGET = 200  # of a refused request


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
    inside: str  # the address that the guest has for it
    process: Caller = Caller(0, "")

    def document(self) -> dict[str, Any]:
        """As JSON (docs/reference/result.md)."""
        return self._asdict() | {"process": self.process.document()}


class RefusedName(NamedTuple):
    """A name, or a name and a port, that no rule allows, or that may not be reached after all."""

    name: str
    port: int | None
    address: str | None
    reason: str
    at_s: float
    rule: str | None = None  # that allows it; None if no rule does
    times: int = 1
    request: RefusedRequest | None = None  # one that was looked at


# Called at the first of each kind, from the gateway's thread.
OnRefused = Callable[[RefusedName, GuestPort | None], None]


class Outcomes:
    """All of them, as they come. Written by the gateway's thread alone."""

    def __init__(self, on_refused: OnRefused | None = None) -> None:
        self._on_refused = on_refused
        self.began_s = time.monotonic()
        self.connections: list[Connection] = []
        self.refused: dict[tuple[str, int | None, str], RefusedName] = {}
        # Who asked for a name, or a name and a port, as far as the gateway found out.
        self.callers: dict[tuple[str, int | None], Caller] = {}
        self.asked: list[AskedConnection] = []

    def refuse(
        self,
        name: str,
        reason: str,
        *,
        port: int | None = None,
        address: str | None = None,
        rule: str | None = None,
        source: GuestPort | None = None,
    ) -> None:
        """Once more, by whom ``source`` belongs to."""
        key = (name, port, reason)
        before = self.refused.get(key)
        if before is not None:
            self.refused[key] = before._replace(times=before.times + 1)
        elif len(self.refused) < MOST_EVENTS:
            at_s = time.monotonic() - self.began_s
            self.refused[key] = RefusedName(name, port, address, reason, at_s, rule)
            if self._on_refused is not None:
                self._on_refused(self.refused[key], source)

    def refuse_request(self, name: str, request: RefusedRequest) -> None:
        """Of a host whose requests are looked at. ``target`` is kept without its query."""
        path = request.target.partition("?")[0][:MOST_TARGET]
        request = request._replace(target=path)
        key = (f"{request.method} {name}{path}", 443, request.why)
        before = self.refused.get(key)
        if before is not None:
            self.refused[key] = before._replace(times=before.times + 1)
        elif len(self.refused) < MOST_EVENTS:
            at_s = time.monotonic() - self.began_s
            found = RefusedName(name, 443, None, request.why, at_s, request=request)
            self.refused[key] = found
            if self._on_refused is not None:
                self._on_refused(found, None)

    def add_question(self, asked: AskedConnection) -> None:
        """It was answered; several may have waited for that."""
        if len(self.asked) < MOST_EVENTS and not any(one is asked for one in self.asked[-64:]):
            self.asked.append(asked)

    def add(self, connection: Connection) -> None:
        """It is over."""
        if len(self.connections) < MOST_EVENTS:
            self.connections.append(connection)
