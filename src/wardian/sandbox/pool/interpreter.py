"""A Python that waits inside, behind its own walls and with its modules loaded, for the one script
that it is to run."""

from __future__ import annotations

import functools
import marshal
import os
import select
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from wardian.errors import SandboxError, UsageError
from wardian.sandbox.backends import Job
from wardian.sandbox.backends.living import LivingPlace, pipes
from wardian.sandbox.limits import milliseconds
from wardian.sandbox.root.layout import WORK
from wardian.sandbox.run import launcher
from wardian.sandbox.run.place import BEGIN
from wardian.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from wardian.sandbox.backends.wardian import Wardian
    from wardian.sandbox.run.process import Process
    from wardian.sandbox.run.result import Result

LOAD_S = 120.0  # until its modules are loaded
ENDING_S = 2.0  # for one that closed its output
MARSHAL = 2  # what every Python reads
LOADED = b"+\n"
_SAID_BYTES = 1 << 14


class ScriptRequest(NamedTuple):
    """What a Python is to run: a file inside, or code."""

    path: str | None
    code: str | None
    args: tuple[str, ...]
    frame: bytes = b""  # the request, as inside.py reads it

    @classmethod
    def of(cls, path: str | None, args: Sequence[str], code: str | None) -> ScriptRequest:
        """Raises UsageError."""
        if (path is None) == (code is None):
            raise UsageError("run_python needs a script or code, and not both")
        if isinstance(args, (str, bytes)):
            raise UsageError("the arguments of a script are a list of words")
        if path is not None and (not path or path.startswith("-")):
            raise UsageError(f"{path!r} is no script", hint="its path inside, or code=…")
        return cls(path, code, tuple(args))

    @property
    def words(self) -> tuple[str, ...]:
        """The command line after the interpreter."""
        if self.path is not None:
            return (self.path, *self.args)
        return ("-c", self.code or "", *self.args)

    def with_request(self, job: Job, env: dict[str, str]) -> ScriptRequest:
        """The same, ready to be sent."""
        asked = {
            "words": list(self.words),
            "script": self.path,
            "code": self.code,
            "args": list(self.args),
            "env": env,
            "input": bool(job.input_bytes),
        }
        data = marshal.dumps(asked, MARSHAL)
        return self._replace(frame=len(data).to_bytes(8, "little") + data)

    def counted(self, result: Result) -> Result:
        """Without what the request took of standard input."""
        usage = result.usage
        left = max(0, usage.stdin_bytes - len(self.frame))
        return result._replace(usage=usage._replace(stdin_bytes=left))


class Waiting:
    """One interpreter, until its script is known."""

    def __init__(self, place: LivingPlace, launched: launcher.Launched, ends: dict[int, int]):
        self.place, self._launched, self._ends = place, launched, ends

    def is_good(self) -> bool:
        """Does it still wait?"""
        poll = select.poll()
        poll.register(self._launched.status, select.POLLIN)
        return not self.place.place.gone and not poll.poll(0)

    def fits(self, job: Job) -> bool:
        """Can it do this? A working directory that may not be there, and a PATH, on which another
        Python may be found, take a command of its own."""
        return job.cwd in (None, WORK) and "PATH" not in job.env

    def process(self, script: ScriptRequest, job: Job) -> Process:
        """It gets its script. Its time begins now, and what it was refused so far is forgotten."""
        request = job._replace(input_bytes=script.frame + (job.input_bytes or b""))
        process = self.place.attend(request, self._launched, self._ends)
        self._ends = {}
        assert process.living is not None  # noqa: S101 - a command of a place
        process.living.begin(process, 0 if job.time_s is None else milliseconds(job.time_s))
        return process

    def drop(self) -> None:
        """End it; its place stays."""
        ends, self._ends = self._ends, {}
        if ends:
            for fd in (*ends.values(), self._launched.status, self._launched.control):
                os.close(fd)

    def await_loaded(self) -> bytes:
        """What it says once its modules are loaded; nothing if it ends before."""
        said = _line(self._ends[1], LOAD_S)
        if said == LOADED:
            os.write(self._launched.control, bytes([BEGIN]) + bytes(8))  # it may wait for ever
        return said

    def end(self, job: Job) -> Result:
        """What came of it, where no script ever does."""
        process = self.place.attend(job, self._launched, self._ends)
        self._ends = {}
        process.pump_in_thread()
        try:
            return process.wait(ENDING_S)
        except TimeoutError:
            process.kill()
            return process.wait()

    def close(self) -> bool:
        """End it with its place; False if that can't be done."""
        self.drop()
        return self.place.close()


def maker(backend: Wardian, python: str, preload: Sequence[str]) -> Callable[[], Waiting]:
    """What makes one of them. Raises UsageError."""
    if isinstance(preload, (str, bytes)) or not all(
        isinstance(name, str) and all(part.isidentifier() for part in name.split("."))
        for name in preload
    ):
        raise UsageError("preload is a list of modules", hint='preload=["json", "numpy"]')
    return functools.partial(_make, backend, python, tuple(preload))


def source() -> str:
    """The text of ``inside``."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inside.py")
    with open(path, encoding="utf-8") as file:
        return file.read()


def _make(backend: Wardian, python: str, preload: tuple[str, ...]) -> Waiting:
    job = Job((python, "-c", source(), *preload), {}, time_s=LOAD_S, stdin=True)
    argv, env, more = backend.placed(job)
    place = backend.spare(more)
    try:
        given, ends = pipes(job)
        waiting = Waiting(place, place.launch(job, argv, env, given, ends), ends)
    except BaseException:
        place.close()
        raise
    try:
        _await(waiting, python, preload)
    except BaseException:
        waiting.close()
        raise
    return waiting


def _await(waiting: Waiting, python: str, preload: tuple[str, ...]) -> None:
    """Until its modules are loaded. Raises SandboxError."""
    said = waiting.await_loaded()
    if said == LOADED:
        return
    if said.startswith(b"-"):
        why = printable(said[1:].decode("utf-8", "replace").strip())
        raise SandboxError(
            f"{python} can't load what the pool is to preload: {why}",
            hint="packages=[…] adds packages; name modules as in an import statement",
        )
    raise SandboxError(_end_of(waiting, python, preload))


def _line(fd: int, within_s: float) -> bytes:
    """What comes until a newline or the end."""
    poll, said = select.poll(), b""
    poll.register(fd, select.POLLIN)
    until = time.monotonic() + within_s
    while len(said) < _SAID_BYTES and not said.endswith(b"\n"):
        left_s = until - time.monotonic()
        if left_s <= 0 or not poll.poll(int(left_s * 1000) + 1):
            break
        piece = os.read(fd, _SAID_BYTES)
        if not piece:
            break
        said += piece
    return said


def _end_of(waiting: Waiting, python: str, preload: tuple[str, ...]) -> str:
    """Why there is no interpreter."""
    result = waiting.end(Job((python,), {}))
    what = f"{python} ended with {result.exit_code} ({result.reason})"
    return f"{what} before it had loaded {', '.join(preload) or 'anything'}"
