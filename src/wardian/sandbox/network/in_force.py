"""The rules of a sandbox's network that are in force now: the policy's, with what was allowed since
and without what was withdrawn. ``sandbox.network`` is one of these."""

from __future__ import annotations

import threading
from _weakrefset import WeakSet
from typing import TYPE_CHECKING

from wardian.errors import UsageError
from wardian.sandbox.network.asking import Answer, Asking, ConnectRequest, OnConnect
from wardian.sandbox.network.rules import NetworkRules, Rule, parse_rule

if TYPE_CHECKING:
    from wardian.sandbox.network.gateway import Gateway
    from wardian.sandbox.policy.policy import Policy

MOST_RULES = 10_000


class RulesInForce:
    """Safe to use from many threads. What changes holds for the runs that go on, at once, and for
    later ones of the same sandbox."""

    def __init__(self, rules: NetworkRules, on_connect: OnConnect | None = None) -> None:
        self._lock = threading.Lock()
        self._rules = rules
        self._gateways: WeakSet[Gateway] = WeakSet()
        self.asking = Asking(on_connect, self._decide) if on_connect is not None else None

    @classmethod
    def of(cls, policy: Policy, on_connect: OnConnect | None = None) -> RulesInForce:
        """Those of a policy. Raises UsageError."""
        return cls(NetworkRules.of(policy), on_connect)

    @property
    def rules(self) -> tuple[str, ...]:
        """What is allowed, each rule as ``--net`` takes it."""
        return tuple(map(str, self.current.allow))

    @property
    def current(self) -> NetworkRules:
        """The same, parsed, with what is denied."""
        with self._lock:
            return self._rules

    def allow(self, rule: str) -> None:
        """One rule more, until the sandbox is closed. Raises UsageError."""
        self._add(parse_rule(rule))

    def withdraw(self, rule: str) -> None:
        """Without this rule from now on: what it alone allowed is refused, and connections that it
        alone allowed are ended. Waits for that. Raises UsageError if there is no such rule."""
        gone = parse_rule(rule)
        with self._lock:
            left = tuple(one for one in self._rules.allow if one != gone)
            known = len(left) < len(self._rules.allow)
            self._rules = self._rules._replace(allow=left)
            gateways = list(self._gateways)
        if self.asking is not None:
            self.asking.forget(str(gone))
        ended = [gateway.withdraw(gone) for gateway in gateways]
        if not known and not any(ended):
            raise UsageError(
                f"no rule {str(gone)!r} is in force",
                hint="rules in force: " + (", ".join(self.rules) or "none"),
            )

    def attach(self, gateway: Gateway) -> None:
        """It hears of every change."""
        with self._lock:
            self._gateways.add(gateway)

    def detach(self, gateway: Gateway) -> None:
        """Its run is over."""
        with self._lock:
            self._gateways.discard(gateway)

    def _add(self, rule: Rule) -> None:
        with self._lock:
            if rule not in self._rules.allow:
                if len(self._rules.allow) >= MOST_RULES:
                    raise UsageError(f"more than {MOST_RULES} rules")
                self._rules = self._rules._replace(allow=(*self._rules.allow, rule))
            gateways = list(self._gateways)
        if self.asking is not None:
            self.asking.forget(str(rule))
        for gateway in gateways:
            gateway.rules_changed()

    def _decide(self, request: ConnectRequest, answer: Answer) -> None:
        if answer is Answer.ALLOW_RUN:
            self._add(parse_rule(request.rule))
