"""Attacks on the backend ``landlock``, which has no namespaces: each is contained, and succeeds
when the wall that holds it is left out, or natively where several hold it."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.attacks.attack import (
    NO_WALLS,
    Attack,
    assert_contained,
    assert_harmful,
    filled,
    py,
    rows,
)
from tests.attacks.callers import Caller
from tests.attacks.conftest import Scene

HARM = "harm-done"
LIBC = "import ctypes, os, sys\nlibc = ctypes.CDLL(None, use_errno=True)\n"
FINE = "echo fine"


def confined(**options: Any) -> dict[str, Any]:
    """The options of a run behind these walls."""
    return {"backend": "landlock", **options}


def against(
    name: str, code: str, walls: tuple[str, ...], *, harm: str = HARM, **more: Any
) -> Attack:
    """A row whose command is Python; as root, that the guest is another user holds besides."""
    options = confined(**more.pop("options", {}))
    return Attack(name, py(code), harm, walls, options=options, **more)


def on_files(name: str, code: str, walls: tuple[str, ...] = ("landlock",), **more: Any) -> Attack:
    """What only its owner may do, so that root's guest lacks the right as well."""
    return against(name, code, walls, as_root=AS_ROOT, **more)


# Whoever is root without being another user needs root's rights to reach a guest's own directories.
AS_ROOT = ("identity", "capabilities")
SECRET = "the-hosts-secret"
OWN_WORK = py("open('x', 'w').write('fine'); print(open('x').read())")

FILES = (
    on_files("read-closed", "print(open('@CLOSED@').read())", harm=SECRET, permitted=OWN_WORK),
    against("read-open", "print(open('@OPEN@').read())", ("landlock",), harm=SECRET),
    against("list", "import os\nprint(os.listdir('@HOME@'))", ("landlock",), harm="closed"),
    against(
        "link-out-of-work",
        "import os\nos.symlink('@OPEN@', 'l'); print(open('l').read())",
        ("landlock",),
        harm=SECRET,
    ),
    against(
        "dot-dot",
        "import os\nos.chdir('@HOME@'); "
        "print(open('../' + os.path.basename('@HOME@') + '/open').read())",
        ("landlock",),
        harm=SECRET,
    ),
    against(
        "by-descriptor-of-directory",
        "import os\nd = os.open('@HOME@', os.O_PATH)\n"
        "print(os.read(os.open('open', 0, dir_fd=d), 99))",
        ("landlock",),
        harm=SECRET,
    ),
    against(
        "hard-link",
        "import os\nos.link('@OPEN@', 'mine'); print(open('mine').read())",
        ("landlock",),
        harm=SECRET,
        as_root=AS_ROOT,
    ),
    on_files("create", f"open('@HOME@/new', 'w'); print('{HARM}')", permitted=OWN_WORK),
    on_files("append", f"open('@OPEN@', 'a'); print('{HARM}')"),
    on_files(
        "rename",
        "import os\nos.rename('@OPEN@', '@OPEN@.x'); "
        f"os.rename('@OPEN@.x', '@OPEN@'); print('{HARM}')",
    ),
    on_files(
        "remove",
        "import os\ntry: os.mkdir('@HOME@/d')\nexcept FileExistsError: pass\n"
        f"os.rmdir('@HOME@/d'); print('{HARM}')",
    ),
    on_files(
        "make-a-pipe",
        f"import os\nos.mkfifo('@HOME@/pipe'); os.unlink('@HOME@/pipe'); print('{HARM}')",
    ),
    on_files(
        "make-a-link",
        f"import os\nos.symlink('x', '@HOME@/ln'); os.unlink('@HOME@/ln'); print('{HARM}')",
    ),
    on_files(
        "truncate", f"import os\nos.truncate('@OPEN@', os.path.getsize('@OPEN@')); print('{HARM}')"
    ),
    on_files(
        "truncate-before-abi-3",
        f"import os\nos.truncate('@OPEN@', os.path.getsize('@OPEN@')); print('{HARM}')",
        ("deputy", "landlock"),
        options={"landlock_abi": 2},
    ),
    on_files(
        "write-a-read-share",
        f"open('@SHARE@/file', 'a'); print('{HARM}')",
        options={"shares": [("@SHARE@", "@SHARE@", False)]},
        callers=("user",),
        permitted="cat @SHARE@/file >/dev/null && echo fine",
    ),
    against(
        "execute-what-lies-in-memory",
        "import os\nfd = os.memfd_create('x')\n"
        "os.write(fd, open('/bin/cat', 'rb').read())\n"
        "os.execve(fd, ['cat', '@OPEN@'], {})",
        ("landlock",),
        harm=SECRET,
    ),
)

# Landlock does not judge these; the supervisor does them, in the guest's own places.
JUDGED = (
    on_files(
        "chmod",
        f"import os\nos.chmod('@OPEN@', 0o644); print('{HARM}')",
        ("deputy",),
        permitted=py(
            "import os\nopen('x','w'); os.chmod('x', 0o600); "
            "print('fine' if os.stat('x').st_mode & 0o777 == 0o600 else '')"
        ),
    ),
    on_files(
        "chmod-relative",
        f"import os\nos.chdir('@HOME@'); os.chmod('open', 0o644); print('{HARM}')",
        ("deputy",),
    ),
    on_files(
        "chmod-by-link",
        f"import os\nos.symlink('@OPEN@', 'l'); os.chmod('l', 0o644); print('{HARM}')",
        ("deputy",),
    ),
    on_files(
        "chmod-by-descriptor-of-directory",
        f"import os\nos.chmod('open', 0o644, dir_fd=os.open('@HOME@', os.O_PATH)); print('{HARM}')",
        ("deputy",),
    ),
    on_files(
        "chmod-by-proc",
        "import os\nfd = os.open('@SHARE@/file', 0)\n"
        f"os.chmod(f'/proc/self/fd/{{fd}}', 0o644); print('{HARM}')",
        ("deputy",),
        options={"shares": [("@SHARE@", "@SHARE@", False)]},
        callers=("user",),
    ),
    on_files(
        "fchmod-of-what-may-be-read",
        f"import os\nfd = os.open('@SHARE@/file', 0)\nos.fchmod(fd, 0o644); print('{HARM}')",
        ("deputy",),
        options={"shares": [("@SHARE@", "@SHARE@", False)]},
        callers=("user",),
        permitted=py(
            "import os\nfd = os.open('x', os.O_CREAT); os.fchmod(fd, 0o600); print('fine')"
        ),
    ),
    on_files(
        "chown",
        f"import os\nos.chown('@OPEN@', -1, -1); print('{HARM}')",
        ("deputy",),
        permitted=py(
            "import os\nopen('x','w'); os.chown('x', os.getuid(), os.getgid()); print('fine')"
        ),
    ),
    on_files(
        "utime",
        f"import os\nos.utime('@OPEN@', (1, 1)); print('{HARM}')",
        ("deputy",),
        permitted=py(
            "import os\nopen('x','w'); os.utime('x', (1, 1)); "
            "print('fine' if os.stat('x').st_mtime == 1 else '')"
        ),
    ),
    on_files(
        "race-of-chmod",
        LIBC + "import threading\n"
        "open('mine', 'w')\n"
        "own, other = b'mine' + bytes(200), b'@CLOSED@' + bytes(200)\n"
        "buffer = ctypes.create_string_buffer(200)\n"
        "buffer.raw = own[:200]\nstop = []\n"
        "def flip():\n"
        "    while not stop:\n"
        "        ctypes.memmove(buffer, other, 190); "
        "ctypes.memmove(buffer, own, 190)\n"
        "threading.Thread(target=flip).start()\n"
        "for i in range(3000): libc.chmod(buffer, 0o640 + i % 2)\n"
        "stop.append(1)\n"
        f"print('{HARM}' if os.stat('@CLOSED@').st_mode & 0o777 != 0o600 else '')\n"
        "os.chmod('@CLOSED@', 0o600)",
        ("deputy",),
    ),
    against(
        "watch-a-directory",
        LIBC + "fd = libc.inotify_init1(0)\n"
        f"print('{HARM}' if libc.inotify_add_watch(fd, b'@HOME@', 0xfff) >= 0 else '')",
        ("deputy",),
        permitted=py(
            LIBC + "fd = libc.inotify_init1(0)\n"
            "print('fine' if libc.inotify_add_watch(fd, b'.', 0xfff) > 0 else '')"
        ),
    ),
)

CONNECT = "import os, socket\ns = socket.socket(socket.AF_UNIX)\n"
SERVE = (
    "import os, socket\nserver = socket.socket(socket.AF_UNIX)\n"
    "server.bind({0})\nserver.listen()\n"
    "if os.fork() == 0:\n    c = socket.socket(socket.AF_UNIX); "
    "c.connect({0}); c.send(b'fine'); os._exit(0)\n"
    "print(server.accept()[0].recv(9).decode())"
)
SOCKETS = (
    against(
        "socket-by-path",
        CONNECT + f"s.connect('@PATH_SOCKET@'); print('{HARM}')",
        ("deputy",),
        permitted=py(SERVE.format("'own-socket'")),
    ),
    against(
        "socket-relative",
        CONNECT + f"os.chdir('@HOME@'); s.connect('socket'); print('{HARM}')",
        ("deputy",),
    ),
    against(
        "socket-by-link",
        CONNECT + f"os.symlink('@PATH_SOCKET@', 'l'); s.connect('l'); print('{HARM}')",
        ("deputy",),
    ),
    against(
        "socket-seqpacket",
        "import socket\n"
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
        "try: s.connect('@PATH_SOCKET@')\n"
        f"except OSError as e: print('{HARM}' if e.errno == 91 else '')",
        ("deputy",),
    ),
    against(
        "abstract-socket",
        CONNECT + f"s.connect('\\0@ABSTRACT@'); print('{HARM}')",
        ("landlock",),
        permitted=py(SERVE.format("'\\0own-abstract'")),
    ),
    against(
        "abstract-socket-before-abi-6",
        CONNECT + f"s.connect('\\0@ABSTRACT@'); print('{HARM}')",
        ("deputy",),
        options={"landlock_abi": 5},
    ),
    against(
        "race-of-connect",
        CONNECT + "import ctypes, threading\nlibc = ctypes.CDLL(None)\n"
        "own = b'\\1\\0own' + bytes(120); "
        "other = b'\\1\\0@PATH_SOCKET@' + bytes(120)\n"
        "server = socket.socket(socket.AF_UNIX); server.bind('own'); "
        "server.listen(9)\n"
        "buffer = ctypes.create_string_buffer(110)\nbuffer.raw = own[:110]\n"
        "stop = []\n"
        "def flip():\n"
        "    while not stop:\n"
        "        ctypes.memmove(buffer, other, 110); "
        "ctypes.memmove(buffer, own, 110)\n"
        "threading.Thread(target=flip).start()\n"
        "for i in range(300):\n"
        "    s = socket.socket(socket.AF_UNIX); s.setblocking(False)\n"
        "    if libc.connect(s.fileno(), buffer, 110) == 0:\n"
        f"        if s.getpeername() != 'own': print('{HARM}'); break\n"
        "    s.close()\n"
        "    server.setblocking(False)\n"
        "    try: server.accept()[0].close()\n"
        "    except OSError: pass\n"
        "stop.append(1)",
        ("deputy",),
    ),
    against(
        "datagram",
        f"import socket\nsocket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); print('{HARM}')",
        ("seccomp",),
    ),
    against(
        "datagram-pair",
        f"import socket\nsocket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); print('{HARM}')",
        ("seccomp",),
        permitted=py(
            "import socket\na, b = socket.socketpair(); a.send(b'fine'); print(b.recv(9).decode())"
        ),
    ),
    against(
        "datagram-called-raw",
        f"import socket\nsocket.socket(socket.AF_UNIX, socket.SOCK_RAW); print('{HARM}')",
        ("seccomp",),
    ),
    against(
        "tcp",
        f"import socket\nsocket.create_connection(('127.0.0.1', @PORT@)); print('{HARM}')",
        ("seccomp",),
    ),
    against(
        "udp",
        "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        f"s.sendto(b'x', ('127.0.0.1', 9)); print('{HARM}')",
        ("seccomp",),
    ),
    against(
        "udp-6",
        f"import socket\nsocket.socket(socket.AF_INET6, socket.SOCK_DGRAM); print('{HARM}')",
        ("seccomp",),
    ),
    against(
        "mptcp",
        "import socket\n"
        "try: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); "
        f"print('{HARM}')\n"
        f"except OSError as e: print('{HARM}' if e.errno == 93 else '')",
        NO_WALLS,
    ),
    against(
        "netlink",
        f"import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); print('{HARM}')",
        ("seccomp",),
    ),
    against(
        "vsock",
        "import socket\ntry: socket.socket(40, socket.SOCK_STREAM); "
        f"print('{HARM}')\n"
        f"except OSError as e: print('{HARM}' if e.errno not in (1, 97) else '')",
        ("seccomp",),
    ),
)

PROCESSES = (
    on_files(
        "signal",
        f"import os\nos.kill(@VICTIM@, 0); print('{HARM}')",
        permitted=py(
            "import os, signal, subprocess\n"
            "p = subprocess.Popen(['sleep', '60']); os.kill(p.pid, 9); "
            "print('fine' if p.wait() == -9 else '')"
        ),
    ),
    on_files(
        "signal-before-abi-6",
        f"import os\nos.kill(@VICTIM@, 0); print('{HARM}')",
        ("deputy",),
        options={"landlock_abi": 5},
        permitted=py(
            "import os, signal, subprocess\n"
            "p = subprocess.Popen(['sleep', '60']); os.kill(p.pid, 9); "
            "print('fine' if p.wait() == -9 else '')"
        ),
    ),
    on_files(
        "signal-to-group-before-abi-6",
        f"import os\nos.killpg(@VICTIM@, 0); print('{HARM}')",
        ("deputy",),
        options={"landlock_abi": 5},
        permitted=py(
            "import os, signal, subprocess\n"
            "p = subprocess.Popen(['sleep', '60'], process_group=0); "
            "os.killpg(p.pid, 9); print('fine' if p.wait() == -9 else '')"
        ),
    ),
    on_files(
        "owner-of-signals-before-abi-6",
        "import fcntl, os\nr, w = os.pipe(); "
        f"fcntl.fcntl(r, fcntl.F_SETOWN, @VICTIM@); print('{HARM}')",
        ("seccomp",),
        options={"landlock_abi": 5},
    )._replace(as_root=()),
    on_files(
        "signal-to-the-supervisor",
        "import os\n"
        f"sid = int(open(f'/proc/{{os.getppid()}}/stat').read().rsplit(')', 1)[1].split()[1]); "
        f"os.kill(sid, 0); print('{HARM}')",
    ),
    on_files("signal-to-the-reaper", f"import os\nos.kill(os.getppid(), 0); print('{HARM}')"),
    on_files(
        "environment-of-a-process",
        "print(open('/proc/@VICTIM@/environ').read())",
        harm="the-callers-secret",
    ),
    on_files(
        "environments-of-all",
        "import glob\nfor p in glob.glob('/proc/[0-9]*/environ'):\n"
        "    try: print(open(p).read().partition('ATTACK_SECRET=')[2][:18])\n"
        "    except OSError: pass",
        harm="the-callers-secret",
    ),
    on_files("memory-of-a-process", f"open('/proc/@VICTIM@/mem', 'rb'); print('{HARM}')"),
    on_files("maps-of-a-process", f"print('{HARM}' if open('/proc/@VICTIM@/maps').read() else '')"),
    on_files(
        "files-of-a-process", f"import os\nos.readlink('/proc/@VICTIM@/fd/0'); print('{HARM}')"
    ),
    on_files("root-of-a-process", "print(open('/proc/@VICTIM@/root@OPEN@').read())", harm=SECRET),
    on_files(
        "trace",
        LIBC + f"print('{HARM}' if libc.ptrace(16, @VICTIM@, 0, 0) == 0 else '')",
        ("seccomp", "landlock"),
    ),
    on_files(
        "limits-of-a-process",
        "import resource\n"
        "r = resource.prlimit(@VICTIM@, resource.RLIMIT_NOFILE)\n"
        "resource.prlimit(@VICTIM@, resource.RLIMIT_NOFILE, r); "
        f"print('{HARM}')",
        ("seccomp",),
    ),
    on_files(
        "priority-of-a-process",
        f"import os\nos.setpriority(os.PRIO_PROCESS, @VICTIM@, 19); print('{HARM}')",
        ("seccomp",),
    ),
    on_files(
        "processors-of-a-process",
        f"import os\nos.sched_setaffinity(@VICTIM@, os.sched_getaffinity(0)); print('{HARM}')",
        ("seccomp",),
    ),
)

KERNEL = (
    against(
        "system-v-memory",
        LIBC + f"i = libc.shmget(0, 4096, 0o1600)\nprint('{HARM}' if i >= 0 else ''); "
        "libc.shmctl(i, 0, 0)",
        ("seccomp",),
    ),
    against(
        "message-queue",
        LIBC + f"print('{HARM}' if libc.syscall(240, b'attack', 0o102, 0o600, 0) >= 0 else ''); "
        "libc.syscall(241, b'attack')",
        ("seccomp", "landlock"),
    ),
    against(
        "new-user-namespace",
        LIBC + f"print('{HARM}' if libc.unshare(0x10000000) == 0 else '')",
        ("seccomp",),
    ),
    against(
        "new-user-namespace-by-clone3",
        LIBC + "args = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)\n"
        "pid = libc.syscall(435, args, 88)\nif pid == 0: os._exit(0)\n"
        f"print('{HARM}' if pid > 0 else '')",
        ("seccomp",),
    ),
    against(
        "io-uring",
        LIBC + f"print('{HARM}' if libc.syscall(425, 1, (ctypes.c_char * 120)()) >= 0 else '')",
        ("seccomp",),
    ),
    against(
        "keyring",
        LIBC + f"print('{HARM}' if libc.syscall(250, 0, -3, 0) > 0 else '')",
        ("seccomp",),
    ),
    against(
        "userfaultfd", LIBC + f"print('{HARM}' if libc.syscall(323, 1) >= 0 else '')", ("seccomp",)
    ),
)
X86_ONLY = os.uname().machine != "x86_64"


@pytest.mark.skipif(X86_ONLY, reason="the attacks name x86-64's numbers of system calls")
@rows((*FILES, *JUDGED, *SOCKETS, *PROCESSES, *KERNEL))
def test_an_attack_is_contained_and_harmful_without_its_wall(
    attack: Attack, caller: Caller, scene: Scene
) -> None:
    assert_contained(attack, caller, scene)
    if attack.walls != NO_WALLS:
        assert_harmful(attack, caller, scene)
        return
    outcome = caller.run(filled(attack.command, scene), without=NO_WALLS)
    assert filled(attack.harm, scene) in outcome.stdout, outcome
