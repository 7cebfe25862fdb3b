"""A command as it reads inside a sandbox, and where a path inside lies on the host."""

from __future__ import annotations

import os
from collections.abc import Sequence

from wardian.errors import ShareError
from wardian.sandbox.backends import Job
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.active import NONE, ActiveEnvironment, active_environment
from wardian.sandbox.root.layout import WORK, layout
from wardian.sandbox.root.programs import find_program, placed
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


def active(policy: Policy, sources: Sequence[Source]) -> ActiveEnvironment:
    """The caller's environments, where no policy sets another PATH or root."""
    if policy.rootfs is not None or "PATH" in policy.environment(os.environ):
        return NONE
    found = active_environment(os.environ, with_work(sources))
    return found if policy.network == "none" else found.changeable()


def with_work(sources: Sequence[Source]) -> Sequence[Source]:
    """The shares, and the place of an empty /work: nothing else is put there."""
    if any(source.at == WORK for source in sources):
        return sources
    return (*sources, Source(os.devnull, WORK, True, True))


def place(
    job: Job, policy: Policy, sources: Sequence[Source], around: ActiveEnvironment = NONE
) -> Placed:
    """Raises ShareError."""
    argv = job.argv
    env = _variables(job, policy, around)
    if "PATH" not in job.env:
        env["PATH"] = around.on(env["PATH"])
    if policy.rootfs is not None or _on_path_inside(argv[0], env["PATH"], sources):
        return Placed(argv, env, around.sources)  # another root has programs of its own
    sources = with_work(sources)
    found = placed(find_program(argv[0], os.environ, sources), sources)
    folder, fixed = os.path.dirname(found.path), "PATH" in policy.environment(os.environ)
    if found.path and (fixed or os.path.basename(found.path) != argv[0]):
        argv = (found.path, *argv[1:])
    if folder and "PATH" not in job.env and folder not in around.first:
        # What was set for the run stays before all else.
        env["PATH"] = f"{env['PATH']}:{folder}" if fixed else f"{folder}:{env['PATH']}"
    more = {source.at: source for source in (*around.sources, *found.sources)}
    return Placed(argv, env, tuple(more.values()))


def _on_path_inside(command: str, path: str, sources: Sequence[Source]) -> bool:
    """Does the guest's PATH lead to the program in something that is shared?"""
    if "/" in command:
        return False
    for folder in path.split(os.pathsep):
        for source in sources:
            if is_below(folder, source.at):
                there = source.path + folder[len(source.at.rstrip("/")) :]
                if os.access(os.path.join(there, command), os.X_OK):
                    return True
    return False


def _variables(job: Job, policy: Policy, around: ActiveEnvironment) -> dict[str, str]:
    """Ours, unless the caller says otherwise; npm reads its own in any case of letters."""
    given = dict(around.variables) | policy.environment(os.environ) | dict(job.env)
    ours = dict(layout().environment)
    if policy.network == "none":
        ours |= dict(layout().environment_offline)
    if "ptrace" not in policy.allow_syscalls:
        ours |= dict(layout().environment_untraced)
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
    whose interpreter is missing differs from a missing script."""
    import errno

    found = (number for number in errno.errorcode if os.strerror(number).lower() == said.lower())
    number = next(found, errno.EIO)
    if number == errno.ENOENT and "/" in job.argv[0]:
        inside = os.path.normpath(os.path.join(job.cwd or WORK, job.argv[0]))
        outside = on_host(inside, made)
        if outside is not None and os.path.isfile(outside):
            return errno.ELIBBAD
    return number
