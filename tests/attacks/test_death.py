"""Whoever dies, the run dies with them, and leaves nothing behind."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.attacks.callers import LIBRARY, NAMES, Caller

GONE_WITHIN_S = 10.0  # the machine may be busy; the guests would go on for minutes
TERMINAL = f"399.{os.getpid()}"  # the token of the run that has one
# Says the launcher's pid once the guest runs. Guests that are hard to end: ignoring every signal,
# in sessions of their own, twice forked.
SCRIPT = """
import sys, time
sys.path.insert(0, {library!r})
from wardian import Sandbox
from wardian.sandbox.backends.wardian import Wardian
from wardian.sandbox.run.records import record
sandbox = Sandbox.create(fresh={fresh!r})
if not {fresh!r}:
    sandbox.run(['sh', '-c', 'setsid sleep 1 &'])
if {walls!r}:
    flags = b''.join(record('flag', 'without-' + wall) for wall in {walls!r})
    sandbox._backend = Wardian(binary={launcher!r}, extra=flags)
ready = []
process = sandbox.start(['sh', '-c', {guest!r}], on_stdout=ready.append)
while not ready: time.sleep(0.01)
print(process.pid, flush=True)
process.wait()
"""
GUEST = (
    "trap '' HUP INT TERM QUIT TSTP; (setsid sleep {token} &); (setsid setsid sleep {token} &) ; "
    "nohup sleep {token} >/dev/null 2>&1 & echo ready; sleep {token}"
)


class Run:
    """A Python process with a sandbox in it, and a way to tell its guests from all others."""

    count = 0

    def __init__(self, caller: Caller, walls: tuple[str, ...] = (), **options: object) -> None:
        Run.count += 1
        self.token = f"{400 + Run.count}.{os.getpid()}"
        code = SCRIPT.format(
            library=str(caller.stage / LIBRARY),
            launcher=str(caller.stage / "bin" / "wardian-launch-test"),
            guest=GUEST.format(token=self.token),
            walls=walls,
            fresh=not caller.living or bool(walls),
        )
        self.python = caller.popen(
            [caller.python, "-I", "-c", code],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **options,
        )
        assert self.python.stdout is not None
        self.launcher = int(self.python.stdout.readline())
        # All four, each executed: one that is about to be would fail without its supervisor.
        wait_for(lambda: len(self.sleepers()) >= 4)
        assert len(self.sleepers()) >= 4

    def sleepers(self) -> list[int]:
        """Those guests that have become what they were to be."""
        return [pid for pid in self.guests() if command_of(pid).startswith(b"sleep\0")]

    def guests(self) -> list[int]:
        """Processes on this host whose command line holds the token, the Python one aside."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == self.python.pid:
                continue
            try:
                command = (entry / "cmdline").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            ours = self.token.encode() in command or entry.name == str(self.launcher)
            if ours and state != "Z":  # a zombie waits for init, and is dead
                found.append(int(entry.name))
        return found

    def gone_after_s(self, patience_s: float = GONE_WITHIN_S) -> float:
        """How long until nothing of the run is alive; infinite if it does not happen."""
        start = time.monotonic()
        while time.monotonic() - start < patience_s:
            if not self.guests():
                return time.monotonic() - start
            time.sleep(0.005)
        return float("inf")

    def clean_up(self) -> None:
        for pid in [*self.guests(), self.python.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.python.wait()
        if self.python.stdout is not None:
            self.python.stdout.close()


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def kill(*pids: int) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


WAYS: dict[str, Callable[[Run], None]] = {
    "the-python-process": lambda run: kill(run.python.pid),
    "the-launcher": lambda run: kill(run.launcher),
    "both-python-first": lambda run: kill(run.python.pid, run.launcher),
    "both-launcher-first": lambda run: kill(run.launcher, run.python.pid),
    "the-process-group": lambda run: os.killpg(run.python.pid, signal.SIGKILL),
    "python-by-term": lambda run: os.kill(run.python.pid, signal.SIGTERM),
    "python-by-segv": lambda run: os.kill(run.python.pid, signal.SIGSEGV),
    "the-launcher-by-term": lambda run: os.kill(run.launcher, signal.SIGTERM),
    "the-launcher-by-hup": lambda run: os.kill(run.launcher, signal.SIGHUP),
    "the-launcher-while-stopped": lambda run: (
        os.kill(run.launcher, signal.SIGSTOP),
        kill(run.launcher),
    )[0],
}


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_alive_after_the_death_of(caller: Caller, way: str) -> None:
    run = Run(caller)
    try:
        WAYS[way](run)
        taken = run.gone_after_s()
        print(f"gone after {taken * 1000:.0f} ms")
        assert taken < float("inf"), run.guests()
    finally:
        run.clean_up()


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_the_guest_lives_on_without_the_wall(caller: Caller) -> None:
    """The reaper's parent-death signal is what ends it when the launcher is killed."""
    run = Run(caller, ("death",))
    try:
        kill(run.launcher)
        assert run.gone_after_s(3) == float("inf")
    finally:
        run.clean_up()


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_nothing_is_alive_after_the_terminal_is_gone(caller: Caller) -> None:
    code = (
        f"import sys, time\nsys.path.insert(0, {str(caller.stage / LIBRARY)!r})\n"
        "from wardian import Sandbox\n"
        "sandbox = Sandbox.create()\n"
        f"guest = ['sh', '-c', {GUEST.format(token=TERMINAL)!r}]\n"
        "sandbox.start_inherited(guest, tty=True).pump()\n"
    )
    master, slave = pty.openpty()
    os.fchown(slave, caller.uid, caller.gid)
    take = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    process = caller.popen(
        [caller.python, "-I", "-c", take + code],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    seen = b""
    try:
        while b"ready" not in seen:
            seen += os.read(master, 4096)
    finally:
        os.close(master)
    start = time.monotonic()
    while time.monotonic() - start < GONE_WITHIN_S and alive(TERMINAL, process.pid):
        time.sleep(0.01)
    left = alive(TERMINAL, process.pid)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    process.kill()
    process.wait()
    assert left == []


def alive(token: str, besides: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and token.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return [pid for pid in found if pid != besides]


def traces(caller: Caller) -> dict[str, set[str]]:
    """What a run could leave on the host, of this caller's runs and no other's."""
    groups: set[str] = set()
    for root in ("/sys/fs/cgroup",):
        for where, names, _ in os.walk(root):
            groups |= {f"{where}/{name}" for name in names if "wardian" in name}
    return {
        "files": set(os.listdir(caller.stage / "tmp")),
        "mounts": {
            line
            for line in Path("/proc/self/mountinfo").read_text().splitlines()
            if str(caller.stage) in line
        },
        "control groups": groups,
        "segments": set(Path("/proc/sysvipc/shm").read_text().splitlines()),
        "launchers": {str(pid) for pid in alive(str(caller.stage), 0) if launcher_of(caller, pid)},
    }


def wait_for(condition: Callable[[], bool]) -> None:
    """The launcher removes the work directory last of all."""
    deadline = time.monotonic() + GONE_WITHIN_S
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


def launcher_of(caller: Caller, pid: int) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/exe").startswith(str(caller.stage))
    except OSError:
        return False


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_nothing_is_left_behind(caller: Caller) -> None:
    """After runs that ended well, by a limit, and by a kill, each with files, processes, ipc."""
    before = traces(caller)
    mess = (
        "mkdir -p /work/a/b; touch /work/a/b/c /tmp/d /dev/shm/e; (setsid sleep 50 &); "
        "python3 -I -S -c 'import ctypes; ctypes.CDLL(None).shmget(0, 4096, 0o1600)'; "
    )
    for ending, limits in (("true", {}), ("kill -9 $$", {}), ("sleep 9", {"time_s": 0.3})):
        caller.run(mess + ending, limits=limits)
    run = Run(caller)
    kill(run.python.pid)
    assert run.gone_after_s() < float("inf")
    run.clean_up()
    wait_for(lambda: traces(caller)["files"] <= before["files"])
    after = traces(caller)
    for kind, there in after.items():
        if kind in ("segments", "control groups"):
            continue  # other programs on this machine make some, too
        assert there <= before[kind], kind


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize(
    "mess",
    [
        "ln -s {victim} link; mkdir d; ln -s {victim} d/link; ln {victim}/kept hard 2>/dev/null",
        "mkdir -p a/b/c; touch a/b/f; chmod 0 a/b/c a/b a .",
        "i=0; while [ $i -lt 600 ]; do mkdir d && cd d; i=$((i+1)); done",
    ],
    ids=["links-to-the-hosts-files", "closed-directories", "deep"],
)
def test_cleaning_up_after_a_killed_caller_removes_the_guests_files_and_no_others(
    caller: Caller, mess: str
) -> None:
    """The launcher does it when the Python process can't any more, and must not be led astray."""
    victim = caller.directory()
    (victim / "kept").write_text("kept")
    os.chown(victim / "kept", caller.uid, caller.gid)
    before = set(os.listdir(caller.stage / "tmp"))
    code = (
        f"import os, sys\nsys.path.insert(0, {str(caller.stage / LIBRARY)!r})\n"
        "from wardian import Sandbox\n"
        f"guest = ['sh', '-c', {mess.format(victim=victim)!r} + '; echo ready; sleep 30']\n"
        "kill = lambda data: os.kill(os.getpid(), 9)\n"
        "Sandbox.create().run(guest, on_stdout=kill)\n"
    )
    process = caller.popen([caller.python, "-I", "-c", code])
    assert process.wait(timeout=20) == -signal.SIGKILL
    wait_for(lambda: set(os.listdir(caller.stage / "tmp")) <= before)
    assert set(os.listdir(caller.stage / "tmp")) <= before
    assert (victim / "kept").read_text() == "kept"
