"""The backend ``host``: no sandbox at all, the oracle that says how a command behaves without.

It keeps to the protocol of the others: same jobs, same results, time and output limits, and no
process of the command's left behind. It protects from nothing, and its results say so.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from typing import Any

from wardian.errors import BackendError, ShareError
from wardian.sandbox.backends import Job, bare
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.layout import WORK
from wardian.sandbox.root.shares import admitted_unwalled, is_below
from wardian.sandbox.run.plan import Plan
from wardian.sandbox.run.process import Process
from wardian.sandbox.run.protections import ALWAYS, DEGRADABLE
from wardian.sandbox.run.records import BARE, record
from wardian.sandbox.run.result import Limit, Protection
from wardian.sandbox.workdir import WorkDir

# The host's own, as a command started by hand would find them.
ENVIRONMENT = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR")
NOTE = "backend host puts up no walls"


class HostBackend:
    """Starts commands as they are."""

    name = "host"

    def shortfall(self, policy: Policy) -> tuple[str, ...]:
        """There is nothing to give up."""
        return ()

    def version(self) -> str:
        """None of its own."""
        return ""

    def prepare(self, policy: Policy, *, own_work: str | None = None) -> None:
        """Raises ShareError if the work directory is not one, or a share is not there."""
        self._policy, self._work = policy, policy.work or own_work
        self._own_work = own_work
        if self._work is not None and not os.path.isdir(self._work):
            raise ShareError(self._work, "it is not a directory")
        self._work = admitted_unwalled(policy, own_work)

    def start(self, job: Job) -> Process:
        """Start the job; a command that can't be executed is a result, as elsewhere."""
        cwd, env, private = self._cwd(job), self._environment(job), WorkDir(guests=False)
        own = [self._own_work]
        if cwd is None:
            cwd = _in_work(private.path, job)
            own.append(private.path)
        return bare.start(
            job,
            bare.Bare(
                self.name,
                self._policy,
                self._plan(job, own),
                job.argv,
                env,
                cwd,
                judge=lambda ending: _judged(ending, job, env),
                failed=lambda event: _check_cwd(event, cwd),
                over=private.remove,
                direct=True,
            ),
        )

    def _plan(self, job: Job, own: list[str | None]) -> Plan:
        output_bytes = None if job.inherit else self._policy.limits.output_bytes
        records = [BARE, *(record("discard", path) for path in own if path is not None)]
        records += [record("output", output_bytes)] if output_bytes is not None else []
        limits = (
            Limit("time", bare.time_limit(job, self._policy), "host backend"),
            Limit("output", output_bytes, "host backend"),
        )
        walls = tuple(_absent(name) for name in _wall_names())
        return Plan(b"".join(records), walls, limits)

    def _environment(self, job: Job) -> dict[str, str]:
        own = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
        return own | self._policy.environment(os.environ) | dict(job.env)

    def _cwd(self, job: Job) -> str | None:
        """None: in a work directory of this run alone."""
        wanted = os.path.join(WORK, job.cwd or "")
        if not is_below(wanted, WORK):
            return wanted
        return None if self._work is None else _in_work(self._work, job)


def _in_work(work: str, job: Job) -> str:
    return os.path.normpath(work + os.path.join(WORK, job.cwd or "")[len(WORK) :])


def _wall_names() -> tuple[str, ...]:
    return tuple(dict.fromkeys((*ALWAYS, "namespace.network", *DEGRADABLE)))


def _absent(name: str) -> Protection:
    return Protection(name, requested=True, available=False, enforced=False, note=NOTE)


def _check_cwd(failed: dict[str, Any], cwd: str) -> None:
    if failed["wall"] == "cwd":
        why = os.strerror(failed["errno"])
        raise BackendError(f"the working directory can't be used: {cwd}: {why}")


def _judged(ending: bare.Ending, job: Job, env: Mapping[str, str]) -> bare.Ending:
    """A directory of PATH that is closed to us does not make a missing program forbidden."""
    import shutil

    name, number = job.argv[0], ending.event["exec_errno"]
    if number != errno.EACCES or "/" in name or shutil.which(name, path=env.get("PATH")):
        return ending
    return ending.not_executed(errno.ENOENT)


backend = HostBackend
