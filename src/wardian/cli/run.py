"""``wardian run``: run a skill's script in the sandbox, with its interpreter and dependencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wardian.cli import output
from wardian.cli.options import RUN_OPTIONS, Given, parse_between
from wardian.errors import UsageError

if TYPE_CHECKING:
    import click

    from wardian.cli.running import RunWatcher
    from wardian.runner.location import Located

HELP = """Run SCRIPT of SKILL in a sandbox without network, host files or other processes.

SKILL is a directory, a .skill, .zip or tar file, or the name of a skill that `wardian list` shows.
SCRIPT is relative to it, with or without scripts/; without SCRIPT, the scripts are listed.

The skill is at /skill. The script starts in /work, which is private and temporary unless --work is
given. Changes to /skill and to a private /work are discarded after the run; --out keeps them.
Exit codes are those of `wardian exec`.
"""
EXAMPLES = """\b
Examples:
  wardian run skills/csv-report report.py --work . -- sales.csv
  wardian run image-contact-sheet sheet.py --read photos:/work/photos --out made
  wardian run --rootfs csv-report.rootfs.tar /skill report.py --work . -- sales.csv

\b
Options may come anywhere before `--`; the script's arguments follow it."""


def run(args: list[str]) -> int:
    """Run ``wardian run ARGS`` and return its exit code. Raises WardianError."""
    given, words = parse_between(args, RUN_OPTIONS)
    if "help" in given:
        from wardian.cli import commands

        return commands.run(["run", "--help"])
    if not words:
        raise UsageError(
            "no skill given", hint="usage: wardian run SKILL SCRIPT [OPTIONS] -- ARGS…"
        )
    return run_script(words, given)


def run_script(words: list[str], given: Given, watcher: RunWatcher | None = None) -> int:
    """Run SCRIPT of SKILL with its arguments, or list the scripts if only SKILL is given."""
    from wardian.cli.assembled import perform, skill_of
    from wardian.runner.location import located

    with located(skill_of(given, words[0])) as skill:
        if len(words) == 1:
            return _list(skill, as_json="json" in given)
        from wardian.runner.script import choose

        return perform(skill, choose(skill.path, words[1], skill.plugin), words[2:], given, watcher)


def _list(skill: Located, *, as_json: bool) -> int:
    from pathlib import Path

    from wardian.skills.scripts import scripts_in
    from wardian.text import printable

    scripts = [script for script in scripts_in(Path(skill.path)) if script.entry]
    if as_json:
        listed = [
            {
                "path": output.valid(script.path),
                "interpreter": script.interpreter.name if script.interpreter else None,
                "version": script.interpreter.version if script.interpreter else None,
            }
            for script in scripts
        ]
        output.print_json(
            {"schema": "wardian.scripts/1", "skill": output.valid(skill.name), "scripts": listed}
        )
        return 0
    for script in scripts:
        kind = script.interpreter.name if script.interpreter is not None else "unknown"
        output.print_text(f"{kind:<8}{printable(script.path)}")
    if not scripts:
        output.say(f"wardian: {printable(skill.name)} has no scripts")
    return 0


def __getattr__(name: str) -> click.Command:
    if name != "command":
        raise AttributeError(name)
    from wardian.cli.commands import rendered

    words = ("skill", "[script]", "args...")
    return rendered("run", run, RUN_OPTIONS, words, HELP, EXAMPLES)
