"""``wardian up``: start a living sandbox, in which commands run with ``exec --sandbox``."""

from __future__ import annotations

import os

from wardian.cli import output, running
from wardian.cli.options import (
    ASSEMBLED,
    EXEC_OPTIONS,
    Given,
    Option,
    bounded_duration,
    one,
    parse_between,
    policy_of,
)
from wardian.errors import SandboxError, UsageError

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Callable

    import click

    from wardian.living.detaching import Readiness
    from wardian.sandbox.policy.policy import Policy
    from wardian.sandbox.sandbox import Sandbox

    Ends = tuple[float | None, int | None]  # idle time; process whose end ends the sandbox

# Options of one command or one run, not of a living sandbox.
_NOT_TAKEN = frozenset(("out", "force", "cwd", "backend", "tty", "record", "json"))
_OWN = (
    Option(
        "idle",
        "DURATION",
        "End the sandbox after this long without a command, or none.",
        default="30m",
    ),
    Option("keep", "", "Keep the sandbox when this login session ends."),
    Option("program", "PROGRAM", "Make a program outside of /usr available.", several=True),
    Option("json", "", "Print name and socket as one JSON document."),
)
UP_OPTIONS = (*_OWN, *(option for option in EXEC_OPTIONS if option.name not in _NOT_TAKEN))
IDLE = "30m"

HELP = """Start a living sandbox and return. Commands run in it with `wardian exec --sandbox NAME`.

Its commands share /tmp, home, /work, processes, loopback and limits; each has its own streams and
time limit. The policy is set here, with the options of `wardian exec`. Without NAME, a name is
generated and printed.

The sandbox ends with `wardian down`, after --idle without a command (background commands count as
activity), or with the login session of this terminal.
"""
EXAMPLES = """\b
Examples:
  wardian up dev --work . --net pypi.org --net files.pythonhosted.org
  wardian exec --sandbox dev --background -- python3 -m http.server 8000
  wardian exec --sandbox dev -- curl -s http://127.0.0.1:8000/
  wardian down dev
  name=$(wardian up --idle 5m --memory 1G)"""


def run(args: list[str]) -> int:
    """Run ``wardian up ARGS`` and return its exit code. Raises WardianError."""
    given, words = parse_between(args, UP_OPTIONS)
    if "help" in given:
        from wardian.cli import commands

        return commands.run(["up", "--help"])
    if len(words) > 1:
        raise UsageError(
            f"unexpected argument {words[1]!r}: a sandbox has one name",
            hint="to run a command in it: wardian exec --sandbox NAME -- COMMAND",
        )
    name = _free_name(words[0] if words else None)
    idle_s = _idle_s(given)
    leader = None if "keep" in given else session_leader()  # before forking
    from wardian.living.detaching import detached

    code = detached(lambda readiness: _reported(name, given, (idle_s, leader), readiness))
    if code == 0:
        _say_how(name, given, idle_s, leader)
    return code


def _free_name(wanted: str | None) -> str:
    """The name to use. Raises UsageError, and SandboxError if it is taken."""
    from wardian.living.client import sandbox_names
    from wardian.living.names import checked_name, made_up_name

    if wanted is not None:
        checked_name(wanted)
    taken = sandbox_names()
    if wanted is None:
        return made_up_name(taken)
    if wanted in taken:
        raise SandboxError(
            f"sandbox {wanted} exists already",
            hint=f"use it: wardian exec --sandbox {wanted} -- COMMAND; "
            f"or end it: wardian down {wanted}",
        )
    return wanted


def _idle_s(given: Given) -> float | None:
    text = one(given, "idle") or IDLE
    return None if text == "none" else bounded_duration("idle", text, "30m, or none")


def session_leader() -> int | None:
    """The session leader of our terminal; None without a terminal, or if it is this process, which
    ends before the sandbox."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return None
    leader = os.getsid(0)
    return leader if leader not in (0, os.getpid()) else None


def _say_how(name: str, given: Given, idle_s: float | None, leader: int | None) -> None:
    if "json" in given:
        from wardian.living.directory import SOCKET, directory_path

        socket = os.path.join(directory_path(), f"{name}{SOCKET}")
        output.print_json({"schema": "wardian.up/1", "name": name, "socket": output.valid(socket)})
        return
    output.print_text(name)
    if "quiet" in given:
        return
    ends = [f"`wardian down {name}`"]
    if idle_s is not None:
        ends.append(f"{one(given, 'idle') or IDLE} without a command")
    if leader is not None:
        ends.append("the end of this login session")
    output.say(f"wardian: {name} is up; it ends with {', or '.join(ends)}")
    output.say(f"  wardian exec --sandbox {name} -- COMMAND")


# In the supervising process


def _reported(name: str, given: Given, ends: Ends, readiness: Readiness) -> int:
    """Hold the sandbox; errors are printed until it is up, and logged later."""
    try:
        _hold(name, given, ends, readiness)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 130  # the waiting process is gone
    except Exception as error:
        return output.report(error, as_json="json" in given, own_codes=True)
    return 0


def _hold(name: str, given: Given, ends: Ends, readiness: Readiness) -> None:
    from wardian import __version__
    from wardian.cli.supervised import rendering
    from wardian.living.directory import SocketDirectory
    from wardian.living.supervising import Lifetime, Supervisor

    policy = policy_of(given)
    around, over = _surroundings(given, policy)
    try:
        with SocketDirectory(make=True) as directory, _started(around, given) as sandbox:
            words = rendering(rootfs=policy.rootfs is not None)
            held = Supervisor(name, sandbox, Lifetime(*ends), words, __version__)
            held.hold(directory, readiness)
    finally:
        over()


def _surroundings(given: Given, policy: Policy) -> tuple[Policy, Callable[[], None]]:
    """The policy with the requested skill and packages, and a cleanup function. Raises
    WardianError."""
    around = running.for_guest(policy)
    if ASSEMBLED.isdisjoint(given):
        return around, lambda: None
    from wardian.cli.assembled import skill_of, wanted_of, where
    from wardian.cli.progress import PreparationProgress
    from wardian.runner.assembly import assembled
    from wardian.runner.interpreters import Missing
    from wardian.runner.invocation import under
    from wardian.runner.location import located

    skill = one(given, "skill")
    opened = located(skill_of(given, skill)) if skill is not None else None
    try:
        found = opened.__enter__() if opened is not None else None
        place = where(policy, "wardian")
        with PreparationProgress(quiet="quiet" in given) as say:
            call = assembled(found, None, (), wanted_of(found, given), where=place, say=say)
        if isinstance(call, Missing):
            raise SandboxError(call.why, hint=call.hint)
        return under(around, call), (opened.__exit__ if opened is not None else lambda: None)
    except BaseException:
        if opened is not None:
            opened.__exit__()
        raise


def _started(policy: Policy, given: Given) -> Sandbox:
    """A sandbox whose first command ran, so its walls are known to work. Raises SandboxError."""
    from wardian.sandbox.sandbox import Sandbox

    running.make_room()
    sandbox = Sandbox(
        policy, private_work=True, living=True, programs=tuple(given.get("program", ()))
    )
    try:
        first = sandbox.run(["true"])
    except BaseException:
        sandbox.close()
        raise
    if "quiet" not in given:
        from wardian.cli.summary import weaker

        for line in weaker(first):
            output.say(line)
    return sandbox


def __getattr__(name: str) -> click.Command:
    if name != "command":
        raise AttributeError(name)
    from wardian.cli.commands import rendered

    return rendered("up", run, UP_OPTIONS, ("[name]",), HELP, EXAMPLES)
