"""What runs used, merged from their traces. Pure, except for reading programs' loaders."""

from __future__ import annotations

import functools
import ipaddress
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from wardian.learn.places import whole
from wardian.runner.elf import read_elf
from wardian.sandbox.root.layout import ADDRESS, layout
from wardian.syscalls.effects import descriptors

if TYPE_CHECKING:
    from wardian.observe.trace import Trace, TracedProcess

# What was there and was used; to look at a directory takes no more than that it is there.
USING = frozenset(("read", "written", "created", "deleted", "listed", "executed", "looked at"))
CHANGING = frozenset(("written", "created", "deleted"))
MOST_SHEBANGS = 4


class ObservedNeeds(NamedTuple):
    """Paths are the guest's. ``files`` says what was done with each, ``missed`` was looked for in
    vain; ``endpoints`` lie outside of the sandbox; ``peaks`` are the highest, by field of Limits.
    """

    files: dict[str, frozenset[str]]
    directories: frozenset[str]
    calls: frozenset[str]
    endpoints: frozenset[str]
    peaks: dict[str, float]
    missed: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()  # as rules of a network by name

    def __or__(self, other: ObservedNeeds) -> ObservedNeeds:
        files = dict(self.files)
        for path, actions in other.files.items():
            files[path] = files.get(path, frozenset()) | actions
        peaks = {
            field: max(self.peaks.get(field, 0), other.peaks.get(field, 0))
            for field in {*self.peaks, *other.peaks}
        }
        return ObservedNeeds(
            files,
            self.directories | other.directories,
            self.calls | other.calls,
            self.endpoints | other.endpoints,
            peaks,
            self.missed | other.missed,
            self.hosts | other.hosts,
        )


NOTHING = ObservedNeeds({}, frozenset(), frozenset(), frozenset(), {})


def merged(needs: Iterable[ObservedNeeds]) -> ObservedNeeds:
    """What all of them together need."""
    return functools.reduce(lambda one, other: one | other, needs, NOTHING)


def needs_of(trace: Trace, grown_bytes: int = 0) -> ObservedNeeds:
    """``grown_bytes`` is what the run left in shared places."""
    files = {
        file.path: done
        for file in trace.files
        if (done := frozenset(file.actions) & USING) and file.path.startswith("/")
    }
    first = first_program(trace)
    if first is not None:
        files[first] = files.get(first, frozenset()) | {"executed"}
    for path in [path for path, done in files.items() if "executed" in done]:
        for loader in loaders(path):
            files[loader] = files.get(loader, frozenset()) | {"executed"}
    usage = trace.usage
    return ObservedNeeds(
        files=files,
        directories=frozenset(file.path for file in trace.files if file.directory),
        calls=frozenset(total.name for total in trace.syscalls),
        endpoints=frozenset(
            f"{one.action} {one.name or one.address}" for one in trace.endpoints if outside(one)
        ),
        peaks={
            "time_s": usage.wall_s,
            "cpu_s": usage.cpu_s,
            "memory_bytes": usage.peak_memory_bytes,
            "processes": at_once(trace.processes),
            "files": opened(trace),
            # Private files count as memory, so they can't have been more than that.
            "disk_bytes": max(grown_bytes, usage.peak_memory_bytes // 4),
            "output_bytes": usage.stdout_bytes + usage.stderr_bytes,
        },
        missed=frozenset(trace.paths("missing", "refused")),
        hosts=_hosts(trace),
    )


def _hosts(trace: Trace) -> frozenset[str]:
    if not any(outside(one) for one in trace.endpoints):
        return frozenset()
    from wardian.learn.hosts import reached_hosts

    return reached_hosts(trace)


def first_program(trace: Trace) -> str | None:
    """What the launcher itself executes is not always reported, so the same places are searched
    here. None if it is not in the host's /usr."""
    name = trace.result.command[0]
    folders = dict(layout().environment)["PATH"].split(":")
    candidates = [name] if "/" in name else [f"{folder}/{name}" for folder in folders]
    return next((one for one in candidates if whole().real(one) is not None), None)


def loaders(path: str) -> list[str]:
    """What the kernel opens by itself to run this program of the host's: interpreters, loaders."""
    found: list[str] = []
    for _ in range(MOST_SHEBANGS):
        try:
            with open(path, "rb") as file:
                head = file.read(256)
        except OSError:
            break
        if not head.startswith(b"#!"):
            elf = read_elf(path)
            if elf is not None and elf.loader:
                found.append(os.path.normpath(elf.loader))
            break
        words = head[2:].split(b"\n", 1)[0].split()
        if not words:
            break
        path = os.path.normpath(os.fsdecode(words[0]))
        found.append(path)
    return found


def at_once(processes: Iterable[TracedProcess]) -> int:
    """How many processes and threads there were at the same time, at most."""
    steps: list[tuple[float, int]] = []
    for one in processes:
        steps.append((one.started_s, one.threads))
        if one.ended_s is not None:
            steps.append((one.ended_s, -one.threads))
    most = now = 0
    for _, change in sorted(steps):
        now += change
        most = max(most, now)
    return max(most, 1)


def opened(trace: Trace) -> int:
    """How many descriptors were made in all; how many were open at once is not seen."""
    return sum((one.count - one.errors) * descriptors(one.name) for one in trace.syscalls)


def outside(endpoint: object) -> bool:
    """Does it lie outside of the sandbox's own loopback and sockets?"""
    action, address = getattr(endpoint, "action", ""), getattr(endpoint, "address", "")
    if action == "resolve":
        return True
    if action == "bind" or address.startswith("unix:"):
        return False
    host = address.rpartition(":")[0].strip("[]")
    try:
        return host != ADDRESS and not ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
