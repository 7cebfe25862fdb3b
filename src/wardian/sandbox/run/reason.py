"""Why a run ended, as a type. Apart from the values, for importing typing takes time."""

from __future__ import annotations

from typing import Literal, TypeAlias

Reason: TypeAlias = Literal[
    "exited",
    "signal",
    "time limit",
    "cpu limit",
    "memory limit",
    "output limit",
    "disk limit",
    "killed",
    "not found",
    "not executable",
]
