"""A case: one thing that is measured, in one sandbox.

A probe, a check inside a specimen, a case of a test program and a case of a skill differ in their
kind; what comes of them is an outcome (``wardian.measure.outcome``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

KINDS = ("probe", "check", "suite", "skill", "trace")
Identity = tuple[str, str, str]


class Case(NamedTuple):
    """Something that can be asked of a sandbox. ``about`` is small: title, source, script …

    ``group`` is a probe's domain, a skill's name, a suite's program.
    """

    kind: str
    name: str
    sandbox: str
    group: str = ""
    capability: str = ""
    about: Mapping[str, Any] = {}
    id: int = 0

    @property
    def identity(self) -> Identity:
        """Identifies the case among all others."""
        return self.kind, self.name, self.sandbox
