"""The programs of a suite: found in directories, identified by their content, never executed.

What a program needs beside it, and the sandbox does not have, is named as shares.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import stat
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from wardian.errors import InputError, NothingMatched, UsageError
from wardian.measure.suites import gtest
from wardian.measure.suites.work import OWN_NAMES
from wardian.runner.elf import library, library_folders, read_elf
from wardian.sandbox.policy.policy import Share
from wardian.sandbox.root.layout import WORK
from wardian.sandbox.root.shares import is_below

PROTOCOLS = ("gtest", "tap", "exit")
RUNFILES = ".runfiles"
MAX_PROGRAMS = 20_000
MAX_DEPTH = 16
MAX_LIBRARIES = 500
# Shared with every guest already.
PRESENT = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")


class SuiteProgram(NamedTuple):
    """``protocol`` is gtest, tap or exit, or "" for one that will show when it is run."""

    name: str
    path: str
    protocol: str
    digest: str
    shares: tuple[Share, ...] = ()
    runfiles: str = ""


class FoundPrograms(NamedTuple):
    """The programs, and what lies beside them and is none of the suite's."""

    programs: tuple[SuiteProgram, ...]
    passed_over: tuple[str, ...] = ()


def find_programs(paths: Sequence[str], protocol: str = "") -> FoundPrograms:
    """Programs by name, in order. In a directory where some are googletest's, only those count.

    Raises InputError, UsageError, NothingMatched.
    """
    chosen: list[tuple[str, str, str]] = []  # path, its protocol, the directory that was named
    passed_over: list[str] = []
    for given in paths:
        path = os.path.realpath(given)
        if os.path.isdir(path):
            kinds = {one: protocol or _protocol(one) for one in _executables(path)}
            tests = [one for one, kind in kinds.items() if kind == "gtest"] or list(kinds)
            chosen += [(one, kinds[one], path) for one in tests]
            passed_over += [one for one in kinds if one not in set(tests)]
        else:
            _check_executable(given, path)
            chosen.append((path, protocol or _protocol(path), ""))
    if not chosen:
        raise NothingMatched(
            f"no program in {', '.join(paths)}", hint="a program is a file that may be executed"
        )
    unique = {path: (kind, folder) for path, kind, folder in reversed(chosen)}
    names = _names(list(unique))
    programs = [
        _program(names[path], path, kind, folder) for path, (kind, folder) in unique.items()
    ]
    return FoundPrograms(tuple(sorted(programs)), tuple(dict.fromkeys(passed_over)))


def _executables(folder: str) -> list[str]:
    found: list[str] = []
    pending = [(folder, 0)]
    while pending:
        place, depth = pending.pop()
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError as error:
            raise InputError(f"can't be read: {error.strerror}", path=place) from None
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if depth < MAX_DEPTH and not entry.name.endswith(RUNFILES):
                    pending.append((entry.path, depth + 1))
            elif entry.is_file() and os.access(entry.path, os.X_OK) and _may_run(entry.path):
                found.append(entry.path)
        if len(found) > MAX_PROGRAMS:
            raise InputError(f"more than {MAX_PROGRAMS} programs", path=folder)
    return sorted(found)


def _may_run(path: str) -> bool:
    """An ELF file that is no library, or a script that names its interpreter."""
    name = os.path.basename(path)
    if name.endswith((".so", ".o", ".a")) or ".so." in name:
        return False
    try:
        with open(path, "rb") as file:
            return file.read(4).startswith((b"\x7fELF", b"#!"))
    except OSError:
        return False


def _check_executable(given: str, path: str) -> None:
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        raise InputError(f"can't be used: {(error.strerror or '').lower()}", path=given) from None
    if not stat.S_ISREG(mode):
        raise InputError("is neither a program nor a directory", path=given)
    if not os.access(path, os.X_OK):
        raise InputError("may not be executed", path=given, hint=f"chmod +x {given}")


def _protocol(path: str) -> str:
    """gtest if googletest is in it, or is among its libraries; the rest shows when it runs."""
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                return ""
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                if data[:4] != b"\x7fELF":
                    return ""
                return "gtest" if any(data.find(mark) >= 0 for mark in gtest.MARKS) else ""
    except (OSError, ValueError) as error:
        raise InputError(f"can't be read: {error}", path=path) from None


def _names(paths: Sequence[str]) -> dict[str, str]:
    """The file's name; where that is not unique, as much of the path as makes it so."""
    names = {path: os.path.basename(path) for path in paths}
    for depth in range(2, MAX_DEPTH + 8):
        counts: dict[str, int] = {}
        for name in names.values():
            counts[name] = counts.get(name, 0) + 1
        double = [path for path, name in names.items() if counts[name] > 1]
        if not double:
            break
        names |= {path: "/".join(path.split("/")[-depth:]) for path in double}
    return names


def _program(name: str, path: str, protocol: str, folder: str) -> SuiteProgram:
    beside = path + RUNFILES
    runfiles = beside if os.path.isdir(beside) and not os.path.islink(beside) else ""
    places = [folder or path, runfiles, *_libraries(path, folder or os.path.dirname(path))]
    return SuiteProgram(name, path, protocol, _digest(path), _shares(places), runfiles)


def _shares(places: Iterable[str]) -> tuple[Share, ...]:
    kept: list[str] = []
    for real in (one for place in places if place for one in _beside_own(os.path.normpath(place))):
        if not any(is_below(real, one) for one in (*PRESENT, *kept)):
            kept.append(real)
    return tuple(Share(one, one) for one in kept)


def _beside_own(place: str) -> list[str]:
    """The place itself. The host's /work can't take the place of the guest's own, so what lies in
    it is shared instead, but for the two names that the suite uses there itself."""
    if place != WORK:
        return [place]
    return [os.path.join(WORK, name) for name in sorted(os.listdir(WORK)) if name not in OWN_NAMES]


def _libraries(path: str, folder: str) -> list[str]:
    """Libraries that it finds by its own search path, and theirs; the system's are there anyway.

    The program says where they are, so only what really lies in the directory that the caller
    named, or where the system's own loader looks, is shared for it.
    """
    folders = library_folders()
    places = (folder, *map(os.path.realpath, folders))

    def admitted(real: str) -> bool:
        return any(is_below(real, place) for place in places)

    found: list[str] = []
    pending = [path]
    while pending and len(found) < MAX_LIBRARIES:
        wanted_by = pending.pop()
        elf = read_elf(wanted_by)
        for name in elf.needed if elf is not None else ():
            where = None
            if elf is not None:
                where = library(name, wanted_by, elf, folders, admitted)
            if where is not None and where not in found and not _present(where):
                found.append(where)
                pending.append(where)
    return found


def _present(path: str) -> bool:
    return any(is_below(path, one) for one in PRESENT)


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", path=path) from None


def check_protocol(text: str) -> str:
    """Raises UsageError."""
    if text == "auto":
        return ""
    if text not in PROTOCOLS:
        raise UsageError(f"--protocol: {text!r} is not auto, {', '.join(PROTOCOLS)}")
    return text
