"""A connection to a living sandbox by its name. Loaded by every ``exec --sandbox``: light."""

from __future__ import annotations

import _socket
import os

from wardian.errors import NothingMatched, SandboxError, WardianError
from wardian.living.directory import SocketDirectory
from wardian.living.names import checked_name
from wardian.living.peers import is_own_user
from wardian.living.wire import PROTOCOL, Channel, Message, field

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ANSWER_S = 10.0


class RequestError(WardianError):
    """The process that holds the sandbox refused, or failed at, what it was asked."""

    def __init__(self, message: str, *, hint: str | None, exit_code: int) -> None:
        super().__init__(message, hint=hint)
        self.exit_code = exit_code


def connect(name: str, *, timeout_s: float = ANSWER_S) -> Channel:
    """Raises UsageError for what is no name, NothingMatched if there is no such sandbox, and
    SandboxError for one that can't be used."""
    checked_name(name)
    sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    sock.settimeout(timeout_s)
    try:
        with SocketDirectory() as directory:
            try:
                sock.connect(directory.address(name))
            except ConnectionRefusedError:
                with directory.locked():
                    directory.sweep(name)
                raise _ended(name) from None
        if not is_own_user(sock):
            raise SandboxError(f"the process of sandbox {name} is another user's")
    except FileNotFoundError:
        sock.close()
        raise _unknown(name) from None
    except OSError as error:
        sock.close()
        raise _silent(name, error) from None
    except BaseException:
        sock.close()
        raise
    return Channel(sock)


def ask(
    channel: Channel,
    kind: str,
    fields: Iterable[tuple[str, bytes]] = (),
    fds: Sequence[int] = (),
    *,
    name: str,
) -> Message:
    """Send a request and return the first answer to it. Raises RequestError, SandboxError."""
    try:
        channel.send(kind, [field("protocol", PROTOCOL), *fields], fds)
    except OSError:
        pass  # refused: the greeting says why
    try:
        greeting = channel.receive()
        _check_protocol(name, greeting)
        return answer(channel, name)
    except (OSError, ValueError) as error:
        raise _silent(name, error) from None


def answer(channel: Channel, name: str) -> Message:
    """The next message. Raises RequestError, SandboxError if there is none, OSError."""
    message = channel.receive()
    if message is None:
        raise SandboxError(
            f"the sandbox {name} ended", hint=f"its log says why: wardian logs {name}"
        )
    if message.kind == "error":
        raise RequestError(
            message.text("message"),
            hint=message.text("hint") or None,
            exit_code=message.number("exit_code", 125),
        )
    return message


def sandbox_names() -> list[str]:
    """Sandboxes that somebody listens for; sockets that were left are removed. Raises
    SandboxError."""
    try:
        with SocketDirectory() as directory:
            found = directory.names()
            if not found:
                return []
            with directory.locked():
                return [name for name in found if not directory.sweep(name)]
    except FileNotFoundError:
        return []


def _check_protocol(name: str, greeting: Message | None) -> None:
    if greeting is None:
        raise SandboxError(f"the sandbox {name} ended")
    if greeting.kind == "error":
        raise RequestError(greeting.text("message"), hint=None, exit_code=125)
    theirs = greeting.number("protocol")
    if theirs != PROTOCOL:
        raise SandboxError(
            f"the sandbox {name} was started by wardian {greeting.text('version')}, which speaks "
            f"protocol {theirs}; this wardian speaks {PROTOCOL}",
            hint=f"end its process, and start it again: kill {greeting.number('pid')}",
        )


def _unknown(name: str) -> NothingMatched:
    from wardian.living.names import nearest_name

    names = sandbox_names()
    if not names:
        hint = f"none is running; start it: wardian up {name}"
    else:
        near = nearest_name(name, names)
        hint = f"did you mean {near}? " if near else ""
        hint += f"running: {', '.join(names)}"
    return NothingMatched(f"there is no sandbox {name}", hint=hint)


def _ended(name: str) -> NothingMatched:
    return NothingMatched(
        f"the sandbox {name} is gone: its process was killed",
        hint=f"start it again: wardian up {name}",
    )


def _silent(name: str, error: Exception) -> SandboxError:
    what = getattr(error, "strerror", None) or str(error)
    return SandboxError(
        f"the sandbox {name} does not answer: {os.fsdecode(what).lower()}",
        hint="is its process stopped? see: wardian ps",
    )
