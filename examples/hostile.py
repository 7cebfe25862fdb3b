"""A script that behaves as a malicious skill would, and tells what it got away with.

Run it under wardian, never bare: it forks, fills memory and looks for your keys.

    wardian exec --read examples:/demo -- python3 /demo/hostile.py

It exits with 0 if all that should be refused was refused, and all that honest work needs works.
"""

from __future__ import annotations

import ctypes
import errno
import glob
import mmap
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable

GOT_OUT, HELD, WORKS, BROKEN = "GOT OUT", "held", "works", "BROKEN"


class Nothing(Exception):  # noqa: N818 - reads as the fact it states
    """There was nothing to take: as good as a refusal, and said so."""


def main() -> int:
    if "--really" not in sys.argv and os.getpid() > 100:
        sys.exit(
            "this looks like a bare host; run it with: wardian exec --read examples:/demo -- …"
        )
    print("As a hostile skill, I tried:")
    out = sum(report(name, attempt, wanted=False) for name, attempt in HOSTILE)
    print("\nAs an honest one, I need:")
    out += sum(report(name, attempt, wanted=True) for name, attempt in HONEST)
    verdict = (
        "nothing got out, and nothing that is needed is missing" if not out else f"{out} faults"
    )
    print(f"\n{verdict}")
    return 1 if out else 0


def report(name: str, attempt: Callable[[], str], *, wanted: bool) -> bool:
    """Try, print one line, and return whether the outcome is a fault."""
    try:
        succeeded, detail = True, attempt()
    except Nothing as nothing:
        succeeded, detail = False, str(nothing)
    except OSError as error:
        succeeded, detail = False, os.strerror(error.errno) if error.errno else str(error)
    except Exception as error:
        succeeded, detail = False, f"{type(error).__name__}: {error}"
    word = (WORKS if succeeded else BROKEN) if wanted else (GOT_OUT if succeeded else HELD)
    print(f"  {word:<8} {name:<44} {detail}", flush=True)
    return succeeded != wanted


def libc(name: str, *args: object) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    result = int(getattr(library, name)(*args))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


# What should be refused


def read_shadow() -> str:
    with open("/etc/shadow", encoding="utf-8") as file:
        return f"{len(file.read())} bytes of password hashes"


def find_keys() -> str:
    patterns = ("/root/.ssh/*", "/home/*/.ssh/*", "/home/*/.aws/*", "/home/*/.config/gh/*")
    found = [path for pattern in patterns for path in glob.glob(pattern)]
    if not found:
        raise Nothing("no keys, and no home but my own: " + " ".join(os.listdir("/home")))
    return " ".join(found)


def read_environment() -> str:
    secret = [n for n in os.environ if any(w in n for w in ("TOKEN", "KEY", "SECRET", "PASS"))]
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as file:
                secret += [path for line in file.read().split(b"\0") if b"TOKEN=" in line]
        except OSError:
            continue
    if not secret:
        raise Nothing(f"{len(os.environ)} harmless variables")
    return " ".join(secret)


def see_processes() -> str:
    pids = [name for name in os.listdir("/proc") if name.isdigit()]
    if len(pids) > 5:
        return f"{len(pids)} processes of the host"
    raise Nothing(f"only {len(pids)}, my own and the reaper")


def signal_others() -> str:
    os.kill(1, signal.SIGKILL)
    for pid in range(2, 100):
        if pid != os.getpid():
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                continue
            return f"process {pid} is in reach"
    raise Nothing("nobody here but me; pid 1 did not mind")


def reach_out() -> str:
    with socket.create_connection(("1.1.1.1", 443), timeout=3):
        return "connected to 1.1.1.1:443"


def reach_host_loopback() -> str:
    for port in (22, 80, 631, 2375, 5432, 6379, 8080):
        with socket.socket() as sock:
            sock.settimeout(0.5)
            if sock.connect_ex(("127.0.0.1", port)) == 0:
                return f"a service of the host at port {port}"
    raise Nothing("no service of the host on its loopback")


def reach_docker() -> str:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect("/var/run/docker.sock")
        return "the Docker daemon"


def raw_socket() -> str:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW):
        return "a packet socket"


def trace_parent() -> str:
    libc("ptrace", 16, os.getppid(), 0, 0)  # PTRACE_ATTACH
    return "attached to my parent"


def become_root() -> str:
    os.setuid(0)
    return f"uid {os.getuid()}"


def use_setuid_program() -> str:
    said = subprocess.run(
        ["su", "-c", "id"], input=b"", capture_output=True, timeout=5, check=False
    )
    if b"uid=0" in said.stdout:
        return "su made me root"
    raise Nothing("setuid bits do nothing here")


def new_user_namespace() -> str:
    libc("unshare", 0x10000000)
    return "a user namespace with all capabilities"


def mount_something() -> str:
    libc("mount", b"tmpfs", b"/tmp", b"tmpfs", ctypes.c_ulong(0), None)
    return "mounted a tmpfs"


def write_system() -> str:
    with open("/usr/bin/backdoor", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n")
    return "/usr/bin/backdoor"


def core_pattern() -> str:
    with open("/proc/sys/kernel/core_pattern", "w", encoding="utf-8") as file:
        file.write("|/tmp/x")
    return "core dumps now run my program, outside"


def kernel_surface() -> str:
    opened = []
    numbers = (
        (321, 298, 425, 323, 250) if os.uname().machine == "x86_64" else (280, 241, 425, 282, 219)
    )
    names = ("bpf", "perf_event_open", "io_uring_setup", "userfaultfd", "keyctl")
    for name, number in zip(names, numbers, strict=True):
        try:
            libc("syscall", number, -1, 0, 0, 0, 0)
        except OSError as error:
            if error.errno in (errno.EPERM, errno.ENOSYS, errno.EACCES):
                continue
        opened.append(name)
    if opened:
        return "the kernel listens to " + " ".join(opened)
    raise Nothing("bpf, perf, io_uring, userfaultfd, keyrings: all refused")


def fork_flood() -> str:
    children = []
    try:
        for _ in range(400):
            pid = os.fork()
            if pid == 0:
                signal.pause()
                os._exit(0)
            children.append(pid)
    except BlockingIOError:
        raise Nothing(f"stopped at {len(children)} processes") from None
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return f"{len(children)} processes at once"


def memory_hog() -> str:
    """In a child's child, so that whoever is ended for it is not me."""
    limit = "import resource; print(resource.getrlimit(resource.RLIMIT_DATA)[0])"
    said = subprocess.run([sys.executable, "-c", limit], capture_output=True, check=False)
    most = int(said.stdout or b"-1")
    if most < 0:
        return "no limit on memory"
    try:
        mmap.mmap(-1, most + (1 << 20), flags=mmap.MAP_PRIVATE)
    except OSError:
        raise Nothing(f"no process gets past {most >> 20} MB mapped") from None
    return f"mapped {most >> 20} MB and more"


def type_into_terminal() -> str:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSTI, b"x")
    return "typed a key into your terminal"


# What should work


def write_files() -> str:
    for path in ("/work/out.txt", "/tmp/scratch", os.path.expanduser("~/.mine")):  # noqa: S108
        with open(path, "w", encoding="utf-8") as file:
            file.write("hello")
    return "/work, /tmp and my own home"


def run_threads() -> str:
    threads = [threading.Thread(target=sum, args=(range(1000),)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return "8 threads"


def run_programs() -> str:
    said = subprocess.run(["sh", "-c", "echo hello | tr a-z A-Z"], capture_output=True, check=True)
    return said.stdout.decode().strip()


def talk_to_myself() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname(), timeout=5) as client:
            client.sendall(b"x")
        return "TCP on a loopback of my own"


def use_multiprocessing() -> str:
    import multiprocessing

    with multiprocessing.get_context("fork").Pool(2) as pool:
        return f"sum of squares {sum(pool.map(square, range(10)))}"


def square(n: int) -> int:
    return n * n


HOSTILE: list[tuple[str, Callable[[], str]]] = [
    ("read the password file", read_shadow),
    ("find ssh keys and cloud credentials", find_keys),
    ("read secrets from environments", read_environment),
    ("see the host's processes", see_processes),
    ("signal other processes", signal_others),
    ("connect to the Internet", reach_out),
    ("connect to the host's own services", reach_host_loopback),
    ("use the Docker socket", reach_docker),
    ("sniff the network", raw_socket),
    ("trace another process", trace_parent),
    ("become root", become_root),
    ("become root through a setuid program", use_setuid_program),
    ("gain capabilities in a user namespace", new_user_namespace),
    ("mount a filesystem", mount_something),
    ("plant a program in /usr/bin", write_system),
    ("have the kernel run mine on a crash", core_pattern),
    ("talk to the riskiest parts of the kernel", kernel_surface),
    ("flood the host with processes", fork_flood),
    ("take all the memory", memory_hog),
    ("type into your terminal", type_into_terminal),
]
HONEST: list[tuple[str, Callable[[], str]]] = [
    ("write files", write_files),
    ("run threads", run_threads),
    ("run other programs", run_programs),
    ("serve and connect on localhost", talk_to_myself),
    ("use multiprocessing", use_multiprocessing),
]

if __name__ == "__main__":
    sys.exit(main())
