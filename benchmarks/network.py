"""What a network by name costs: an allowed connection and one stream beside the same over the
host's network, and 500 connections at once. In namespaces of its own, nobody's network is used.

python -m benchmarks.network [--json]
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import threading

from tests.network.internet import lay_routes

ADDRESS, PORT, NAME = "93.184.216.34", 9000, "bench.example.com"
HOSTS = f"127.0.0.1 localhost\n{ADDRESS} {NAME}\n"
ROUNDS = 5
GUEST = r"""
import socket, statistics, sys, time
host, port = sys.argv[1], int(sys.argv[2])
address = socket.gethostbyname(host)
def connected():
    one = socket.create_connection((address, port))
    one.sendall(b"p")
    one.recv(1)
    return one
for _ in range(20):
    connected().close()
times = []
for _ in range(200):
    began = time.perf_counter()
    one = connected()
    times.append(time.perf_counter() - began)
    one.close()
one, size, got = socket.create_connection((address, port)), 1 << 30, 0
one.sendall(b"s")
began = time.perf_counter()
room = bytearray(1 << 20)
while got < size:
    n = one.recv_into(room)
    if n == 0:
        break
    got += n
seconds = time.perf_counter() - began
began = time.perf_counter()
many = [connected() for _ in range(500)]
crowd = time.perf_counter() - began
print(statistics.median(times) * 1000, got / seconds / 1e6, len(many), crowd)
"""


def serve() -> None:
    listener = socket.create_server((ADDRESS, PORT), backlog=1024)
    while True:
        one, _ = listener.accept()
        threading.Thread(target=_answer, args=(one,), daemon=True).start()


def _answer(one: socket.socket) -> None:
    """One byte for a byte, or a gigabyte."""
    try:
        while wanted := one.recv(1):
            if wanted == b"s":
                block = bytes(1 << 20)
                for _ in range(1 << 10):
                    one.sendall(block)
            else:
                one.sendall(wanted)
    except OSError:
        pass


def measured(net: str) -> list[float]:
    words = [sys.executable, "-P", "-m", "wardian", "exec", "-q", "--files", "1024", "--net", net]
    guest = ["/usr/bin/python3", "-c", GUEST, ADDRESS if net == "host" else NAME, str(PORT)]
    done = subprocess.run([*words, "--", *guest], capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def inside() -> dict[str, float]:
    """In the namespaces."""
    lay_routes()
    path = f"/tmp/wardian-bench-hosts-{os.getpid()}"
    with open(path, "w", encoding="ascii") as file:
        file.write(HOSTS)
    subprocess.run(["mount", "--bind", path, "/etc/hosts"], check=True)
    os.unlink(path)
    pid = os.fork()
    if pid == 0:
        serve()
    try:
        rounds = [(measured("host"), measured(f"{NAME}:{PORT}")) for _ in range(ROUNDS)]
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    direct, named = (
        [statistics.median(column) for column in zip(*side, strict=True)]
        for side in zip(*rounds, strict=True)
    )
    return {
        "connect_direct_ms": direct[0],
        "connect_named_ms": named[0],
        "stream_direct_mb_s": direct[1],
        "stream_named_mb_s": named[1],
        "crowd": named[2],
        "crowd_direct_s": direct[3],
        "crowd_named_s": named[3],
    }


def main() -> None:
    if "--inside" in sys.argv:
        print(json.dumps(inside()))
        return
    own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    command = ["unshare", *own, "--net", "--mount", sys.executable, "-m", "benchmarks.network"]
    done = subprocess.run([*command, "--inside"], stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    if "--json" in sys.argv:
        print(done.stdout, end="")
        return
    for name, value in found.items():
        print(f"{name:<22}{value:>12.2f}")


if __name__ == "__main__":
    main()
