"""The record of installed skills: what was put where, from where, when, and with which digest."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from wardian.descriptors import put_file, unlink_in, write_all
from wardian.errors import SkillError
from wardian.homes import own_directory
from wardian.sandbox.paths.named import open_directory
from wardian.skills.digest import skill_digest
from wardian.skills.reading import read_bytes

FOLDER = "installed"
SCHEMA = "wardian.installed/1"
MAX_BYTES = 1 << 16
MAX_RECORDS = 10_000


class InstallRecord(NamedTuple):
    """``path`` is the real path of the installed folder, ``time`` in ISO 8601, UTC."""

    name: str
    path: str
    source: str
    time: str
    digest: str

    @property
    def changed(self) -> bool:
        """Whether the folder is not what was installed, or not there."""
        try:
            return skill_digest(Path(self.path)) != self.digest
        except SkillError:
            return True


def record_of(path: str) -> InstallRecord | None:
    """The record of the folder that has this real path now, if wardian installed it."""
    return _read(os.path.join(_place(), _file_name(path)))


def all_records() -> list[InstallRecord]:
    """Every record, by path."""
    try:
        names = sorted(os.listdir(_place()))[:MAX_RECORDS]
    except OSError:
        return []
    found = (_read(os.path.join(_place(), name)) for name in names if name.endswith(".json"))
    return sorted((one for one in found if one is not None), key=lambda one: one.path)


def write_record(record: InstallRecord) -> None:
    """In place of an earlier one of the same path. Raises OSError."""
    text = json.dumps({"schema": SCHEMA, **record._asdict()}, indent=2) + "\n"
    fd = open_directory(_place(), make=0o700)
    try:
        put_file(fd, _file_name(record.path), 0o600, lambda file: write_all(file, text.encode()))
    finally:
        os.close(fd)


def drop_record(path: str) -> None:
    """Raises OSError."""
    fd = open_directory(_place(), make=0o700)
    try:
        unlink_in(fd, _file_name(path))
    finally:
        os.close(fd)


def _place() -> str:
    return os.path.join(os.path.realpath(own_directory("state")), FOLDER)


def _file_name(path: str) -> str:
    import hashlib

    return hashlib.sha256(os.fsencode(path)).hexdigest() + ".json"


def _read(path: str) -> InstallRecord | None:
    try:
        document: Any = json.loads(read_bytes(Path(path), MAX_BYTES))
        fields = [document[name] for name in InstallRecord._fields]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    whole = document.get("schema") == SCHEMA and all(isinstance(one, str) for one in fields)
    return InstallRecord(*fields) if whole else None
