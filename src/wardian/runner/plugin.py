"""The plugin that a skill belongs to: a directory above it, shared as a copy with its runs.

Which directory that is, files above the skill decide: those of the same clone, made by the caller
or the system, in no place that was ever shared for writing. Nothing in the skill's folder counts,
and no more is shared than the clone holds.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from wardian.skills.clones import PLUGIN_FOLDER, at_and_above, clone_top, git_directories

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wardian.runner.location import Located
    from wardian.sandbox.policy.policy import Share

SKILL = "/skill"
PLUGIN = "/plugin"


def plugin_of(skill: str) -> str | None:
    """The root of the plugin that holds a skill's real directory, the innermost that can be
    trusted; None if there is none, or the skill is all of it."""
    top = clone_top(skill)
    if top is None:
        return None
    for place in _below(skill, top):
        if not os.path.lexists(f"{place}/{PLUGIN_FOLDER}"):
            continue
        root = _root(place, skill)
        if root == skill:
            return None
        if root is not None:
            return root
    return None


def skill_place(skill: Located) -> str:
    """Where the guest has the skill: in its plugin, so that ``../../scripts`` leads there too."""
    if skill.plugin is None:
        return SKILL
    return f"{PLUGIN}/{os.path.relpath(skill.path, skill.plugin)}"


def skill_shares(skill: Located) -> list[Share]:
    """The skill, always at /skill too, and its plugin, as copies, which are one where copies can be
    had. What git keeps in them is masked: it may hold passwords. Raises SandboxError."""
    from wardian.sandbox.policy.policy import Share

    shares = [Share(skill.path, SKILL, copy=True), *_masks(skill.path, SKILL)]
    if skill.plugin is not None:
        shares += [Share(skill.plugin, PLUGIN, copy=True), *_masks(skill.plugin, PLUGIN)]
    return shares


def _masks(root: str, at: str) -> list[Share]:
    from wardian.errors import SandboxError
    from wardian.sandbox.policy.policy import Share

    found = git_directories(root)
    if found is None:
        raise SandboxError(
            f"{root} has too many folders to search for .git",
            hint="copy the skill to a folder of its own",
        )
    empty = _empty() if found else ""
    return [Share(empty, f"{at}/{path}") for path in found]


def _empty() -> str:
    """A directory of wardian's own with nothing in it."""
    from wardian.errors import SandboxError
    from wardian.homes import own_directory
    from wardian.sandbox.paths.named import open_directory

    path = os.path.join(os.path.realpath(own_directory("state")), "empty")
    try:
        os.close(open_directory(path, make=0o700))
    except OSError as error:
        raise SandboxError(
            f"{path} can't be created: {(error.strerror or '').lower()}",
            hint="point XDG_STATE_HOME to a directory that can be written to",
        ) from None
    return path


def _below(skill: str, top: str) -> Iterator[str]:
    for place in at_and_above(skill):
        yield place
        if place == top:
            return


def _root(place: str, skill: str) -> str | None:
    """The innermost plugin around ``skill`` that the files at ``place`` name."""
    if not _trusted(place, PLUGIN_FOLDER):
        return None
    from pathlib import Path

    from wardian.skills.plugins import plugins_of

    named = plugins_of(Path(place))
    roots = {str(plugin.root) for plugin in named if _trusted(place, plugin.named_by)}
    around = [root for root in roots if skill == root or skill.startswith(f"{root}/")]
    return max((root for root in around if _trusted(root, ".")), key=len, default=None)


def _trusted(place: str, path: str) -> bool:
    """Whether what is there is the caller's or the system's own, no link, and no guest's."""
    from wardian.sandbox.paths.named import trusted_owners, was_shared

    owners = trusted_owners()
    try:
        for one in (place, os.path.join(place, path)):
            found = os.lstat(one)
            if stat.S_ISLNK(found.st_mode) or found.st_uid not in owners:
                return False
    except OSError:
        return False
    return was_shared(os.path.normpath(os.path.join(place, path))) is None
