"""Formats the results of commands in a living sandbox, in its supervising process, so that clients
need not import this."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wardian.cli import running
from wardian.cli.output import valid
from wardian.living.commands import Rendering

if TYPE_CHECKING:
    from typing import Any

    from wardian.sandbox.run.result import Result


def rendering(*, rootfs: bool) -> Rendering:
    """Results as ``exec`` prints them. With a ``rootfs``, no packages are suggested."""
    return Rendering(
        is_news=running.noteworthy,
        lines=lambda result, verbose, width: _lines(result, verbose, width, rootfs=rootfs),
        document=lambda result: _document(result, rootfs=rootfs),
    )


def _lines(result: Result, verbose: int, width: int, *, rootfs: bool) -> list[str]:
    lines = _missing(result, rootfs=rootfs)
    if verbose or running.noteworthy(result):
        from wardian.cli.summary import summary

        lines += summary(result, verbose=verbose, width=width, lives_on=True)
    return lines


def _missing(result: Result, *, rootfs: bool) -> list[str]:
    if rootfs or not running.may_miss_a_module(result):
        return []
    from wardian.cli.hints import missing_lines

    return missing_lines(result, no_deps=False)


def _document(result: Result, *, rootfs: bool) -> dict[str, Any]:
    hints = [valid(line.removeprefix("wardian: ")) for line in _missing(result, rootfs=rootfs)]
    document = running.document_of(result)
    return {k: v for k, v in document.items() if k not in ("stdout", "stderr")} | {"hints": hints}
