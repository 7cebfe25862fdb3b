"""Which cases in a tree of googletest sources test which system calls."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from wardian.errors import InputError, NothingMatched
from wardian.measure.suites.sources import SourceCase, SuiteSource, includes, read_source
from wardian.syscalls.knowledge import known
from wardian.syscalls.table import rows
from wardian.text import printable

SCHEMA = "wardian.suite-catalogue/1"
ENDINGS = (".cc", ".cpp", ".cxx", ".C")
MAX_BYTES = 8 << 20
MAX_FILES = 20_000
MAX_HEADERS = 100  # of one source
MAX_DEPTH = 24
SKIPPED = (".git", "node_modules")
# In a checkout of gVisor, its tests of system calls; elsewhere all of it.
GVISOR = "test/syscalls/linux"


class Catalogue(NamedTuple):
    """The files that hold cases, by path, and how many others were looked at."""

    root: str
    sources: tuple[SuiteSource, ...]
    others: int = 0
    names: tuple[str, ...] = ()  # of every file, with cases or without

    @property
    def tests_of(self) -> dict[str, tuple[str, ...]]:
        """System call → the test files that the table names for it; they are gVisor's."""
        return tests_of() if self.root.endswith(f"/{GVISOR}") else {}

    @property
    def cases(self) -> list[SourceCase]:
        return [case for source in self.sources for case in source.cases]


def read_catalogue(path: str) -> Catalogue:
    """Raises InputError, NothingMatched."""
    named = root = os.path.realpath(path)
    if os.path.isdir(os.path.join(root, GVISOR)):
        root = os.path.join(root, GVISOR)
    files = [root] if os.path.isfile(root) else _files(root)
    base = os.path.dirname(root) if os.path.isfile(root) else root
    sources, others = [], 0
    for file in files:
        text = _text(file)
        headers = _headers(file, text, named)
        source = read_source(os.path.relpath(file, base), text, headers)
        if source.cases:
            sources.append(source)
        else:
            others += 1
    if not sources:
        raise NothingMatched(
            f"no googletest case in {path}", hint=f"cases are looked for in {', '.join(ENDINGS)}"
        )
    names = tuple(os.path.relpath(file, base) for file in files)
    return Catalogue(root, tuple(sources), others, names)


def _files(root: str) -> list[str]:
    if not os.path.isdir(root):
        raise InputError("no such directory", path=root)
    found: list[str] = []
    pending = [(root, 0)]
    while pending:
        place, depth = pending.pop()
        try:
            entries = list(os.scandir(place))
        except OSError as error:
            raise InputError(f"can't be read: {error.strerror}", path=place) from None
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if depth < MAX_DEPTH and entry.name not in SKIPPED:
                    pending.append((entry.path, depth + 1))
            elif entry.name.endswith(ENDINGS) and entry.is_file(follow_symlinks=False):
                found.append(entry.path)
        if len(found) > MAX_FILES:
            raise InputError(f"more than {MAX_FILES} sources", path=root)
    return sorted(found)


def _headers(file: str, text: str, named: str) -> list[str]:
    """The texts of the headers that a source includes, and of those that they include; as far as
    they lie below what was named. Those are named from there, or from beside the source."""
    base = named if os.path.isdir(named) else os.path.dirname(named)
    found: dict[str, str] = {}
    pending = [(file, text)]
    while pending and len(found) < MAX_HEADERS:
        by, said = pending.pop()
        for name in includes(said):
            for folder in (os.path.dirname(by), base):
                header = os.path.realpath(os.path.join(folder, name))
                inside = header.startswith(base + "/") and header not in found
                if inside and os.path.isfile(header):
                    found[header] = _text(header)
                    pending.append((header, found[header]))
    return list(found.values())


@functools.lru_cache(1000)
def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", path=path) from None
    if len(data) > MAX_BYTES:
        raise InputError(f"is larger than {MAX_BYTES} bytes", path=path)
    return data.decode("utf-8", "replace")


class Tested(NamedTuple):
    """Who exercises a system call."""

    files: tuple[str, ...]
    cases: int


def by_syscall(catalogue: Catalogue) -> dict[str, Tested]:
    """Every call of the table, with what exercises it; the table's order."""
    files: dict[str, list[str]] = {}
    cases: dict[str, int] = {}
    for source in catalogue.sources:
        for call in {call for case in source.cases for call in case.syscalls}:
            files.setdefault(call, []).append(source.path)
        for case in source.cases:
            for call in case.syscalls:
                cases[call] = cases.get(call, 0) + 1
    return {
        row.name: Tested(tuple(files.get(row.name, ())), cases.get(row.name, 0)) for row in rows()
    }


def tests_of() -> dict[str, tuple[str, ...]]:
    """System call → names of gVisor's files, as the table has them."""
    return {name: one.tests for name, one in known().items() if one.tests}


def absent_files(
    catalogue: Catalogue, named: Mapping[str, Sequence[str]] | None = None
) -> dict[str, list[str]]:
    """File → the calls that name it as their test, for files that the tree does not have.

    ``named`` is system call → names of files; the table's own unless given.
    """
    there = {os.path.basename(name) for name in catalogue.names}
    found: dict[str, list[str]] = {}
    for call, files in (catalogue.tests_of if named is None else named).items():
        for file in files:
            if os.path.basename(file) not in there:
                found.setdefault(file, []).append(call)
    return dict(sorted(found.items()))


def calls_of_cases(catalogue: Catalogue) -> dict[str, tuple[str, ...]]:
    """``PROGRAM:SUITE.CASE`` → system calls, where the program is named like its source: a_test is
    made of a.cc or a_test.cc; and ``PROGRAM`` → those of all its cases."""
    found: dict[str, tuple[str, ...]] = {}
    for source in catalogue.sources:
        stem = os.path.splitext(os.path.basename(source.path))[0]
        whole = {call for case in source.cases for call in case.syscalls}
        for program in (stem, f"{stem}_test"):
            found[program] = tuple(sorted(whole))
            for case in source.cases:
                found[f"{program}:{case.full_name}"] = case.syscalls
    return found


def calls_of_programs() -> dict[str, tuple[str, ...]]:
    """``PROGRAM`` → the system calls for which the table names its source, when that is not at
    hand: gVisor's epoll_test is made of epoll.cc."""
    found: dict[str, list[str]] = {}
    for call, files in tests_of().items():
        for file in files:
            found.setdefault(f"{os.path.splitext(file)[0]}_test", []).append(call)
    return {program: tuple(calls) for program, calls in found.items()}


def document(catalogue: Catalogue) -> dict[str, Any]:
    """The JSON document (docs/reference/suite.md)."""
    return {
        "schema": SCHEMA,
        "root": catalogue.root,
        "files": [
            {
                "path": source.path,
                "syscalls": list(source.syscalls),
                "unknown": list(source.unknown),
                "cases": [
                    {**case._asdict(), "syscalls": list(case.syscalls),
                     "instances": list(case.instances)}
                    for case in source.cases
                ],
            }
            for source in catalogue.sources
        ],
        "syscalls": {
            name: {"files": list(one.files), "cases": one.cases}
            for name, one in by_syscall(catalogue).items()
        },
        "absent_files": absent_files(catalogue),
    }  # fmt: skip


def lines(catalogue: Catalogue) -> list[str]:
    """For people: files with their cases and calls, then what nobody tests."""
    width = max(len(source.path) for source in catalogue.sources)
    rows = [f"{'file':<{width}}  cases  system calls"]
    for source in catalogue.sources:
        calls = sorted({call for case in source.cases for call in case.syscalls})
        shown = " ".join(calls[:12]) + (f" … {len(calls) - 12} more" if len(calls) > 12 else "")
        rows.append(f"{printable(source.path):<{width}}  {len(source.cases):>5}  {shown}".rstrip())
    tested = by_syscall(catalogue)
    bare = [name for name, one in tested.items() if not one.cases]
    rows += ["", f"in no case: {' '.join(bare)}" if bare else "every call of the table is tested"]
    unknown = sorted({name for source in catalogue.sources for name in source.unknown})
    if unknown:
        rows.append(f"numbers that the table has no row for: {' '.join(unknown)}")
    for file, calls in absent_files(catalogue).items():
        rows.append(f"the table names {printable(file)} for {' '.join(calls)}: it is not there")
    return rows


def summary(catalogue: Catalogue) -> str:
    """One line."""
    tested = by_syscall(catalogue)
    hit = sum(bool(one.cases) for one in tested.values())
    return (
        f"{len(catalogue.cases)} cases in {len(catalogue.sources)} files"
        f" ({catalogue.others} more files without), {hit} of {len(tested)} system calls"
    )
