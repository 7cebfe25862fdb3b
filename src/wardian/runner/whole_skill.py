"""What all of a skill needs, for a command that may start any of its scripts: one environment.

Declarations at the skill's root and below scripts/ count, as ``needs`` reads them for ``wardian
run``, and the PEP 723 block of every script; what lies in templates or tests does not. Packages of
Python are united, and so are those of Node.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from wardian.runner.needs import Needs, inline_needs, needs_in, needs_of, with_requested
from wardian.runner.requested import Requested
from wardian.runner.script import FOLDER, every_script

if TYPE_CHECKING:
    from wardian.runner.script import Chosen

FOLDERS = ("", FOLDER)


def needs_of_skill(skill: str, extra: Requested = Requested()) -> tuple[Needs, ...]:  # noqa: B008
    """At most one of each kind. Raises SkillError for a declaration that can't be read."""
    python: list[Needs] = []
    node: list[Needs] = []
    for one in dict.fromkeys(_declared(skill, every_script(skill))):
        (python if one.package_json is None else node).append(one)
    return with_requested(united_python(python), _united_node(node), extra)


def united_python(needs: list[Needs]) -> Needs | None:
    """All of them in one environment; the index decides whether they fit together."""
    if not needs:
        return None
    versions = sorted({one.requires_python for one in needs if one.requires_python})
    return Needs(
        tuple(dict.fromkeys(text for one in needs for text in one.python)),
        ",".join(versions) or None,
        origin=_origins(needs),
    )


def _declared(skill: str, scripts: list[Chosen]) -> Iterator[Needs]:
    for folder in FOLDERS:
        yield from needs_in(skill, folder)
    for script in scripts:
        if os.path.dirname(script.path) == "" or script.path.startswith(f"{FOLDER}/"):
            yield from needs_of(skill, script)
        elif script.wish.name == "python" and (own := inline_needs(skill, script)) is not None:
            yield own


def _united_node(needs: list[Needs]) -> Needs | None:
    """The nearest to the root wins where two want another version of one package. A lock file
    holds for one package.json, so it serves where there is one."""
    if len(needs) < 2:
        return needs[0] if needs else None
    merged: dict[str, dict[str, object]] = {}
    for one in reversed(needs):
        for key, table in json.loads(one.package_json or b"{}").items():
            merged.setdefault(key, {}).update(table)
    manifest = json.dumps(merged, sort_keys=True).encode()
    return Needs(package_json=manifest, origin=_origins(needs))


def _origins(needs: list[Needs]) -> str:
    return ", ".join(dict.fromkeys(one.origin for one in needs))
