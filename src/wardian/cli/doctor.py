"""``wardian doctor``: which walls and backends work on this host, and how to fix the others."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from wardian.cli import output
from wardian.cli.progress import Progress
from wardian.cli.quiet import quiet_option
from wardian.text import printable

if TYPE_CHECKING:
    from wardian.sandbox.doctor.doctor import Diagnosis, Report

SCHEMA = "wardian.doctor/1"
_TITLES = {
    "sandbox": "Sandbox",
    "wall": "Walls",
    "host": "Host",
    "backend": "Backends",
    "program": "Programs, started inside",
}


@click.command(
    "doctor",
    epilog="""\b
Examples:
  wardian doctor
  wardian doctor --json | jq '.checks[] | select(.works | not)'

\b
Exit code: 0 the default policy works here, 1 it does not, 2 usage.""",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@quiet_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Check which walls and backends work on this host, and how to fix those that do not.

    Each check is a real attempt in a child process; nothing on the host is changed.
    """
    from wardian.sandbox.doctor.doctor import examine

    with Progress("doctor") as progress:
        report = examine(progress.reach)
    if as_json:
        output.print_json(_document(report))
    else:
        for line in _lines(report):
            output.print_text(line)
    ctx.exit(0 if report.works else 1)


def _document(report: Report) -> dict[str, Any]:
    import os

    from wardian import __version__

    name = os.uname()
    return {
        "schema": SCHEMA,
        "works": report.works,
        "version": __version__,
        "kernel": name.release,
        "machine": name.machine,
        "uid": os.geteuid(),
        "checks": [check._asdict() for check in report.checks],
    }


def _lines(report: Report) -> list[str]:
    lines = []
    for kind, title in _TITLES.items():
        chosen = [check for check in report.checks if check.kind == kind]
        if chosen:
            lines += ["", output.styled(title, "bold", sys.stdout)]
            for check in chosen:
                lines += _check_lines(check)
    verdict = (
        "The default policy runs here."
        if report.works
        else "The default policy does not run here; see what is marked “no” above."
    )
    return [*lines[1:], "", verdict]


def _check_lines(check: Diagnosis) -> list[str]:
    state, style = ("yes", "green") if check.works else ("no ", "red" if check.needed else "yellow")
    line = f"  {output.styled(state, style, sys.stdout)}  {check.name:<32}{printable(check.detail)}"
    fix = [printable(part) for part in check.fix.split("\n")] if check.fix else []
    marks = ("→" if i == 0 else " " for i in range(len(fix)))
    return [
        line.rstrip(),
        *(f"         {mark} {part}" for mark, part in zip(marks, fix, strict=True)),
    ]
