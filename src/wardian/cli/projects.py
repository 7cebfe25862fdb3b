"""Project settings: ``wardian.toml``, or ``[tool.wardian]`` in ``pyproject.toml``, in the working
directory and its parents. They may only tighten.

What a guest may have written decides nothing: a file in a directory that is or was shared for
writing is ignored, unless the user has trusted exactly its content (``wardian config trust``). Once
trusted there, a file that changed or is gone is an error, since a guest may have done that, too.
"""

from __future__ import annotations

import os
import stat

from wardian.cli.configured import Layer, SettingsError, decoded, warn
from wardian.cli.settings import PROJECT_FILE, PYPROJECT, directories

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, NamedTuple

    from wardian.sandbox.policy.policy import Policy
else:
    from wardian.values import NamedTuple

MAX_BYTES = 1 << 20
TABLE = ("tool", "wardian")
_MAY_ONLY = "project settings may only tighten; use an option or your own settings instead"
# Keys that can only widen, or choose what is not the project's to choose, with the reason.
_NEVER = {
    "files.read": "share files",
    "files.write": "share files",
    "files.copy": "share files",
    "files.work": "share files",
    "files.rootfs": "choose a root file system",
    "network.allow": "allow hosts",
    "network.tls": "set rules for requests, which may name secrets",
    "network.interface": "add a network interface",
    "environment.pass": "pass variables",
    "environment.set": "set variables",
    "syscalls.allow": "allow system calls",
    "syscalls.debug": "allow debuggers",
    "protections.degrade": "give up walls",
    "refusals.explain": "change what is reported",
    "run": "choose a policy or a backend",
    "backend": "accept what a backend lacks",
    "record": "record runs",
}


class ProjectFile(NamedTuple):
    """One file with settings. ``doubt``: why a guest or another user may have written it."""

    path: str
    text: str
    prefix: tuple[str, ...]
    doubt: str | None = None


def tightened(base: Policy, writable: Sequence[str], *, quiet: bool) -> list[Layer]:
    """The policy after each project file, the outermost first. ``writable``: what the run may
    write to. Raises SettingsError and PolicyError."""
    from wardian.cli.trusting import is_trusted, refuse_missing

    refuse_missing()
    layers: list[Layer] = []
    for directory in reversed(directories()):
        found = project_file(directory, writable)
        if found is None:
            continue
        if found.doubt is not None and not is_trusted(found):
            from wardian.text import shell_word

            warn(
                f"{shown(found)} is ignored: {found.doubt}; to use it as it is now: "
                f"wardian config trust {shell_word(found.path)}",
                quiet=quiet,
            )
            continue
        policy = tighter(found, layers[-1].policy if layers else base)
        layers.append(Layer(found.path, policy, found.text, found.prefix))
    return layers


def shown(file: ProjectFile) -> str:
    """The file's path, made safe to print."""
    from wardian.text import printable

    return printable(file.path)


def project_file(directory: str, writable: Sequence[str] = ()) -> ProjectFile | None:
    """The settings in a directory; wardian.toml wins. Raises SettingsError for one that is no
    regular file, too large or not text, if it lies where only the user writes."""
    own = os.path.join(directory, PROJECT_FILE)
    if os.path.lexists(own):
        doubt = doubt_of(own, writable)
        text = decoded(read_file(own), own) if doubt is None else _text_or_nothing(own)
        return ProjectFile(own, text, (), doubt)
    path = os.path.join(directory, PYPROJECT)
    text = _text_or_nothing(path)
    if not _may_have_table(text) or table_of(text) is None:
        return None
    return ProjectFile(path, text, TABLE, doubt_of(path, writable))


def _may_have_table(text: str) -> bool:
    """Whether the table may be there: a look at the text, since most files have none and parsing
    them costs as much as starting a run."""
    if "wardian" not in text:
        return False
    compact = text
    for character in " \t\"'":
        compact = compact.replace(character, "")
    return any(mark in compact for mark in ("tool.wardian", "[tool]", "tool={", "\\u", "\\U"))


def table_of(text: str) -> dict[str, Any] | None:
    """``[tool.wardian]`` of a pyproject.toml; None if there is none, or it is no TOML."""
    from wardian import toml

    try:
        document = toml.loads(text)
    except (ValueError, RecursionError):
        return None  # other tools report that
    tool = document.get("tool")
    found = tool.get("wardian") if isinstance(tool, dict) else None
    return found if isinstance(found, dict) else None


def read_file(path: str) -> bytes:
    """A file's content, through no link, bounded. Raises SettingsError."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    try:
        if stat.S_ISLNK(os.lstat(path).st_mode):
            raise SettingsError("is a link; write the file itself there", path=path)
        with open(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SettingsError("is not a regular file", path=path)
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SettingsError(f"can't be read: {error.strerror}", path=path) from None
    if len(data) > MAX_BYTES:
        raise SettingsError(f"is larger than {MAX_BYTES} bytes", path=path)
    return data


def _text_or_nothing(path: str) -> str:
    try:
        return decoded(read_file(path), path)
    except SettingsError:
        return ""


def doubt_of(path: str, writable: Sequence[str] = ()) -> str | None:
    """Why somebody else than the user may have written a file, as a clause; None if nobody."""
    from wardian.sandbox.paths.named import trusted_owners, was_shared
    from wardian.sandbox.root.shares import is_below
    from wardian.text import printable

    now = next((place for place in writable if is_below(path, place)), None)
    if now is not None:
        return f"this run may write to {printable(now)}"
    shared = was_shared(path)
    if shared is not None:
        return f"a guest may have written it: {printable(shared)} was shared for writing"
    try:
        found = os.lstat(path)
    except OSError:
        return None
    if found.st_uid not in trusted_owners():
        return "it belongs to another user"
    if found.st_mode & stat.S_IWOTH and not stat.S_ISLNK(found.st_mode):
        return "every user may write to it"
    return None


# Tightening


def tighter(file: ProjectFile, base: Policy) -> Policy:
    """``base``, tightened by the file. Raises SettingsError and PolicyError with the place of what
    would loosen it, or is wrong otherwise."""
    from wardian import toml
    from wardian.sandbox.policy.file import TABLES, merged_policy

    if file.prefix:
        tables: Mapping[str, Any] = table_of(file.text) or {}
    else:
        tables = toml.parse(file.text, file.path, SettingsError)
    for table, content in tables.items():
        if table in _NEVER:
            raise _never(file, [table])
        if table not in TABLES or not isinstance(content, dict):
            merged_policy({table: content}, file.text, file.path, base, file.prefix)  # raises
        for key, value in content.items():
            if f"{table}.{key}" in _NEVER:
                raise _never(file, [table, key])
            alone = merged_policy({table: {key: value}}, file.text, file.path, base, file.prefix)
            _refuse_wider(file, [table, key], base, alone)
    policy = merged_policy(tables, file.text, file.path, base, file.prefix)
    _refuse_wider(file, [], base, policy)
    return policy


def _refuse_wider(file: ProjectFile, keys: list[str], base: Policy, policy: Policy) -> None:
    from wardian.sandbox.policy.difference import differences

    for one in differences(base, policy):
        if one.more != "a":
            name = ".".join(keys) or "this file"
            message = f"{name} would loosen the policy: {_expected(keys, base) or one.text}"
            raise _error(file, keys, message, _MAY_ONLY)


def _expected(keys: list[str], base: Policy) -> str:
    """What would not loosen it."""
    from wardian.sandbox.policy.difference import NOUNS
    from wardian.sandbox.policy.file import NETWORK_LIMITS
    from wardian.sandbox.policy.policy import LIMIT_FIELDS
    from wardian.sandbox.policy.units import format_size

    table, key = (*keys, "", "")[:2]
    if table == "limits" and key in LIMIT_FIELDS:
        field = LIMIT_FIELDS[key]
        value = getattr(base.limits, field)
        return f"expected at most {NOUNS[field][1](value)}" if value is not None else ""
    if table == "network" and key in NETWORK_LIMITS:
        value = getattr(base, NETWORK_LIMITS[key])
        spelt = format_size if key in ("max_sent", "max_received") else str
        return f"expected at most {spelt(value)}" if value is not None else ""
    if (table, key) == ("network", "mode"):
        narrower = {"none": '"none"', "names": '"none" or "names"'}
        return f"expected {narrower[base.network]}" if base.network in narrower else ""
    if (table, key) == ("environment", "only"):
        return f"expected names among {', '.join(base.pass_env)}"
    return f"expected at least {base.landlock_abi}" if table == "landlock" else ""


def _never(file: ProjectFile, keys: list[str]) -> SettingsError:
    name = ".".join(keys)
    return _error(file, keys, f"{name}: a project may not {_NEVER[name]}", _MAY_ONLY)


def _error(file: ProjectFile, keys: list[str], message: str, hint: str) -> SettingsError:
    from wardian import toml

    line, column = toml.locate(file.text, [*file.prefix, *keys]) if keys else (1, 1)
    return SettingsError(message, path=file.path, line=line, column=column, hint=hint)
