"""A Python that stays, on an asyncio loop, with the same words."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from wardian.sandbox.asynchronous import _elsewhere

if TYPE_CHECKING:
    from wardian.sandbox.python.outcome import PythonOutcome
    from wardian.sandbox.python.session import PythonSession


class AsyncPythonSession:
    """``PythonSession``, awaited. Cancelling a ``run`` interrupts its cell."""

    def __init__(self, session: PythonSession) -> None:
        self._session = session

    async def run(self, code: str, timeout_s: float | None = None) -> PythonOutcome:
        """As ``PythonSession.run``."""
        try:
            return await _elsewhere(self._session.run, code, timeout_s)
        except asyncio.CancelledError:
            self._session.interrupt()
            raise

    async def interrupt(self) -> None:
        """As ``PythonSession.interrupt``."""
        self._session.interrupt()

    async def restart(self) -> None:
        """As ``PythonSession.restart``."""
        await _elsewhere(self._session.restart)

    async def close(self) -> None:
        """As ``PythonSession.close``."""
        await _elsewhere(self._session.close)

    async def __aenter__(self) -> AsyncPythonSession:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<Async{repr(self._session).lstrip('<')}"
