"""After a run its caller comes back, whatever the guest left to be explained."""

from __future__ import annotations

import json
import os
import resource
import signal
import time

import pytest

from tests.refusals.wall import PYTHON
from wardian import Sandbox
from wardian.errors import BackendError
from wardian.sandbox.refusals import asked_host
from wardian.sandbox.refusals import reading as refusals
from wardian.sandbox.refusals.asked_host import AskedHost

PORTS = 600
LEVELS = 1200
PROBES = {
    "tcp": "s = socket.socket(); s.connect_ex(('127.0.0.1', port)); s.close()",
    "tcp6": "s = socket.socket(socket.AF_INET6); s.connect_ex(('::1', port)); s.close()",
    "udp": "s = socket.socket(type=socket.SOCK_DGRAM); s.sendto(b'x', ('127.0.0.1', port))",
}


@pytest.mark.parametrize("kind", PROBES)
def test_a_guest_that_tries_every_port_makes_the_host_be_asked_once(
    kind: str, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    lines = asked_host._lines

    def noted(path: str) -> list[bytes]:
        read.append(path)
        return lines(path)

    monkeypatch.setattr(asked_host, "_lines", noted)
    code = f"""
import socket
for port in range(1, {PORTS}):
    try: {PROBES[kind]}
    except OSError: pass
"""
    sandbox.run([PYTHON, "-I", "-S", "-c", code])
    assert read
    assert len(read) == len(set(read))


def test_names_of_the_host_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    real = os.lstat

    def noted(path: str) -> os.stat_result:
        looked.append(path)
        return real(path)

    monkeypatch.setattr(os, "lstat", noted)
    host = AskedHost()
    assert not any(host.exists(f"/usr/bin/no-such-{n}/{'x/' * 1500}") for n in range(200))
    assert host.exists("/usr/bin/../bin")
    assert len(looked) <= 200 + 5


def test_what_there_is_no_time_to_look_up_is_reported_without_a_remedy() -> None:
    host = AskedHost(0.0)
    assert host.exists("/no/such/path")
    assert not AskedHost().exists("/no/such/path")


def test_a_long_chain_of_processes_is_named_by_its_nearest(sandbox: Sandbox) -> None:
    code = """
import os
for n in range(60):
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        os._exit(0)
    os.access('/root', 0)
    try: os.listdir('/var/lib/dpkg')
    except OSError: pass
"""
    result = sandbox.run([PYTHON, "-I", "-S", "-c", code])
    assert result.refusals
    assert max(len(one.process.parents) for one in result.refusals) <= refusals.MAX_PARENTS
    assert len(json.dumps(result.document())) < 1 << 20


def test_going_down_costs_the_supervisor_no_more_than_the_guest(sandbox: Sandbox) -> None:
    """In CPU time, so that a busy machine does not matter."""
    code = f"""
import os
for n in range({LEVELS}):
    os.mkdir('d')
    os.chdir('d')
print(n)
"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = sandbox.run([PYTHON, "-I", "-S", "-c", code])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert result.stdout == f"{LEVELS - 1}\n".encode(), result
    whole_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert whole_s - result.usage.cpu_s < 4 * result.usage.cpu_s + 0.3


def test_the_caller_is_not_held_by_a_supervisor_that_is_stopped() -> None:
    with Sandbox.create() as sandbox:
        process = sandbox.start(["sleep", "100"], timeout_s=1)
        time.sleep(0.3)
        os.kill(process.pid, signal.SIGSTOP)
        with pytest.raises(BackendError):
            process.wait(30)
