"""A run's work directory: prepared before the guest starts, read afterwards."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from wardian.measure.suites import gtest
from wardian.sandbox.policy.policy import Share
from wardian.sandbox.root.layout import WORK
from wardian.sandbox.root.shares import is_below
from wardian.sandbox.sandbox import Sandbox

REPORT = "report.json"
SCRATCH = "tmp"
OWN_NAMES = (REPORT, SCRATCH)
MAX_REPORT_BYTES = 64 << 20


def make_ready(sandbox: Sandbox, shares: Sequence[Share]) -> None:
    """A directory for temporary files, and a mount point for each share whose place lies below
    /work, so that a program of a host's /work keeps its path. All of it is the guest's own."""
    work = sandbox.work_path
    _directory(work, SCRATCH, 0o700)
    for share in shares:
        if is_below(share.at, WORK) and share.at != WORK:
            *above, name = share.at.removeprefix(WORK + "/").split("/")
            for depth in range(1, len(above) + 1):
                _directory(work, "/".join(above[:depth]))
            if os.path.isdir(share.path):
                _directory(work, "/".join((*above, name)))
            else:
                _file(os.path.join(work, *above, name))


def _directory(work: str, below: str, mode: int = 0o755) -> None:
    path = os.path.join(work, below)
    try:
        os.mkdir(path, mode)
    except FileExistsError:
        return
    if os.geteuid() == 0:
        owner = os.stat(work)
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def _file(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644))


def read_report(sandbox: Sandbox) -> dict[str, gtest.Reported]:
    """The report that the program wrote at its end, if it got there; it is the guest's word."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with open(os.open(REPORT, flags, dir_fd=sandbox.work_held.fd), "rb") as file:
            data = file.read(MAX_REPORT_BYTES + 1)
        return gtest.parse_report(json.loads(data)) if len(data) <= MAX_REPORT_BYTES else {}
    except (OSError, ValueError, RecursionError):
        return {}
