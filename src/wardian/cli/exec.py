"""``wardian exec``: run any command in the sandbox, on this terminal, with our signals."""

from __future__ import annotations

from wardian.cli import running
from wardian.cli.options import (
    ASSEMBLED,
    EXEC_OPTIONS,
    INSIDE_OPTIONS,
    Given,
    one,
    parse,
    policy_of,
    verbosity,
)
from wardian.errors import UsageError

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    import click

HELP = """Run COMMAND in a sandbox: no network, no host files, no other processes.

It gets its own root with /usr read-only, a private /tmp and home, and /work, where it starts.
What else it may reach is named by options. With --skill, that skill is at /skill ($SKILL_DIR), and
the packages that it declares, with those of --with, come first on PATH. Its exit code is ours; 124
means its time was up, 125 that wardian refused, 126 and 127 that COMMAND can't be executed or is
not there, 128+N that signal N ended it.

With --sandbox it runs in one that `wardian up` started, beside the other commands there; what that
one may reach was settled then.
"""
EXAMPLES = """\b
Examples:
  wardian exec -- python3 -c 'print(6 * 7)'
  wardian exec --work . --time 30s --memory 512M -- python3 convert.py in.csv
  wardian exec --net pypi.org --net files.pythonhosted.org -- pip download six
  wardian exec --skill csv-report --work . -- sh -c 'python $SKILL_DIR/scripts/report.py in.csv'
  wardian exec --with pandas --with npm:marked -- python3 -c 'import pandas'
  wardian exec --sandbox NAME -- python3 -c 'print(6 * 7)'
  wardian exec --python 3.12 --with pandas -- sh -c 'python -V; pip list'

\b
Options end at the first word of COMMAND, with or without --."""


def run(args: list[str]) -> int:
    """Run the command line after ``wardian exec`` and return its exit code. Raises WardianError."""
    given, argv = parse(args, (*INSIDE_OPTIONS, *EXEC_OPTIONS))
    if "help" in given:
        from wardian.cli import commands

        return commands.run(["exec", "--help"])
    if not argv:
        raise UsageError(
            "no command was given", hint="write it last: wardian exec [OPTIONS] -- COMMAND [ARGS]…"
        )
    if "sandbox" in given:
        from wardian.cli import inside

        return inside.run_inside(argv, given)
    if "background" in given:
        raise UsageError(
            "--background needs a sandbox that stays: --sandbox NAME", hint="start it: wardian up"
        )
    return run_command(argv, given)


def run_command(argv: list[str], given: Given, watcher: running.RunWatcher | None = None) -> int:
    """Run a command as the options say and return its exit code. Raises WardianError."""
    if not ASSEMBLED.isdisjoint(given):
        return _assembled(argv, given, watcher)
    as_json, tty = "json" in given, running.wants_tty(given)
    from wardian.sandbox.sandbox import Sandbox

    policy, hints = policy_of(given, may_ask=True), list[str]()
    make = Sandbox if watcher is None else watcher.sandbox
    with running.spooled(as_json=as_json) as spool:
        with make(
            running.for_guest(policy),
            backend_name=one(given, "backend") or "wardian",
            private_work=True,
        ) as sandbox:
            result = running.ran(sandbox, argv, given, policy, tty=tty, spool=spool, hints=hints)
        if watcher is not None:
            return watcher.told(result, {}, spool)
        again = running.again(result, given, (), argv)
        running.tell_again(again, given)
        if policy.rootfs is None:
            hints += running.tell_missing(result, given)
        if spool is not None:
            running.print_document(result, again | {"hints": hints}, spool)
    running.tell(result, verbose=verbosity(given), quiet="quiet" in given or as_json)
    return result.exit_code


def _assembled(argv: list[str], given: Given, watcher: running.RunWatcher | None) -> int:
    from wardian.cli.assembled import perform, skill_of

    name = one(given, "skill")
    if name is None:
        return perform(None, None, argv, given, watcher)
    from wardian.runner.location import located

    with located(skill_of(given, name)) as skill:
        return perform(skill, None, argv, given, watcher)


def __getattr__(name: str) -> click.Command:
    if name != "command":
        raise AttributeError(name)
    from wardian.cli.commands import rendered

    words = ("command...",)
    options = (*INSIDE_OPTIONS, *EXEC_OPTIONS)
    return rendered("exec", run, options, words, HELP, EXAMPLES, usage="[OPTIONS] [--]")
