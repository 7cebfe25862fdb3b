"""A trace formatted for people, with guest-controlled text escaped. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wardian.cli.refused import refusal_lines
from wardian.cli.summary import ending, figures
from wardian.observe.follow import command_text, duration
from wardian.observe.grouping import grouped
from wardian.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wardian.observe.events import Total
    from wardian.observe.trace import Trace, TracedProcess

SHOWN_PROCESSES = 40
SHOWN_GROUPS = 8
SHOWN_CHANGES = 24
SHOWN_CALLS = 8
_CHANGES = ("written", "created", "deleted")
_TIMES_ROOM = 22


def page(trace: Trace, *, width: int, verbose: int) -> list[str]:
    """The lines to print; ``verbose`` shortens no list."""
    lines = []
    for title, section in (
        ("programs", _programs(trace, width, verbose=verbose)),
        ("files", _files(trace, verbose=verbose)),
        ("endpoints", _endpoints(trace)),
        ("system calls", _calls(trace.syscalls, verbose=verbose)),
    ):
        body = list(section)
        lines += [title, *body] if body else []
    failed = trace.result._replace(
        exit_code=trace.result.exit_code or 1
    )  # all refusals, not only a count
    return [
        *lines,
        *refusal_lines(failed, verbose=verbose),
        *ending(trace.result),
        figures(trace.result),
    ]


# Programs


def _programs(trace: Trace, width: int, *, verbose: int) -> list[str]:
    by_parent: dict[int | None, list[TracedProcess]] = {}
    for process in trace.processes:
        by_parent.setdefault(process.parent, []).append(process)
    lines = list(_tree(by_parent, None, "  ", "  ", width))
    if verbose or len(lines) <= SHOWN_PROCESSES:
        return lines
    return [*lines[:SHOWN_PROCESSES], f"  … and {len(lines) - SHOWN_PROCESSES} more (-v for all)"]


def _tree(
    by_parent: dict[int | None, list[TracedProcess]],
    parent: int | None,
    head: str,
    rest: str,
    width: int,
) -> Iterator[str]:
    """Depth first, without recursion: guests may fork arbitrarily deep."""
    todo = [(one, head, rest) for one in reversed(_folded(by_parent, parent))]
    while todo:
        (process, times), head, rest = todo.pop()
        yield _program_line(process, times, head, width)
        children = _folded(by_parent, process.id)
        for i, child in reversed(list(enumerate(children))):
            last = i == len(children) - 1
            todo.append((child, rest + ("└ " if last else "├ "), rest + ("  " if last else "│ ")))


def _folded(
    by_parent: dict[int | None, list[TracedProcess]], parent: int | None
) -> list[tuple[TracedProcess, int]]:
    """Merges consecutive childless processes with the same command and exit code."""
    folded: list[tuple[TracedProcess, int]] = []
    for process in by_parent.get(parent, []):
        last = folded[-1][0] if folded else None
        if (
            last is not None
            and _alike(last, process)
            and not by_parent.keys() & {last.id, process.id}
        ):
            folded[-1] = (last, folded[-1][1] + 1)
        else:
            folded.append((process, 1))
    return folded


def _alike(one: TracedProcess, other: TracedProcess) -> bool:
    return one.command == other.command and one.exit_code == other.exit_code


def _program_line(process: TracedProcess, times: int, head: str, width: int) -> str:
    shown = [command_text(one.command) for one in process.programs if one.path or process.id == 1]
    text = " → ".join(shown) if shown else f"{_forked(process)}"
    ended = []
    if times > 1:
        ended.append(f"×{times}")
    elif process.ended_s is not None:
        ended.append(duration(process.ended_s - process.started_s))
    if process.threads > 1:
        ended.append(f"{process.threads} threads")
    if process.exit_code is None:
        ended.append("killed")
    elif process.exit_code:
        ended.append(f"exit {process.exit_code}")
    tail = ", ".join(ended)
    room = max(20, width - len(head) - max(_TIMES_ROOM, len(tail) + 2))
    return f"{head}{_cut(text, room):<{room}}  {tail}".rstrip()


def _forked(process: TracedProcess) -> str:
    name = command_text(process.command[:1]).rsplit("/", 1)[-1]
    return f"({name}, forked)"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


# Files


def _files(trace: Trace, *, verbose: int) -> Iterator[str]:
    passing = {file.path for file in trace.files if {"created", "deleted"} <= set(file.actions)}
    changed = set(trace.paths(*_CHANGES)) - passing
    most = len(trace.files) if verbose else SHOWN_GROUPS
    changes = len(trace.files) if verbose else SHOWN_CHANGES
    for action in _CHANGES:
        yield from _grouped(action, [p for p in trace.paths(action) if p in changed], changes)
    yield from _grouped("temporary", sorted(passing), changes)
    yield from _grouped("executed", trace.paths("executed"), most)
    yield from _grouped("read", [p for p in trace.paths("read") if p not in passing], most)
    yield from _grouped("listed", trace.paths("listed"), most)
    yield from _grouped("refused", trace.paths("refused"), most)
    for action in ("looked at", "missing"):
        only = [file.path for file in trace.files if file.actions == (action,)]
        if verbose:
            yield from _grouped(action, only, most)
        elif only:
            yield f"  {action:<10}{len(only):>6} more (-v lists them)"


def _grouped(label: str, paths: Sequence[str], most: int) -> Iterator[str]:
    for group in grouped(paths, most):
        count = f"{group.count:,}" if group.count > 1 else ""
        where = f"below {printable(group.path)}" if group.count > 1 else printable(group.path)
        yield f"  {label:<10}{count:>6} {where}"
        label = ""


# Endpoints and calls


def _endpoints(trace: Trace) -> Iterator[str]:
    for one in trace.endpoints:
        what = printable(
            f"{one.name} ({one.address})" if one.name and one.address else one.name or one.address
        )
        yield f"  {one.action:<10}{what}"


def _calls(totals: Sequence[Total], *, verbose: int) -> Iterator[str]:
    if not totals:
        return
    count, errors = sum(one.count for one in totals), sum(one.errors for one in totals)
    yield f"  {count:,} of {len(totals)} kinds, {errors:,} predicted to fail"
    by_count = sorted(totals, key=lambda one: (-one.count, one.name))
    by_time = sorted(totals, key=lambda one: (-one.time_s, -one.count, one.name))
    shown = by_time if verbose else _most_of(by_count, by_time)
    wide = max(len(one.name) for one in shown)
    yield f"  {'':<{wide}}{'count':>10}{'errors':>9}{'waiting':>11}"
    for one in shown:
        waiting = duration(one.time_s) if one.time_s else ""
        yield f"  {one.name:<{wide}}{one.count:>10,}{one.errors or '':>9}{waiting:>11}"
    if len(shown) < len(totals):
        yield f"  … and {len(totals) - len(shown)} more (-v for all)"


def _most_of(by_count: list[Total], by_time: list[Total]) -> list[Total]:
    """The longest first, then the most frequent."""
    longest = [one for one in by_time[: SHOWN_CALLS // 2] if one.time_s]
    most = [one for one in by_count if one not in longest]
    return longest + most[: SHOWN_CALLS - len(longest)]
