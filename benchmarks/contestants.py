"""What takes part in the race, and how each runs a command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from wardian import Policy, Sandbox, Share

NAMESPACES = ("user", "mount", "pid", "network", "ipc", "uts", "cgroup")
OWN_ROOT = "own root"  # the host's files are not there, rather than merely closed
# What is asked of the comparison "as many walls": without these a sandbox has less to set up.
FULL = (*NAMESPACES, OWN_ROOT)

TOOLS_INSIDE = "/opt/bench"
CHECK = ("/bin/sh", "-c", "echo inside; exit 7")


class Workshop(NamedTuple):
    """Directories of this run: for whatever is made, and to work in; and one with programs that
    guests are to be given, where a figure has such."""

    base: str
    work: str
    tools: str = ""


class Outcome(NamedTuple):
    """How a command ended. ``stdout`` is empty where a library does not hand it over."""

    exit_code: int
    stdout: bytes
    stderr: bytes = b""


class Contestant(Protocol):
    """One way to run a command. Raises OSError or what its library raises."""

    name: str
    walls: tuple[str, ...]
    captures: bool

    def version(self) -> str:
        """What the program says of itself."""
        ...

    def tool(self, name: str) -> str:
        """Where a program of the workshop is found by the guest."""
        ...

    def run(self, argv: Sequence[str]) -> Outcome:
        """Run to the end, with the output collected."""
        ...

    def start(self, argv: Sequence[str]) -> Callable[[], object]:
        """Start, and return what ends it."""
        ...


class ByCommand:
    """A contestant that is a command in front of the command."""

    captures = True

    def __init__(
        self,
        name: str,
        walls: Sequence[str],
        wrap: Callable[[Sequence[str]], list[str]],
        *,
        tools: str,
        version: Sequence[str] = (),
        env: dict[str, str] | None = None,
        cwd: str | None = None,
    ) -> None:
        self.name, self.walls, self.wrap = name, tuple(walls), wrap
        self._tools, self._version, self._env, self._cwd = tools, version, env, cwd

    def version(self) -> str:
        """The first line of what its version option prints."""
        if not self._version:
            return ""
        done = subprocess.run(self._version, capture_output=True, text=True, check=False)
        lines = (done.stdout or done.stderr).strip().splitlines()
        return lines[0] if lines else ""

    def tool(self, name: str) -> str:
        """See Contestant."""
        return os.path.join(self._tools, name)

    def run(self, argv: Sequence[str]) -> Outcome:
        """See Contestant."""
        done = subprocess.run(
            self.wrap(argv),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=self._env,
            cwd=self._cwd,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def start(self, argv: Sequence[str]) -> Callable[[], object]:
        """See Contestant."""
        process = subprocess.Popen(
            self.wrap(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=self._env,
            cwd=self._cwd,
        )

        def end() -> None:
            process.terminate()
            process.wait()

        return end


class Discarding(ByCommand):
    """The same command with its output thrown away: less work than any other contestant does."""

    captures = False

    def run(self, argv: Sequence[str]) -> Outcome:
        """See Contestant."""
        done = subprocess.run(
            self.wrap(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        return Outcome(done.returncode, b"")


class Wardian:
    """``Sandbox.run``, called in this process, with new namespaces for each run."""

    name = "wardian"
    captures = True
    walls: tuple[str, ...] = (
        *FULL,
        "seccomp",
        "landlock",
        "capabilities",
        "no_new_privs",
        "masked /proc",
        "limits",
        "environment",
        "descriptors",
    )

    def __init__(self, workshop: Workshop) -> None:
        policy = Policy.default()
        if workshop.tools:
            policy = policy.with_shares([Share(workshop.tools, TOOLS_INSIDE)])
        self._sandbox = Sandbox.create(policy=policy, fresh=True)

    def version(self) -> str:
        """See Contestant."""
        import wardian

        return f"wardian {wardian.__version__}"

    def tool(self, name: str) -> str:
        """See Contestant."""
        return os.path.join(TOOLS_INSIDE, name)

    def run(self, argv: Sequence[str]) -> Outcome:
        """See Contestant."""
        result = self._sandbox.run(argv)
        return Outcome(result.exit_code, result.stdout)

    def start(self, argv: Sequence[str]) -> Callable[[], object]:
        """See Contestant."""
        process = self._sandbox.start(argv)

        def end() -> None:
            process.kill()
            process.wait()

        return end


class InThread:
    """For libraries that only run to the end: ``start`` leaves that to a thread."""

    def run(self, argv: Sequence[str]) -> Outcome:
        """See Contestant."""
        raise NotImplementedError

    def start(self, argv: Sequence[str]) -> Callable[[], object]:
        """See Contestant. The guest ends by itself; the end only waits for that."""
        thread = threading.Thread(target=self.run, args=(argv,), daemon=True)
        thread.start()
        return thread.join


def bare(workshop: Workshop) -> ByCommand:
    """No sandbox: what everything is compared with."""
    return ByCommand("bare", (), list, tools=workshop.tools)


def wardian_command() -> list[str]:
    """The ``wardian`` of this Python."""
    script = os.path.join(os.path.dirname(sys.executable), "wardian")
    return [script] if os.access(script, os.X_OK) else [sys.executable, "-m", "wardian"]


def wardian_exec(workshop: Workshop) -> ByCommand:
    """``wardian exec`` as a command."""
    shared = ["--read", f"{workshop.tools}:{TOOLS_INSIDE}"] if workshop.tools else []
    front = [*wardian_command(), "exec", *shared, "--"]
    return ByCommand(
        "wardian exec", Wardian.walls, lambda argv: [*front, *argv], tools=TOOLS_INSIDE
    )


def why_not(contestant: Contestant) -> str:
    """Empty if it runs a command and returns its exit code; else what is wrong."""
    try:
        outcome = contestant.run(CHECK)
    except Exception as error:  # whatever a library of others raises
        return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if outcome.exit_code != 7:
        said = outcome.stderr.decode(errors="replace").strip().splitlines()
        return said[0] if said else f"a command that ends with 7 ended with {outcome.exit_code}"
    if contestant.captures and outcome.stdout not in (b"inside\n", b"inside\r\n"):
        return "the output of a command does not come through"
    return ""


def installed(program: str) -> bool:
    """Is there such a command?"""
    return shutil.which(program) is not None
