"""One case in one backend: files laid out, set up, run, observed."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from typing import NamedTuple

from wardian.errors import UsageError, WardianError
from wardian.runner.assembly import Wanted, assembled
from wardian.runner.cases.checks import Observed, differences, problems
from wardian.runner.cases.granting import granted, tightened
from wardian.runner.cases.model import SkillCase
from wardian.runner.interpreters import Missing
from wardian.runner.invocation import STATE, Invocation, Where, under
from wardian.runner.location import Located
from wardian.runner.outputs import open_file, open_folder, written
from wardian.runner.plugin import skill_place
from wardian.runner.script import choose
from wardian.sandbox.paths.removal import remove_tree
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.layout import WORK
from wardian.sandbox.root.programs import on_path
from wardian.sandbox.run.protections import with_look_ups
from wardian.sandbox.run.result import Result
from wardian.sandbox.sandbox import Sandbox

MAX_FILE_BYTES = 64 << 20
MAX_FILES_BYTES = 256 << 20
SHOWN_CHARS = 1 << 16
HOST = "host"


def as_asked(backend: str, policy: Policy) -> Policy:
    """Every wall, or no run."""
    return policy


def plain_run(sandbox: Sandbox, command: list[str], stdin: bytes | None) -> Result:
    """A run of the script, and nothing besides."""
    return sandbox.run(command, input=stdin)


class Options(NamedTuple):
    """What holds for all cases of one command. ``policy`` is what the caller grants, the default
    preset unless given. ``run`` makes the runs of scripts, under ``narrower`` if there is one: a
    case is always set up with all that was granted, by ``set_up``."""

    backends: tuple[str, ...] = ("wardian",)
    oracle: str | None = None
    no_deps: bool = False
    offline: bool = False
    build: bool = False
    say: Callable[[str], None] = print
    policy: Policy | None = None
    narrower: Policy | None = None
    at_best: Callable[[str, Policy], Policy] = as_asked  # or ``wardian.sandbox.backends.fitted``
    run: Callable[[Sandbox, list[str], bytes | None], Result] = plain_run
    set_up: Callable[[Sandbox, list[str], bytes | None], Result] = plain_run


class CaseOutcome(NamedTuple):
    """One case in one backend. ``verdict`` is pass, fail, error or skip."""

    skill: str
    case: SkillCase
    backend: str
    verdict: str
    problems: tuple[str, ...] = ()
    seconds: float = 0.0
    observed: Observed | None = None


def run_case(skill: Located, case: SkillCase, options: Options) -> list[CaseOutcome]:
    """An outcome for each backend; never raises for what the case or the skill does."""
    lacking = [name for name in case.needs if on_path(name, os.environ) is None]
    oracle: CaseOutcome | None = None
    if options.oracle is not None and not lacking and _wanted_in(case, options.oracle):
        oracle = _run_in(skill, case, options.oracle, options)
    outcomes = []
    for backend in options.backends:
        if lacking or not _wanted_in(case, backend):
            why = f"{', '.join(lacking)} not installed" if lacking else f"not for {backend}"
            outcomes.append(CaseOutcome(skill.name, case, backend, "skip", (why,)))
            continue
        if oracle is not None and backend == options.oracle:
            outcomes.append(oracle)
            continue
        outcome = _run_in(skill, case, backend, options)
        outcomes.append(_compared(outcome, oracle) if oracle is not None else outcome)
    return [_judged(outcome) for outcome in outcomes]


def _judged(outcome: CaseOutcome) -> CaseOutcome:
    """With the end of what was printed, and without what was written: many cases would fill the
    memory."""
    observed = outcome.observed
    if observed is None:
        return outcome
    stdout, stderr = observed.stdout[-SHOWN_CHARS:], observed.stderr[-SHOWN_CHARS:]
    names = dict.fromkeys(observed.files, b"")
    return outcome._replace(observed=observed._replace(stdout=stdout, stderr=stderr, files=names))


def _wanted_in(case: SkillCase, backend: str) -> bool:
    return not case.backends or backend in case.backends


def _compared(outcome: CaseOutcome, oracle: CaseOutcome) -> CaseOutcome:
    if outcome.observed is None or oracle.observed is None:
        if outcome.verdict == "pass":
            return outcome._replace(
                verdict="error",
                problems=(
                    f"the reference backend {oracle.backend} gave no result",
                    *oracle.problems,
                ),
            )
        return outcome
    found = differences(outcome.case.compare, outcome.observed, oracle.observed, oracle.backend)
    if not found:
        return outcome
    verdict = "fail" if outcome.verdict == "pass" else outcome.verdict
    return outcome._replace(verdict=verdict, problems=(*outcome.problems, *found))


def _run_in(skill: Located, case: SkillCase, backend: str, options: Options) -> CaseOutcome:
    started = time.monotonic()
    state = tempfile.mkdtemp(prefix="wardian-state-") if case.state else None
    # Without a sandbox there is no private home, and a script's caches and settings would stay.
    home = tempfile.mkdtemp(prefix="wardian-home-") if backend == HOST else None
    try:
        if home is not None:
            case = case._replace(env=(("HOME", home), *case.env))
        observed = _observe(skill, case, backend, options, state)
        found = problems(case.expect, observed, sandboxed=backend != HOST)
        verdict = "fail" if found else "pass"
    except (WardianError, OSError) as error:
        observed, verdict, found = None, "error", [str(error)]
        hint = getattr(error, "hint", None)
        if hint:
            found.append(hint)
    finally:
        for place in (state, home):
            if place is not None:
                remove_tree(place)
    seconds = time.monotonic() - started
    return CaseOutcome(skill.name, case, backend, verdict, tuple(found), seconds, observed)


def _observe(
    skill: Located, case: SkillCase, backend: str, options: Options, state: str | None
) -> Observed:
    inside = backend != HOST
    where: Where = "sandbox" if inside else "host"
    full = granted(case, options.policy or Policy.default())
    narrower = options.narrower and tightened(case, options.narrower)
    wanted = Wanted(case.packages, options.no_deps, options.offline, options.build, state)
    script = choose(skill.path, case.script, skill.plugin)
    call = assembled(skill, script, (), wanted, where=where, say=options.say)
    if isinstance(call, Missing):
        raise UsageError(call.why, hint=call.hint)
    policy = options.at_best(backend, narrower or full)
    with Sandbox(with_look_ups(under(policy, call)), backend_name=backend) as sandbox:
        work = sandbox.work_path
        if state is not None and inside and os.geteuid() == 0:
            owner = os.stat(work)  # root's guests are others, and one guest owns both
            os.chown(state, owner.st_uid, owner.st_gid)
        for path, data in case.files:
            sandbox.files.write(path, data)
        places = _places(skill, work, state, inside=inside) | {"{python}": call.argv[0]}
        commands = [_command(words, places) for words in case.setup]
        if narrower is None or not commands:
            _set_up(sandbox, commands, options)
        else:
            wide = options.at_best(backend, full)
            with Sandbox(under(wide, call)._replace(work=work), backend_name=backend) as other:
                _set_up(other, commands, options)
        result = _runs(sandbox, call, case, places, options)
        return _observed(result, _files(sandbox.work_held.path, case), _names(places))


def _places(skill: Located, work: str, state: str | None, *, inside: bool) -> dict[str, str]:
    """The names that cases use for places → where they are in this backend."""
    if inside:
        return {"{skill}": skill_place(skill), "{work}": WORK, "{state}": STATE}
    return {"{skill}": skill.path, "{work}": work, "{state}": state or STATE}


def _names(places: dict[str, str]) -> dict[str, str]:
    """Paths that must not differ between backends → the name of each."""
    return {path: name for name, path in places.items() if name != "{python}"}


def _placed(word: str, places: dict[str, str]) -> str:
    for name, path in places.items():
        word = word.replace(name, path)
    return word


def _command(words: tuple[str, ...], places: dict[str, str]) -> list[str]:
    """A command of the set-up. Only the program that a run is started with is looked for on the
    host and shared, so a case never names it: a shell does, inside."""
    placed = [_placed(word, places) for word in words]
    if words[:1] in (("sh",), ("{python}",)):
        return placed
    return ["sh", "-c", 'exec "$0" "$@"', *placed]


def _set_up(sandbox: Sandbox, commands: list[list[str]], options: Options) -> None:
    for command in commands:
        result = options.set_up(sandbox, command, None)
        if result.exit_code != 0:
            printed = (result.stderr or result.stdout).decode("utf-8", "replace")[-400:]
            raise UsageError(
                f"set-up failed: {' '.join(command)}: {printed.strip() or result.reason}"
            )


def _runs(
    sandbox: Sandbox, call: Invocation, case: SkillCase, places: dict[str, str], options: Options
) -> Result:
    for args in case.before:
        words = [_placed(word, places) for word in args]
        result = options.run(sandbox, [*call.argv, *words], case.stdin)
        if result.exit_code != 0:
            printed = result.stderr.decode("utf-8", "replace")[-400:]
            raise UsageError(f"an earlier run failed: {' '.join(args)}: {printed.strip()}")
    words = [_placed(word, places) for word in case.args]
    return options.run(sandbox, [*call.argv, *words], case.stdin)


def _observed(result: Result, files: dict[str, bytes], names: dict[str, str]) -> Observed:
    def plain(data: bytes) -> str:
        text = data.decode("utf-8", "replace")
        for path in sorted(names, key=len, reverse=True):
            text = text.replace(path, "/" + names[path].strip("{}"))
        return text

    return Observed(
        result.exit_code,
        result.reason,
        plain(result.stdout),
        plain(result.stderr),
        files,
        tuple(refusal.kind for refusal in result.refusals),
    )


def _files(work: str, case: SkillCase) -> dict[str, bytes]:
    """The files that are new or other than they were laid out."""
    given = dict(case.files)
    found = {}
    left = MAX_FILES_BYTES
    for one in written(work):
        if one.kind == "file" and "__pycache__" not in one.path.split("/"):
            data = _read(work, one.path)
            left -= len(data)
            if left < 0:
                raise UsageError(f"it wrote more than {MAX_FILES_BYTES >> 20} MiB of files")
            if given.get(one.path) != data:
                found[one.path] = data
    return found


def _read(work: str, path: str) -> bytes:
    parent, _, name = path.rpartition("/")
    folder = open_folder(work, parent)
    try:
        fd = open_file(folder, name)
    finally:
        os.close(folder)
    with open(fd, "rb") as file:
        return file.read(MAX_FILE_BYTES)
