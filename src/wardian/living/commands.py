"""The commands of one living sandbox, for whoever asks over a socket: started on the client's
pipes, sent signals, listed, and ended with their client unless they run in the background."""

from __future__ import annotations

import os
import stat
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from wardian.errors import UsageError, WardianError
from wardian.living.journal import SandboxLog, command_line
from wardian.living.wire import Channel, Message, field, is_one_way

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from wardian.sandbox.run.process import Process
    from wardian.sandbox.run.result import Result
    from wardian.sandbox.sandbox import Sandbox

STREAMS = 3
PORTS_S = 2.0  # for the ports of all commands together
OUTPUT = 253  # core/commands.c


class Rendering(NamedTuple):
    """Formats results as text; the command line provides it."""

    is_news: Callable[[Result], bool]
    lines: Callable[[Result, int, int], list[str]]  # verbosity, width
    document: Callable[[Result], dict[str, Any]]


class RunningCommand:
    """One command that has not ended."""

    def __init__(self, number: int, argv: tuple[str, ...], *, background: bool) -> None:
        self.number, self.argv, self.background = number, argv, background
        self.started_s = time.monotonic()
        self.process: Process | None = None

    def document(self, ports: tuple[int, ...]) -> dict[str, Any]:
        """As ``wardian ps --json`` has it."""
        return {
            "number": self.number,
            "command": [os.fsencode(word).decode("utf-8", "replace") for word in self.argv],
            "background": self.background,
            "age_s": round(time.monotonic() - self.started_s, 3),
            "ports": list(ports),
        }


class LivingCommands:
    """All commands of one sandbox. Safe to use from many threads."""

    def __init__(self, sandbox: Sandbox, log: SandboxLog, rendering: Rendering) -> None:
        self._sandbox, self._log, self._rendering = sandbox, log, rendering
        self._running: dict[int, RunningCommand] = {}
        self._lock = threading.Lock()
        self._asking = threading.Lock()  # for ports, one at a time
        self._next = 1
        self._held = 0  # other things that keep a sandbox from being idle
        self._last_s = time.monotonic()
        self.on_change: Callable[[], None] = lambda: None

    # Listing

    def idle_s(self) -> float:
        """Seconds since the last command ended."""
        with self._lock:
            busy = bool(self._running or self._held)
            return 0.0 if busy else time.monotonic() - self._last_s

    def hold(self, count: int) -> None:
        """Something besides a command begins (1) or stops (-1) to need the sandbox."""
        with self._lock:
            self._held += count
            self._last_s = time.monotonic()
        self.on_change()

    def running(self) -> list[RunningCommand]:
        """In the order of their start."""
        with self._lock:
            return sorted(self._running.values(), key=lambda command: command.number)

    def documents(self) -> list[dict[str, Any]]:
        """Each with the ports that it listens on, as far as that can be had in time."""
        deadline, found = time.monotonic() + PORTS_S, []
        with self._asking:
            for command in self.running():
                ports: tuple[int, ...] = ()
                if command.process is not None and time.monotonic() < deadline:
                    ports = command.process.ports()
                found.append(command.document(ports))
        return found

    # Running

    def serve(self, channel: Channel, request: Message) -> None:
        """Start what the request asks for, and attend to its client until that is gone."""
        argv = tuple(os.fsdecode(word) for word in request.all("arg"))
        background = request.has("background")
        command = self._entered(argv, background=background)
        try:
            if background:
                self._start_background(command, request)
                channel.send("started", [field("command", command.number)])
                return
            terminal = self._start(command, request)
        except BaseException as error:
            self._left(command, "not started")
            if isinstance(error, (WardianError, ValueError)):
                raise
            raise UsageError(f"the command could not be started: {error}") from None
        self._attend(channel, command, terminal)

    def _entered(self, argv: tuple[str, ...], *, background: bool) -> RunningCommand:
        with self._lock:
            command = RunningCommand(self._next, argv, background=background)
            self._next += 1
            self._running[command.number] = command
            self._last_s = time.monotonic()
        how = " (in the background)" if background else ""
        self._log.add(command.number, "start", command_line(argv) + how)
        return command

    def _left(self, command: RunningCommand, how: str) -> None:
        self._log.ended(command.number, how)
        with self._lock:
            self._running.pop(command.number, None)
            self._last_s = time.monotonic()
        self.on_change()

    def _start(self, command: RunningCommand, request: Message) -> int:
        """Returns our end of its terminal, -1 if it has none."""
        size = None
        if request.has("rows"):
            size = (request.number("rows"), request.number("columns"))
        streams = (None,) * STREAMS if size is not None else _streams(request)
        command.process = self._sandbox.start_given(
            command.argv, streams, pty=size, **_options(request)
        )
        if size is None or command.process.living is None:
            return -1
        return command.process.living.hand_over_terminal()

    def _start_background(self, command: RunningCommand, request: Message) -> None:
        number = command.number
        process = self._sandbox.start(
            command.argv,
            background=True,
            input=b"",
            on_stdout=lambda data: self._log.output(number, "stdout", data),
            on_stderr=lambda data: self._log.output(number, "stderr", data),
            **_options(request),
        )
        command.process = process
        threading.Thread(target=self._outlast, args=(command, process), daemon=True).start()

    def _outlast(self, command: RunningCommand, process: Process) -> None:
        try:
            how = _how(process.wait())
        except Exception as error:
            how = str(error)
        self._left(command, how)

    def _attend(self, channel: Channel, command: RunningCommand, terminal: int) -> None:
        process = command.process
        assert process is not None  # noqa: S101 - started
        try:
            room = self._sandbox.policy.limits.output_bytes
            fields = [field("command", command.number)]
            fields += [field("room", room)] if room is not None else []
            channel.send("started", fields, [terminal] if terminal >= 0 else [])
        except OSError:
            process.kill()
        finally:
            if terminal >= 0:
                os.close(terminal)
        outcome = _Outcome()
        waiting = threading.Thread(
            target=self._wait, args=(channel, command, process, outcome), daemon=True
        )
        waiting.start()
        try:
            while (message := channel.receive()) is not None:
                self._obey(channel, process, message, outcome)
        except (OSError, ValueError):
            pass  # the client is gone
        finally:
            process.kill()  # does nothing after its end
            waiting.join()

    def _wait(
        self, channel: Channel, command: RunningCommand, process: Process, outcome: _Outcome
    ) -> None:
        try:
            result = outcome.result = process.pump()
        except Exception as error:
            self._left(command, str(error))
            send_error(channel, error)
            return
        self._left(command, _how(result))
        try:
            fields = [field("exit_code", result.exit_code)]
            fields += [field("news", 1)] if self._rendering.is_news(result) else []
            channel.send("ended", fields)
        except OSError:
            pass  # its client is gone

    def _obey(
        self, channel: Channel, process: Process, message: Message, outcome: _Outcome
    ) -> None:
        if message.kind == "signal" and 0 < message.number("number") <= 64:
            process.send_signal(message.number("number"))
        elif message.kind == "signal":
            process.kill()
        elif message.kind == "output":
            process.order(bytes([OUTPUT]))
        elif message.kind == "explain" and outcome.result is not None:
            self._explain(channel, outcome.result, message)

    def _explain(self, channel: Channel, result: Result, message: Message) -> None:
        """The result in words, or as a document; what only the client saw comes from it."""
        usage = result.usage._replace(
            stdout_bytes=message.number("stdout_bytes"), stderr_bytes=message.number("stderr_bytes")
        )
        result = result._replace(usage=usage, stderr_tail=b"".join(message.all("tail")))
        if message.has("json"):
            import json

            document = json.dumps(self._rendering.document(result))
            channel.send("document", [field("document", document)])
            return
        width = message.number("width", 80)
        lines = self._rendering.lines(result, message.number("verbose"), width)
        channel.send("lines", [field("line", line) for line in lines])


class _Outcome:
    """What came of a command, once it is known."""

    result: Result | None = None


def send_error(channel: Channel, error: Exception) -> None:
    """What went wrong, for the client to report; if nobody hears it, that is all right."""
    code = error.exit_code if isinstance(error, WardianError) else 125
    hint = error.hint if isinstance(error, WardianError) else None
    fields = [field("message", str(error)), field("exit_code", code)]
    try:
        channel.send("error", fields + ([field("hint", hint)] if hint else []))
    except OSError:
        pass


def _options(request: Message) -> dict[str, Any]:
    """What a request says of how its command is run. Raises UsageError, ValueError."""
    env = {}
    for variable in request.all("env"):
        name, _, value = os.fsdecode(variable).partition("=")
        env[name] = value
    return {
        "cwd": request.text("cwd") or None,
        "env": env,
        "timeout_s": float(request.text("time_s")) if request.has("time_s") else None,
    }


def _streams(request: Message) -> tuple[int | None, ...]:
    """The descriptors that came, by stream. A guest gets pipes and nothing else, each open in one
    direction: never a file, a terminal or a socket of the caller's. Raises UsageError."""
    given: list[int | None] = [None] * STREAMS
    wanted = [int(word) for word in request.text("streams").split()]
    if len(wanted) != len(request.fds) or not set(wanted) <= set(range(STREAMS)):
        raise UsageError("the request does not describe its descriptors")
    for stream, fd in zip(wanted, request.fds, strict=True):
        mode = os.O_RDONLY if stream == 0 else os.O_WRONLY
        if not stat.S_ISFIFO(os.fstat(fd).st_mode) or not is_one_way(fd, mode):
            raise UsageError("a command in a sandbox gets only pipes, each open in one direction")
        given[stream] = fd
    return tuple(given)


def _how(result: Result) -> str:
    why = "" if result.reason == "exited" else f" ({result.reason})"
    return f"{result.exit_code}{why}"
