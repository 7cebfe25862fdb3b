"""The syscalls that programs make: traced in the sandbox, cached by content, never estimated."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from wardian import __version__
from wardian.errors import InputError, UsageError, WardianError
from wardian.homes import own_directory
from wardian.observe.trace import traced
from wardian.runner.cases.model import SkillCase
from wardian.runner.cases.reading import DEFAULT_FILE, read_cases
from wardian.runner.cases.running import Options, run_case
from wardian.runner.location import located
from wardian.sandbox.paths.whole_files import write_whole
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.programs import on_path
from wardian.sandbox.run.interrupting import run_pool
from wardian.sandbox.run.result import Result
from wardian.sandbox.sandbox import Sandbox
from wardian.skills.digest import skill_digest
from wardian.skills.folders import find_skills

HERE = Path(__file__).parent
SCRIPTS = HERE / "programs"
TIMEOUT_S = 60.0
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SKILL = "skill"

OnDone = Callable[["CallUse"], None]


class TracedProgram(NamedTuple):
    """Something that is started, and then works. ``kind`` is interpreter or tools."""

    name: str
    kind: str
    program: str
    start: tuple[str, ...]
    work: str


class CallUse(NamedTuple):
    """The calls that a program or a skill made. ``problem`` says why they could not be seen."""

    name: str
    kind: str
    calls: tuple[str, ...] = ()
    problem: str = ""
    skipped: bool = False  # it is not installed, or has no cases: nobody's fault


How = Literal["usual", "again", "known"]
"""Trace what was not traced before; trace everything again; or trace nothing."""


def programs() -> list[TracedProgram]:
    """Those of programs.toml."""
    with open(HERE / "programs.toml", "rb") as file:
        found = tomllib.load(file)
    return [
        TracedProgram(name, **one | {"start": tuple(one["start"])}) for name, one in found.items()
    ]


def skills_dir(given: str | None = None) -> Path | None:
    """Where skills are: as given, or those of wardian's own repository, or nowhere."""
    if given is not None:
        return Path(given)
    source = HERE.parents[2]
    place = source.parent / "skills"
    return place if source.name == "src" and place.is_dir() else None


def skill_folders(place: Path | None) -> list[Path]:
    """The skills at or below a directory. Raises InputError if it is none."""
    if place is None:
        return []
    if not place.is_dir():
        raise InputError("is not a directory of skills", path=str(place))
    return find_skills(place)


def measure_use(
    skills: Iterable[Path],
    *,
    jobs: int | None = None,
    how: How = "usual",
    on_done: OnDone | None = None,
) -> list[CallUse]:
    """What each program and each skill uses; never raises for what one of them does."""

    def run(one: TracedProgram | Path) -> CallUse:
        use = program_use(one, how) if isinstance(one, TracedProgram) else skill_use(one, how)
        if on_done is not None:
            on_done(use)
        return use

    with run_pool(jobs, name="use") as workers:
        every: list[TracedProgram | Path] = [*programs(), *skills]
        return workers.map(run, every)


# Programs


def program_use(program: TracedProgram, how: How = "usual") -> CallUse:
    """The calls of its start and of its work."""
    use = CallUse(program.name, program.kind)
    system = {"PATH": _SYSTEM_PATH}
    found = on_path(program.program, system) or on_path(program.program, os.environ)
    if found is None:
        return use._replace(problem=f"{program.program} is not installed", skipped=True)
    script = (SCRIPTS / program.work).read_bytes()
    real = os.path.realpath(found)
    status = os.stat(real)
    key = ("program", program, script.decode(), real, status.st_size, status.st_mtime_ns)
    return _kept(key, use, lambda: _program_calls(program, found, script), how)


def _program_calls(program: TracedProgram, path: str, script: bytes) -> set[str]:
    calls: set[str] = set()
    for args in (program.start, (program.work,)):
        with Sandbox.create(Policy.default(), fresh=True) as sandbox:
            sandbox.files.write(program.work, script)
            trace = traced(sandbox, [path, *args], timeout_s=TIMEOUT_S)
        if trace.result.exit_code != 0:
            raise _UseError(_ended(trace.result))
        calls |= {one.name for one in trace.syscalls}
    return calls


class _UseError(Exception):
    """It did not do what it was started for."""


def _ended(result: Result) -> str:
    said = result.stderr.decode("utf-8", "replace").strip()[-200:]
    return f"exit code {result.exit_code} ({result.reason})" + (f": {said}" if said else "")


# Skills


def skill_use(folder: Path, how: How = "usual") -> CallUse:
    """The calls of the scripts that its cases run; what sets a case up is not the skill's."""
    use = CallUse(folder.name, SKILL)
    file = folder / DEFAULT_FILE
    if not os.path.lexists(file):
        return use._replace(problem="it has no cases", skipped=True)
    try:
        cases = read_cases(str(file))
        key = (SKILL, skill_digest(folder), repr(cases))
    except (WardianError, OSError) as error:
        return use._replace(problem=str(error))
    return _kept(key, use, lambda: _skill_calls(folder, cases), how)


def _skill_calls(folder: Path, cases: Sequence[SkillCase]) -> set[str]:
    calls: set[str] = set()

    def run(sandbox: Sandbox, command: list[str], stdin: bytes | None) -> Result:
        trace = traced(sandbox, command, input=stdin)
        calls.update(one.name for one in trace.syscalls)
        return trace.result

    options = Options(offline=True, say=lambda _: None, run=run)
    with located(str(folder)) as skill:
        outcomes = [run_case(skill, case, options)[0] for case in cases]
    failed = [one for one in outcomes if one.verdict == "error"]
    if failed or not calls:
        reason = failed[0].problems[0] if failed else "no case was run"
        raise _UseError(f"{failed[0].case.name}: {reason}" if failed else reason)
    return calls


# What was seen before


def _kept(key: tuple[Any, ...], use: CallUse, look: Callable[[], set[str]], how: How) -> CallUse:
    """What was seen of the same content under the same circumstances counts again."""
    name = os.uname()
    around = (__version__, name.release, name.machine, Policy.default().digest, os.geteuid() == 0)
    digest = hashlib.sha256(repr((key, around)).encode()).hexdigest()[:32]
    place = os.path.join(own_directory("cache"), "usage", f"{digest}.json")
    calls = None if how == "again" else _read(place)
    if calls is None:
        if how == "known":
            return use._replace(problem="it was not traced yet", skipped=True)
        try:
            calls = sorted(look())
        except (_UseError, WardianError, OSError) as error:
            return use._replace(problem=str(error))
        _write(place, calls)
    return use._replace(calls=tuple(calls))


def _read(place: str) -> list[str] | None:
    try:
        with open(place, encoding="utf-8") as file:
            calls = json.load(file)
    except (OSError, ValueError):
        return None
    right = isinstance(calls, list) and all(isinstance(one, str) for one in calls)
    return calls if right else None


def _write(place: str, calls: list[str]) -> None:
    """Write the cache; a cache that can't be written is not an error."""
    with contextlib.suppress(OSError, UsageError):
        write_whole(place, json.dumps(calls))
