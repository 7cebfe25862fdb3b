"""What was refused, as a person reads it: the likely cause first, a line each where the terminal is
wide enough, a few short ones where it is not. Pure, but for asking how wide that is."""

from __future__ import annotations

import os

from wardian.text import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wardian.sandbox.run.result import Refusal, Result

    Cells = tuple[str, str, str, str, str]

SHOWN = 20
WIDTH = 100  # where nobody says
LEAST_WIDTH = 40
PROCESS_WIDTH = 32
TARGET_WIDTH = 200
_SPACE = "  "


def refusal_lines(result: Result, *, verbose: bool, width: int | None = None) -> list[str]:
    """The likely cause of a failure first; one line if nothing failed; none for what is no news."""
    from wardian.sandbox.refusals.ranking import is_news, is_setting, likely_first

    failed = result.exit_code != 0
    told = likely_first(result.refusals) if failed else list(result.refusals)
    if not verbose:
        told = [one for one in told if is_news(one, failed=failed)]
    # What ended the run is told as its end.
    told = [one for one in told if (one.kind, f"{one.action} limit") != ("limit", result.reason)]
    dropped = result.refusals_dropped
    if not told and (not dropped or result.reason == "not found"):
        return []  # the path that was not found is the program's
    if failed and not verbose and told:
        settings, told = told, [one for one in told if not is_setting(one)]
        if not told:  # seldom the cause: one line is enough
            names = dict.fromkeys(printable(one.target) for one in settings)
            return [f"wardian: settings that were looked for are not shared: {', '.join(names)}"]
    head = f"wardian: {len(told)} thing{'s were' if len(told) != 1 else ' was'} refused"
    if not told:
        paths = "1 path" if dropped == 1 else f"{dropped:,} paths"
        return [f"wardian: {paths} could not be read, or too many to remember"]
    if not failed and not verbose:
        return [f"{head}; -v tells what"]
    if len(told) > 1 and failed:
        head += ", the likely cause first"
    shown = told if verbose else told[:SHOWN]
    lines = [head, *_laid_out(shown, max(width or terminal_width(), LEAST_WIDTH))]
    if len(told) > len(shown):
        lines.append(f"  … and {len(told) - len(shown)} more; -v tells all")
    if dropped:
        lines.append(f"  … and {dropped:,} more, too many to remember")
    return lines


def live_line(refusal: Refusal) -> str:
    """One that has just happened."""
    _, wanted, process, reason, allow = _cells(refusal)
    parts = (f"wardian: blocked {wanted}", process, reason, allow)
    return _SPACE.join(part for part in parts if part)


def terminal_width() -> int:
    """Columns of the terminal that standard error goes to, or what COLUMNS says."""
    try:
        return os.get_terminal_size(2).columns or WIDTH
    except OSError:
        columns = os.environ.get("COLUMNS", "")
        return int(columns) if columns.isascii() and columns.isdigit() else WIDTH


def _laid_out(refusals: Sequence[Refusal], width: int) -> list[str]:
    rows = [_cells(one) for one in refusals]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(4)]
    lines = []
    for row in rows:
        cells = (f"{cell:<{most}}" for cell, most in zip(row[:4], widths, strict=True))
        lines.append((_SPACE + _SPACE.join((*cells, row[4]))).rstrip())
    if all(len(line) <= width for line in lines):
        return lines
    margin = len(_SPACE) * 3 + widths[0]
    second = min(widths[1], max(width - margin - widths[2], 0))  # where the process stands
    lines = []
    for row, after in zip(rows, [*rows[1:], None], strict=True):
        same = after is not None and after[2:] == row[2:]
        lines += _stacked(row, widths[0], second, width, alone=not same)
    return lines


def _cells(one: Refusal) -> Cells:
    """Kind, what was wanted, who asked, why not, what would allow it."""
    wanted = one.target if one.target.startswith(f"{one.action}(") else f"{one.action} {one.target}"
    wanted = _shortened(printable(wanted), TARGET_WIDTH)
    return (
        printable(one.kind),
        f"{wanted} ×{one.count}" if one.count > 1 else wanted,
        _shortened(printable(one.process.command), PROCESS_WIDTH),
        printable(one.reason).rstrip("."),
        f"allow: {shell_words(one.allow.flag)}" if one.allow else "",
    )


def _stacked(row: Cells, kind_width: int, second: int, width: int, *, alone: bool) -> list[str]:
    """The same on several lines: what was wanted and by whom, then why not and what would allow it,
    unless the next one has the same to say (not ``alone``)."""
    kind, wanted, process, reason, allow = row
    margin = _SPACE + " " * kind_width + _SPACE
    first = f"{_SPACE}{kind:<{kind_width}}{_SPACE}{wanted:<{second}}{_SPACE}{process}".rstrip()
    if len(first) > width and process:
        first, reason = f"{_SPACE}{kind:<{kind_width}}{_SPACE}{wanted}", f"{reason} · {process}"
    elif not alone:
        return [first]
    lines = [margin + line for line in _wrapped(reason, width - len(margin))]
    if allow and len(lines[-1]) + len(_SPACE) + len(allow) <= width:
        lines[-1] += _SPACE + allow
    elif allow:
        lines.append(margin + allow)  # whole, whatever its length: it is there to be copied
    return [first, *lines]


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return lines


def _shortened(text: str, most: int) -> str:
    """The start and, of what is long, the end: that is where paths differ."""
    if len(text) <= most:
        return text
    if most <= PROCESS_WIDTH:
        return text[: most - 1] + "…"
    half = (most - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def shell_words(flag: str) -> str:
    """The option as a line that can be pasted: what a terminal can't show is spelled in $'…'."""
    if flag.isprintable():
        return flag
    import shlex

    from wardian.text import shell_word

    return " ".join(map(shell_word, shlex.split(flag)))
