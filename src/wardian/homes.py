"""The user's own directories, as the XDG Base Directory Specification has them."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    Kind = Literal["config", "state", "cache"]

_DEFAULTS = {"config": ".config", "state": ".local/state", "cache": ".cache"}
KINDS: tuple[Kind, ...] = ("config", "state", "cache")


def user_directory(kind: Kind, env: Mapping[str, str] = os.environ) -> str:
    """Where every program has its own; a relative value does not count, as XDG says. Relative
    itself where nobody knows this user's home."""
    found = env.get(f"XDG_{kind.upper()}_HOME", "")
    if found.startswith("/"):
        return found
    return os.path.join(os.path.expanduser("~"), _DEFAULTS[kind])


def own_directory(kind: Kind) -> str:
    """wardian's own among them."""
    return os.path.join(user_directory(kind), "wardian")


def session_directory() -> str | None:
    """wardian's own in what lasts as long as the user is logged in, if there is any."""
    found = os.environ.get("XDG_RUNTIME_DIR", "")
    return os.path.join(found, "wardian") if found.startswith("/") else None
