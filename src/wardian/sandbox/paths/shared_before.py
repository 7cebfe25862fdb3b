"""The register of places that were shared for writing, by any run of this user, at any time.

What lies in such a place may be a guest's: a link there is not followed, a program there is not
started outside, a policy there is not read. One small file per real path, named after it, made
before the run starts. It lives where no guest can write: see ``shares``, which treats these
directories as part of wardian itself.

An entry holds for the directory that had the path when it was last shared, also under another
name: a second entry is named after its device and inode. A directory that came into being after
that is another one, whatever path and inode it has; where the file system does not say when a
directory was made, the path decides. A copy made by hand takes what is in it along unseen.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterable, Iterator

from wardian.descriptors import FOLDER, NEW_FILE
from wardian.errors import ShareError
from wardian.homes import own_directory, session_directory
from wardian.sandbox.root.shares import is_below

NAME = "shared-for-writing"
STAMP = "looked-through"
PRUNE_EVERY_S = 24 * 3600
KEPT_AS_MOVED_S = 30 * 24 * 3600
NAME_MAX = 255


def register_places() -> tuple[str, ...]:
    """Where the register may be, best first: the user's state, the session's, the machine's."""
    homes = (own_directory("state"), session_directory() or "")
    # A relative one: nobody knows this user's home.
    places = [os.path.join(place, NAME) for place in homes if place.startswith("/")]
    places.append(f"/tmp/wardian-{NAME}-{os.geteuid()}")  # noqa: S108 - its owner is checked
    return tuple(places)


def remember(paths: Iterable[str]) -> None:
    """Note that these real paths are shared for writing from now on. Raises ShareError.

    Costs a look per path where they are known already.
    """
    wanted = list(dict.fromkeys(paths))
    for place in register_places() if wanted else ():
        fd = _opened(place, make=True)
        if fd is None:
            continue
        try:
            # Held while looking, so that nobody forgets an entry that is being relied on.
            fcntl.flock(fd, fcntl.LOCK_SH)
            new = [path for path in wanted if _made(fd, path)]
            fcntl.flock(fd, fcntl.LOCK_UN)
            if new:
                forget_what_is_gone(fd)
            return
        except OSError:
            continue  # read-only, or full
        finally:
            os.close(fd)
    if wanted:
        raise ShareError(
            wanted[0],
            "wardian can't record that it is shared for writing, and later runs need that record",
            hint="set XDG_STATE_HOME to a writable directory that you own",
        )


def shared_above(path: str, own: Iterable[str] = ()) -> str | None:
    """The place at or above a real path that was shared for writing; None if none ever was.

    ``own`` are places of wardian's, which every run has found read-only in what is above them.
    """
    above = list(_at_and_above(path))
    for place in register_places():
        fd = _opened(place)
        if fd is None:
            continue
        try:
            for directory in above:
                if not _kept_from(path, directory, own) and _holds(fd, directory):
                    return directory
        finally:
            os.close(fd)
    return None


def entry_name(path: str) -> str:
    """The name of a path's entry: the path itself, or its digest where that is too long. Pure."""
    name = os.fsencode(path).replace(b"%", b"%25").replace(b"/", b"%2F")
    if len(name) > NAME_MAX:
        import hashlib

        return "sha256-" + hashlib.sha256(os.fsencode(path)).hexdigest()
    return os.fsdecode(name)


def forget_what_is_gone(register: int, now_s: float | None = None) -> None:
    """Once a day, drop entries of paths that are gone from a file system that is still there.

    What is not there because its disk is not, comes back with all that a guest left in it.
    """
    import time

    now = time.time() if now_s is None else now_s
    try:
        if now - os.stat(STAMP, dir_fd=register, follow_symlinks=False).st_mtime < PRUNE_EVERY_S:
            return
    except FileNotFoundError:
        pass
    try:
        fcntl.flock(register, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(os.open(STAMP, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600, dir_fd=register))
        os.utime(STAMP, (now, now), dir_fd=register, follow_symlinks=False)
        for name in os.listdir(register):
            if name != STAMP and _is_gone(register, name, now):
                os.unlink(name, dir_fd=register)
    except OSError:
        return  # another day
    finally:
        fcntl.flock(register, fcntl.LOCK_UN)


def _at_and_above(path: str) -> Iterator[str]:
    while True:
        yield path
        if path == "/":
            return
        path = os.path.dirname(path)


def _kept_from(path: str, shared: str, own: Iterable[str]) -> bool:
    """Does it lie in a place of wardian's, below what was shared?"""
    return any(
        is_below(path, place) and is_below(place, shared) and place != shared for place in own
    )


def _opened(place: str, *, make: bool = False) -> int | None:
    """A register that is ours alone to write; None if there is none here."""
    try:
        if make and not os.path.isdir(place):
            os.makedirs(place, 0o700, exist_ok=True)
        fd = os.open(place, FOLDER)
    except OSError:
        return None
    found = os.fstat(fd)
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o022:
        os.close(fd)
        return None
    return fd


def _last_shared(register: int, name: str) -> int | None:
    """When, in nanoseconds; None if there is no such entry."""
    try:
        return os.stat(name, dir_fd=register, follow_symlinks=False).st_mtime_ns
    except OSError:
        return None


def _holds(register: int, path: str) -> bool:
    """Was what has this path now shared for writing, under this name or another?"""
    by_path = _last_shared(register, entry_name(path))
    try:
        found = os.lstat(path)
    except OSError:
        return by_path is not None
    directory = stat.S_ISDIR(found.st_mode)
    by_inode = _last_shared(register, _identity(found)) if directory else None
    if by_path is None and by_inode is None:
        return False
    if not directory:
        return True
    from wardian.sandbox.paths.birth import born_ns

    born = born_ns(path)
    if born is None:
        return by_path is not None
    # An inode has one directory at a time: one that was there by then is the one that was shared.
    return any(when is not None and born <= when for when in (by_path, by_inode))


def _identity(found: os.stat_result) -> str:
    return f"inode-{found.st_dev}-{found.st_ino}"


def _made(register: int, path: str) -> bool:
    """Make the entries, or say in them that it is shared now; True for new ones. Raises OSError."""
    import time

    found = os.lstat(path)
    names = [entry_name(path)]
    if stat.S_ISDIR(found.st_mode):
        names.append(_identity(found))
    # Not before it came into being, by the clock of its own file system; and never back.
    now = max(time.time_ns(), found.st_ctime_ns)
    new = False
    for name in names:
        last = _last_shared(register, name)
        if last is None:
            new = _written(register, name, found.st_dev, path) or new
        at = max(now, last or 0)
        os.utime(name, ns=(at, at), dir_fd=register, follow_symlinks=False)
    return new


def _written(register: int, name: str, device: int, path: str) -> bool:
    try:
        fd = os.open(name, NEW_FILE, 0o600, dir_fd=register)
    except FileExistsError:
        return False  # by another run, this moment
    with os.fdopen(fd, "wb") as file:
        file.write(b"%d\n%s\n" % (device, os.fsencode(path)))
    return True


def _is_gone(register: int, name: str, now_s: float) -> bool:
    if name.startswith("inode-"):  # it may have been moved
        last = _last_shared(register, name)
        if last is None or now_s - last / 1e9 < KEPT_AS_MOVED_S:
            return False
    with open(os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=register), "rb") as file:
        device, _, path = file.read(1 << 16).rstrip(b"\n").partition(b"\n")
    if not device.isdigit() or not path.startswith(b"/"):
        return False  # being written this moment
    if os.path.lexists(path):
        return False
    above = path
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    return os.lstat(above).st_dev == int(device)
