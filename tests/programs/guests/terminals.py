"""Pseudo-terminals: openpty, pty.spawn, a shell with job control, window sizes, stopped jobs."""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time


def converse(command: "list[str]", lines: "list[str]", until: bytes) -> bytes:
    child, master = pty.fork()
    if child == 0:
        os.environ["PS1"] = "> "
        os.execvp(command[0], command)  # noqa: S606
    for line in lines:
        os.write(master, line.encode() + b"\n")
        time.sleep(0.15)
    seen, deadline = b"", time.monotonic() + 20
    while until not in seen and time.monotonic() < deadline:
        if select.select([master], [], [], 1)[0]:
            try:
                seen += os.read(master, 4096)
            except OSError:
                break
    os.close(master)
    os.waitpid(child, 0)
    return seen


master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
print(
    "openpty",
    os.isatty(slave),
    os.ttyname(slave).startswith("/dev/pts/"),
    os.get_terminal_size(slave),
)
os.write(slave, b"line\n")
print("cooked", os.read(master, 100))

sys.stdout.flush()
status = pty.spawn(["sh", "-c", "test -t 0 && test -t 1 && echo on a terminal"])
print("spawn", status)

jobs = [
    "set -m",
    "sleep 100 &",
    "jobs -r | grep -c sleep",
    "kill -STOP %1",
    "sleep 0.3",
    "jobs -s | grep -c sleep",
    "bg %1",
    "kill %1",
    "wait %1; echo ended-$((128 + 15))",
    "exit",
]
said = converse(["bash", "--norc", "--noprofile", "-i"], jobs, b"ended-143")
print("job control", b"Stopped" in said, b"ended-143" in said, b"no job control" not in said)

child, master = pty.fork()
if child == 0:
    loop = "trap 'echo got INT; exit 5' INT; echo ready; while :; do sleep 0.1; done"
    os.execvp("sh", ["sh", "-c", loop])  # noqa: S606
seen = b""
while b"ready" not in seen:
    seen += os.read(master, 100)
os.write(master, b"\x03")
deadline = time.monotonic() + 10
while b"got INT" not in seen and time.monotonic() < deadline:
    try:
        seen += os.read(master, 100)
    except OSError:
        break
print("ctrl-c", b"got INT" in seen, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
signal.signal(signal.SIGHUP, signal.SIG_IGN)
