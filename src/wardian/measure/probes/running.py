"""One specimen in one sandbox; all of them, in parallel, to the end; nothing from before."""

from __future__ import annotations

import datetime
import functools
import itertools
import json
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from wardian import __version__
from wardian.errors import WardianError
from wardian.measure.probes import artifact as artifacts
from wardian.measure.probes.artifact import Artifact
from wardian.measure.probes.building import BuildError, built, compiler
from wardian.measure.probes.sandboxes import Call, Setting, call, interpreter, may_run
from wardian.measure.probes.specimen import Specimen
from wardian.measure.probes.verdict import (
    Expectation,
    Observation,
    Verdict,
    judge,
    read_observation,
)
from wardian.sandbox.run.result import Result
from wardian.sandbox.sandbox import Sandbox

TIMEOUT_S = 20.0
OUTPUT = "observation.json"
MAX_BYTES = 64 << 10
MAX_REFUSALS = 100
TOLD = 300
# A limit that strikes is an answer of the sandbox; its clock is not, for the specimen may hang.
_LIMITS = ("memory limit", "cpu limit", "disk limit", "output limit")
# What takes longest goes first, so that no core waits for the last one.
_FIRST = {"r": 0, "node": 1, "python": 2}

OnDone = Callable[[Artifact], None]


class Measured(NamedTuple):
    """What a specimen came to: an observation, or the verdict that says why there is none."""

    seen: Observation | None
    verdict: Verdict
    refusals: tuple[str, ...] = ()
    duration_s: float = 0.0


def measure(
    specimens: Sequence[Specimen],
    settings: Sequence[Setting],
    env: Mapping[str, str],
    *,
    jobs: int | None = None,
    timeout_s: float = TIMEOUT_S,
    on_done: OnDone | None = None,
) -> list[Artifact]:
    """An artifact for each specimen and sandbox, in their order; never raises for what one does."""
    pairs = [(one, setting) for setting in settings for one in specimens]
    order = sorted(range(len(pairs)), key=lambda i: _FIRST.get(pairs[i][0].language, 3))
    found: dict[int, Artifact] = {}

    def one(index: int) -> None:
        specimen, setting = pairs[index]
        found[index] = measure_one(specimen, setting, env, timeout_s=timeout_s)
        if on_done is not None:
            on_done(found[index])

    with ThreadPoolExecutor(jobs or os.cpu_count() or 1, thread_name_prefix="probe") as pool:
        try:
            for done in [pool.submit(one, index) for index in order]:
                done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [found[index] for index in range(len(pairs))]


def measure_one(
    specimen: Specimen, setting: Setting, env: Mapping[str, str], *, timeout_s: float = TIMEOUT_S
) -> Artifact:
    """One specimen in one sandbox."""
    wanted = setting.profile.of(specimen)
    when = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
    measured = _measured(specimen, setting, wanted, env, timeout_s)
    seen = measured.seen
    name = os.uname()
    return Artifact(
        id=specimen.id,
        capability=specimen.capability,
        domain=specimen.domain,
        specimen=f"probes/{specimen.path}",
        language=specimen.language,
        sandbox=setting.name,
        sandbox_version=setting.version,
        status=measured.verdict.status,
        cause=measured.verdict.cause,
        observed=seen.observed if seen is not None else None,
        errno=seen.errno if seen is not None else None,
        detail=seen.detail if seen is not None else "",
        expected=wanted.expect,
        expected_errno=wanted.errno,
        reason=wanted.reason,
        profile=setting.profile.name,
        duration_s=round(measured.duration_s, 4),
        host=name.nodename,
        kernel=name.release,
        machine=name.machine,
        uid=os.geteuid(),
        policy_digest=setting.policy.digest,
        degraded=setting.degraded,
        refusals=measured.refusals,
        wardian=__version__,
        time=when,
        checks=seen.checks if seen is not None else (),
    )


def _measured(
    specimen: Specimen,
    setting: Setting,
    wanted: Expectation,
    env: Mapping[str, str],
    timeout_s: float,
) -> Measured:
    if not may_run(specimen, setting):
        why = "it does not ship with wardian, and the bare host was not named: --in host"
        return Measured(None, Verdict("not_run", why))
    if specimen.language == "c" and compiler() is None:
        return _unavailable("no C compiler is installed")
    try:
        program = built(specimen) if specimen.language == "c" else interpreter(specimen.language)
        if program is None:
            return _unavailable(f"no interpreter for {specimen.language} is installed")
        started = call(specimen, program, setting)
        return _run(specimen, setting, started, wanted, env, timeout_s)
    except BuildError as error:
        return Measured(None, Verdict("not_run", str(error)))
    except (WardianError, OSError) as error:
        return Measured(None, Verdict("not_run", f"the sandbox could not be set up: {error}"))


def _unavailable(why: str) -> Measured:
    seen = Observation("unavailable", None, why)
    return Measured(seen, judge(seen, Expectation()))


def _run(
    specimen: Specimen,
    setting: Setting,
    started: Call,
    wanted: Expectation,
    env: Mapping[str, str],
    timeout_s: float,
) -> Measured:
    own = {
        "PROBE_ID": specimen.id,
        "PROBE_EXPECT": "blocked" if wanted.expect == "blocked" else "allowed",
        "LC_ALL": "C.UTF-8",
    }
    with setting.make(setting.policy, setting.name) as sandbox:
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
    told = (f"{one.kind} {one.action} {one.target}".strip() for one in result.refusals)
    refusals = tuple(itertools.islice(told, MAX_REFUSALS))
    return Measured(seen, verdict, refusals, duration_s)


def _answer(
    specimen: Specimen, result: Result, sandbox: Sandbox, wanted: Expectation
) -> tuple[Observation | None, Verdict]:
    """What the run came to; whatever went wrong with the specimen is told, never raised."""
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
        return None, Verdict("crashed", f"killed by {_signal_name(result.signal)}{_said(result)}")
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
        return None, Verdict("garbage", f"what it wrote is no observation: {error}"[:TOLD])
    return _judged(seen, wanted)


def _judged(seen: Observation, wanted: Expectation) -> tuple[Observation, Verdict]:
    return seen, judge(seen, wanted)


def _read(sandbox: Sandbox) -> bytes:
    """What stands there is the guest's: nothing is followed, and not more read than is of use."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    fd = os.open(OUTPUT, flags, dir_fd=sandbox.work_held.fd)
    with open(fd, "rb") as file:
        return file.read(MAX_BYTES + 1)


def _said(result: Result) -> str:
    text = result.stderr.decode("utf-8", "replace").strip()[-TOLD:]
    return f"; it said: {text}" if text else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def kept(directory: str, on_done: OnDone) -> OnDone:
    """``on_done`` that also writes each artifact when it is there."""
    return functools.partial(_keep, directory, on_done)


def _keep(directory: str, on_done: OnDone, artifact: Artifact) -> None:
    artifacts.write(directory, artifact)
    on_done(artifact)
