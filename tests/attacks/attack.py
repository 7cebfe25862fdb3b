"""What an attack is: one row of a table, and the two things that are shown of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from tests.attacks.callers import NAMES, NO_WALLS, Caller, Outcome

FINE = "fine"


def py(code: str) -> list[str]:
    """A command that runs Python code in the guest."""
    return ["python3", "-I", "-S", "-c", code]


class Attack(NamedTuple):
    """A row. In commands and ``harm``, ``@NAME@`` stands for something of the scene."""

    name: str
    command: Sequence[str] | str  # a string is a shell's
    harm: str  # what it prints on standard output when it succeeds
    walls: tuple[str, ...]  # which, left out together, let it through
    permitted: Sequence[str] | str = (
        f"echo {FINE}"  # the neighbouring act, which works: prints fine
    )
    as_root: tuple[str, ...] = ()  # walls that hold besides, when the caller is root
    callers: tuple[str, ...] = ("root", "user")
    options: Mapping[str, Any] = {}

    def without(self, caller: Caller) -> tuple[str, ...]:
        """The walls to leave out for this caller."""
        return self.walls + (self.as_root if caller.uid == 0 else ())


def rows(attacks: Iterable[Attack]) -> pytest.MarkDecorator:
    """One test for each attack and each caller it is for."""
    cases = [
        pytest.param(name, attack, id=f"{name}-{attack.name}")
        for attack in attacks
        for name in NAMES
        if name in attack.callers
    ]
    return pytest.mark.parametrize(("caller", "attack"), cases, indirect=["caller"])


def filled(value: Any, scene: Mapping[str, str]) -> Any:
    """The value with every ``@NAME@`` in it replaced."""
    if isinstance(value, str):
        for name, text in scene.items():
            value = value.replace(f"@{name}@", text)
        return value
    if isinstance(value, Mapping):
        return {key: filled(item, scene) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [filled(item, scene) for item in value]
    return value


def attempt(
    attack: Attack, caller: Caller, scene: Mapping[str, str], without: Sequence[str] = ()
) -> Outcome:
    """Carry it out, behind all walls unless some are left out."""
    options = filled(dict(attack.options), scene)
    return caller.run(filled(attack.command, scene), without=without, kept=True, **options)


def assert_contained(attack: Attack, caller: Caller, scene: Mapping[str, str]) -> Outcome:
    """The real launcher withstands it, and the neighbouring act works."""
    outcome = attempt(attack, caller, scene)
    assert "error" not in outcome.answer, outcome
    assert filled(attack.harm, scene) not in outcome.stdout, outcome
    options = filled(dict(attack.options), scene)
    neighbour = caller.run(filled(attack.permitted, scene), kept=True, **options)
    assert FINE in neighbour.text, neighbour
    return outcome


def assert_harmful(attack: Attack, caller: Caller, scene: Mapping[str, str]) -> Outcome:
    """Without its walls it succeeds: so it was these walls that held."""
    outcome = attempt(attack, caller, scene, attack.without(caller))
    assert filled(attack.harm, scene) in outcome.stdout, outcome
    return outcome


def assert_each_wall_holds(attack: Attack, caller: Caller, scene: Mapping[str, str]) -> None:
    """With only one of its walls standing it is contained: none of them is there for nothing."""
    walls = attack.without(caller)
    for standing in walls:
        others = [wall for wall in walls if wall != standing]
        outcome = attempt(attack, caller, scene, others)
        # A run that can't start at all, as with Landlock but no root of its own, is contained too.
        printed = outcome.answer.get("stdout", "")
        assert filled(attack.harm, scene) not in printed, (standing, outcome)


def held_by_several(attacks: Iterable[Attack]) -> list[Attack]:
    """Attacks that more than one wall holds."""
    return [attack for attack in attacks if len(attack.walls + attack.as_root) > 1]


__all__ = [
    "FINE",
    "NO_WALLS",
    "Attack",
    "assert_contained",
    "assert_each_wall_holds",
    "assert_harmful",
    "attempt",
    "held_by_several",
    "py",
    "rows",
]
