"""From an allowed name to a connection: resolved out here, each address checked, and exactly the
one that was checked dialled. Blocks; the gateway has threads for it."""

from __future__ import annotations

import errno
import os
import queue
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from wardian.sandbox.network.addresses import Address, parsed
from wardian.sandbox.network.rules import NetworkRules

CONNECT_S = 20.0
STAGGER_S = 0.25  # before the next address is tried beside the last
MOST_ADDRESSES = 8
MOST_THREADS = 32


Waiting = dict[int, tuple[socket.socket, Address]]


class NotDialledError(Exception):
    """Why there is no connection. ``forbidden`` if a rule could change that."""

    def __init__(
        self, why: str, address: Address | None = None, *, forbidden: bool = False
    ) -> None:
        super().__init__(why)
        self.why, self.address, self.forbidden = why, address, forbidden


class Dialled(NamedTuple):
    """A connected socket, not blocking, and whom it reaches; no address where a proxy dials."""

    socket: socket.socket
    address: Address | None


# Whose proxies are used, if not those of this process's environment.
PROXIES: ContextVar[Mapping[str, str] | None] = ContextVar("wardian-proxies", default=None)


def upstream() -> Mapping[str, str]:
    """The variables that name proxies, for a gateway that is made now."""
    given = PROXIES.get()
    return os.environ if given is None else given


def dial_name(name: str, port: int, rules: NetworkRules, environment: Mapping[str, str]) -> Dialled:
    """Raises NotDialledError."""
    proxy = proxy_for(name, port, environment)
    if proxy is not None:
        return _through(proxy, name, port)
    try:
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotDialledError(f"the name can't be resolved: {_words(error)}") from None
    addresses = list(dict.fromkeys(parsed(str(one[4][0])) for one in found))[:MOST_ADDRESSES]
    refused = {a: why for a in addresses if (why := rules.why_not_dialled(a, port)) is not None}
    open_ones = [a for a in addresses if a not in refused]
    if not open_ones:
        address, why = next(iter(refused.items()), (None, "it has no address"))
        raise NotDialledError(why, address, forbidden=address is not None)
    return _first_of(open_ones, port)


def dial_address(address: Address, port: int) -> Dialled:
    """By number; whoever calls has asked the rules. Raises NotDialledError."""
    return _first_of([address], port)


def _first_of(addresses: list[Address], port: int) -> Dialled:
    """The first that answers, each tried a moment after the one before (RFC 8305, in short)."""
    waiting: Waiting = {}
    poll, last = select.poll(), "no answer"
    left, started_s = list(addresses), time.monotonic()
    try:
        while left or waiting:
            if left:
                last = _begin(left.pop(0), port, waiting, poll) or last
            spent = time.monotonic() - started_s
            if spent > CONNECT_S:
                break
            wait_s = STAGGER_S if left and waiting else CONNECT_S - spent if waiting else 0.0
            for fd, _ in poll.poll(wait_s * 1000):
                made, address = waiting.pop(fd)
                poll.unregister(fd)
                code = made.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if code == 0:
                    return Dialled(made, address)
                made.close()
                last = os.strerror(code).lower()
    finally:
        for other, _ in waiting.values():
            other.close()
    raise NotDialledError(last, addresses[0])


def _begin(address: Address, port: int, waiting: Waiting, poll: select.poll) -> str | None:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        made = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    except OSError as error:
        return _words(error)
    code = made.connect_ex((str(address), port))
    if code not in (0, errno.EINPROGRESS):
        made.close()
        return os.strerror(code).lower()
    poll.register(made, select.POLLOUT)
    waiting[made.fileno()] = (made, address)
    return None


# The host's own proxy


class Proxy(NamedTuple):
    """As the caller's variables name it."""

    host: str
    port: int
    headers: dict[str, str]


_PROXIES = {80: ("http_proxy",), 443: ("https_proxy", "HTTPS_PROXY")}


def proxy_for(name: str, port: int, values: Mapping[str, str]) -> Proxy | None:
    """The proxy that this host is to use for a name, if it is to use one; http only. HTTP_PROXY in
    capitals is not read, for a web server sets it to what a client sends. Pure."""
    keys = (*_PROXIES.get(port, ()), "all_proxy", "ALL_PROXY")
    url = next((values[key] for key in keys if values.get(key)), "")
    if not url or _exempt(name, values.get("no_proxy") or values.get("NO_PROXY") or ""):
        return None
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme != "http" or not parts.hostname:
        return None
    headers = {}
    if parts.username is not None:
        import base64

        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Proxy-Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    return Proxy(parts.hostname, parts.port or 80, headers)


def _exempt(name: str, listed: str) -> bool:
    for entry in (one.strip().lower().removeprefix("*").lstrip(".") for one in listed.split(",")):
        if entry and (name == entry or name.endswith("." + entry)):
            return True
    return listed.strip() == "*"


def _through(proxy: Proxy, name: str, port: int) -> Dialled:
    import http.client

    connection = http.client.HTTPConnection(proxy.host, proxy.port, timeout=CONNECT_S)
    connection.set_tunnel(name, port, proxy.headers)
    try:
        connection.connect()
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        raise NotDialledError(f"this host's proxy: {_words(error)}") from None
    made = connection.sock
    made.setblocking(False)
    return Dialled(made, None)


def _words(error: BaseException) -> str:
    return str(getattr(error, "strerror", None) or error).lower()


class Dialers:
    """A few threads that dial, made as they are needed; none keeps the process alive."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._threads = self._idle = 0
        self._lock = threading.Lock()

    def submit(self, job: Callable[[], None]) -> None:
        """``job`` reports by itself, and raises nothing."""
        with self._lock:
            more = self._idle == 0 and self._threads < MOST_THREADS
            if more:
                self._threads += 1
            else:
                self._idle -= self._idle > 0
        self._jobs.put(job)
        if more:
            threading.Thread(target=self._work, name="wardian-dial", daemon=True).start()

    def close(self) -> None:
        """They end after what they are at."""
        for _ in range(self._threads):
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            with self._lock:
                self._idle += 1
