"""Recording a run: what ``--record`` adds to ``exec`` and ``run``."""

from __future__ import annotations

import os

from wardian.cli import output

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wardian.cli.spool import Spool
    from wardian.observe.record import RecordedRun
    from wardian.sandbox.backends import Copies
    from wardian.sandbox.policy.policy import Policy
    from wardian.sandbox.run.result import Result


def recorded(
    directory: str,
    about: RecordedRun,
    start: Callable[[Copies | None], Result],
    *,
    spool: Spool | None,
) -> Result:
    """Run ``start`` and record it; ``spool`` has the output if it was captured.

    Raises what ``start`` raises, and SandboxError if the record cannot be created. If it cannot be
    completed, a warning is printed and the result returned."""
    from wardian.observe.record import KEPT_BYTES, Recording

    recording = Recording(directory, about)
    copied = spool is None and about.backend != "host"
    copies = recording.copies() if copied else None
    try:
        result = start(copies)
    except BaseException as error:
        recording.fail(error)
        raise
    printed = None if spool is None else spool.beginning(KEPT_BYTES + 1)
    problem = recording.end(result, output=printed)
    if problem is not None:
        from wardian.text import printable

        output.say(
            f"wardian: could not complete the record in {printable(directory)}: {problem}; "
            "the result is not affected"
        )
    return result


def given_by_the_caller(policy: Policy) -> Mapping[str, str]:
    """Variables that may hold secrets: all but those that pass by default."""
    from wardian.sandbox.policy.policy import Policy

    harmless = Policy.default().pass_env
    values = policy.environment(os.environ)
    return {name: value for name, value in values.items() if name not in harmless}
