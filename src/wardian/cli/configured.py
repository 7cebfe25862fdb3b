"""The user's settings and those of the project, read from their files. ``settings`` decides whether
there is anything to read."""

from __future__ import annotations

import os

from wardian.cli import output
from wardian.cli.settings import OFF, settings_file
from wardian.errors import InputError

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NamedTuple

    from wardian.cli.options import Given
    from wardian.sandbox.policy.policy import Policy
else:
    from wardian.values import NamedTuple

MAX_BYTES = 1 << 20
# table → key; what is not here is a table of a policy file
_OWN = {"record": ("dir",), "run": ("policy", "backend"), "backend": ("accept",)}


class SettingsError(InputError):
    """A settings file that cannot be read, or sets what it may not set."""


class UserSettings(NamedTuple):
    """The user's file. ``tables`` are those of a policy file."""

    path: str = ""
    text: str = ""
    policy: str | None = None
    backend: str | None = None
    record: str | None = None
    accept: Mapping[str, tuple[str, ...]] = {}
    tables: Mapping[str, Any] = {}


_read: dict[tuple[object, ...], UserSettings] = {}


def user_settings() -> UserSettings:
    """The user's settings; empty if there is no file. Raises SettingsError."""
    path = settings_file()
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return UserSettings()
    except OSError as error:
        raise SettingsError(f"can't be read: {error.strerror}", path=path) from None
    key = (path, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    if key not in _read:
        from wardian.sandbox.paths.whole_files import read_decisive

        data = read_decisive(path, MAX_BYTES, SettingsError)
        _read[key] = _UserFile(path, decoded(data, path)).settings()
    return _read[key]


def decoded(data: bytes, path: str) -> str:
    """The text of a settings file. Raises SettingsError."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise SettingsError("is not UTF-8 text", path=path) from None


class _UserFile:
    """One file; knows its text, to report the place of an error."""

    def __init__(self, path: str, text: str) -> None:
        from wardian import toml

        self.path, self.text = path, text
        self.document = toml.parse(text, path, SettingsError)

    def settings(self) -> UserSettings:
        from wardian import toml
        from wardian.sandbox.policy.file import TABLES

        for table, content in self.document.items():
            if table not in _OWN and table not in TABLES:
                hint = toml.suggest(table, (*_OWN, *TABLES))
                raise self.error([table], f"unknown table [{table}]", hint)
            if not isinstance(content, dict):
                raise self.error([table], f"{table} must be a table: write [{table}]")
        for table in ("record", "run"):
            for key in self.document.get(table, {}):
                self._known(table, key, _OWN[table])
        return UserSettings(
            path=self.path,
            text=self.text,
            policy=self._policy(),
            backend=self._backend(),
            record=self._record(),
            accept=self._accept(),
            tables={name: one for name, one in self.document.items() if name in TABLES},
        )

    def _known(self, table: str, key: str, known: tuple[str, ...]) -> None:
        from wardian import toml

        if key not in known:
            message = f"unknown key {key!r} in [{table}]"
            raise self.error([*table.split("."), key], message, toml.suggest(key, known))

    def _string(self, table: str, key: str) -> str | None:
        value = self.document.get(table, {}).get(key)
        if value is not None and not isinstance(value, str):
            raise self.error([table, key], f"{key}: expected a string")
        return value

    def _policy(self) -> str | None:
        from wardian.cli.options import is_file

        name = self._string("run", "policy")
        if name is not None and is_file(name) and not os.path.isabs(os.path.expanduser(name)):
            raise self.error(["run", "policy"], f"policy: {name!r} is not an absolute path")
        return name

    def _backend(self) -> str | None:
        from wardian import toml
        from wardian.sandbox.backends import NAMES

        name = self._string("run", "backend")
        if name == "host":
            message = "backend: host is only accepted on the command line"
            raise self.error(["run", "backend"], message, "run without a sandbox: --backend host")
        if name is not None and name not in NAMES:
            message = f"backend: unknown backend {name!r}"
            raise self.error(["run", "backend"], message, toml.suggest(name, NAMES))
        return name

    def _record(self) -> str | None:
        directory = self._string("record", "dir")
        if directory is None or directory == OFF:
            return None
        expanded = os.path.expanduser(directory)
        if not os.path.isabs(expanded):
            raise self.error(["record", "dir"], f"dir: {directory!r} is not an absolute path")
        return os.path.normpath(expanded)

    def _accept(self) -> dict[str, tuple[str, ...]]:
        """The walls that each backend may lack."""
        from wardian import toml
        from wardian.sandbox.backends import NAMES

        found = {}
        for name, content in self.document.get("backend", {}).items():
            if name not in NAMES or name == "host":
                known = [one for one in NAMES if one != "host"]
                message = f"unknown backend {name!r}"
                raise self.error(["backend", name], message, toml.suggest(name, known))
            if not isinstance(content, dict):
                raise self.error(["backend", name], f"must be a table: write [backend.{name}]")
            for key in content:
                self._known(f"backend.{name}", key, _OWN["backend"])
            found[name] = self._walls(name, content.get("accept", []))
        return found

    def _walls(self, backend: str, names: object) -> tuple[str, ...]:
        from wardian import toml
        from wardian.sandbox.backends.walls import NAMES
        from wardian.sandbox.run.protections import CGROUP

        keys = ["backend", backend, "accept"]
        if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
            raise self.error(keys, 'accept: expected a list of strings, such as ["landlock"]')
        for name in names:
            if name not in (*NAMES, CGROUP):
                message = f"accept: there is no wall {name!r}"
                raise self.error(keys, message, toml.suggest(name, (*NAMES, CGROUP)))
        return tuple(names)

    def error(self, keys: list[str], message: str, hint: str | None = None) -> SettingsError:
        from wardian import toml

        line, column = toml.locate(self.text, keys)
        return SettingsError(message, path=self.path, line=line, column=column, hint=hint)


# Policies


class Layer(NamedTuple):
    """The policy after one source was applied; ``source`` is a path, or ``shipped``."""

    source: str
    policy: Policy
    text: str = ""
    prefix: tuple[str, ...] = ()


def user_policy() -> list[Layer]:
    """The shipped policy, and that of the user's file on top of it. Raises WardianError."""
    from wardian.cli.options import base_policy

    user = user_settings()
    layers = [Layer("shipped", base_policy(None))]
    if user.policy is not None:
        layers.append(Layer(user.path, base_policy(user.policy), user.text))
    if user.tables:
        from wardian.sandbox.policy.file import merged_policy

        policy = merged_policy(user.tables, user.text, user.path, layers[-1].policy)
        layers.append(Layer(user.path, policy, user.text))
    return layers


def layered(given: Given) -> list[Layer]:
    """Shipped, the user's, then each project file from the outermost directory to this one. Raises
    WardianError."""
    from wardian.cli.projects import tightened

    layers = user_policy()
    quiet = "quiet" in given
    return layers + tightened(layers[-1].policy, _written(given), quiet=quiet)


def configured_policy(given: Given) -> Policy:
    """The policy of the files. Raises WardianError."""
    return layered(given)[-1].policy


def _written(given: Given) -> list[str]:
    """What this run may write to, by its options; real paths."""
    from wardian.sandbox.policy.policy import Share

    base = os.getcwd()
    places = [os.path.join(base, os.path.expanduser(one)) for one in given.get("work", ())]
    places += [Share.parse(one, base=base).path for one in given.get("write", ()) if one]
    return [os.path.realpath(place) for place in places]


def accepting(policy: Policy, backend: str) -> Policy:
    """The policy without the walls that this backend lacks and the user accepts that it lacks. What
    the backend can enforce stays. Raises WardianError."""
    accept = user_settings().accept.get(backend, ())
    if not accept:
        return policy
    from wardian.sandbox.backends import shortfall

    lacking = [
        name
        for name in shortfall(backend, policy)
        if name in accept or name.partition(".")[0] in accept
    ]
    return policy._replace(degrade=tuple(dict.fromkeys((*policy.degrade, *lacking))))


def warn(line: str, *, quiet: bool) -> None:
    """Print a line about a file that was not used."""
    if not quiet:
        output.say(f"wardian: {line}")
