"""Files and services on the host, outside every sandbox, that specimens try to reach: PROBE_HOST_…

Only the sandbox protects them: they are open to every user. What can't be made on this host is left
out, and specimens that need it report that they can't be tested.
"""

from __future__ import annotations

import fcntl
import os
import selectors
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager

WORDS = b"wardian witness\n"
IPC_CREAT, IPC_RMID = 0o1000, 0
# Not /tmp: a root that is built over it would hide them even from one who gets out.
PREFIX = "probe-witness-"
PLACE = "/var/tmp"  # noqa: S108 - the name is made unguessable


@contextmanager
def witnesses() -> Iterator[dict[str, str]]:
    """The environment variables that name them for specimens; all are removed afterwards."""
    made = _Witnesses()
    try:
        yield made.environment
    finally:
        made.close()


class _Witnesses:
    def __init__(self) -> None:
        self.environment = {
            "PROBE_HOST_HOSTNAME": socket.gethostname(),
            "PROBE_HOST_UID": str(os.geteuid()),
        }
        self._selector = selectors.DefaultSelector()
        self._stop, self._stopped = os.pipe()
        self._selector.register(self._stop, selectors.EVENT_READ)
        base = PLACE if os.path.isdir(PLACE) else tempfile.gettempdir()
        _sweep(base)
        self._directory = tempfile.mkdtemp(prefix=PREFIX, dir=base)
        self._lock = open(os.path.join(self._directory, "lock"), "wb")  # noqa: SIM115
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        os.chmod(self._directory, 0o755)  # noqa: S103 - nothing but the sandbox keeps guests away
        self._files()
        self._process()
        name = f"wardian-witness-{os.getpid()}-{os.urandom(4).hex()}"
        self._listen("PORT", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self._listen("UDP_PORT", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        path = os.path.join(self._directory, "socket")
        self._listen("SOCKET", socket.AF_UNIX, socket.SOCK_STREAM, path)
        self._listen("ABSTRACT", socket.AF_UNIX, socket.SOCK_STREAM, f"\0{name}")
        if os.path.exists(path):
            os.chmod(path, 0o777)  # noqa: S103
        self._shared_memory()
        self._thread = threading.Thread(target=self._serve, name="probe-witness", daemon=True)
        self._thread.start()

    def _announce(self, name: str, value: str) -> None:
        self.environment[f"PROBE_HOST_{name}"] = value

    def _files(self) -> None:
        path = os.path.join(self._directory, "file")
        with open(path, "wb") as file:
            file.write(WORDS)
        folder = os.path.join(self._directory, "dir")
        os.mkdir(folder)
        os.chmod(path, 0o644)
        os.chmod(folder, 0o1777)  # noqa: S103
        self._announce("FILE", path)
        self._announce("DIR", folder)

    def _process(self) -> None:
        """It ends with us, however we end: its standard input does."""
        self._sleeper: subprocess.Popen[bytes] | None = None
        try:
            self._sleeper = subprocess.Popen(
                ["/bin/cat"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            return
        self._announce("PID", str(self._sleeper.pid))

    def _listen(self, name: str, family: int, kind: int, address: str | tuple[str, int]) -> None:
        made = socket.socket(family, kind)
        try:
            made.bind(address)
            if kind == socket.SOCK_STREAM:
                made.listen(64)
            made.setblocking(False)
        except OSError:
            made.close()
            return
        bound = made.getsockname()
        self._selector.register(made, selectors.EVENT_READ)
        shown = str(bound[1]) if family == socket.AF_INET else str(address).removeprefix("\0")
        self._announce(name, shown)

    def _shared_memory(self) -> None:
        """A segment that goes when the last process detaches, so none is left behind."""
        import ctypes

        self._libc = libc = ctypes.CDLL(None, use_errno=True)
        libc.shmat.restype = ctypes.c_void_p
        libc.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
        libc.shmdt.argtypes = (ctypes.c_void_p,)
        self._attached: int | None = None
        number = libc.shmget(0, 4096, IPC_CREAT | 0o666)
        if number < 0:
            return
        at = libc.shmat(number, None, 0)
        libc.shmctl(number, IPC_RMID, None)
        if at is None or at == ctypes.c_void_p(-1).value:
            return
        ctypes.memmove(at, WORDS, len(WORDS))
        self._attached = at
        self._announce("SHM", str(number))

    def _serve(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.fileobj == self._stop:
                    return
                try:
                    self._answer(key.fileobj)  # type: ignore[arg-type]
                except OSError:
                    pass  # whoever asked is gone

    @staticmethod
    def _answer(listening: socket.socket) -> None:
        if listening.type == socket.SOCK_DGRAM:
            data, sender = listening.recvfrom(4096)
            listening.sendto(data, sender)
            return
        connection, _ = listening.accept()
        with connection:
            connection.sendall(WORDS)

    def close(self) -> None:
        os.close(self._stopped)
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self._selector.close()
        os.close(self._stop)
        if self._attached is not None:
            self._libc.shmdt(self._attached)
        if self._sleeper is not None:
            self._sleeper.kill()
            self._sleeper.communicate()
        shutil.rmtree(self._directory, ignore_errors=True)
        self._lock.close()


def _sweep(base: str) -> None:
    """Remove what runs of this user left when they were killed: nobody holds its lock any more."""
    for name in os.listdir(base):
        path = os.path.join(base, name)
        try:
            if name.startswith(PREFIX) and os.lstat(path).st_uid == os.geteuid():
                with open(os.path.join(path, "lock"), "rb") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue  # in use, or gone
