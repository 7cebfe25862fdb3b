"""Files of a sandbox's work directory, from outside. The guest wrote them, so nothing here follows
a link, opens a device, or believes a name."""

from __future__ import annotations

import builtins
import os
import stat

from wardian.errors import SandboxError, UsageError
from wardian.sandbox.host import fresh_guest_id, is_guest_id

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from wardian.sandbox.paths.held import Held
    from wardian.sandbox.paths.removal import Identity
    from wardian.sandbox.run.process import Runs

_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
MAX_DEPTH = 512
PREFIX = "wardian-"


class Files:
    """Reads, writes and lists below one directory; paths are relative, or start with /work/.

    A ``Held`` directory stays the same one; a name is looked up each time.
    """

    def __init__(self, root: str | Held) -> None:
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
                _unlink(temporary, parent)
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
            try:
                with os.scandir(fd) as entries:
                    for entry in entries:
                        path = f"{prefix}/{entry.name}" if prefix else entry.name
                        if entry.is_dir(follow_symlinks=False):
                            if path.count("/") < MAX_DEPTH:
                                pending.append(path)
                        elif entry.is_file(follow_symlinks=False):
                            found.append(path)
            finally:
                os.close(fd)
        return sorted(found)

    def _parts(self, path: str) -> builtins.list[str]:
        relative = path.removeprefix("/work/") if path.startswith("/work/") else path
        parts = [part for part in relative.split("/") if part not in ("", ".")]
        if relative.startswith("/") or ".." in parts or "\0" in path:
            raise UsageError(f"{path!r} is not a path below /work")
        return parts

    def _open_dir(self, path: str, *, make: bool = False) -> int:
        root = self._root
        if isinstance(root, str):
            fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        else:
            fd = root.listable()
        for part in self._parts(path):
            try:
                below = _made(fd, part) if make else os.open(part, _DIR, dir_fd=fd)
            finally:
                os.close(fd)
            fd = below
        return fd

    def _open_parent(self, path: str, *, make: bool = False) -> tuple[int, str]:
        parts = self._parts(path)
        if not parts:
            raise UsageError(f"{path!r} names no file")
        return self._open_dir("/".join(parts[:-1]), make=make), parts[-1]


def _made(parent: int, name: str) -> int:
    """A descriptor of the directory, made if it is not there. Raises OSError."""
    try:
        os.mkdir(name, 0o755, dir_fd=parent)
        new = True
    except FileExistsError:
        new = False
    fd = os.open(name, _DIR, dir_fd=parent)
    try:
        # A guest may have put another directory in its place: ours is root's, and empty.
        if new and os.fstat(fd).st_uid == os.geteuid() and not os.listdir(fd):
            _give(fd, parent)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _unlink(name: str, parent: int) -> None:
    try:
        os.unlink(name, dir_fd=parent)
    except FileNotFoundError:
        pass


def _give(fd: int, parent: int) -> None:
    """What root writes for a guest belongs to whom the directory belongs to."""
    owner = os.fstat(parent)
    if os.geteuid() == 0 and owner.st_uid != 0:
        os.fchown(fd, owner.st_uid, owner.st_gid)


class WorkDir:
    """A private directory on the host, made when first wanted, that one Sandbox owns. Before it
    goes, the runs that have it are ended."""

    def __init__(self, runs: Runs | None = None, *, guests: bool = True) -> None:
        """``guests``: as root, it is to belong to a guest, not to us."""
        self._path: str | None = None
        self._held: Held | None = None
        self._runs, self._guests = runs, guests

    @property
    def held(self) -> Held:
        """The directory itself, open since it was made."""
        return self._held if self._held is not None else self._make()[1]

    @property
    def path(self) -> str:
        """Where it is. Gone with ``remove``, with this object, or with this process."""
        return self._path if self._path is not None else self._make()[0]

    def _make(self) -> tuple[str, Held]:
        import weakref

        base = os.path.abspath(os.environ.get("TMPDIR") or "/tmp")  # noqa: S108 - its name is random
        sweep(base)
        owner = f"{os.geteuid()}-{_pid_namespace()}-{os.getpid()}"
        name = f"{PREFIX}{owner}-{os.urandom(8).hex()}"
        path = os.path.join(base, name)
        try:
            held = _make(path, guests=self._guests)
        except OSError as error:
            raise SandboxError(
                f"can't make a work directory in {base}: {(error.strerror or '').lower()}",
                hint="point TMPDIR to a directory with room, or name a work directory",
            ) from None
        from wardian.sandbox.paths.removal import identity

        known = identity(held.fd)
        self._path, self._held = path, held
        self._removal = weakref.finalize(
            self, _remove_unasked, path, known, os.getpid(), self._runs
        )
        self._known = known
        return path, held

    def remove(self) -> None:
        """Remove it with all that the guest left in it, however deep. Raises SandboxError."""
        if self._path is None:
            return
        path, self._path = self._path, None
        if self._held is not None:
            self._held.close()
            self._held = None
        if self._removal.detach() is not None:
            _remove_own(path, self._known, os.getpid(), self._runs)


def _make(path: str, *, guests: bool) -> Held:
    """By descriptor from here on: whoever may write to what it lies in could exchange it."""
    from wardian.sandbox.paths.held import Held
    from wardian.sandbox.paths.removal import set_mode

    os.mkdir(path, 0o700)
    try:
        held = Held(os.open(path, _DIR))
        os.fchmod(held.fd, 0o700)  # whatever the umask says
    except PermissionError:  # so little that not even its owner may open it
        held = Held(os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC))
        set_mode(held.fd, 0o700)
    if guests and os.geteuid() == 0:
        # Saves mapping its owner at every start; where it fails, that is done.
        guest = fresh_guest_id()
        os.chown(".", guest, guest, dir_fd=held.fd)
    return held


def _pid_namespace() -> int:
    """A pid says who is alive only to those who count pids as we do; containers may share /tmp."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


def _remove_own(path: str, known: Identity, owner: int, runs: Runs | None) -> None:
    """A process forked off this one owns nothing. Raises SandboxError."""
    if owner != os.getpid():
        return
    if runs is not None and not runs.end():
        raise SandboxError(
            f"a run could not be ended; its work directory is left: {path}",
            hint="does a file system that it uses not answer? what is left goes with a later run",
        )
    try:
        remove_tree(path, known=known)
    except FileNotFoundError:
        pass
    except OSError as error:
        what = f"{error.filename}: " if error.filename else ""
        raise SandboxError(
            f"the work directory can't be removed: {path}: {what}{(error.strerror or '').lower()}"
        ) from None


def _remove_unasked(path: str, known: Identity, owner: int, runs: Runs | None) -> None:
    """At the end of the object or of this process nobody can catch an error."""
    try:
        _remove_own(path, known, owner, runs)
    except SandboxError as error:
        import sys

        from wardian.text import printable

        if sys.stderr is not None:
            sys.stderr.write(f"wardian: {printable(str(error))}\n")


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


def _is_ours(uid: int) -> bool:
    return uid == os.geteuid() or is_guest_id(uid)


def _remove_left(path: str) -> None:
    from wardian.sandbox.paths import removal

    try:
        removal.remove_tree(path, if_owned_by=_is_ours)
    except OSError:
        pass  # someone else's sweep was quicker, or it is not ours after all


def remove_tree(path: str, *, known: Identity | None = None) -> None:
    """Remove a directory that a guest filled, by descriptor, following nothing. Raises OSError."""
    from wardian.sandbox.paths import removal

    removal.remove_tree(path, known=known)
