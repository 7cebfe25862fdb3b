"""Regular expressions that a skill wrote, on text that a guest wrote: matched in a child process
that can be ended, for a pattern of twenty characters can take years.

The child is the Python that runs wardian, without site packages, and reads nothing but its input.
"""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Sequence

MAX_PATTERN_CHARACTERS = 64 << 10
CPU_S = 2
TOTAL_S = 30.0  # all patterns of one run
CLOCK_S = 12.0  # on a busy machine the CPU time counts, not this
MEMORY_BYTES = 1 << 30

_CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "matching.py")


class PatternError(Exception):
    """It could not be evaluated within its limits; the message says why."""


class WrongPatternError(PatternError):
    """No regular expression. ``number`` counts from 0 in what was given."""

    def __init__(self, number: int, why: str) -> None:
        self.number = number
        super().__init__(why)


# What was not evaluated within its limits, and why: pattern and digest of the text. A case is run
# again and again (to learn, to see whether it is flaky), and this is tried once in a process. By
# the text, too, or one skill's flood would spoil another skill's pattern.
_given_up: dict[tuple[str, bytes], str] = {}
_MAX_GIVEN_UP = 1000


class Matcher:
    """Evaluates patterns, all of them together in a bounded time."""

    def __init__(self, total_s: float = TOTAL_S) -> None:
        self._left_s = total_s

    def found(self, pattern: str, text: str) -> bool:
        """Does the pattern match somewhere in the text, ``^`` and ``$`` at each line? Raises
        PatternError."""
        question = pattern, hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        if question in _given_up:
            raise PatternError(_given_up[question])
        if self._left_s <= 0:
            raise PatternError("the patterns before it took too long")
        begun = time.monotonic()
        try:
            return _asked((pattern,), text) == "found"
        except PatternError as error:
            self._left_s = 0.0  # what failed once is not tried a thousand times
            if len(_given_up) < _MAX_GIVEN_UP:
                _given_up[question] = str(error)
            raise
        finally:
            self._left_s -= time.monotonic() - begun


@functools.lru_cache(64)
def check(patterns: Sequence[str]) -> None:
    """Raises WrongPatternError for the first that is none, PatternError if it takes too long."""
    if patterns:
        _asked(patterns, "")


def _asked(patterns: Sequence[str], text: str) -> str:
    for number, one in enumerate(patterns):
        if len(one) > MAX_PATTERN_CHARACTERS:
            raise WrongPatternError(number, f"longer than {MAX_PATTERN_CHARACTERS:,} characters")
    data = b"".join(map(_block, (text, *patterns)))
    python = getattr(sys, "_base_executable", None) or sys.executable
    words = [python, "-I", "-S", _CHILD, str(CPU_S), str(MEMORY_BYTES), str(len(patterns))]
    try:
        done = subprocess.run(
            words, input=data, capture_output=True, check=False, timeout=CLOCK_S, cwd="/", env={}
        )
    except subprocess.TimeoutExpired:
        raise PatternError(f"the pattern was not evaluated within {CLOCK_S:g} s") from None
    except OSError as error:
        raise PatternError(f"{python} can't be started: {error.strerror}") from None
    outcome = done.stdout.decode("ascii", "replace").strip("'\"")
    if outcome in ("found", "absent"):
        return outcome
    if outcome.startswith("wrong:"):
        _, place, why = outcome.split(":", 2)
        raise WrongPatternError(int(place), why)
    if outcome == "memory" or b"MemoryError" in done.stderr[-2000:]:
        raise PatternError("the pattern needs too much memory")
    raise PatternError(f"the pattern was not evaluated within {CPU_S} s of CPU time")


def _block(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return len(data).to_bytes(8, "big") + data
