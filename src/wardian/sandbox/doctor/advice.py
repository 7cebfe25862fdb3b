"""Explains why a wall fails on this host: facts (sysctls, containers, versions), then advice.

``surroundings()`` gathers facts; ``advice`` is pure: wall × errno × facts → reason and fix.
"""

from __future__ import annotations

import errno
import os
from typing import NamedTuple

from wardian.sandbox.host import kernel_version

SYSCTLS = (
    "user/max_user_namespaces",
    "kernel/unprivileged_userns_clone",
    "kernel/apparmor_restrict_unprivileged_userns",
)


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
    name = wall.removeprefix("namespace.")
    if around.sysctls.get("user/max_user_namespaces") == "0":
        return Advice(
            "user.max_user_namespaces is 0", "sudo sysctl -w user.max_user_namespaces=28633"
        )
    if number in (errno.ENOSPC, errno.EUSERS):
        return Advice(
            f"the limit on {name} namespaces is used up",
            f"sudo sysctl -w user.max_{_LIMIT_NAMES.get(name, name)}_namespaces=28633",
        )
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


_LIMIT_NAMES = {"mount": "mnt", "network": "net"}


def _mounts(wall: str, number: int, around: HostFacts) -> Advice:
    if number == errno.ENOSYS or (number == errno.EINVAL and around.kernel < (5, 12)):
        return Advice("mount_setattr came with Linux 5.12", "use a newer kernel")
    if number == errno.ENOSPC:
        return Advice("the limit on mounts is used up", "sudo sysctl -w fs.mount-max=100000")
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
