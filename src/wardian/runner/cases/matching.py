"""The child in which ``patterns`` evaluates regular expressions: a script, never imported.

Its arguments are limits of CPU seconds and memory. Blocks of an 8-byte length and UTF-8 come on
standard input, the text first, then the patterns; one word or sentence goes out.
"""

from __future__ import annotations

import re
import resource
import sys


def block() -> str:
    """The next one."""
    size = int.from_bytes(sys.stdin.buffer.read(8), "big")
    return sys.stdin.buffer.read(size).decode("utf-8", "surrogatepass")


def answer(count: int) -> str:
    """For the last pattern; or what is wrong with the first that is wrong."""
    text, outcome, number = block(), "", 0
    try:
        while number < count:
            outcome = "found" if re.compile(block(), re.MULTILINE).search(text) else "absent"
            number += 1
    except re.error as error:
        return f"wrong:{number}:{error}"
    except (RecursionError, OverflowError):
        return f"wrong:{number}:it is nested too deeply, or counts too far"
    return outcome


def main(cpu_s: int, memory_bytes: int, count: int) -> None:
    """Bounded by the kernel: nothing is written, no more files are opened."""
    for what, most in (
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 16),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))
    try:
        outcome = answer(count)
    except MemoryError:
        outcome = "memory"
    sys.stdout.write(ascii(outcome))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
