"""The progress and findings of a campaign: written atomically, read strictly, shown as JSON."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

from wardian.errors import InputError, UsageError
from wardian.sandbox.paths.whole_files import write_whole

STATE_SCHEMA = "wardian.fuzz-state/1"
SCHEMA = "wardian.fuzz/1"
MAX_SEED = (1 << 63) - 1


class State:
    """How far a campaign came, and what it found. Everything in it is plain data."""

    def __init__(self, sandbox: str, seed: int, calls: Sequence[str]) -> None:
        self.sandbox, self.seed, self.calls = sandbox, seed, tuple(calls)
        self.position = 0
        self.executed_calls = 0
        self.seconds = 0.0
        self.counts: Counter[str] = Counter()
        self.explained: Counter[tuple[str, str]] = Counter()
        self.unstable: Counter[str] = Counter()
        self.news: dict[str, dict[str, Any]] = {}

    def to_data(self) -> dict[str, Any]:
        return {
            "sandbox": self.sandbox,
            "seed": self.seed,
            "calls": list(self.calls),
            "position": self.position,
            "executed_calls": self.executed_calls,
            "seconds": round(self.seconds, 3),
            "counts": dict(sorted(self.counts.items())),
            "explained": [
                {"wall": wall, "reason": reason, "count": count}
                for (wall, reason), count in self.explained.most_common()
            ],
            "unstable": dict(self.unstable.most_common()),
            "news": list(self.news.values()),
        }

    @classmethod
    def from_data(cls, data: Any) -> State:
        """Raises ValueError for what ``to_data`` did not write."""
        try:
            state = cls(str(data["sandbox"]), int(data["seed"]), [str(c) for c in data["calls"]])
            state.position = int(data["position"])
            state.executed_calls = int(data["executed_calls"])
            state.seconds = float(data["seconds"])
            state.counts.update({str(k): int(v) for k, v in data["counts"].items()})
            state.unstable.update({str(k): int(v) for k, v in data["unstable"].items()})
            for one in data["explained"]:
                state.explained[str(one["wall"]), str(one["reason"])] = int(one["count"])
            for one in data["news"]:
                state.news[str(one["signature"])] = dict(one)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"not a state: {error!r}") from None
        if state.position < 0 or not 0 <= state.seed <= MAX_SEED:
            raise ValueError("not a state: position or seed out of range")
        return state


def save(state: State, path: str) -> None:
    """Whole or not at all."""
    text = json.dumps({"schema": STATE_SCHEMA, **state.to_data()}, indent=1)
    write_whole(path, text + "\n", option="--artifacts")


def load(path: str) -> State:
    """The state in a file, or in the newest one of a directory. Raises InputError, UsageError."""
    if os.path.isdir(path):
        found = [os.path.join(path, name) for name in os.listdir(path) if name.endswith(".json")]
        if not found:
            raise UsageError(f"{path} holds no state of a campaign")
        path = max(found, key=os.path.getmtime)
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        if not isinstance(data, dict) or data.get("schema") != STATE_SCHEMA:
            raise ValueError(f"expected schema {STATE_SCHEMA}")
        return State.from_data(data)
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", path=path) from None
    except (ValueError, RecursionError) as error:
        raise InputError(str(error), path=path) from None


def document(state: State, out: str, path: str | None) -> dict[str, Any]:
    """The campaign for ``--json``."""
    data = state.to_data()
    programs = state.counts["programs"]
    rate = programs / state.seconds if state.seconds else 0.0
    return {
        "schema": SCHEMA,
        **data,
        "programs": programs,
        "programs_per_second": round(rate, 1),
        "out": out,
        "state": path,
    }
