"""Python packages, from requirements to an environment: resolved, fetched, checked, installed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from wardian.descriptors import FOLDER
from wardian.runner.packages import cabinet, store, venv
from wardian.runner.packages.layout import modules_of
from wardian.runner.packages.model import (
    Archive,
    Locked,
    OldToolError,
    PackageFile,
    Preparation,
    PreparationError,
)
from wardian.runner.packages.pins import Pins, narrowed, refuse_unpinned
from wardian.runner.packages.requirements import parsed, source_urls
from wardian.runner.packages.resolving import resolve
from wardian.runner.packages.rooms import FETCH, fetching, not_allowed, run
from wardian.runner.packages.tools import Tools, pip_for, tools_for
from wardian.sandbox.policy.policy import Share
from wardian.sandbox.policy.units import human_bytes
from wardian.text import printable

if TYPE_CHECKING:
    from wardian.runner.indexes import Settings

STORED = "/store"


def make(job: Preparation, base: venv.BasePython) -> dict[str, Any]:
    """Make the environment at ``job.path``; returns what is to be recorded of it."""
    for text in () if job.build else source_urls(job.needs.python):
        name, _, url = text.partition(" @ ")
        raise not_allowed(f"{name} comes from {url}, which has to be built")
    tools, archives = _with_either(job, base)
    modules = install(job, tools, archives)
    return {
        "modules": modules,
        "base": base.python,
        "prefix": base.prefix,
        "archives": {archive.filename: archive.digest for archive in archives},
    }


def _with_either(job: Preparation, base: venv.BasePython) -> tuple[Tools, list[Archive]]:
    """By uv if there is one, else by pip; also if that uv turns out to be too old."""
    from wardian.runner.indexes import pip_settings, uv_settings

    tools = tools_for(base, os.environ)
    if tools.uv is None:
        return tools, _gathered(job, tools, pip_settings(os.environ))
    try:
        return tools, _gathered(job, tools, uv_settings(os.environ))
    except OldToolError as error:
        pip = pip_for(base)
        if pip is None:
            raise
        job.say(f"wardian: {error}; pip is used instead")
        return pip, _gathered(job, pip, pip_settings(os.environ))


def _gathered(job: Preparation, tools: Tools, settings: Settings) -> list[Archive]:
    if not job.needs.python:  # it is asked for this Python alone
        return []
    if job.build:
        from wardian.runner.packages.building import gathered_or_built

        return gathered_or_built(job, tools, settings)
    links = [stored(job)] if job.offline else []
    folder = new_folder(job, "resolve")
    locked = resolve(job, tools, settings, folder, job.needs.python, links)
    return download(job, tools, settings, locked, job.pins)


def stored(job: Preparation) -> Share:
    """All wheels that came from indexes, hashed anew: what there is without a network."""
    wheels = (one for one in store.every(store.PYTHON) if one.filename.endswith(".whl"))
    sound = filter(None, (store.find(store.PYTHON, one.digest, one.filename) for one in wheels))
    place = store.laid_out(sound, ("scratch", os.path.basename(job.scratch), "stored"))
    return Share(place, STORED)


def new_folder(job: Preparation, name: str) -> str:
    """A directory of this preparation's own for one sandbox to write to."""
    number = len(os.listdir(job.scratch))
    path = os.path.join(job.scratch, f"{name}-{number}")
    os.mkdir(path, 0o700)
    return path


def download(
    job: Preparation, tools: Tools, settings: Settings, locked: Sequence[Locked], pins: Pins
) -> list[Archive]:
    """The archives, from the store or fetched into it. Raises PreparationError."""
    locked = narrowed(pins, locked)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:  # hashing lets go of Python's lock
        there = list(pool.map(lambda one: [_in_store(one, c) for c in one.candidates], locked))
    found = {n: have[0] for n, have in enumerate(there) if len(have) == 1 and have[0] is not None}
    missing = [n for n in range(len(locked)) if n not in found]
    if missing:
        folder = new_folder(job, "download")
        plan = {
            "wanted": [
                [
                    {"url": candidate.url, "there": have is not None}
                    for candidate, have in zip(locked[n].candidates, there[n], strict=True)
                ]
                for n in missing
            ],
            "into": FETCH,
            "logins": settings.logins,
            "certificates": settings.certificates,
        }
        room = fetching(job, folder, settings, tools.shares)
        report = _fetched(job, [locked[n] for n in missing])
        run(job, room, tools.program("download"), tools.name, json.dumps(plan).encode(), report)
        taken = _taken_in(folder, [locked[n] for n in missing], [there[n] for n in missing])
        found |= {n: taken[at] for at, n in enumerate(missing)}
    for n in set(range(len(locked))) - set(missing):
        job.say(f"wardian: {_named(locked[n])}: from the cache")
    for n, archive in found.items():
        refuse_unpinned(pins, locked[n].name, archive)
    return [found[n] for n in range(len(locked))]


def _fetched(job: Preparation, locked: Sequence[Locked]) -> Callable[[bytes], None]:
    """Takes what the download prints and reports each package that is there."""
    pending = bytearray()
    there: set[int] = set()

    def take(piece: bytes) -> None:
        pending.extend(piece[:4096])
        *lines, rest = pending.split(b"\n")
        pending[:] = rest[:64]
        for line in lines:
            number, _, size = line.partition(b" ")
            if number.isdigit() and size.isdigit() and int(number[:6]) < len(locked):
                there.add(int(number[:6]))
                job.step(len(there), len(locked))
                shown = human_bytes(int(size[:15]))
                job.say(f"wardian: {_named(locked[int(number[:6])])}: fetched, {shown}")

    return take


def _named(one: Locked) -> str:
    return printable(f"{one.name} {one.version}".strip())[:100]


def _in_store(one: Locked, candidate: PackageFile) -> Archive | None:
    sha256 = dict(candidate.hashes).get("sha256")
    return store.find(_drawer(one), sha256, candidate.filename) if sha256 else None


def _drawer(one: Locked) -> str:
    """What a skill or a package names by URL is kept apart: it says nothing about its name."""
    return store.DIRECT if one.direct else store.PYTHON


def _taken_in(
    folder: str, locked: Sequence[Locked], there: Sequence[Sequence[Archive | None]]
) -> dict[int, Archive]:
    """What was fetched, by its number in the plan, hashed and moved into the store."""
    fd = os.open(folder, FOLDER)
    found = {}
    try:
        for name in os.listdir(fd):
            number, dash, choice = name.partition("-")
            if not (dash and number.isdecimal() and choice.removesuffix(".there").isdecimal()):
                continue
            n, k = int(number), int(choice.removesuffix(".there"))
            have = there[n][k]
            if name.endswith(".there") and have is not None:
                found[n] = have
            elif not name.endswith(".there"):
                candidate = locked[n].candidates[k]
                found[n] = store.take_in(
                    _drawer(locked[n]), fd, name, candidate.filename, candidate.hashes
                )
    finally:
        os.close(fd)
    absent = [one.name for n, one in enumerate(locked) if n not in found]
    if absent:
        raise PreparationError(f"{', '.join(absent[:5])} could not be fetched")
    return found


def install(job: Preparation, tools: Tools, archives: Sequence[Archive]) -> list[str]:
    """Put wheels into a new environment; the modules of those that were asked for.

    Raises PreparationError.
    """
    from packaging.utils import canonicalize_name

    from wardian.runner.packages import linking, wheels

    unpacked = wheels.unpacked(job, tools, archives)
    for _ in range(2):
        venv.make(job.path, tools.base)
        try:
            linking.fill(job.path, tools.base, unpacked)
            asked = {canonicalize_name(parsed(one).name) for one in job.needs.python}
            return sorted({m for one in unpacked if one.name in asked for m in modules_of(one)})
        except linking.ChangedWheelError as error:  # by a person, or by a disk: unpack it anew
            cabinet.forget(error.digest, wheels.WHEELS)
            cabinet.empty(job.path)
            unpacked = wheels.unpacked(job, tools, archives)
    raise PreparationError("unpacked packages in the cache change while they are linked")
