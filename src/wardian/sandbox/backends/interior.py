"""A command as it reads inside a sandbox, and where a path inside lies on the host."""

from __future__ import annotations

import os
from collections.abc import Sequence

from wardian.errors import ShareError
from wardian.sandbox.backends import Job
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.layout import WORK, layout
from wardian.sandbox.root.programs import NOTHING, find_program, placed
from wardian.sandbox.root.root import Root
from wardian.sandbox.root.shares import Source, is_below

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from wardian.values import NamedTuple


class Placed(NamedTuple):
    """A command as it reads inside; ``more`` sources bring its program there."""

    argv: tuple[str, ...]
    env: dict[str, str]
    more: tuple[Source, ...]


def place(job: Job, policy: Policy, sources: Sequence[Source]) -> Placed:
    """Raises ShareError."""
    found = NOTHING  # another root has programs of its own
    if policy.rootfs is None:
        found = placed(find_program(job.argv[0], os.environ, sources), sources)
    argv = job.argv
    env = _variables(job, policy)
    if found.path:
        if os.path.basename(found.path) != argv[0]:
            argv = (found.path, *argv[1:])
        if "PATH" not in job.env:
            env["PATH"] = f"{os.path.dirname(found.path)}:{env['PATH']}"
    return Placed(argv, env, found.sources)


def _variables(job: Job, policy: Policy) -> dict[str, str]:
    """Ours, unless the caller says otherwise; npm reads its own in any case of letters."""
    given = policy.environment(os.environ) | dict(job.env)
    ours = dict(layout().environment)
    if policy.network == "none":
        ours |= dict(layout().environment_offline)
    taken = {name.lower() for name in given}
    return {name: value for name, value in ours.items() if name.lower() not in taken} | given


def in_order(sources: Sequence[Source]) -> list[Source]:
    """What lies in another one comes after it."""
    return sorted(sources, key=lambda source: source.at.count("/"))


def check_in_place(made: Root) -> None:
    """Raises ShareError for a source that leads elsewhere by now: a guest may have replaced it."""
    for source in made.sources:
        if os.path.realpath(source.path) != source.path:
            raise ShareError(source.path, "something else has been put in its place")


def on_host(path: str, made: Root) -> str | None:
    """Where a path inside lies on the host; None if it does not, being private or made by us."""
    places = [(source.at, source.path) for source in made.sources]
    places += [(at, source) for source, at in made.binds]
    places += [(at, "") for at, _ in made.private]
    for at, source in sorted(places, key=lambda place: -len(place[0])):
        if is_below(path, at):
            return source + path[len(at) :] if source else None
    for link, target in made.links:
        if is_below(path, link):
            return on_host(os.path.normpath(f"/{target}{path[len(link) :]}"), made)
    return None


def exec_errno(said: str, job: Job, made: Root) -> int:
    """The errno that a sandbox's own words for a failed exec stand for. A script that is there and
    whose interpreter is not is told apart from one that is not there."""
    import errno

    found = (number for number in errno.errorcode if os.strerror(number).lower() == said.lower())
    number = next(found, errno.EIO)
    if number == errno.ENOENT and "/" in job.argv[0]:
        inside = os.path.normpath(os.path.join(job.cwd or WORK, job.argv[0]))
        outside = on_host(inside, made)
        if outside is not None and os.path.isfile(outside):
            return errno.ELIBBAD
    return number
