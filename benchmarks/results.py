"""All figures of one run, as they are measured."""

from __future__ import annotations

import dataclasses

from benchmarks.figures import Numbers
from benchmarks.figures.idle import Idle


@dataclasses.dataclass
class Results:
    """Empty where a figure was not asked for."""

    start: Numbers = dataclasses.field(default_factory=dict)  # ms
    imports: Numbers = dataclasses.field(default_factory=dict)  # ms
    parents: dict[str, Numbers] = dataclasses.field(default_factory=dict)  # ms, by parent
    calls: dict[str, Numbers] = dataclasses.field(default_factory=dict)  # ns, by call
    loop: Numbers = dataclasses.field(default_factory=dict)  # s
    refusals: dict[str, Numbers] = dataclasses.field(default_factory=dict)  # ms, by work
    trace: dict[str, Numbers] = dataclasses.field(default_factory=dict)  # ms, by work
    command: Numbers = dataclasses.field(default_factory=dict)  # ms
    living: Numbers = dataclasses.field(default_factory=dict)  # ms
    pool: Numbers = dataclasses.field(default_factory=dict)  # ms
    warm: dict[str, Numbers] = dataclasses.field(default_factory=dict)  # ms, by work
    living_idle: dict[str, Idle] = dataclasses.field(default_factory=dict)
    idle: dict[str, Idle] = dataclasses.field(default_factory=dict)
    rate: Numbers = dataclasses.field(default_factory=dict)  # runs per second
    crowd: dict[str, float] = dataclasses.field(default_factory=dict)
    suite: dict[str, Numbers] = dataclasses.field(default_factory=dict)  # ms, by work
    packages: dict[str, Numbers] = dataclasses.field(default_factory=dict)  # ms, by packages
