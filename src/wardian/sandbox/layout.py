"""layout.toml as data: what every guest finds in its root, whatever its policy."""

from __future__ import annotations

import functools
import os
import tomllib
from typing import NamedTuple

USER_ID = 1000
HOSTNAME = "wardian"
WORK = "/work"
INODES = 200_000
PTYS = 64


class Layout(NamedTuple):
    """See layout.toml, which has a comment on each."""

    read: tuple[str, ...]
    roots: tuple[str, ...]
    etc: tuple[str, ...]
    etc_network: tuple[str, ...]
    devices: tuple[str, ...]
    masks: tuple[str, ...]
    private: tuple[tuple[str, int], ...]
    sysctl: tuple[tuple[str, str], ...]
    files: tuple[tuple[str, str], ...]
    environment: tuple[tuple[str, str], ...]


@functools.cache
def layout() -> Layout:
    """The shipped layout."""
    with open(os.path.join(os.path.dirname(__file__), "layout.toml"), "rb") as file:
        data = tomllib.load(file)
    return Layout(
        read=tuple(data["read"]),
        roots=tuple(data["roots"]),
        etc=tuple(data["etc"]),
        etc_network=tuple(data["etc_network"]),
        devices=tuple(data["devices"]),
        masks=tuple(data["masks"]),
        private=tuple(data["private"].items()),
        sysctl=tuple(data["sysctl"].items()),
        files=tuple(data["files"].items()),
        environment=tuple(data["environment"].items()),
    )
