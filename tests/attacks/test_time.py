"""Time limits: by the clock and of the processor, whatever a guest does to outlast them."""

from __future__ import annotations

import pytest

from tests.attacks.attack import py
from tests.attacks.callers import NAMES, Caller

# Time above the limit in which a run must have ended, however busy the machine; less than what the
# guests would take.
GRACE_S, LONG_S = 8, 12
WALL = ["ignoring", "stopped", "session", "forked", "vforked", "measured"]  # see programs/burn.c
CPU = {
    "one": ("watch", "rlimits"),  # RLIMIT_CPU holds one process as well
    "children": ("watch",),
    "unclaimed": ("watch",),
    "threads": ("watch", "rlimits"),
}


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize("kind", WALL)
def test_the_clock_can_not_be_outlasted(caller: Caller, kind: str) -> None:
    limits = {"time_s": 1, "memory_bytes": 1 << 30}
    outcome = caller.run(["/programs/burn", kind, str(LONG_S)], limits=limits)
    assert outcome.reason == "time limit", outcome
    assert outcome.exit_code == 124
    assert outcome.stdout == ""
    assert outcome.wall_s < 1 + GRACE_S


@pytest.mark.long
@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize("kind", WALL)
def test_it_would_go_on_with_more_time(caller: Caller, kind: str) -> None:
    """No wall but the limit itself: with more time each of these runs to its own end."""
    outcome = caller.run(["/programs/burn", kind, "1"], limits={"time_s": 14})
    assert outcome.reason == "exited", outcome
    assert "burnt" in outcome.stdout
    assert ("outlasted" in outcome.stdout) == (kind in ("session", "forked"))


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize("kind", CPU)
def test_processor_time_can_not_be_outspent(caller: Caller, kind: str) -> None:
    """Three times the limit must not be had, however it is divided up."""
    outcome = caller.run(["/programs/burn", kind, "3"], limits={"cpu_s": 1, "time_s": 14})
    assert outcome.reason == "cpu limit", outcome
    assert "burnt" not in outcome.stdout


@pytest.mark.long
@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize("kind", CPU)
def test_processor_time_is_outspent_without_the_watch(caller: Caller, kind: str) -> None:
    command = ["/programs/burn", kind, "1"]
    outcome = caller.run(command, limits={"cpu_s": 0.3, "time_s": 12}, without=CPU[kind])
    assert "burnt" in outcome.stdout, outcome


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_a_guest_can_not_raise_its_own_limits(caller: Caller) -> None:
    code = (
        "import resource\n"
        "for name in ('NPROC', 'NOFILE', 'FSIZE', 'CPU', 'DATA'):\n"
        "    which = getattr(resource, 'RLIMIT_' + name); soft, hard = resource.getrlimit(which)\n"
        "    assert hard != resource.RLIM_INFINITY, name\n"
        "    try: resource.setrlimit(which, (hard + 1, hard + 1)); print('raised', name)\n"
        "    except (OSError, ValueError): pass\n"
        "    resource.setrlimit(which, (hard, hard))\n"
        "print('fine')"
    )
    outcome = caller.run(["python3", "-c", code])
    assert outcome.stdout == "fine\n", outcome


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_what_the_guest_leaves_running_ends_with_it(caller: Caller) -> None:
    """The clock is the guest's own program's: nothing that it started outlives it."""
    command = "for i in 1 2 3; do (setsid sh -c 'trap \"\" 1 15; sleep 30' &); done; echo fine"
    outcome = caller.run(command)
    assert outcome.stdout == "fine\n"
    assert outcome.wall_s < GRACE_S


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_pid_1_can_not_be_stopped_or_killed_from_inside(caller: Caller) -> None:
    code = (
        "import os, time\n"
        "for number in range(1, 65):\n"
        "    try: os.kill(1, number)\n"
        "    except OSError: pass\n"
        "time.sleep(0.1); print('fine')"
    )
    outcome = caller.run(py(code))
    assert outcome.stdout == "fine\n", outcome
    assert outcome.reason == "exited"
