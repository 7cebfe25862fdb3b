"""One run, put together: its command, its variables, and what is shared with it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wardian.runner.interpreters import Runner
    from wardian.runner.location import Located
    from wardian.runner.packages import PreparedPackages
    from wardian.runner.script import Chosen
    from wardian.sandbox.policy.policy import Policy, Share
    from wardian.sandbox.root.programs import Program

SKILL = "/skill"
STATE = "/state"
# Node looks for packages in every folder above the script's, the root last.
NODE_MODULES = "/node_modules"
COMPANIONS = ("python3", "node")


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
    prepared: PreparedPackages | None = None,
    state: str | None = None,
    inside: bool = True,
) -> Invocation:
    """``inside`` is False for the backend that has no root of its own, and sees host paths."""
    from wardian.sandbox.policy.policy import Share

    root = SKILL if inside else skill.path
    argv = list(runner.argv)
    if prepared is not None and prepared.python is not None and runner.kind == "python":
        argv[0] = prepared.python
    if script.module is not None and runner.kind == "python":
        argv += ["-m", script.module]
    else:
        argv.append(f"{root}/{script.path}")
    variables = {"SKILL_DIR": root}
    shares = [Share(skill.path, SKILL, copy=True)]
    if runner.kind == "python":
        # Bytecode there would vanish; `from scripts.x import y` is how its modules name each other.
        variables |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": root}
    shares += _environment(prepared)
    if prepared is not None and prepared.node_modules is not None:
        shares.append(Share(prepared.node_modules, NODE_MODULES))
        variables["NODE_PATH"] = NODE_MODULES if inside else prepared.node_modules
    path, programs = _companions(runner, prepared)
    shares += programs
    if path and inside:
        variables["PATH"] = path
    if state is not None:
        shares.append(Share(state, STATE, write=True))
        variables["STATE_DIR"] = STATE if inside else state
    return Invocation((*argv, *args), tuple(variables.items()), tuple(shares) if inside else ())


def _environment(prepared: PreparedPackages | None) -> list[Share]:
    """A prepared Python and the installation it was made from, as recorded when it was made."""
    from wardian.sandbox.policy.policy import Share

    if prepared is None or prepared.python is None:
        return []
    return [Share(path, path) for path in (prepared.base, prepared.root) if path]


def _companions(runner: Runner, prepared: PreparedPackages | None) -> tuple[str, list[Share]]:
    """The user's own Python and Node, which a script may start by name, and a PATH to find them.

    What lies below /usr is there anyway; the script's own interpreter is the sandbox's business.
    """
    from wardian.sandbox.policy.policy import Share

    wanted = [name for name in COMPANIONS if runner.argv[:1] != (name,)]
    if prepared is not None and prepared.python is not None and runner.kind != "python":
        wanted[0] = prepared.python
    found = [program for name in wanted if (program := _found(name)) is not None]
    if not any(program.path for program in found):
        return "", []
    from wardian.sandbox.root.layout import layout

    shares = {s.at: Share(s.path, s.at) for program in found for s in program.sources}
    folders = [os.path.dirname(program.path) for program in found if program.path]
    return os.pathsep.join([*folders, dict(layout().environment)["PATH"]]), list(shares.values())


def _found(name: str) -> Program | None:
    """None where it can't be shared: the script may do without it."""
    from wardian.errors import ShareError
    from wardian.sandbox.root.programs import find_program

    try:
        return find_program(name, os.environ)
    except ShareError:
        return None


def under(policy: Policy, call: Invocation) -> Policy:
    """The policy of the run: the caller's, and what the call needs. The caller's variables win, and
    so does what the caller places where the call would place something."""
    named = {name for name, _ in policy.set_env} | {n for n in policy.pass_env if n in os.environ}
    own = {name: value for name, value in call.variables if name not in named}
    taken = {share.at for share in policy.shares}
    shares = [share for share in call.shares if share.at not in taken]
    return policy.with_shares(shares).with_env(own)
