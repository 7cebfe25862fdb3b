"""From a skill's script, or a command with a skill or packages, to the call that runs it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from wardian.errors import UsageError
from wardian.runner.requested import Requested, requested

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wardian.runner.interpreters import Missing
    from wardian.runner.invocation import Invocation, Where
    from wardian.runner.location import Located
    from wardian.runner.needs import Needs
    from wardian.runner.packages import PreparedPackages
    from wardian.runner.script import Chosen, Wish
    from wardian.sandbox.policy.policy import Policy


class Wanted(NamedTuple):
    """What the caller says about a run's surroundings, besides its policy."""

    packages: tuple[str, ...] = ()
    no_deps: bool = False
    offline: bool = False
    build: bool = False
    state: str | None = None
    python: str | None = None  # a version, in place of the one that is declared


def assembled(
    skill: Located | None,
    script: Chosen | None,
    words: Sequence[str],
    wanted: Wanted,
    *,
    where: Where = "sandbox",
    say: Callable[[str], None],
) -> Invocation | Missing:
    """The call, or what this host lacks for it: of a script, which gets ``words`` as arguments, or
    of the command that they are. Raises WardianError."""
    from wardian.runner.interpreters import Missing, runner_for, runner_in_root
    from wardian.runner.invocation import invocation, script_words

    needs = _needs(skill, script, requested(wanted.packages), wanted.no_deps, where)
    if wanted.python is not None:
        needs = _with_python(needs, wanted.python, where)
    runner = None
    if script is not None:
        script = script._replace(wish=_wish(script.wish, needs))
        if where == "rootfs":
            runner = runner_in_root(script.wish)
        else:
            found = runner_for(script.wish, script.path, os.environ)
            if isinstance(found, Missing):
                # Before packages are prepared, which takes time.
                return _by_choice(found, needs, wanted)
            runner = found
    prepared = _prepared(needs, script, wanted, say)
    if isinstance(prepared, Missing):
        return prepared
    argv = list(words)
    if skill is not None and script is not None and runner is not None:
        argv = [*script_words(skill, script, runner, prepared, where), *words]
    is_python = runner is not None and runner.kind == "python"
    return invocation(
        skill, argv, prepared=prepared, state=wanted.state, where=where, imports_skill=is_python
    )


def surroundings(
    policy: Policy,
    skill: str | os.PathLike[str] | None,
    packages: Sequence[str],
    *,
    grant: bool = False,
    backend: str,
    say: Callable[[str], None],
) -> tuple[Policy, Callable[[], None]]:
    """The policy under which every command finds the skill and the packages, with ``grant`` also
    the network that the skill asks for; and what to call when the last has ended. Raises
    WardianError."""
    from wardian.runner.interpreters import Missing
    from wardian.runner.invocation import under
    from wardian.runner.location import located

    where: Where = "host" if backend == "host" else "sandbox" if policy.rootfs is None else "rootfs"
    opened = located(os.fspath(skill)) if skill is not None else None
    try:
        found = opened.__enter__() if opened is not None else None
        if found is not None:
            from wardian.runner.wishes import with_wishes

            policy, _ = with_wishes(policy, found, grant=grant, say=say)
        call = assembled(found, None, (), Wanted(tuple(packages)), where=where, say=say)
        if isinstance(call, Missing):
            from wardian.runner.packages import PreparationError

            raise PreparationError(call.why, hint=call.hint)
        return under(policy, call), opened.__exit__ if opened is not None else lambda: None
    except BaseException:
        if opened is not None:
            opened.__exit__()
        raise


def _needs(
    skill: Located | None, script: Chosen | None, extra: Requested, no_deps: bool, where: Where
) -> tuple[Needs, ...]:
    """What is declared and what the caller adds; ``no_deps`` leaves the first out."""
    if where == "rootfs":
        if not extra.empty:
            raise UsageError(
                "--with and --rootfs cannot be combined",
                hint="`wardian pack --rootfs` includes the packages that a skill declares",
            )
        return ()
    if skill is None or no_deps:
        if extra.empty:
            return ()
        from wardian.runner.needs import with_requested

        return with_requested(None, None, extra)
    if script is not None:
        from wardian.runner.needs import needs_of

        return needs_of(skill.path, script, extra)
    from wardian.runner.whole_skill import needs_of_skill

    return needs_of_skill(skill.path, extra)


def _with_python(needs: Sequence[Needs], version: str, where: Where) -> tuple[Needs, ...]:
    """The same for this Python: an environment of it also where no packages are needed."""
    if where == "rootfs":
        raise UsageError("--python and --rootfs cannot be combined")
    from wardian.runner.needs import Needs

    python = next((one for one in needs if one.package_json is None), Needs(origin="--python"))
    node = [one for one in needs if one.package_json is not None]
    return (python._replace(requires_python=version), *node)


def _wish(wish: Wish, needs: Sequence[Needs]) -> Wish:
    """What a script's own metadata wishes about the interpreter comes before its shebang."""
    versions = [one.requires_python for one in needs if one.requires_python is not None]
    return wish._replace(version=versions[0]) if versions and wish.name == "python" else wish


def _prepared(
    needs: Sequence[Needs], script: Chosen | None, wanted: Wanted, say: Callable[[str], None]
) -> PreparedPackages | Missing | None:
    """One environment of Python and one of Node, each if it is needed."""
    made: PreparedPackages | None = None
    for one in needs:
        if one.empty and (wanted.python is None or one.package_json is not None):
            continue
        from wardian.runner.packages import PreparedPackages, prepare
        from wardian.runner.script import Wish

        wish = Wish("python", one.requires_python)
        if script is not None and script.wish.name == "python":
            wish = script.wish
        part = prepare(one, wish, offline=wanted.offline, build=wanted.build, say=say)
        if part is None:
            return _by_choice(_lacking(one, wish), [one], wanted)
        before = made or PreparedPackages()
        if part.node_modules is not None:
            made = before._replace(node_modules=part.node_modules)
        else:
            made = part._replace(node_modules=before.node_modules)
    return made


def _by_choice(missing: Missing, needs: Sequence[Needs], wanted: Wanted) -> Missing:
    """A version that a declaration asks for can be left out with what else it declares."""
    declared = any(one.requires_python for one in needs) and wanted.python is None
    if missing.program != "python" or not declared:
        return missing
    return missing._replace(hint=f"{missing.hint}; or ignore the declared dependencies: --no-deps")


def _lacking(needs: Needs, wish: Wish) -> Missing:
    from wardian.runner.interpreters import Missing, runner_for
    from wardian.runner.script import Wish as ScriptWish

    if needs.package_json is not None:
        wish = ScriptWish("node")
    found = runner_for(wish, "", os.environ)
    if isinstance(found, Missing):
        return found
    return Missing(
        "python", "no Python here is 3.8 or later", "install one: uv python install 3.13"
    )
