"""A loop over sockets: each with whom to call when something can be done with it. One thread runs
it, any may add to what it does next."""

from __future__ import annotations

import select
import socket
import threading
from collections import deque
from collections.abc import Callable

Handler = Callable[[], None]


class Loop:
    """``turn`` until it is not needed any more, then ``close``."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._handlers: dict[int, Handler] = {}
        self._masks: dict[int, int] = {}
        self._later: deque[Handler] = deque()
        self._lock, self._closed = threading.Lock(), False
        self._wake, self._waker = socket.socketpair()
        for end in (self._wake, self._waker):
            end.setblocking(False)
        self.attend(self._wake, self._on_wake)

    def call_later(self, job: Handler) -> bool:
        """In the loop's own thread; from any. False: it is over, and nothing is called."""
        with self._lock:
            if self._closed:
                return False
            self._later.append(job)
            try:
                self._waker.send(b".")
            except BlockingIOError:
                pass  # it has been woken often enough
            return True

    def attend(self, one: socket.socket, handler: Handler, mask: int = select.EPOLLIN) -> None:
        """Call ``handler`` whenever ``mask`` holds; 0: not any more."""
        fd = one.fileno()
        before = self._masks.get(fd, 0)
        if mask == before:
            return
        if mask == 0:
            self.forget(one)
            return
        self._handlers[fd], self._masks[fd] = handler, mask
        if before:
            self._epoll.modify(fd, mask)
        else:
            self._epoll.register(fd, mask)

    def forget(self, one: socket.socket) -> None:
        """Before it is closed."""
        fd = one.fileno()
        if self._masks.pop(fd, 0):
            del self._handlers[fd]
            self._epoll.unregister(fd)

    def turn(self, wait_s: float) -> None:
        """Serve those that wait, or wait for one."""
        for fd, _ in self._epoll.poll(wait_s):
            handler = self._handlers.get(fd)
            if handler is not None:
                handler()

    def _on_wake(self) -> None:
        try:
            self._wake.recv(1 << 16)
        except BlockingIOError:
            pass
        while self._later:
            self._later.popleft()()

    def close(self) -> None:
        """After what was still to be called. What it attended to stays open."""
        with self._lock:
            self._closed = True
        while self._later:
            self._later.popleft()()
        self._epoll.close()
        self._wake.close()
        self._waker.close()
