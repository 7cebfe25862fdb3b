"""Questions about what no rule allows: asked of the caller while the guest waits, each once, a few
at a time, and never for longer than ``ANSWER_S``. Whatever goes wrong on the way is a no."""

from __future__ import annotations

import enum
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from wardian.errors import UsageError
from wardian.sandbox.run.result import Caller
from wardian.text import cut, printable

if TYPE_CHECKING:
    import asyncio

ANSWER_S = 100.0  # resolvers in the guest give up after 120 (root.OUR_RESOLVER)
JUST_S = 0.25
MOST_OPEN = 8
MOST_IN_A_MINUTE = 60
MOST_WAITING = 64  # for the answer to one question
MOST_DENIED = 10_000  # remembered
LONGEST_ERROR = 200


class Answer(enum.Enum):
    """What ``on_connect`` returns. ``ALLOW``: this connection, or for a name the connections of the
    next half minute. ``ALLOW_RUN``: until the sandbox is closed or the rule withdrawn."""

    ALLOW = "allow"
    ALLOW_RUN = "allow for this run"
    DENY = "deny"


class ConnectRequest(NamedTuple):
    """What the guest waits for. A ``name`` that it looks up has no ``port`` yet; an ``address`` is
    asked about where it stands for itself, or where a name leads to it and may not. ``rule`` is
    what an answer other than deny brings into force, ``process`` who asks (None: it is gone)."""

    name: str | None
    port: int | None
    address: str | None
    reason: str
    rule: str
    process: Caller | None

    @property
    def subject(self) -> tuple[str | None, str | None, str]:
        """What makes it the same question as another: whom it is about, and what it would allow."""
        return self.name, self.address, self.rule

    def __str__(self) -> str:
        number = f"[{self.address}]" if ":" in (self.address or "") else self.address or ""
        host = f"{self.name} ({number})" if self.name and number else self.name or number
        return host if self.port is None else f"{host}:{self.port}"


class AskedConnection(NamedTuple):
    """A question, and what came of it. ``error`` says why there was no answer."""

    request: ConnectRequest
    answer: Answer
    error: str
    seconds: float  # until the answer

    def document(self) -> dict[str, Any]:
        """As JSON (docs/reference/result.md)."""
        process = self.request.process
        return self.request._asdict() | {
            "process": process.document() if process is not None else None,
            "answer": self.answer.value,
            "error": self.error,
            "seconds": self.seconds,
        }


Subject = tuple[str | None, str | None, str]
OnConnect = Callable[[ConnectRequest], "Answer | Awaitable[Answer]"]
# Gets the answer, and whether it is that of a question that was put; called from any thread.
Then = Callable[[AskedConnection, bool], None]


class _OpenQuestion:
    def __init__(self, make: Callable[[], ConnectRequest], unknown: ConnectRequest) -> None:
        self.make, self.request = make, unknown  # until it is known who asks
        self.waiting: list[Then] = []
        self.began_s, self.answered = time.monotonic(), False


class Asking:
    """The questions of one sandbox. ``decide`` brings into force what was allowed."""

    def __init__(
        self, on_connect: OnConnect, decide: Callable[[ConnectRequest, Answer], None]
    ) -> None:
        self._on_connect, self._decide = on_connect, decide
        self._lock = threading.Lock()
        self._open: dict[Subject, _OpenQuestion] = {}
        self._busy = 0  # callbacks that have not returned, those nobody waits for included
        self._asked: deque[float] = deque()
        self._denied: set[Subject] = set()
        self._just: dict[Subject, tuple[float, AskedConnection]] = {}  # names, with their answers

    def ask(
        self,
        request: ConnectRequest,
        find: Callable[[], Caller | None],
        then: Then,
        loop: asyncio.AbstractEventLoop | None,
    ) -> None:
        """``find`` looks for the process, which takes milliseconds. A coroutine function is called
        on ``loop``, if there is one. Never blocks; ``then`` may be called at once."""
        with self._lock:
            just = self._just_answered(request)
            found = self._open.get(request.subject)
            why = self._why_not_asked(request, found) if just is None else None
            if why is None and found is None and just is None:
                found = _OpenQuestion(lambda: request._replace(process=find()), request)
                self._open[request.subject] = found
                self._busy += 1
                thread = threading.Thread(
                    target=self._work, args=(found, loop), name="wardian-ask", daemon=True
                )
                thread.start()
            if why is None and found is not None:
                found.waiting.append(then)
                return
        then(just or AskedConnection(request, Answer.DENY, why or "", 0.0), just is not None)

    def expire(self, now_s: float) -> None:
        """Questions that nobody answers are answered."""
        with self._lock:
            late = [one for one in self._open.values() if now_s - one.began_s > ANSWER_S]
        for one in late:
            self._close(one, Answer.DENY, f"nobody answered within {ANSWER_S:.0f} s")

    def forget(self, rule: str) -> None:
        """Whether it is to be allowed is a new question."""
        with self._lock:
            self._denied = {one for one in self._denied if one[2] != rule}
            self._just.clear()

    def _just_answered(self, request: ConnectRequest) -> AskedConnection | None:
        """Programs ask for both kinds of addresses at once, and the second question may come when
        the first has its answer, which is not in force everywhere yet."""
        at_s, asked = self._just.get(request.subject, (0.0, None))
        return asked if time.monotonic() - at_s < JUST_S else None

    def _why_not_asked(self, request: ConnectRequest, found: _OpenQuestion | None) -> str | None:
        if found is not None:
            return None if len(found.waiting) < MOST_WAITING else "too many wait for one answer"
        if request.subject in self._denied:
            return "the answer was no"
        now_s = time.monotonic()
        while self._asked and now_s - self._asked[0] > 60.0:
            self._asked.popleft()
        if self._busy >= MOST_OPEN:
            return f"not asked: {MOST_OPEN} questions are open"
        if len(self._asked) >= MOST_IN_A_MINUTE:
            return f"not asked: more than {MOST_IN_A_MINUTE} questions in a minute"
        self._asked.append(now_s)
        return None

    def _work(self, question: _OpenQuestion, loop: asyncio.AbstractEventLoop | None) -> None:
        """In a thread of its own."""
        answer, error = Answer.DENY, ""
        try:
            question.request = question.make()
            answer = self._called(question, loop)
        except BaseException as problem:  # the caller's own code: whatever it is, it is no yes
            words = f"{type(problem).__name__}: {problem}".rstrip(": ")
            error = f"on_connect raised {cut(printable(words), LONGEST_ERROR)}"
        self._close(question, answer, error)
        with self._lock:
            self._busy -= 1

    def _called(self, question: _OpenQuestion, loop: asyncio.AbstractEventLoop | None) -> Answer:
        given: object = self._on_connect(question.request)
        if isinstance(given, Awaitable):
            given = _awaited(given, loop)
        if not isinstance(given, Answer):
            raise UsageError(f"it returned {cut(repr(given), 40)}, which is no wardian.Answer")
        return given

    def _close(self, question: _OpenQuestion, answer: Answer, error: str) -> None:
        request = question.request
        with self._lock:
            if question.answered:
                return  # it came too late
            question.answered = True
            if answer is Answer.DENY and not error and len(self._denied) < MOST_DENIED:
                self._denied.add(request.subject)
        self._decide(request, answer)  # before anyone can ask anew
        with self._lock:
            del self._open[request.subject]
            waiting, now_s = question.waiting, time.monotonic()
            asked = AskedConnection(request, answer, error, now_s - question.began_s)
            if request.port is None:
                self._just = {
                    one: was for one, was in self._just.items() if now_s - was[0] < JUST_S
                }
                self._just[request.subject] = (now_s, asked)
        for then in waiting:
            then(asked, True)


def _awaited(given: Awaitable[object], loop: asyncio.AbstractEventLoop | None) -> object:
    """On the caller's loop, or where that is not one, on one of its own."""
    import asyncio

    async def bounded() -> object:
        return await asyncio.wait_for(given, ANSWER_S)

    if loop is None or loop.is_closed():
        return asyncio.run(bounded())
    future = asyncio.run_coroutine_threadsafe(bounded(), loop)
    try:
        return future.result(ANSWER_S)
    except TimeoutError:
        future.cancel()
        raise
