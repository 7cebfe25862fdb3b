"""A pool on an asyncio loop, with the same words. ``async with Pool() as pool`` gives one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wardian.sandbox.asynchronous import _elsewhere

if TYPE_CHECKING:
    from typing import Unpack

    from wardian.sandbox.policy.policy import Policy
    from wardian.sandbox.pool.pool import Pool
    from wardian.sandbox.run.result import Result
    from wardian.sandbox.sandbox import CommandOptions


class AsyncPool:
    """``Pool``, awaited."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    @property
    def policy(self) -> Policy:
        """Under which everything here runs."""
        return self._pool.policy

    @property
    def waiting(self) -> int:
        """As ``Pool.waiting``."""
        return self._pool.waiting

    async def wait_ready(self, timeout_s: float | None = None) -> bool:
        """As ``Pool.wait_ready``."""
        return await _elsewhere(self._pool.wait_ready, timeout_s)

    async def run(self, command: Sequence[str], **options: Unpack[CommandOptions]) -> Result:
        """As ``Pool.run``; cancelling ends the run. Raises SandboxError, UsageError."""
        return await self._pool.run_async(command, **options)

    async def run_python(
        self,
        script: str | None = None,
        args: Sequence[str] = (),
        *,
        code: str | None = None,
        **options: Unpack[CommandOptions],
    ) -> Result:
        """As ``Pool.run_python``; cancelling ends the run. Raises SandboxError, UsageError."""
        return await self._pool.run_python_async(script, args, code=code, **options)

    async def close(self) -> None:
        """As ``Pool.close``."""
        await _elsewhere(self._pool.close)

    def __repr__(self) -> str:
        return f"<Async{repr(self._pool).lstrip('<')}"
