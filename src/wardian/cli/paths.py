"""The click type for paths: refuses links that a guest may have left."""

from __future__ import annotations

import os
from typing import Any

import click

from wardian.sandbox.paths.named import trusted_path
from wardian.sandbox.paths.whole_files import OPEN_ALREADY


class NamedPath(click.Path):
    """``click.Path`` that refuses untrusted links. The value stays as typed."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Raises UsageError."""
        text = os.fspath(value)
        if text != "-" and not text.startswith(OPEN_ALREADY):
            trusted_path(text, param.get_error_hint(ctx) if param is not None and ctx else "PATH")
        return super().convert(value, param, ctx)
