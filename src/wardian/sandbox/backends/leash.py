"""Starting another sandbox's program so that it can't outlive its caller, whatever ends that.

Three small processes of the host's own make it so. ``setpriv`` has the kernel kill the program when
the thread that started it ends; a shell holds the program back until it is certain that this works;
and another shell, the guard, lives on when the caller is killed: it ends what was still being set
up then, and removes what nobody else would.
"""

from __future__ import annotations

import fcntl
import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from wardian.errors import BackendError
from wardian.sandbox.backends.lanes import Lane, Streams
from wardian.sandbox.run import launcher

READY, GO = 3, 4  # as single digits: all that a shell can redirect
SET_S = 30.0  # for setting limits, which takes a millisecond
HELD = 3  # the guard's: what it keeps open for others to wait on
_LEASH = f'printf . >&{READY}; read -r go <&{GO} && exec "$@" {GO}<&-'
_QUIET = _LEASH + f" {READY}>&-"
_GUARD = """
targets=
while read -r line; do
    [ "$line" = over ] && exit
    targets="$targets $line"
done
for target in $targets; do kill -s KILL -- "$target"; done
sleep 0.1
[ $# -eq 0 ] || rm -rf -- "$@"
"""
# Clear of the signal set-up that the caller has: bwrap hangs where SIGCHLD is ignored.
_SIGNALS = set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}


# In a mount namespace of its own, which ends with the last process in it.
_STAGE = """
at=$1 count=$2; shift 2
mount -t tmpfs -o mode=755,size=1m tmpfs "$at" || exit
i=0
while [ $i -lt $count ]; do
    if [ -d "$1" ]; then mkdir "$at/$i"; else : > "$at/$i"; fi
    mount --rbind -- "$1" "$at/$i" || exit
    [ "$(stat -c %d:%i -- "$at/$i")" = "$2" ] || exit
    shift 2; i=$((i + 1))
done
exec "$@"
"""


class Stage(NamedTuple):
    """Paths that appear as ``at``/0, ``at``/1 … to the program alone; only root can ask for it.
    Nothing else may have been put in their place meanwhile."""

    at: str = ""
    paths: tuple[str, ...] = ()


class Guard:
    """Waits for the end of a run, or of its caller: then it cleans up in the caller's place."""

    def __init__(self, places: Sequence[str], *, held: int | None = None) -> None:
        """``places`` are removed if the caller is killed; ``held`` stays open until then."""
        told, self._pipe = launcher.pipe()
        try:
            actions = _actions({0: told} | ({HELD: held} if held is not None else {}), ())
            argv = ["sh", "-c", _GUARD, "wardian-guard", *places]
            self._child = launcher.Child(_spawn(_program("sh", "dash"), argv, actions))
        except BaseException:
            os.close(self._pipe)
            raise
        finally:
            os.close(told)

    def watch(self, pid: int, *, group: bool = False) -> None:
        """A process to end should the caller be killed, or a whole process group."""
        os.write(self._pipe, f"{-pid if group else pid}\n".encode())

    def close(self) -> None:
        """The run is over, and all is in order."""
        try:
            os.write(self._pipe, b"over\n")
        except OSError:
            pass  # someone has killed it
        os.close(self._pipe)
        self._child.reap(launcher.LAST_S)  # someone may have stopped it


class Leash:
    """A program that can't outlive us. One thread starts it, listens to it and lets it go."""

    def __init__(self, says: bytes) -> None:
        """``says``: how its own words on standard error begin, for the command speaks there too."""
        self._says = says
        self.pid, self.told = 0, -1
        self.ready = False
        self._go = -1
        self._guard: Guard | None = None
        self._lane: Lane | None = None

    def start(
        self,
        argv: Sequence[str],
        streams: Streams,
        *,
        discard: Sequence[str],
        kept: Sequence[int] = (),
        held: int | None = None,
        identity: int | None = None,
        tells: bool = False,
        stage: Stage | None = None,
    ) -> None:
        """Spawn it in a session of its own, held back until we have heard from the leash. A program
        that ``tells`` keeps ``told`` as descriptor 3; ``kept`` keep their numbers; ``held`` stays
        open until all is dead, even if we are killed. Raises BackendError, OSError."""
        self._lane = next((lane for lane in reversed(streams.lanes) if lane.stream), None)
        if self._lane is not None:
            self._lane.hold(b"")
        self.told, ready = launcher.pipe()
        os.set_blocking(self.told, False)
        go, self._go = launcher.pipe()
        try:
            self._guard = Guard(discard, held=held)
            words = _words(argv, identity, stage, tells=tells)
            actions = _actions({**streams.given, READY: ready, GO: go}, kept)
            self.pid = _spawn(_program(words[0], "util-linux"), words, actions)
            self._guard.watch(self.pid, group=True)
        finally:
            os.close(ready)
            os.close(go)

    def hear(self) -> bytes | None:
        """What the program has told; None at the end. The first byte is the leash's: it holds."""
        try:
            data = os.read(self.told, 4096)
        except BlockingIOError:
            return b""
        if data and not self.ready:
            self.ready, data = True, data[1:]
            if self._lane is not None:
                self._lane.hold(self._says)
            os.write(self._go, b"\n")
            return data
        return data or None

    def watch(self, pid: int) -> None:
        """Something that would not end with the program, should we be killed now."""
        if self._guard is not None:
            self._guard.watch(pid)

    def last_words(self) -> str:
        """What it said of itself, taken away from the command's standard error."""
        if self._lane is None:
            return ""
        said, self._lane.held = self._lane.held, b""
        return said.decode("utf-8", "replace").strip()

    def close(self) -> None:
        """It has ended."""
        for fd in (self.told, self._go):
            if fd >= 0:
                os.close(fd)
        if self._guard is not None:
            self._guard.close()


def _words(
    argv: Sequence[str], identity: int | None, stage: Stage | None, *, tells: bool
) -> list[str]:
    ids = [f"--reuid={identity}", f"--regid={identity}", "--clear-groups"] if identity else []
    words = ["setpriv", *ids, "--pdeathsig", "KILL", "--"]
    words += ["sh", "-c", _LEASH if tells else _QUIET, "wardian-leash", *argv]
    if stage is None or not stage.paths:
        return words
    before = ["unshare", "--mount", "--propagation", "private", "--"]
    before += ["sh", "-c", _STAGE, "wardian-stage", stage.at, str(len(stage.paths))]
    for path in stage.paths:
        info = os.lstat(path)
        before += [path, f"{info.st_dev}:{info.st_ino}"]
    return before + words


def limit(pid: int, held: Mapping[int, int], identity: int | None) -> None:
    """Set resource limits of a process that waits for it; none is ever raised."""
    lowered = {}
    for kind, value in held.items():
        hard = resource.getrlimit(kind)[1]
        lowered[kind] = value if hard == resource.RLIM_INFINITY else min(value, hard)
    try:
        for kind, value in lowered.items():
            resource.prlimit(pid, kind, (value, value))
    except PermissionError:
        if identity is None:
            raise
        _limit_as(identity, pid, lowered)


def _limit_as(identity: int, pid: int, held: Mapping[int, int]) -> None:
    """As who it runs as: root itself may lack CAP_SYS_RESOURCE, and then has no say in it."""
    words = [_program("setpriv", "util-linux"), f"--reuid={identity}", f"--regid={identity}"]
    words += ["--clear-groups", "--", _program("prlimit", "util-linux"), "--pid", str(pid)]
    words += [f"--{_LIMIT_NAMES[kind]}={value}" for kind, value in held.items()]
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=SET_S
        )
    except subprocess.TimeoutExpired:
        raise BackendError(f"limits can't be set: {words[0]} does not answer") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise BackendError(f"limits can't be set: {said}")


_LIMIT_NAMES = {
    resource.RLIMIT_CORE: "core",
    resource.RLIMIT_SIGPENDING: "sigpending",
    resource.RLIMIT_MSGQUEUE: "msgqueue",
    resource.RLIMIT_NICE: "nice",
    resource.RLIMIT_RTPRIO: "rtprio",
    resource.RLIMIT_CPU: "cpu",
    resource.RLIMIT_DATA: "data",
    resource.RLIMIT_FSIZE: "fsize",
    resource.RLIMIT_NOFILE: "nofile",
    resource.RLIMIT_NPROC: "nproc",
}


def _program(name: str, package: str) -> str:
    found = shutil.which(name, path=_ENVIRONMENT["PATH"])
    if found is None:
        raise BackendError(f"{name} is not installed", hint=f"sudo apt install {package}")
    return found


def _spawn(path: str, argv: list[str], actions: list[tuple[object, ...]]) -> int:
    return os.posix_spawn(
        path,
        argv,
        _ENVIRONMENT,
        file_actions=actions,
        setsid=True,
        setsigdef=_SIGNALS,
        setsigmask=(),
    )


def _actions(given: Mapping[int, int], kept: Sequence[int]) -> list[tuple[object, ...]]:
    """Only these descriptors, and /dev/null for the standard ones that are not among them."""
    actions: list[tuple[object, ...]] = [
        (os.POSIX_SPAWN_OPEN, i, "/dev/null", os.O_RDWR, 0) for i in range(3) if i not in given
    ]
    actions += [(os.POSIX_SPAWN_DUP2, fd, target) for target, fd in given.items()]
    actions += [(os.POSIX_SPAWN_DUP2, fd, fd) for fd in kept]  # clears its close-on-exec
    mine = {*range(3), *given, *kept}
    actions += [(os.POSIX_SPAWN_CLOSE, fd) for fd in _inheritable() if fd not in mine]
    return actions


def _inheritable() -> list[int]:
    """Descriptors of this process that a program would inherit, and that were not meant for it."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.get_inheritable(int(name)):
                found.append(int(name))
        except OSError:
            continue  # it was the listing's own
    return found


def memory_file(name: str, data: bytes) -> int:
    """A file in memory with this content, to be read from its beginning."""
    fd = os.memfd_create(name, os.MFD_CLOEXEC)
    if fd < launcher.CLEAR_OF_TARGETS:
        raised = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, launcher.CLEAR_OF_TARGETS)
        os.close(fd)
        fd = raised
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
