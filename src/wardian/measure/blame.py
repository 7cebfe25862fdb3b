"""Remove wardian's walls one by one, to find which one blocks a case.

The test launcher, which can leave walls out, is used if it was built. Otherwise a weaker policy
removes a wall: it allows calls, degrades protections, and grants what was refused. A wall that no
policy can remove is not tried. A namespace can also be the only wall on the host, through
unshare(1), and so can dropped capabilities, through setpriv(1).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from wardian.errors import WardianError
from wardian.measure.refused import granted
from wardian.measure.target import HOST, WARDIAN, Target, target
from wardian.sandbox.backends.wardian import Wardian
from wardian.sandbox.policy.policy import Limits, Policy, Share
from wardian.sandbox.root.programs import outside
from wardian.sandbox.run.landlock import FEATURES
from wardian.sandbox.run.records import record
from wardian.sandbox.run.result import Refusal
from wardian.sandbox.sandbox import Sandbox

_HERE = os.path.dirname(os.path.abspath(__file__))
TEST_LAUNCHER = os.path.join(_HERE, "..", "..", "..", "core", "build", "wardian-launch-test")
# The launcher builds the guest's root over this directory; who is not moved into it finds it there.
ROOT_PLACE = "/tmp"  # noqa: S108
BY_LAUNCHER, BY_POLICY, BY_ITSELF = "launcher", "policy", "itself"


class Circumstances(NamedTuple):
    """What is known of the case that is blocked: its variables, and what it was refused."""

    env: Mapping[str, str] = MappingProxyType({})
    refusals: tuple[Refusal, ...] = ()


ChangePolicy = Callable[[Policy, Circumstances], Policy]


class Wall(NamedTuple):
    """A wall, and the ways to take it away: flags of the test launcher, or a weaker policy.

    ``also`` is what the policy must give up besides, for the launcher to be able to.
    """

    name: str
    kind: str
    flags: tuple[str, ...] = ()
    policy: ChangePolicy | None = None
    also: ChangePolicy | None = None
    put_up: tuple[str, ...] = ()  # the command that puts it up on the host

    def way(self, policy: Policy, seen: Circumstances, *, launcher: bool) -> str | None:
        """How it is taken away here; None if it can't be, as when a policy has nothing to give."""
        if launcher and self.flags:
            return BY_LAUNCHER
        if self.policy is None or self.policy(policy, seen) == policy:
            return None
        return BY_POLICY


def _allow_all_syscalls(policy: Policy, seen: Circumstances) -> Policy:
    from wardian.syscalls import rows

    names = tuple(row.name for row in rows() if row.kind != "allow")
    return policy.but(allow_syscalls=names, deny_syscalls=())


def _degrade(policy: Policy, names: Iterable[str]) -> Policy:
    return policy.but(degrade=tuple(dict.fromkeys((*policy.degrade, *names))))


def _no_landlock(policy: Policy, seen: Circumstances) -> Policy:
    return _degrade(policy, dict(FEATURES))


def _no_proc(policy: Policy, seen: Circumstances) -> Policy:
    """Mounting a proc needs a pid namespace of one's own."""
    return _degrade(policy, ["proc"])


def _host_network(policy: Policy, seen: Circumstances) -> Policy:
    return policy.but(network="host")


def _no_limits(policy: Policy, seen: Circumstances) -> Policy:
    return policy.but(limits=Limits())


def _grant_files(policy: Policy, seen: Circumstances, *, write: bool) -> Policy:
    option = "--write " if write else "--read "
    files = [
        one
        for one in seen.refusals
        if one.kind == "file" and one.allow is not None and one.allow.flag.startswith(option)
    ]
    try:
        return granted(policy, files)
    except WardianError:
        return policy


def _share_more(policy: Policy, seen: Circumstances) -> Policy:
    """What was refused for it is not in the guest's root, and what witnesses placed."""
    path = seen.env.get("PROBE_HOST_FILE")
    folder = os.path.dirname(path) if path else ""
    if folder:
        policy = policy.with_shares([Share(folder, folder, True)])
    return _grant_files(policy, seen, write=False)


def _share_writable(policy: Policy, seen: Circumstances) -> Policy:
    return _grant_files(policy, seen, write=True)


SECCOMP = Wall("seccomp", "seccomp", ("seccomp",), _allow_all_syscalls)
LANDLOCK = Wall("landlock", "landlock", ("landlock",), _no_landlock)
# Landlock names paths of the guest's own root, so it can't stand without.
ROOT = Wall("own root", "mount", ("pivot", "landlock"), _share_more)
# Without it, nothing ends what a case leaves running.
PID = Wall(
    "namespace.pid", "namespace", ("pid",), also=_no_proc,
    put_up=("unshare", "--pid", "--fork", "--kill-child"),
)  # fmt: skip
WALLS = (
    SECCOMP,
    LANDLOCK,
    ROOT,
    Wall("read-only mounts", "mount", ("readonly",), _share_writable),
    Wall("nosuid, nodev", "mount", ("nosuid",)),
    Wall("masks", "mount", ("mask",)),
    Wall("namespace.network", "namespace", ("network",), _host_network),
    PID,
    Wall("namespace.ipc", "namespace", ("ipc",), put_up=("unshare", "--ipc")),
    Wall("namespace.uts", "namespace", ("uts",), put_up=("unshare", "--uts")),
    Wall("namespace.cgroup", "namespace", ("cgroup",), put_up=("unshare", "--cgroup")),
    Wall("nested namespaces", "namespace", ("sysctl",)),
    Wall("identity", "capability", ("identity",)),
    Wall(
        "capabilities",
        "capability",
        ("capabilities",),
        # but for the one without which root can't write its observation
        put_up=("setpriv", "--bounding-set=-all,+dac_override", "--inh-caps=-all"),
    ),
    Wall("descriptors", "process", ("close",)),
    Wall("session", "process", ("session",)),
    Wall("not dumpable", "process", ("dumpable",)),
    Wall("limits", "rlimit", ("rlimits", "watch"), _no_limits),
)
# Walls that can be put up alone; no run of ours is without the last.
ALONE = (
    *(wall for wall in WALLS if wall.put_up),
    Wall("no_new_privs", "process", put_up=("setpriv", "--no-new-privs")),
)
# There is no guest without these; they are blamed by elimination.
FRAME = Wall("namespace.user, no_new_privs", "namespace")


def launcher_for_tests(given: str | None = None) -> str | None:
    """The launcher that can leave walls out, if it is there."""
    path = os.path.realpath(given or TEST_LAUNCHER)
    return path if os.access(path, os.X_OK) else None


def without(
    walls: Sequence[Wall], policy: Policy, seen: Circumstances, launcher: str | None
) -> Target:
    """wardian without some of its walls; they are taken away by the launcher where it can."""
    flags: list[str] = []
    for wall in walls:
        change = wall.policy
        if launcher is not None and wall.flags:
            flags += wall.flags
            change = wall.also
        if change is not None:
            policy = change(policy, seen)

    def make(final: Policy, backend: str) -> Sandbox:
        sandbox = Sandbox.create(final, backend=backend, fresh=True)
        if flags and launcher is not None:
            extra = b"".join(record("flag", f"without-{flag}") for flag in dict.fromkeys(flags))
            sandbox._backend = Wardian(binary=launcher, extra=extra)
        return sandbox

    root = ROOT_PLACE if "pivot" in flags else ""
    return target(WARDIAN, policy)._replace(make=make, root=root)


def alone(wall: Wall, policy: Policy) -> Target | None:
    """The host with this wall only; None if nothing here can put it up so. A user namespace comes
    with it, for those who are not root."""
    name, *words = wall.put_up or ("",)
    program = outside(name, os.environ) if name else None
    if program is None:
        return None
    if name == "unshare" and os.geteuid() != 0:
        words = ["--user", "--map-current-user", *words]
    return target(HOST, policy)._replace(prefix=(program, *words, "--"))
