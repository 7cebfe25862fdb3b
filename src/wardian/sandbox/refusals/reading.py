"""What the supervisor noted, turned into refusals: told only where the host has what the guest was
after, or where its write really failed, and each with what would allow it.

Looks at the host, with the caller's own rights, after the run has ended; nothing of it reaches the
guest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from wardian.sandbox.policy.units import human_bytes
from wardian.sandbox.refusals.remedies import (
    Surroundings,
    setting,
    spelled,
    to_call,
    to_reach,
    to_share,
    to_use,
)
from wardian.sandbox.root.layout import HOME, WORK, layout
from wardian.sandbox.root.shares import is_below
from wardian.sandbox.run.result import Allow, Caller, Limit, Refusal
from wardian.text import quoted

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any

# fcntl.h, where x86-64 and arm64 agree, and O_DIRECTORY of each
O_ACCMODE, O_CREAT, O_TRUNC, O_TMPFILE_BIT = 3, 0o100, 0o1000, 0o20000000
O_DIRECTORY = {"x86_64": 0o200000, "aarch64": 0o40000}
AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
LOW_PORTS = 1024
MAX_PARENTS = 16  # the nearest: a guest can make a chain of hundreds
UNKNOWN = Caller(0, "", ())
LAUNCHER_NAME = "wardian-launch"

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
    "sendto": "send", "sendmsg": "send", "sendmmsg": "send", "kill": "signal",
    "rt_sigqueueinfo": "signal",
}  # fmt: skip
SOCKET_CALLS = ("connect", "bind", "sendto", "sendmsg", "sendmmsg")
READING = ("read", "list", "stat", "watch", "execute")
# These change the directory that a thing is in.
OF_DIRECTORY = ("bind", "create", "delete", "rename", "link")
# These are its owner's to do, whatever its permissions.
OF_OWNER = ("chmod", "chown", "touch")
# Calls that reach for another process.
PROCESS_CALLS = ("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp")


def refusals(events: Sequence[dict[str, Any]], around: Surroundings) -> tuple[Refusal, ...]:
    """In the order in which they happened, the same thing folded into one."""
    callers = _callers(events, around.command)
    found = _Found()
    for event in events:
        if event["event"] != "refused":
            continue
        told = _explain(event, around)
        if told is not None:
            caller = callers.get(event["process"], UNKNOWN)
            found.add(
                told._replace(process=caller, count=event["count"], time_s=event["at_us"] / 1e6)
            )
    return found.all()


class _Found:
    """The same thing again counts; a look at something that is then used is part of using it."""

    def __init__(self) -> None:
        self._by_act: dict[tuple[str, str, str], Refusal] = {}
        self._first_act: dict[tuple[str, str], str] = {}

    def add(self, told: Refusal) -> None:
        thing = (told.kind, told.target)
        first = self._first_act.setdefault(thing, told.action)
        action = first if told.action == "stat" else told.action
        if first == "stat" and action != "stat":
            looked = self._by_act.pop((told.kind, "stat", told.target))
            self._first_act[thing] = action
            told = told._replace(time_s=looked.time_s)
        before = self._by_act.get((told.kind, action, told.target))
        if before is not None:
            told = before._replace(count=before.count + told.count)
        self._by_act[told.kind, action, told.target] = told

    def all(self) -> tuple[Refusal, ...]:
        return tuple(self._by_act.values())


def _callers(events: Sequence[dict[str, Any]], command: tuple[str, ...]) -> dict[int, Caller]:
    """By number. Until the run's own command is found and runs, it is the launcher that looks."""
    callers: dict[int, Caller] = {}
    for event in events:
        if event["event"] == "process":
            parent = callers.get(event["parent"])
            above = (parent._replace(parents=()), *parent.parents)[:MAX_PARENTS] if parent else ()
            words: Sequence[str] = _text(event["command"]).rstrip("\0").split("\0")
            words = command if words == [LAUNCHER_NAME] else words
            line = " ".join(quoted(_told(word)) for word in words)
            callers[event["number"]] = Caller(event["pid"], line, above)
    return callers


def _text(told: str) -> str:
    """The launcher tells bytes, each as one character; this is the text they stand for."""
    return os.fsdecode(told.encode("latin-1"))


def _told(text: str) -> str:
    r"""Text that any document can hold: bytes that are no text are written as ``\xe9``."""
    return os.fsencode(text).decode("utf-8", "backslashreplace")


def _explain(event: dict[str, Any], around: Surroundings) -> Refusal | None:
    from wardian.syscalls import name_of

    name = name_of(event["call"], around.arch) or f"syscall {event['call']}"
    explain: dict[str, Callable[[str, dict[str, Any], Surroundings], Refusal | None]] = {
        "f": _by_filter, "m": _by_absence, "c": _by_absence, "r": _by_read_only,
        "k": _by_mask, "n": _by_network, "d": _by_name, "p": _by_pid, "l": _by_limit,
    }  # fmt: skip
    return explain[event["by"]](name, event, around)


def _args(event: dict[str, Any]) -> list[int]:
    return [int(arg) for arg in event["args"].split()]


# The filter


def _by_filter(name: str, event: dict[str, Any], around: Surroundings) -> Refusal:
    from wardian.syscalls import lookup
    from wardian.syscalls.decode import call_text

    if name.startswith("syscall "):
        return _refusal("syscall", name, name, "unknown call", None)
    args, row = _args(event), lookup(name)
    strings = {}
    if event["text"] and "path" in row.arguments:
        strings = {row.arguments.index("path"): _told(_text(event["text"]))}
    target = call_text(name, args, strings=strings, arch=around.arch)
    kind = "process" if name in PROCESS_CALLS else "syscall"
    denied = name in around.policy.deny_syscalls
    reason = "this run's policy denies it" if denied else row.reason
    return _refusal(kind, name, target, reason, to_call(name, args, around.policy))


# Files


def _action(name: str, event: dict[str, Any], arch: str) -> str:
    if name not in ("open", "openat"):
        return ACTIONS.get(name, name)
    flags = _flags(name, event)
    if flags & (O_CREAT | O_TMPFILE_BIT):
        return "create"
    if flags & O_ACCMODE or flags & O_TRUNC:
        return "write"
    return "list" if flags & O_DIRECTORY.get(arch, 0) else "read"


def _flags(name: str, event: dict[str, Any]) -> int:
    return _args(event)[{"open": 1, "openat": 2}[name]] if name in ("open", "openat") else 0


def _place(inside: str, action: str, name: str, event: dict[str, Any]) -> str:
    """What has to be shared for that action on that path: it, or the directory it is in."""
    if action not in OF_DIRECTORY or _flags(name, event) & O_TMPFILE_BIT:
        return inside
    return os.path.dirname(inside)


def _by_absence(name: str, event: dict[str, Any], around: Surroundings) -> Refusal | None:
    raw = _text(event["text"])
    inside = _normal(raw)
    action = _action(name, event, around.arch)
    outside = _outside(raw, around)
    makes = event["by"] == "c"
    if outside is None or not around.host.exists(
        os.path.dirname(outside) if makes else outside, directory=makes
    ):
        return None  # what it would be made in must be there, or it would fail on the host as well
    target = _shown(inside)
    reason = "its directory is not shared with the run" if makes else "not shared with the run"
    kind = "file"
    if name in SOCKET_CALLS:
        kind, target = "network", f"unix:{target}"
        reason = reason if makes else "this socket is not shared with the run"
    place = _fixed(raw, _place(inside, action, name, event))
    allow = to_share(
        _below(outside, inside, place),
        place,
        action not in READING,
        around,
        owned=action in OF_OWNER,
    )
    return _refusal(kind, action, target, reason, allow)


def _normal(path: str) -> str:
    return "/" + os.path.normpath(path).lstrip("/")


def _below(outside: str, inside: str, place: str) -> str:
    """Where on the host ``place``, which is at or above ``inside``, comes from."""
    outside = _normal(outside)
    rest = inside[len(place.rstrip("/")) :]
    return outside[: len(outside) - len(rest)] or "/" if rest else outside


def _fixed(raw: str, place: str) -> str:
    """``/a/b/../c`` needs /a/b as well as /a/c: then only /a will do."""
    kept: list[str] = []
    least = len(parts := [part for part in raw.split("/") if part not in ("", ".")])
    for part in parts:
        if part == "..":
            kept[-1:] = []
            least = min(least, len(kept))
        else:
            kept.append(part)
    return "/" + "/".join([part for part in place.split("/") if part][:least])


def _outside(inside: str, around: Surroundings) -> str | None:
    """Where on the host a program means that asks for this path inside; None: nowhere."""
    if is_below(inside, WORK):
        return None if around.policy.work is not None else around.cwd + inside[len(WORK) :]
    if is_below(inside, HOME) and not is_below(around.home, HOME):
        return around.home + inside[len(HOME) :]
    return None if is_below(inside, "/proc") else inside


def _shown(inside: str) -> str:
    return _told(f"~{inside[len(HOME) :]}" if is_below(inside, HOME) else inside)


def _by_read_only(name: str, event: dict[str, Any], around: Surroundings) -> Refusal | None:
    inside = _normal(_text(event["text"]))
    action = _action(name, event, around.arch)
    if is_below(inside, "/proc"):
        return _refusal(
            "file", action, _told(inside), "the sandbox's /proc can't be written to", None
        )
    outside = _shared_from(inside, around)
    place = _place(inside, action, name, event)
    if action == "create" and os.path.lexists(outside):
        place = inside  # it is there already, and only opened
    allow = None
    if os.path.lexists(_below(outside, inside, place)):
        source = _below(outside, inside, place)
        allow = to_share(source, place, True, around, owned=action in OF_OWNER)
    target, kind = _shown(inside), "file"
    if name in SOCKET_CALLS:
        target, kind = f"unix:{target}", "network"
    return _refusal(kind, action, target, "it is read-only in the sandbox", allow)


def _shared_from(inside: str, around: Surroundings) -> str:
    """The path of the host that stands there inside."""
    above = [source for source in around.sources if is_below(inside, source.at)]
    if not above:
        return inside
    nearest = max(above, key=lambda source: len(source.at))
    return nearest.path + inside[len(nearest.at.rstrip("/")) :]


def _by_mask(name: str, event: dict[str, Any], around: Surroundings) -> Refusal | None:
    action = _action(name, event, around.arch)
    target = _told(_normal(_text(event["text"])))
    return _refusal("file", action, target, "it tells about the host, and is covered", None)


# The network


def _by_network(name: str, event: dict[str, Any], around: Surroundings) -> Refusal | None:
    from wardian.syscalls.decode import sockaddr_text

    raw = event["text"].encode("latin-1")
    family = int.from_bytes(raw[:2], "little")
    port = int.from_bytes(raw[2:4], "big")
    action = ACTIONS.get(name, name)
    allow = to_reach(around, family)
    if family == AF_UNIX:
        if action == "bind" or allow is None or not around.host.has_abstract(raw[2:]):
            return None
        reason = "the host's abstract sockets are out of reach"
    elif len(raw) < {AF_INET: 8, AF_INET6: 24}.get(family, 2):
        return None  # the kernel takes no such address either
    elif action == "bind" and 0 < port < LOW_PORTS:
        reason, allow = "ports below 1024 need a right that no guest has", None
        if around.policy.network == "host" and port >= setting(
            "net/ipv4/ip_unprivileged_port_start"
        ):
            return None
    elif event["other"] == "loopback":
        if not around.host.listens(port):
            return None
        reason = "the run has a loopback of its own; the host's is out of reach"
    else:
        reason = "this run has no network"
    return _refusal("network", action, sockaddr_text(raw), reason, allow)


def _by_name(name: str, event: dict[str, Any], around: Surroundings) -> Refusal | None:
    host = _told(_text(event["text"].rstrip(".")))
    reason = "this run has no network, so no names either"
    return _refusal("network", "resolve", host, reason, to_reach(around))


# Processes and limits


def _by_pid(name: str, event: dict[str, Any], around: Surroundings) -> Refusal | None:
    pid = _args(event)[0] & 0xFFFFFFFF
    if not os.path.isdir(f"/proc/{pid}"):
        return None
    reason = "the host's processes are out of reach"
    return _refusal("process", ACTIONS.get(name, name), f"pid {pid}", reason, None)


def _by_limit(name: str, event: dict[str, Any], around: Surroundings) -> Refusal | None:
    limits = around.policy.limits
    if event["text"] == "processes":
        held = Limit("processes", limits.processes, "")
        return limit_refusal(held, "it may have no more processes and threads")
    if event["text"] == "files":
        held = Limit("files", limits.files, "")
        return limit_refusal(held, "it may have no more open files in one process")
    if event["text"] == "memory":
        needed = int(event["other"])
        reason = f"it asked for memory that would come to {human_bytes(needed)} at once"
        return limit_refusal(Limit("memory", limits.memory_bytes, ""), reason, needed)
    memory = limits.memory_bytes is not None and limits.memory_bytes < (
        limits.disk_bytes or 1 << 62
    )
    held = (
        Limit("memory", limits.memory_bytes, "") if memory else Limit("disk", limits.disk_bytes, "")
    )
    return limit_refusal(held, "its private files are full, or they were")


def limit_refusal(limit: Limit, reason: str, needed: int = 0) -> Refusal:
    """A limit that was met, and what would allow more: twice as much, or what is needed."""
    value = spelled(limit.name, limit.value or 0)
    return _refusal("limit", limit.name, value, reason, to_use(limit, needed))


def _refusal(kind: str, action: str, target: str, reason: str, allow: Allow | None) -> Refusal:
    return Refusal(kind, action, target, UNKNOWN, reason, allow=allow)


def likely_first(told: Iterable[Refusal]) -> list[Refusal]:
    """The likely cause of a failure first: a limit that was met, else what was refused last; what
    was only looked at after that, and what libraries look for anyway at the end."""

    def rank(one: Refusal) -> tuple[bool, bool, bool, bool, float]:
        looked = one.action == "stat"
        return is_routine(one), _is_setting(one), one.kind != "limit", looked, -one.time_s

    return sorted(told, key=rank)


def is_news(refusal: Refusal, *, failed: bool) -> bool:
    """Whether a person needs to hear of it, after a run that failed or one that did not."""
    return not is_routine(refusal) and (failed or not _is_setting(refusal))


def is_routine(refusal: Refusal) -> bool:
    """What libraries look for as a matter of course, and do well without."""
    return refusal.kind == "file" and any(is_below(refusal.target, p) for p in layout().routine)


def _is_setting(refusal: Refusal) -> bool:
    reads = refusal.kind == "file" and refusal.action in READING
    return reads and any(is_below(refusal.target, path) for path in layout().settings)
