"""Turns a failed set-up into an error with a cure: an errno alone misleads."""

from __future__ import annotations

import errno
import os
from typing import Any

from wardian.errors import SandboxError, ShareError, WallError
from wardian.sandbox.doctor.advice import advice, surroundings
from wardian.sandbox.run.launcher import LAUNCHER


def explain(failed: dict[str, Any]) -> SandboxError:
    """The launcher's failure as an error with a cure."""
    wall, what, number = failed["wall"], failed["what"], failed["errno"]
    why = f"{what}: {os.strerror(number).lower()}" if number else what
    error = os.strerror(number).lower()
    if wall == "cwd":
        return SandboxError(
            f"{what}: {error}",
            hint="share it with --read or --write, or choose another with --cwd",
        )
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
    return WallError(wall, why, hint=_hint(wall, number))


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
    if number in (errno.EFBIG, errno.ENOMEM, errno.EDQUOT):
        return "a limit of this process is too low; see: ulimit -a"
    if wall in ("namespaces", "network", "mount", "proc", "devpts", "mask"):
        known = {"namespaces": "namespace.user", "network": "namespace.network", "proc": "proc"}
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
