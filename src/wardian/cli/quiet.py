"""The option ``-q`` of commands that click parses: no progress, nothing on stderr but errors."""

from __future__ import annotations

import click

from wardian.cli import output


def _mute(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        output.mute(True)
        ctx.call_on_close(lambda: output.mute(False))


quiet_option = click.option(
    "-q", "--quiet", is_flag=True, is_eager=True, expose_value=False, callback=_mute,
    help="Print no progress and no remarks, only errors.",
)  # fmt: skip
