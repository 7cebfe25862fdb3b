"""``wardian exec --sandbox``: run a command in a living sandbox. Imports little: the sandbox, and
what formats its results, live in the supervising process."""

from __future__ import annotations

import os

from wardian.cli import output, running
from wardian.cli.options import Given, one, verbosity
from wardian.cli.signals import Forwarding, restore_terminal, terminal_state
from wardian.errors import BackendError, SandboxError, UsageError
from wardian.living import client
from wardian.living.relay import GuestPipes, RemoteCommand, make_raw, terminal_size
from wardian.living.wire import Channel, Message, field

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    import signal
    from collections.abc import Sequence

    from wardian.cli.spool import Spool
else:
    import _signal as signal  # without the enums of signal, which cost as much as ten modules

TAKEN = frozenset(
    ("sandbox", "background", "cwd", "env", "time", "tty", "json", "verbose", "quiet")
)
NOT_TAKEN = frozenset(("backend", "record"))  # neither for a living sandbox nor for `up`


def run_inside(argv: Sequence[str], given: Given) -> int:
    """Run a command in the named sandbox and return its exit code. Raises WardianError."""
    _refuse_others(given)
    name = given["sandbox"][0]
    background, tty = "background" in given, running.wants_tty(given)
    fields = [field("arg", word) for word in argv] + _fields(given)
    channel = client.connect(name)
    if background:
        return _left_running(channel, name, fields, as_json="json" in given)
    with running.spooled(as_json="json" in given) as spool:
        if tty:
            command = _on_terminal(channel, name, argv, fields)
        else:
            command = _on_pipes(channel, name, fields, spool)
        ended = command.ended
        assert ended is not None  # noqa: S101 - pump returned
        code = ended.number("exit_code")
        if spool is not None:
            _print_document(channel, name, command, spool)
        elif "verbose" in given or ("quiet" not in given and _worth_asking(ended, command)):
            _explain(channel, name, command, given)
    return code


def _refuse_others(given: Given) -> None:
    for option in given:
        if option in NOT_TAKEN:
            raise UsageError(f"--{option} and --sandbox cannot be combined")
        if option not in TAKEN:
            raise UsageError(
                f"--{option} is set when a sandbox starts, not per command",
                hint=f"start a sandbox with it: wardian up --{option} …",
            )
    if "background" in given and one(given, "tty") == "yes":
        raise UsageError("--background and --tty yes cannot be combined")


def _fields(given: Given) -> list[tuple[str, bytes]]:
    """The request: working directory, environment, time limit. Raises UsageError."""
    fields = []
    if "cwd" in given:
        fields.append(field("cwd", given["cwd"][0]))
    if "env" in given:
        from wardian.cli.options import variable

        pairs = (variable(text) for text in given["env"])
        fields += [field("env", f"{name}={value}") for name, value in pairs]
    if "time" in given:
        from wardian.cli.options import limit

        seconds = limit("time", given["time"][0])
        fields += [field("time_s", repr(float(seconds)))] if seconds is not None else []
    return fields


def _left_running(
    channel: Channel, name: str, fields: list[tuple[str, bytes]], *, as_json: bool
) -> int:
    started = client.ask(channel, "run", [*fields, field("background", 1)], name=name)
    number = started.number("command")
    if as_json:
        output.print_json({"schema": "wardian.started/1", "sandbox": name, "command": number})
    else:
        output.print_text(str(number))
    return 0


# Streams


def _on_pipes(
    channel: Channel, name: str, fields: list[tuple[str, bytes]], spool: Spool | None
) -> RemoteCommand:
    with Forwarding() as signals:
        try:
            pipes = GuestPipes()
        except OSError as error:
            raise BackendError(
                f"cannot create a pipe: {(error.strerror or '').lower()}", hint="see ulimit -n"
            ) from None
        given = {i: fd for i, fd in enumerate(pipes.given) if fd is not None}
        fields.append(field("streams", " ".join(map(str, given))))
        started = client.ask(channel, "run", fields, list(given.values()), name=name)
        pipes.close_guests_ends()
        targets = (spool.fds[0], spool.fds[1]) if spool is not None else (1, 2)
        command = RemoteCommand(channel, name, pipes=pipes, targets=targets, room=_room(started))
        signals.attend(command)
    return command


def _on_terminal(
    channel: Channel, name: str, argv: Sequence[str], fields: list[tuple[str, bytes]]
) -> RemoteCommand:
    from wardian.cli.prompt import prompt_variables

    rows, columns = terminal_size()
    fields += [field("rows", rows), field("columns", columns)]
    if "TERM" in os.environ:
        fields.insert(0, field("env", f"TERM={os.environ['TERM']}"))  # --env comes later and wins
    prompt = prompt_variables(argv, sandbox=name)
    fields[:0] = [field("env", f"{key}={value}") for key, value in prompt.items()]
    saved = terminal_state()
    try:
        with Forwarding() as signals:
            started = client.ask(channel, "run", fields, name=name)
            if not started.fds:
                raise SandboxError(f"the sandbox {name} returned no terminal")
            command = RemoteCommand(channel, name, terminal=started.fds[0], room=_room(started))
            before = {
                signal.SIGWINCH: signal.signal(signal.SIGWINCH, lambda *_: command.resize()),
                signal.SIGCONT: signal.signal(signal.SIGCONT, lambda *_: make_raw()),
            }
            make_raw()
            command.resize()
            try:
                signals.attend(command)
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)
    finally:
        if saved is not None:
            restore_terminal(saved)
    return command


def _room(started: Message) -> int | None:
    return started.number("room") if started.has("room") else None


# Reporting


def _worth_asking(ended: Message, command: RemoteCommand) -> bool:
    """Whether the result needs a report. In a pipeline, a program that missed a module need not
    set the exit code, so standard error counts too."""
    return bool(
        ended.has("news") or ended.number("exit_code") or b"No module named" in command.tail
    )


def _asked(
    channel: Channel, name: str, command: RemoteCommand, more: list[tuple[str, bytes]]
) -> Message:
    counts = zip(("stdout_bytes", "stderr_bytes"), command.counts, strict=True)
    fields = [field(key, count) for key, count in counts] + [field("tail", command.tail)]
    channel.sock.settimeout(client.ANSWER_S)
    try:
        channel.send("explain", fields + more)
        return client.answer(channel, name)
    except (OSError, ValueError) as error:
        raise SandboxError(f"the sandbox {name} ended: {error}") from None


def _explain(channel: Channel, name: str, command: RemoteCommand, given: Given) -> None:
    from wardian.cli.refused import terminal_width

    more = [field("width", terminal_width())]
    more += [field("verbose", verbosity(given))] if "verbose" in given else []
    for line in _asked(channel, name, command, more).all("line"):
        output.say(os.fsdecode(line))


def _print_document(channel: Channel, name: str, command: RemoteCommand, spool: Spool) -> None:
    import json

    from wardian.cli.spool import SpooledDocument, print_json

    answer = _asked(channel, name, command, [field("json", 1)])
    within = SpooledDocument(spool)
    print_json(json.loads(answer.text("document")) | {"sandbox": name} | within.fields(), within)
