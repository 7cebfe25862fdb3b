"""One run, put together: its command, its variables, and what is shared with it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wardian.runner.environments import Prepared
    from wardian.runner.interpreters import Runner
    from wardian.runner.location import Located
    from wardian.runner.script import Chosen
    from wardian.sandbox.policy import Policy, Share

SKILL = "/skill"
STATE = "/state"
# Node looks for packages in every folder above the script's, the root last.
NODE_MODULES = "/node_modules"


class Invocation(NamedTuple):
    """``variables`` are those that the caller's own give way to nothing but."""

    argv: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    shares: tuple[Share, ...]


def invocation(
    skill: Located,
    script: Chosen,
    runner: Runner,
    args: Sequence[str],
    *,
    prepared: Prepared | None = None,
    state: str | None = None,
    inside: bool = True,
) -> Invocation:
    """Pure. ``inside`` is False for the backend that has no root of its own, and sees host paths."""
    from wardian.sandbox.policy import Share

    root = SKILL if inside else skill.path
    argv = list(runner.argv)
    if prepared is not None and prepared.python is not None and runner.kind == "python":
        argv[0] = prepared.python
    if script.module is not None and runner.kind == "python":
        argv += ["-m", script.module]
    else:
        argv.append(f"{root}/{script.path}")
    variables = {"SKILL_DIR": root}
    shares = [Share(skill.path, SKILL)]
    if runner.kind == "python":
        # The skill is read-only, and `from scripts.x import y` is how its modules name each other.
        variables |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": root}
    if prepared is not None and prepared.node_modules is not None:
        shares.append(Share(prepared.node_modules, NODE_MODULES))
        variables["NODE_PATH"] = NODE_MODULES if inside else prepared.node_modules
    if state is not None:
        shares.append(Share(state, STATE, write=True))
        variables["STATE_DIR"] = STATE if inside else state
    return Invocation((*argv, *args), tuple(variables.items()), tuple(shares) if inside else ())


def under(policy: Policy, call: Invocation) -> Policy:
    """The policy of the run: the caller's, and what the call needs. The caller's variables win."""
    named = {name for name, _ in policy.set_env} | {n for n in policy.pass_env if n in os.environ}
    own = {name: value for name, value in call.variables if name not in named}
    return policy.with_shares(call.shares).with_env(own)


def listing(scripts: Iterable[tuple[str, str]]) -> list[str]:
    """Lines that tell the scripts and what runs each."""
    rows = list(scripts)
    width = max((len(kind) for _, kind in rows), default=0)
    return [f"{kind:<{width}}  {path}" for path, kind in rows]
