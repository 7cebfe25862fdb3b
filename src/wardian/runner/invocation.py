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
    """``first`` and ``last`` are directories of PATH; the caller's own variables win over these.
    ``environment`` is the place of prepared packages of Python, or empty."""

    argv: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    shares: tuple[Share, ...]
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    where: Where = "sandbox"
    environment: str = ""


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
    parts = _Parts(where)
    if skill is not None:
        parts.add_skill(skill, imports_skill)
    if state is not None:
        parts.variables["STATE_DIR"] = state if where == "host" else STATE
        parts.share(state, STATE, write=True)
    if where == "rootfs":
        return parts.invocation(argv)
    if prepared is not None and prepared.python is not None:
        parts.add_python(prepared, prepared.python)
    if prepared is not None and prepared.node_modules is not None:
        parts.add_node(prepared.node_modules)
    if where == "sandbox":
        parts.add_shims()
    return parts.invocation(argv)


class _Parts:
    """What an invocation is made of, as it is put together."""

    def __init__(self, where: Where) -> None:
        self.where = where
        self.variables: dict[str, str] = {}
        self._shares: list[Share] = []
        self._first: list[str] = []
        self._last: list[str] = []
        self._shims: dict[str, str] = {}
        self._environment = ""

    def share(self, path: str, at: str, *, write: bool = False) -> None:
        from wardian.sandbox.policy.policy import Share

        self._shares.append(Share(path, at, write))

    def add_skill(self, skill: Located, imports_skill: bool) -> None:
        from wardian.runner.plugin import skill_shares

        self.variables |= _places(skill, host=self.where == "host")
        self.variables["PYTHONDONTWRITEBYTECODE"] = "1"  # bytecode there would vanish
        self._shares += skill_shares(skill)
        if imports_skill:
            self.variables["PYTHONPATH"] = self.variables["SKILL_DIR"]
        self._shims |= {"uv": "uv", "uvx": "uv"}

    def add_python(self, prepared: PreparedPackages, python: str) -> None:
        self.variables["VIRTUAL_ENV"] = self._environment = prepared.root
        for path in filter(None, (prepared.base, prepared.root)):
            self.share(path, path)
        self._first.append(os.path.join(prepared.root, "bin"))
        self._shims |= {"uv": "uv", "uvx": "uv"}
        pip = _pip(python) if self.where == "sandbox" else None
        if pip is not None:
            at = f"{PIP}.whl" if pip.endswith(".whl") else f"{PIP}/pip"
            self.share(pip, at)
            paths = (self.variables.get("PYTHONPATH"), at.removesuffix("/pip"))
            self.variables["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
            self._shims |= {"pip": "pip", "pip3": "pip"}

    def add_node(self, node_modules: str) -> None:
        inside = node_modules if self.where == "host" else NODE_MODULES
        self.share(node_modules, NODE_MODULES)
        self.variables["NODE_PATH"] = inside
        self._first.append(f"{inside}/.bin")
        self._shims |= {"npm": "npm", "npx": "npx"}

    def add_shims(self) -> None:
        for name, program in self._shims.items():
            self.share(os.path.join(SHIMS, program), f"{FIRST}/{name}")
        if self._shims:
            self._first.append(FIRST)
        if not _has_python():
            self.share(os.path.join(SHIMS, "python"), f"{LAST}/python")
            self._last.append(LAST)

    def invocation(self, argv: Sequence[str]) -> Invocation:
        return Invocation(
            tuple(argv),
            tuple(self.variables.items()),
            () if self.where == "host" else tuple(self._shares),
            tuple(self._first),
            tuple(self._last),
            self.where,
            self._environment,
        )


def _places(skill: Located, *, host: bool) -> dict[str, str]:
    """The place of a skill and of its plugin, by the names that instructions use."""
    from wardian.runner.plugin import PLUGIN, skill_place

    root = skill.path if host else skill_place(skill)
    plugin = skill.plugin if host else PLUGIN
    around = root if skill.plugin is None or plugin is None else plugin
    return {"SKILL_DIR": root, "CLAUDE_SKILL_DIR": root, "CLAUDE_PLUGIN_ROOT": around}


def _pip(python: str) -> str | None:
    """The pip of the installation that an environment was made from, if it has one."""
    from wardian.runner.packages.tools import find_pip
    from wardian.runner.packages.venv import base_of

    base = base_of(python)
    return find_pip(base) if base is not None else None


def _has_python() -> bool:
    """Is there a program called just python among the system's?"""
    folders = _system_path().split(os.pathsep)
    return any(os.access(os.path.join(folder, "python"), os.X_OK) for folder in folders)


def _system_path() -> str:
    from wardian.sandbox.root.layout import layout

    return dict(layout().environment)["PATH"]


def under(policy: Policy, call: Invocation) -> Policy:
    """The policy of the run: the caller's, and what the call needs. The caller's variables win, and
    so does what the caller places where the call would place something."""
    named = {name for name, _ in policy.set_env} | {n for n in policy.pass_env if n in os.environ}
    variables, shares = dict(call.variables), list(call.shares)
    if (call.first or call.last) and "PATH" not in named:
        around, more = _around(policy, call)
        variables, shares = around | variables, [*shares, *more]
    if policy.network != "none":  # pip can fetch what it then installs there, for this run
        shares = [s._replace(copy=s.copy or s.at == call.environment) for s in shares]
    own = {name: value for name, value in variables.items() if name not in named}
    return policy.with_shares(_beside(policy, shares, call)).with_env(own)


def _beside(policy: Policy, shares: list[Share], call: Invocation) -> list[Share]:
    """Those of the call that the caller placed nothing at. What the caller places at /skill is the
    skill in its plugin too, and the other way round: both are to show the same, unmasked."""
    from wardian.runner.plugin import PLUGIN, SKILL

    taken = {share.at: share for share in policy.shares}
    place = dict(call.variables).get("SKILL_DIR", SKILL)
    own = [at for at in (SKILL, PLUGIN) if at in taken] + [place] * (SKILL in taken)
    left = [
        share
        for share in shares
        if share.at not in taken
        and (share.at == place or not any(share.at.startswith(f"{at}/") for at in own))
    ]
    if place == SKILL or call.where == "host":
        return left
    if SKILL in taken:
        return [*left, taken[SKILL]._replace(at=place)]
    around = taken.get(PLUGIN)
    if around is None:
        return left
    skill = f"{around.path}{place.removeprefix(PLUGIN)}"
    return [around._replace(path=skill, at=SKILL) if one.at == SKILL else one for one in left]


def _around(policy: Policy, call: Invocation) -> tuple[dict[str, str], list[Share]]:
    """PATH, the caller's active environment on it, and what must be shared for that."""
    if call.where == "host":
        path = os.environ.get("PATH", os.defpath)
        return {"PATH": os.pathsep.join((*call.first, path))}, []
    from wardian.sandbox.backends.interior import with_work
    from wardian.sandbox.policy.policy import Share
    from wardian.sandbox.root.active import active_environment
    from wardian.sandbox.root.shares import Source

    shown = [*policy.shares, *([Share(policy.work, "/work", True)] if policy.work else [])]
    sources = [Source(os.path.realpath(one.path), one.at, one.write, True) for one in shown]
    active = active_environment(os.environ, with_work(sources))
    path = os.pathsep.join((*call.first, active.on(_system_path()), *call.last))
    shares = [Share(source.path, source.at) for source in active.sources]
    return dict(active.variables) | {"PATH": path}, shares
