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
from wardian.sandbox import launcher

READY, GO = 3, 4  # as single digits: all that a shell can redirect
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
            self._pid = _spawn(_program("sh", "dash"), argv, actions, _ENVIRONMENT)
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
        try:
            os.waitpid(self._pid, 0)
        except ChildProcessError:
            pass


def start(
    argv: Sequence[str],
    *,
    streams: Mapping[int, int],
    ready: int,
    go: int,
    kept: Sequence[int] = (),
    identity: int | None = None,
    tells: bool = False,
    stage: Stage | None = None,
) -> int:
    """Spawn the program in a session of its own, held back until a line comes on ``go``. One byte
    comes on ``ready`` first; a program that ``tells`` keeps that as descriptor 3. ``kept`` keep
    their numbers."""
    ids = [f"--reuid={identity}", f"--regid={identity}", "--clear-groups"] if identity else []
    leash = ["setpriv", *ids, "--pdeathsig", "KILL", "--"]
    leash += ["sh", "-c", _LEASH if tells else _QUIET, "wardian-leash"]
    if stage is not None and stage.paths:
        words = ["sh", "-c", _STAGE, "wardian-stage", stage.at, str(len(stage.paths))]
        for path in stage.paths:
            info = os.lstat(path)
            words += [path, f"{info.st_dev}:{info.st_ino}"]
        leash = ["unshare", "--mount", "--propagation", "private", "--", *words, *leash]
    actions = _actions({**streams, READY: ready, GO: go}, kept)
    return _spawn(_program(leash[0], "util-linux"), [*leash, *argv], actions, _ENVIRONMENT)


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
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
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


def _spawn(
    path: str, argv: list[str], actions: list[tuple[object, ...]], env: dict[str, str]
) -> int:
    return os.posix_spawn(
        path,
        argv,
        env,
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
