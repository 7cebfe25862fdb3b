"""The API as a program uses it: one run, its result as one line of JSON, errors on stderr."""

import json
import os
import sys


def main() -> int:
    from wardian import Policy, Sandbox, WardianError

    try:
        with Sandbox.create(Policy.default()) as sandbox:
            result = sandbox.run(sys.argv[1:])
    except WardianError as error:
        say(2, f"error: {error}\n\nhint: {error.hint or ''}\n")
        return error.exit_code
    document = result.document(output=True)
    say(1, json.dumps(document) + "\n")
    return result.exit_code


def say(fd: int, text: str) -> None:
    try:
        os.write(fd, text.encode())
    except OSError:
        pass  # closed, which is one of the things that are tried


sys.exit(main())
