"""Many runs, a third of them killed at random moments; then: what is left?

    python soak.py RUNS SEED

Runs as the reaper of all its descendants, so that whatever outlives its parent ends up here and can
be counted, whatever else the machine is doing. Prints one JSON object.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

PR_SET_CHILD_SUBREAPER = 36
STALE_S = 10  # core/cgroup.c: younger groups may be about to be locked
GUESTS = [
    ["true"],
    ["sh", "-c", "echo out; echo err >&2"],
    ["sh", "-c", "setsid sleep 300 & (sleep 300 &) ; head -c 100000 /dev/zero > f; mkdir -p a/b/c"],
    ["sh", "-c", "trap '' TERM INT HUP; sleep 300"],
    ["sh", "-c", "mkdir d && touch d/f && chmod 0 d; sleep 300 & sleep 300"],
    ["no-such-program"],
]
# Another Python that runs guests until it is killed; it says when it is about to start.
VICTIM = """
import random, sys
from wardian import Sandbox
guests, seed = eval(sys.argv[1]), int(sys.argv[2])
chance = random.Random(seed)
print("up", flush=True)
with Sandbox.create() as sandbox:
    while True:
        process = sandbox.start(chance.choice(guests), timeout_s=5)
        print(process.pid, flush=True)
        process.wait()
"""
launchers: set[int] = set()  # of our runs; other tests have theirs beside us


def descendants() -> dict[int, str]:
    """Every process below this one, zombies included."""
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
            head, _, rest = file.read().decode("utf-8", "replace").rpartition(")")
            parents[pid] = int(rest.split()[1])
            names[pid] = head.partition("(")[2] + " " + rest.split()[0]
    found: set[int] = set()
    grew = True
    while grew:
        below = {p for p, parent in parents.items() if parent == os.getpid() or parent in found}
        grew = bool(below - found)
        found |= below
    return {pid: names[pid] for pid in found}


def collect() -> None:
    """Bury what has died and was given to us."""
    with contextlib.suppress(ChildProcessError):
        while pid := os.waitpid(-1, os.WNOHANG)[0]:
            launchers.add(pid)


def settled(timeout_s: float) -> dict[int, str]:
    """What is still below us when nothing changes any more."""
    deadline = time.monotonic() + timeout_s
    while True:
        collect()
        left = descendants()
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.01)


def descriptors() -> list[str]:
    shown = []
    for fd in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            shown.append(f"{fd} {os.readlink(f'/proc/self/fd/{fd}').split(':')[0]}")
    return sorted(line for line in shown if not line.endswith(f"/proc/{os.getpid()}/fd"))


def mounts() -> int:
    with open("/proc/self/mountinfo") as file:
        return sum(1 for _ in file)


def quiet(chance: random.Random) -> None:
    """A run that comes to its own end, or to its time limit."""
    from wardian import Sandbox

    with Sandbox.create() as sandbox:
        process = sandbox.start(chance.choice(GUESTS), timeout_s=0.05)
        launchers.add(process.pid)
        process.wait(30)


def launcher_killed(chance: random.Random) -> set[int]:
    """Starts a run and kills its launcher, the only one who could remove its control group."""
    from wardian import Sandbox, WardianError

    with Sandbox.create() as sandbox:
        process = sandbox.start(chance.choice(GUESTS), timeout_s=5)
        time.sleep(chance.choice((0, 0.001, 0.002, 0.005, 0.02)) * chance.random())
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        with contextlib.suppress(WardianError):
            process.wait(30)
    return {process.pid}


def python_killed(chance: random.Random, *, launcher_too: bool) -> set[int]:
    victim = subprocess.Popen(
        [sys.executable, "-c", VICTIM, repr(GUESTS), str(chance.randrange(10**9))],
        stdout=subprocess.PIPE,
    )
    assert victim.stdout is not None
    victim.stdout.readline()
    time.sleep(chance.choice((0.001, 0.01, 0.05, 0.1)) * chance.random())
    below = []
    if launcher_too:
        with (
            contextlib.suppress(OSError),
            open(f"/proc/{victim.pid}/task/{victim.pid}/children") as f,
        ):
            below = [int(word) for word in f.read().split()]
    for pid in (victim.pid, *below):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    launchers.update(int(line) for line in victim.stdout if line.endswith(b"\n"))
    victim.stdout.close()
    victim.wait()
    return set(below)


def launcher_of(group: str) -> int:
    return int(os.path.basename(group).split("-")[1])


def groups_without_a_launcher() -> set[str]:
    """This user's control groups whose launcher, whose number is in the name, is gone."""
    found = set()
    for path in glob.glob("/sys/fs/cgroup/**/wardian-*", recursive=True):
        with contextlib.suppress(OSError):
            mine = os.stat(path).st_uid == os.geteuid()
            if mine and not os.path.exists(f"/proc/{launcher_of(path)}"):
                found.add(path)
    return found


def groups_left(before: set[str], killed: set[int]) -> list[str]:
    """Groups of launchers of ours that nobody killed; and, once a later run has looked, of any."""
    from wardian import Sandbox

    ours = launchers | killed
    left = {path for path in groups_without_a_launcher() - before if launcher_of(path) in ours}
    unkilled = {path for path in left if launcher_of(path) not in killed}
    if left:
        time.sleep(STALE_S + 1.5)
        with Sandbox.create() as sandbox:
            sandbox.run(["sleep", "0.5"])  # quick ones do not look
    return sorted(unkilled | (groups_without_a_launcher() & left))


def main(runs: int, seed: int) -> dict[str, object]:
    from wardian import Sandbox

    chance = random.Random(seed)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    place = tempfile.mkdtemp(prefix="soak-")
    os.environ["TMPDIR"] = tempfile.tempdir = place
    quiet(chance)
    before, groups = (descriptors(), mounts()), groups_without_a_launcher()
    kinds = {"quiet": 0, "launcher": 0, "python": 0, "both": 0}
    slowest, killed = 0.0, set[int]()
    for n in range(runs):
        kind = chance.choice(("launcher", "python", "both")) if n % 3 == 0 else "quiet"
        kinds[kind] += 1
        if kind == "quiet":
            quiet(chance)
        elif kind == "launcher":
            killed |= launcher_killed(chance)
        else:
            killed |= python_killed(chance, launcher_too=kind == "both")
        start = time.monotonic()
        if settled(10):
            break
        slowest = max(slowest, time.monotonic() - start)
    left = settled(10)
    with Sandbox.create() as sandbox:  # the next one clears up after those that could not
        sandbox.run(["true"])
    collect()
    after = (descriptors(), mounts())
    files = sorted(os.listdir(place))
    result = {
        "kinds": kinds,
        "processes": sorted(left.values()),
        "descriptors": sorted(set(after[0]) - set(before[0])),
        "mounts": after[1] - before[1],
        "files": files,
        "cgroups": groups_left(groups, killed),
        "slowest_s": round(slowest, 3),
    }
    if not files:
        os.rmdir(place)
    return result


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]))))
