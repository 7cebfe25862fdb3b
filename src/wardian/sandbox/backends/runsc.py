"""``runsc``, gVisor's program: where it is, and the OCI bundle that says what a run is to be."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

from wardian.errors import BackendError, UsageError
from wardian.sandbox.backends.interior import (
    on_host,
)
from wardian.sandbox.host import this_host
from wardian.sandbox.limits import (
    RLIMIT_FSIZE,
    RLIMIT_NOFILE,
    RLIMIT_NPROC,
    rlimits,
)
from wardian.sandbox.policy.policy import Limits, Policy
from wardian.sandbox.root.programs import outside
from wardian.sandbox.root.root import Root

PROGRAM, PACKAGE = "runsc", "runsc"
ALONE = "--rootless --network=none --ignore-cgroups do true"
ANSWER_S = 10.0


def program() -> str:
    """Where runsc is. Raises BackendError."""
    found = outside(PROGRAM, os.environ)
    if found is None:
        raise BackendError(
            f"{PROGRAM} is not installed", hint=f"sudo apt install {PACKAGE}, or see gvisor.dev"
        )
    return found


def version(path: str) -> str:
    """What it says of itself."""
    done = subprocess.run(
        [path, "--version"], capture_output=True, text=True, timeout=ANSWER_S, check=False
    )
    return next(iter(done.stdout.splitlines()), path)


def write(path: str, config: dict[str, Any]) -> None:
    """The bundle's config.json. Raises UsageError."""
    try:
        text = json.dumps(config, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError(
            "gvisor accepts only UTF-8 in arguments, variables and paths",
            hint="use --backend wardian for other bytes",
        ) from None
    with open(path, "wb") as file:
        file.write(text)


def make_root_in(path: str, made: Root) -> None:
    """What is mounted later needs a place; our own files are simply there."""
    for at in ("/proc", "/dev", "/sys", *(at for at, _ in made.private)):
        _make_directory(path, at)
    for at, target in made.links:
        _make_directory(path, os.path.dirname(at))
        os.symlink(target, path + at)
    places = [*made.binds, *((source.path, source.at) for source in made.sources)]
    for source, at in places:
        if on_host(os.path.dirname(at), made) is not None or os.path.lexists(path + at):
            continue
        if os.path.isdir(source):
            _make_directory(path, at)
        else:
            _make_file(path, at)
    for at, data in made.files:
        _make_file(path, at, data)


def _make_directory(root: str, at: str) -> None:
    """Open to the guest, whatever the caller's umask is."""
    path = root
    for part in at.split("/"):
        path = os.path.join(path, part)
        if not os.path.isdir(path):
            os.mkdir(path)
            os.chmod(path, 0o755)  # noqa: S103 - what it stands in is closed to all but us


def _make_file(root: str, at: str, data: bytes = b"") -> None:
    _make_directory(root, os.path.dirname(at))
    with open(root + at, "wb") as file:
        file.write(data)
    os.chmod(root + at, 0o644)


def mounts(made: Root, inside: int) -> Iterator[dict[str, Any]]:
    """What is mounted in the root; ``inside`` is who owns what is private."""

    def bind(source: str, at: str, access: str) -> dict[str, Any]:
        kinds = ["rbind", access, "nosuid", "nodev"]
        return {"destination": at, "type": "bind", "source": source, "options": kinds}

    yield {"destination": "/proc", "type": "proc", "source": "proc"}
    for source, at in made.binds:
        yield bind(source, at, "ro")
    for at, mode in made.private:
        kinds = [f"mode={mode:o}", f"size={made.space}", f"uid={inside}", f"gid={inside}"]
        yield {"destination": at, "type": "tmpfs", "source": "tmpfs", "options": kinds}
    for share in made.sources:
        yield bind(share.path, share.at, "rw" if share.write else "ro")


@functools.cache
def _denied(arch: str, allow: tuple[str, ...], deny: tuple[str, ...]) -> tuple[str, ...]:
    from wardian.syscalls import rows

    return tuple(
        row.name
        for row in rows()
        if row.number(arch) is not None
        and (row.name in deny or (row.decision == "deny" and row.name not in allow))
    )


def seccomp(policy: Policy) -> dict[str, Any]:
    """The calls that the table refuses outright, and new namespaces; what else it asks of arguments
    is gVisor's matter."""
    from wardian.syscalls.constants import CONSTANTS

    refused = {"action": "SCMP_ACT_ERRNO", "errnoRet": 1}
    names = _denied(this_host().arch, policy.allow_syscalls, policy.deny_syscalls)
    rules: list[dict[str, Any]] = [{"names": list(names)} | refused]
    namespaces = CONSTANTS["NAMESPACE_FLAGS"]
    guarded = [name for name in ("clone", "unshare") if name not in policy.allow_syscalls]
    for flag in (1 << bit for bit in range(32) if namespaces & 1 << bit):
        has_flag = {"index": 0, "value": flag, "valueTwo": flag, "op": "SCMP_CMP_MASKED_EQ"}
        rules.append({"names": guarded, "args": [has_flag]} | refused)
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        "architectures": [f"SCMP_ARCH_{this_host().arch.upper()}"],
        "syscalls": rules,
    }


def rlimits_of(limits: Limits, *, counted: bool) -> dict[str, int]:
    """Of the usual ones, those that gVisor's kernel holds; it writes no core files."""
    held = rlimits(limits if counted else limits._replace(processes=None))
    if RLIMIT_NPROC in held:
        held[RLIMIT_NPROC] -= 1  # there is no reaper inside
    kept = {"NPROC": RLIMIT_NPROC, "NOFILE": RLIMIT_NOFILE, "FSIZE": RLIMIT_FSIZE}
    return {"CORE": 0} | {name: held[kind] for name, kind in kept.items() if kind in held}
