"""The user's own settings: flag, then ``WARDIAN_…``, then ``~/.config/wardian/config.toml``.

There is one so far: the directory in which runs are recorded. Every run asks for it, so that a file
that is not there must cost one look, and nothing heavy is imported.
"""

from __future__ import annotations

import os

from wardian.errors import InputError, UsageError
from wardian.homes import own_directory

VARIABLE = "WARDIAN_RECORD"
OFF = "none"
MAX_BYTES = 1 << 20
# table → key
_KNOWN = {"record": ("dir",)}


def record_directory(flag: str | None) -> str | None:
    """Where this run is to be recorded, absolute; None for nowhere. Raises WardianError."""
    if flag is not None:
        if not flag:
            raise UsageError("--record: a directory is needed")
        return None if flag == OFF else os.path.abspath(os.path.expanduser(flag))
    given = os.environ.get(VARIABLE)
    if given is not None:
        if given in ("", OFF):
            return None
        path = os.path.expanduser(given)
        if not os.path.isabs(path):
            raise UsageError(f"{VARIABLE}: {given!r} is not an absolute path")
        return os.path.normpath(path)
    return _from_file()


def settings_file() -> str:
    """Where the user's settings would be."""
    return os.path.join(own_directory("config"), "config.toml")


def _from_file() -> str | None:
    path = settings_file()
    try:
        os.stat(path)
    except OSError:
        return None
    text = _text_of(path)
    document = _parsed(path, text)
    directory = document.get("record", {}).get("dir")
    if directory is None:
        return None
    if not isinstance(directory, str):
        raise _error(path, text, ["record", "dir"], "dir: expected a string")
    if directory == OFF:
        return None
    expanded = os.path.expanduser(directory)
    if not os.path.isabs(expanded):
        raise _error(path, text, ["record", "dir"], f"dir: {directory!r} is not an absolute path")
    return os.path.normpath(expanded)


def _text_of(path: str) -> str:
    from wardian.sandbox.paths.whole_files import read_decisive

    try:
        return read_decisive(path, MAX_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text", path=path) from None


def _parsed(path: str, text: str) -> dict[str, dict[str, object]]:
    from wardian import toml

    document = toml.parse(text, path, InputError)
    for table, content in document.items():
        if table not in _KNOWN:
            raise _error(
                path, text, [table], f"unknown table [{table}]", toml.suggest(table, _KNOWN)
            )
        if not isinstance(content, dict):
            raise _error(path, text, [table], f"{table} must be a table: write [{table}]")
        for key in content:
            if key not in _KNOWN[table]:
                message = f"unknown key {key!r} in [{table}]"
                raise _error(path, text, [table, key], message, toml.suggest(key, _KNOWN[table]))
    return document


def _error(
    path: str, text: str, keys: list[str], message: str, hint: str | None = None
) -> InputError:
    from wardian import toml

    line, column = toml.locate(text, keys)
    return InputError(message, path=path, line=line, column=column, hint=hint)
