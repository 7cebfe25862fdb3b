"""The launcher's input, record by record (core/plan.c reads it)."""

from __future__ import annotations

import functools
import os

MAGIC = b"wardian-plan 1\n"
BARE = b"wardian-bare 1\n"  # without namespaces and root; each other wall where it is asked for
# The same behind Landlock and the filter, which have to be asked for.
CONFINED = b"wardian-confined 1\n"
BIND_WRITE, BIND_DEVICE, BIND_OWNER, BIND_OPTIONAL, BIND_COPY = 1, 2, 4, 8, 16


def record(*fields: str | bytes | int) -> bytes:
    """One record of the launcher's input (core/plan.c)."""
    parts = [bytes([len(fields)])]
    for item in fields:
        raw = item if isinstance(item, bytes) else os.fsencode(str(item))
        parts += (len(raw).to_bytes(4, "little"), raw, b"\0")
    return b"".join(parts)


@functools.lru_cache(maxsize=16)
def environment_records(variables: tuple[tuple[str, str], ...]) -> bytes:
    """A command's variables, and the path on which its program is looked for."""
    records = [record("env", f"{name}={value}") for name, value in variables]
    return b"".join(records) + record("path", dict(variables).get("PATH", ""))
