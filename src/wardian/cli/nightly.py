"""``wardian nightly``: measure, compare, find, propose, write it down."""

from __future__ import annotations

import click


@click.command("nightly")
def command() -> None:
    """Stub."""
