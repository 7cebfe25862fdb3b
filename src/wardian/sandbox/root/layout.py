"""layout.toml as data: what every guest finds in its root, whatever its policy."""

from __future__ import annotations

import functools
import os

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any, NamedTuple
else:
    from wardian.values import NamedTuple

USER_ID = 1000
HOSTNAME = "wardian"
INTERFACE = "eth0"
ADDRESS = "203.0.113.2"  # of documentation, RFC 5737: it hides nobody
WORK = "/work"
HOME = "/home/user"
INODES = 200_000
# More room on disk is room for more files; the default of 2 GiB has that many.
BYTES_PER_FILE = (2 << 30) // INODES
PTYS = 64
MQUEUE = "/dev/mqueue"
NESTING = "sys/user/max_user_namespaces"


class Layout(NamedTuple):
    """See layout.toml, which has a comment on each."""

    read: tuple[str, ...]
    roots: tuple[str, ...]
    read_confined: tuple[str, ...]
    etc: tuple[str, ...]
    etc_network: tuple[str, ...]
    devices: tuple[str, ...]
    proc: tuple[str, ...]
    masks: tuple[str, ...]
    routine: tuple[str, ...]
    routine_changes: tuple[str, ...]
    routine_locks: tuple[str, ...]
    routine_calls: tuple[str, ...]
    settings: tuple[str, ...]
    private: tuple[tuple[str, int], ...]
    sysctl: tuple[tuple[str, str], ...]
    files: tuple[tuple[str, str], ...]
    environment: tuple[tuple[str, str], ...]
    environment_offline: tuple[tuple[str, str], ...]
    environment_untraced: tuple[tuple[str, str], ...]
    environment_confined: tuple[tuple[str, str], ...]


SOURCES = ("sandbox/root/layout.toml", "sandbox/root/layout.py")


@functools.cache
def layout() -> Layout:
    """The shipped layout."""
    from wardian import compiled

    return Layout(*compiled.load("layout", SOURCES, read_layout))


def read_layout() -> tuple[tuple[Any, ...], ...]:
    """The fields of Layout, read from layout.toml: lists as tuples, tables as tuples of pairs."""
    import tomllib

    with open(os.path.join(os.path.dirname(__file__), "layout.toml"), "rb") as file:
        data = tomllib.load(file)
    values = (data[name] for name in Layout._fields)
    return tuple(tuple(v.items()) if isinstance(v, dict) else tuple(v) for v in values)
