"""The rules of one run: those in force for its sandbox, and what was allowed once."""

from __future__ import annotations

import time

from wardian.sandbox.network.in_force import RulesInForce
from wardian.sandbox.network.rules import MOST_NETWORKS, AddressRule, NetworkRules, Rule

ONCE_S = 30.0  # how long new connections go to a name that was allowed once


class RunRules:
    """``now`` is what holds. Changed by the gateway's thread alone."""

    def __init__(self, network: RulesInForce) -> None:
        self._network = network
        self.now: NetworkRules = network.current
        self._once: dict[Rule, float] = {}  # until when
        self._ever: dict[Rule, None] = {}
        self.note(self.now.allow)

    @property
    def ever(self) -> tuple[str, ...]:
        """Every rule that was in force during the run."""
        return tuple(map(str, self._ever))

    def allow_once(self, rule: Rule) -> None:
        """For a while, in this run."""
        self._once[rule] = time.monotonic() + ONCE_S

    def forget(self, rule: Rule) -> bool:
        """It is not allowed for a while any more. False: it was not."""
        return self._once.pop(rule, None) is not None

    def is_due(self, now_s: float) -> bool:
        """Has something ended that was allowed for a while?"""
        return any(until_s < now_s for until_s in self._once.values())

    def refresh(self) -> bool:
        """Look what is in force. True: more than before."""
        now_s, before = time.monotonic(), self.now
        self._once = {rule: until for rule, until in self._once.items() if until > now_s}
        self.now = self._network.current.also(tuple(self._once))
        self.note(self.now.allow)
        return not set(before.allow) >= set(self.now.allow)

    def note(self, rules: tuple[Rule, ...]) -> None:
        """They were in force, for one connection at least."""
        for rule in rules:
            ranges = sum(isinstance(one, AddressRule) for one in self._ever)
            if not isinstance(rule, AddressRule) or ranges < MOST_NETWORKS:
                self._ever[rule] = None
