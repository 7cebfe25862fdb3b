"""Who runs a program, natively and with `wardian exec`: root, and an ordinary user beside it."""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import wardian
from tests.attacks.callers import LIBRARY, NAMES, ROOT, open_to_all

__all__ = ["NAMES", "Person", "Ran", "staged"]

INPUTS = Path(__file__).parent / "inputs.sh"
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
# Has an entry in every /etc/passwd, which programs look for natively, and owns next to nothing.
ORDINARY = "daemon"
UNDER_TEST = {"LC_ALL": "C.UTF-8", "PATH": PATH, "SHELL": "/bin/sh", "TZ": "UTC"}


class Ran(NamedTuple):
    """``files`` maps each path to its kind, mode and content."""

    exit_code: int
    stdout: str
    stderr: str
    files: dict[str, str]


@contextmanager
def staged() -> Iterator[Path]:
    """wardian in a directory that every user can read, and in which scenes are made."""
    stage = Path(tempfile.mkdtemp(prefix="programs-", dir="/var/tmp"))
    try:
        stage.chmod(0o755)
        shutil.copytree(Path(wardian.__file__).parent, stage / LIBRARY / "wardian")
        shutil.copy(INPUTS, stage)
        open_to_all(stage)
        yield stage
    finally:
        shutil.rmtree(stage)


class Person:
    """One user."""

    def __init__(self, name: str, stage: Path) -> None:
        other = ROOT and name == "user"
        entry = pwd.getpwnam(ORDINARY)
        self._ids = (entry.pw_uid, entry.pw_gid) if other else (os.geteuid(), os.getegid())
        self._python = "/usr/bin/python3" if other else sys.executable
        self._stage = stage
        self._other = other

    def natively(self, line: str) -> Ran:
        """The line without a sandbox."""
        with self._place() as (work, home):
            return self._run(["bash", "-c", line], work, home)

    def inside(self, line: str, *options: str) -> Ran:
        """The line with ``wardian exec``."""
        with self._place() as (work, home):
            wardian = [self._python, "-P", "-m", "wardian", "exec", "--quiet", "--work", str(work)]
            passed = [f"--env={name}={value}" for name, value in UNDER_TEST.items()]
            return self._run([*wardian, *passed, *options, "--", "bash", "-c", line], work, home)

    @contextmanager
    def _place(self) -> Iterator[tuple[Path, Path]]:
        """The inputs, and a home, in new directories that this user owns."""
        with tempfile.TemporaryDirectory(dir=self._stage) as place:
            made = Path(place, "work"), Path(place, "home")
            for path in (Path(place), *made):
                path.mkdir(exist_ok=True)
                os.chown(path, *self._ids)
            self._popen(["bash", str(self._stage / INPUTS.name)], *made).communicate(timeout=30)
            yield made

    def _run(self, command: Sequence[str], work: Path, home: Path) -> Ran:
        process = self._popen(command, work, home)
        stdout, stderr = process.communicate(timeout=150)
        at_work = str(work).encode()
        printed = [
            text.replace(at_work, b"/work").decode("utf-8", "backslashreplace")
            for text in (stdout, stderr)
        ]
        return Ran(process.returncode, *printed, dict(_files(work)))

    def _popen(self, command: Sequence[str], work: Path, home: Path) -> subprocess.Popen[bytes]:
        identity = {"user": self._ids[0], "group": self._ids[1], "extra_groups": []}
        return subprocess.Popen(
            command,
            cwd=work,
            env={**UNDER_TEST, "HOME": str(home), "PYTHONPATH": str(self._stage / LIBRARY)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            umask=0o022,
            start_new_session=True,
            **(identity if self._other else {}),
        )


def _files(work: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(work.rglob("*")):
        status = path.lstat()
        text = stat.filemode(status.st_mode)
        if path.is_symlink():
            text += " -> " + os.readlink(path)
        elif stat.S_ISREG(status.st_mode):
            content = path.read_bytes().replace(str(work).encode(), b"/work")
            text += f" {len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()[:16]}"
        yield str(path.relative_to(work)), text
