"""What a skill's cases ask for, against what the caller grants: decided here only. Pure.

A case can only tighten the caller's policy. What would widen it is a request: it is granted if the
caller's policy has it already, and otherwise the case is not run.

| key                          | effect on the caller's policy                                  |
|------------------------------|----------------------------------------------------------------|
| ``network``                  | ``none`` tightens; ``host`` needs the caller's ``--net host``  |
| ``time_s``                   | the smaller of both                                            |
| ``env``                      | variables of the guest's; those that the caller set win        |
| ``with``                     | packages, as the skill's own declarations ask for them         |
| ``in``, ``needs``            | where the case does not run                                    |
| ``state``, ``files``         | private to the case                                            |
| ``setup``, ``before``        | inside, under the same policy                                  |
"""

from __future__ import annotations

from wardian.errors import UsageError
from wardian.runner.cases.model import SkillCase
from wardian.sandbox.policy.policy import Policy


class NotGrantedError(UsageError):
    """A case asks for more than the caller grants. It was not run."""


def granted(case: SkillCase, policy: Policy) -> Policy:
    """The caller's policy as this case gets it. Raises NotGrantedError."""
    if case.network not in ("none", policy.network):
        raise NotGrantedError(
            f"asks for the {case.network}'s network, which is not granted",
            hint=f"grant it: --net {case.network}",
        )
    return tightened(case, policy)


def tightened(case: SkillCase, policy: Policy) -> Policy:
    """The policy with what the case gives up, and nothing of what it asks for besides."""
    times = [time for time in (policy.limits.time_s, case.time_s) if time is not None]
    named = {name for name, _ in policy.set_env}
    own = {name: value for name, value in case.env if name not in named}
    network = policy.network if case.network == policy.network else "none"
    return policy.with_env(own).with_limits(time_s=min(times))._replace(network=network)
