"""What the cache holds, and what of it may go. Removing is by descriptor, and spares what a
preparation or a run has in use."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from wardian.runner.packages import cabinet, store
from wardian.runner.packages.bytecode import BYTECODE
from wardian.runner.packages.model import Say
from wardian.runner.packages.wheels import WHEELS

Kind = Literal["environment", "wheel", "archive", "leftover"]
EARLIER_S = 86400.0  # what another version of wardian has not used for so long
_JSON = ".json"


class CacheEntry(NamedTuple):
    """One thing that can be removed. ``uses`` are the digests that an environment was made from."""

    kind: Kind
    name: str
    path: str
    about: str
    used_s: float
    bytes: int
    uses: tuple[str, ...] = ()


def entries(
    on_step: Callable[[int, int], None] = lambda done, total: None,
) -> list[CacheEntry]:
    """Everything in the cache. A file that several share counts for the first that has it: wheels
    before the environments made of them. ``on_step`` is called with how many entries of how many
    were measured. Raises PreparationError."""
    if not os.path.isdir(cabinet.cache()):
        return []
    seen: set[tuple[int, int]] = set()
    unsized, found = list(_unsized()), list[CacheEntry]()
    for done, one in enumerate(unsized, 1):
        found.append(one._replace(bytes=_size(one.path, seen)))
        on_step(done, len(unsized))
    return sorted(found, key=lambda one: (one.kind != "environment", one.kind, -one.used_s))


def _unsized() -> Iterator[CacheEntry]:
    yield from _wheels()
    yield from _archives()
    yield from _environments()
    for name in _names("scratch"):
        path = cabinet.path_of("scratch", name)
        yield CacheEntry("leftover", name, path, "an unfinished preparation", _changed(path), 0)
    parent, own = os.path.split(cabinet.cache())
    for name in sorted(os.listdir(parent)):
        path = os.path.join(parent, name)
        if re.fullmatch(r"packages-\d+", name) and name != own and _is_folder(path):
            used = max(_changed(path), *(_changed(os.path.join(path, n)) for n in os.listdir(path)))
            yield CacheEntry("leftover", name, path, "kept by another version of wardian", used, 0)


def _wheels() -> Iterator[CacheEntry]:
    for name in _names(WHEELS):
        path = cabinet.path_of(WHEELS, name)
        if name.endswith(_JSON) or name.startswith("."):
            continue
        about = cabinet.read_record(name, WHEELS)
        if about is None:
            yield CacheEntry("leftover", name, path, "an unfinished wheel", _changed(path), 0)
        else:
            shown = str(about.get("filename", name))
            yield CacheEntry("wheel", name, path, shown, _changed(path + _JSON), 0)


def _archives() -> Iterator[CacheEntry]:
    for tool in store.ALGORITHMS:
        for name in _names("store", tool):
            path = cabinet.path_of("store", tool, name)
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                yield CacheEntry("leftover", name, path, "no archive", _changed(path), 0)
        for one in store.every(tool):
            used = max(_changed(one.path), _changed(cabinet.path_of(WHEELS, one.digest + _JSON)))
            yield CacheEntry(
                "archive", one.digest, os.path.dirname(one.path), one.filename, used, 0
            )


def _environments() -> Iterator[CacheEntry]:
    for name in _names("environments"):
        path = cabinet.path_of("environments", name)
        record = cabinet.read_record(name)
        if record is None:
            yield CacheEntry("leftover", name, path, "an unfinished one", _changed(path), 0)
            continue
        wanted, made_from = record.get("wanted"), record.get("archives")
        about = ", ".join(map(str, wanted if isinstance(wanted, list) else ()))
        uses = tuple(map(str, made_from.values())) if isinstance(made_from, dict) else ()
        used = _changed(cabinet.path_of(cabinet.RECORDS, name + _JSON))
        yield CacheEntry("environment", name, path, about, used, 0, uses)


def to_remove(
    found: Sequence[CacheEntry], now_s: float, *, older_s: float | None = None, every: bool = False
) -> list[CacheEntry]:
    """Which may go: all, or environments that were not used for so long, and in any case what no
    environment that stays was made from. Pure."""
    if every:
        return list(found)

    def is_old(one: CacheEntry) -> bool:
        return older_s is not None and now_s - one.used_s > older_s

    staying = [one for one in found if one.kind == "environment" and not is_old(one)]
    needed = {digest for one in staying for digest in one.uses}
    return [one for one in found if one not in staying and _may_go(one, needed, now_s, is_old(one))]


def _may_go(one: CacheEntry, needed: set[str], now_s: float, old: bool) -> bool:
    if one.kind == "leftover":
        return not one.name.startswith("packages-") or old or now_s - one.used_s > EARLIER_S
    return one.name not in needed


def remove(
    choose: Callable[[Sequence[CacheEntry]], Sequence[CacheEntry]], say: Say
) -> tuple[list[CacheEntry], dict[str, str]]:
    """What was removed, and by path why something stays. Waits for preparations and for others that
    remove, and then looks at what there is. Raises PreparationError."""
    gone: list[CacheEntry] = []
    left: dict[str, str] = {}
    if not os.path.isdir(cabinet.cache()):
        return gone, left
    with cabinet.locked(cabinet.PREPARING, say, why="the cache is in use"):
        for one in choose(entries()):
            try:
                why = _remove(one)
            except OSError as error:
                why = (error.strerror or str(error)).lower()
            if why is None:
                gone.append(one)
            else:
                left[one.path] = why
    return gone, left


def _remove(one: CacheEntry) -> str | None:
    """None, or why it stays. Raises OSError."""
    if one.kind == "wheel":
        cabinet.forget(one.name, WHEELS)
    elif os.path.dirname(one.path) == cabinet.path_of("environments"):
        with cabinet.unused(one.name) as free:
            if not free:
                return "a run is using it"
            cabinet.forget(one.name)
            cabinet.forget(one.name, BYTECODE)
            cabinet.discard(one.path)
        return None
    cabinet.discard(one.path)
    return None


def _names(*drawer: str) -> list[str]:
    with cabinet.drawer(*drawer) as folder:
        return sorted(os.listdir(folder))


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _changed(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0


def _size(path: str, seen: set[tuple[int, int]]) -> int:
    """Bytes on the disk of what was not seen before, following nothing."""
    total = 0
    pending = [path]
    while pending:
        here = pending.pop()
        try:
            about = os.lstat(here)
            if (about.st_dev, about.st_ino) not in seen:
                seen.add((about.st_dev, about.st_ino))
                total += about.st_blocks * 512
            if stat.S_ISDIR(about.st_mode):
                pending += [os.path.join(here, name) for name in os.listdir(here)]
        except OSError:
            continue  # it went away meanwhile
    return total
