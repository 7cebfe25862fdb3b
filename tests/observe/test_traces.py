"""Traces of runs that fork, exec, thread, are killed, or come when nobody is quick to read."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import MakeSandbox, launchers
from wardian import Policy, Sandbox
from wardian.errors import UsageError
from wardian.observe.events import Became, Event, Reader, TracedCall, Waited
from wardian.observe.trace import Trace, Tracer, traced
from wardian.sandbox.run.result import Result

SPAWNS = 2000
GONE_WITHIN_S = 20.0  # the machine may be busy; the guests would go on for minutes


def sh(sandbox: Sandbox, script: str, **options: float) -> Trace:
    return traced(sandbox, ["sh", "-c", script], **options)  # type: ignore[arg-type]


# Files


def test_what_is_done_with_a_file_is_reported(sandbox: Sandbox) -> None:
    trace = sh(sandbox, "echo a >new; cat new; echo b >>new; mv new old; rm old; ls no-such /work")
    done = {file.path: file.actions for file in trace.files if file.path.startswith("/work")}
    assert done["/work/new"] == ("read", "written", "created", "deleted")
    assert done["/work/old"][:2] == ("created", "deleted")
    assert "missing" in done["/work/no-such"]
    assert "listed" in done["/work"]
    assert {"/usr/bin/sh", "/usr/bin/cat"} <= set(trace.paths("executed"))


def test_what_comes_into_being_is_not_missing_for_ever(sandbox: Sandbox) -> None:
    trace = sh(sandbox, "cat late; echo x >late; cat late")
    assert dict(zip(trace.paths(), trace.files, strict=False)) == {}
    (late,) = [file for file in trace.files if file.path == "/work/late"]
    assert late.actions == ("read", "created", "missing")


@pytest.mark.parametrize(
    ("script", "path", "action"),
    [
        ("mkdir full; echo >full/x; rmdir full", "/work/full", "deleted"),
        ("echo >here; mkdir here", "/work/here", "deleted"),
        ("mkdir d; echo >f; mv -T f d", "/work/f", "deleted"),
        ("echo >f; chmod 0 f; cat f", "/work/f", "read"),
        ("echo >f; chmod 600 f; ./f", "/work/f", "executed"),
        ("echo x >/usr/bin/env", "/usr/bin/env", "written"),
        ("echo x >/usr/bin/no-such", "/usr/bin/no-such", "created"),
    ],
)
def test_what_fails_is_not_reported_as_done(
    script: str, path: str, action: str, sandbox: Sandbox
) -> None:
    trace = sh(sandbox, script)
    assert trace.result.exit_code != 0
    assert path in {file.path for file in trace.files}
    assert path not in trace.paths(action)


def test_the_guest_is_itself_in_proc(sandbox: Sandbox) -> None:
    trace = sh(sandbox, "read a </proc/self/stat; echo x >/dev/stderr")
    assert "/proc/self/stat" in trace.paths("read")
    assert "/dev/stderr" in trace.paths("written")


def test_relative_paths_and_links_are_reported_as_the_guest_means_them(sandbox: Sandbox) -> None:
    trace = sh(sandbox, "mkdir a; ln -s a b; echo hi >b/../b/./f; cd a; cat f")
    assert "/work/b/f" in trace.paths("created")
    assert "/work/a/f" in trace.paths("read")


# Processes

# One that has made a call, surely, when it is killed.
KILLED = "mkfifo f; (echo >f; sleep 60) & read x <f; kill -9 $!; rm f"


def test_programs_form_a_tree(sandbox: Sandbox) -> None:
    trace = sh(sandbox, "(ls | cat) >/dev/null; exec sleep 0")
    (first,) = trace.children(None)
    assert [one.command[0] for one in first.programs] == ["sh", "sleep"]
    assert (first.inner_pid, first.exit_code, first.threads) == (2, 0, 1)
    (subshell,) = trace.children(first)
    assert subshell.programs[0].path == ""
    assert {one.command for one in trace.children(subshell)} == {("ls",), ("cat",)}
    assert all(one.ended_s is not None and one.ended_s >= one.started_s for one in trace.processes)


def test_exit_codes_are_reported_and_what_a_signal_ended_has_none(sandbox: Sandbox) -> None:
    trace = sh(sandbox, f"(exit 7); {KILLED}; wait")
    ends = Counter(one.exit_code for one in trace.processes)
    assert ends == {0: 3, 7: 1, None: 1}  # sh, mkfifo, rm; the subshell; what was killed


def test_an_exec_in_a_thread_is_one_of_its_process(sandbox: Sandbox) -> None:
    code = (
        "import os, threading; "
        "t = threading.Thread(target=os.execv, args=('/usr/bin/true', ['true'])); "
        "t.start(); t.join()"
    )
    trace = traced(sandbox, ["/usr/bin/python3", "-c", code])
    (process,) = trace.processes
    assert process.command == ("true",)
    assert process.threads == 2


def test_an_exec_that_fails_makes_no_program_and_the_same_again_does(sandbox: Sandbox) -> None:
    sandbox.files.write("again", b"#!/bin/sh\n[ $A ] || A=1 exec ./again\n./no-format; :\n")
    sandbox.files.write("no-format", b"echo ran\n")
    trace = sh(sandbox, "chmod +x again no-format; exec ./again")
    assert trace.result.text == "ran\n"
    first = next(one for one in trace.processes if one.id == 1)
    assert [one.command[0] for one in first.programs] == ["sh", "/bin/sh", "/bin/sh"]
    last = trace.processes[-1]
    assert (last.parent, [one.path for one in last.programs]) == (1, ["", "/bin/sh"])


@pytest.mark.parametrize("how", ["sendto(b'x', at)", "sendmsg([b'x'], [], 0, at)"])
def test_an_address_is_reported_however_it_was_sent_to(how: str, sandbox: Sandbox) -> None:
    code = f"import socket; at = ('127.0.0.1', 9); socket.socket(type=socket.SOCK_DGRAM).{how}"
    trace = traced(sandbox, ["/usr/bin/python3", "-c", code])
    assert [(one.action, one.address) for one in trace.endpoints] == [("send", "127.0.0.1:9")]


def test_threads_are_counted_to_their_process(sandbox: Sandbox) -> None:
    code = (
        "import os, threading; b = threading.Barrier(9)\n"
        "def work(i): os.path.exists(f'/usr/{i}'); b.wait()\n"  # each does what no other does
        "[threading.Thread(target=work, args=[i]).start() for i in range(8)]; b.wait()"
    )
    trace = traced(sandbox, ["/usr/bin/python3", "-c", code])
    (process,) = trace.processes
    assert process.threads == 9


def test_no_process_of_a_storm_is_lost(sandbox: Sandbox) -> None:
    trace = sh(sandbox, f"i=0; while [ $i -lt {SPAWNS} ]; do /bin/true; i=$((i+1)); done")
    commands = Counter(one.command for one in trace.processes[1:])
    assert commands == {("/bin/true",): SPAWNS}
    assert all(one.programs[-1].path == "/bin/true" for one in trace.processes[1:])
    assert all(one.exit_code == 0 and one.parent == 1 for one in trace.processes[1:])
    assert {one.name: one.count for one in trace.syscalls}["execve"] == SPAWNS + 1


REUSED = """
import json, sys
from wardian import Sandbox
from wardian.observe.trace import traced
script = "i=0; while [ $i -lt 150 ]; do /bin/true; %s; i=$((i+1)); done; wait" % sys.argv[1]
with Sandbox.create() as sandbox:
    trace = traced(sandbox, ["sh", "-c", script])
json.dump(trace.document(), sys.stdout)
"""


def test_a_pid_that_comes_again_is_another_process(tmp_path: Path) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    (tmp_path / "reused.py").write_text(REUSED)
    run = f"{sys.executable} -P {tmp_path}/reused.py '{KILLED}'"
    inside = f"echo 400 >/proc/sys/kernel/pid_max && {run}"
    own = ["unshare", *(["-Ur"] if os.geteuid() else []), "--pid", "--fork", "--mount-proc"]
    done = subprocess.run(
        [*own, "sh", "-c", inside], capture_output=True, text=True, timeout=200, check=False
    )
    if "pid_max" in done.stderr or "unshare" in done.stderr:
        pytest.skip(f"this kernel has no pid_max for each pid namespace: {done.stderr.strip()}")
    trace = json.loads(done.stdout)
    pids = Counter(one["pid"] for one in trace["processes"])
    assert max(pids.values()) > 1
    ends = Counter(one["exit_code"] for one in trace["processes"])
    assert ends == {0: 1 + 3 * 150, None: 150}  # sh; true, mkfifo, rm; what was killed
    assert {one["parent"] for one in trace["processes"][1:]} == {1}


def test_the_same_number_again_is_another_process_even_if_its_end_was_not_seen() -> None:
    tracer = Tracer()
    for inner, command in ((2, "a"), (3, "b")):
        tracer.take(Became(0.0, 10, 9, inner, (command,)))
    processes = tracer.trace(Result(("a",), 0, "exited")).processes
    assert [(one.id, one.pid, one.command) for one in processes] == [
        (1, 10, ("a",)),
        (2, 10, ("b",)),
    ]


# Endpoints


def test_addresses_and_names_are_reported(sandbox: Sandbox) -> None:
    code = (
        "import socket as s; a = s.socket(); a.bind(('127.0.0.1', 0)); a.listen();"
        "s.create_connection(a.getsockname()); u = s.socket(s.AF_UNIX); u.bind('sock');"
        "d = s.socket(s.AF_INET, s.SOCK_DGRAM); d.sendto(b'x', ('127.0.0.1', 9));\n"
        "try: s.getaddrinfo('name.example.org', 80)\nexcept OSError: pass"
    )
    trace = traced(sandbox, ["/usr/bin/python3", "-c", code])
    reported = {(one.action, one.address) for one in trace.endpoints}
    assert {
        ("bind", "127.0.0.1:0"),
        ("bind", "unix:/work/sock"),
        ("send", "127.0.0.1:9"),
    } <= reported
    assert "/work/sock" in trace.paths("created")
    assert any(act == "connect" and at.startswith("127.0.0.1:") for act, at in reported)
    assert "name.example.org" in {one.name for one in trace.endpoints if one.action == "resolve"}


# Time


def test_waiting_is_reported_and_running_is_not(sandbox: Sandbox) -> None:
    trace = sh(sandbox, "sleep 0.4; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
    waited = {one.name: one.time_s for one in trace.syscalls}
    assert 0.25 < waited["clock_nanosleep"] <= trace.usage.wall_s
    assert 0.25 < waited["wait4"] <= trace.usage.wall_s


# Ends


@pytest.mark.parametrize(
    ("limits", "script", "reason"),
    [
        ({"time_s": 1.0}, "echo >made; sleep 60", "time limit"),
        ({"cpu_s": 1.0}, "echo >made; while :; do :; done", "cpu limit"),
        ({"output_bytes": 4096}, "echo >made; yes", "output limit"),
    ],
)
def test_a_run_that_met_a_limit_is_reported_all_the_same(
    limits: dict[str, float], script: str, reason: str, make_sandbox: MakeSandbox
) -> None:
    trace = sh(make_sandbox(Policy.default().with_limits(**limits)), script)
    assert trace.result.reason == reason
    assert "/work/made" in trace.paths("created")
    assert trace.processes
    assert trace.syscalls


def test_what_was_waited_for_when_the_time_was_up_is_reported(make_sandbox: MakeSandbox) -> None:
    trace = sh(make_sandbox(Policy.default().with_limits(time_s=1.0)), "sleep 60")
    assert {one.name: one.time_s for one in trace.syscalls}["clock_nanosleep"] > 0.3


def test_a_program_that_is_not_there_leaves_an_empty_trace(sandbox: Sandbox) -> None:
    trace = traced(sandbox, ["no-such-program"])
    assert trace.result.reason == "not found"
    assert (trace.syscalls, trace.files, trace.processes) == ((), (), ())


def test_a_slow_reader_loses_nothing(sandbox: Sandbox) -> None:
    reader, events = Reader(), list[Event]()

    def slowly(data: bytes) -> None:
        time.sleep(0.002)
        events.extend(reader.feed(data))

    tracer = Tracer()
    script = "i=0; while [ $i -lt 60 ]; do ls -l /usr/bin >/dev/null; i=$((i+1)); done"
    result = sandbox.trace(["sh", "-c", script], on_trace=slowly, every=True)
    for event in events:
        tracer.take(event)
    reported = Counter(event.name for event in events if isinstance(event, TracedCall))
    assert reported == Counter({one.name: one.count for one in tracer.trace(result).syscalls})
    assert sum(reported.values()) > 10_000


def test_waits_are_reported_with_every_call_only(sandbox: Sandbox) -> None:
    events: dict[bool, list[Event]] = {}
    for every in (False, True):
        stream = bytearray()
        sandbox.trace(["sleep", "0.4"], on_trace=stream.extend, every=every)
        events[every] = list(Reader().feed(bytes(stream)))
    assert not any(isinstance(one, Waited) for one in events[False])
    waits = [one for one in events[True] if isinstance(one, Waited)]
    assert any(one.name == "clock_nanosleep" and one.time_s > 0.2 for one in waits)


def test_a_reader_that_fails_ends_the_run(sandbox: Sandbox) -> None:
    def fail(data: bytes) -> None:
        raise RuntimeError("full")

    with pytest.raises(RuntimeError, match="full"):
        sandbox.trace(["sleep", "600"], on_trace=fail)
    assert launchers() == []


def test_killing_the_caller_leaves_nothing(tmp_path: Path) -> None:
    token = f"600.{os.getpid()}"
    command = [sys.executable, "-P", "-m", "wardian", "trace", "-f", "-o", str(tmp_path / "lines")]
    caller = subprocess.Popen(
        [*command, "--", "sh", "-c", f"sleep {token} & sleep {token}"], stdin=subprocess.DEVNULL
    )
    try:
        _until(lambda: len(_running(token)) == 3)
        caller.send_signal(signal.SIGKILL)
        caller.wait()
        _until(lambda: not _running(token))
    finally:
        caller.kill()
        caller.wait()


def _running(token: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if any(token.encode() in word for word in words) and b"wardian" not in words:
            found.append(path.parent.name)
    return found


def _until(condition: object) -> None:
    deadline = time.monotonic() + GONE_WITHIN_S
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.02)


# Doors


def test_another_backend_says_that_it_can_not(make_sandbox: MakeSandbox) -> None:
    with pytest.raises(UsageError, match="host can't trace"):
        traced(make_sandbox(backend="host"), ["true"])


def test_a_run_after_a_trace_is_not_traced(sandbox: Sandbox) -> None:
    stream = bytearray()
    sandbox.trace(["true"], on_trace=stream.extend)
    size = len(stream)
    assert sandbox.run(["ls", "/"]).ok
    assert len(stream) == size > 0
