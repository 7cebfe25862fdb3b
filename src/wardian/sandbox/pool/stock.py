"""Things made ahead of time, each handed out once; what they are, the caller knows. Threads make
new ones and put away those that were used."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from wardian.errors import UsageError


class Closable(Protocol):
    """What can be put away."""

    def close(self) -> object:
        """It is not needed any more."""


T = TypeVar("T", bound=Closable)

GRACE_S = 0.002  # a short run has the processors to itself before the next one is made
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 10.0  # after one that could not be made
JOIN_S = 60.0


class Stock(Generic[T]):
    """Keeps ``ready`` of them. Safe to use from many threads, in the process that made it."""

    def __init__(
        self,
        make: Callable[[], T],
        is_good: Callable[[T], bool],
        ready: int,
    ) -> None:
        """``is_good`` says of one that waited whether it can still be used."""
        self._make, self._is_good = make, is_good
        self._wanted = ready
        self._waiting: deque[T] = deque()
        self._used: deque[Closable] = deque()
        self._making = 0
        self._lock = threading.RLock()
        self._missing = threading.Condition(self._lock)  # one more is to be made
        self._used_up = threading.Condition(self._lock)  # one is to be put away
        self._made = threading.Condition(self._lock)
        self._closed = False
        self._failure: Exception | None = None
        self._owner = os.getpid()
        self._threads: list[threading.Thread] = []

    # What a caller does with it

    def take(self) -> T:
        """One of them: one that waits, or else one that is made here and now. Raises what making
        it raises, and UsageError after ``close``."""
        self.check()
        while (one := self._next()) is not None:
            if self._is_good(one):
                return one
            self.return_used(one)
        return self._make()

    def _next(self) -> T | None:
        with self._lock:
            self._begin()
            if not self._waiting:
                return None
            one = self._waiting.popleft()
            self._missing.notify()
            return one

    def return_used(self, one: Closable) -> None:
        """It is put away, soon."""
        with self._lock:
            if not self._closed:
                self._used.append(one)
                self._used_up.notify()
                return
        one.close()

    def return_unused(self, one: T) -> None:
        """It waits again."""
        with self._lock:
            if not self._closed:
                self._waiting.appendleft(one)
                return
        one.close()

    def wait_ready(self, timeout_s: float | None = None) -> bool:
        """Wait until as many wait as are to be kept; False if that takes longer than ``timeout_s``.
        Raises what hinders it."""
        self.check()
        until = None if timeout_s is None else time.monotonic() + timeout_s
        with self._lock:
            self._begin()
            while len(self._waiting) < self._wanted:
                if self._failure is not None:
                    raise self._failure
                left = None if until is None else until - time.monotonic()
                if self._closed or (left is not None and left <= 0):
                    return False
                self._made.wait(left)
        return True

    @property
    def waiting(self) -> int:
        """How many wait now."""
        return len(self._waiting)

    def check(self) -> None:
        """Raises UsageError if nothing can be had of it any more, or not by this process."""
        if self._owner != os.getpid():
            raise UsageError(
                "this pool belongs to the process that made it", hint="make one in each process"
            )
        if self._closed:
            raise UsageError("this pool is closed")

    def stop(self) -> None:
        """Nothing more is made or handed out."""
        with self._lock:
            self._closed = True
            for waiting in (self._missing, self._used_up, self._made):
                waiting.notify_all()

    def close(self) -> None:
        """Put all of them away and wait for that. Safe to call twice, and from any thread."""
        self.stop()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(JOIN_S)
        while self._waiting:
            self._waiting.popleft().close()
        while self._used:
            self._used.popleft().close()

    # Its threads

    def begin(self) -> None:
        """Start to make what is to be ready."""
        with self._lock:
            self._begin()

    def _begin(self) -> None:
        if self._threads or self._closed:
            return
        makers = min(self._wanted, os.cpu_count() or 1)
        works = [self._keep_full] * makers + [self._clear_away]
        self._threads = [
            threading.Thread(target=work, name="wardian-pool", daemon=True) for work in works
        ]
        for thread in self._threads:
            thread.start()

    def _keep_full(self) -> None:
        pause_s = GRACE_S
        while self._has_to_make(pause_s):
            made, failure = None, None
            try:
                made = self._make()
            except Exception as error:  # a run that finds nothing ready raises it
                failure = error
            with self._lock:
                self._making -= 1
                self._failure = failure
                if made is not None and not self._closed:
                    self._waiting.append(made)
                    made = None
                self._made.notify_all()
            if made is not None:
                made.close()
            longer_s = min(max(FIRST_PAUSE_S, 2 * pause_s), LONGEST_PAUSE_S)
            pause_s = GRACE_S if failure is None else longer_s

    def _has_to_make(self, pause_s: float) -> bool:
        """Waits until one is missing, and a pause besides; False at the end."""
        with self._lock:
            while not self._closed and len(self._waiting) + self._making >= self._wanted:
                self._missing.wait()
            self._making += 1
            until = time.monotonic() + pause_s
            while not self._closed and (left_s := until - time.monotonic()) > 0:
                self._missing.wait(left_s)
            self._making -= self._closed
            return not self._closed

    def _clear_away(self) -> None:
        while True:
            with self._lock:
                while not (self._used or self._closed):
                    self._used_up.wait()
                if not self._used:
                    return
                one = self._used.popleft()
            one.close()
