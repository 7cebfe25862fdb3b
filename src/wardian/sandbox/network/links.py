"""A connection of the guest's: its target and its state."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from wardian.sandbox.network.addresses import Address
from wardian.sandbox.network.askers import GuestPort
from wardian.sandbox.network.dialing import Dialled
from wardian.sandbox.network.first_words import host_header, server_name
from wardian.sandbox.network.relay import Relay
from wardian.sandbox.network.rules import MissingRule, NetworkRules, Rule

if TYPE_CHECKING:
    from wardian.sandbox.network.terminating import Session

# Which first bytes name the host of a connection, by port.
_GREETINGS: dict[int, Callable[[bytes], str | None]] = {80: host_header, 443: server_name}


class DialTarget(NamedTuple):
    """Where the guest connects to: a name that it was given an address for, or a number."""

    name: str | None
    address: Address
    port: int

    def __str__(self) -> str:
        return self.name if self.name is not None else str(self.address)

    def is_allowed(self, rules: NetworkRules) -> bool:
        """By a rule that names it."""
        if self.name is not None:
            return rules.allows_name(self.name, self.port)
        return rules.allows_address(self.address, self.port)

    def missing(self, rules: NetworkRules) -> MissingRule:
        """What keeps the guest from it."""
        if self.name is not None:
            return rules.missing_for_name(self.name, self.port)
        return rules.missing_for_address(self.address, self.port)


class GuestLink:
    """From accept to its end. The gateway's."""

    def __init__(self, inside: socket.socket, target: DialTarget) -> None:
        self.inside, self.target, self.started_s = inside, target, time.monotonic()
        self.listened_s: float | None = None  # since when its first words are waited for
        self.granted: tuple[Rule, ...] = ()  # for this one alone
        self.questions = 0
        self.read_name = _GREETINGS.get(target.port) if target.name is not None else None
        self.head = b""
        self.dialled: Dialled | None = None
        self.relay: Relay | None = None
        self.session: Session | None = None
        self.over = False

    @property
    def source(self) -> GuestPort | None:
        """Its end in the guest; None if that did not wait."""
        try:
            return GuestPort("tcp", self.inside.getpeername()[1])
        except OSError:
            return None

    @property
    def address(self) -> Address | None:
        """Whom it reaches, if that is known by number."""
        if self.target.name is None:
            return self.target.address
        return self.dialled.address if self.dialled is not None else None

    def needs(self, rule: Rule, left: NetworkRules) -> bool:
        """Is it one that this rule was about, and that what is ``left`` does not allow?"""
        target, address = self.target, self.address
        if not rule.covers(target.name, address, target.port):
            return False
        self.granted = tuple(one for one in self.granted if one != rule)
        left = left.also(self.granted)
        reaches = address is None or left.why_not_dialled(address, target.port) is None
        return not (target.is_allowed(left) and reaches)
