"""Runs one command and keeps the stream of its trace: what strace is made to watch from outside.

traced_run.py STREAM once|every WORK COMMAND…
"""

from __future__ import annotations

import sys

from wardian import Policy, Sandbox


def main() -> int:
    """The command's exit code."""
    stream, mode, work, *command = sys.argv[1:]
    reported = bytearray()
    with Sandbox(Policy.default()._replace(work=work)) as sandbox:
        result = sandbox.trace(command, on_trace=reported.extend, every=mode == "every")
    with open(stream, "wb") as file:
        file.write(reported)
    sys.stdout.buffer.write(result.stdout)
    sys.stderr.buffer.write(result.stderr)
    return result.exit_code


if __name__ == "__main__":
    sys.exit(main())
