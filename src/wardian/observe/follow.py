"""A run's calls as lines, one for each, while it runs: like strace, for reading. Pure.

    0.004 [2]    openat(AT_FDCWD, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC)
    0.005 [2]    access("/etc/ld.so.preload", R_OK) → ENOENT
    0.031 [2:1]  futex(…) after 26 ms

Processes have the pids that they know themselves by; ``:1`` is a process's second thread.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from wardian.observe.events import Became, Event, TracedCall, Waited
from wardian.syscalls.decode import call_text, sockaddr_text
from wardian.syscalls.effects import place_of
from wardian.text import printable, quoted

if TYPE_CHECKING:
    from wardian.observe.trace import Tracer

LEAST_WAIT_S = 0.001


def line(event: Event, tracer: Tracer, arch: str) -> str | None:
    """The line for an event that the tracer has taken already; None if it is not worth one."""
    if isinstance(event, TracedCall):
        error = f" → {errno.errorcode.get(event.error, event.error)}" if event.error else ""
        return f"{_head(event, tracer)}{called_text(event, arch)}{error}"
    if isinstance(event, Became):
        return f"{_head(event, tracer)}{_became(event, tracer)}"
    if isinstance(event, Waited) and event.time_s >= LEAST_WAIT_S:
        return f"{_head(event, tracer)}{event.name}(…) returns after {duration(event.time_s)}"
    return None


def called_text(call: TracedCall, arch: str) -> str:
    """A call with the paths and addresses that it names."""
    strings = {place: path.text for place, path in call.paths.items()}
    if call.address:
        at = place_of(call.name, "sockaddr", "msghdr", "mmsghdr")
        strings[at] = sockaddr_text(call.address)
    text = call_text(call.name, call.args, strings=strings, arch=arch)
    return f"{text} asking for {printable(call.asked)}" if call.asked else text


def command_text(command: tuple[str, ...]) -> str:
    """A command line, as it could be typed."""
    return printable(" ".join(quoted(word) for word in command))


def duration(seconds: float) -> str:
    """``26 ms``, ``1.50 s``."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


def _head(event: TracedCall | Became | Waited, tracer: Tracer) -> str:
    process = tracer.process(event.process)
    who = str(event.process)
    if process is not None:
        who = str(process.first.inner_pid)
        thread = 0 if isinstance(event, Became) else process.thread(event.task)
        if thread:
            who += f":{thread}"
    return f"{event.at_s:9.4f} {f'[{who}]':<8} "


def _became(became: Became, tracer: Tracer) -> str:
    process = tracer.process(became.process)
    if process is None or process.first is not became:
        return f"is now {command_text(became.command)}"
    if process.parent is None:
        return "starts"
    return f"starts, forked by [{process.parent.first.inner_pid}]"


__all__ = ["called_text", "command_text", "duration", "line"]
