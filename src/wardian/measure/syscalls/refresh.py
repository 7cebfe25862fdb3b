"""Writes syscalls/knowledge.tsv.

    python -m wardian.measure.syscalls.refresh --gvisor DIR --man DIR

used_by   the programs of programs.toml, traced now on this machine; all of them must be installed
tests     from gVisor's sources, if a checkout is given: the files of test/syscalls/linux that are
          called what the call is called, then those with most cases that make it, to MOST_TESTS
man       from the sources of the Linux manual, if they are given: the page that describes it

What is not given stays as it is, and so does ``named``, which is nobody's measurement.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from wardian.measure.suites.catalogue import Catalogue, read_catalogue
from wardian.measure.syscalls.usage import measure_use
from wardian.syscalls.knowledge import PATH, Knowledge, parse, written
from wardian.syscalls.table import rows

MOST_TESTS = 5
# Functions of the tests' own that are called like system calls.
NOT_CALLS = ("futex_wait", "futex_wake")
# The file that is about a call and is called otherwise.
FILES = {
    "bind": "bind", "capget": "capabilities", "capset": "capabilities", "execve": "exec",
    "flistxattr": "xattr", "getdents64": "getdents", "getpgid": "processes", "getsid": "processes",
    "io_setup": "aio", "io_submit": "aio", "io_getevents": "aio", "io_destroy": "aio",
    "io_cancel": "aio", "setpgid": "processes", "setsid": "processes", "wait4": "wait",
    "waitid": "wait", "setrlimit": "rlimits", "getrlimit": "rlimits", "prlimit64": "rlimits",
    "rt_sigaction": "sigaction", "rt_sigprocmask": "sigprocmask", "pselect6": "pselect",
    "shmget": "shm", "shmat": "shm", "shmctl": "shm", "shmdt": "shm",
    "semget": "semaphore", "semop": "semaphore", "semctl": "semaphore", "semtimedop": "semaphore",
    "openat": "open", "execveat": "exec", "clone": "fork", "clone3": "fork", "lchown": "chown",
    "epoll_create": "epoll", "epoll_create1": "epoll", "epoll_ctl": "epoll", "epoll_wait": "epoll",
    "eventfd2": "eventfd", "inotify_init1": "inotify", "memfd_create": "memfd",
    "timerfd_create": "timerfd", "timerfd_settime": "timerfd", "timerfd_gettime": "timerfd",
    "add_key": "keys", "request_key": "keys", "keyctl": "keys",
}  # fmt: skip
# Pages that the Linux manual itself does not have.
OTHER_PAGES = {name: name for name in ("io_uring_setup", "io_uring_enter", "io_uring_register")}


def gvisor_tests(catalogue: Catalogue, pages: Mapping[str, str | None]) -> dict[str, list[str]]:
    """The test files of each call, by what their cases call."""
    used: dict[str, Counter[str]] = {}
    for source in catalogue.sources:
        for case in source.cases:
            for call in case.syscalls:
                used.setdefault(call, Counter())[os.path.basename(source.path)] += 1
    files = sorted(os.path.basename(name) for name in catalogue.names)
    return {row.name: _tests(row.name, pages.get(row.name), files, used) for row in rows()}


def _tests(
    name: str, page: str | None, files: Sequence[str], used: Mapping[str, Mapping[str, int]]
) -> list[str]:
    counts = used.get(name, {}) if name not in NOT_CALLS else {}
    about = {f for f in files if Path(f).stem in (name, FILES.get(name))}
    about |= {f for f in counts if Path(f).stem == page}
    rest = sorted((f for f in counts if f not in about), key=lambda f: (-counts[f], f))
    return (sorted(about) + rest)[:MOST_TESTS]


def manual_pages(folder: Path) -> dict[str, str | None]:
    """The page of each call in section 2, where links lead."""
    return {row.name: _page(folder, row.name) or OTHER_PAGES.get(row.name) for row in rows()}


def _page(folder: Path, name: str) -> str | None:
    for _ in range(4):
        try:
            first = (folder / f"{name}.2").read_text(encoding="utf-8").split("\n", 1)[0]
        except OSError:
            return None
        if not first.startswith(".so "):
            return name
        name = Path(first.removeprefix(".so ").strip()).stem
    return None


def refreshed(
    old: Mapping[str, Knowledge],
    users: Mapping[str, Iterable[str]] | None,
    pages: Mapping[str, str | None] | None,
    tests: Mapping[str, Iterable[str]] | None,
) -> dict[str, Knowledge]:
    """What is known, with what was found out put in its place."""
    new = {}
    for row in rows():
        one = old.get(row.name) or Knowledge(row.name, None, (), None, ())
        if users is not None:
            made = tuple(name for name, calls in users.items() if row.name in calls)
            one = one._replace(used_by=made)
        if pages is not None:
            one = one._replace(man=pages[row.name])
        if tests is not None:
            one = one._replace(tests=tuple(tests[row.name]))
        new[row.name] = one
    return new


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m wardian.measure.syscalls.refresh")
    parser.add_argument("--gvisor", type=Path, help="a checkout of gVisor")
    parser.add_argument("--man", type=Path, help="man2 of a checkout of the Linux manual")
    given = parser.parse_args()
    uses = measure_use([], how="again")
    problems = [f"{one.name}: {one.problem}" for one in uses if one.problem]
    if problems:
        sys.stderr.write("\n".join(problems) + "\n")
        return 1
    with open(PATH, encoding="utf-8") as file:
        old = parse(file.read())
    pages = manual_pages(given.man) if given.man else None
    tests = None
    if given.gvisor:
        known_pages = pages or {name: one.man for name, one in old.items()}
        tests = gvisor_tests(read_catalogue(str(given.gvisor)), known_pages)
    users = {one.name: one.calls for one in uses}
    temporary = f"{PATH}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(written(refreshed(old, users, pages, tests)))
    os.replace(temporary, PATH)
    return 0


if __name__ == "__main__":
    sys.exit(main())
