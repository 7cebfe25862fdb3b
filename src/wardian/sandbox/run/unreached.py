"""Networks that a guest could not reach, reported while it runs: who asked, and for what. What its
processes are called is the guest's to choose, and only data."""

from __future__ import annotations

from collections.abc import Callable

from wardian.sandbox.run.status import read_events

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any, NamedTuple
else:
    from wardian.values import NamedTuple

_ABOUT = (b'{"event":"process"', b'{"event":"unreached"')
_MAX_PARENTS = 16


class Unreached(NamedTuple):
    """``host`` is the name that was looked up, empty for an address. ``commands`` are the words of
    the process that asked, then those of its parents, the nearest first."""

    host: str
    commands: tuple[tuple[str, ...], ...]


OnUnreached = Callable[[Unreached], None]


class UnreachedLines:
    """Reads the supervisor's lines as they come, in pieces of any size."""

    def __init__(self, on_unreached: OnUnreached) -> None:
        self._on_unreached = on_unreached
        self._rest = b""
        self._processes: dict[int, dict[str, Any]] = {}

    def __call__(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        about = [line for line in lines if line.startswith(_ABOUT)]
        for event in read_events(b"\n".join(about)):
            if event["event"] == "process":
                self._processes[event["number"]] = event
            else:
                host = event["text"] if event["by"] == "d" else ""
                self._on_unreached(Unreached(host, self._commands(event["process"])))

    def _commands(self, number: int) -> tuple[tuple[str, ...], ...]:
        found: list[tuple[str, ...]] = []
        while (process := self._processes.get(number)) and len(found) <= _MAX_PARENTS:
            text = process["command"].encode("latin-1").decode("utf-8", "replace")
            found.append(tuple(text.rstrip("\0").split("\0")))
            number = process["parent"]
        return tuple(found)
