"""Hints for a run that lacks a package: printed when a package tool is refused the network, and
after the run for a missing module. Guest-controlled text is only shown; it decides nothing."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from wardian.cli import output
from wardian.sandbox.refusals.files import READ_ONLY
from wardian.text import cut, printable, quoted, shell_word

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wardian.runner.absent import Absent
    from wardian.runner.location import Located
    from wardian.runner.script import Chosen
    from wardian.sandbox.policy.policy import Policy
    from wardian.sandbox.refusals.installs import PackageRequest
    from wardian.sandbox.run.result import Refusal, Result
    from wardian.sandbox.run.unreached import Unreached

MAX_HOST = 80
MAX_MODULE = 120
_SYSTEM = re.compile(rb"\bsudo: |\bapt(-get)?: (command )?not found|dpkg frontend lock")
_ABSENT = re.compile(rb"No such file|not found|Cannot find module|can't open")


# During the run


def live_hints(policy: Policy, printed: list[str], *, tty: bool) -> Callable[[Unreached], None]:
    """A callback that prints each hint once and appends it to ``printed``. With ``tty`` the
    terminal is raw, and a line starts with a carriage return."""

    def show(unreached: Unreached) -> None:
        line = unreached_line(unreached, policy)
        if line is not None and line not in printed:
            printed.append(line)
            output.say(f"\r{line}\r" if tty else line)

    return show


def unreached_name(refusal: Refusal) -> Unreached:
    """The refused host name of a network by name, with the command that asked for it. Pure."""
    import shlex

    from wardian.sandbox.run.unreached import Unreached

    try:
        words = tuple(shlex.split(refusal.process.command))
    except ValueError:
        words = ()
    return Unreached(refusal.target, (words,))


def unreached_line(
    unreached: Unreached, policy: Policy, env: Mapping[str, str] = os.environ
) -> str | None:
    """The hint for a package tool that was refused the network; None for other programs, and for
    hosts that are allowed. ``env`` names the user's package indexes."""
    from wardian.sandbox.refusals.installs import package_request

    wanted = package_request(unreached.commands)
    if wanted is None or policy.network == "host" or _is_allowed(unreached.host, policy):
        return None
    named = list(wanted.packages)
    what = ", ".join(named) + (" and more" if wanted.others else "") if named else "packages"
    where = cut(printable(unreached.host), MAX_HOST) or "a package index"
    lacks = "which no rule allows" if policy.network == "names" else "but this run has no network"
    line = f"wardian: {wanted.tool} wants {what} from {where}, {lacks}"
    rules = _rules(unreached.host, wanted, env)
    options = " ".join(f"--net {quoted(rule)}" for rule in rules or ("host",))
    if not named or policy.rootfs is not None:
        return f"{line}; to allow it: {options}"
    prefix = "npm:" if wanted.ecosystem == "node" else ""
    packages = " ".join(f"--with {quoted(prefix + name)}" for name in named)
    them, index = "it" if len(named) == 1 else "them", "index" if rules else "network"
    return f"{line}; to install {them} before the run: {packages} (or allow the {index}: {options})"


def _is_allowed(host: str, policy: Policy) -> bool:
    """Also True where no rule would help: a name that a rule denies is reported as a refusal."""
    if policy.network != "names":
        return False
    from wardian.errors import UsageError
    from wardian.sandbox.network.rules import NetworkRules, normal_name

    try:
        name, rules = normal_name(host), NetworkRules.of(policy)
        return bool(rules.ports_of(name)) or rules.missing_for_name(name).rule is None
    except UsageError:
        return True


def _rules(host: str, wanted: PackageRequest, env: Mapping[str, str]) -> tuple[str, ...]:
    """Rules for the user's package indexes, or for another host; none for an address."""
    from wardian.runner.guest_indexes import index_rules, rules_for

    rules = rules_for(wanted.tool, wanted.ecosystem, env)
    own = index_rules([f"https://{host}/"]) if host else ()
    known = {rule.partition(":")[0] for rule in rules}
    return rules if own and own[0] in known else own


# After the run


def missing_lines(
    result: Result, skill: Located | None = None, script: Chosen | None = None, *, no_deps: bool
) -> list[str]:
    """Hints for the module that a failed run missed; for a skill's Python script, also its other
    undeclared imports."""
    from wardian.runner.absent import absent_from, advised

    absent = absent_from(result.stderr_tail)
    lines = []
    if absent is not None:
        lines.append(f"wardian: {_explained(absent, result, skill, no_deps=no_deps)}")
    elif result.exit_code != 0 and (packages := advised(result.stderr_tail)):
        options = " ".join(f"--with {quoted(name)}" for name in packages)
        lines.append(f"wardian: the program asks for {', '.join(packages)}; add: {options}")
    elif result.exit_code != 0 and _SYSTEM.search(result.stderr_tail):
        lines.append(
            "wardian: sudo and apt-get do not work inside; install the package on the host, "
            "whose /usr every run can read"
        )
    named = " ".join(lines).split()
    more = [name for name in _undeclared(result, skill, script) if name not in named]
    if more:
        options = " ".join(f"--with {name}" for name in more)
        also = "also " if lines else ""
        lines.append(
            f"wardian: the script {also}imports packages the skill does not declare: {options}"
        )
    return lines


def skill_lines(
    result: Result, skill: Located, words: Sequence[str], place: str, *, can_keep: bool
) -> list[str]:
    """Hints for a command composed from a SKILL.md: the working directory it expects, and that the
    skill's folder is another user's. ``place`` is where the skill is inside."""
    lines = []
    absent = result.reason == "not found" or _ABSENT.search(result.stderr_tail)
    named = [part for word in words for part in word.split()] if result.exit_code and absent else ()
    if not any(word == "cd" or word.startswith("cd ") or " cd " in word for word in words):
        for word in named:
            if "/" in word and _lies_in(skill.path, word):
                found = quoted(word) if quoted(word) == word else "it"
                lines.append(f"wardian: {found} is in the skill; to start there: --cwd {place}")
                break
    if any(_is_unwritable(one, place) for one in result.refusals):
        way = "--out DIR" if can_keep else "copy it to a folder of your own"
        lines.append(
            f"wardian: the skill's folder is another user's, so read-only; to change it: {way}"
        )
    return lines


def _lies_in(folder: str, word: str) -> bool:
    plain = not word.startswith("/") and ".." not in word.split("/")
    return plain and os.path.isfile(os.path.join(folder, word))


def _is_unwritable(one: Refusal, place: str) -> bool:
    from wardian.sandbox.root.shares import is_below

    inside = is_below(one.target, place) or is_below(one.target, "/skill")
    return inside and one.allow is None and one.reason == READ_ONLY


def _explained(absent: Absent, result: Result, skill: Located | None, *, no_deps: bool) -> str:
    module = cut(printable(absent.module), MAX_MODULE)
    own = _own_place(absent, result, skill)
    if own is not None:
        return own
    if not absent.package:
        return f"{module} {_not_a_package(absent)}"
    if no_deps:
        return f"{module} is missing; run without --no-deps"
    if absent.known:
        return f"{module} is in the package {absent.package}; add: {absent.option}"
    return f"{module} may be in the package {absent.package} (a guess); add: {absent.option}"


def _not_a_package(absent: Absent) -> str:
    if absent.ecosystem == "node":
        return "does not exist inside; check that it is shared, and the working directory (--cwd)"
    if absent.module.partition(".")[0] in ("google", "azure"):
        return "is a namespace of many packages; name the one you need: --with PACKAGE"
    if absent.module.startswith("_"):
        return "is part of a package that is installed incompletely; no package has that name"
    return "belongs to the standard library, but this Python lacks it; no package provides it"


def _own_place(absent: Absent, result: Result, skill: Located | None) -> str | None:
    """The hint for a module that is in the skill or in /work but not on Python's path."""
    if absent.ecosystem != "python":
        return None
    from wardian.runner.undeclared import own_module

    work = result.policy.work if result.policy is not None else None
    places = [("/skill", skill.path if skill is not None else None), ("/work", work)]
    for inside, root in places:
        found = own_module(root, absent.module) if root is not None else None
        if found is not None:
            folder = os.path.join(inside, os.path.dirname(found)).rstrip("/")
            path = folder if folder == inside else f"{folder}:{inside}"
            return (
                f"{printable(absent.module)} is not a package but {inside}/{printable(found)}; "
                f"add it to Python's path: --env PYTHONPATH={shell_word(path)}"
            )
    return None


def _undeclared(result: Result, skill: Located | None, script: Chosen | None) -> Sequence[str]:
    if skill is None or result.exit_code != 1:
        return ()
    from wardian.runner.undeclared import undeclared

    if script is None:
        return _undeclared_by_named(result, skill)
    python = script.wish.name == "python"
    return undeclared(skill.path, script, result.command[0]) if python else ()


def _undeclared_by_named(result: Result, skill: Located) -> list[str]:
    """Undeclared imports of each Python script of the skill that the command line names."""
    from wardian.runner.script import every_script
    from wardian.runner.undeclared import undeclared

    prepared = dict(result.policy.set_env).get("VIRTUAL_ENV") if result.policy is not None else None
    python = f"{prepared}/bin/python" if prepared else "python3"
    words = set(re.findall(r"[\w.-]+", " ".join(result.command)))
    found: dict[str, None] = {}
    for script in every_script(skill.path):
        if script.wish.name == "python" and os.path.basename(script.path) in words:
            found |= dict.fromkeys(undeclared(skill.path, script, python))
    return list(found)
