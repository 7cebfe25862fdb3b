"""The rows of names.tsv: what the kernel's headers call the values and bits of arguments.

name            as the headers spell it
x86_64, arm64   its number there, ``-`` where it does not exist, ``=`` where ``constants`` has it
roles           the families that know it
takes           where the name is a command that says what the arguments after it are: their roles,
                ``none`` after the last of them; ``*`` leaves them as the table has them

The rows of a family stand in the order in which its names are written when several are.
"""

from __future__ import annotations

import os

from wardian.errors import InputError
from wardian.syscalls.constants import CONSTANTS
from wardian.syscalls.table import canonical_arch

COLUMNS = ("name", "x86_64", "arm64", "roles", "takes")
_PATH = os.path.join(os.path.dirname(__file__), "names.tsv")

Name = tuple[str, int, tuple[str, ...] | None]
"""A name, its number, and the roles of the arguments after it, None for those of the table."""

_families: dict[str, dict[str, tuple[Name, ...]]] = {}


def family(role: str, arch: str) -> tuple[Name, ...]:
    """The names that a role knows on an architecture; none if the role is no family."""
    arch = canonical_arch(arch)
    if arch not in _families:
        with open(_PATH, encoding="utf-8") as file:
            _families[arch] = parse_names(file.read(), arch)
    return _families[arch].get(role, ())


def parse_names(text: str, arch: str, path: str = _PATH) -> dict[str, tuple[Name, ...]]:
    """Names by role. Raises InputError with the line for a row that is not well formed."""
    header, *lines = text.splitlines()
    if tuple(header.split("\t")) != COLUMNS:
        raise InputError(f"expected the columns {', '.join(COLUMNS)}", path=path, line=1)
    families: dict[str, list[Name]] = {}
    for line, content in enumerate(lines, start=2):
        try:
            name, x86_64, arm64, roles, takes = content.split("\t")
            number = _number(name, x86_64 if arch == "x86_64" else arm64)
        except (ValueError, KeyError) as error:
            raise InputError(f"not a row of the names: {error}", path=path, line=line) from None
        if number is not None:
            named = (name, number, None if takes == "*" else tuple(takes.split(" ")))
            for role in roles.split(" "):
                families.setdefault(role, []).append(named)
    return {role: tuple(names) for role, names in families.items()}


def _number(name: str, text: str) -> int | None:
    if text == "=":
        return CONSTANTS[name]
    return None if text == "-" else int(text, 0)
