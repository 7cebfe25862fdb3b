"""Run one specimen in one target, or all of them in parallel; earlier results never count."""

from __future__ import annotations

import datetime
import functools
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from wardian import __version__
from wardian.errors import WardianError
from wardian.measure.probes import artifact as artifacts
from wardian.measure.probes.artifact import Artifact
from wardian.measure.probes.building import BuildError, built, compiler
from wardian.measure.probes.command import SpecimenCommand, command, may_run
from wardian.measure.probes.expectations import NO_EXPECTATIONS, Profile
from wardian.measure.probes.specimen import Specimen
from wardian.measure.probes.verdict import (
    Observation,
    ProbeExpectation,
    Verdict,
    judge,
    read_observation,
)
from wardian.measure.target import Target
from wardian.measure.versions import interpreter
from wardian.sandbox.run.interrupting import run_pool
from wardian.sandbox.run.result import Refusal, Result
from wardian.sandbox.sandbox import Sandbox
from wardian.text import signal_name

TIMEOUT_S = 20.0
OUTPUT = "observation.json"
MAX_BYTES = 64 << 10
MAX_REFUSALS = 100
SHOWN = 300
# A limit that strikes is an answer of the sandbox; its clock is not, for the specimen may hang.
_LIMITS = ("memory limit", "cpu limit", "disk limit", "output limit")
# What takes longest goes first, so that no core waits for the last one.
_FIRST = {"r": 0, "node": 1, "python": 2}

OnDone = Callable[[Artifact], None]
NO_PROFILES: Mapping[str, Profile] = {}


class Measured(NamedTuple):
    """What a specimen came to: an observation, or the verdict that says why there is none."""

    seen: Observation | None
    verdict: Verdict
    refusals: tuple[Refusal, ...] = ()
    duration_s: float = 0.0


def measure(
    specimens: Sequence[Specimen],
    targets: Sequence[Target],
    env: Mapping[str, str],
    *,
    profiles: Mapping[str, Profile] = NO_PROFILES,
    host_named: bool = False,
    jobs: int | None = None,
    timeout_s: float = TIMEOUT_S,
    on_done: OnDone | None = None,
) -> list[Artifact]:
    """An artifact for each specimen and target, in their order; never raises for what one does.
    ``profiles`` are the expectations of each target by its name; those without have none."""

    def one(pair: tuple[Specimen, Target]) -> Artifact:
        specimen, target = pair
        profile = profiles.get(target.name, NO_EXPECTATIONS)
        found = measure_one(
            specimen, target, env, profile=profile, host_named=host_named, timeout_s=timeout_s
        )
        if on_done is not None:
            on_done(found)
        return found

    pairs = [(one, target) for target in targets for one in specimens]
    with run_pool(jobs, name="probe") as workers:
        return workers.map(one, pairs, first=lambda pair: _FIRST.get(pair[0].language, 3))


def measure_one(
    specimen: Specimen,
    target: Target,
    env: Mapping[str, str],
    *,
    profile: Profile = NO_EXPECTATIONS,
    host_named: bool = False,
    timeout_s: float = TIMEOUT_S,
) -> Artifact:
    """One specimen in one target. ``host_named``: others' specimens may run on the bare host."""
    wanted = profile.of(specimen)
    when = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
    if may_run(specimen, target, host_named=host_named):
        measured = _measured(specimen, target, wanted, env, timeout_s)
    else:
        why = "it does not ship with wardian, and the bare host was not named: --in host"
        measured = Measured(None, Verdict("not_run", why))
    return _artifact(specimen, target, profile, measured, when)


def _artifact(
    specimen: Specimen, target: Target, profile: Profile, measured: Measured, when: str
) -> Artifact:
    wanted = profile.of(specimen)
    seen = measured.seen
    name = os.uname()
    return Artifact(
        id=specimen.id,
        capability=specimen.capability,
        domain=specimen.domain,
        specimen=f"probes/{specimen.path}",
        language=specimen.language,
        sandbox=target.name,
        sandbox_version=target.version,
        status=measured.verdict.status,
        cause=measured.verdict.cause,
        observed=seen.observed if seen is not None else None,
        errno=seen.errno if seen is not None else None,
        detail=seen.detail if seen is not None else "",
        expected=wanted.expect,
        expected_errno=wanted.errno,
        reason=wanted.reason,
        profile=profile.name,
        duration_s=round(measured.duration_s, 4),
        host=name.nodename,
        kernel=name.release,
        machine=name.machine,
        uid=os.geteuid(),
        policy_digest=target.policy.digest,
        degraded=target.degraded,
        refusals=measured.refusals,
        wardian=__version__,
        time=when,
        checks=seen.checks if seen is not None else (),
    )


def _measured(
    specimen: Specimen,
    target: Target,
    wanted: ProbeExpectation,
    env: Mapping[str, str],
    timeout_s: float,
) -> Measured:
    if specimen.language == "c" and compiler() is None:
        return _unavailable("no C compiler is installed")
    try:
        program = built(specimen) if specimen.language == "c" else interpreter(specimen.language)
        if program is None:
            return _unavailable(f"no interpreter for {specimen.language} is installed")
        started = command(specimen, program, target)
        return _run(specimen, target, started, wanted, env, timeout_s)
    except BuildError as error:
        return Measured(None, Verdict("not_run", str(error)))
    except (WardianError, OSError) as error:
        return Measured(None, Verdict("not_run", f"the sandbox could not be set up: {error}"))


def _unavailable(why: str) -> Measured:
    seen = Observation("unavailable", None, why)
    return Measured(seen, judge(seen, ProbeExpectation()))


def _run(
    specimen: Specimen,
    target: Target,
    started: SpecimenCommand,
    wanted: ProbeExpectation,
    env: Mapping[str, str],
    timeout_s: float,
) -> Measured:
    own = {
        "PROBE_ID": specimen.id,
        "PROBE_EXPECT": "blocked" if wanted.expect == "blocked" else "allowed",
        "LC_ALL": "C.UTF-8",
    }
    with target.sandbox() as sandbox:
        for source, path in started.files:
            with open(source, "rb") as file:
                sandbox.files.write(path, file.read(), executable=True)
        begun = time.monotonic()
        result = sandbox.run(
            [*started.argv, "--output", OUTPUT], cwd=started.cwd, env={**env, **own},
            timeout_s=timeout_s,
        )  # fmt: skip
        duration_s = time.monotonic() - begun
        seen, verdict = _answer(specimen, result, sandbox, wanted)
    return Measured(seen, verdict, tuple(result.refusals[:MAX_REFUSALS]), duration_s)


def _answer(
    specimen: Specimen, result: Result, sandbox: Sandbox, wanted: ProbeExpectation
) -> tuple[Observation | None, Verdict]:
    """The observation of a run; a failure of the specimen becomes a verdict, never an exception."""
    if result.reason == "time limit":
        return None, Verdict("timeout", f"it did not end in time{_said(result)}")
    if result.reason in ("not found", "not executable"):
        name = "ENOENT" if result.reason == "not found" else "EACCES"
        detail = f"{result.command[0]} can't be started there: {result.detail or result.reason}"
        return _judged(Observation("blocked", name, detail), wanted)
    if result.reason in _LIMITS:
        detail = f"the {result.reason} ended the run"
        return _judged(Observation("blocked", None, detail), wanted)
    if result.signal is not None:
        return None, Verdict("crashed", f"killed by {signal_name(result.signal)}{_said(result)}")
    if result.exit_code not in (0, 1):
        return None, Verdict("crashed", f"exit code {result.exit_code}{_said(result)}")
    try:
        data = _read(sandbox)
    except OSError as error:
        why = (error.strerror or "").lower()
        return None, Verdict("silent", f"it wrote no observation ({why}){_said(result)}")
    try:
        if len(data) > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES} bytes")
        seen = read_observation(json.loads(data), specimen.id, specimen.capability)
    except (ValueError, RecursionError) as error:
        return None, Verdict("garbage", f"what it wrote is no observation: {error}"[:SHOWN])
    return _judged(seen, wanted)


def _judged(seen: Observation, wanted: ProbeExpectation) -> tuple[Observation, Verdict]:
    return seen, judge(seen, wanted)


def _read(sandbox: Sandbox) -> bytes:
    """What stands there is the guest's: nothing is followed, and not more read than is of use."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    fd = os.open(OUTPUT, flags, dir_fd=sandbox.work_held.fd)
    with open(fd, "rb") as file:
        return file.read(MAX_BYTES + 1)


def _said(result: Result) -> str:
    text = result.stderr.decode("utf-8", "replace").strip()[-SHOWN:]
    return f"; it said: {text}" if text else ""


def kept(directory: str, on_done: OnDone) -> OnDone:
    """``on_done`` that also writes each artifact when it is there."""
    return functools.partial(_keep, directory, on_done)


def _keep(directory: str, on_done: OnDone, artifact: Artifact) -> None:
    artifacts.write(directory, artifact)
    on_done(artifact)
