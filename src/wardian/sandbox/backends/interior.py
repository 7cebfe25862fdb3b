"""What a guest of another sandbox finds inside: the pieces that the launcher is told of, as data;
its command as it reads there; and where a path inside lies on the host."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from typing import NamedTuple

from wardian.errors import ShareError
from wardian.sandbox.backends import Job
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.layout import WORK, layout
from wardian.sandbox.root.programs import NOTHING, find_program, placed
from wardian.sandbox.root.shares import Source, admitted, is_below
from wardian.sandbox.root.steps import base, private_places


class Root(NamedTuple):
    """Everything in the root but /dev and /proc, in the order in which it is put there."""

    links: tuple[tuple[str, str], ...]  # path, target
    binds: tuple[tuple[str, str], ...]  # host's path, path inside; read-only
    files: tuple[tuple[str, bytes], ...]
    private: tuple[tuple[str, int], ...]  # path, mode
    space: int  # bytes for all that is private
    sources: tuple[Source, ...]


def root(policy: Policy, sources: Sequence[Source]) -> Root:
    """Raises ShareError for a root file system that can't be used."""
    shape, pieces = layout(), base(policy.rootfs, policy.base)
    there = {piece.path for piece in pieces}
    files = tuple((path, text.lstrip("\n").encode()) for path, text in shape.files)
    ours = {path for path, _ in files}
    binds = [(piece.source, piece.path) for piece in pieces if not piece.link]
    if policy.network == "host":
        for name in shape.etc_network:
            real = os.path.realpath(f"/etc/{name}")
            if os.path.exists(real) and f"/etc/{name}" not in there:
                binds.append((real, f"/etc/{name}"))
    limits = policy.limits
    return Root(
        links=tuple((p.path, p.link) for p in pieces if p.link and p.path not in ours),
        binds=tuple((source, at) for source, at in binds if at not in ours),
        files=files,
        private=tuple(private_places({source.at for source in sources})),
        space=min(limits.disk_bytes or 1 << 40, limits.memory_bytes or 1 << 40),
        sources=tuple(sources),
    )


class Placed(NamedTuple):
    """A command as it reads inside, and the root that it finds there."""

    argv: tuple[str, ...]
    env: dict[str, str]
    root: Root


def shared(policy: Policy, own_work: str | None) -> list[Source]:
    """The policy's shares and /work. Raises ShareError."""
    return admitted(policy, own_work, WORK)


def place(job: Job, policy: Policy, sources: Sequence[Source]) -> Placed:
    """Raises ShareError."""
    found = NOTHING  # another root has programs of its own
    if policy.rootfs is None:
        found = placed(find_program(job.argv[0], os.environ, sources), sources)
    argv = job.argv
    env = dict(layout().environment) | policy.environment(os.environ) | dict(job.env)
    if found.path:
        if os.path.basename(found.path) != argv[0]:
            argv = (found.path, *argv[1:])
        if "PATH" not in job.env:
            env["PATH"] = f"{os.path.dirname(found.path)}:{env['PATH']}"
    ordered = sorted((*found.sources, *sources), key=lambda source: source.at.count("/"))
    return Placed(argv, env, root(policy, ordered))


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
    found = (number for number in errno.errorcode if os.strerror(number).lower() == said.lower())
    number = next(found, errno.EIO)
    if number == errno.ENOENT and "/" in job.argv[0]:
        inside = os.path.normpath(os.path.join(job.cwd or WORK, job.argv[0]))
        outside = on_host(inside, made)
        if outside is not None and os.path.isfile(outside):
            return errno.ELIBBAD
    return number
