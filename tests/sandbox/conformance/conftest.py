"""What every backend is held to: one sandbox after another stands behind the same tests.

A behaviour that a backend can't give is not left out by its name: the backend says so itself, in
``Result.protections`` and ``Result.limits``, and the tests hold it to what it says.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from wardian import Policy, Result, Sandbox
from wardian.sandbox.backends import NAMES, shortfall
from wardian.sandbox.backends.walls import is_reached
from wardian.sandbox.host import guest_id
from wardian.sandbox.policy.policy import Share


def _python() -> str:
    """One that root's guests can reach, who are nobody in particular."""
    own = os.path.realpath(sys.executable)
    closed = os.geteuid() == 0 and not is_reached(own, guest_id())
    return "/usr/bin/python3" if closed and os.path.exists("/usr/bin/python3") else own


PYTHON = _python()
PROGRAMS = {"bubblewrap": ("bwrap", "bubblewrap"), "gvisor": ("runsc", "runsc")}
LONGEST_S = 60.0


_SAID: dict[str, Result] = {}


class Box:
    """One backend under the default policy, with what it can't put up given up by name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_host = name == "host"
        self._made: list[Sandbox] = []

    def policy(self, **changes: Any) -> Policy:
        """The policy that its sandboxes have, with other values for these fields."""
        policy = Policy.default().but(**changes)
        return policy.but(degrade=(*policy.degrade, *shortfall(self.name, policy)))

    def make(self, policy: Policy | None = None, *, private_work: bool = False) -> Sandbox:
        """A sandbox, closed after the test."""
        chosen = policy if policy is not None else self.policy()
        self._made.append(Sandbox(chosen, backend_name=self.name, private_work=private_work))
        return self._made[-1]

    def limited(self, **limits: float | None) -> Sandbox:
        """A sandbox with other limits."""
        return self.make(self.policy().with_limits(**limits))

    def sharing(self, *shares: Share) -> Sandbox:
        """A sandbox that shares these."""
        return self.make(self.policy().with_shares(shares))

    @property
    def said(self) -> Result:
        """A run that does nothing, for what it says of itself."""
        if self.name not in _SAID:
            _SAID[self.name] = self.make().run(["true"])
        return _SAID[self.name]

    def stands(self, wall: str) -> bool:
        """Does it say that this wall stands?"""
        return next(p.enforced for p in self.said.protections if p.name == wall)

    @property
    def has_root(self) -> bool:
        """Does the guest have a root of its own, in which shares stand at any place?"""
        return self.stands("pivot_root")

    @property
    def closes(self) -> bool:
        """Does it say that what is not shared can't be opened?"""
        return self.has_root or self.name == "landlock"

    def holds(self, limit: str) -> bool:
        """Does it say that something holds this limit?"""
        return any(one.name == limit and one.mechanism for one in self.said.limits)

    def close(self) -> None:
        for sandbox in self._made:
            sandbox.close()


# Starting another sandbox's program takes ten times as long as a run of ours.
OTHERS = [pytest.param(name, marks=pytest.mark.long) for name in NAMES if name != "wardian"]


@pytest.fixture(params=["wardian", *OTHERS])
def box(request: pytest.FixtureRequest) -> Iterator[Box]:
    """Each backend in turn."""
    name = str(request.param)
    if name in PROGRAMS and shutil.which(PROGRAMS[name][0]) is None:
        program, package = PROGRAMS[name]
        pytest.skip(f"{program} is not installed: sudo apt install {package}")
    made = Box(name)
    yield made
    made.close()


@pytest.fixture
def sandbox(box: Box) -> Sandbox:
    """A sandbox of that backend."""
    return box.make()


@pytest.fixture
def open_dir() -> Iterator[Path]:
    """A directory that anyone may use: a guest of root's is nobody in particular."""
    path = Path(tempfile.mkdtemp(prefix="conformance-", dir="/var/tmp"))
    path.chmod(0o777)
    yield path
    shutil.rmtree(path, ignore_errors=True)


def eventually(happens: Callable[[], bool], within_s: float = 20.0) -> bool:
    """Did it happen in time?"""
    deadline = time.monotonic() + within_s
    while not happens():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def children() -> set[int]:
    """Children of this process, by any of its threads."""
    tasks = Path("/proc/self/task").glob("*/children")
    found = set()
    for task in tasks:
        try:
            found |= {int(pid) for pid in task.read_text().split()}
        except OSError:
            continue  # the thread has ended
    return found


def attending() -> bool:
    """Is a run still attended to?"""
    return any(thread.name.startswith("wardian-") for thread in threading.enumerate())
