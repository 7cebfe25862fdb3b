"""Ports of a place: connected to, forwarded, and out of reach of everybody else."""

from __future__ import annotations

import socket
import threading
import time
import urllib.request

import pytest

from wardian import Sandbox
from wardian.errors import PortClosed, SandboxError, UsageError

from .conftest import children, descriptors, launcher_of, python

SERVER = (
    "import socket, threading\n"
    "s = socket.create_server(({host!r}, {port}), backlog=128, family={family})\n"
    "print('up', flush=True)\n"
    "def serve(c):\n"
    "    got = b''\n"
    "    while data := c.recv(65536): got += data\n"
    "    c.sendall(got[::-1]); c.close()\n"
    "while True: threading.Thread(target=serve, args=(s.accept()[0],)).start()\n"
)


def serve(place: Sandbox, port: int = 4000, host: str = "127.0.0.1", family: int = 2) -> None:
    process = place.start(
        python(SERVER.format(host=host, port=port, family=family)), background=True
    )
    assert next(iter(process.stdout)) == b"up\n"


def asked(one: socket.socket, data: bytes) -> bytes:
    """What a server that answers at the end of its input says."""
    with one:
        one.settimeout(30)
        one.sendall(data)
        one.shutdown(socket.SHUT_WR)
        got = b""
        while piece := one.recv(1 << 16):
            got += piece
    return got


@pytest.mark.parametrize(("host", "family"), [("127.0.0.1", 2), ("0.0.0.0", 2), ("::1", 10)])
def test_a_connection_to_a_port_inside(place: Sandbox, host: str, family: int) -> None:
    serve(place, 4000, host, family)
    assert asked(place.connect(4000), b"abc") == b"cba"


def test_nothing_listens_there(place: Sandbox) -> None:
    with pytest.raises(PortClosed) as failed:
        place.connect(4001)
    assert isinstance(failed.value, ConnectionRefusedError)
    assert "4001" in str(failed.value)
    for wrong in (0, -1, 1 << 16, True, "80"):
        with pytest.raises(UsageError):
            place.connect(wrong)  # type: ignore[arg-type]


def test_waiting_until_it_listens(place: Sandbox) -> None:
    late = "import time; time.sleep(0.5)\n" + SERVER.format(host="127.0.0.1", port=4002, family=2)
    place.start(python(late), background=True)
    assert asked(place.connect(4002, wait_s=30), b"12") == b"21"


def test_ports_are_those_of_the_command_and_what_it_started(place: Sandbox) -> None:
    listen = (
        "import os, socket, time\n"
        "a = socket.create_server(('127.0.0.1', {0}))\n"
        "if os.fork() == 0:\n    os.setsid(); b = socket.create_server(('127.0.0.1', {1}))\n"
        "    print('up', flush=True)\ntime.sleep(60)"
    )
    one = place.start(python(listen.format(4100, 4101)))
    two = place.start(python(listen.format(4200, 4201)))
    for process in (one, two):
        assert next(iter(process.stdout)) == b"up\n"
    assert one.ports() == (4100, 4101)
    assert two.ports() == (4200, 4201)
    one.kill()
    one.wait(30)
    assert one.ports() == ()


def test_ports_asked_from_many_threads_at_once(place: Sandbox) -> None:
    serve(place, 4300)
    process = place.start(
        python(
            "import socket, time\ns = socket.create_server(('', 4301))\nprint(1, flush=True)\ntime.sleep(60)"
        )
    )
    next(iter(process.stdout))
    seen: list[tuple[int, ...]] = []
    threads = [threading.Thread(target=lambda: seen.append(process.ports())) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert seen == [(4301,)] * 12


def test_a_port_inside_is_out_of_reach_unless_asked_for(place: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    serve(place, port, "0.0.0.0")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)
    with Sandbox.create() as other:
        with pytest.raises(PortClosed):
            other.connect(port)
        forward = place.forward(port)
        connect = f"import socket; socket.create_connection(('127.0.0.1', {forward.host_port}), 5)"
        assert other.run(python(connect)).exit_code != 0


def test_a_forward_listens_on_loopback_only_and_ends_with_the_sandbox(place: Sandbox) -> None:
    serve(place)
    forward = place.forward(4000)
    assert asked(socket.create_connection(forward.address, 30), b"abc") == b"cba"
    with open("/proc/net/tcp") as table:
        bound = [line.split()[1] for line in table if line.split()[3] == "0A"]
    assert f"0100007F:{forward.host_port:04X}" in bound
    assert f"00000000:{forward.host_port:04X}" not in bound
    held = socket.create_connection(forward.address, 30)
    place.close()
    with held:
        held.settimeout(30)
        try:
            assert held.recv(1) == b""
        except ConnectionResetError:
            pass
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(forward.address, timeout=5)


def test_a_forward_carries_many_connections_and_megabytes(place: Sandbox) -> None:
    serve(place)
    with place.forward(4000) as forward:
        data = bytes(range(256)) * 4096
        got: list[bytes] = []

        def ask() -> None:
            got.append(asked(socket.create_connection(forward.address, 30), data))

        threads = [threading.Thread(target=ask) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert got == [data[::-1]] * 40


def test_a_forward_to_nobody_ends_each_connection_and_goes_on(place: Sandbox) -> None:
    forward = place.forward(4009)
    for _ in range(3):
        with socket.create_connection(forward.address, 30) as one:
            one.settimeout(30)
            try:
                assert one.recv(1) == b""
            except ConnectionResetError:
                pass
    serve(place, 4009)
    assert asked(socket.create_connection(forward.address, 30), b"ab") == b"ba"


def test_a_host_port_that_is_taken_is_an_error_with_a_cure(place: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SandboxError) as failed:
        place.forward(80, host_port=taken.getsockname()[1])
    assert "host_port" in str(failed.value.hint)


def test_a_web_server_as_a_person_uses_it(place: Sandbox) -> None:
    place.run(["sh", "-c", "echo hello > /work/index.html"])
    place.start(["/usr/bin/python3", "-m", "http.server", "8000"], background=True, cwd="/work")
    place.connect(8000, wait_s=30).close()
    with place.forward(8000) as forward:
        assert urllib.request.urlopen(forward.url, timeout=30).read() == b"hello\n"


def test_connections_leave_no_descriptor_behind(place: Sandbox) -> None:
    serve(place)
    supervisor = launcher_of(place)
    everyone = ["self", supervisor, *children(supervisor)[:1]]
    place.connect(4000).close()
    time.sleep(0.1)
    before = [descriptors(pid) for pid in everyone]
    for _ in range(200):
        place.connect(4000).close()
        with pytest.raises(PortClosed):
            place.connect(4999)
    assert [descriptors(pid) for pid in everyone] == before


def test_an_answer_that_nobody_took_is_not_taken_for_the_next(place: Sandbox) -> None:
    """As after an interrupt in the middle."""
    serve(place)
    inside = place._in_place("this test")
    from wardian.sandbox.run import place as module

    inside._ask(module._request(b"d", path=b"/tmp"), [])
    inside._owed += 1
    assert asked(place.connect(4000), b"abc") == b"cba"
