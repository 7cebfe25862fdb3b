"""Many living sandboxes at once, each with a server and three clients, and random kills: of
commands, of supervisors, of callers. Prints one JSON object: what was done, and what is left.

    python soak.py SECONDS SANDBOXES        the whole
    python soak.py --caller SECONDS COUNT   one caller, started by the whole
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

CALLERS = 4
PATIENCE_S = 120.0  # for a wait that must end, on a machine that has others to serve
PR_SET_CHILD_SUBREAPER = 36
STALE_S = 12  # core/cgroup.c: a group that is younger may still be in the making
SERVER = (
    "import socket\n"
    "s = socket.create_server(('127.0.0.1', 4000), backlog=64)\n"
    "while True:\n"
    "    c, _ = s.accept()\n"
    "    c.sendall(b'hello'); c.close()\n"
)
CLIENT = (
    "import socket, time\n"
    "for _ in range(20):\n"
    "    try: socket.create_connection(('127.0.0.1', 4000), 5).recv(9)\n"
    "    except OSError: pass\n"
    "    time.sleep(0.05)\n"
)


# One caller


class Keeper:
    """Keeps one sandbox busy until the end, and makes a new one where it was killed."""

    def __init__(self, number: int, until: float, counts: Counter[str]) -> None:
        self.chance, self.until, self.counts = random.Random(number), until, counts

    def work(self) -> None:
        from wardian.errors import WardianError

        while time.monotonic() < self.until:
            try:
                self.one_sandbox()
            except WardianError as error:
                self.counts[f"error: {type(error).__name__}: {str(error)[:60]}"] += 1
            except BaseException as error:
                self.counts[f"broken: {error!r}"[:200]] += 1

    def one_sandbox(self) -> None:
        from wardian import Sandbox

        with Sandbox.create() as sandbox:
            self.counts["sandboxes"] += 1
            python = "/usr/bin/python3"
            server = sandbox.start([python, "-S", "-c", SERVER], background=True)
            print(f"launcher {server.pid}", flush=True)
            while time.monotonic() < self.until:
                self.one_turn(sandbox, [python, "-S", "-c", CLIENT], server.pid)
                if self.chance.random() < 0.02:
                    return

    def one_turn(self, sandbox: object, client: list[str], supervisor: int) -> None:
        clients = [sandbox.start(client, timeout_s=60) for _ in range(3)]  # type: ignore[attr-defined]
        self.counts["commands"] += 3
        time.sleep(self.chance.random() * 2)
        fate = self.chance.random()
        if fate < 0.3:
            self.chance.choice(clients).kill()
            self.counts["commands killed"] += 1
        elif fate < 0.34:
            self.counts["supervisors killed"] += 1
            os.kill(supervisor, signal.SIGKILL)
        for one in clients:
            try:
                self.counts[one.wait(PATIENCE_S).reason] += 1
            except TimeoutError:
                self.counts["hanging"] += 1
                raise


def call(seconds: float, count: int) -> None:
    """Until the time is up, or someone kills us."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    threading.stack_size(256 << 10)
    until, counts = time.monotonic() + seconds, Counter[str]()
    keepers = [Keeper(number, until, counts) for number in range(count)]
    threads = [threading.Thread(target=keeper.work) for keeper in keepers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts["descriptors left"] = len(os.listdir("/proc/self/fd")) - 4  # the listing, and 0, 1, 2
    print("counts " + json.dumps(counts), flush=True)


# The whole


class Caller:
    """One caller as a process."""

    def __init__(self, seconds: float, count: int) -> None:
        self.until = time.monotonic() + seconds
        self.output = b""
        command = [sys.executable, __file__, "--caller", str(seconds), str(count)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
        self.thread = threading.Thread(target=self._read)
        self.thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stream:
            self.output = stream.read()

    def end(self, within_s: float) -> bool:
        """True if it ended by itself."""
        try:
            self.process.wait(within_s)
            return True
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False
        finally:
            self.thread.join()


def reap() -> int:
    """Those that nobody else waits for; returns how many children are left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return 0
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return len(file.read().split())


def groups_of(launchers: set[str]) -> list[str]:
    """Control groups of these launchers that are still there."""
    found = []
    for folder, names, _ in os.walk("/sys/fs/cgroup"):
        found += [f"{folder}/{n}" for n in names if n.startswith("wardian-")]
    return [path for path in found if path.rpartition("wardian-")[2].split("-")[0] in launchers]


def soak(seconds: float, count: int) -> dict[str, object]:
    """Run it, then look for what is left."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    began, chance = time.monotonic(), random.Random(1)
    mounts = Path("/proc/self/mountinfo").read_text().count("\n")
    callers = [Caller(seconds, count // CALLERS) for _ in range(CALLERS)]
    ended: list[Caller] = []
    killed = peak_kb = 0
    while (left := began + seconds - time.monotonic()) > 0:
        time.sleep(min(left, 2.0))
        peak_kb = max(peak_kb, resident_kb())
        if chance.random() < 0.1 and left > 10:
            callers.sort(key=lambda caller: chance.random())
            victim = callers.pop()
            victim.process.kill()
            victim.process.wait()
            killed += 1
            ended.append(victim)
            callers.append(Caller(left, count // CALLERS))
    hanging = sum(not caller.end(PATIENCE_S * 2) for caller in callers)
    for caller in ended:
        caller.end(PATIENCE_S)
    deadline = time.monotonic() + PATIENCE_S
    while reap() and time.monotonic() < deadline:
        time.sleep(0.05)
    counts: Counter[str] = Counter()
    launchers: set[str] = set()
    for caller in [*callers, *ended]:
        for line in caller.output.decode().splitlines():
            kind, _, rest = line.partition(" ")
            if kind == "launcher":
                launchers.add(rest)
            elif kind == "counts":
                counts.update(json.loads(rest))
    from wardian import Sandbox

    time.sleep(STALE_S)
    with Sandbox.create() as last:  # a run sweeps up what killed supervisors left
        last.run(["sleep", "1"])
    left_over = [name for name in os.listdir(os.environ["TMPDIR"]) if name.startswith("wardian-")]
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "callers killed": killed,
        "callers hanging": hanging,
        "processes left": reap(),
        "work directories left": left_over,
        "control groups left": groups_of(launchers),
        "mounts more": Path("/proc/self/mountinfo").read_text().count("\n") - mounts,
        "peak resident MB": peak_kb >> 10,
        "CPU s": round(usage.ru_utime + usage.ru_stime),
        "wall s": round(time.monotonic() - began),
        **counts,
    }


def resident_kb() -> int:
    """Of everything below this process, guests included."""
    total, todo = 0, [os.getpid()]
    while todo:
        pid = todo.pop()
        try:
            pages = Path(f"/proc/{pid}/statm").read_text().split()
            total += (int(pages[1]) - int(pages[2])) * 4
            for task in os.listdir(f"/proc/{pid}/task"):
                todo += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
        except (OSError, IndexError):
            continue
    return total


if __name__ == "__main__":
    if sys.argv[1] == "--caller":
        call(float(sys.argv[2]), int(sys.argv[3]))
    else:
        print(json.dumps(soak(float(sys.argv[1]), int(sys.argv[2]))))
