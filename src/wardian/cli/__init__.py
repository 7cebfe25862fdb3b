"""The command line. This module dispatches; each command imports its own work when called.

``exec``, ``run``, ``up`` and ``trace`` are dispatched without click: importing it takes three times
as long as starting Python, and a sandbox that starts in milliseconds should not wait for it.

commands    all commands by name, as click commands
exec, run, trace, learn           commands that run something
inside      exec --sandbox: a command in a living sandbox
up, ps, logs, forward, down       living sandboxes
supervised  renders the results of their commands, in the supervising process
running     one run: terminal, streams, record, summary; shared by exec and run
assembled   a run with a skill, packages, state or kept files
signals     forwarding of signals, and the state of the terminal
asking      --net ask: questions on the terminal
prompt      the prompt of a shell inside
recording                         records of runs
settings, configured, projects, trusting    settings: where they are, and what they say
config      the command that shows them
options, policy_flags, paths      options of a run, parsed by hand and by click
test, new, install, check, list, show, pack, unpack    skills
doctor, policy, log, cache        the host, policies, records of runs, prepared packages
help, completion                  topics, the man page, completion scripts
manual, walking                   the man page in roff; all commands with their options
topics/     the texts of `wardian help`
probe, suite, syscalls, nightly, history, report    measurements
probe_fuzz, probe_options, probe_reading, syscalls_coverage    their subcommands
summary, refused, trace_page, log_page   results formatted for people
hints       packages and modules that a run lacks
again       the command that widens a learned policy after a failed run
output, spool, progress, quiet    errors, JSON documents, captured output, progress, -q
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
FAILED = 125
GUESTS = ("exec", "run", "trace")  # commands that exit with the guest's code


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
    """Run one command line and return its exit code; errors are reported on stderr."""
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
    """Print the entries of PATH that were skipped because a guest may have written to them."""
    programs = sys.modules.get("wardian.sandbox.root.programs")
    own = words[: words.index("--")] if "--" in words else words
    if programs is None or "-q" in own or "--quiet" in own:
        return
    for entry, why in programs.skipped_entries().items():
        from wardian.cli import output
        from wardian.text import printable

        output.say(f"wardian: PATH: {printable(entry)} was skipped: {printable(why)}")


def _open_standard_streams() -> None:
    """Open /dev/null for each closed descriptor of 0, 1, 2, so that no later open() gets one."""
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
    """The exit code of a process killed by SIGPIPE: 128 + 13."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError:
        pass
    return 141


def _flush(code: int) -> int:
    """Flush stdout here, so that a failure is our error message and not Python's."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _reader_went_away()
    except (OSError, ValueError) as error:
        try:
            sys.stderr.write(f"error: cannot write to standard output: {error}\n")
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        except (OSError, ValueError):
            pass
        return code or FAILED
    return code
