"""Libraries that programs of the host's need, and theirs, by what their files ask the loader for.

Only files are read, and nothing of a guest's: a unit that comes along as a whole holds programs and
modules that no run has started yet, and each must find what it is linked with.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from wardian.learn.data import learning
from wardian.runner.elf import library_folders, read_elf
from wardian.sandbox.root.parts import Parts

EXECUTABLE = 0o111


def libraries(paths: Iterable[str], whole: Parts) -> dict[str, str]:
    """Each library's path, as the loader finds it, with the name of a file that needs it. ``paths``
    are files and directories of the host's; what lies outside of ``whole`` is left out."""
    folders = library_folders()
    found: dict[str, str] = {}
    waiting = [one for path in paths for one in _programs(path)]
    while waiting:
        path = waiting.pop()
        elf = read_elf(path)
        for name in elf.needed if elf is not None else ():
            place = _found(name, folders, whole)
            if place is not None and place not in found:
                found[place] = os.path.basename(path)
                waiting.append(place)
    return found


def _found(name: str, folders: Iterable[str], whole: Parts) -> str | None:
    if "/" in name or name in ("", ".", ".."):
        return None
    candidates = (f"{folder}/{name}" for folder in folders)
    return next((one for one in candidates if whole.real(one) is not None), None)


def _programs(path: str) -> Iterator[str]:
    """The file, or what is loaded or executed in the directory, up to a number."""
    if not os.path.isdir(path):
        yield path
        return
    left = learning().most_files
    for folder, _, names in os.walk(path):
        for name in sorted(names):
            left -= 1
            if left < 0:
                return
            one = os.path.join(folder, name)
            if ".so" in name or _executable(one):
                yield one


def _executable(path: str) -> bool:
    try:
        return bool(os.stat(path).st_mode & EXECUTABLE)
    except OSError:
        return False
