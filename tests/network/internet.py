"""A small internet of its own: run in new network and mount namespaces, it has every address, a
resolver with the zone below, and servers on all of them that log whoever comes. Runs commands for
the tests, one line of JSON for each.

``unshare [--user --map-root-user] --net --mount python3 internet.py DIRECTORY``
"""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

PUBLIC, OTHER, PRIVATE, SIX = "93.184.216.34", "93.184.216.35", "10.9.8.7", "2600:1::1"
ZONE: dict[str, tuple[str, ...]] = {
    "api.example.com": (PUBLIC,),
    "other.example.org": (OTHER,),
    "third.example.org": (OTHER,),
    "intern.example.com": (PRIVATE,),
    "loop.example.com": ("127.0.0.1",),
    "zero.example.com": ("0.0.0.0",),
    "metadata.example.com": ("169.254.169.254",),
    "carrier.example.com": ("100.64.1.1",),
    "multicast.example.com": ("224.0.0.1",),
    "loop6.example.com": ("::1",),
    "mapped.example.com": ("::ffff:10.9.8.7",),
    "translated.example.com": ("64:ff9b::a09:807",),
    "sixtofour.example.com": ("2002:a09:807::1",),
    "local6.example.com": ("fd00::1",),
    "link6.example.com": ("fe80::1",),
    "six.example.com": (SIX,),
    "both.example.com": (SIX, PUBLIC),
    "mixed.example.com": (PRIVATE, PUBLIC),
    "dead.example.com": ("93.184.216.99", PUBLIC),
    "chain.example.com": ("=link.example.net",),
    "link.example.net": ("=intern.example.com",),
    "alias.example.com": ("=other.example.org",),
    "xn--bcher-kva.example.com": (PUBLIC,),
    "a.wild.example.com": (PUBLIC,),
    "a.b.wild.example.com": (OTHER,),
    "wild.example.com": (OTHER,),
    "proxy.example.com": (PUBLIC,),
}
REBINDING = "rebind.example.com"  # the first answer is public, all others are not
REACHED = "REACHED"  # what every server answers with, and nobody else
WEB, TLS, TEXT = (80, 3128, 8080), (443, 8443), (22, 25, 853, 5432, 6379, 9999)
DATAGRAMS = (53, 123, 443, 9999)

seen: list[list[Any]] = []
servers: list[subprocess.Popen[bytes]] = []
answers = itertools.count()


# The network


def lay_routes() -> None:
    """All addresses are this host's own, loopback is up."""
    with socket.socket() as any_socket:
        request = struct.pack("16sh22x", b"lo", 0x1 | 0x40)  # up, running
        fcntl.ioctl(any_socket, 0x8914, request)  # SIOCSIFFLAGS
    netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)

    def attribute(kind: int, data: bytes) -> bytes:
        return struct.pack("=HH", 4 + len(data), kind) + data

    ranges = [(socket.AF_INET, "0.0.0.0", 1), (socket.AF_INET, "128.0.0.0", 1)]
    for one, bits in (("2600:1::", 32), ("fd00::", 8), ("64:ff9b::", 96), ("2002::", 16)):
        ranges.append((socket.AF_INET6, one, bits))
    for family, address, bits in ranges:
        body = struct.pack("=BBBBBBBBI", family, bits, 0, 0, 255, 3, 254, 2, 0)
        body += attribute(1, socket.inet_pton(family, address)) + attribute(4, struct.pack("=i", 1))
        netlink.send(struct.pack("=IHHII", 16 + len(body), 24, 0x605, 1, 0) + body)
        code = struct.unpack_from("=i", netlink.recv(4096), 16)[0]
        if code and family == socket.AF_INET:
            sys.exit(f"no route: {os.strerror(-code)}")


def mount_over(path: str, text: str, directory: Path) -> None:
    made = directory / path.rsplit("/", 1)[1]
    made.write_text(text)
    subprocess.run(["mount", "--bind", made, os.path.realpath(path)], check=True)


# DNS


def resolve(packet: bytes, port: str) -> bytes:
    at, labels = 12, []
    while packet[at]:
        labels.append(packet[at + 1 : at + 1 + packet[at]].decode("latin-1").lower())
        at += 1 + packet[at]
    name, question = ".".join(labels), packet[12 : at + 5]
    kind = int.from_bytes(packet[at + 1 : at + 3], "big")
    seen.append(["dns", port, name, kind])
    records = b""
    count = 0
    found = ZONE.get(name)
    if name == REBINDING and kind == 1:
        found = (PUBLIC,) if next(answers) == 0 else ("127.0.0.1",)
    for value in found or ():
        if value.startswith("="):
            target = b"".join(bytes([len(x)]) + x.encode() for x in value[1:].split(".")) + b"\0"
            owner = question[:-4]
            records += owner + struct.pack(">HHIH", 5, 1, 0, len(target)) + target
            count += 1
            owner, more = target, ZONE[value[1:]]
            if more[0].startswith("="):
                deeper = more[0][1:].split(".")
                target = b"".join(bytes([len(x)]) + x.encode() for x in deeper) + b"\0"
                records += owner + struct.pack(">HHIH", 5, 1, 0, len(target)) + target
                count += 1
                owner, more = target, ZONE[".".join(deeper)]
            if kind == 1:
                raw = socket.inet_aton(more[0])
                records += owner + struct.pack(">HHIH", 1, 1, 0, 4) + raw
                count += 1
            continue
        family = socket.AF_INET6 if ":" in value else socket.AF_INET
        if kind == (28 if ":" in value else 1):
            raw = socket.inet_pton(family, value)
            records += b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(raw)) + raw
            count += 1
    code = 0 if found or name == REBINDING else 3
    head = packet[:2] + struct.pack(">HHHHH", 0x8180 | code, 1, count, 0, 0)
    return head + question + records


def serve_datagrams(port: int) -> None:
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.setsockopt(socket.IPPROTO_IP, 8, 1)  # IP_PKTINFO: answer from where it came to
    one.bind(("0.0.0.0", port))
    while True:
        data, control, _, who = one.recvmsg(4096, 256)
        to = socket.inet_ntoa(control[0][2][8:12]) if control else ""
        try:
            if port == 53 and to == "127.0.0.1":
                one.sendmsg([resolve(data, "udp")], control, 0, who)
            else:
                seen.append(["udp", to, port, data[:64].decode("latin-1")])
                one.sendmsg([REACHED.encode()], control, 0, who)
        except (OSError, IndexError):
            pass  # no question, or nobody who could be answered


# Connections


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """On every address, of both kinds."""

    address_family = socket.AF_INET6
    allow_reuse_address = daemon_threads = True
    request_queue_size = 512

    def server_bind(self) -> None:
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()

    def handle_error(self, request: object, client_address: object) -> None:
        """Somebody went away."""


class Web(BaseHTTPRequestHandler):
    """Says who was asked; files below ``/files``, ``/big/N`` bytes, ``/slow/N`` seconds,
    ``/stream/N`` chunks, and below ``/echo`` what the request was."""

    protocol_version = "HTTP/1.1"
    directory: Path
    context: ssl.SSLContext | None = None

    def setup(self) -> None:
        self.sni = None
        if self.context is not None:
            self.request = self.context.wrap_socket(self.request, server_side=True)
            self.sni = getattr(self.request, "named", None)
        super().setup()

    def where(self) -> str:
        found: str = self.connection.getsockname()[0]
        return found.removeprefix("::ffff:")

    def do_GET(self) -> None:
        port = self.connection.getsockname()[1]
        host = self.headers.get("Host")
        seen.append(["web", self.where(), port, host, self.path, self.command])
        parts = self.path.split("?")[0].strip("/").split("/")
        body = f"{REACHED} {self.where()} {self.headers.get('Host')}\n".encode()
        if "Authorization" in self.headers:
            seen.append(["secret", self.headers.get_all("Authorization"), self.path])
        if parts[0] == "stream":
            self.stream(int(parts[1]))
            return
        if parts[0] == "echo":
            head = {"method": self.command, "path": self.path, "body": self.came}
            body = json.dumps(head | {"headers": self.headers.items()}).encode()
        elif parts[0] == "big":
            body = bytes(int(parts[1]))
        elif parts[0] == "slow":
            time.sleep(float(parts[1]))
        elif parts[0] == "files":
            path = self.directory.joinpath(*parts)
            path = path / "index.html" if path.is_dir() else path
            if not path.exists():
                self.send_error(404)
                return
            body = path.read_bytes()
        self.send_response(200)
        html = parts[-1] == "" or "." not in parts[-1] or self.path.endswith("/")
        self.send_header("Content-Type", "text/html" if html else "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.do_GET()

    came = 0

    def do_POST(self) -> None:
        if self.path.startswith("/early"):  # without reading
            self.send_error(413)
            self.close_connection = True
            time.sleep(0.5)  # a reset, which comes of bytes that nobody read, may lose the answer
            return
        self.came = 0
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            while size := int(self.rfile.readline(), 16):
                self.came += len(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
        left = int(self.headers.get("Content-Length", 0))
        while left and (piece := self.rfile.read(min(left, 1 << 16))):
            left -= len(piece)
            self.came += len(piece)
        self.do_GET()

    do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_POST  # noqa: N815

    def stream(self, count: int) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for i in range(count):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(b"piece %d\n" % i), b"piece %d\n" % i))
            self.wfile.flush()
            time.sleep(0.05)
        self.wfile.write(b"0\r\n\r\n")

    def do_CONNECT(self) -> None:
        """A proxy, as far as anyone gets."""
        seen.append(["tunnel", self.where(), self.path])
        host, _, port = self.path.rpartition(":")
        self.send_response(200)
        self.end_headers()
        self.wfile.flush()
        with socket.create_connection((host, int(port))) as out:
            threading.Thread(target=pump, args=(out, self.connection), daemon=True).start()
            pump(self.connection, out)

    def log_message(self, *_: object) -> None:
        """Not needed."""


def pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Text(socketserver.StreamRequestHandler):
    """Greets, and repeats what comes."""

    def handle(self) -> None:
        where, port = self.connection.getsockname()[:2]
        seen.append(["text", where.removeprefix("::ffff:"), port])
        greeting = "SSH-2.0-" if port == 22 else "220 "
        self.wfile.write(f"{greeting}{REACHED}\r\n".encode())
        while data := self.connection.recv(65536):
            self.wfile.write(data)


class Names(socketserver.StreamRequestHandler):
    """DNS over TCP."""

    def handle(self) -> None:
        size = int.from_bytes(self.rfile.read(2), "big")
        reply = resolve(self.rfile.read(size), "tcp")
        self.wfile.write(len(reply).to_bytes(2, "big") + reply)


def serve(port: int, handler: type[socketserver.BaseRequestHandler]) -> None:
    server = Server(("::", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def tls(directory: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "cert.pem", directory / "key.pem")
    context.sni_callback = lambda _, name, __: seen.append(["sni", name])
    return context


# Commands


def run(request: dict[str, Any]) -> dict[str, Any]:
    env = {**os.environ, **request.get("env", {})}
    started = time.monotonic()
    try:
        done = subprocess.run(
            request["argv"],
            env=env,
            cwd=request["cwd"],
            input=request.get("input", ""),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=request["timeout_s"],
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return {"code": -1, "stdout": "", "stderr": f"timeout: {error}", "seconds": 0}
    seconds = time.monotonic() - started
    return {
        "code": done.returncode,
        "stdout": done.stdout,
        "stderr": done.stderr,
        "seconds": seconds,
    }


def start(request: dict[str, Any], directory: Path) -> str:
    """A server of its own program, which ends with us; returns what went wrong, or nothing."""
    with open(directory / "server.log", "ab") as log:
        process = subprocess.Popen(
            request["server"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
        )
    servers.append(process)
    ends = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < ends:
        try:
            socket.create_connection(("127.0.0.1", request["port"]), 1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return ""
    return (directory / "server.log").read_text(errors="replace")[-2000:] or "it does not answer"


def main(directory: Path) -> None:
    lay_routes()
    mount_over("/etc/resolv.conf", "nameserver 127.0.0.1\noptions attempts:1\n", directory)
    mount_over("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n", directory)
    Web.directory = directory
    secure = type("SecureWeb", (Web,), {"context": tls(directory)})
    for port in WEB:
        serve(port, Web)
    for port in TLS:
        serve(port, secure)
    for port in TEXT:
        serve(port, Text)
    serve(53, Names)
    for port in DATAGRAMS:
        threading.Thread(target=serve_datagrams, args=(port,), daemon=True).start()
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "argv" in request:
            answer: dict[str, Any] = run(request)
        elif "server" in request:
            answer = {"problem": start(request, directory)}
        else:
            answer = {}
        answer["seen"] = seen[:]
        seen.clear()
        print(json.dumps(answer), flush=True)
    for process in servers:
        process.terminate()
    for process in servers:
        process.wait(20)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
