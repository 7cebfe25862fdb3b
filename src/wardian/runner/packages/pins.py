"""Hashes that a requirements.txt or a URL gives: the only files that may be installed by a name.

As pip has it: where one requirement has ``--hash``, each package that is installed needs one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from wardian.runner.packages.model import Archive, Hash, Locked, PreparationError
from wardian.runner.packages.requirements import hash_of_url, parsed, split_hashes


class Pins(NamedTuple):
    """The accepted hashes by canonical name; ``complete``: a package without any is refused."""

    accepted: Mapping[str, frozenset[Hash]] = {}
    complete: bool = False

    def of(self, name: str) -> frozenset[Hash] | None:
        """What is accepted under a name; None: anything. Raises PreparationError."""
        from packaging.utils import canonicalize_name

        found = self.accepted.get(canonicalize_name(name))
        if found is None and self.complete:
            raise PreparationError(
                f"{name} has no --hash, but other requirements have one",
                hint="give the hashes of every package, also of those that others require, or none"
                "\n`uv pip compile --generate-hashes` writes such a requirements.txt",
            )
        return found


def pins_of(texts: Sequence[str]) -> Pins:
    """The hashes in requirements as they were declared. Raises UsageError for what is none."""
    from packaging.utils import canonicalize_name

    accepted: dict[str, frozenset[Hash]] = {}
    complete = False
    for text in texts:
        plain, hashes = split_hashes(text)
        requirement = parsed(plain)
        complete = complete or bool(hashes)
        given = [frozenset(one) for one in (hashes, hash_of_url(requirement.url or "")) if one]
        if given:  # of several lines one applies, by its marker
            name = canonicalize_name(requirement.name)
            accepted[name] = accepted.get(name, frozenset()) | frozenset.intersection(*given)
    return Pins(accepted, complete)


def narrowed(pins: Pins, locked: Sequence[Locked]) -> list[Locked]:
    """The same without candidates that an index itself gives other hashes. PreparationError."""
    return [_narrowed(one, pins.of(one.name)) for one in locked]


def _narrowed(one: Locked, accepted: frozenset[Hash] | None) -> Locked:
    if accepted is None:
        return one
    kinds = {kind for kind, _ in accepted}
    fitting = tuple(
        candidate
        for candidate in one.candidates
        if all(kind not in kinds or (kind, value.lower()) in accepted
               for kind, value in candidate.hashes)
    )  # fmt: skip
    if not fitting:
        raise _refused(one.name, f"each file of version {one.version}")
    return one._replace(candidates=fitting)


def refuse_unpinned(pins: Pins, name: str, archive: Archive) -> None:
    """Raises PreparationError unless the archive has a hash that its name was given."""
    accepted = pins.of(name)
    if accepted is None:
        return
    for kind in {kind for kind, _ in accepted}:
        with open(archive.path, "rb") as file:
            if (kind, hashlib.file_digest(file, kind).hexdigest()) in accepted:
                return
    raise _refused(name, archive.filename)


def _refused(name: str, what: str) -> PreparationError:
    return PreparationError(
        f"{name}: {what} does not match the hash in the requirements",
        hint="the index has a different file than the pinned one; nothing was installed",
    )
