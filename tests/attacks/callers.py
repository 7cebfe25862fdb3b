"""Who runs an attack: the user who runs the tests; when that is root, an ordinary user as well."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import wardian

ROOT = os.geteuid() == 0
NAMES = ("root", "user") if ROOT else ("user",)
ORDINARY_ID = 54321  # owns nothing, and needs no entry in /etc/passwd
HERE = Path(__file__).parent
CORE = HERE.parent.parent / "core"
LIBRARY, PROGRAMS = "src", "bin"
INSIDE = "/programs"  # where the attack programs stand in the guest
NO_WALLS = ("every wall",)  # natively: shows the harm where no wall alone holds the promise


@contextmanager
def staged() -> Iterator[Path]:
    """What attacks are made of, in a directory that every user can read."""
    # Not below /tmp: the guest's root is built over it, which would hide it from an escape.
    stage = Path(tempfile.mkdtemp(prefix="attacks-", dir="/var/tmp"))
    try:
        stage.chmod(0o755)
        shutil.copytree(
            Path(wardian.__file__).parent,
            stage / LIBRARY / "wardian",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        shutil.copy(HERE / "agent.py", stage)
        (stage / PROGRAMS).mkdir()
        (stage / "tmp").mkdir()
        (stage / "tmp").chmod(0o1777)
        build(stage / PROGRAMS)
        open_to_all(stage)
        yield stage
    finally:
        for folder, names, _ in os.walk(stage):  # a scene may have directories that are read-only
            for path in (Path(folder, name) for name in names):
                if not path.is_symlink():
                    path.chmod(0o700)
        shutil.rmtree(stage)


def open_to_all(stage: Path) -> None:
    """Readable whatever umask the tests and the package's files were made under."""
    for path in stage.rglob("*"):
        mode = path.stat().st_mode
        path.chmod(mode | (0o555 if mode & 0o100 else 0o444))


def build(into: Path) -> None:
    """The launcher that can leave walls out, and the attack programs."""
    shutil.copy(HERE / "hostile.py", into)
    launcher = into / "wardian-launch-test"
    subprocess.run(["make", "-s", "-C", CORE, f"OUT={into}", launcher], check=True)
    for source in sorted((HERE / "programs").glob("*.c")):
        flags = ["-std=gnu17", "-O1", "-Wall", "-Wextra", "-Werror"]
        subprocess.run(["cc", *flags, "-o", into / source.stem, source, "-lpthread"], check=True)


class Outcome(NamedTuple):
    """What came of an attack."""

    answer: dict[str, Any]

    @property
    def text(self) -> str:
        """Standard output and standard error, as far as kept."""
        return str(self.answer.get("stdout", "")) + str(self.answer.get("stderr", ""))

    @property
    def reason(self) -> str:
        """Why the run ended; or why it did not start."""
        return str(self.answer.get("reason", self.answer.get("error", "")))

    @property
    def refused(self) -> list[str]:
        """The calls that the filter refused, as the launcher saw them."""
        return list(self.answer.get("refused", ()))

    def __getattr__(self, name: str) -> Any:
        return self.answer[name]


class Caller:
    """One user, with a process of its own that runs attacks."""

    def __init__(self, name: str, stage: Path) -> None:
        self.name, self.stage = name, stage
        self.living = False  # its attacks come second, in a living sandbox
        self.uid = ORDINARY_ID if ROOT and name == "user" else os.geteuid()
        self.gid = ORDINARY_ID if ROOT and name == "user" else os.getegid()
        self._made: list[Path] = []
        self.environment = {
            "PATH": os.defpath + ":/usr/bin:/bin",
            "TMPDIR": str(stage / "tmp"),
            "LC_ALL": "C.UTF-8",
            "ATTACK_SECRET": "the-callers-secret",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self._agent = self.popen(
            [self.python, "-I", str(stage / "agent.py")],
            str(stage / LIBRARY),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    @property
    def python(self) -> str:
        """An interpreter that this user may run: the tests' own may lie in root's home."""
        return sys.executable if self.uid == os.geteuid() else "/usr/bin/python3"

    def popen(self, command: Sequence[str], *more: str, **options: Any) -> subprocess.Popen[Any]:
        """A process of this user's, outside of any sandbox."""
        if self.uid != os.geteuid():
            options |= {"user": self.uid, "group": self.gid, "extra_groups": []}
        options.setdefault("env", self.environment)
        options.setdefault("cwd", "/")
        return subprocess.Popen([*command, *more], **options)

    def directory(self) -> Path:
        """A new directory that this user owns, gone with the caller."""
        path = Path(tempfile.mkdtemp(prefix="scene-", dir=self.stage / "tmp"))
        os.chown(path, self.uid, self.gid)
        self._made.append(path)
        return path

    def run(
        self,
        command: Sequence[str] | str,
        *,
        without: Sequence[str] = (),
        shares: Sequence[tuple[str, str, bool] | tuple[str, str, bool, bool]] = (),
        work: str | None = None,
        limits: Mapping[str, float | None] | None = None,
        env: Mapping[str, str] | None = None,
        records: Sequence[tuple[str | int, ...]] = (),
        degrade: Sequence[str] = (),
        debug: bool = False,
        interface: bool = False,
        kept: bool = False,
        backend: str = "wardian",
        landlock_abi: int | None = None,
    ) -> Outcome:
        """Run a command; a string is a shell's.

        ``without`` names walls to leave out; ``records`` are said to the launcher last. A living
        sandbox is ``kept`` for others of the same policy. ``landlock_abi``: as on a kernel that has
        no more.
        """
        natively = tuple(without) == NO_WALLS
        words = ["sh", "-c", command] if isinstance(command, str) else list(command)
        places = {INSIDE: str(self.stage / PROGRAMS)}
        if natively:  # the same places, under the names that the host has for them
            places |= {share[1]: share[0] for share in shares} | ({"/work": work} if work else {})
            for at, path in places.items():
                words = [word.replace(at, path) for word in words]
        request = {
            "command": words,
            "natively": natively,
            "kept": kept,
            # Without a /proc of its own there is no living sandbox.
            "living": self.living
            and not without
            and "proc" not in degrade
            and backend == "wardian",
            "backend": backend,
            "landlock_abi": landlock_abi,
            "without": list(without),
            "test_launcher": str(self.stage / PROGRAMS / "wardian-launch-test"),
            "shares": [(str(self.stage / PROGRAMS), INSIDE, False), *shares],
            "work": work,
            "limits": {"time_s": 60} | dict(limits or {}),
            "env": dict(env or {}),
            "records": list(records),
            "debug": debug,
            "interface": interface,
            "cwd": "/" if "pivot" in without else None,
            # Mounting /proc needs a pid namespace of one's own.
            "degrade": [*degrade, *(["proc"] if "pid" in without else [])],
        }
        assert self._agent.stdin is not None
        assert self._agent.stdout is not None
        self._agent.stdin.write(json.dumps(request) + "\n")
        self._agent.stdin.flush()
        line = self._agent.stdout.readline()
        assert line, "the process that runs the attacks is gone"
        return Outcome(json.loads(line))

    def close(self) -> None:
        """End the agent, and remove what was made for it."""
        assert self._agent.stdin is not None
        self._agent.stdin.close()
        self._agent.wait(timeout=30)
        if self._agent.stdout is not None:
            self._agent.stdout.close()
        for path in self._made:
            shutil.rmtree(path, ignore_errors=True)
