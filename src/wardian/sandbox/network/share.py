"""A living sandbox's gateway, as one of its commands has it: what came since that command began."""

from __future__ import annotations

from collections.abc import Mapping

from wardian.sandbox.network.gateway import Gateway
from wardian.sandbox.network.outcomes import Outcomes


class GatewayShare:
    """What a result is made from. Commands that run at the same time see each other's connections;
    which process made one, each connection says."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        outcomes = gateway.outcomes
        self._connections = len(outcomes.connections)
        self._asked = len(outcomes.asked)
        self._refused = {key: one.times for key, one in outcomes.refused.items()}

    @property
    def names(self) -> Mapping[str, str]:
        """As the gateway's."""
        return self._gateway.names

    @property
    def ever_allowed(self) -> tuple[str, ...]:
        """As the gateway's."""
        return self._gateway.ever_allowed

    @property
    def outcomes(self) -> Outcomes:
        """Those since the command began."""
        all_of_them, fresh = self._gateway.outcomes, Outcomes()
        fresh.began_s = all_of_them.began_s
        fresh.connections = all_of_them.connections[self._connections :]
        fresh.asked = all_of_them.asked[self._asked :]
        fresh.callers = dict(all_of_them.callers)
        for key, one in list(all_of_them.refused.items()):
            times = one.times - self._refused.get(key, 0)
            if times > 0:
                fresh.refused[key] = one._replace(times=times)
        return fresh

    def close(self) -> None:
        """The gateway goes on, with the sandbox."""
