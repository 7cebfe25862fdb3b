"""Tests which walls and backends work on this host, and how to fix the others."""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from wardian.errors import SandboxError, WallError, WardianError
from wardian.sandbox.backends import NAMES, shortfall, version
from wardian.sandbox.doctor import advice as around_us
from wardian.sandbox.doctor.advice import HostFacts
from wardian.sandbox.host import landlock_abi
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.run.launcher import LAUNCHER
from wardian.sandbox.run.protections import DEGRADABLE
from wardian.sandbox.run.result import Result
from wardian.sandbox.sandbox import Sandbox

TRY_S = 20.0
INTERPRETERS = ("python3", "node", "bash", "sh", "perl", "ruby", "git")


class Diagnosis(NamedTuple):
    """One check. ``needed``: the default policy does not run without it."""

    name: str
    kind: str  # sandbox, wall, backend, program, host
    works: bool
    detail: str = ""
    fix: str = ""
    needed: bool = False


class Report(NamedTuple):
    """All checks; ``works``: the default policy runs here."""

    works: bool
    checks: tuple[Diagnosis, ...]


def examine(on_step: Callable[[int, int], None] = lambda done, total: None) -> Report:
    """Try everything; ``on_step`` is called with how many steps of how many are done. Raises
    nothing that a broken host can cause."""
    around = around_us.surroundings(LAUNCHER)
    launcher = _launcher()
    steps = 2 + len(NAMES) + len(INTERPRETERS)
    on_step(0, steps)
    outcome = _outcome(Policy.default()) if launcher.works else None
    works = isinstance(outcome, Result) and outcome.exit_code == 0
    checks = [launcher]
    if outcome is not None:
        checks.append(_sandbox(outcome))
    if isinstance(outcome, Result):
        checks += _walls_that_stood(outcome, around)
    else:
        checks += _walls_one_by_one(around)
        if launcher.works:
            checks += _weaker()
    if around.uid == 0 and works:
        checks.append(_owner())
    checks.append(_cgroups())
    on_step(2, steps)
    slow = itertools.chain(_backends(works, outcome), _programs(works))
    for done, check in enumerate(slow, 3):
        checks.append(check)
        on_step(done, steps)
    return Report(works, each_cure_once(checks))


def each_cure_once(checks: Sequence[Diagnosis]) -> tuple[Diagnosis, ...]:
    """The checks with each cure at one of them, a wall if it is a wall's, and a pointer to it at
    the others. Pure."""
    owners: dict[str, str] = {}
    for check in sorted(checks, key=lambda check: check.kind != "wall"):
        if check.fix and not any(fix in check.fix for fix in owners):
            owners[check.fix] = check.name
    return tuple(_pointing(check, owners) for check in checks)


def _pointing(check: Diagnosis, owners: dict[str, str]) -> Diagnosis:
    owner = next((name for fix, name in owners.items() if fix in check.fix), check.name)
    return check if owner == check.name else check._replace(fix=f"see {owner}")


def _launcher() -> Diagnosis:
    if not os.path.exists(LAUNCHER):
        fix = "install again with a C compiler present: pip install --force-reinstall wardian"
        return Diagnosis("launcher", "sandbox", False, f"{LAUNCHER} is not there", fix, True)
    if not os.access(LAUNCHER, os.X_OK):
        fix = f"is its filesystem mounted noexec, or a directory above closed? ls -l {LAUNCHER}"
        return Diagnosis("launcher", "sandbox", False, f"{LAUNCHER} can't be executed", fix, True)
    return Diagnosis("launcher", "sandbox", True, LAUNCHER, needed=True)


def _outcome(policy: Policy, backend: str = "wardian") -> Result | WardianError:
    """Runs ``sh -c :`` under the default policy."""
    try:
        with Sandbox(policy, backend_name=backend, private_work=True) as sandbox:
            return sandbox.run(["sh", "-c", ":"], timeout_s=TRY_S)
    except WardianError as error:
        return error
    except OSError as error:
        return SandboxError(str(error))


def _sandbox(outcome: Result | WardianError) -> Diagnosis:
    name = "default policy"
    if isinstance(outcome, WardianError):
        return Diagnosis(name, "sandbox", False, str(outcome), outcome.hint or "", True)
    if outcome.exit_code != 0:
        detail = f"sh ended with {outcome.exit_code} ({outcome.detail or outcome.reason})"
        return Diagnosis(name, "sandbox", False, detail, "is there a shell in /usr/bin?", True)
    return Diagnosis(
        name, "sandbox", True, f"a run takes {outcome.usage.wall_s * 1000:.0f} ms inside"
    )


def _walls_that_stood(result: Result, around: HostFacts) -> Iterator[Diagnosis]:
    for wall in result.protections:
        fix, detail = "", wall.note
        if not wall.enforced and wall.name.startswith("landlock"):
            detail, fix = around_us.landlock_advice(landlock_abi(), around)
        yield Diagnosis(wall.name, "wall", wall.enforced, detail, fix)


def _walls_one_by_one(around: HostFacts) -> Iterator[Diagnosis]:
    from wardian.sandbox.doctor import attempts

    failed = attempts.failures(attempts.ACTIONS)
    for name in attempts.ACTIONS:
        if name not in failed:
            yield Diagnosis(name, "wall", True)
            continue
        before = next((one for one in attempts.NEEDS.get(name, ()) if one in failed), None)
        if before is not None:
            detail = f"not tested: it needs {before}"
            yield Diagnosis(name, "wall", False, detail, needed=True)
            continue
        why, fix = around_us.advice(name, failed[name], around)
        yield Diagnosis(name, "wall", False, why, fix, needed=True)
    abi = landlock_abi()
    if abi:
        yield Diagnosis("landlock", "wall", True, f"ABI {abi}")
    else:
        yield Diagnosis(
            "landlock", "wall", False, *around_us.landlock_advice(abi, around), needed=True
        )


def _weaker() -> Iterator[Diagnosis]:
    """Which ``--degrade`` flags would make it run; suggested, never applied."""
    policy, given_up = Policy.default(), list[str]()
    for _ in range(len(DEGRADABLE)):
        outcome = _outcome(policy)
        if isinstance(outcome, Result):
            flags = " ".join(f"--degrade {name}" for name in given_up)
            yield Diagnosis(
                "weaker run", "sandbox", True, f"this works here: wardian exec {flags} -- …"
            )
            return
        if not isinstance(outcome, WallError) or outcome.wall in given_up:
            return
        if outcome.wall not in DEGRADABLE:
            return
        given_up.append(outcome.wall)
        policy = policy._replace(degrade=tuple(given_up))


def _owner() -> Diagnosis:
    """As root: the guest acts as the owner of what is shared, by an idmapped mount (Linux 5.12)."""
    import tempfile

    from wardian.sandbox.policy.policy import Share

    name, fix = "shares as root", "use a filesystem that allows idmapped mounts, or run as a user"
    try:
        with tempfile.TemporaryDirectory(prefix="wardian-doctor-") as path:
            policy = Policy.default().with_shares([Share(path, "/mnt/doctor", True)])
            outcome = _outcome(policy)
    except OSError as error:
        return Diagnosis(name, "host", False, f"no temporary directory: {error}", "see TMPDIR")
    if isinstance(outcome, WardianError):
        return Diagnosis(name, "host", False, str(outcome), outcome.hint or fix)
    return Diagnosis(name, "host", True, "mounted with the owner's id mapped (tried in TMPDIR)")


def _cgroups() -> Diagnosis:
    """Informational: limits are held by the supervisor, rlimits and tmpfs sizes without any."""
    held = "the supervisor, rlimits and tmpfs sizes enforce limits in any case"
    try:
        with open("/proc/self/cgroup", encoding="utf-8", errors="replace") as file:
            lines = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError as error:
        return Diagnosis("cgroup delegation", "host", False, f"{error.strerror}; {held}")
    own = next((parts[2] for parts in lines if parts[0] == "0" and len(parts) == 3), None)
    if own is None:
        return Diagnosis("cgroup delegation", "host", False, f"no cgroup v2 here; {held}")
    path = "/sys/fs/cgroup" + own
    if os.access(os.path.join(path, "cgroup.procs"), os.W_OK):
        return Diagnosis(
            "cgroup delegation", "host", True, f"{path} is writable; not needed: {held}"
        )
    return Diagnosis("cgroup delegation", "host", False, f"{path} is not writable; {held}")


def _backends(works: bool, outcome: Result | WardianError | None) -> Iterator[Diagnosis]:
    why = str(outcome) if isinstance(outcome, WardianError) else "the launcher is missing"
    yield Diagnosis("wardian", "backend", works, "" if works else why)
    yield Diagnosis("host", "backend", True, "no sandbox at all: for comparison only")
    for name in NAMES:
        if name not in ("wardian", "host"):
            yield _peer(name)


def _peer(name: str) -> Diagnosis:
    """Another sandbox's program, with its missing walls given up by name."""
    policy = Policy.default()
    lacking = shortfall(name, policy)
    try:
        about = version(name)
    except (WardianError, OSError, subprocess.SubprocessError) as error:
        return Diagnosis(name, "backend", False, str(error), getattr(error, "hint", None) or "")
    outcome = _outcome(policy._replace(degrade=lacking), name)
    if isinstance(outcome, WardianError):
        return Diagnosis(name, "backend", False, f"{about}: {outcome}", outcome.hint or "")
    if outcome.exit_code != 0:
        detail = outcome.detail or outcome.reason
        return Diagnosis(name, "backend", False, f"{about}: sh ended with {detail}")
    flags = " ".join(f"--degrade {wall}" for wall in lacking)
    return Diagnosis(name, "backend", True, f"{about}; with {flags}" if flags else about)


def _programs(works: bool) -> Iterator[Diagnosis]:
    """Interpreters, started inside where that is possible."""
    for name in INTERPRETERS:
        found = _which(name)
        if found is None:
            yield Diagnosis(
                name, "program", False, "not on PATH", f"sudo apt install {_PACKAGES[name]}"
            )
        elif not works:
            detail = f"{found}; not tested: the default policy does not run here"
            yield Diagnosis(name, "program", False, detail)
        else:
            yield _program(name, found)


_PACKAGES = {name: name for name in INTERPRETERS} | {"node": "nodejs", "sh": "dash"}


def _program(name: str, found: str) -> Diagnosis:
    command = [name, "-c", ":"] if name == "sh" else [name, "--version"]
    try:
        with Sandbox(private_work=True) as sandbox:
            result = sandbox.run(command, timeout_s=TRY_S)
    except (WardianError, OSError) as error:
        return Diagnosis(name, "program", False, f"{found}: {error}")
    if result.exit_code != 0:
        return Diagnosis(
            name, "program", False, f"{found}: {result.detail or result.reason} inside"
        )
    version = next(filter(None, result.text.split("\n")), found)
    return Diagnosis(name, "program", True, version[:60])


def _which(name: str) -> str | None:
    from wardian.sandbox.root.programs import on_path

    return on_path(name, os.environ)
