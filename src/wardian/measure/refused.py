"""A refusal as measurements keep it: with its remedy, without what differs from run to run. Pure.

Documents hold it as text (artifacts of probes) or as an object (the store); both are written and
read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from wardian.sandbox.run.result import Allow, Refusal


class Refused(NamedTuple):
    """``process`` is the command that asked; ``allow`` what would allow it, if anything would."""

    kind: str
    action: str
    target: str
    reason: str = ""
    process: str = ""
    allow: Allow | None = None

    @classmethod
    def of(cls, refusal: Refusal) -> Refused:
        """The same refusal; when, how often and by which pid is left out."""
        one = refusal
        return cls(one.kind, one.action, one.target, one.reason, one.process.command, one.allow)

    @classmethod
    def read(cls, told: Mapping[str, Any] | str) -> Refused:
        """From ``document()``; or from ``text``, which holds neither reason nor remedy."""
        if isinstance(told, str):
            kind, action, target = (*told.split(" ", 2), "", "")[:3]
            return cls(kind, action, target)
        kind, action, target, reason, process = (str(told.get(f) or "") for f in cls._fields[:5])
        allow = told.get("allow")
        remedy = Allow(allow["flag"], allow["policy"]) if allow else None
        return cls(kind, action, target, reason, process, remedy)

    @property
    def text(self) -> str:
        """In a line: ``syscall chmod chmod(…)``."""
        return f"{self.kind} {self.action} {self.target}".strip(" ")

    @property
    def cause(self) -> tuple[str, str, str]:
        """What two refusals have in common if one wall refuses one thing: the arguments of a call
        differ from run to run."""
        return self.kind, self.action, "" if self.kind in ("syscall", "process") else self.target

    def plain(self) -> dict[str, str]:
        """Kind, action, target and reason: who asked is known where this is told."""
        return {name: getattr(self, name) for name in self._fields[:4]}

    def document(self) -> dict[str, Any]:
        """As JSON."""
        asked = {"process": self.process} if self.process else {}
        allow = self.allow._asdict() if self.allow is not None else None
        return {**self.plain(), **asked, "allow": allow}

    def __str__(self) -> str:
        named = self.target.startswith(self.action)
        return f"{self.kind} {self.target if named else f'{self.action} {self.target}'}"
