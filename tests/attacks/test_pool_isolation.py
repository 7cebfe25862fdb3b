"""What one run of a pool leaves behind, the next can't find; nor can the next of a sandbox whose
runs have places of their own, made ahead of them. In one sandbox, where commands share everything,
each of these is found: so the look itself works."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from wardian import Pool, Sandbox

PYTHON = "/usr/bin/python3"
LIBC = "import ctypes, os, sys\nlibc = ctypes.CDLL(None, use_errno=True)\n"
STAY = "\nimport os, time\nif os.fork(): os._exit(0)\nos.setsid(); os.close(1); os.close(2)\n"

# name: what the first run leaves, and what prints FOUND in a later one if it is there
LEFT = {
    "a file in /work": ("open('/work/x', 'w')", "open('/work/x'); print('FOUND')"),
    "a file in /tmp": ("open('/tmp/x', 'w')", "open('/tmp/x'); print('FOUND')"),
    "a file in the home": (
        "import os; open(os.path.expanduser('~/x'), 'w')",
        "import os; open(os.path.expanduser('~/x')); print('FOUND')",
    ),
    "a file in /dev/shm": ("open('/dev/shm/x', 'w')", "open('/dev/shm/x'); print('FOUND')"),
    "a process": (
        STAY + "time.sleep(60)",
        "import glob\nassert len(glob.glob('/proc/[0-9]*')) > 2\nprint('FOUND')",
    ),
    "an abstract socket": (
        "import socket; s = socket.socket(socket.AF_UNIX); s.bind('\\0x'); s.listen()"
        + STAY
        + "time.sleep(60)",
        "import socket; socket.socket(socket.AF_UNIX).connect('\\0x'); print('FOUND')",
    ),
    "a port of the loopback": (
        "import socket; s = socket.create_server(('127.0.0.1', 8123))" + STAY + "time.sleep(60)",
        "import socket; socket.create_connection(('127.0.0.1', 8123)); print('FOUND')",
    ),
    "System V shared memory": (
        LIBC + "assert libc.shmget(77, 4096, 0o1666) >= 0",
        LIBC + "assert libc.shmget(77, 4096, 0) >= 0; print('FOUND')",
    ),
    "a System V semaphore": (
        LIBC + "assert libc.semget(77, 1, 0o1666) >= 0",
        LIBC + "assert libc.semget(77, 1, 0) >= 0; print('FOUND')",
    ),
    "a message queue": (
        LIBC + "assert libc.msgget(77, 0o1666) >= 0",
        LIBC + "assert libc.msgget(77, 0) >= 0; print('FOUND')",
    ),
}


@pytest.fixture(scope="module", params=["pool", "spare"])
def pool(request: pytest.FixtureRequest) -> Iterator[Pool | Sandbox]:
    with Pool(ready=2) if request.param == "pool" else Sandbox(private_work=True) as made:
        for _ in range(3):  # from then on one waits
            assert made.run(["true"]).exit_code == 0
        yield made


@pytest.mark.parametrize("what", LEFT)
def test_nothing_passes_from_one_run_to_the_next(pool: Pool | Sandbox, what: str) -> None:
    leave, look = LEFT[what]
    with Sandbox.create() as shared:
        left = shared.run([PYTHON, "-c", leave])
        assert left.exit_code == 0, left.stderr
        assert shared.run([PYTHON, "-c", look]).stdout == b"FOUND\n"
    left = pool.run([PYTHON, "-c", leave])
    assert left.exit_code == 0, left.stderr
    for _ in range(4):  # those that waited meanwhile, and those made since
        assert b"FOUND" not in pool.run([PYTHON, "-c", look]).stdout


def test_a_later_run_has_no_handle_of_the_one_before(pool: Pool | Sandbox) -> None:
    look = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:-1])"
    assert pool.run(["sh", "-c", "sleep 60 & exec 7</dev/null; sleep 60 7<&7 &"]).exit_code == 0
    assert pool.run([PYTHON, "-c", look]).stdout == b"[0, 1, 2]\n"


def test_runs_at_the_same_time_do_not_see_each_other(pool: Pool | Sandbox) -> None:
    """The user who owns them outside differs as well, where the caller is root."""
    import threading

    seen: list[bytes] = []
    script = "import glob, time; time.sleep(0.5); print(sorted(glob.glob('/proc/[0-9]*')))"

    def work() -> None:
        seen.append(pool.run([PYTHON, "-c", script]).stdout)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4
    assert all(one.count(b"/proc/") == 2 for one in seen)
