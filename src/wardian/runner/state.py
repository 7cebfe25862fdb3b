"""Directories that last from run to run, each for one skill and one name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wardian.errors import SandboxError, UsageError
from wardian.homes import own_directory
from wardian.sandbox.paths.named import open_directory, trusted_path

if TYPE_CHECKING:
    from wardian.runner.location import Located


def state_directory(skill: Located, name: str) -> str:
    """Made if it is not there. A skill is who it is by its name and by where it lies.

    Raises UsageError for a name that could lead elsewhere, SandboxError if it can't be made.
    """
    if not _is_plain(name):
        raise UsageError(
            f"--state: {name!r} is not a name; use letters, digits, dots, hyphens, underscores"
        )
    import hashlib

    where = hashlib.sha256(os.fsencode(skill.origin)).hexdigest()[:16]
    path = os.path.join(own_directory("state"), "state", f"{where}-{skill.name}")
    path = os.path.join(path, name)
    path = trusted_path(path, "--state")
    try:
        os.close(open_directory(path, make=0o700))
    except OSError as error:
        raise SandboxError(
            f"the state can't be kept in {path}: {(error.strerror or '').lower()}",
            hint="point XDG_STATE_HOME to a directory that can be written to",
        ) from None
    return path


def _is_plain(name: str) -> bool:
    plain = name.replace("-", "").replace("_", "").replace(".", "")
    return plain.isascii() and plain.isalnum() and name[0] not in "-." and len(name) <= 64
