"""Where the sockets of living sandboxes are: a directory that belongs to this user, and that nobody
else can enter. It is opened once without following a link and looked at; all else starts there."""

from __future__ import annotations

import os
import stat

from wardian.errors import SandboxError
from wardian.homes import own_directory, session_directory
from wardian.living.names import is_name

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any

SOCKET, LOG = ".sock", ".log"
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def directory_path() -> str:
    """``$XDG_RUNTIME_DIR/wardian``; without that variable ``sandboxes`` in wardian's state. Raises
    SandboxError where neither is known."""
    found = session_directory() or os.path.join(own_directory("state"), "sandboxes")
    if not found.startswith("/"):
        raise SandboxError(
            "no directory for sandbox sockets: this user has no home directory",
            hint="set XDG_RUNTIME_DIR to a directory that you own",
        )
    return found


class SocketDirectory:
    """The directory, open. Use ``with``."""

    def __init__(self, *, make: bool = False) -> None:
        """Raises SandboxError for one that is not this user's alone, FileNotFoundError if there is
        none (and ``make`` is not set)."""
        self.path = directory_path()
        try:
            if make:
                _make(self.path)
            self.fd = os.open(self.path, _FLAGS)
        except FileNotFoundError:
            if make:
                raise _unusable(self.path, "it can't be made") from None
            raise
        except NotADirectoryError:  # also what O_NOFOLLOW says of a link here
            raise _unusable(self.path, "it is a symbolic link, or not a directory") from None
        except OSError as error:
            raise _unusable(self.path, (error.strerror or "").lower()) from None
        try:
            self._check()
        except BaseException:
            os.close(self.fd)
            raise

    def _check(self) -> None:
        found = os.fstat(self.fd)
        if found.st_uid != os.geteuid():
            raise _unusable(self.path, f"it belongs to another user ({found.st_uid})")
        if found.st_mode & 0o077:
            raise _unusable(
                self.path,
                f"others may enter it (mode {stat.S_IMODE(found.st_mode):04o})",
                hint=f"close it: chmod 700 {self.path}",
            )

    def __enter__(self) -> SocketDirectory:
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self.fd)

    def names(self) -> list[str]:
        """Sandboxes that have a socket, in order; whether anybody listens is another matter."""
        found = (name.removesuffix(SOCKET) for name in os.listdir(self.fd) if name.endswith(SOCKET))
        return sorted(name for name in found if is_name(name) and self._is_socket(name))

    def _is_socket(self, name: str) -> bool:
        try:
            found = os.lstat(f"{name}{SOCKET}", dir_fd=self.fd)
        except OSError:
            return False
        return stat.S_ISSOCK(found.st_mode) and found.st_uid == os.geteuid()

    def address(self, name: str) -> str:
        """What to bind or connect to: short, and in this directory whatever its path leads to."""
        return f"/proc/self/fd/{self.fd}/{name}{SOCKET}"

    def locked(self) -> DirectoryLock:
        """Held while a name is taken or given up."""
        return DirectoryLock(self.fd)

    def sweep(self, name: str) -> bool:
        """Remove the socket of a sandbox whose process is gone; True if that was so. To be called
        with the lock held."""
        import _socket

        probe = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        probe.setblocking(False)
        try:
            probe.connect(self.address(name))
        except ConnectionRefusedError:
            os.unlink(f"{name}{SOCKET}", dir_fd=self.fd)
            return True
        except FileNotFoundError:
            return True
        except OSError:
            return False  # busy, or not ours to judge
        finally:
            probe.close()
        return False

    def listen(self, name: str) -> Any:
        """Take the name: a socket that listens there. It gets its name when it listens already, so
        that a socket nobody listens on is always one that was left. Raises FileExistsError if the
        name is taken, OSError."""
        import socket

        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        passing = f"{os.getpid()}.new"
        try:
            with self.locked():
                listener.bind(f"/proc/self/fd/{self.fd}/{passing}")
                try:
                    os.chmod(f"/proc/self/fd/{self.fd}/{passing}", 0o600)
                    listener.listen(128)
                    if name in self.names():
                        self.sweep(name)
                    os.link(
                        passing, f"{name}{SOCKET}", src_dir_fd=self.fd, dst_dir_fd=self.fd,
                        follow_symlinks=False,
                    )  # fmt: skip
                finally:
                    os.unlink(passing, dir_fd=self.fd)
        except BaseException:
            listener.close()
            raise
        return listener


class DirectoryLock:
    """An exclusive lock of the directory itself."""

    def __init__(self, directory: int) -> None:
        self._directory = directory

    def __enter__(self) -> None:
        import fcntl

        # A description of its own: locks of one description do not exclude each other.
        self._fd = os.open(".", _FLAGS, dir_fd=self._directory)
        fcntl.flock(self._fd, fcntl.LOCK_EX)

    def __exit__(self, *error: object) -> None:
        os.close(self._fd)


def _make(path: str) -> None:
    parent = os.path.dirname(path)
    if session_directory() != path:
        os.makedirs(parent, 0o700, exist_ok=True)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass  # whose it is, is looked at next


def _unusable(path: str, why: str, hint: str | None = None) -> SandboxError:
    return SandboxError(
        f"the directory of sandboxes {path} can't be used: {why}",
        hint=hint or "set XDG_RUNTIME_DIR to a directory that you own, or unset it",
    )
