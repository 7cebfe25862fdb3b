"""Files of a sandbox's work directory, from outside. The guest wrote them, so nothing here follows
a link, opens a device, or believes a name."""

from __future__ import annotations

import builtins
import os
import stat

from wardian.errors import SandboxError, UsageError
from wardian.sandbox.host import fresh_guest_id, is_guest_id

_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
MAX_DEPTH = 512
PREFIX = "wardian-"


class Files:
    """Reads, writes and lists below one directory; paths are relative, or start with /work/."""

    def __init__(self, root: str) -> None:
        self._root = root

    def read(self, path: str) -> bytes:
        """The bytes of a regular file. Raises OSError."""
        parent, name = self._open_parent(path)
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            fd = os.open(name, flags, dir_fd=parent)
        finally:
            os.close(parent)
        with os.fdopen(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise UsageError(f"{path} is not a regular file")
            return file.read()

    def write(self, path: str, data: bytes | str, *, executable: bool = False) -> None:
        """Write a file, making its directories. Replaces what is there, a link included."""
        parent, name = self._open_parent(path, make=True)
        try:
            temporary = f".wardian-{os.urandom(8).hex()}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(temporary, flags, 0o755 if executable else 0o644, dir_fd=parent)
            try:
                with os.fdopen(fd, "wb") as file:
                    _give(fd, parent)
                    file.write(data.encode() if isinstance(data, str) else data)
                os.replace(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
            except BaseException:
                os.unlink(temporary, dir_fd=parent)
                raise
        finally:
            os.close(parent)

    def list(self) -> list[str]:
        """Regular files below the directory, as sorted relative paths."""
        found: list[str] = []
        pending = [""]
        while pending:
            prefix = pending.pop()
            try:
                fd = self._open_dir(prefix)
            except OSError:
                continue  # it went away, or turned into something else
            with os.scandir(fd) as entries:
                for entry in entries:
                    path = f"{prefix}/{entry.name}" if prefix else entry.name
                    if entry.is_dir(follow_symlinks=False):
                        if path.count("/") < MAX_DEPTH:
                            pending.append(path)
                    elif entry.is_file(follow_symlinks=False):
                        found.append(path)
            os.close(fd)
        return sorted(found)

    def _parts(self, path: str) -> builtins.list[str]:
        relative = path.removeprefix("/work/") if path.startswith("/work/") else path
        parts = [part for part in relative.split("/") if part not in ("", ".")]
        if relative.startswith("/") or ".." in parts or "\0" in path:
            raise UsageError(f"{path!r} is not a path below /work")
        return parts

    def _open_dir(self, path: str, *, make: bool = False) -> int:
        fd = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for part in self._parts(path):
            try:
                if make:
                    try:
                        os.mkdir(part, 0o755, dir_fd=fd)
                    except FileExistsError:
                        make_here = False
                    else:
                        make_here = True
                below = os.open(part, _DIR, dir_fd=fd)
                if make and make_here:
                    _give(below, fd)
            finally:
                os.close(fd)
            fd = below
        return fd

    def _open_parent(self, path: str, *, make: bool = False) -> tuple[int, str]:
        parts = self._parts(path)
        if not parts:
            raise UsageError(f"{path!r} names no file")
        return self._open_dir("/".join(parts[:-1]), make=make), parts[-1]


def _give(fd: int, parent: int) -> None:
    """What root writes for a guest belongs to whom the directory belongs to."""
    owner = os.fstat(parent)
    if os.geteuid() == 0 and owner.st_uid != 0:
        os.fchown(fd, owner.st_uid, owner.st_gid)


class WorkDir:
    """A private directory on the host, made when first wanted, that one Sandbox owns."""

    def __init__(self) -> None:
        self._path: str | None = None

    @property
    def path(self) -> str:
        """Where it is. Gone with ``remove``, with this object, or with this process."""
        if self._path is None:
            import weakref

            base = os.environ.get("TMPDIR", "/tmp")  # noqa: S108 - the name is made unguessable
            sweep(base)
            owner = f"{os.geteuid()}-{_pid_namespace()}-{os.getpid()}"
            name = f"{PREFIX}{owner}-{os.urandom(8).hex()}"
            path = os.path.join(base, name)
            try:
                os.mkdir(path, 0o700)
                os.chmod(path, 0o700)  # whatever the umask says
                if os.geteuid() == 0:
                    # Saves mapping its owner at every start; where it fails, that is done.
                    guest = fresh_guest_id()
                    os.chown(path, guest, guest)
            except OSError as error:
                raise SandboxError(
                    f"can't make a work directory in {base}: {(error.strerror or '').lower()}",
                    hint="point TMPDIR to a directory with room, or name a work directory",
                ) from None
            self._path = path
            self._removal = weakref.finalize(self, _remove_own, path, os.getpid())
        return self._path

    def remove(self) -> None:
        """Remove it with all that the guest left in it, however deep."""
        if self._path is not None:
            self._path = None
            self._removal()


def _pid_namespace() -> int:
    """A pid says who is alive only to those who count pids as we do; containers may share /tmp."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


def _remove_own(path: str, owner: int) -> None:
    """A process forked off this one owns nothing."""
    if owner == os.getpid() and os.path.isdir(path):
        remove_tree(path)


def sweep(base: str) -> None:
    """Remove what processes of this user left when they were killed between two runs."""
    try:
        names = [name for name in os.listdir(base) if name.startswith(PREFIX)]
    except OSError:
        return
    mine = [str(os.geteuid()), str(_pid_namespace())]
    for name in names:
        parts = name.removeprefix(PREFIX).split("-")
        if len(parts) != 4 or parts[:2] != mine or not parts[2].isdigit():
            continue
        try:
            os.kill(int(parts[2]), 0)
        except ProcessLookupError:
            _remove_left(os.path.join(base, name))
        except OSError:
            continue  # alive, and another user's


def _remove_left(path: str) -> None:
    try:
        owner = os.lstat(path).st_uid
        if not os.path.islink(path) and (owner == os.geteuid() or is_guest_id(owner)):
            remove_tree(path)
    except OSError:
        pass  # someone else's sweep was quicker, or it is not ours after all


def remove_tree(path: str) -> None:
    """Remove a directory that a guest filled: iteratively, by descriptor, following nothing."""
    os.chmod(path, 0o700)
    root = os.open(path, _DIR)
    try:
        _empty(root)
    finally:
        os.close(root)
    os.rmdir(path)


def _empty(root: int) -> None:
    """Each round moves one level of directories up to the root, so depth costs no descriptors."""
    serial, unguessable = 0, os.urandom(8).hex()
    while True:
        directories = _unlink_files(root)
        if not directories:
            return
        for name in directories:
            below = _open_to_empty(root, name)
            for inner in _unlink_files(below):
                serial += 1
                _open_ok(below, inner)
                os.rename(inner, f".{unguessable}-{serial}", src_dir_fd=below, dst_dir_fd=root)
            os.close(below)
            os.rmdir(name, dir_fd=root)


def _unlink_files(fd: int) -> list[str]:
    directories = []
    with os.scandir(fd) as entries:
        names = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_dir in names:
        if is_dir:
            directories.append(name)
        else:
            os.unlink(name, dir_fd=fd)
    return directories


def _open_ok(parent: int, name: str) -> None:
    """Renaming a directory into another parent rewrites its .., which needs write permission."""
    os.chmod(name, 0o700, dir_fd=parent)


def _open_to_empty(root: int, name: str) -> int:
    _open_ok(root, name)
    return os.open(name, _DIR, dir_fd=root)
