"""What a Python specimen needs: command line, observation, exit code. It needs no wardian.

A specimen declares ``CAPABILITY`` and one function that performs one operation. Returning means
allowed (the text returned is the detail); an OSError means blocked, its errno is recorded.
Imports are few on purpose: a specimen's start is most of what it costs.
"""

import errno
import os
import sys

SCHEMA = "wardian.observation/1"
DETAIL_SIZE = 500


class Blocked(Exception):  # noqa: N818 - reads as the fact it states
    """The operation was refused in a way that no OSError expresses; ``name`` is an errno's name."""

    def __init__(self, detail, name=None):
        super().__init__(detail)
        self.name = name


class Unavailable(Exception):  # noqa: N818
    """The question can't be put here: a program, a file or a kernel feature is missing."""


def main(capability, exercise):
    """Perform the operation, write what was observed, exit: 0 as expected, 1 otherwise."""
    output, probe_id = _arguments()
    observed, name, detail = observe(exercise)
    expected = "blocked" if os.environ.get("PROBE_EXPECT") == "blocked" else "allowed"
    status = classify(observed, expected)
    fields = {
        "schema": SCHEMA,
        "id": probe_id,
        "capability": capability,
        "language": "python",
        "observed": observed,
        "errno": name,
        "detail": detail,
        "expected": expected,
        "status": status,
    }
    pairs = (f"{_quoted(name)}: {_quoted(value)}" for name, value in fields.items())
    _write(output, "{" + ", ".join(pairs) + "}\n")
    sys.stdout.flush()
    sys.exit(0 if status in ("supported", "blocked_expected") else 1)


def observe(exercise):
    """(observed, errno name, detail) of one call."""
    try:
        detail = exercise()
    except Blocked as refusal:
        return "blocked", refusal.name, str(refusal)
    except Unavailable as reason:
        return "unavailable", None, str(reason)
    except OSError as error:
        name = errno.errorcode.get(error.errno) if error.errno else None
        return "blocked", name, f"{type(error).__name__}: {error}"
    except Exception as error:  # a fault of the specimen is an observation too
        number = error.args[0] if error.args else None
        if type(error).__name__ == "error" and number in errno.errorcode:  # termios.error and kin
            return "blocked", errno.errorcode[number], str(error)
        return "error", None, f"{type(error).__name__}: {error}"
    return "allowed", None, str(detail or "")


def classify(observed, expected):
    """The status of an observation."""
    if observed == "allowed":
        return "supported" if expected == "allowed" else "allowed_unexpected"
    if observed == "blocked":
        return "blocked_expected" if expected == "blocked" else "blocked_unexpected"
    return observed


def scratch(name="probe"):
    """A path in the temporary directory that no other specimen uses; nothing is made there."""
    directory = os.environ.get("TMPDIR", "/tmp")
    return f"{directory}/wardian-{name}-{os.getpid()}-{os.urandom(4).hex()}"


def witness(name):
    """What the harness placed on the host, outside the sandbox: FILE, DIR, PORT, PID, …"""
    value = os.environ.get(f"PROBE_HOST_{name}")
    if not value:
        raise Unavailable(f"PROBE_HOST_{name} is not set: `wardian probe run` sets it")
    return value


def in_child(exercise, timeout_s=10):
    """Perform the operation in a child: for what can't be undone, and for what may kill.

    Its detail is returned, its OSError raised here; a child that a signal ends is Blocked.
    """
    import select
    import signal

    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            observed, name, detail = observe(exercise)
            detail = detail[:DETAIL_SIZE]
            os.write(write, f"{observed}\0{name or ''}\0{detail}".encode("utf-8", "replace"))
        finally:
            os._exit(0)
    os.close(write)
    data = b""
    while True:
        if not select.select([read], [], [], timeout_s)[0]:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(read)
            raise Blocked(f"the child did not end in {timeout_s} s")
        piece = os.read(read, 4096)
        if not piece:
            break
        data += piece
    os.close(read)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        raise Blocked(f"killed by {signal.Signals(os.WTERMSIG(status)).name}")
    observed, name, detail = data.decode().split("\0", 2)
    if observed == "blocked":
        raise Blocked(detail, name or None)
    if observed == "unavailable":
        raise Unavailable(detail)
    if observed == "error":
        raise RuntimeError(detail)
    return detail


def _arguments():
    """Where to write (None: standard output), and who this is."""
    words, output = sys.argv[1:], None
    while words:
        word = words.pop(0)
        if word.startswith("--output="):
            output = word[len("--output=") :]
        elif word == "--output" and words:
            output = words.pop(0)
        else:
            sys.stderr.write(f"usage: {sys.argv[0]} [--output PATH]\n")
            sys.exit(2)
    probe_id = os.environ.get("PROBE_ID")
    if output is None and probe_id:
        output = f"artifacts/{probe_id}.json"
    if output in (None, "-"):
        return None, probe_id or _id_of_path()
    return os.path.abspath(output), probe_id or _id_of_path()  # the operation may change directory


def _id_of_path():
    parts = os.path.abspath(sys.argv[0]).rsplit(".", 1)[0].split("/")
    for kind in ("core", "fuzz"):
        if kind in parts:
            last = len(parts) - 1 - parts[::-1].index(kind)
            return "__".join(parts[last:])
    return parts[-1]


def _write(output, text):
    if output is None:
        sys.stdout.write(text)
        return
    os.makedirs(os.path.dirname(output), exist_ok=True)
    temporary = f"{output}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, output)


def _quoted(value):
    """A JSON string of ASCII characters, or null."""
    if value is None:
        return "null"
    value = value[:DETAIL_SIZE].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return '"' + "".join(_escaped(character) for character in value) + '"'


def _escaped(character):
    if character in '"\\':
        return "\\" + character
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return character
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
