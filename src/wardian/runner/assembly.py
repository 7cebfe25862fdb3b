"""From a skill and a script to the call that runs it, dependencies prepared."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from wardian.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wardian.runner.interpreters import Missing
    from wardian.runner.invocation import Invocation
    from wardian.runner.location import Located
    from wardian.runner.packages import PreparedPackages
    from wardian.runner.script import Chosen


class Wanted(NamedTuple):
    """What the caller says about a run's surroundings, besides its policy."""

    packages: tuple[str, ...] = ()
    no_deps: bool = False
    offline: bool = False
    build: bool = False
    state: str | None = None


def assembled(
    skill: Located,
    script: Chosen,
    args: Sequence[str],
    wanted: Wanted,
    *,
    inside: bool,
    say: Callable[[str], None],
) -> Invocation | Missing:
    """The call, or what this host lacks for it. Raises WardianError."""
    from wardian.runner.interpreters import Missing, runner_for
    from wardian.runner.invocation import invocation

    prepared, script = _prepared(skill, script, wanted, say)
    runner = runner_for(script.wish, script.path, os.environ)
    if isinstance(runner, Missing):
        return runner
    return invocation(
        skill, script, runner, args, prepared=prepared, state=wanted.state, inside=inside
    )


def _prepared(
    skill: Located, script: Chosen, wanted: Wanted, say: Callable[[str], None]
) -> tuple[PreparedPackages | None, Chosen]:
    """The environment, and the script with what its own metadata wishes about the interpreter."""
    if wanted.no_deps:
        if wanted.packages:
            raise UsageError("--with and --no-deps exclude each other")
        return None, script
    from wardian.runner.needs import needs_of

    needs = needs_of(skill.path, script, wanted.packages)
    if needs is None:
        return None, script
    if needs.requires_python is not None:
        script = script._replace(wish=script.wish._replace(version=needs.requires_python))
    if needs.empty:
        return None, script
    from wardian.runner.packages import prepare

    made = prepare(needs, script.wish, offline=wanted.offline, build=wanted.build, say=say)
    return made, script
