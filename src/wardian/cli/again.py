"""The command that widens a learned policy after a run failed under it."""

from __future__ import annotations

import os
import stat

from wardian.cli import output
from wardian.cli.options import Given, is_file, one

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wardian.sandbox.run.result import Result

_KNOWN_TO_LEARN = ("work", "cwd", "state", "with", "no-deps", "offline", "build", "skill")


def learn_again(
    result: Result, given: Given, before: Sequence[str], after: Sequence[str]
) -> list[str]:
    """The command line; empty if the run passed or its policy was not learned. ``before`` names a
    script (or is empty), ``after`` holds its arguments, or the command."""
    from wardian.cli.running import ORDINARY_SIGNALS

    by_hand = result.reason == "signal" and result.signal in ORDINARY_SIGNALS
    if result.ok or by_hand or result.backend not in ("", "wardian"):
        return []
    if not was_learned(one(given, "policy")) or "rootfs" in given:
        return []
    words = [*_start(given), *_input(), *before]
    return [*words, "--", *after] if after else words


def learn_cases_again(
    given: Given, skill: str, cases: str | None, pattern: str | None
) -> list[str]:
    """The command line for failed cases of a skill; empty if their policy was not learned."""
    if not was_learned(one(given, "policy")):
        return []
    words = [*_start(given), skill]
    words += ["--cases", cases] if cases is not None else []
    return words + (["--case", pattern] if pattern is not None else [])


def was_learned(policy: str | None) -> bool:
    """Whether ``wardian learn`` wrote this policy file."""
    if policy is None or not is_file(policy):
        return False
    from wardian.errors import WardianError
    from wardian.learn.learned import starts_as_learned

    try:
        return starts_as_learned(policy)
    except WardianError:
        return False


def print_again(words: Sequence[str], what: str = "this run") -> None:
    """Print the command on one line, quoted for a shell."""
    if words:
        from wardian.text import shell_word

        output.say(f"wardian: learn again with {what}: {' '.join(map(shell_word, words))}")
        if what == "this run" and _kind_of_input() == "pipe":
            output.say(
                "wardian: standard input was a pipe; pipe in the same data and add --input -"
            )


def _start(given: Given) -> list[str]:
    from wardian.cli.options import POLICY_OPTIONS

    words = ["wardian", "learn", "--add", given["policy"][0]]
    taken = {option.name for option in POLICY_OPTIONS} - {"policy"} | set(_KNOWN_TO_LEARN)
    for name, values in given.items():
        if name in taken:
            for value in values:
                words += [f"--{name}", value] if value else [f"--{name}"]
    return words


def _kind_of_input() -> str:
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return ""
    return "file" if stat.S_ISREG(mode) else "pipe" if stat.S_ISFIFO(mode) else ""


def _input() -> list[str]:
    """``--input FILE`` if standard input was a file."""
    if _kind_of_input() != "file":
        return []
    try:
        path = os.readlink("/proc/self/fd/0")
        same = os.path.samestat(os.stat(path), os.fstat(0))
    except OSError:
        return []
    return ["--input", path] if same else []
