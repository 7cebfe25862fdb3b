"""Writes syscalls/knowledge.tsv: ``python -m wardian.coverage.refresh --gvisor DIR --man DIR``.

used_by   the programs of programs.toml, traced now on this machine; all of them must be installed
tests     from gVisor's sources, if a checkout is given: the files of test/syscalls/linux that are
          called what the call is called, then those which use it most, together at most MOST_TESTS
man       from the sources of the Linux manual, if they are given: the page that describes it

What is not given stays as it is, and so does ``named``, which is nobody's measurement.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from wardian.coverage.usage import measure_use
from wardian.syscalls.knowledge import PATH, Knowledge, parse, written
from wardian.syscalls.table import rows

MOST_TESTS = 5
TESTS = "test/syscalls/linux"
# Where a call is made by another name: the C library's, or that of the tests' own wrapper.
CALLED = {
    "clock_adjtime": ("clock_adjtime", "adjtimex"),
    "clone3": ("clone3", "Clone3"),
    "epoll_create": ("NewEpollFD",),
    "epoll_create1": ("NewEpollFD",),
    "eventfd2": ("eventfd", "NewEventFD"),
    "execve": ("execve", "execv", "ForkAndExec", "Exec"),
    "execveat": ("execveat", "ForkAndExecveat"),
    "exit": (),
    "exit_group": ("_exit",),
    "fadvise64": ("posix_fadvise",),
    "futex_wait": (),  # what the tests call so are functions of their own
    "futex_wake": (),
    "getdents64": ("getdents64", "Getdents"),
    "inotify_init1": ("inotify_init1", "InotifyInit1"),
    "memfd_create": ("memfd_create", "MemfdCreate"),
    "mmap": ("mmap", "Mmap", "MmapAnon"),
    "mq_getsetattr": ("mq_getattr", "mq_setattr"),
    "mq_open": ("mq_open", "MqOpen"),
    "mq_timedreceive": ("mq_receive", "mq_timedreceive"),
    "mq_timedsend": ("mq_send", "mq_timedsend"),
    "newfstatat": ("fstatat",),
    "open": ("open", "Open"),
    "openat": ("openat", "OpenAt", "open", "Open"),
    "pipe": ("pipe", "Pipe"),
    "pipe2": ("pipe2", "Pipe2"),
    "pread64": ("pread", "PreadFd"),
    "prlimit64": ("prlimit", "getrlimit", "setrlimit"),
    "pselect6": ("pselect",),
    "pwrite64": ("pwrite", "PwriteFd"),
    "rt_sigaction": ("sigaction", "ScopedSigaction"),
    "rt_sigpending": ("sigpending",),
    "rt_sigprocmask": ("sigprocmask", "ScopedSignalMask", "pthread_sigmask"),
    "rt_sigqueueinfo": ("rt_sigqueueinfo", "sigqueue"),
    "rt_sigsuspend": ("sigsuspend",),
    "rt_sigtimedwait": ("sigtimedwait", "sigwaitinfo"),
    "signalfd4": ("signalfd", "NewSignalFD"),
    "timerfd_create": ("timerfd_create", "TimerfdCreate"),
    "timer_create": ("timer_create", "TimerCreate"),
    "umount2": ("umount2", "umount"),
    "wait4": ("wait4", "waitpid", "Wait4"),
    "waitid": ("waitid", "Waitid"),
}
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
    "add_key": "keys", "request_key": "keys", "keyctl": "keys",
}  # fmt: skip
# Pages that the Linux manual itself does not have.
OTHER_PAGES = {name: name for name in ("io_uring_setup", "io_uring_enter", "io_uring_register")}


def gvisor_tests(
    sources: Mapping[str, str], pages: Mapping[str, str | None]
) -> dict[str, list[str]]:
    """The test files of each call, by their sources."""
    used = {name: _calls(text) for name, text in sources.items()}
    return {row.name: _tests(row.name, pages.get(row.name), used) for row in rows()}


def _calls(source: str) -> dict[str, int]:
    """How often each name is called, or named as the number of a call."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", source, flags=re.DOTALL)
    code = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', code)
    counts: dict[str, int] = {}
    for name in re.findall(r"(?<![\w.>])(\w+)\s*\(", code):
        counts[name] = counts.get(name, 0) + 1
    for name in re.findall(r"\b(?:SYS|__NR)_(\w+)", code):
        counts[f"SYS_{name}"] = counts.get(f"SYS_{name}", 0) + 1
    return counts


def _tests(name: str, page: str | None, used: Mapping[str, Mapping[str, int]]) -> list[str]:
    names = set(CALLED.get(name, (name,))) | {f"SYS_{name}"}
    counts = {file: sum(calls.get(one, 0) for one in names) for file, calls in used.items()}
    about = {f for f in used if Path(f).stem in (name, FILES.get(name))}
    about |= {f for f in used if Path(f).stem == page and counts[f]}
    rest = sorted((f for f in used if counts[f] and f not in about), key=lambda f: (-counts[f], f))
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
    parser = argparse.ArgumentParser(prog="python -m wardian.coverage.refresh")
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
        files = sorted((given.gvisor / TESTS).glob("*.cc"))
        sources = {file.name: file.read_text(encoding="utf-8") for file in files}
        tests = gvisor_tests(sources, pages or {name: one.man for name, one in old.items()})
    users = {one.name: one.calls for one in uses}
    temporary = f"{PATH}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(written(refreshed(old, users, pages, tests)))
    os.replace(temporary, PATH)
    return 0


if __name__ == "__main__":
    sys.exit(main())
