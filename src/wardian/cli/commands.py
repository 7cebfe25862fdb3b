"""The commands by name, each loaded when it is called; click parses them and draws their help."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import click

from wardian.cli import output
from wardian.cli.options import Option

# command → module, and the line shown in `wardian --help` without loading it
COMMANDS = {
    "run": ("wardian.cli.run", "Run a skill's script in the sandbox."),
    "exec": ("wardian.cli.exec", "Run a command in the sandbox."),
    "up": ("wardian.cli.up", "Start a sandbox that stays, for commands to run in."),
    "ps": ("wardian.cli.ps", "List the sandboxes that stay, and what runs in them."),
    "logs": ("wardian.cli.logs", "Show what background commands of a sandbox printed."),
    "forward": ("wardian.cli.forward", "Make a port of a sandbox reachable on this host."),
    "down": ("wardian.cli.down", "End sandboxes that stay."),
    "trace": ("wardian.cli.trace", "Run one of both, and tell everything that it did."),
    "learn": ("wardian.cli.learn", "Find the smallest policy under which runs pass, and prove it."),
    "test": ("wardian.cli.test", "Run the cases that show a skill to work."),
    "probe": ("wardian.cli.probe", "Measure what a sandbox can do, and compare."),
    "report": ("wardian.cli.report", "Draw what was measured as pages to look at."),
    "syscalls": (
        "wardian.cli.syscalls",
        "Tell of every system call what is decided and measured.",
    ),
    "suite": ("wardian.cli.suite", "Run suites of tests that others wrote, and compare."),
    "nightly": ("wardian.cli.nightly", "Measure everything, compare with last time, propose."),
    "history": ("wardian.cli.history", "Tell since when things are as they are, and what changed."),
    "doctor": ("wardian.cli.doctor", "Tell which walls and backends work here, and what to do."),
    "policy": ("wardian.cli.policy", "Show the policy that a run would get, and compare two."),
    "log": ("wardian.cli.log", "List and show the runs that were recorded."),
    "new": ("wardian.cli.new", "Make a skill to start from."),
    "install": ("wardian.cli.install", "Copy skills to where agents look for them."),
    "cache": ("wardian.cli.cache", "Show and remove the packages that were prepared for runs."),
    "check": ("wardian.cli.check", "Check skills by the specification."),
    "list": ("wardian.cli.list", "List the skills that agents see from here."),
    "show": ("wardian.cli.show", "Show what a skill is and needs."),
    "pack": ("wardian.cli.pack", "Pack a skill's directory into a .skill file."),
    "unpack": ("wardian.cli.unpack", "Unpack a skill from an archive that nobody trusts."),
}


class Rendered(click.Command):
    """A command whose options are a table: parsed by ``options.parse``, drawn by click."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if any(word in ("--help", "-h") for word in args):
            click.echo(self.get_help(ctx))
            ctx.exit()
        ctx.params["args"] = list(args)
        return []


def click_options(table: Sequence[Option]) -> list[click.Parameter]:
    """The table as click knows it."""
    options: list[click.Parameter] = []
    for option in table:
        names = [f"-{option.short}"] if option.short else []
        names.append(f"--{option.name}")
        options.append(
            click.Option(
                [*names, f"opt_{option.name.replace('-', '_')}"],
                metavar=option.metavar or None,
                is_flag=not option.metavar,
                multiple=option.several,
                help=option.help + (" Repeatable." if option.several else ""),
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
    """The command of a run. ``words`` are its arguments: ``name``, ``[name]``, ``name...``.

    Modules make it when somebody asks for their ``command``: click is slow to load.
    """
    arguments = [
        click.Argument(
            [word.strip("[].")],
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


class Commands(click.Group):
    """Loads a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name][0])
        found: click.Command = module.command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        from wardian import __version__

        click.echo(f"wardian {__version__}")
        ctx.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  wardian doctor
  wardian exec -- python3 -c 'print(6 * 7)'""",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Version."
)
def group() -> None:
    """Run Agent Skills, and anything else, under glass."""


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
        return _usage(error, None)
    except click.exceptions.Abort as abort:
        from wardian.cli.progress import Interrupted

        if not isinstance(abort.__cause__, Interrupted):
            output.say("wardian: interrupted")
        return 130
    except SystemExit:  # click's answer to a reader of ours that went away
        raise BrokenPipeError from None
    except click.ClickException as error:
        output.say_error(error.format_message(), None)
        return error.exit_code
    return code if isinstance(code, int) else 0


def _usage(error: click.UsageError, hint: str | None) -> int:
    path = error.ctx.command_path if error.ctx is not None else "wardian"
    message = error.format_message().rstrip(".")
    output.say_error(message[:1].lower() + message[1:], hint or f"see: {path} --help")
    return output.USAGE
