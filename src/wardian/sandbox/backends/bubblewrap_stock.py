"""The backend ``bubblewrap-stock``: ``bwrap`` as its own documentation uses it, for measurements.

The guest finds the same files as under the backend ``bubblewrap``. What wardian adds there is left
out: the syscall filter, the masks in /proc, the refusal of nested user namespaces, and all limits
but those on time and output, which end a measurement.
"""

from __future__ import annotations

from wardian.sandbox.backends import bubblewrap, walls
from wardian.sandbox.policy.policy import Limits, Policy


class StockBubblewrap(bubblewrap.Bubblewrap):
    """Walls that bwrap has by itself. Whoever uses it gives up ``seccomp`` by name."""

    name = "bubblewrap-stock"
    hardened = False

    def prepare(self, policy: Policy, *, own_work: str | None = None) -> None:
        """Raises SandboxError."""
        limits = Limits(time_s=policy.limits.time_s, output_bytes=policy.limits.output_bytes)
        super().prepare(policy._replace(limits=limits), own_work=own_work)
        self.filter = None

    def _walls(self, policy: Policy) -> walls.Walls:
        found = super()._walls(policy)
        more = {
            "seccomp": "bubblewrap has no syscall filter of its own",
            "limits.processes": "bubblewrap sets no limits",
        }
        return walls.Walls(self.name, {**found.lacking, **more})


backend = StockBubblewrap
__all__ = ["StockBubblewrap", "backend"]
