"""The report on loopback: redrawn when the store changes; open pages update themselves."""

from __future__ import annotations

import threading
import time
import urllib.parse
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from wardian.errors import UsageError, WardianError
from wardian.measure.pages import site
from wardian.measure.pages.facts import Facts, read
from wardian.measure.store.store import Store

LOOPBACK = "127.0.0.1"
NAMES = ("localhost", LOOPBACK)
LOOK_S = 0.5  # how often the store is looked at
HEARTBEAT_S = 15.0
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "connect-src 'self'; frame-ancestors 'none'"
)


class Drawn:
    """The pages of the current facts; both are read again when the store has changed."""

    def __init__(self, store: Store, name: str, against: str | None) -> None:
        self._store, self._name, self._against = store, name, against
        self._lock = threading.Lock()
        self._version = -1
        self._facts: Facts | None = None
        self._pages: dict[str, bytes] = {}

    def version(self) -> int:
        """A number that changes with every write to the store."""
        return self._store.version()

    def page(self, name: str) -> bytes:
        """The current page. Raises WardianError."""
        with self._lock:
            version = self.version()
            if version != self._version or self._facts is None:
                self._facts = read(self._store, self._name, self._against)
                self._pages, self._version = {}, version
            if name not in self._pages:
                self._pages[name] = site.draw(self._facts, name, live=True).encode()
            return self._pages[name]


class Server(ThreadingHTTPServer):
    """Listens on loopback, and refuses requests with another Host: so another site can't read it
    by DNS rebinding."""

    daemon_threads = True

    def __init__(self, drawn: Drawn, port: int) -> None:
        self.drawn = drawn
        self.closing = threading.Event()
        try:
            super().__init__((LOOPBACK, port), Handler)
        except OSError as error:
            raise UsageError(
                f"port {port} can't be used: {error.strerror}", hint="another one: --port 0"
            ) from None

    @property
    def address(self) -> str:
        """The address to open in a browser."""
        return f"http://{LOOPBACK}:{self.server_port}/"

    def close(self) -> None:
        """Also ends the streams of changes."""
        self.closing.set()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    """Serves pages by name, and a stream of events when the store changes."""

    server: Server
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        """A page, or the stream."""
        host = (self.headers.get("Host") or "").rsplit(":", 1)[0]
        if host not in NAMES:
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, "served on loopback only")
            return
        path = urllib.parse.urlsplit(self.path).path
        if path == "/events":
            self._events()
            return
        name = path.removeprefix("/").removesuffix(".html") or "index"
        if name not in site.PAGES:
            self.send_error(HTTPStatus.NOT_FOUND, "there is no such page")
            return
        try:
            data = self.server.drawn.page(name)
        except WardianError as error:
            self.send_error(HTTPStatus.SERVICE_UNAVAILABLE, str(error)[:200])
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(data)

    def _events(self) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        seen, sent = self.server.drawn.version(), time.monotonic()
        self._send("event: hello\ndata: \n\n")
        while not self.server.closing.wait(LOOK_S):
            version = self.server.drawn.version()
            if version != seen:
                seen, sent = version, time.monotonic()
                self._send(f"event: change\ndata: {version}\n\n")
            elif time.monotonic() - sent > HEARTBEAT_S:
                sent = time.monotonic()
                self._send(": still here\n\n")

    def _send(self, text: str) -> None:
        try:
            self.wfile.write(text.encode())
            self.wfile.flush()
        except OSError:
            raise ConnectionAbortedError from None

    def handle(self) -> None:
        """A client that went away is no error."""
        try:
            super().handle()
        except (ConnectionError, TimeoutError):
            pass

    def log_message(self, format: str, *args: object) -> None:
        """No log of requests on the terminal."""


def serve(
    store: Store,
    name: str,
    against: str | None,
    port: int,
    on_start: Callable[[str], None],
) -> None:
    """Serve until interrupted. Raises UsageError if the port is taken."""
    drawn = Drawn(store, name, against)
    drawn.page("index")  # errors of the store appear now, not in the browser
    server = Server(drawn, port)
    try:
        on_start(server.address)
        server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        pass
    finally:
        server.close()
