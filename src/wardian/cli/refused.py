"""Refusals formatted for people: the likely cause first; one line each if the terminal is wide
enough, several short ones if not. Reads the width of the terminal."""

from __future__ import annotations

import os

from wardian.text import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wardian.sandbox.run.result import Refusal, Result

    Cells = tuple[str, str, str, str, str]

SHOWN = 20
ROUTINE = 2  # -vv
WIDTH = 100  # if stderr is no terminal and COLUMNS is unset
LEAST_WIDTH = 40
PROCESS_WIDTH = 32
TARGET_WIDTH = 200
_SPACE = "  "


def refusal_lines(result: Result, *, verbose: int, width: int | None = None) -> list[str]:
    """The lines to print: after a failure the likely cause first, after a success how many there
    were. ``verbose`` 1 lists them in any case, 2 the routine ones as well."""
    from wardian.sandbox.refusals.ranking import is_setting, likely_first

    failed = result.exit_code != 0
    ordered = likely_first(result) if failed else list(result.refusals)
    if verbose < ROUTINE:
        ordered = [one for one in ordered if one.weight != "routine"]
    # The limit that ended the run is reported as its end.
    reported = [
        one for one in ordered if (one.kind, f"{one.action} limit") != ("limit", result.reason)
    ]
    dropped = result.refusals_dropped
    if not reported and (not dropped or result.reason == "not found"):
        return []  # the missing path is the program itself
    if failed and not verbose and reported and all(map(is_setting, reported)):
        names = dict.fromkeys(printable(one.target) for one in reported)
        return [f"wardian: the program looked for files that are not shared: {', '.join(names)}"]
    if not reported:
        paths = "1 path was" if dropped == 1 else f"{dropped:,} paths were"
        return [f"wardian: {paths} blocked but not recorded (unreadable, or too many)"]
    head = f"wardian: {len(reported)} access{'es were' if len(reported) != 1 else ' was'} blocked"
    if not failed and not verbose:
        return [f"{head} (-v for details)"]
    if len(reported) > 1 and failed:
        head += ", likely cause first"
    shown = reported if verbose else reported[:SHOWN]
    lines = [head, *_laid_out(shown, max(width or terminal_width(), LEAST_WIDTH))]
    if len(reported) > len(shown):
        lines.append(f"  … and {len(reported) - len(shown)} more (-v for all)")
    if dropped:
        lines.append(f"  … and {dropped:,} more, not recorded")
    return lines


def live_line(refusal: Refusal) -> str:
    """The line for a refusal, printed as it happens."""
    _, wanted, process, reason, allow = _cells(refusal)
    parts = (f"wardian: blocked {wanted}", process, reason, allow)
    return _SPACE.join(part for part in parts if part)


def terminal_width() -> int:
    """Columns of the terminal on stderr, else COLUMNS, else 100."""
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
    second = min(widths[1], max(width - margin - widths[2], 0))  # column of the process
    lines = []
    for row, after in zip(rows, [*rows[1:], None], strict=True):
        same = after is not None and after[2:] == row[2:]
        lines += _stacked(row, widths[0], second, width, alone=not same)
    return lines


def _cells(one: Refusal) -> Cells:
    """Kind, action and target, process, reason, and the option that would allow it."""
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
    """The cells on several lines: target and process, then reason and option, unless the next row
    repeats those (not ``alone``)."""
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
        lines.append(margin + allow)  # never wrapped: it is there to be copied
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
    """Shorten in the middle: paths differ at their ends."""
    if len(text) <= most:
        return text
    if most <= PROCESS_WIDTH:
        return text[: most - 1] + "…"
    half = (most - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def shell_words(flag: str) -> str:
    """The option, quoted for a shell; unprintable characters become $'…'."""
    if flag.isprintable():
        return flag
    import shlex

    from wardian.text import shell_word

    return " ".join(map(shell_word, shlex.split(flag)))
