"""What a hostile first command leaves in a living sandbox for the commands after it. Runs inside,
with any Python 3: links and files where later commands may step, and processes that look into every
other one, signal, listen and use the CPU. Nothing of it may help a later command out, and nothing
of it may reach pid 1."""

import ctypes
import os
import signal
import socket
import sys
import time

NAMES = ("python3", "sh", "cat", "ls", "true", "sleep", "mount", "id")
TRAP = "#!/bin/sh\necho trapped\n"
PTRACE_SEIZE, SCHED_IDLE = 0x4206, 5


def plant() -> None:
    """Links out of every writable place, and programs named as the usual ones."""
    home = os.environ.get("HOME", "/tmp")
    for place in ("/tmp", "/dev/shm", home, "/work"):
        for name, target in (("etc", "/etc"), ("root", "/"), ("up", "../../.."), ("p", "/proc/1")):
            try:
                os.symlink(target, f"{place}/planted-{name}")
            except OSError:
                pass
        for name in NAMES:
            write(f"{place}/{name}", TRAP)
    for path in (f"{home}/.profile", f"{home}/.bashrc", f"{home}/.ld.so.preload"):
        write(path, "echo trapped\n")
    write("/tmp/sitecustomize.py", "print('trapped')\n")


def write(path: str, text: str) -> None:
    try:
        with open(path, "x") as file:
            file.write(text)
        os.chmod(path, 0o755)
    except OSError:
        pass


def others() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def look_into() -> None:
    """Whoever can be traced or read, is; pid 1 among them, if it lets itself."""
    libc = ctypes.CDLL(None)
    while True:
        for pid in others():
            if pid == os.getpid():
                continue
            if (
                "UNTRACED" not in os.environ
            ):  # where debuggers may be used, attacks trace themselves
                libc.ptrace(PTRACE_SEIZE, pid, 0, 0)
            for name in ("environ", "mem", "maps"):
                try:
                    with open(f"/proc/{pid}/{name}", "rb") as file:
                        file.read(64)
                except OSError:
                    pass
        time.sleep(0.02)


def harass() -> None:
    """Signals that end nobody but a pid 1 that is not safe from them; and its priority."""
    while True:
        for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGCHLD):
            for act in (
                lambda number=number: os.kill(1, number),
                lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),
                lambda: os.sched_setscheduler(1, SCHED_IDLE, os.sched_param(0)),
                lambda: os.sched_setaffinity(1, {0}),
            ):
                try:
                    act()
                except OSError:
                    pass
        for number in (signal.SIGCONT, signal.SIGURG, signal.SIGWINCH):
            os.kill(-1, number)
        time.sleep(0.02)


def listen() -> None:
    held = []
    for port in (22, 53, 80, 443, 8000, 8080):
        try:
            held.append(socket.create_server(("0.0.0.0", port)))
        except OSError:
            pass
    signal.pause()


def hog() -> None:
    while True:
        until = time.monotonic() + 0.002
        while time.monotonic() < until:
            pass
        time.sleep(0.02)


def main() -> None:
    plant()
    for work in (look_into, harass, listen, hog):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                null = os.open("/dev/null", os.O_RDWR)
                for stream in (0, 1, 2):
                    os.dup2(null, stream)
                work()
            os._exit(0)
        os.wait()
    print("prepared")
    sys.stdout.flush()


main()
