"""``wardian exec``: run any command in the sandbox, on this terminal, with our signals."""

from __future__ import annotations

import os
import signal
import sys
import time

from wardian.cli import output
from wardian.cli.options import EXEC_OPTIONS, Given, choice, one, parse, policy_of
from wardian.cli.settings import record_directory
from wardian.errors import BackendError, UsageError

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from wardian.sandbox.backends import Copies
    from wardian.sandbox.policy import Policy
    from wardian.sandbox.process import Process
    from wardian.sandbox.result import Protection, Result
    from wardian.sandbox.sandbox import Sandbox

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
    as_json, tty = "json" in given, _wants_tty(given)
    from wardian.sandbox.sandbox import Sandbox

    policy = policy_of(given)
    with Sandbox(
        policy, backend_name=one(given, "backend") or "wardian", private_work=True
    ) as sandbox:
        result = _ran(sandbox, argv, given, policy, tty=tty)
    if as_json:
        output.print_json(_document(result))
    _tell(result, verbose="verbose" in given, quiet="quiet" in given or as_json)
    return result.exit_code


def _wants_tty(given: Given) -> bool:
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


def _cwd(given: Given) -> str | None:
    cwd = one(given, "cwd")
    return os.path.join(WORK, cwd) if cwd is not None else None


def _tell(result: Result, *, verbose: bool, quiet: bool) -> None:
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
    return bool(given_up(result)) or (result.exit_code != 0 and bool(result.refusals))


def given_up(result: Result) -> list[Protection]:
    """Walls that were wanted and did not stand, by the caller's own leave.

    A wall that this kernel lacks, and that the policy did not insist on, is not among them; it is
    in the result.
    """
    return [p for p in result.protections if p.requested and p.available and not p.enforced]


# Running, in two ways, and both with a record of it or without


def _ran(
    sandbox: Sandbox,
    argv: list[str],
    given: Given,
    policy: Policy,
    *,
    tty: bool,
    skill: tuple[str, str, str, str] | None = None,
) -> Result:
    """``policy`` is the caller's own; the sandbox's may have more, for the skill, of which a record
    wants name, origin, script and folder."""
    cwd, as_json = _cwd(given), "json" in given

    def start(copies: Copies | None = None) -> Result:
        if as_json:
            return _captured(sandbox, argv, cwd)
        return _passed_through(sandbox, argv, cwd, tty, copies)

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
    return recorded(directory, about, start, captured=as_json)


def _passed_through(
    sandbox: Sandbox, argv: list[str], cwd: str | None, tty: bool, copies: Copies | None = None
) -> Result:
    saved = _terminal_state() if tty else None
    try:
        return _attended(sandbox.start_inherited(argv, cwd=cwd, tty=tty, copies=copies))
    finally:
        if saved is not None:
            _restore_terminal(saved)


def _captured(sandbox: Sandbox, argv: list[str], cwd: str | None) -> Result:
    """Standard input is ours still; output goes into memory. The guest itself only sees pipes."""
    try:
        kept = [os.dup(1), os.dup(2)]
        memory = [os.memfd_create(name, os.MFD_CLOEXEC) for name in ("stdout", "stderr")]
    except OSError as error:
        raise BackendError(
            f"output can't be kept in memory: {(error.strerror or '').lower()}",
            hint="run without --json, or see ulimit -n",
        ) from None
    try:
        try:
            for target, fd in enumerate(memory, 1):
                os.dup2(fd, target)
            process = sandbox.start_inherited(argv, cwd=cwd, tty=False)
        finally:
            for target, fd in enumerate(kept, 1):
                os.dup2(fd, target)
                os.close(fd)
        result = _attended(process)
        stdout, stderr = (_all_of(fd) for fd in memory)
    finally:
        for fd in memory:
            os.close(fd)
    return result._replace(stdout=stdout, stderr=stderr)


def _attended(process: Process) -> Result:
    """Wait for the end, and hand on every signal that comes meanwhile."""
    previous = _forward_signals(process)
    try:
        return process.pump()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _all_of(fd: int) -> bytes:
    pieces, at = [], 0
    while piece := os.pread(fd, 1 << 20, at):
        pieces.append(piece)
        at += len(piece)
    return b"".join(pieces)


def _document(result: Result) -> dict[str, Any]:
    document = result.document(output=True)
    document["command"] = [output.valid(word) for word in result.command]
    document["detail"] = output.valid(result.detail)
    for name, data in (("stdout", result.stdout), ("stderr", result.stderr)):
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            import base64

            document[f"{name}_base64"] = base64.b64encode(data).decode("ascii")
    return document


# Signals


def _forward_signals(process: Process) -> dict[int, Any]:
    """Handlers that hand signals on; what was ignored when we were started stays ignored."""
    interrupts: list[float] = []
    terminals = [fd for fd in range(3) if os.isatty(fd)]

    def forward(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT:
            now = time.monotonic()
            if interrupts and now - interrupts[-1] < SECOND_INTERRUPT_S:
                process.kill()
                return
            interrupts.append(now)
        process.send_signal(number)
        if number == signal.SIGHUP and not all(os.isatty(fd) for fd in terminals):
            # The terminal itself is gone: a guest that ignores this goes with it.
            signal.setitimer(signal.ITIMER_REAL, HANGUP_S)

    def end(number: int, frame: FrameType | None) -> None:
        process.kill()

    def stop(number: int, frame: FrameType | None) -> None:
        # The guest's group is an orphaned one, which SIGTSTP does not stop; SIGSTOP does.
        process.send_signal(signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
        process.send_signal(signal.SIGCONT)

    handlers: dict[int, Any] = dict.fromkeys(FORWARDED, forward)
    handlers |= {signal.SIGTSTP: stop, signal.SIGALRM: end}
    previous: dict[int, Any] = {}
    for number, handler in handlers.items():
        if signal.getsignal(number) is not signal.SIG_IGN:
            previous[number] = signal.signal(number, handler)
    return previous


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
