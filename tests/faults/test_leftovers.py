"""Nothing is left behind, whoever is killed, and whenever.

``WARDIAN_SOAK_RUNS=2000 pytest tests/faults/test_leftovers.py`` for the long one.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import alive

from .doors import DOORS, HERE, PYTHON, attempt, environment, refused, stands

pytestmark = pytest.mark.long

RUNS = int(os.environ.get("WARDIAN_SOAK_RUNS", "150"))


@pytest.mark.parametrize("seed", [1, 2])
def test_a_soak_leaves_nothing(seed: int) -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "soak.py"), str(RUNS // 2), str(seed)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60 + RUNS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    kinds, slowest = found.pop("kinds"), found.pop("slowest_s")
    assert found == {"processes": [], "descriptors": [], "mounts": 0, "files": [], "cgroups": []}
    assert sum(kinds.values()) == RUNS // 2
    assert slowest < 2


ENDS = {
    "by its end": "",
    "by an exception": "raise RuntimeError",
    "by sys.exit": "import sys; sys.exit(3)",
    "while a run goes on": "import time; sandbox.start(['sleep', '60']); time.sleep(0.1)",
    "with two sandboxes": "other = Sandbox.create(); other.files.write('f', 'x'); sandbox.close()",
}


@pytest.mark.parametrize("end", ENDS)
def test_a_program_that_forgets_to_close_leaves_nothing(end: str, tmp_path: Path) -> None:
    program = (
        "from wardian import Sandbox\n"
        "sandbox = Sandbox.create()\n"
        "sandbox.run(['sh', '-c', 'mkdir -p a/b; echo x > a/b/f; chmod 0 a'])\n" + ENDS[end]
    )
    subprocess.run(
        [PYTHON, "-c", program],
        env=environment(TMPDIR=str(tmp_path)),
        capture_output=True,
        timeout=30,
        check=False,
    )
    deadline = time.monotonic() + 3
    while os.listdir(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert os.listdir(tmp_path) == []


GUEST = "setsid sleep 600 & trap '' TERM HUP INT; echo up; sleep 600"


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGHUP", "SIGINT"])
def test_the_command_gone_its_guest_is_gone(name: str) -> None:
    """SIGTERM and the like reach the guest, which may ignore them; then SIGKILL ends both."""
    command = [PYTHON, "-m", "wardian", "exec", "--", "sh", "-c", GUEST]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            launcher = int(file.read().split()[0])
        process.send_signal(signal.Signals[name])
        if name != "SIGKILL":
            time.sleep(0.3)
            process.kill()
        process.wait(10)
        deadline = time.monotonic() + 5
        while alive(launcher) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not alive(launcher)


def own_group(controller: str) -> Path | None:
    """This process's place in a version 1 hierarchy."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return Path("/sys/fs/cgroup") / controllers / path.lstrip("/")
    return None


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group for the command, so that what is below it is the command's own."""
    above = own_group("memory")
    if os.geteuid() != 0 or above is None or not (above / "tasks").exists():
        pytest.skip("needs version 1 control groups, and root's right to make one")
    made = above / f"test-{os.getpid()}-{time.monotonic_ns()}"
    made.mkdir()
    yield made
    wait_until_empty(made)
    for place in (*made.glob("wardian-*"), made):
        place.rmdir()


def wait_until_empty(group: Path) -> None:
    """The launcher cleans up while its caller goes on."""
    deadline = time.monotonic() + 5
    while (group / "tasks").read_text() and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the faults name x86-64's calls")
@pytest.mark.parametrize("call", {"capset": 126, "move_mount": 429, "pivot_root": 155}.values())
@pytest.mark.parametrize("door", DOORS)
def test_a_run_whose_walls_fail_leaves_no_control_group(
    door: str, call: int, group: Path, tmp_path: Path
) -> None:
    enter = ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]
    refused(attempt(DOORS[door], tmp_path, [f"errno:EPERM:{call}"], before=enter))
    wait_until_empty(group)
    assert list(group.glob("wardian-*")) == []
    stands(attempt(DOORS[door], tmp_path, [], before=enter))
