"""A sandbox's private work directory on the host: made when it is wanted, removed with all that a
guest left in it, and swept up after processes that were killed."""

from __future__ import annotations

import os

from wardian.descriptors import FOLDER, PLACE
from wardian.errors import SandboxError
from wardian.sandbox.host import fresh_guest_id, is_guest_id
from wardian.sandbox.paths import removal
from wardian.sandbox.paths.held import Held

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from wardian.sandbox.run.process import Runs

PREFIX = "wardian-"


class WorkDir:
    """A private directory on the host, made when first wanted, that one Sandbox owns. Before it
    goes, the runs that have it are ended."""

    def __init__(
        self, runs: Runs | None = None, *, guests: bool = True, sweeps: bool = True
    ) -> None:
        """``guests``: as root, it is to belong to a guest, not to us. ``sweeps``: what others left
        is removed when it is made."""
        self._path: str | None = None
        self._held: Held | None = None
        self._runs, self._guests, self._sweeps = runs, guests, sweeps

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
        if self._sweeps:
            sweep(base)
        owner = f"{os.geteuid()}-{_pid_namespace()}-{os.getpid()}"
        name = f"{PREFIX}{owner}-{os.urandom(8).hex()}"
        path = os.path.join(base, name)
        try:
            held = _make(path, guests=self._guests)
        except OSError as error:
            raise SandboxError(
                f"can't make a work directory in {base}: {(error.strerror or '').lower()}",
                hint="set TMPDIR to a directory with free space, or name a work directory",
            ) from None
        known = removal.identity(held.fd)
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
    os.mkdir(path, 0o700)
    try:
        held = Held(os.open(path, FOLDER))
        os.fchmod(held.fd, 0o700)  # whatever the umask says
    except PermissionError:  # so little that not even its owner may open it
        held = Held(os.open(path, PLACE))
        removal.set_mode(held.fd, 0o700)
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


def _remove_own(path: str, known: removal.Identity, owner: int, runs: Runs | None) -> None:
    """A process forked off this one owns nothing. Raises SandboxError."""
    if owner != os.getpid():
        return
    if runs is not None and not runs.end():
        raise SandboxError(
            f"a run could not be ended; its work directory remains: {path}",
            hint="a file system that it uses may be hanging; a later run removes it",
        )
    try:
        removal.remove_tree(path, known=known)
    except FileNotFoundError:
        pass
    except OSError as error:
        what = f"{error.filename}: " if error.filename else ""
        raise SandboxError(
            f"the work directory can't be removed: {path}: {what}{(error.strerror or '').lower()}"
        ) from None


def _remove_unasked(path: str, known: removal.Identity, owner: int, runs: Runs | None) -> None:
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
    try:
        removal.remove_tree(path, if_owned_by=_is_ours)
    except OSError:
        pass  # someone else's sweep was quicker, or it is not ours after all
