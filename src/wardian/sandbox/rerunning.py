"""A command run again, as it was given, with more allowed: new walls of its own around the same
``/work``."""

from __future__ import annotations

from wardian.errors import UsageError
from wardian.sandbox.backends import Job, backend
from wardian.sandbox.policy.grants import Grant, granted, grants_of
from wardian.sandbox.run.process import Process

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NamedTuple

    from wardian.sandbox.policy.policy import Policy
    from wardian.sandbox.run.result import Refusal, Result
    from wardian.sandbox.sandbox import Sandbox
    from wardian.sandbox.workdir import WorkDir
else:
    from wardian.values import NamedTuple


class Given(NamedTuple):
    """How a command was started. It holds values of variables and the input: no document has it,
    and its text says nothing of them."""

    job: Job
    timeout_s: float | None = None  # of the call itself, where it tightened the policy's
    grants: tuple[Grant, ...] = ()  # what earlier runs of it were allowed besides

    def __repr__(self) -> str:
        return "<Given>"


def given_by(job: Job, policy: Policy) -> Given:
    """What can be run again of a job that is not on the caller's own streams; who took its output
    is not part of it."""
    timeout_s = job.time_s if job.time_s != policy.limits.time_s else None
    return Given(Job(job.argv, job.env, job.cwd, job.input_bytes, job.time_s), timeout_s)


def rerun(
    sandbox: Sandbox, result: Result, allow: Iterable[Refusal], changes: Job, work: WorkDir | None
) -> Process:
    """The command of a result, started again under the sandbox's policy with what would allow these
    refusals. ``changes`` has the callbacks. Raises UsageError and SandboxError."""
    given = result.given
    if given is None:
        raise UsageError(
            "this result does not know how its command was started",
            hint="only results that Sandbox.run and the like returned can be run again",
        )
    new = grants_of(allow)
    grants = tuple(dict.fromkeys((*given.grants, *new)))
    policy = granted(sandbox.policy, grants)
    timeout_s = _longer(given.timeout_s, grants)
    times = [one for one in (timeout_s, policy.limits.time_s) if one is not None]
    job = given.job._replace(
        time_s=min(times) if times else None,
        on_stdout=changes.on_stdout,
        on_stderr=changes.on_stderr,
        keep=changes.keep,
    )
    around = backend(result.backend)
    own_work = work.path if work is not None and policy.work is None else None
    around.prepare(policy, own_work=own_work)
    process = around.start(job)
    process.given = Given(given.job, timeout_s, grants)
    return process


def _longer(timeout_s: float | None, grants: Iterable[Grant]) -> float | None:
    """A call's own time limit, where more time was granted."""
    if timeout_s is None:
        return None
    granted_s = [one.value for one in grants if (one.what, one.name) == ("limit", "time")]
    return max([timeout_s, *granted_s])
