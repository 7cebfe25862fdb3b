"""``bwrap`` itself: its path, its options, and what its last message means."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

from wardian.errors import BackendError, SandboxError, ShareError, WallError
from wardian.sandbox.backends import walls
from wardian.sandbox.root.layout import HOSTNAME, USER_ID, layout
from wardian.sandbox.root.programs import outside
from wardian.sandbox.root.root import Root
from wardian.sandbox.root.shares import is_below
from wardian.sandbox.run.failures import cwd_hint

PROGRAM, PACKAGE = "bwrap", "bubblewrap"
SAYS = "bwrap: "
ALONE = "--unshare-all --ro-bind / / true"
ANSWER_S = 10.0
MASK_BYTES = 4096
STAGES = ("/mnt", "/media", "/srv", "/opt", "/run")


def program() -> str:
    """Where bwrap is. Raises BackendError."""
    found = outside(PROGRAM, os.environ)
    if found is None:
        raise BackendError(f"{PROGRAM} is not installed", hint=f"sudo apt install {PACKAGE}")
    return found


@functools.cache
def options(path: str) -> frozenset[str]:
    """The options that this bwrap knows; it says no more of its age."""
    done = subprocess.run(
        [path, "--help"], capture_output=True, text=True, timeout=ANSWER_S, check=False
    )
    return frozenset(word for word in done.stdout.split() if word.startswith("--"))


def version(path: str) -> str:
    """What it says of itself."""
    done = subprocess.run(
        [path, "--version"], capture_output=True, text=True, timeout=ANSWER_S, check=False
    )
    return done.stdout.strip() or path


class BwrapCall(NamedTuple):
    """Words like ``{data 3}`` and ``{opened 0}`` stand for descriptors. The paths that are
    ``staged`` appear as ``stage``/0, ``stage``/1 … to bwrap alone."""

    words: tuple[str, ...]
    data: tuple[bytes, ...]
    opened: tuple[str, ...]
    stage: str
    staged: tuple[str, ...]


def call(
    path: str,
    made: Root,
    env: Iterable[tuple[str, str]],
    cwd: str,
    *,
    identity: int | None,
    network: bool,
    proc: bool,
    tty: bool,
    hardened: bool = True,
) -> BwrapCall:
    """The options for one run; ``identity`` is who bwrap runs as, where that is not the caller.
    ``hardened``: /proc is masked and read-only, and user namespaces can't be nested."""
    known = options(path)
    words = ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts"]
    words += ["--unshare-cgroup", "--die-with-parent", "--clearenv", "--cap-drop", "ALL"]
    words += ["--uid", str(USER_ID), "--gid", str(USER_ID), "--hostname", HOSTNAME]
    words += [] if network else ["--unshare-net"]
    words += ["--disable-userns"] if hardened and "--disable-userns" in known else []
    words += [] if tty else ["--new-session"]
    for name, value in env:
        words += ["--setenv", name, value]
    steps = _Steps(words, identity, _stage(made), pins="--bind-fd" in known)
    steps.root(made, proc=proc, hardened=hardened)
    words += ["--chdir", cwd]
    return BwrapCall(
        tuple(words), tuple(steps.data), tuple(steps.opened), steps.stage, tuple(steps.staged)
    )


class _Steps:
    """The options that build the root, in order."""

    def __init__(self, words: list[str], identity: int | None, stage: str, *, pins: bool) -> None:
        self._words, self._identity, self.stage, self._pins = words, identity, stage, pins
        self.data: list[bytes] = []
        self.opened: list[str] = []
        self.staged: list[str] = []

    def root(self, made: Root, *, proc: bool, hardened: bool) -> None:
        words = self._words
        for path in _parents(made):
            words += ["--perms", "0755", "--dir", path]
        for path, target in made.links:
            words += ["--symlink", target, path]
        for source, at in made.binds:
            self._bind(source, at)
        for path, data in made.files:
            words += ["--perms", "0644", "--file", f"{{data {len(self.data)}}}", path]
            self.data.append(data)
        words += ["--dev", "/dev"]
        for path, mode in made.private:
            words += ["--perms", f"{mode:o}", "--size", str(made.space), "--tmpfs", path]
        # A file system of its own, without a size: nothing may be put there but what is there.
        words += ["--remount-ro", "/dev"]
        if proc:
            words += ["--proc", "/proc"]
            if hardened:
                self._masks()
                words += ["--remount-ro", "/proc"]
        else:
            words += ["--dir", "/proc"]
        for share in made.sources:
            self._bind(share.path, share.at, write=share.write, pin=self._pins)
        words += ["--remount-ro", "/"]

    def _masks(self) -> None:
        kept = layout().proc
        tops = (f"/proc/{name}" for name in sorted(os.listdir("/proc")) if name not in kept)
        closed = [path for path in tops if not path[6:].isdecimal() and not os.path.islink(path)]
        for path in (*layout().masks, *closed):
            if os.path.isdir(path):
                size = str(MASK_BYTES)
                self._words += ["--perms", "0555", "--size", size, "--tmpfs", path]
                self._words += ["--remount-ro", path]
            elif os.path.exists(path):
                self._words += ["--ro-bind", os.devnull, path]

    def _bind(self, source: str, at: str, *, write: bool = False, pin: bool = False) -> None:
        """bwrap runs as nobody for root, to whom directories above may be closed: then we bring
        the source nearer, where only this run sees it. With ``pin`` bwrap makes sure that it is
        what we have opened, whatever has been put in its place since."""
        option = "--bind" if write else "--ro-bind"
        if self._identity is not None and not walls.is_reached(source, self._identity):
            self.staged.append(source)
            source = f"{self.stage}/{len(self.staged) - 1}"
        elif pin:
            self.opened.append(source)
            option, source = f"{option}-fd", f"{{opened {len(self.opened) - 1}}}"
        self._words += [option, source, at]


def _stage(made: Root) -> str:
    """An empty place on the host, for this run: one that nothing shared lies below."""
    sources = [source for source, _ in made.binds] + [share.path for share in made.sources]
    free = (d for d in STAGES if os.path.isdir(d) and not any(is_below(s, d) for s in sources))
    return next(free, STAGES[0])


def _parents(made: Root) -> list[str]:
    """Directories to make for what stands in them; bwrap's own would be closed to others."""
    places = [at for _, at in made.binds] + [path for path, _ in (*made.links, *made.files)]
    places += [path for path, _ in made.private]
    found = {
        parent
        for place in places
        for depth in range(2, place.count("/") + 1)
        if (parent := "/".join(place.split("/")[:depth])) not in ("/dev", "/proc")
    }
    return sorted(found)


def failure(text: str) -> SandboxError:
    """bwrap's last message as an error with a cure."""
    what, _, why = text.rpartition(": ")
    if what.startswith("Can't chdir to "):
        path = what.removeprefix("Can't chdir to ")
        return SandboxError(f"{path}: {why.lower()}", hint=cwd_hint(path))
    if what.startswith("Can't find source path "):
        return ShareError(what.removeprefix("Can't find source path "), why.lower())
    from wardian.sandbox.doctor.advice import peer_advice, surroundings

    cure = peer_advice(text, surroundings(program()))
    if cure is not None:
        wall = "namespaces" if "namespace" in text else "mount"
        return WallError(wall, f"bubblewrap: {text}", hint=f"{cure.why}; {cure.fix}")
    return BackendError(f"bubblewrap: {text}", hint=f"does it work by itself? {PROGRAM} {ALONE}")
