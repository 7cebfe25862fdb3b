"""All commands by name and group, each imported when it is called. click parses most of them and
formats the help of all."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from typing import Any

import click

from wardian.cli import output
from wardian.cli.options import Option

# group → command → module and summary, shown in `wardian --help` without importing the command
GROUPS = {
    "Run": {
        "run": ("wardian.cli.run", "Run a skill's script in the sandbox."),
        "exec": ("wardian.cli.exec", "Run a command in the sandbox."),
        "up": ("wardian.cli.up", "Start a living sandbox for many commands."),
        "ps": ("wardian.cli.ps", "List living sandboxes and their commands."),
        "logs": ("wardian.cli.logs", "Print the output of background commands."),
        "forward": ("wardian.cli.forward", "Forward a port of a living sandbox to this host."),
        "down": ("wardian.cli.down", "End living sandboxes."),
    },
    "Inspect": {
        "trace": (
            "wardian.cli.trace",
            "Run a skill's script or a command and report everything it did.",
        ),
        "learn": ("wardian.cli.learn", "Derive the smallest policy under which runs pass."),
        "policy": ("wardian.cli.policy", "Show the policy of a run, compare two, list presets."),
        "log": ("wardian.cli.log", "List and show recorded runs."),
    },
    "Skills": {
        "new": ("wardian.cli.new", "Create a skill from a template."),
        "check": ("wardian.cli.check", "Validate skills against the specification."),
        "test": ("wardian.cli.test", "Run a skill's test cases."),
        "list": ("wardian.cli.list", "List the skills that agents find from here."),
        "show": ("wardian.cli.show", "Describe a skill: scripts, dependencies, requests."),
        "install": ("wardian.cli.install", "Copy skills to where agents look for them."),
        "pack": ("wardian.cli.pack", "Pack a skill into a .skill file."),
        "unpack": ("wardian.cli.unpack", "Unpack a skill from an untrusted archive."),
    },
    "Measure": {
        "probe": ("wardian.cli.probe", "Measure the capabilities of a sandbox."),
        "syscalls": (
            "wardian.cli.syscalls",
            "Show the policy decision and measured support for each system call.",
        ),
        "suite": ("wardian.cli.suite", "Run third-party test suites in any sandbox."),
        "nightly": ("wardian.cli.nightly", "Measure everything and compare with the last time."),
        "history": ("wardian.cli.history", "Show how measurements changed over time."),
        "report": ("wardian.cli.report", "Write measurements as a static website."),
    },
    "Host": {
        "doctor": ("wardian.cli.doctor", "Check which walls and backends work on this host."),
        "config": ("wardian.cli.config", "Show settings and where each value comes from."),
        "cache": ("wardian.cli.cache", "Show and remove prepared packages."),
        "completion": ("wardian.cli.completion", "Print a completion script for your shell."),
        "help": ("wardian.cli.help", "Explain a topic, such as network or limits."),
    },
}
COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}


class Rendered(click.Command):
    """A command with a table of options: parsed by ``options.parse``, formatted by click."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if any(word in ("--help", "-h") for word in args):
            click.echo(self.get_help(ctx))
            ctx.exit()
        ctx.params["args"] = list(args)
        return []


def click_options(table: Sequence[Option]) -> list[click.Parameter]:
    """The table as click options."""
    options: list[click.Parameter] = []
    for option in table:
        names = [f"-{option.short}"] if option.short else []
        names.append(f"--{option.name}")
        options.append(
            click.Option(
                names,
                metavar=option.metavar or None,
                is_flag=not option.metavar,
                multiple=option.several,
                help=option.described,
            )
        )
    return options


def rendered(
    name: str,
    run: Callable[[list[str]], int],
    options: Sequence[Option],
    words: Sequence[str],
    help: str,
    epilog: str,
    *,
    usage: str = "[OPTIONS]",
) -> click.Command:
    """A click command for ``run``. ``words`` are its arguments: ``name``, ``[name]``, ``name...``.

    Modules create it lazily, as their attribute ``command``: importing click is slow.
    """
    arguments = [
        click.Argument(
            [f"argument_{word.strip('[].')}"],  # an option may have the same name
            metavar=_metavar(word),
            required=word.isidentifier(),
            nargs=-1 if word.endswith("...") else 1,
        )
        for word in words
    ]
    return Rendered(
        name,
        callback=lambda args: click.get_current_context().exit(run(args)),
        params=[*click_options(options), *arguments],
        help=help,
        epilog=epilog,
        add_help_option=False,
        options_metavar=usage,
    )


def _metavar(word: str) -> str:
    """``name`` → NAME, ``[name]`` → [NAME], ``name...`` → [NAME]..."""
    name = word.strip("[].").upper()
    if word.endswith("..."):
        return f"[{name}]..."
    return f"[{name}]" if word.startswith("[") else name


class Commands(click.Group):
    """The group of all commands; imports a command's module when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name][0])
        found: click.Command = module.command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(f"{name:<{width}}", line) for name, (_, line) in commands.items()]
                )


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        from wardian import __version__

        click.echo(f"wardian {__version__}")
        ctx.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  wardian doctor
  wardian exec -- python3 -c 'print(6 * 7)'
  wardian run skills/csv-report report.py --work . -- sales.csv

\b
Help: wardian COMMAND --help, wardian help TOPIC""",
)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Print the version and exit.",
)
def group() -> None:
    """Run Agent Skills, and any other command, in a sandbox."""


def run(args: list[str]) -> int:
    """Run one command line; returns the exit code. Raises WardianError and OSError."""
    if not args:
        args = ["--help"]
    try:
        code: Any = group.main(args, prog_name="wardian", standalone_mode=False)
    except click.exceptions.NoSuchOption as error:
        near = ", ".join(error.possibilities or ())
        return _usage(error, f"did you mean {near}?" if near else None)
    except click.UsageError as error:
        return _usage(error, _nearest_command(error))
    except click.exceptions.Abort as abort:
        from wardian.cli.progress import Interrupted

        if not isinstance(abort.__cause__, Interrupted):
            output.say("wardian: interrupted")
        return 130
    except SystemExit:  # click exits this way on a broken pipe
        raise BrokenPipeError from None
    except click.ClickException as error:
        output.say_error(error.format_message(), None)
        return error.exit_code
    return code if isinstance(code, int) else 0


def _nearest_command(error: click.UsageError) -> str | None:
    """The hint for a mistyped command or subcommand; None for other errors."""
    ctx = error.ctx
    found = re.match(r"No such command '(.*?)'(?:\.|$)", error.format_message(), re.DOTALL)
    if ctx is None or found is None or not isinstance(ctx.command, click.Group):
        return None
    near = suggestions(found[1], ctx.command.list_commands(ctx))
    if near:
        return "did you mean " + " or ".join(f"`{ctx.command_path} {name}`" for name in near) + "?"
    return f"list commands with: {ctx.command_path} --help"


def suggestions(word: str, known: Sequence[str]) -> list[str]:
    """Known words that start with a mistyped one or are nearest to it, at most two. Pure."""
    import difflib

    near = difflib.get_close_matches(word.lower(), known, 2, 0.6)
    begun = [name for name in known if len(word) > 1 and name.startswith(word.lower())]
    return list(dict.fromkeys((*begun, *near)))[:2]


def _usage(error: click.UsageError, hint: str | None) -> int:
    path = error.ctx.command_path if error.ctx is not None else "wardian"
    message = error.format_message().partition(" Did you mean")[0].rstrip(".")
    output.say_error(message[:1].lower() + message[1:], hint or f"list options with: {path} --help")
    return output.USAGE
