"""A target: a backend with a policy fitted to it, as the subject of a measurement."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from wardian.measure.versions import sandbox_version
from wardian.sandbox.backends import MEASURED, NAMES, check_backends, fitted, shortfall
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.sandbox import Sandbox

HOST, WARDIAN = "host", "wardian"
# Ours first, the bare host last; stock bubblewrap is there to be compared with, and for nothing
# else.
# Specimens stand at places of a root of the guest's own, which landlock does not have.
TARGETS = (*(name for name in NAMES if name not in (HOST, "landlock")), *MEASURED, HOST)
MakeSandbox = Callable[[Policy, str], Sandbox]


def create(policy: Policy, backend: str) -> Sandbox:
    """The ordinary way to a sandbox."""
    return Sandbox.create(policy, backend=backend, fresh=True)


class Target(NamedTuple):
    """``name`` is the backend's, and the target's in every document."""

    name: str
    policy: Policy
    version: str = ""
    degraded: tuple[str, ...] = ()  # what the backend can't enforce and was given up for it
    make: MakeSandbox = create
    root: str = ""  # where the guest's own root stands, as the guest sees it: blame takes it away
    prefix: tuple[str, ...] = ()  # on the host, the command that puts up one wall alone

    @property
    def is_host(self) -> bool:
        """Nothing stands between a case and the host."""
        return self.name == HOST

    def sandbox(self) -> Sandbox:
        """A fresh one; the caller closes it. Raises SandboxError."""
        return self.make(self.policy, self.name)


def check_targets(names: str) -> tuple[str, ...]:
    """``wardian,host`` as a tuple. Raises UsageError."""
    return check_backends(names, TARGETS)


def target(name: str, policy: Policy | None = None) -> Target:
    """A backend at its best: what it can't enforce of the policy is given up by name and reported.

    Raises UsageError.
    """
    wanted = policy if policy is not None else Policy.default()
    given_up = shortfall(name, wanted)
    return Target(name, fitted(name, wanted), sandbox_version(name), given_up)


__all__ = [
    "HOST", "TARGETS", "WARDIAN", "MakeSandbox", "Target", "check_targets", "create", "target",
]  # fmt: skip
