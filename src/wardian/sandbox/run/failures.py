"""Turns a failed set-up into an error with a cure: an errno alone misleads."""

from __future__ import annotations

import errno
import os
from typing import Any

from wardian.errors import SandboxError, ShareError, WallError
from wardian.sandbox.doctor.advice import advice, surroundings
from wardian.sandbox.policy.policy import Limits
from wardian.sandbox.policy.units import format_size
from wardian.sandbox.run.launcher import LAUNCHER
from wardian.text import shell_word

# What a guest's root and a small program need. A root's own files take less than ROOT_BYTES.
LEAST_BYTES = {"memory": 16 << 20, "disk": 1 << 20}
ROOT_BYTES = 1 << 20


def explain(failed: dict[str, Any], limits: Limits) -> SandboxError:
    """The launcher's failure as an error with a cure; ``limits`` are the run's."""
    wall, what, number = failed["wall"], failed["what"], failed["errno"]
    why = f"{what}: {os.strerror(number).lower()}" if number else what
    error = os.strerror(number).lower()
    if wall == "cwd":
        path = what.removeprefix("changing to the working directory ").removesuffix(" in the guest")
        return SandboxError(f"{what}: {error}", hint=cwd_hint(path))
    if wall == "commands" and number == errno.EAGAIN:
        return SandboxError(
            "this sandbox is running as many commands as it can",
            hint="wait until one ends, or make another sandbox",
        )
    if wall == "processes" and number == errno.EAGAIN:
        return SandboxError(
            "this sandbox has reached its limit of processes: no command can start",
            hint="kill a command that runs in it, raise the limit (processes), or make a new one",
        )
    if wall == "share":
        verb, _, path = what.partition(" ")
        return ShareError(path, error) if verb == "opening" else SandboxError(f"{what}: {error}")
    if (number in (errno.ENOSPC, errno.ENOMEM) or wall == "reaper") and (
        more := _too_small(limits, number)
    ):
        return SandboxError(f"{what}: {error}" if number else what, hint=more)
    return WallError(wall, why, hint=_hint(wall, number))


def cwd_hint(path: str) -> str:
    """What to do about a working directory that the guest does not have."""
    if os.path.isdir(path):
        return f"share it: --read {shell_word(path)} (or --write), or choose another with --cwd"
    return "this host has no such directory either; choose another with --cwd"


def _too_small(limits: Limits, number: int) -> str | None:
    """The options that allow enough, where a limit leaves no room for the guest's root."""
    given = {"memory": limits.memory_bytes}
    enough = LEAST_BYTES["memory"]
    if number == errno.ENOSPC:
        given["disk"], enough = limits.disk_bytes, ROOT_BYTES
    low = {name: value for name, value in given.items() if value and value < enough}
    if not low:
        return None
    too_low = " ".join(f"--{name} {format_size(value)}" for name, value in low.items())
    options = " ".join(f"--{name} {format_size(LEAST_BYTES[name])}" for name in low)
    return f"{too_low} leaves no room for the guest's own root; allow more: {options}"


def _hint(wall: str, number: int) -> str:
    if number in (errno.EMFILE, errno.ENFILE):
        return "raise the limit on open files: ulimit -n 1024"
    if number == errno.ETOOMANYREFS:
        return (
            "this user's limit of descriptors in flight through sockets is used up by "
            "another program of the same user; end it, or raise the limit: ulimit -Hn 4096"
        )
    if number == errno.EAGAIN:
        return "this user has reached the limit of processes; see: ulimit -u"
    if number == errno.EFBIG:
        return "raise the limit on file sizes: ulimit -f unlimited"
    if number in (errno.ENOMEM, errno.EDQUOT):
        return "a limit of this process is too low; see: ulimit -a"
    if wall in ("namespaces", "network", "mount", "proc", "devpts", "mask"):
        known = {"namespaces": "namespaces", "network": "namespace.network", "proc": "proc"}
        why, fix = advice(known.get(wall, "mount"), number, surroundings(LAUNCHER))
        return f"{why}:\n{fix}" if "\n" in fix else f"{why}; {fix}"
    if wall == "identity" and number == errno.EINVAL:  # mount_setattr(2): MOUNT_ATTR_IDMAP
        return (
            "this kernel can't map owners on that file system (tmpfs needs Linux 6.3): share a "
            "directory on ext4, xfs or btrfs, or run wardian as an ordinary user"
        )
    if wall == "interface":
        return "this kernel has no dummy, ifb or bridge: sudo modprobe dummy, or omit --interface"
    if wall == "notify":
        return "run with --degrade notify: refusals still hold, but are not reported"
    return "run `wardian doctor`: it checks each wall on this host"
