"""One run, put together: its command, its variables, and what is shared with it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wardian.runner.interpreters import Runner
    from wardian.runner.location import Located
    from wardian.runner.packages import PreparedPackages
    from wardian.runner.script import Chosen
    from wardian.sandbox.policy.policy import Policy, Share

STATE = "/state"
# Node looks for packages in every folder above the script's, the root last.
NODE_MODULES = "/node_modules"
# Small programs of wardian's own, on PATH: before those of the system, and after.
FIRST = "/wardian/first"
LAST = "/wardian/last"
PIP = "/wardian/pip"
SHIMS = os.path.join(os.path.dirname(__file__), "shims")
# In a sandbox, in one with another root file system, or on the host as it is.
Where = Literal["sandbox", "rootfs", "host"]


class Invocation(NamedTuple):
    """``first`` and ``last`` are directories of PATH; the caller's own variables win over these."""

    argv: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    shares: tuple[Share, ...]
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    where: Where = "sandbox"


def script_words(
    skill: Located,
    script: Chosen,
    runner: Runner,
    prepared: PreparedPackages | None,
    where: Where,
) -> list[str]:
    """The command that starts a script, its arguments not included."""
    argv = list(runner.argv)
    if prepared is not None and prepared.python is not None and runner.kind == "python":
        argv[0] = prepared.python
    if script.module is not None and runner.kind == "python":
        return [*argv, "-m", script.module]
    from wardian.runner.plugin import skill_place

    root = skill.path if where == "host" else skill_place(skill)
    return [*argv, os.path.normpath(f"{root}/{script.path}")]


def invocation(
    skill: Located | None,
    argv: Sequence[str],
    *,
    prepared: PreparedPackages | None = None,
    state: str | None = None,
    where: Where = "sandbox",
    imports_skill: bool = False,
) -> Invocation:
    """The call of a command with a skill, prepared packages and a state, each if there is one.

    With ``imports_skill`` the skill's modules can be imported: `from scripts.x import y`.
    """
    from wardian.runner.plugin import skill_shares
    from wardian.sandbox.policy.policy import Share

    host = where == "host"
    variables: dict[str, str] = {}
    shares: list[Share] = []
    if skill is not None:
        variables |= _places(skill, host=host)
        variables["PYTHONDONTWRITEBYTECODE"] = "1"  # the skill is read-only
        shares += skill_shares(skill)
        if imports_skill:
            variables["PYTHONPATH"] = variables["SKILL_DIR"]
    if state is not None:
        variables["STATE_DIR"] = state if host else STATE
        shares.append(Share(state, STATE, write=True))
    if where == "rootfs":
        return Invocation(tuple(argv), tuple(variables.items()), tuple(shares), where=where)
    first: list[str] = []
    last: list[str] = []
    if prepared is not None and prepared.python is not None:
        variables["VIRTUAL_ENV"] = prepared.root
        shares += [Share(path, path) for path in (prepared.base, prepared.root) if path]
        first.append(os.path.join(prepared.root, "bin"))
        if not host:
            pip = _pip(prepared.python)
            shares += pip
            if pip:
                first.append(FIRST)
                paths = (variables.get("PYTHONPATH"), pip[0].at.removesuffix("/pip"))
                variables["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    if prepared is not None and prepared.node_modules is not None:
        modules = prepared.node_modules if host else NODE_MODULES
        shares.append(Share(prepared.node_modules, NODE_MODULES))
        variables["NODE_PATH"] = modules
        first.append(f"{modules}/.bin")
    if not host and not _has_python():
        shares.append(Share(os.path.join(SHIMS, "python"), f"{LAST}/python"))
        last.append(LAST)
    return Invocation(
        tuple(argv),
        tuple(variables.items()),
        () if host else tuple(shares),
        tuple(first),
        tuple(last),
        where,
    )


def _places(skill: Located, *, host: bool) -> dict[str, str]:
    """The place of a skill and of its plugin, by the names that instructions use."""
    from wardian.runner.plugin import PLUGIN, skill_place

    root = skill.path if host else skill_place(skill)
    plugin = skill.plugin if host else PLUGIN
    around = root if skill.plugin is None or plugin is None else plugin
    return {"SKILL_DIR": root, "CLAUDE_SKILL_DIR": root, "CLAUDE_PLUGIN_ROOT": around}


def _pip(python: str) -> list[Share]:
    """The pip of the installation that an environment was made from, and `pip` to start it."""
    from wardian.runner.packages.tools import find_pip
    from wardian.runner.packages.venv import base_of
    from wardian.sandbox.policy.policy import Share

    base = base_of(python)
    pip = find_pip(base) if base is not None else None
    if pip is None:
        return []
    at = f"{PIP}.whl" if pip.endswith(".whl") else f"{PIP}/pip"
    shim = os.path.join(SHIMS, "pip")
    return [Share(pip, at), Share(shim, f"{FIRST}/pip"), Share(shim, f"{FIRST}/pip3")]


def _has_python() -> bool:
    """Is there a program called just python among the system's?"""
    folders = _system_path().split(os.pathsep)
    return any(os.access(os.path.join(folder, "python"), os.X_OK) for folder in folders)


def _system_path() -> str:
    from wardian.sandbox.root.layout import layout

    return dict(layout().environment)["PATH"]


def under(policy: Policy, call: Invocation) -> Policy:
    """The policy of the run: the caller's, and what the call needs. The caller's variables win."""
    named = {name for name, _ in policy.set_env} | {n for n in policy.pass_env if n in os.environ}
    variables, shares = dict(call.variables), list(call.shares)
    if (call.first or call.last) and "PATH" not in named:
        around, more = _around(policy, call)
        variables, shares = around | variables, [*shares, *more]
    own = {name: value for name, value in variables.items() if name not in named}
    return policy.with_shares(shares).with_env(own)


def _around(policy: Policy, call: Invocation) -> tuple[dict[str, str], list[Share]]:
    """PATH, the caller's active environment on it, and what must be shared for that."""
    if call.where == "host":
        path = os.environ.get("PATH", os.defpath)
        return {"PATH": os.pathsep.join((*call.first, path))}, []
    from wardian.sandbox.policy.policy import Share
    from wardian.sandbox.root.active import active_environment
    from wardian.sandbox.root.shares import Source

    shown = [*policy.shares, *([Share(policy.work, "/work", True)] if policy.work else [])]
    sources = [Source(os.path.realpath(one.path), one.at, one.write, True) for one in shown]
    active = active_environment(os.environ, sources)
    path = os.pathsep.join((*call.first, active.on(_system_path()), *call.last))
    shares = [Share(source.path, source.at) for source in active.sources]
    return dict(active.variables) | {"PATH": path}, shares
