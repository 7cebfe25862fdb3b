"""Outcomes of a case, and of a program with its cases: values, and their documents.

docs/reference/suite.md describes the documents.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from wardian.errors import InputError
from wardian.measure import refused
from wardian.measure.outcome import SUITE, health
from wardian.sandbox.run.result import Refusal

SCHEMA = "wardian.suite-program/1"
BAD = tuple(name for name in SUITE if health(name) in ("bad", "broken"))
PROGRAM_CASE = "(program)"  # the program as a whole: what no case of it can be charged with


class SuiteOutcome(NamedTuple):
    """One case. ``detail`` is one line: a signal, a reason to skip, the first failure.

    ``alone`` is what came of it in a sandbox of its own afterwards, ``suspect`` the wall that it
    likely met, from the calls it made, where nothing was seen to be refused, and ``wall`` the one
    without which it passes, where that was asked.
    """

    case: str
    status: str
    seconds: float = 0.0
    detail: str = ""
    output: str = ""
    refusals: tuple[Refusal, ...] = ()
    alone: str = ""
    parameter: str = ""
    wall: str = ""
    suspect: str = ""

    @property
    def of_program(self) -> bool:
        """Not a case of the program, but an outcome of the program as a whole."""
        return self.case.endswith(")") and "(" in self.case

    @property
    def flaky(self) -> bool:
        """It passed beside others, and not by itself."""
        return self.status == "passed" and self.alone not in ("", "passed")

    def document(self) -> dict[str, Any]:
        """As JSON; what is empty is left out."""
        data: dict[str, Any] = {"case": self.case, "status": self.status}
        data["seconds"] = round(self.seconds, 4)
        for name in ("detail", "output", "alone", "parameter", "wall", "suspect"):
            if getattr(self, name):
                data[name] = getattr(self, name)
        if self.refusals:
            data["refusals"] = [refused.document(one) for one in self.refusals]
        return data

    @classmethod
    def read(cls, data: dict[str, Any]) -> SuiteOutcome:
        """Raises InputError."""
        try:
            refusals = tuple(refused.read(one) for one in data.get("refusals", ()))
            outcome = cls(**{**data, "refusals": refusals})
            seconds = float(outcome.seconds)
        except (TypeError, ValueError, KeyError):
            raise InputError("not an outcome of a case") from None
        if outcome.status not in SUITE:
            raise InputError(f"there is no status {outcome.status!r}")
        return outcome._replace(seconds=seconds)


class ProgramResult(NamedTuple):
    """One program in one sandbox. ``key`` names all that the result depends on."""

    program: str
    path: str
    digest: str
    protocol: str
    sandbox: str
    key: str
    outcomes: tuple[SuiteOutcome, ...]
    seconds: float = 0.0
    runs: int = 0
    note: str = ""
    selected: str = ""  # which cases were wanted, and for how long each was to run
    timeout_s: float = 0.0

    @property
    def listed(self) -> bool:
        """Its cases are known: it did not die before it could say which it has."""
        return any(not one.of_program for one in self.outcomes)

    def document(self) -> dict[str, Any]:
        """As JSON."""
        data = self._asdict() | {"seconds": round(self.seconds, 4)}
        return {"schema": SCHEMA, **data, "outcomes": [one.document() for one in self.outcomes]}

    @classmethod
    def read(cls, data: Any) -> ProgramResult:
        """Raises InputError."""
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise InputError(f"not a document of the schema {SCHEMA}")
        fields = {name: data[name] for name in data if name != "schema"}
        try:
            outcomes = tuple(SuiteOutcome.read(one) for one in fields["outcomes"])
            return cls(**fields | {"outcomes": outcomes})
        except (TypeError, KeyError):
            raise InputError("not the result of a program") from None
