"""``wardian config``: the effective settings with their sources, and trust in project files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from wardian.cli import output, settings
from wardian.cli.commands import Rendered, click_options
from wardian.cli.options import POLICY_OPTIONS, RUN_OPTIONS, Given, Option, one, parse, policy_of
from wardian.cli.paths import NamedPath
from wardian.errors import NothingMatched, UsageError
from wardian.text import printable

if TYPE_CHECKING:
    from wardian.cli.configured import Layer
    from wardian.cli.projects import ProjectFile
    from wardian.sandbox.policy.policy import Policy

SCHEMA = "wardian.config/1"
PATH_SCHEMA = "wardian.config-path/1"
SHIPPED = "shipped"
SHOW_OPTIONS = (
    *POLICY_OPTIONS,
    *(option for option in RUN_OPTIONS if option.name in ("backend", "record")),
    Option("json", "", "One JSON document on stdout."),
    Option("help", "", "Show this message and exit.", short="h"),
)
# key of a policy file → the option that sets it
_FLAGS = {
    "files.read": ("read",),
    "files.write": ("write",),
    "files.work": ("work",),
    "files.rootfs": ("rootfs",),
    "network.mode": ("net",),
    "network.allow": ("net",),
    "network.deny": ("net",),
    "network.interface": ("interface",),
    "environment.set": ("env",),
    "syscalls.allow": ("allow-syscall", "debug"),
    "syscalls.deny": ("allow-syscall", "debug"),
    "protections.degrade": ("degrade",),
    "refusals.explain": ("explain",),
}
_LIMITS = ("time", "cpu", "memory", "processes", "files", "disk", "output")


@click.group(
    "config",
    epilog="""\b
Examples:
  wardian config show
  wardian config path

\b
Which file wins, and what each may hold: wardian help configuration
Exit code: 0 success, 2 usage, 3 no such file, 125 a file is wrong.""",
)
def command() -> None:
    """Show settings and where each value comes from; trust project files."""


def _show(args: list[str]) -> None:
    given, rest = parse(args, SHOW_OPTIONS)
    if rest:
        raise UsageError(f"unexpected argument {rest[0]!r}; config show takes options only")
    rows = effective(given)
    if "json" in given:
        document = {key: {"value": value, "source": source} for key, value, source in rows}
        output.print_json({"schema": SCHEMA, "settings": document})
        return
    shown = [(key, _text(value), source) for key, value, source in rows]
    widths = [max(len(row[i]) for row in shown) for i in (0, 1)]
    for key, text, source in shown:
        line = f"{key:<{widths[0]}}  {text:<{min(widths[1], 40)}}  # {source}"
        output.print_text(printable(line))


command.add_command(
    Rendered(
        "show",
        callback=_show,
        params=click_options(SHOW_OPTIONS),
        help="Print the effective settings and where each value comes from. Takes the policy "
        "options of `wardian exec`, --backend and --record.",
        epilog="""\b
Examples:
  wardian config show
  WARDIAN_MEMORY=1G wardian config show --time 30s --json""",
        add_help_option=False,
    )
)


def effective(given: Given) -> list[tuple[str, Any, str]]:
    """Each setting with its value and source. Raises WardianError."""
    layers = _layers(given)
    policy = settings.with_accepted(policy_of(given), settings.backend_of(given))
    named = settings.named_policy(given)
    rows: list[tuple[str, Any, str]] = [("policy", named or _user_policy() or "default", "")]
    rows[0] = (*rows[0][:2], _source_of_policy(given))
    rows.append(("backend", settings.backend_of(given), _source_of_backend(given)))
    directory = settings.record_directory(one(given, "record"))
    rows.append(("record.dir", directory or settings.OFF, _source_of_record(given)))
    values = _flat(policy)
    before = [_flat(layer.policy) for layer in layers]
    for key, value in values.items():
        rows.append((key, value, _source(key, value, layers, before, given)))
    return rows


def _layers(given: Given) -> list[Layer]:
    from wardian.cli.configured import Layer, layered
    from wardian.cli.options import base_policy

    name = settings.named_policy(given)
    if name is None:
        return layered({**given, "quiet": [""]})
    shipped = Layer(SHIPPED, base_policy(None))
    return [shipped, Layer(_source_of_policy(given), base_policy(name))]


def _flat(policy: Policy) -> dict[str, Any]:
    """The policy as ``table.key`` → value."""
    import tomllib

    document = tomllib.loads(policy.to_toml())
    return {
        f"{table}.{key}": value for table, one in document.items() for key, value in one.items()
    }


def _source(
    key: str, value: Any, layers: list[Layer], before: list[dict[str, Any]], given: Given
) -> str:
    """The last that changed it: an option, a variable, a file with its line, or the preset."""
    table, _, name = key.partition(".")
    flags = (name,) if table == "limits" else _FLAGS.get(key, ())
    for flag in flags:
        if flag in given:
            return f"--{flag}"
    if table == "limits" and os.environ.get(settings.limit_variable(name)):
        return settings.limit_variable(name)
    if value != before[-1].get(key):
        return _accepted()
    for i in range(len(layers) - 1, 0, -1):
        if before[i].get(key) != before[i - 1].get(key):
            return _place(layers[i], table, name)
    return SHIPPED


def _accepted() -> str:
    """The only other thing that changes a policy: walls that the user accepts to lack."""
    return f"{settings.settings_file()}: accept"


def _place(layer: Layer, table: str, name: str) -> str:
    from wardian import toml

    keys = [*layer.prefix, table, name]
    if not layer.text:
        return layer.source
    line, _ = toml.locate(layer.text, keys)
    return f"{layer.source}:{line}"


def _user_policy() -> str | None:
    from wardian.cli.configured import user_settings

    return user_settings().policy


def _source_of_policy(given: Given) -> str:
    if "policy" in given:
        return "--policy"
    if os.environ.get(settings.POLICY_VARIABLE):
        return settings.POLICY_VARIABLE
    return _in_user_file("run", "policy") if _user_policy() is not None else SHIPPED


def _source_of_backend(given: Given) -> str:
    from wardian.cli.configured import user_settings

    if "backend" in given:
        return "--backend"
    if os.environ.get(settings.BACKEND_VARIABLE):
        return settings.BACKEND_VARIABLE
    return _in_user_file("run", "backend") if user_settings().backend is not None else SHIPPED


def _source_of_record(given: Given) -> str:
    from wardian.cli.configured import user_settings

    if "record" in given:
        return "--record"
    if os.environ.get(settings.VARIABLE) is not None:
        return settings.VARIABLE
    return _in_user_file("record", "dir") if user_settings().record is not None else SHIPPED


def _in_user_file(table: str, key: str) -> str:
    from wardian import toml
    from wardian.cli.configured import user_settings

    user = user_settings()
    return f"{user.path}:{toml.locate(user.text, [table, key])[0]}"


def _text(value: Any) -> str:
    """A value as TOML would spell it."""
    from wardian.toml import quoted

    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {_text(each)}' for key, each in value.items())}}}"
    return str(value)


@command.command(
    "path",
    epilog="""\b
Examples:
  wardian config path
  wardian config path --json

\b
Exit code: 0 success, 2 usage.""",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def path(as_json: bool) -> None:
    """Print the path of your settings, and the project files that apply here."""
    from wardian.cli.projects import project_file
    from wardian.cli.trusting import is_trusted

    files = [("user", settings.settings_file(), _state(os.path.exists(settings.settings_file())))]
    for directory in reversed(settings.directories()):
        found = project_file(directory)
        if found is not None:
            used = found.doubt is None or is_trusted(found)
            files.append(("project", found.path, "" if used else f"ignored: {found.doubt}"))
    if as_json:
        listed = [
            {"kind": kind, "path": output.valid(place), "note": note} for kind, place, note in files
        ]
        output.print_json({"schema": PATH_SCHEMA, "files": listed})
        return
    for kind, place, note in files:
        output.print_text(printable(f"{kind:<9}{place}" + (f"  ({note})" if note else "")))


def _state(exists: bool) -> str:
    return "" if exists else "does not exist"


_FILE = click.argument("file", required=False, type=NamedPath(), metavar="[FILE]")


@command.command(
    "trust",
    epilog="""\b
Examples:
  wardian config trust
  wardian config trust ~/src/app/wardian.toml

\b
Exit code: 0 trusted, 2 usage, 3 no such file, 125 the file is wrong.""",
)
@_FILE
def trust(file: str | None) -> None:
    """Use a project file although a guest may write to its directory.

    FILE is a wardian.toml, or a pyproject.toml with [tool.wardian] (default: the one in the current
    directory). Its present content is trusted; review it first. If it changes or disappears later,
    runs refuse to start until you trust it again, or `wardian config untrust` it.
    """
    from wardian.cli.configured import user_policy
    from wardian.cli.projects import project_file, read_file, shown, tighter
    from wardian.cli.trusting import trust as record

    place = os.path.realpath(os.path.dirname(os.path.abspath(file or settings.PROJECT_FILE)))
    if file is not None and os.path.basename(file) not in (
        settings.PROJECT_FILE,
        settings.PYPROJECT,
    ):
        raise UsageError(f"FILE: must be a {settings.PROJECT_FILE} or a {settings.PYPROJECT}")
    found = project_file(place)
    if found is None or (file is not None and os.path.basename(file) != _name(found)):
        raise NothingMatched(f"no project settings in {place}", hint="see: wardian config path")
    text = read_file(found.path).decode("utf-8", "replace")
    checked = found._replace(text=text, doubt=None)
    tighter(checked, user_policy()[-1].policy)
    record(checked)
    output.say(f"wardian: trusted as it is now: {shown(found)}")


def _name(found: ProjectFile) -> str:
    return os.path.basename(found.path)


@command.command(
    "untrust",
    epilog="""\b
Examples:
  wardian config untrust
  wardian config untrust ~/src/app/wardian.toml

\b
Exit code: 0 withdrawn, 2 usage, 3 it was not trusted.""",
)
@_FILE
def untrust(file: str | None) -> None:
    """Withdraw the trust in a project file; default: those in the current directory."""
    from wardian.cli.trusting import distrust

    names = [file] if file is not None else [settings.PROJECT_FILE, settings.PYPROJECT]
    gone = []
    for name in names:
        folder, base = os.path.split(os.path.abspath(name))
        place = os.path.join(os.path.realpath(folder), base)
        if distrust(place):
            gone.append(place)
    if not gone:
        raise NothingMatched("no trusted project file there", hint="see: wardian config path")
    for place in gone:
        output.say(f"wardian: not trusted any more: {printable(place)}")
