"""Who ran into a wall: the process, its command line and who started it, from threads and from
grandchildren, however they came about."""

from __future__ import annotations

import os
import shlex
from os.path import exists
from pathlib import Path

import pytest

from tests.refusals.wall import PYTHON
from wardian import Policy, Result, Sandbox
from wardian.sandbox.refusals.ranking import is_routine
from wardian.sandbox.run.protections import with_look_ups
from wardian.sandbox.run.result import Caller

WANTED = "/srv"  # every host has it, no guest does


def caller(result: Result) -> Caller:
    (refused,) = [one for one in result.refusals if not is_routine(one)]
    assert refused.target == WANTED
    return refused.process


def python(code: str) -> list[str]:
    return [PYTHON, "-I", "-S", "-c", code]


def test_the_command_itself(sandbox: Sandbox) -> None:
    process = caller(sandbox.run(["/bin/ls", WANTED]))
    assert (process.command, process.parents) == (f"/bin/ls {WANTED}", ())
    assert process.pid > 1


def test_a_thread_is_its_process(sandbox: Sandbox) -> None:
    start = f"t = threading.Thread(target=os.access, args=('{WANTED}', 0)); t.start(); t.join()"
    code = f"import threading, os; {start}"
    process = caller(sandbox.run(python(code)))
    assert process.command.startswith(f"{PYTHON} -I -S -c 'import threading")
    assert process.parents == ()


def test_a_forked_child_has_its_parent(sandbox: Sandbox) -> None:
    child = f"os.fork() or (os.access('{WANTED}', 0), os._exit(0))"
    result = sandbox.run(python(f"import os; {child}; os.wait(); print(os.getpid())"))
    process = caller(result)
    assert len(process.parents) == 1
    assert process.parents[0].command == process.command
    assert process.parents[0].pid == int(result.text) != process.pid


def test_a_grandchild_after_exec_has_the_whole_line_above_it(sandbox: Sandbox) -> None:
    script = f"/bin/sh -c '/bin/ls {WANTED}; :'; :"
    process = caller(sandbox.run(["/bin/sh", "-c", script]))
    assert process.command == f"/bin/ls {WANTED}"
    commands = [parent.command for parent in process.parents]
    assert len(commands) == 2
    assert commands[0].startswith("/bin/sh -c '/bin/ls")
    assert commands[1].startswith("/bin/sh -c ")


def test_a_program_started_with_vfork(sandbox: Sandbox) -> None:
    code = f"import os; os.waitpid(os.posix_spawn('/bin/ls', ['ls', '{WANTED}'], os.environ), 0)"
    process = caller(sandbox.run(python(code)))
    assert process.command == f"ls {WANTED}"
    assert [parent.command.split()[0] for parent in process.parents] == [PYTHON]


def test_a_program_that_replaced_another_is_named_by_what_it_is_now(sandbox: Sandbox) -> None:
    script = f"echo > /tmp/before; exec /bin/ls {WANTED}"
    process = caller(sandbox.run(["/bin/sh", "-c", script]))
    assert (process.command, process.parents) == (f"/bin/ls {WANTED}", ())


def test_a_daemon_whose_parents_are_gone_is_told_without_them(sandbox: Sandbox) -> None:
    code = f"""
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while os.getppid() != 1: time.sleep(.01)
        os.access('{WANTED}', 0)
        os._exit(0)
    os._exit(0)
os.wait(); time.sleep(.3)
"""
    process = caller(sandbox.run(python(code)))
    assert process.command.startswith(PYTHON)
    assert process.parents == ()


@pytest.mark.parametrize("name", ["two words", "quo'te", "line\nbreak"])
def test_a_command_line_is_told_as_a_shell_would_take_it(sandbox: Sandbox, name: str) -> None:
    process = caller(sandbox.run(["/bin/ls", "-d", name, WANTED]))
    assert shlex.split(process.command) == ["/bin/ls", "-d", name, WANTED]


def test_short_lived_programs_are_told_by_name_every_time(sandbox: Sandbox) -> None:
    there = [path for path in ("/boot", "/mnt", "/srv") if os.path.exists(path)]
    script = "; ".join(f"/bin/ls {path}" for path in there)
    for _ in range(10):
        refused = sandbox.run(["/bin/sh", "-c", script]).refusals
        refused = [one for one in refused if not is_routine(one)]
        assert [one.process.command for one in refused] == [f"/bin/ls {path}" for path in there]


def test_a_program_that_ends_at_once_is_told_of_every_time(tmp_path: Path) -> None:
    """In directories of our own, too, and where only a lookup shows it."""
    there = next(one for one in ("/etc/fstab", "/etc/shells", "/etc/debian_version") if exists(one))
    with Sandbox.create(with_look_ups(Policy.default().but(work=str(tmp_path)))) as sandbox:
        for _ in range(40):
            assert there in [one.target for one in sandbox.run(["/bin/cat", there]).refusals]
