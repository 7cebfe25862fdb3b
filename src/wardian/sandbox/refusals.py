"""What the supervisor noted, turned into refusals: told only where the host has what the guest was
after, or where its write really failed, and each with what would allow it.

Looks at the host, with the caller's own rights, after the run has ended; nothing of it reaches the
guest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from wardian.errors import WardianError
from wardian.sandbox.layout import HOME, WORK, layout
from wardian.sandbox.policy import Policy, Share
from wardian.sandbox.result import Allow, Caller, Limit, Protection, Refusal
from wardian.sandbox.shares import Source, is_below, resolve_shares
from wardian.text import quoted

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any, NamedTuple
else:
    from wardian.values import NamedTuple

# fcntl.h, where x86-64 and arm64 agree, and O_DIRECTORY of each
O_ACCMODE, O_CREAT, O_TRUNC = 3, 0o100, 0o1000
O_DIRECTORY = {"x86_64": 0o200000, "aarch64": 0o40000}
AF_UNIX = 1
UNKNOWN = Caller(0, "", ())

# What a call does to a path, in the words of a refusal; open's word depends on its flags.
ACTIONS = {
    "stat": "stat", "lstat": "stat", "newfstatat": "stat", "statx": "stat", "access": "stat",
    "faccessat": "stat", "faccessat2": "stat", "readlink": "stat", "readlinkat": "stat",
    "statfs": "stat", "getxattr": "stat", "lgetxattr": "stat", "listxattr": "stat",
    "llistxattr": "stat", "inotify_add_watch": "watch", "chdir": "list", "execve": "execute",
    "execveat": "execute", "creat": "create", "mkdir": "create", "mkdirat": "create",
    "mknod": "create", "mknodat": "create", "symlink": "create", "symlinkat": "create",
    "unlink": "delete", "unlinkat": "delete", "rmdir": "delete", "rename": "rename",
    "renameat": "rename", "renameat2": "rename", "link": "link", "linkat": "link",
    "chmod": "chmod", "fchmodat": "chmod", "fchmodat2": "chmod", "chown": "chown",
    "lchown": "chown", "fchownat": "chown", "truncate": "write", "utime": "touch",
    "utimes": "touch", "utimensat": "touch", "futimesat": "touch", "setxattr": "change",
    "lsetxattr": "change", "removexattr": "change", "lremovexattr": "change",
}  # fmt: skip
READING = ("read", "list", "stat", "watch", "execute")
# Calls that reach for another process.
PROCESS_CALLS = ("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp")

# Calls that fail all the same when the filter lets them pass: they need capabilities that no guest
# has, or what its other walls take away.
NEEDS_MORE = frozenset((
    "syslog", "vhangup", "pivot_root", "chroot", "acct", "settimeofday", "mount", "umount2",
    "swapon", "swapoff", "reboot", "sethostname", "setdomainname", "iopl", "ioperm", "init_module",
    "finit_module", "delete_module", "quotactl", "quotactl_fd", "clock_settime", "kexec_load",
    "kexec_file_load", "open_by_handle_at", "setns", "bpf", "move_mount", "fsopen", "fsconfig",
    "fsmount", "fspick", "mount_setattr", "unshare", "clone", "mknod", "mknodat",
    "lsm_set_self_attr",
))  # fmt: skip


class Surroundings(NamedTuple):
    """What a run's refusals are explained with."""

    policy: Policy
    sources: tuple[Source, ...]
    protections: tuple[Protection, ...]
    arch: str
    cwd: str  # the caller's
    home: str  # the caller's

    @property
    def standing(self) -> frozenset[str]:
        """The walls that stood."""
        return frozenset(p.name for p in self.protections if p.enforced)


def refusals(events: Sequence[dict[str, Any]], around: Surroundings) -> tuple[Refusal, ...]:
    """In the order in which they happened, the same thing folded into one."""
    callers = _callers(events)
    found: dict[tuple[str, str, str], Refusal] = {}
    for event in events:
        if event["event"] != "refused":
            continue
        told = _explain(event, around)
        if told is None:
            continue
        caller = callers.get(event["process"], UNKNOWN)
        told = told._replace(process=caller, count=event["count"], time_s=event["at_us"] / 1e6)
        _fold(found, told)
    return tuple(found.values())


def _fold(found: dict[tuple[str, str, str], Refusal], told: Refusal) -> None:
    """The same thing again counts; a look at something that is then used is part of using it."""
    key = (told.kind, told.action, told.target)
    looked = (told.kind, "stat", told.target)
    if told.action == "stat":
        key = next((k for k in found if k[::2] == key[::2]), key)
    elif looked in found and key not in found:
        told = told._replace(time_s=found.pop(looked).time_s)
    if key in found:
        told = found[key]._replace(count=found[key].count + told.count)
    found[key] = told


def _callers(events: Sequence[dict[str, Any]]) -> dict[int, Caller]:
    callers: dict[int, Caller] = {}
    for event in events:
        if event["event"] == "process":
            parent = callers.get(event["parent"])
            above = (parent._replace(parents=()), *parent.parents) if parent else ()
            words = event["command"].rstrip("\0").split("\0")
            callers[event["number"]] = Caller(
                event["pid"], " ".join(quoted(word) for word in words), above
            )
    return callers


def _explain(event: dict[str, Any], around: Surroundings) -> Refusal | None:
    from wardian.syscalls import name_of

    name = name_of(event["call"], around.arch) or f"syscall {event['call']}"
    explain: dict[str, Callable[[str, dict[str, Any], Surroundings], Refusal | None]] = {
        "f": _by_filter, "m": _by_absence, "c": _by_absence, "r": _by_read_only,
        "k": _by_mask, "n": _by_network, "d": _by_name, "p": _by_pid, "l": _by_limit,
    }  # fmt: skip
    return explain[event["by"]](name, event, around)


# The filter


def _by_filter(name: str, event: dict[str, Any], around: Surroundings) -> Refusal:
    from wardian.syscalls import lookup
    from wardian.syscalls.decode import call_text

    args = [int(arg) for arg in event["args"].split()]
    known = not name.startswith("syscall ")
    reason = lookup(name).reason if known else "unknown call"
    kind = "process" if name in PROCESS_CALLS else "syscall"
    strings = {}
    if known and event["text"]:
        roles = lookup(name).arguments
        strings = {roles.index("path"): event["text"]} if "path" in roles else {}
    target = call_text(name, args, strings=strings, arch=around.arch) if known else name
    helps = known and name not in NEEDS_MORE
    if name in around.policy.deny_syscalls and known:
        reason = "this run's policy denies it"
        # Allowing it again must give no more than the table does.
        helps = helps and lookup(name).kind == "allow"
    allow = Allow(f"--allow-syscall {name}", f'[syscalls]\nallow = ["{name}"]') if helps else None
    return _refusal(kind, name, target, reason, allow)


# Files


def _action(name: str, event: dict[str, Any], arch: str) -> str:
    if name not in ("open", "openat"):
        return ACTIONS.get(name, name)
    flags = int(event["args"].split()[1 if name == "open" else 2])
    if flags & O_CREAT:
        return "create"
    if flags & O_ACCMODE or flags & O_TRUNC:
        return "write"
    return "list" if flags & O_DIRECTORY.get(arch, 0) else "read"


def _by_absence(name: str, event: dict[str, Any], around: Surroundings) -> Refusal | None:
    inside = os.path.normpath(event["text"])
    action = _action(name, event, around.arch)
    outside = _outside(inside, around)
    if outside is None:
        return None
    makes = event["by"] == "c"
    if makes:  # what it would be made in must be there, or it would fail on the host as well
        inside, shown = os.path.dirname(inside), inside
        outside = os.path.dirname(outside)
        if not _has(outside, directory=True):
            return None
    elif not _has(outside):
        return None
    else:
        shown = inside
    target = _shown(shown, around)
    write = action not in READING and name != "connect"
    if name in ("connect", "bind"):
        allow = _share(outside, inside, True, around)
        return _refusal("network", name, f"unix:{target}", "this socket is not shared", allow)
    reason = "not shared with the run" if not makes else "its directory is not shared with the run"
    return _refusal("file", action, target, reason, _share(outside, inside, write, around))


def _outside(inside: str, around: Surroundings) -> str | None:
    """Where on the host a program means that asks for this path inside; None: nowhere."""
    if is_below(inside, WORK):
        if around.policy.work is not None:
            return None
        return os.path.normpath(around.cwd + inside[len(WORK) :])
    if is_below(inside, HOME) and not is_below(around.home, HOME):
        return os.path.normpath(around.home + inside[len(HOME) :])
    if is_below(inside, "/proc"):
        return None
    return inside


def _has(path: str, *, directory: bool = False) -> bool:
    """Whether the host has it, without waking an automounter or waiting for a network drive."""
    from wardian.sandbox.hostpath import exists

    return exists(path, directory=directory)


def _shown(inside: str, around: Surroundings) -> str:
    return f"~{inside[len(HOME) :]}" if is_below(inside, HOME) else inside


def _share(outside: str, inside: str, write: bool, around: Surroundings) -> Allow | None:
    """The option and policy lines that share it, if it can be shared at all."""
    if is_below(inside, WORK):
        return Allow(f"--work {quoted(around.cwd)}", f"[files]\nwork = {_quoted(around.cwd)}")
    share = Share(outside, inside, write)
    try:
        resolve_shares([*around.policy.shares, share])
    except WardianError:
        return None
    if write and not os.access(outside, os.W_OK):
        return None
    option, key = ("--write", "write") if write else ("--read", "read")
    return Allow(f"{option} {quoted(str(share))}", f"[files]\n{key} = [{_quoted(str(share))}]")


def _by_read_only(name: str, event: dict[str, Any], around: Surroundings) -> Refusal | None:
    inside = os.path.normpath(event["text"])
    action = _action(name, event, around.arch)
    if is_below(inside, "/proc"):
        return _refusal("file", action, inside, "the sandbox's /proc can't be written to", None)
    place = (
        inside
        if action in ("write", "chmod", "chown", "touch", "change")
        else os.path.dirname(inside)
    )
    source = max(
        (s for s in around.sources if is_below(place, s.at)), key=lambda s: len(s.at), default=None
    )
    outside = place if source is None else source.path + place[len(source.at.rstrip("/")) :]
    if action == "create" and os.path.lexists(outside + inside[len(place) :]):
        place, outside = inside, outside + inside[len(place) :]
    allow = _share(outside, place, True, around) if os.path.lexists(outside) else None
    if source is not None and place == source.at and allow is None:
        allow = None
    return _refusal("file", action, _shown(inside, around), "it is read-only in the sandbox", allow)


def _by_mask(name: str, event: dict[str, Any], around: Surroundings) -> Refusal | None:
    action = _action(name, event, around.arch)
    return _refusal("file", action, event["text"], "it tells about the host, and is covered", None)


# The network


def _by_network(name: str, event: dict[str, Any], around: Surroundings) -> Refusal | None:
    from wardian.syscalls.decode import sockaddr_text

    raw = event["text"].encode("latin-1")
    address = sockaddr_text(raw)
    action = {"sendto": "send", "sendmmsg": "send"}.get(name, name)
    family = raw[0] | raw[1] << 8
    if family == AF_UNIX:
        if name != "connect" or not _abstract_listener(raw[2:]):
            return None
        reason = "the host's abstract sockets are out of reach"
    elif event["other"] == "loopback":
        port = raw[2] << 8 | raw[3]
        if action == "bind" or not _host_listens(port):
            return None
        reason = "the run has a loopback of its own; the host's is out of reach"
    else:
        reason = "this run has no network"
    return _refusal("network", action, address, reason, _with_network(around, family))


def _with_network(around: Surroundings, family: int) -> Allow:
    flag, lines = "--net host", '[network]\nmode = "host"'
    scope = "landlock.scope_abstract_socket"
    if family == AF_UNIX and scope in around.standing:
        flag += f" --degrade {scope}"
        lines += f'\n[protections]\ndegrade = ["{scope}"]'
    return Allow(flag, lines)


def _abstract_listener(name: bytes) -> bool:
    wanted = b" @" + name[1:].replace(b"\0", b"@")
    return any(line.rstrip().endswith(wanted) for line in _lines("/proc/net/unix"))


def _host_listens(port: int) -> bool:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in _lines(table)[1:]:
            fields = line.split()
            if fields[3] == b"0A" and int(fields[1].rpartition(b":")[2], 16) == port:
                return True
    return False


def _lines(path: str) -> list[bytes]:
    try:
        with open(path, "rb") as file:
            return file.read().splitlines()
    except OSError:
        return []


def _by_name(name: str, event: dict[str, Any], around: Surroundings) -> Refusal | None:
    host = event["text"].rstrip(".")
    allow = _with_network(around, 0)
    return _refusal(
        "network", "resolve", host, "this run has no network, so no names either", allow
    )


# Processes and limits


def _by_pid(name: str, event: dict[str, Any], around: Surroundings) -> Refusal | None:
    pid = int(event["args"].split()[0])
    if not os.path.isdir(f"/proc/{pid}"):
        return None
    return _refusal(
        "process", "signal", f"pid {pid}", "the host's processes are out of reach", None
    )


def _by_limit(name: str, event: dict[str, Any], around: Surroundings) -> Refusal | None:
    value = around.policy.limits.processes
    return limit_refusal(Limit("processes", value, ""), "it may have no more processes and threads")


def limit_refusal(limit: Limit, reason: str) -> Refusal:
    """A limit that was met, with twice as much as what would allow more."""
    from wardian.sandbox.units import format_duration, format_size

    value = limit.value or 0
    spell: Callable[[float], str] = {
        "time": format_duration, "cpu": format_duration, "processes": lambda n: str(int(n)),
        "files": lambda n: str(int(n)),
    }.get(limit.name, lambda n: format_size(int(n)))  # fmt: skip
    more = spell(value * 2)
    quoted = more if more.isdigit() else f'"{more}"'
    allow = Allow(f"--{limit.name} {more}", f"[limits]\n{limit.name} = {quoted}")
    return _refusal("limit", limit.name, spell(value), reason, allow)


def struck(limits: Iterable[Limit], usage_text: Callable[[Limit], str]) -> tuple[Refusal, ...]:
    """The limit that ended the run, as a refusal."""
    return tuple(limit_refusal(limit, usage_text(limit)) for limit in limits if limit.struck)


def _refusal(kind: str, action: str, target: str, reason: str, allow: Allow | None) -> Refusal:
    return Refusal(kind, action, target, UNKNOWN, reason, allow=allow)


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)


def likely_first(told: Iterable[Refusal]) -> list[Refusal]:
    """The likely cause of a failure first: a limit that was met, else what was refused last; what
    libraries only look for, at the end."""
    return sorted(told, key=lambda one: (is_routine(one), one.kind != "limit", -one.time_s))


def is_routine(refusal: Refusal) -> bool:
    """What libraries look for as a matter of course, and do well without."""
    return refusal.kind == "file" and any(is_below(refusal.target, p) for p in layout().routine)
