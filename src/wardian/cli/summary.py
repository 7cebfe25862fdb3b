"""A run's result formatted for people, with guest-controlled text escaped. Pure."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wardian.cli.refused import refusal_lines, shell_words
from wardian.cli.running import (
    ORDINARY_SIGNALS,
    given_up,
    left_running_news,
    lookups_unseen,
)
from wardian.sandbox.policy.units import format_duration, format_size, human_bytes
from wardian.text import cut, printable, shell_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wardian.sandbox.run.result import Limit, Protection, Result

_SIZES = ("memory", "disk", "output")
_DURATIONS = ("time", "cpu")
SHOWN_LEFT = 3
UNSEEN_LINE = (
    "wardian: missing files may be the cause; this host reports lookups only with --explain"
)
COMMAND_WIDTH = 60


def summary(
    result: Result, *, verbose: int, width: int | None = None, lives_on: bool = False
) -> list[str]:
    """The lines to print; ``width`` is the terminal's (default: this process's). ``lives_on``:
    processes left running continue in a living sandbox."""
    lines = []
    if verbose:
        lines += [_policy_line(result), *_walls(result.protections), *_limits(result.limits)]
    lines += weaker(result)
    lines += refusal_lines(result, verbose=verbose, width=width)
    if lookups_unseen(result):
        lines.append(UNSEEN_LINE)
    lines += _left_running(result, verbose=verbose, lives_on=lives_on)
    lines += ending(result)
    if result.reason in ("not found", "not executable") or (result.ok and not verbose):
        return lines
    return [*lines, figures(result)]


def _policy_line(result: Result) -> str:
    return f"wardian: backend {result.backend}, policy {result.policy_digest}"


def _walls(protections: Sequence[Protection]) -> list[str]:
    if not protections:
        return []
    lines = ["walls"]
    for wall in protections:
        state = "enforced" if wall.enforced else "off"
        why = wall.note
        if not wall.enforced and not why:
            why = (
                "not requested"
                if not wall.requested
                else "given up"
                if wall.available
                else "not available on this host"
            )
        lines.append(f"  {wall.name:<32}{state}{': ' + printable(why) if why else ''}")
    return lines


def _limits(limits: Sequence[Limit]) -> list[str]:
    lines = ["limits"] if limits else []
    for limit in limits:
        value = shown_limit(limit)
        held = f"enforced by {limit.mechanism}" if limit.value is not None else ""
        lines.append(f"  {limit.name:<12}{value:<10}{held}".rstrip())
    return lines


def shown_limit(limit: Limit) -> str:
    """The value with its unit, as an option takes it."""
    if limit.value is None:
        return "none"
    if limit.name in _SIZES:
        return format_size(int(limit.value))
    if limit.name in _DURATIONS:
        return format_duration(limit.value)
    return f"{limit.value:g}"


def weaker(result: Result) -> list[str]:
    """Lines that name the walls given up by the caller."""
    if result.backend == "host":
        return ["wardian: backend host: ran without a sandbox"]
    names = ", ".join(wall.name for wall in given_up(result))
    return [f"wardian: ran without {names}, as requested"] if names else []


def _left_running(result: Result, *, verbose: int, lives_on: bool) -> list[str]:
    """Processes that outlived the command; those that listen on a port first."""
    total = len(result.left_running) + result.left_running_more
    if not (total if verbose else left_running_news(result)):
        return []
    found = sorted(result.left_running, key=lambda one: not one.listening)
    shown = [
        str(one._replace(command=cut(one.command, COMMAND_WIDTH)))
        for one in (found if verbose else found[:SHOWN_LEFT])
    ]
    if total > len(shown) and shown:
        shown.append(f"and {total - len(shown)} more")
    count = f"{'at least ' if result.left_running_more else ''}{total} process"
    plural, were = ("es", "were") if total != 1 else ("", "was")
    what = "left running in the sandbox" if lives_on else f"still running and {were} ended"
    head = f"wardian: {count}{plural} {were} {what}"
    return [f"{head}: {', '.join(shown)}" if shown else head]


def ending(result: Result) -> list[str]:
    """What ended the run, if the exit code does not say it."""
    if result.truncated and result.reason != "output limit":
        return ["wardian: output was truncated at its limit"]
    if result.reason.endswith(" limit"):
        return [_struck(result)]
    if result.reason == "signal" and result.signal not in ORDINARY_SIGNALS:
        return [f"wardian: ended by signal {_signal_name(result.signal)}"]
    if result.reason == "killed":
        return ["wardian: killed" + (f": {printable(result.detail)}" if result.detail else "")]
    if result.reason in ("not found", "not executable"):
        return [f"wardian: {printable(result.detail or result.reason)}"]
    return []


def left_behind(words: Sequence[str]) -> str | None:
    """The hint for a run that failed in a private /work, if a word of its command line names a file
    in the current directory."""
    for word in words:
        if word and not word.startswith(("-", "/")) and os.path.lexists(word):
            return f"{word} is in this directory, which is not shared; to share it: --work ."
    return None


def overlooked(program: str) -> str | None:
    """The hint for a program that was not found inside but exists on the host."""
    if "/" not in program or not os.path.isfile(program):
        return None
    shared = f"--read {shell_word(program)}" if program.startswith("/") else "--work ."
    return f"{program} exists on the host but is not shared; to share it: {shared}"


def _struck(result: Result) -> str:
    name = result.reason.removesuffix(" limit")
    limit = next((one for one in result.limits if one.name == name), None)
    value = f" of {shown_limit(limit)}" if limit is not None and limit.value is not None else ""
    refusal = next(
        (one for one in result.refusals if (one.kind, one.action) == ("limit", name)), None
    )
    more = (
        f"; to allow more: {shell_words(refusal.allow.flag)}" if refusal and refusal.allow else ""
    )
    return f"wardian: ended by the {name} limit{value}{more}"


def _signal_name(number: int | None) -> str:
    import signal

    try:
        return f"{number} ({signal.Signals(number or 0).name})"
    except ValueError:
        return str(number)


def figures(result: Result) -> str:
    """Exit code and resource usage on one line."""
    usage = result.usage
    parts = [f"exit {result.exit_code}", f"{usage.wall_s:.2f} s", f"{usage.cpu_s:.2f} s CPU"]
    parts.append(human_bytes(usage.peak_memory_bytes))
    parts.append(f"{usage.processes} process{'es' if usage.processes != 1 else ''}")
    if usage.stdout_bytes + usage.stderr_bytes:
        parts.append(f"{human_bytes(usage.stdout_bytes + usage.stderr_bytes)} of output")
    return " · ".join(parts)
