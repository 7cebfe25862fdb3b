"""What belongs to programs of the host's besides their own files: the libraries that these ask the
loader for, and what links in their directories name.

Only files are read, and nothing of a guest's: a unit that comes along as a whole holds programs and
modules that no run has started yet, and each must find what it is linked with.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice

from wardian.learn.data import learning
from wardian.runner.elf import library_folders, read_elf
from wardian.sandbox.root.parts import Parts
from wardian.sandbox.root.shares import is_below

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


def linked_outside(folders: Iterable[str], whole: Parts) -> dict[str, str]:
    """What links in these directories lead to outside of them, each with a link's name."""
    found: dict[str, str] = {}
    for folder in folders:
        for link in _walked(folder):
            real = whole.real(link) if os.path.islink(link) else None
            if real is not None and not is_below(real, folder) and not is_below(folder, real):
                found.setdefault(real, os.path.basename(link))
    return found


def _found(name: str, folders: Iterable[str], whole: Parts) -> str | None:
    if "/" in name or name in ("", ".", ".."):
        return None
    candidates = (f"{folder}/{name}" for folder in folders)
    return next((one for one in candidates if whole.real(one) is not None), None)


def _programs(path: str) -> Iterator[str]:
    """The file, or what is loaded or executed in the directory."""
    if not os.path.isdir(path):
        yield path
        return
    for one in _walked(path):
        if ".so" in os.path.basename(one) or _executable(one):
            yield one


def _walked(path: str) -> Iterator[str]:
    """The files of a directory, and the directories that are links, up to a number."""
    every = (
        os.path.join(folder, name)
        for folder, folders, names in os.walk(path)
        for name in (*folders, *sorted(names))
        if name in names or os.path.islink(os.path.join(folder, name))
    )
    return islice(every, learning().most_files)


def _executable(path: str) -> bool:
    try:
        return bool(os.stat(path).st_mode & EXECUTABLE)
    except OSError:
        return False
