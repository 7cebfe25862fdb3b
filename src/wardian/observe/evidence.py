"""Which program a command starts, as a file of the host, and its digest: what was run, exactly."""

from __future__ import annotations

import os
import stat

from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.layout import WORK, layout
from wardian.sandbox.root.programs import INSIDE, NOTHING, find_program
from wardian.sandbox.root.shares import is_below

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from wardian.values import NamedTuple

MAX_BYTES = 1 << 30
MAX_STEPS = 1000
_CHUNK = 1 << 20


class Evidence(NamedTuple):
    """A path and its digest; where one is missing, ``why`` says so."""

    path: str | None
    digest: str | None
    why: str = ""


def program_evidence(
    command: str, policy: Policy, *, backend: str, cwd: str | None = None
) -> Evidence:
    """The program that ``command`` names under this policy, as far as known before the run."""
    path = _on_host(command) if backend == "host" else _inside(command, policy, cwd or WORK)
    if path is None:
        return Evidence(None, None, "it was not found beforehand")
    if policy.rootfs is None or backend == "host":
        path = os.path.realpath(path)
    try:
        return Evidence(path, file_digest(path))
    except OSError as error:
        return Evidence(path, None, (error.strerror or "it can't be read").lower())


def file_digest(path: str) -> str:
    """``sha256:…`` of a regular file's bytes. Raises OSError."""
    import hashlib

    found, size = hashlib.sha256(), 0
    # O_NONBLOCK: opening a pipe without a writer would wait for ever.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb", 0) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "it is not a regular file")
        while chunk := file.read(_CHUNK):
            found.update(chunk)
            size += len(chunk)
            if size > MAX_BYTES:
                raise OSError(0, f"it has more than {MAX_BYTES >> 20} MiB")
    return f"sha256:{found.hexdigest()}"


def _on_host(command: str) -> str | None:
    import shutil

    return shutil.which(command)


def _inside(command: str, policy: Policy, cwd: str) -> str | None:
    """In the order of ``interior.place``: what PATH leads to in a share, then the host's own."""
    there: list[str] = []
    if "/" not in command:
        path = policy.environment(os.environ).get("PATH") or dict(layout().environment)["PATH"]
        folders = [os.path.normpath(os.path.join(cwd, folder)) for folder in path.split(":")]
        found = (_host_path(os.path.join(folder, command), policy) for folder in folders)
        there = [one for one in found if one is not None and os.access(one, os.X_OK)]
        shared = [one for one in there if not any(is_below(one, root) for root in INSIDE)]
        if shared:
            return shared[0]
    program = find_program(command, os.environ) if policy.rootfs is None else NOTHING
    if program.path or "/" not in command:
        return program.path or next(iter(there), None)
    return _host_path(os.path.normpath(os.path.join(cwd, command)), policy)


def _host_path(inside: str, policy: Policy) -> str | None:
    """The host's file at a place inside, if the place is shared or part of every root."""
    places = {share.at: share.path for share in policy.shares}
    if policy.work is not None:
        places[WORK] = policy.work
    around = [at for at in places if is_below(inside, at)]
    if around:
        at = max(around, key=len)
        inside = places[at] + inside[len(at.rstrip("/")) :]
    elif policy.rootfs is not None:
        return _in_root(policy.rootfs, inside)
    elif not any(is_below(inside, root) for root in INSIDE):
        return None
    return inside if os.path.isfile(inside) else None


def _in_root(root: str, path: str) -> str | None:
    """A file below another root, its links followed as they are in there."""
    names, found = path.split("/"), ""
    for _ in range(MAX_STEPS):
        if not names:
            return root + found if os.path.isfile(root + found) else None
        name = names.pop(0)
        if name == "..":
            found = found.rpartition("/")[0]
        elif name in ("", "."):
            continue
        elif os.path.islink(f"{root}{found}/{name}"):
            target = os.readlink(f"{root}{found}/{name}")
            found = "" if target.startswith("/") else found
            names = target.split("/") + names
        else:
            found += f"/{name}"
    return None  # links in a circle
