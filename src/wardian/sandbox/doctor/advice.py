"""Explains why a wall fails on this host: facts (sysctls, containers, versions), then advice.

``surroundings()`` gathers facts; ``advice`` is pure: wall × errno × facts → reason and fix.
"""

from __future__ import annotations

import errno
import os
from typing import NamedTuple

from wardian.sandbox.host import kernel_version

# The limit of each kind of namespace; the launcher makes the network's in a step of its own.
_LIMITS = {
    "user": "user/max_user_namespaces",
    "mount": "user/max_mnt_namespaces",
    "pid": "user/max_pid_namespaces",
    "network": "user/max_net_namespaces",
    "ipc": "user/max_ipc_namespaces",
    "uts": "user/max_uts_namespaces",
    "cgroup": "user/max_cgroup_namespaces",
}
SYSCTLS = (
    *_LIMITS.values(),
    "kernel/unprivileged_userns_clone",
    "kernel/apparmor_restrict_unprivileged_userns",
    "fs/mount-max",
)
ENOUGH_NAMESPACES = 28633


class HostFacts(NamedTuple):
    """Facts. A sysctl that this kernel lacks is not in ``sysctls``."""

    uid: int
    kernel: tuple[int, int]
    sysctls: dict[str, str]
    container: str | None
    launcher: str


class Advice(NamedTuple):
    """Why something does not work, and what to run or change; ``fix`` may have several lines."""

    why: str
    fix: str


def surroundings(launcher: str) -> HostFacts:
    """Gather the facts; what can't be read is left out."""
    sysctls = {}
    for name in SYSCTLS:
        value = _read(f"/proc/sys/{name}")
        if value is not None:
            sysctls[name] = value.strip()
    return HostFacts(
        os.geteuid(), kernel_version(os.uname().release), sysctls, container(), launcher
    )


def container() -> str | None:
    """The kind of container we are in, as far as it shows from inside."""
    if "KUBERNETES_SERVICE_HOST" in os.environ:
        return "kubernetes"
    if os.path.exists("/run/.containerenv"):
        return "podman"
    if os.path.exists("/.dockerenv"):
        return "docker"
    name = _read("/run/systemd/container") or os.environ.get("container")  # noqa: SIM112
    return name.strip() if name else None


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(256)
    except OSError:
        return None


def advice(wall: str, number: int, around: HostFacts) -> Advice:
    """Why ``wall`` failed with this errno, here, and what to do."""
    if wall.startswith("namespace"):
        return _namespaces(wall, number, around)
    if wall in ("mount", "proc"):
        return _mounts(wall, number, around)
    if wall in ("seccomp", "notify"):
        needs = "4.14" if wall == "seccomp" else "5.0"
        fix = f"use Linux {needs} or later with CONFIG_SECCOMP_FILTER"
        return Advice(_said(number), fix + _or_degrade(wall))
    return Advice(_said(number), "")


def peer_advice(text: str, around: HostFacts) -> Advice | None:
    """The same for the last message of another sandbox's program; None where it explains itself."""
    number = _errno_in(text)
    if number is None:
        return None
    if "namespace" in text or "uid map" in text or number in (errno.ENOSPC, errno.EUSERS):
        return _namespaces("namespaces", number, around)
    if "mount" in text and number in (errno.EPERM, errno.EACCES):
        return _mounts("mount", number, around)
    return None


def _errno_in(text: str) -> int | None:
    """The errno that a message names, as ``(ENOSPC)`` or at its end in the C library's words."""
    if text.startswith("No permissions to create"):  # bwrap's words for EPERM
        return errno.EPERM
    last = text.rpartition(": ")[2].strip().lower()
    for number, name in errno.errorcode.items():
        if f"({name})" in text or os.strerror(number).lower() == last:
            return number
    return None


def landlock_advice(abi: int, around: HostFacts) -> Advice:
    """Landlock is absent or older than wanted."""
    if abi:
        return Advice(f"this kernel has Landlock ABI {abi}", "use a newer kernel")
    if around.kernel < (5, 13):
        return Advice("Landlock came with Linux 5.13", "use a newer kernel, or --degrade landlock")
    return Advice(
        "Landlock is not enabled, or forbidden by a container",
        "add landlock to the kernel's parameter lsm=, e.g. lsm=landlock,lockdown,yama,apparmor\n"
        "(grep LSM /boot/config-$(uname -r) shows the present order), or --degrade landlock",
    )


def _said(number: int) -> str:
    if number == errno.ETIMEDOUT:
        return "no answer within 10 s"
    return os.strerror(number).lower()


def _or_degrade(wall: str) -> str:
    return f", or --degrade {wall}" if wall in ("notify", "proc") else ""


def _namespaces(wall: str, number: int, around: HostFacts) -> Advice:
    """``namespaces``: several kinds at once, and any of them may be the one that failed."""
    name = wall.removeprefix("namespace.")
    if number in (errno.ENOSPC, errno.EUSERS) or around.sysctls.get(_LIMITS["user"]) == "0":
        return _used_up(tuple(_LIMITS) if name == "namespaces" else (name,), around)
    if number in (errno.EINVAL, errno.ENOSYS) and around.container is None:
        return Advice(
            f"this kernel has no {name} namespaces", "use a kernel with CONFIG_NAMESPACES in full"
        )
    if around.uid != 0:
        if around.sysctls.get("kernel/unprivileged_userns_clone") == "0":
            return Advice(
                "kernel.unprivileged_userns_clone is 0",
                "sudo sysctl -w kernel.unprivileged_userns_clone=1",
            )
        if around.sysctls.get("kernel/apparmor_restrict_unprivileged_userns", "0") != "0":
            return Advice(
                "AppArmor restricts user namespaces to programs with a profile (Ubuntu 23.10+)",
                apparmor_profile(around.launcher),
            )
    if around.container is not None:
        return Advice(
            f"{_said(number)}: the {around.container} container forbids it",
            container_flags(around.container),
        )
    if number == errno.EAGAIN:
        return Advice("no more processes may be started", "raise the limit: ulimit -u")
    return Advice(
        _said(number),
        "a security module, or a seccomp filter of a parent process, forbids it",
    )


def _used_up(kinds: tuple[str, ...], around: HostFacts) -> Advice:
    """The lowest limit is the one that was reached; every kind needs a user namespace, too."""
    known = {kind: around.sysctls.get(_LIMITS[kind], "") for kind in _LIMITS}
    if known["user"] == "0":
        kinds = ("user", *kinds)
    values = {kind: int(known[kind]) for kind in dict.fromkeys(kinds) if known[kind].isdigit()}
    least = min(values.values(), default=None)
    reached = [kind for kind in values if values[kind] == least] or list(kinds)
    enough = max(ENOUGH_NAMESPACES, 2 * (least or 0))
    names = [_LIMITS[kind].replace("/", ".") for kind in reached]
    fix = "sudo sysctl -w " + " ".join(f"{name}={enough}" for name in names)
    if least == 0:
        return Advice(f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} 0", fix)
    if len(names) > 1:
        return Advice("a limit on namespaces, or on their nesting depth, is used up", fix)
    return Advice(f"the limit on {reached[0]} namespaces is used up", fix)


def _mounts(wall: str, number: int, around: HostFacts) -> Advice:
    if number == errno.ENOSYS or (number == errno.EINVAL and around.kernel < (5, 12)):
        return Advice("mount_setattr came with Linux 5.12", "use a newer kernel")
    if number == errno.ENOSPC:
        most = around.sysctls.get("fs/mount-max", "")
        twice = max(100_000, 2 * int(most) if most.isdigit() else 0)
        return Advice("the limit on mounts is used up", f"sudo sysctl -w fs.mount-max={twice}")
    if wall == "proc":
        fix = container_flags(around.container or "docker") + "\nor run with --degrade proc"
        return Advice(f"{_said(number)}: parts of /proc are hidden from us", fix)
    if around.container is not None:
        return Advice(
            f"{_said(number)}: the {around.container} container forbids it",
            container_flags(around.container),
        )
    return Advice(_said(number), "a security module or a seccomp filter forbids mounting")


def container_flags(kind: str) -> str:
    """What to give the container so that a sandbox can be made in it."""
    if kind == "kubernetes":
        return (
            "in the pod: hostUsers: false; in the container's securityContext:\n"
            "procMount: Unmasked, seccompProfile: {type: Unconfined},\n"
            "appArmorProfile: {type: Unconfined}"
        )
    if kind == "podman":
        return "podman run --security-opt seccomp=unconfined --security-opt unmask=ALL …"
    return (
        "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined \\\n"
        "  --security-opt systempaths=unconfined …"
    )


def apparmor_profile(launcher: str) -> str:
    """Commands that let the launcher, and nothing else, make user namespaces."""
    return f"""sudo tee /etc/apparmor.d/wardian >/dev/null <<'EOF'
abi <abi/4.0>,
include <tunables/global>
profile wardian "{launcher}" flags=(unconfined) {{
  userns,
}}
EOF
sudo apparmor_parser -r /etc/apparmor.d/wardian"""
