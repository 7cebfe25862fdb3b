"""A sandbox and its processes on an asyncio loop, with the same words: what blocks there is awaited
here. ``async with Sandbox.create() as sandbox`` gives one."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import socket
    from typing import Unpack

    from wardian.sandbox.policy.policy import Policy
    from wardian.sandbox.ports import Forward
    from wardian.sandbox.python.awaited import AsyncPythonSession
    from wardian.sandbox.run.interaction import Input, Output
    from wardian.sandbox.run.process import Process
    from wardian.sandbox.run.result import Result
    from wardian.sandbox.sandbox import CommandOptions, Sandbox

T = TypeVar("T")


async def _elsewhere(call: Callable[..., T], *args: Any, **options: Any) -> T:
    """In a thread: the loop is never blocked."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, functools.partial(call, *args, **options))


class AsyncInput:
    """``Input``, awaited."""

    def __init__(self, given: Input) -> None:
        self._input = given

    async def write(self, data: bytes | str) -> None:
        """Give the command more to read; waits while it does not. Raises BrokenPipeError once it
        reads no more, UsageError after ``close``."""
        await self._input.write_async(data)

    async def close(self) -> None:
        """The command reads to the end."""
        self._input.close()


class AsyncProcess:
    """A started command on this loop. Cancelling whoever waits does not end it; ``kill`` does."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._moved = asyncio.ensure_future(process.pump_async())
        self._moved.add_done_callback(_retrieved)

    @property
    def stdin(self) -> AsyncInput:
        """As ``Process.stdin``."""
        return AsyncInput(self._process.stdin)

    @property
    def stdout(self) -> Output:
        """As ``Process.stdout``: ``async for piece in process.stdout``."""
        return self._process.stdout

    @property
    def stderr(self) -> Output:
        """As ``Process.stderr``."""
        return self._process.stderr

    @property
    def ended(self) -> bool:
        """True once the result is there."""
        return self._process.ended

    async def wait(self, timeout_s: float | None = None) -> Result:
        """The result, once the command has ended. Raises TimeoutError, and SandboxError."""
        given = self._process.input
        if given is not None and not given.used:
            given.close()
        moved = asyncio.shield(self._moved)
        if timeout_s is None:
            return await moved
        try:
            return await asyncio.wait_for(moved, timeout_s)
        except TimeoutError:
            raise TimeoutError(f"the run did not end within {timeout_s} s") from None

    async def kill(self) -> None:
        """End the command and all that it started, now."""
        self._process.kill()

    async def send_signal(self, signal: int) -> None:
        """As ``Process.send_signal``."""
        self._process.send_signal(signal)

    async def resize(self, rows: int, columns: int) -> None:
        """As ``Process.resize``."""
        self._process.resize(rows, columns)

    async def ports(self) -> tuple[int, ...]:
        """As ``Process.ports``."""
        return await _elsewhere(self._process.ports)

    def __repr__(self) -> str:
        return f"<Async{repr(self._process).lstrip('<')}"


def _retrieved(future: asyncio.Future[Result]) -> None:
    """Nobody may ever ask: that is no reason to print anything."""
    if not future.cancelled():
        future.exception()


class AsyncSandbox:
    """``Sandbox``, awaited."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    @property
    def policy(self) -> Policy:
        """Under which everything here runs."""
        return self._sandbox.policy

    async def run(self, command: Sequence[str], **options: Unpack[CommandOptions]) -> Result:
        """Run a command to its end; cancelling ends it. Raises SandboxError."""
        return await self._sandbox.run_async(command, **options)

    async def start(
        self,
        command: Sequence[str],
        *,
        pty: bool | tuple[int, int] = False,
        background: bool = False,
        **options: Unpack[CommandOptions],
    ) -> AsyncProcess:
        """Start a command, as ``Sandbox.start`` does. Raises SandboxError."""
        start = self._sandbox.start_unattended
        return AsyncProcess(
            await _elsewhere(start, command, pty=pty, background=background, **options)
        )

    async def connect(self, port: int, *, wait_s: float = 0.0) -> socket.socket:
        """As ``Sandbox.connect``; ``asyncio.open_connection(sock=…)`` makes streams of it."""
        one = await _elsewhere(self._sandbox.connect, port, wait_s=wait_s)
        one.setblocking(False)
        return one

    async def forward(self, port: int, host_port: int = 0) -> Forward:
        """As ``Sandbox.forward``."""
        return await _elsewhere(self._sandbox.forward, port, host_port)

    def python(self, python: str = "python3") -> AsyncPythonSession:
        """As ``Sandbox.python``."""
        from wardian.sandbox.python.awaited import AsyncPythonSession

        return AsyncPythonSession(self._sandbox.python(python))

    @property
    def files(self) -> AsyncFiles:
        """As ``Sandbox.files``, each method awaited."""
        return AsyncFiles(self._sandbox.files)

    async def close(self) -> None:
        """End everything in it."""
        await _elsewhere(self._sandbox.close)

    def __repr__(self) -> str:
        return f"<Async{repr(self._sandbox).lstrip('<')}"


class AsyncFiles:
    """The methods of ``Files``, in a thread each."""

    def __init__(self, files: object) -> None:
        self._files = files

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._files, name)
        return functools.partial(_elsewhere, method)
