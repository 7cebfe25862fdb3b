"""``wardian exec``: run any command in the sandbox, on this terminal, with our signals."""

from __future__ import annotations

import os
import sys
import time

from wardian.cli import output
from wardian.cli.options import EXEC_OPTIONS, Given, choice, one, parse, policy_of
from wardian.cli.settings import record_directory
from wardian.errors import BackendError, UsageError

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    import signal
    from types import FrameType
    from typing import Any, Protocol

    from wardian.cli.spool import Document, Spool
    from wardian.sandbox.backends import Copies
    from wardian.sandbox.policy.policy import Policy
    from wardian.sandbox.run.process import Process
    from wardian.sandbox.run.result import Protection, Result
    from wardian.sandbox.sandbox import Sandbox

    class Watcher(Protocol):
        """Sees a run that a command starts, and tells of it in the command's place."""

        def sandbox(
            self, policy: Policy, *, backend_name: str, private_work: bool = False
        ) -> Sandbox: ...

        def told(self, result: Result, about: dict[str, Any], spool: Spool | None) -> int:
            """The exit code; ``about`` is what the command itself would add to the document."""
else:
    import _signal as signal  # without an enum of each, which takes 2 ms


TTY_CHOICES = ("auto", "yes", "no")
FORWARDED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
SECOND_INTERRUPT_S = 2.0
HANGUP_S = 0.05
WORK = "/work"
# Ends that a person brings about by hand need no explanation: HUP, INT, PIPE, TERM.
ORDINARY_SIGNALS = (1, 2, 13, 15)


def run(args: list[str]) -> int:
    """Run the command line after ``wardian exec`` and return its exit code. Raises WardianError."""
    given, argv = parse(args, EXEC_OPTIONS)
    if "help" in given:
        from wardian.cli import commands

        return commands.run(["exec", "--help"])
    if not argv:
        raise UsageError(
            "no command was given", hint="write it last: wardian exec [OPTIONS] -- COMMAND [ARGS]…"
        )
    return run_command(argv, given)


def run_command(argv: list[str], given: Given, watcher: Watcher | None = None) -> int:
    """Run a command as the options say and return its exit code. Raises WardianError."""
    as_json, tty = "json" in given, wants_tty(given)
    from wardian.sandbox.sandbox import Sandbox

    policy = policy_of(given)
    make = Sandbox if watcher is None else watcher.sandbox
    with spooled(as_json=as_json) as spool:
        with make(
            policy, backend_name=one(given, "backend") or "wardian", private_work=True
        ) as sandbox:
            result = ran(sandbox, argv, given, policy, tty=tty, spool=spool)
        if watcher is not None:
            return watcher.told(result, {}, spool)
        if spool is not None:
            print_document(result, {}, spool)
    tell(result, verbose="verbose" in given, quiet="quiet" in given or as_json)
    return result.exit_code


def wants_tty(given: Given) -> bool:
    """Is the guest to have a terminal of its own? Raises UsageError."""
    wanted = choice(given, "tty", TTY_CHOICES)
    if "json" in given:
        if wanted == "yes":
            raise UsageError("--tty yes and --json exclude each other")
        return False
    if wanted == "auto":
        return os.isatty(0) and os.isatty(1)
    if wanted == "yes" and not (os.isatty(0) and os.isatty(1)):
        raise UsageError(
            "--tty yes needs a terminal as standard input and output",
            hint="leave it out, or make a terminal: script -qc 'wardian exec …' /dev/null",
        )
    return wanted == "yes"


def working_directory(given: Given) -> str | None:
    """Where the command starts, as the guest sees it; None for where it would anyway."""
    cwd = one(given, "cwd")
    return os.path.join(WORK, cwd) if cwd is not None else None


def tell(result: Result, *, verbose: bool, quiet: bool) -> None:
    """Say on standard error what happened, where that is wanted or needs saying."""
    if verbose or (not quiet and noteworthy(result)):
        from wardian.cli.summary import overlooked, summary

        for line in summary(result, verbose=verbose):
            output.say(line)
        hint = overlooked(result.command[0]) if result.reason == "not found" else None
        if hint is not None:
            output.say_hint(hint)


def noteworthy(result: Result) -> bool:
    """Something happened that the exit code alone does not tell."""
    if result.reason == "signal":
        return result.signal not in ORDINARY_SIGNALS
    if result.reason != "exited" or result.truncated or result.backend == "host":
        return True
    return bool(given_up(result)) or worth_telling(result)


def worth_telling(result: Result) -> bool:
    """Something was refused that programs do not look for as a matter of course."""
    if not result.refusals:
        return result.refusals_dropped > 0
    from wardian.sandbox.refusals.reading import is_news

    return any(is_news(one, failed=result.exit_code != 0) for one in result.refusals)


def given_up(result: Result) -> list[Protection]:
    """Walls that were wanted and did not stand, by the caller's own leave.

    A wall that this kernel lacks, and that the policy did not insist on, is not among them; it is
    in the result.
    """
    return [p for p in result.protections if p.requested and p.available and not p.enforced]


# Running, in two ways, and both with a record of it or without


def ran(
    sandbox: Sandbox,
    argv: list[str],
    given: Given,
    policy: Policy,
    *,
    tty: bool,
    skill: tuple[str, str, str, str] | None = None,
    spool: Spool | None = None,
) -> Result:
    """``policy`` is the caller's own; the sandbox's may have more, for the skill, of which a record
    wants name, origin, script and folder. With ``spool``, output goes there."""
    cwd = working_directory(given)

    def start(copies: Copies | None = None) -> Result:
        if spool is not None:
            return captured(sandbox, argv, cwd, spool)
        return passed_through(sandbox, argv, cwd, tty, copies)

    directory = record_directory(one(given, "record"))
    if directory is None:
        return start()
    from wardian.cli.recording import given_by_the_caller, recorded
    from wardian.observe.record import Run, Skill

    about = Run(
        kind="exec" if skill is None else "run",
        command=tuple(argv),
        policy=sandbox.policy,
        backend=one(given, "backend") or "wardian",
        cwd=cwd,
        given=given_by_the_caller(policy),
        skill=Skill(*skill) if skill is not None else None,
    )
    return recorded(directory, about, start, spool=spool)


def passed_through(
    sandbox: Sandbox, argv: list[str], cwd: str | None, tty: bool, copies: Copies | None = None
) -> Result:
    """Run the command on our own standard streams, or with ``tty`` on a terminal beside ours."""
    saved = _terminal_state() if tty else None
    try:
        with _Signals() as signals:
            return signals.attend(sandbox.start_inherited(argv, cwd=cwd, tty=tty, copies=copies))
    finally:
        if saved is not None:
            _restore_terminal(saved)


def captured(sandbox: Sandbox, argv: list[str], cwd: str | None, spool: Spool) -> Result:
    """Standard input is ours still; output goes into the spool. The guest itself sees pipes."""
    kept: list[int] = []
    try:
        kept += [os.dup(1), os.dup(2)]
    except OSError as error:
        for fd in kept:
            os.close(fd)
        raise BackendError(
            f"output can't be kept: {(error.strerror or '').lower()}",
            hint="run without --json, or see ulimit -n",
        ) from None
    with _Signals() as signals:
        try:
            for target, fd in enumerate(spool.fds, 1):
                os.dup2(fd, target)
            process = sandbox.start_inherited(argv, cwd=cwd, tty=False)
        finally:
            for target, fd in enumerate(kept, 1):
                os.dup2(fd, target)
                os.close(fd)
        return signals.attend(process)


class spooled:  # noqa: N801 - used like a function; contextlib costs a start more than this
    """A spool, where a document is asked for; None otherwise. Raises BackendError."""

    def __init__(self, *, as_json: bool) -> None:
        self._spool: Spool | None = None
        if as_json:
            from wardian.cli.spool import Spool

            self._spool = Spool()

    def __enter__(self) -> Spool | None:
        return self._spool

    def __exit__(self, *error: object) -> None:
        if self._spool is not None:
            self._spool.close()


def print_document(result: Result, more: dict[str, Any], spool: Spool) -> None:
    """The result as JSON on stdout, with its output and ``more``."""
    from wardian.cli.spool import Document, print_json

    within = Document(spool)
    print_json(document_of(result, within) | more, within)


def document_of(result: Result, output_in: Document | None = None) -> dict[str, Any]:
    """Output that was spooled is put in when the document is written."""
    document = result.document(output=True)
    document["command"] = [output.valid(word) for word in result.command]
    document["detail"] = output.valid(result.detail)
    return document if output_in is None else document | output_in.fields()


# Signals


class _Signals:
    """While it is entered, every signal that comes is handed on to the guest, and what comes
    before there is one waits for it. What was ignored when we were started stays ignored."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._waiting: list[int] = []
        self._interrupts: list[float] = []
        self._terminals = [fd for fd in range(3) if os.isatty(fd)]
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> _Signals:
        handlers: dict[int, Any] = dict.fromkeys(FORWARDED, self._forward)
        handlers |= {signal.SIGTSTP: self._stop, signal.SIGALRM: self._end}
        for number, handler in handlers.items():
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._previous[number] = signal.signal(number, handler)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def attend(self, process: Process) -> Result:
        """Wait for the end of the run."""
        self._process = process
        for number in self._waiting:
            self._forward(number, None)
        return process.pump()

    def _forward(self, number: int, frame: FrameType | None) -> None:
        if self._process is None:
            if number == signal.SIGINT and number in self._waiting:
                raise KeyboardInterrupt  # nothing may ever start, for a share that does not answer
            self._waiting.append(number)
            return
        if number == signal.SIGINT:
            now = time.monotonic()
            if self._interrupts and now - self._interrupts[-1] < SECOND_INTERRUPT_S:
                self._process.kill()
                return
            self._interrupts.append(now)
        self._process.send_signal(number)
        if number == signal.SIGHUP and not all(os.isatty(fd) for fd in self._terminals):
            # The terminal itself is gone: a guest that ignores this goes with it.
            signal.setitimer(signal.ITIMER_REAL, HANGUP_S)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if self._process is not None:
            self._process.kill()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        # The guest's group is an orphaned one, which SIGTSTP does not stop; SIGSTOP does.
        process = self._process
        if process is not None:
            process.send_signal(signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
        if process is not None:
            process.send_signal(signal.SIGCONT)


# The terminal


def _terminal_state() -> list[Any] | None:
    import termios

    try:
        return termios.tcgetattr(0)
    except termios.error:
        return None


def _restore_terminal(saved: list[Any]) -> None:
    """The supervisor does this itself; it is done here too in case it was killed."""
    import termios

    try:
        if termios.tcgetattr(0) == saved:
            return
        previous = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        termios.tcsetattr(0, termios.TCSADRAIN, saved)
        signal.signal(signal.SIGTTOU, previous)
    except termios.error:
        sys.stderr.flush()  # the terminal itself is gone
