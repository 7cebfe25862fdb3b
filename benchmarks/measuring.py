"""Rounds in which every contestant has its turn, so that whatever disturbs, disturbs them all."""

from __future__ import annotations

import gc
import os
import random
import sys
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

WARM_UP_ROUNDS = 3
LEAST_ROUNDS = 3
MOST_S = 16.0  # of all contestants together, for one figure of about a dozen
SETTLE_S = 0.002  # what the one before left to the kernel to clean up is not the next one's cost
ESSENTIAL = ("bare", "wardian", "wardian exec")
EVERY_S = 10.0  # where nobody sees a line change
BUSY = 0.3  # of all processors, on average over the last minute


class Spread(NamedTuple):
    """Summary of a series: its median, and the range of the middle four fifths."""

    median: float
    p10: float
    p90: float
    rounds: int

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        """Of at least one value."""
        ordered = sorted(values)

        def at(part: float) -> float:
            place = part * (len(ordered) - 1)
            low = int(place)
            high = min(low + 1, len(ordered) - 1)
            return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

        return cls(at(0.5), at(0.1), at(0.9), len(ordered))


class Progress:
    """What is being measured: one changing line on a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._began = self._spoke = time.monotonic()
        self._figure = ""

    def figure(self, name: str, number: int, total: int) -> None:
        """The next figure begins; the bar shows how many are done."""
        done = number - 1
        self._figure = f"[{'#' * done}{'.' * (total - done)}] {number}/{total} {name}"
        self.say("")

    def say(self, text: str) -> None:
        """What is done just now."""
        now = time.monotonic()
        elapsed = f"{now - self._began:4.0f} s"
        line = f"{elapsed} {self._figure}{': ' if self._figure and text else ''}{text}"
        if self._terminal:
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()
        elif now - self._spoke >= EVERY_S:
            self._spoke = now
            print(line, file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """A line that stays."""
        self.done()
        print(text, file=sys.stderr, flush=True)

    def done(self) -> None:
        """Clear the line."""
        if self._terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def interleaved(
    turns: Mapping[str, Callable[[], float]],
    *,
    rounds: int,
    budget_s: float,
    label: str,
    progress: Progress,
    warm_up: int = WARM_UP_ROUNDS,
    most_s: float = MOST_S,
) -> dict[str, Spread]:
    """Each turn once per round, in an order of chance; a turn returns its figure.

    A contestant that has used up its budget of time sits the remaining rounds out, but not before
    the third. After ``most_s`` there are no more rounds at all, but for the first. One that fails
    is left out of the figure, with a note; ours may not fail.
    """
    values: dict[str, list[float]] = {name: [] for name in turns}
    spent = dict.fromkeys(turns, 0.0)
    out: set[str] = set()
    chance = random.Random(1)  # so that nobody always follows the same one
    gc.collect()
    gc.disable()
    until = time.monotonic() + most_s
    try:
        for number in range(-warm_up, rounds):
            if number > 0 and time.monotonic() > until:
                break
            if number < 0 and time.monotonic() > until - most_s / 2:
                continue
            progress.say(f"{label}: round {max(number + 1, 0)} of {rounds}")
            for name in chance.sample(list(turns), len(turns)):
                if name in out:
                    continue
                if number >= LEAST_ROUNDS and spent[name] > budget_s:
                    continue
                if number < 0 and spent[name] > budget_s / 4:
                    continue
                time.sleep(SETTLE_S)
                began = time.perf_counter()
                try:
                    value = turns[name]()
                except Exception as error:  # whatever goes wrong in a sandbox of others
                    if name in ESSENTIAL:
                        raise
                    progress.note(f"{label}: {name} left out: {error or type(error).__name__}")
                    out.add(name)
                    values.pop(name)
                    continue
                spent[name] += time.perf_counter() - began
                if number >= 0:
                    values[name].append(value)
    finally:
        gc.enable()
        progress.done()
    return {name: Spread.of(found) for name, found in values.items()}


def milliseconds(action: Callable[[], object]) -> Callable[[], float]:
    """A turn whose figure is the time that the action takes."""

    def turn() -> float:
        began = time.perf_counter_ns()
        action()
        return (time.perf_counter_ns() - began) / 1e6

    return turn


def load() -> float:
    """How busy the machine has been in the last minute: 1 means all processors."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)
