"""``wardian run``: a skill's script in the sandbox, with its interpreter and its dependencies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wardian.cli import output, running
from wardian.cli.options import RUN_OPTIONS, Given, one, parse_between, policy_of
from wardian.errors import UsageError

if TYPE_CHECKING:
    from typing import Any

    import click

    from wardian.cli.running import RunWatcher
    from wardian.runner.assembly import Wanted
    from wardian.runner.changed_skill import ChangedSkill
    from wardian.runner.interpreters import Missing
    from wardian.runner.invocation import Invocation
    from wardian.runner.keeping import Destination, Kept
    from wardian.runner.location import Located
    from wardian.runner.outputs import Written
    from wardian.runner.script import Chosen
    from wardian.sandbox.policy.policy import Policy
    from wardian.sandbox.run.result import Result
    from wardian.sandbox.sandbox import Sandbox

SHOWN_FILES = 20
SKILL_INSIDE = "/skill"

HELP = """Run SCRIPT of SKILL in a sandbox: no network, no host files, no other processes.

SKILL is a directory, a .skill, .zip or tar file, or the name of a skill that `wardian list` tells.
SCRIPT is relative to it, with or without scripts/; without one, the scripts are listed. The skill
is at /skill, where changes vanish with the run; the script starts in /work, which is its own unless
--work is given. --out keeps what it wrote in both.
Exit codes are those of `wardian exec`.
"""
EXAMPLES = """\b
Examples:
  wardian run skills/csv-report report.py --work . -- sales.csv
  wardian run image-contact-sheet sheet.py --read photos:/work/photos --out made
  wardian run --rootfs csv-report.rootfs.tar /skill report.py --work . -- sales.csv

\b
Options stand anywhere before the script's arguments, which follow --."""


def run(args: list[str]) -> int:
    """Run the command line after ``wardian run`` and return its exit code. Raises WardianError."""
    given, words = parse_between(args, RUN_OPTIONS)
    if "help" in given:
        from wardian.cli import commands

        return commands.run(["run", "--help"])
    if not words:
        raise UsageError("no skill was given", hint="wardian run SKILL SCRIPT [OPTIONS] -- ARGS…")
    return run_script(words, given)


def run_script(words: list[str], given: Given, watcher: RunWatcher | None = None) -> int:
    """Run SCRIPT of SKILL with its arguments, or list the scripts if only SKILL is given."""
    from wardian.runner.location import located

    with located(_skill(words[0], given)) as skill:
        if len(words) == 1:
            return _list(skill, as_json="json" in given)
        from wardian.runner.script import choose

        return _run(skill, choose(skill.path, words[1]), words[2:], given, watcher)


def _skill(word: str, given: Given) -> str:
    """``/skill`` is the one in the root file system, if there is an option for that."""
    if "rootfs" not in given or word != SKILL_INSIDE:
        return word
    root = policy_of(given).rootfs or ""
    path = f"{root}{SKILL_INSIDE}"
    if os.path.islink(path) or not os.path.isdir(path):
        raise UsageError(f"--rootfs {given['rootfs'][0]} has no {SKILL_INSIDE}")
    given["rootfs"] = [root]  # found once
    return path


def _run(
    skill: Located, script: Chosen, args: list[str], given: Given, watcher: RunWatcher | None
) -> int:
    from wardian.runner.assembly import Wanted, assembled
    from wardian.runner.interpreters import Missing
    from wardian.runner.invocation import under

    as_json, tty = "json" in given, running.wants_tty(given)
    backend = one(given, "backend") or "wardian"
    out = _target(given)
    wanted = Wanted(
        packages=tuple(given.get("with", ())),
        no_deps="no-deps" in given,
        offline="offline" in given,
        build="build" in given,
        state=_state(skill, given),
    )
    say = _nothing if "quiet" in given else output.say
    policy = policy_of(given)
    call: Invocation | Missing
    if policy.rootfs is not None and backend != "host":
        call = _inside(skill, script, args, wanted)
    else:
        call = assembled(skill, script, args, wanted, inside=backend != "host", say=say)
    if isinstance(call, Missing):
        return _missing(call, script, as_json=as_json)
    from wardian.sandbox.sandbox import Sandbox

    make = Sandbox if watcher is None else watcher.sandbox
    call, changed = _to_be_changed(call, policy, skill) if out is not None else (call, None)
    with running.spooled(as_json=as_json) as spool:
        with make(under(policy, call), backend_name=backend) as sandbox:
            ran_as = (skill.name, skill.origin, script.path, skill.path)
            result = running.ran(
                sandbox, list(call.argv), given, policy, tty=tty, skill=ran_as, spool=spool
            )
            if changed is not None:
                changed.move_changes(sandbox.work_held.fd)
            made, kept = _made(sandbox, out)
        if changed is not None:
            changed.remove()
        about = _about(skill, script, made, kept)
        if spool is not None and watcher is None:
            running.print_document(result, about, spool)
        elif "quiet" not in given and not as_json:
            _tell_files(made, kept, one(given, "out"))
            if policy.rootfs is None:
                _tell_missing_module(skill, script, result)
        if watcher is not None:
            return watcher.told(result, about, spool)
    running.tell(result, verbose="verbose" in given, quiet="quiet" in given or as_json)
    if not result.ok and policy.work is None and not as_json and "quiet" not in given:
        _tell_left_behind(args)
    return result.exit_code


def _to_be_changed(
    call: Invocation, policy: Policy, skill: Located
) -> tuple[Invocation, ChangedSkill | None]:
    """The call with a copy of the skill, if it is the call that places it, to be changed inside."""
    placed = [share.at for share in call.shares if share.copy]
    if SKILL_INSIDE not in placed or any(share.at == SKILL_INSIDE for share in policy.shares):
        return call, None
    from wardian.runner.changed_skill import ChangedSkill

    changed = ChangedSkill(skill.path)
    return changed.in_place(call, SKILL_INSIDE), changed


def _tell_left_behind(args: list[str]) -> None:
    from wardian.cli.summary import left_behind

    hint = left_behind(args)
    if hint is not None:
        output.say_hint(hint)


def _inside(skill: Located, script: Chosen, args: list[str], wanted: Wanted) -> Invocation:
    """Another root has its own interpreters and packages; none are prepared for it."""
    if wanted.packages:
        raise UsageError(
            "--with and a root file system of its own exclude each other",
            hint="what a skill declares, `wardian pack --rootfs` brings along",
        )
    from wardian.runner.rootfs import call_inside

    return call_inside(skill, script, args, state=wanted.state)


def _nothing(line: str) -> None:
    """Said to nobody."""


def _target(given: Given) -> Destination | None:
    out = one(given, "out")
    if out is None:
        if "force" in given:
            raise UsageError("--force goes with --out")
        return None
    if "work" in given:
        raise UsageError("--out and --work exclude each other", hint="--work keeps all there is")
    from wardian.runner.keeping import check_target

    return check_target(out, force="force" in given)


def _state(skill: Located, given: Given) -> str | None:
    name = one(given, "state")
    if name is None:
        return None
    from wardian.runner.state import state_directory

    return state_directory(skill, name)


def _missing(missing: Missing, script: Chosen, *, as_json: bool) -> int:
    from wardian.sandbox.run.result import Result

    result = Result((missing.program, script.path), 127, "not found", detail=missing.why)
    if as_json:
        output.print_json(running.document_of(result))
    output.say_error(missing.why, missing.hint)
    return result.exit_code


def _made(sandbox: Sandbox, out: Destination | None) -> tuple[list[Written], Kept | None]:
    if sandbox.policy.work is not None:
        return [], None
    root = sandbox.work_held.path
    if not os.listdir(root):
        if out is not None:
            out.make()
        return [], None
    from wardian.runner import keeping, outputs

    made = [found for found in outputs.written(root) if found.kind != "folder"]
    if out is None:
        return made, None
    return made, keeping.keep(root, out, max_bytes=sandbox.policy.limits.disk_bytes)


def _tell_files(made: list[Written], kept: Kept | None, out: str | None) -> None:
    if not made:
        return
    from wardian.sandbox.policy.units import human_bytes
    from wardian.text import printable

    count, size = len(made), human_bytes(sum(found.size for found in made))
    where = f"kept in {printable(out)}" if out is not None else "not kept; keep them: --out DIR"
    output.say(f"wardian: wrote {count} file{'s' if count != 1 else ''}, {size}, {where}")
    for found in made[:SHOWN_FILES]:
        output.say(f"  {printable(found.path)}  {human_bytes(found.size)}")
    if count > SHOWN_FILES:
        output.say(f"  … and {count - SHOWN_FILES} more")
    for path, why in kept.left_out if kept is not None else ():
        output.say(f"  left out: {printable(path)}: {why}")


def _tell_missing_module(skill: Located, script: Chosen, result: Result) -> None:
    """A script that failed may lack a package that its skill declares nowhere."""
    if result.exit_code != 1 or script.wish.name != "python":
        return
    from wardian.runner.needs import undeclared

    packages = undeclared(skill.path, script, result.command[0])
    if packages:
        names = " ".join(f"--with {name}" for name in packages)
        output.say(f"wardian: it imports what the skill declares nowhere; to add it: {names}")


def _about(
    skill: Located, script: Chosen, made: list[Written], kept: Kept | None
) -> dict[str, Any]:
    files = [{"path": output.valid(found.path), "bytes": found.size} for found in made]
    left_out = kept.left_out if kept is not None else ()
    return {
        "skill": {"name": output.valid(skill.name), "path": output.valid(skill.origin)},
        "script": output.valid(script.path),
        "files": files,
        "files_left_out": [output.valid(path) for path, _ in left_out],
    }


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
