"""One run, for ``exec`` and ``run``: on this terminal or captured into a document, recorded if the
caller wants that, and summarised afterwards. ``trace`` watches such a run."""

from __future__ import annotations

import os

from wardian.cli import output
from wardian.cli.options import ASK, Given, choice, one
from wardian.cli.settings import backend_of, record_directory
from wardian.cli.signals import Forwarding, restore_terminal, terminal_state
from wardian.errors import BackendError, UsageError

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    from wardian.cli.asking import TerminalQuestions
    from wardian.cli.spool import Spool, SpooledDocument
    from wardian.runner.location import Located
    from wardian.runner.script import Chosen
    from wardian.sandbox.backends import Copies, OnRefusal
    from wardian.sandbox.policy.policy import Policy
    from wardian.sandbox.run.result import Protection, Refusal, Result
    from wardian.sandbox.run.unreached import OnUnreached, Unreached
    from wardian.sandbox.sandbox import Sandbox

    class RunWatcher(Protocol):
        """Watches a run that a command starts, and reports it in the command's place."""

        def sandbox(
            self, policy: Policy, *, backend_name: str, private_work: bool = False
        ) -> Sandbox: ...

        def report(self, result: Result, about: dict[str, Any], spool: Spool | None) -> int:
            """Report the run and return the exit code; ``about`` is added to the JSON document."""


TTY_CHOICES = ("auto", "yes", "no")
WORK = "/work"
CONNECTION_FILES = 4096
# Signals that people send on purpose need no explanation: HUP, INT, PIPE, TERM.
ORDINARY_SIGNALS = (1, 2, 13, 15)
# A helper process of Python that ends some milliseconds after its parent.
TRACKER = "multiprocessing.resource_tracker"


def wants_tty(given: Given) -> bool:
    """Whether the guest gets a terminal of its own. Raises UsageError."""
    wanted = choice(given, "tty", TTY_CHOICES)
    if "json" in given:
        if wanted == "yes":
            raise UsageError("--tty yes and --json cannot be combined")
        return False
    if wanted == "auto":
        return os.isatty(0) and os.isatty(1)
    if wanted == "yes" and not (os.isatty(0) and os.isatty(1)):
        raise UsageError(
            "--tty yes needs a terminal as standard input and output",
            hint="omit --tty, or run under a terminal: script -qc 'wardian exec …' /dev/null",
        )
    return wanted == "yes"


def working_directory(given: Given) -> str | None:
    """The working directory inside; None for the default."""
    cwd = one(given, "cwd")
    return os.path.join(WORK, cwd) if cwd is not None else None


def for_guest(policy: Policy) -> Policy:
    """The policy of a run; with network, it also gets the user's package index settings."""
    if policy.network == "none":
        return policy
    from wardian.runner.guest_indexes import with_indexes

    return with_indexes(policy, os.environ)


# Running: passed through or captured, recorded or not


def ran(
    sandbox: Sandbox,
    argv: Sequence[str],
    given: Given,
    policy: Policy,
    *,
    tty: bool,
    skill: tuple[str, str, str, str, dict[str, Any] | None] | None = None,
    spool: Spool | None = None,
    hints: list[str] | None = None,
) -> Result:
    """Run the command. ``policy`` is the caller's; the sandbox's may allow more, for the skill.
    ``skill`` is what a record notes: name, origin, script (empty for a command), folder, requests.
    ``spool`` receives the output, ``hints`` the lines printed during the run."""
    cwd = working_directory(given)
    if sandbox.policy.network == "names":
        make_room()
    heard = None if "quiet" in given else _hinting(policy, hints, tty=tty)

    def start(copies: Copies | None = None) -> Result:
        with _questions(sandbox, given) as questions:
            if spool is not None:
                return captured(sandbox, argv, cwd, spool, heard, questions)
            return passed_through(sandbox, argv, cwd, tty, copies, heard, questions)

    directory = record_directory(one(given, "record"))
    if directory is None:
        return start()
    from wardian.cli.recording import given_by_the_caller, recorded
    from wardian.observe.record import RecordedRun, RecordedSkill

    about = RecordedRun(
        kind="run" if skill is not None and skill[2] else "exec",
        command=tuple(argv),
        policy=sandbox.policy,
        backend=backend_of(given),
        cwd=cwd,
        given=given_by_the_caller(policy),
        skill=RecordedSkill(*skill) if skill is not None else None,
    )
    return recorded(directory, about, start, spool=spool)


class _NoQuestions:
    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


def _questions(sandbox: Sandbox, given: Given) -> TerminalQuestions | _NoQuestions:
    """The questions of ``--net ask``. Raises UsageError without a terminal."""
    if ASK not in given.get("net", ()):
        return _NoQuestions()
    from wardian.cli.asking import TerminalQuestions

    questions = TerminalQuestions()
    sandbox.on_connect = questions
    return questions


def make_room() -> None:
    """Raise RLIMIT_NOFILE: each connection of a network by name takes two descriptors here."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTION_FILES if hard == resource.RLIM_INFINITY else min(CONNECTION_FILES, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _hinting(policy: Policy, hints: list[str] | None, *, tty: bool) -> OnUnreached:
    """A callback that prints hints for package tools; it imports its work when first called."""
    callbacks: list[OnUnreached] = []

    def show(unreached: Unreached) -> None:
        from wardian.cli.hints import live_hints

        if not callbacks:
            callbacks.append(live_hints(policy, [] if hints is None else hints, tty=tty))
        callbacks[0](unreached)

    return show


def passed_through(
    sandbox: Sandbox,
    argv: Sequence[str],
    cwd: str | None,
    tty: bool,
    copies: Copies | None = None,
    heard: OnUnreached | None = None,
    questions: TerminalQuestions | None = None,
) -> Result:
    """Run the command on our standard streams, or with ``tty`` on a pseudo-terminal."""
    saved = terminal_state() if tty else None
    try:
        with Forwarding() as signals:
            process = sandbox.start_inherited(
                argv,
                cwd=cwd,
                env=_prompt(sandbox, argv) if tty else None,
                tty=tty,
                copies=copies,
                on_unreached=heard,
                on_refusal=None if heard is None else _saying(heard, tty=tty),
                tail=True,
            )
            if questions is not None:
                questions.about(process)
            return signals.attend(process)
    finally:
        if saved is not None:
            restore_terminal(saved)


def _prompt(sandbox: Sandbox, argv: Sequence[str]) -> dict[str, str] | None:
    """Variables for the prompt of a shell; what the caller sets wins."""
    from wardian.cli.prompt import prompt_variables

    given = dict(sandbox.policy.set_env)
    return {k: v for k, v in prompt_variables(argv).items() if k not in given} or None


def _saying(heard: OnUnreached, *, tty: bool) -> OnRefusal:
    """A callback that prints refusals of a network by name at once, since a program may hang on
    them. Refused names also go to ``heard``."""

    def show(refusal: Refusal) -> None:
        from wardian.cli.hints import unreached_name
        from wardian.cli.refused import live_line

        line = live_line(refusal)
        output.say(f"\r{line}\r" if tty else line)
        if refusal.action == "resolve":
            heard(unreached_name(refusal))

    return show


def captured(
    sandbox: Sandbox,
    argv: Sequence[str],
    cwd: str | None,
    spool: Spool,
    heard: OnUnreached | None = None,
    questions: TerminalQuestions | None = None,
) -> Result:
    """Run the command on our standard input, with its output captured in the spool."""
    kept: list[int] = []
    try:
        kept += [os.dup(1), os.dup(2)]
    except OSError as error:
        for fd in kept:
            os.close(fd)
        raise BackendError(
            f"cannot capture output: {(error.strerror or '').lower()}",
            hint="run without --json, or raise the limit of open files: ulimit -n",
        ) from None
    with Forwarding() as signals:
        try:
            for target, fd in enumerate(spool.fds, 1):
                os.dup2(fd, target)
            process = sandbox.start_inherited(
                argv, cwd=cwd, tty=False, on_unreached=heard, tail=True
            )
        finally:
            for target, fd in enumerate(kept, 1):
                os.dup2(fd, target)
                os.close(fd)
        if questions is not None:
            questions.about(process)
        return signals.attend(process)


class spooled:  # noqa: N801 - used like a function; importing contextlib is slower
    """A context manager: a spool with ``as_json``, else None. Raises BackendError."""

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
    """Print the result as JSON on stdout, with its output and ``more``."""
    from wardian.cli.spool import SpooledDocument, print_json

    within = SpooledDocument(spool)
    more["hints"] = [output.valid(line.removeprefix("wardian: ")) for line in more["hints"]]
    print_json(document_of(result, within) | more, within)


def document_of(result: Result, output_in: SpooledDocument | None = None) -> dict[str, Any]:
    """The result as a document; spooled output is inserted when it is written."""
    document = result.document(output=True)
    document["command"] = [output.valid(word) for word in result.command]
    document["detail"] = output.valid(result.detail)
    return document if output_in is None else document | output_in.fields()


# Reporting


def report_result(result: Result, *, verbose: int, quiet: bool) -> None:
    """Print a summary on stderr if it is wanted or needed."""
    if verbose or (not quiet and noteworthy(result)):
        from wardian.cli.summary import overlooked, summary

        for line in summary(result, verbose=verbose):
            output.say(line)
        hint = overlooked(result.command[0]) if result.reason == "not found" else None
        if hint is not None:
            output.say_hint(hint)
    if not quiet and not result.ok:
        _name_left_out()


def _name_left_out() -> None:
    """Print the environments on PATH that were skipped because a guest may have written to them."""
    from wardian.sandbox.root.active import left_out
    from wardian.sandbox.root.programs import skipped_entries

    named = skipped_entries()
    for entry, why in left_out().items():
        if entry not in named:
            from wardian.text import printable, quoted

            line = f"wardian: PATH: {printable(entry)} was skipped: {printable(why)}"
            prefix, name = os.path.split(entry)
            share = f"; to share it: --read {quoted(prefix)}" if name == "bin" else ""
            output.say(line + (share if prefix.isprintable() else ""))


def again(
    result: Result, given: Given, before: Sequence[str], after: Sequence[str]
) -> dict[str, list[str]]:
    """For the document: the command that widens the learned policy after a failed run, if any."""
    if result.ok or "policy" not in given:
        return {}
    from wardian.cli.again import learn_again

    words = learn_again(result, given, before, after)
    return {"learn_again": [output.valid(word) for word in words]} if words else {}


def print_again(again: dict[str, list[str]], given: Given) -> None:
    """Print that command, before the summary."""
    if again and "quiet" not in given and "json" not in given:
        from wardian.cli import again as learning

        learning.print_again(again["learn_again"])


def print_missing(
    result: Result, given: Given, skill: Located | None = None, script: Chosen | None = None
) -> list[str]:
    """Print hints for a module that the run missed; returns the lines."""
    failed = result.exit_code != 0
    if "quiet" in given or not (may_miss_a_module(result) or (skill is not None and failed)):
        return []
    from wardian.cli.hints import missing_lines

    lines = missing_lines(result, skill, script, no_deps="no-deps" in given)
    for line in lines:
        output.say(line)
    return lines


def may_miss_a_module(result: Result) -> bool:
    """Whether the end of standard error may name a missing module."""
    if not result.stderr_tail or result.exit_code != 0:
        return bool(result.stderr_tail)
    # In a pipeline the exit code may be another program's: then only the last line counts.
    last = result.stderr_tail.rstrip().rpartition(b"\n")[2]
    return b"No module named" in last or last.startswith(b"Node.js v")


def noteworthy(result: Result) -> bool:
    """Whether the run needs a summary beyond its exit code."""
    if result.reason == "signal":
        return result.signal not in ORDINARY_SIGNALS
    if result.reason != "exited" or result.truncated or result.backend == "host":
        return True
    if given_up(result) or left_running_news(result) or lookups_unseen(result):
        return True
    return has_notable_refusals(result)


def has_notable_refusals(result: Result) -> bool:
    """Whether a refusal was not routine."""
    if not result.refusals or result.refusals_dropped:
        return result.refusals_dropped > 0  # what was not recorded may be anything
    from wardian.sandbox.refusals.ranking import is_news

    return any(is_news(one, failed=result.exit_code != 0) for one in result.refusals)


def lookups_unseen(result: Result) -> bool:
    """Whether the run failed and this host could not observe lookups of missing files."""
    from wardian.sandbox.run.protections import UNSEEN

    failed = result.reason == "exited" and result.exit_code != 0
    return failed and any(wall.enforced and wall.note == UNSEEN for wall in result.protections)


def left_running_news(result: Result) -> bool:
    """Whether a process was ended that would not have exited by itself soon."""
    return result.left_running_more > 0 or any(
        TRACKER not in one.command for one in result.left_running
    )


def given_up(result: Result) -> list[Protection]:
    """Walls that were requested and available, but given up by the caller.

    Walls that this kernel lacks, and that the policy does not require, are not among them.
    """
    return [p for p in result.protections if p.requested and p.available and not p.enforced]
