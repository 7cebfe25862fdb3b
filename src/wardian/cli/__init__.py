"""The door people use. This module only chooses; each command imports its own work when called.

``exec`` has a path of its own that leaves click out: importing click costs three times the start of
Python, and a sandbox that starts in milliseconds should not wait for it.

commands    the others by name, as click knows them
exec, run, trace, learn           commands that run something
inside      exec in a sandbox that stays
up, ps, logs, forward, down       sandboxes that stay
supervised  the results of their commands in words, in the process that holds one
running     what exec and run share
assembled   a skill and packages for the command that is run
signals     signals and the terminal while a guest runs
asking      the person at the terminal is asked about the network
recording, settings               whether and how a run is recorded
options, policy_flags, paths      the options of a run, for them and for click
test, new, install, check, list, show, pack, unpack    skills
doctor, policy, log, cache        this host, a policy, the records of runs, prepared packages
probe, suite, syscalls, nightly, history, report    measuring
probe_fuzz, probe_options, probe_reading, syscalls_coverage    their subcommands
summary, refused, trace_page, log_page   what people read
hints       what a run lacks, during it and after it
again       how a learned policy is widened by a run that failed under it
output, spool, progress, quiet    how it is written: text, documents, a bar on a terminal, nothing
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
FAILED = 125
GUESTS = ("exec", "run", "trace")  # whose exit codes are the guest's


def main() -> None:
    """The console script ``wardian``."""
    code = FAILED
    try:
        _open_standard_streams()
        code = dispatch(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    finally:
        code = _flush(code)
    sys.exit(code)


def dispatch(args: Sequence[str]) -> int:
    """Run one command line and return its exit code; whatever goes wrong is told on stderr."""
    from wardian.cli import output

    words = list(args)
    try:
        if words and words[0] == "exec":
            from wardian.cli import exec as exec_command

            return exec_command.run(words[1:])
        if words and words[0] == "run":
            from wardian.cli import run as run_command

            return run_command.run(words[1:])
        if words and words[0] == "up":
            from wardian.cli import up

            return up.run(words[1:])
        if words and words[0] == "trace":
            from wardian.cli import trace

            return trace.run(words[1:])
        from wardian.cli import commands

        return commands.run(words)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return _reader_went_away()
    except Exception as error:
        return output.report(
            error,
            as_json=_wants_json(words),
            own_codes=words[:1] not in ([name] for name in GUESTS),
        )
    finally:
        _name_skipped_entries(words)


def _name_skipped_entries(words: list[str]) -> None:
    """What PATH names and was not looked in, since a guest may have written there; once."""
    programs = sys.modules.get("wardian.sandbox.root.programs")
    own = words[: words.index("--")] if "--" in words else words
    if programs is None or "-q" in own or "--quiet" in own:
        return
    for entry, why in programs.skipped_entries().items():
        from wardian.cli import output
        from wardian.text import printable

        output.say(f"wardian: PATH: {printable(entry)} was skipped: {printable(why)}")


def _open_standard_streams() -> None:
    """/dev/null where 0, 1 or 2 was closed: no file of ours may land there."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            try:
                os.open(os.devnull, os.O_RDWR)
            except OSError:
                return
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _wants_json(words: list[str]) -> bool:
    """``--json`` among the options, not among the words of the guest's command."""
    return "--json" in (words[: words.index("--")] if "--" in words else words)


def _reader_went_away() -> int:
    """As a program without Python would end: by SIGPIPE, told as 128 + 13."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError:
        pass
    return 141


def _flush(code: int) -> int:
    """Write out what is buffered, so that Python need not complain when it can't."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _reader_went_away()
    except (OSError, ValueError) as error:
        try:
            sys.stderr.write(f"error: standard output can't be written: {error}\n")
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        except (OSError, ValueError):
            pass
        return code or FAILED
    return code
