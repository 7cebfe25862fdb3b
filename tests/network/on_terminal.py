"""A command on a terminal of its own: ``on_terminal.py STEPS COMMAND…``, where STEPS is a JSON list
of pairs: text to wait for, text to type then. Prints a JSON document with what appeared, how it
ended, and whether the terminal was left as it was."""

from __future__ import annotations

import json
import os
import pty
import select
import sys
import termios
import time

LONGEST_S = 40.0


def main(steps: list[list[str]], command: list[str]) -> None:
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)  # noqa: S606
    before, seen, deadline = termios.tcgetattr(fd), b"", time.monotonic() + LONGEST_S
    at = 0
    while time.monotonic() < deadline:
        if steps and steps[0][0].encode() in seen[at:]:
            wanted, typed = steps.pop(0)
            at = seen.index(wanted.encode(), at) + len(wanted.encode())
            time.sleep(0.2)
            os.write(fd, typed.encode())
        if not select.select([fd], [], [], 0.1)[0]:
            continue
        try:
            piece = os.read(fd, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    left = termios.tcgetattr(fd)
    os.close(fd)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    document = {"seen": seen.decode("latin-1"), "code": code, "same": left[:4] == before[:4]}
    print(json.dumps(document | {"left": steps}))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:])
