"""A run with a skill, packages, a state directory or kept files. Shared by ``run`` and
``exec --skill``."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from wardian.cli import output, running
from wardian.cli.options import Given, one, policy_of, verbosity
from wardian.cli.settings import backend_of, with_accepted
from wardian.errors import SandboxError, SkillError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from wardian.cli.running import RunWatcher
    from wardian.errors import WardianError
    from wardian.runner.assembly import Wanted
    from wardian.runner.changed_skill import ChangedSkill
    from wardian.runner.interpreters import Missing
    from wardian.runner.invocation import Invocation, Where
    from wardian.runner.keeping import Destination, Kept
    from wardian.runner.location import Located
    from wardian.runner.outputs import Written
    from wardian.runner.script import Chosen
    from wardian.runner.wishes import SkillWishes
    from wardian.sandbox.policy.policy import Policy
    from wardian.sandbox.run.result import Result
    from wardian.sandbox.sandbox import Sandbox

SHOWN_FILES = 20
SKILL_INSIDE = "/skill"


def perform(
    skill: Located | None,
    script: Chosen | None,
    words: list[str],
    given: Given,
    watcher: RunWatcher | None,
) -> int:
    """Run a script of the skill with ``words`` as arguments, or ``words`` as a command; returns the
    exit code. Raises WardianError."""
    from wardian.runner.interpreters import Missing
    from wardian.runner.invocation import under
    from wardian.sandbox.sandbox import Sandbox

    as_json, tty, hints = "json" in given, running.wants_tty(given), list[str]()
    backend = backend_of(given)
    out, wanted = _target(given), wanted_of(skill, given)
    policy = with_accepted(policy_of(given, may_ask=True), backend)
    say = _nothing if "quiet" in given else output.say
    policy, wishes = _granted(policy, skill, given, _nothing if as_json else say)
    call = _put_together(skill, script, words, wanted, where(policy, backend), given)
    if isinstance(call, Missing):
        return _missing(call, [script.path] if script is not None else words, as_json=as_json)
    make = Sandbox if watcher is None else watcher.sandbox
    call, changed = (call, None) if out is None else _to_be_changed(call, policy, skill)
    with running.spooled(as_json=as_json) as spool:
        with make(under(running.for_guest(policy), call), backend_name=backend) as sandbox:
            name = script.path if script is not None else ""
            ran_as = (skill.name, skill.origin, name, skill.path) if skill is not None else None
            asked = wishes.document(granted="grant" in given) if wishes is not None else None
            result = running.ran(
                sandbox,
                call.argv,
                given,
                policy,
                tty=tty,
                skill=None if ran_as is None else (*ran_as, asked),
                spool=spool,
                hints=hints,
            )
            if changed is not None:
                changed.move_changes(sandbox.work_held.fd)
            made, kept = _made(sandbox, out)
        if changed is not None:
            changed.remove()
        about = _about(skill, script, made, kept)
        if asked is not None:
            about["requests"] = asked
        if watcher is None:
            named = (skill.origin, script.path) if skill is not None and script is not None else ()
            again = running.again(result, given, named, words)
            running.print_again(again, given)
            if policy.rootfs is None:
                hints += running.print_missing(result, given, skill, script)
                if skill is not None:
                    hints += _print_overlooked(result, skill, words, call, given)
            about |= again | {"hints": hints}
        if "quiet" not in given and not as_json:
            _print_files(made, kept, one(given, "out"))
        if watcher is not None:
            return watcher.report(result, about, spool)
        if spool is not None:
            running.print_document(result, about, spool)
    running.report_result(result, verbose=verbosity(given), quiet="quiet" in given or as_json)
    if not result.ok and policy.work is None and not as_json and "quiet" not in given:
        _print_left_behind(words)
    return result.exit_code


def _put_together(
    skill: Located | None,
    script: Chosen | None,
    words: list[str],
    wanted: Wanted,
    place: Where,
    given: Given,
) -> Invocation | Missing:
    """The call with its packages, which are prepared now if they are not. Raises WardianError."""
    from wardian.cli.progress import PreparationProgress
    from wardian.runner.assembly import assembled

    try:
        with PreparationProgress(quiet="quiet" in given) as say:
            return assembled(skill, script, words, wanted, where=place, say=say)
    except (SkillError, SandboxError) as error:
        error.hint = _avoidable(error, skill, given)
        raise


def _granted(
    policy: Policy, skill: Located | None, given: Given, say: Callable[[str], None]
) -> tuple[Policy, SkillWishes | None]:
    """The policy, widened by the skill's requests if ``--grant`` is given; and those requests, if
    any. Raises UsageError."""
    if skill is None:
        if "grant" in given:
            raise UsageError("--grant needs a skill", hint="name one: --skill SKILL")
        return policy, None
    if "grant" in given and "none" in given.get("net", ()):
        raise UsageError("--grant and --net none cannot be combined")
    from wardian.runner.wishes import with_wishes

    policy, wishes = with_wishes(policy, skill, grant="grant" in given, say=say)
    return policy, wishes if wishes.net or wishes.refused else None


def _avoidable(error: WardianError, skill: Located | None, given: Given) -> str | None:
    """The error's hint; where packages could not be prepared, it also suggests ``--no-deps``."""
    from wardian.runner.packages import PreparationError

    before = error.hint or ""
    about_packages = isinstance(error, SkillError | PreparationError)
    if skill is None or not about_packages or "with" in given or "--no-deps" in before:
        return error.hint
    first, _, rest = before.partition("\n")
    if first.endswith(" said:"):
        first, rest = "", before
    way = f"{first}; or" if first else "run"
    return f"{way} without the skill's declared packages: --no-deps" + (f"\n{rest}" if rest else "")


def _to_be_changed(
    call: Invocation, policy: Policy, skill: Located | None
) -> tuple[Invocation, ChangedSkill | None]:
    """The call with a writable copy of the skill at /skill, unless the policy shares something
    else there."""
    taken = any(share.at == SKILL_INSIDE for share in policy.shares)
    if skill is None or taken or not any(share.at == SKILL_INSIDE for share in call.shares):
        return call, None
    from wardian.runner.changed_skill import ChangedSkill

    changed = ChangedSkill(skill.path)
    return changed.in_place(call, skill), changed


def skill_of(given: Given, word: str) -> str:
    """With ``--rootfs``, ``/skill`` names the skill inside that root file system."""
    if "rootfs" not in given or word != SKILL_INSIDE:
        return word
    root = policy_of(given, may_ask=True).rootfs or ""
    path = f"{root}{SKILL_INSIDE}"
    if os.path.islink(path) or not os.path.isdir(path):
        raise UsageError(f"--rootfs {given['rootfs'][0]} has no {SKILL_INSIDE}")
    given["rootfs"] = [root]  # unpacked once
    return path


def wanted_of(skill: Located | None, given: Given) -> Wanted:
    """The packages, interpreter and state that the options request. Raises UsageError."""
    from wardian.runner.assembly import Wanted

    return Wanted(
        packages=tuple(given.get("with", ())),
        python=_python(given),
        no_deps="no-deps" in given,
        offline="offline" in given,
        build="build" in given,
        state=_state(skill, given),
    )


def where(policy: Policy, backend: str) -> Where:
    """Where a run of this policy finds its interpreters."""
    if backend == "host":
        return "host"
    return "sandbox" if policy.rootfs is None else "rootfs"


def _nothing(line: str) -> None:
    """Discard a message."""


def _target(given: Given) -> Destination | None:
    out = one(given, "out")
    if out is None:
        if "force" in given:
            raise UsageError("--force needs --out")
        return None
    if "work" in given:
        raise UsageError(
            "--out and --work cannot be combined", hint="with --work, files stay in that directory"
        )
    from wardian.runner.keeping import check_target

    return check_target(out, force="force" in given)


def _python(given: Given) -> str | None:
    version = one(given, "python")
    if version is not None and not re.fullmatch(r"3(\.\d+){0,2}", version):
        raise UsageError(
            f"--python: {version!r} is not a version", hint="for example: --python 3.12"
        )
    return version


def _state(skill: Located | None, given: Given) -> str | None:
    name = one(given, "state")
    if name is None:
        return None
    if skill is None:
        raise UsageError("--state needs a skill", hint="name one: --skill SKILL")
    from wardian.runner.state import state_directory

    return state_directory(skill, name)


def _missing(missing: Missing, words: Sequence[str], *, as_json: bool) -> int:
    from wardian.sandbox.run.result import Result

    result = Result((missing.program, *words), 127, "not found", detail=missing.why)
    if as_json:
        output.print_json(running.document_of(result) | {"hints": [missing.hint]})
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


def _print_files(made: list[Written], kept: Kept | None, out: str | None) -> None:
    if not made:
        return
    from wardian.sandbox.policy.units import human_bytes
    from wardian.text import printable

    count, size = len(made), human_bytes(sum(found.size for found in made))
    where = (
        f"kept in {printable(out)}" if out is not None else "discarded (keep files with --out DIR)"
    )
    output.say(f"wardian: wrote {count} file{'s' if count != 1 else ''}, {size}, {where}")
    for found in made[:SHOWN_FILES]:
        output.say(f"  {printable(found.path)}  {human_bytes(found.size)}")
    if count > SHOWN_FILES:
        output.say(f"  … and {count - SHOWN_FILES} more")
    for path, why in kept.left_out if kept is not None else ():
        output.say(f"  left out: {printable(path)}: {why}")


def _about(
    skill: Located | None, script: Chosen | None, made: list[Written], kept: Kept | None
) -> dict[str, Any]:
    about: dict[str, Any] = {}
    if skill is not None:
        about["skill"] = {"name": output.valid(skill.name), "path": output.valid(skill.origin)}
    if script is not None:
        about["script"] = output.valid(script.path)
    left_out = kept.left_out if kept is not None else ()
    return about | {
        "files": [{"path": output.valid(found.path), "bytes": found.size} for found in made],
        "files_left_out": [output.valid(path) for path, _ in left_out],
    }


def _print_overlooked(
    result: Result, skill: Located, words: list[str], call: Invocation, given: Given
) -> list[str]:
    if "quiet" in given or (result.ok and not result.refusals):
        return []
    from wardian.cli.hints import skill_lines

    place = dict(call.variables).get("SKILL_DIR", SKILL_INSIDE)
    lines = skill_lines(result, skill, words, place, can_keep="work" not in given)
    for line in lines:
        output.say(line)
    return lines


def _print_left_behind(args: list[str]) -> None:
    from wardian.cli.summary import left_behind

    hint = left_behind(args)
    if hint is not None:
        output.say_hint(hint)
