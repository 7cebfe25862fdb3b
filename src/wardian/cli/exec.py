"""``wardian exec``: run any command in the sandbox, on this terminal, forwarding signals."""

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
from wardian.cli.settings import backend_of, with_accepted
from wardian.errors import UsageError

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    import click

HELP = """Run COMMAND in a sandbox without network, host files or other processes.

COMMAND gets a root of its own with /usr read-only, a private /tmp and home, and a writable /work,
where it starts. Options allow more. With --skill, the skill is at /skill ($SKILL_DIR), and its
declared packages and those of --with come first on PATH.

The exit code is COMMAND's. wardian adds: 124 time limit reached, 125 wardian refused or failed,
126 not executable, 127 not found, 128+N killed by signal N.

With --sandbox, COMMAND runs in a living sandbox that `wardian up` started, under its policy.
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
Options end at the first word of COMMAND, with or without `--`."""


def run(args: list[str]) -> int:
    """Run ``wardian exec ARGS`` and return its exit code. Raises WardianError."""
    given, argv = parse(args, (*INSIDE_OPTIONS, *EXEC_OPTIONS))
    if "help" in given:
        from wardian.cli import commands

        return commands.run(["exec", "--help"])
    if not argv:
        raise UsageError(
            "no command given", hint="usage: wardian exec [OPTIONS] -- COMMAND [ARGS]…"
        )
    if "sandbox" in given:
        from wardian.cli import inside

        return inside.run_inside(argv, given)
    if "background" in given:
        raise UsageError(
            "--background needs a living sandbox: --sandbox NAME", hint="start one: wardian up"
        )
    return run_command(argv, given)


def run_command(argv: list[str], given: Given, watcher: running.RunWatcher | None = None) -> int:
    """Run a command under these options and return its exit code. Raises WardianError."""
    if not ASSEMBLED.isdisjoint(given):
        return _assembled(argv, given, watcher)
    as_json, tty = "json" in given, running.wants_tty(given)
    from wardian.sandbox.sandbox import Sandbox

    backend, hints = backend_of(given), list[str]()
    policy = with_accepted(policy_of(given, may_ask=True), backend)
    make = Sandbox if watcher is None else watcher.sandbox
    with running.spooled(as_json=as_json) as spool:
        with make(
            running.for_guest(policy),
            backend_name=backend,
            private_work=True,
        ) as sandbox:
            result = running.ran(sandbox, argv, given, policy, tty=tty, spool=spool, hints=hints)
        if watcher is not None:
            return watcher.report(result, {}, spool)
        again = running.again(result, given, (), argv)
        running.print_again(again, given)
        if policy.rootfs is None:
            hints += running.print_missing(result, given)
        if spool is not None:
            running.print_document(result, again | {"hints": hints}, spool)
    running.report_result(result, verbose=verbosity(given), quiet="quiet" in given or as_json)
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
