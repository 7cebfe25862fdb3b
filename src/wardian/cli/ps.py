"""``wardian ps``: this user's living sandboxes and the commands in them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from wardian.cli import output
from wardian.errors import WardianError
from wardian.text import columns, cut, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

ANSWER_S = 5.0
COMMAND_WIDTH = 60
HEAD = ("NAME", "AGE", "IDLE", "MEMORY", "WORK", "COMMANDS")


@click.command(
    "ps",
    epilog="""\b
Examples:
  wardian ps
  wardian ps --json | jq -r '.sandboxes[].name'

\b
Exit code: 0, even if there are none.""",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(as_json: bool) -> None:
    """List living sandboxes: age, idle time, memory, work directory, and running commands with the
    ports they listen on.

    MEMORY counts private memory, without file-backed pages. A sandbox that does not answer within 5
    seconds is listed with that error.
    """
    from wardian.living.client import sandbox_names

    found = [_status(name) for name in sandbox_names()]
    if as_json:
        output.print_json({"schema": "wardian.ps/1", "sandboxes": found})
        return
    if not found:
        output.say("wardian: no sandbox is running; start one: wardian up")
        return
    for line in columns([HEAD, *(_row(one) for one in found)]):
        output.print_text(line)


def _status(name: str) -> dict[str, Any]:
    from wardian.living.client import ask, connect

    try:
        channel = connect(name, timeout_s=ANSWER_S)
        try:
            answer = ask(channel, "status", name=name)
        finally:
            channel.close()
        status: dict[str, Any] = json.loads(answer.text("document"))
    except WardianError as error:
        return {"name": name, "error": str(error)}
    return status


def _row(one: dict[str, Any]) -> Sequence[str]:
    from wardian.sandbox.policy.units import human_bytes

    if "error" in one:
        return (one["name"], "-", "-", "-", "-", printable(one["error"]))
    idle = "-" if one["idle_s"] == 0 else _short(one["idle_s"])
    work = printable(one["work"]) if one["work"] else "private"
    commands = "; ".join(map(_command, one["commands"])) or "-"
    memory = human_bytes(one["memory_bytes"])
    return (one["name"], _short(one["age_s"]), idle, memory, work, commands)


def _command(one: dict[str, Any]) -> str:
    from wardian.text import shell_word

    words = cut(" ".join(map(shell_word, one["command"])), COMMAND_WIDTH)
    ports = f" (port {', '.join(map(str, one['ports']))})" if one["ports"] else ""
    return f"[{one['number']}] {words}{ports}{' &' if one['background'] else ''}"


def _short(seconds: float) -> str:
    """A duration in its largest unit: 5s, 12m, 3h, 2d."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{int(seconds)}s"
