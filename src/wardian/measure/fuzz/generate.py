"""Generate programs from a seed, by the roles of the syscall table's arguments.

Program number N of a seed is the same whenever and wherever it is made. Most arguments make sense
(descriptors of the kind the call wants, made by calls before it; paths that exist; structures),
some are edges: -1, nothing, the largest number, a pointer to nowhere, flags that contradict.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection
from random import Random
from typing import NamedTuple

from wardian.errors import NothingMatched
from wardian.measure.fuzz import contents
from wardian.measure.fuzz.program import (
    ARENA_BYTES,
    AT,
    MAX_CALLS,
    NUMBER,
    READ_ONLY_AT,
    REGION_AT,
    RESULT,
    SELF,
    WORD,
    Arg,
    CallSequence,
    CallStep,
    slot,
)
from wardian.measure.fuzz.rules import rules
from wardian.syscalls.names import Name, family
from wardian.syscalls.roles import FAMILIES, POINTERS, WHOLE
from wardian.syscalls.table import Row, groups, lookup, rows

AT_FDCWD = -100
SELDOM, REFUSED = 0.08, 0.15  # how often such a call is drawn, against 1 for others
EDGE = 0.12
NOBODY = 0x3FFFFFFF  # above every pid_max

_LARGEST = (1 << 63) - 1
_NUMBERS: dict[str, tuple[int, ...]] = {
    "uid": (1000, 1000, -1, 0, 65534, 1001), "gid": (1000, 1000, -1, 0, 65534, 1001),
    "mode": (0o644, 0o755, 0, 0o777, 0o600, 0o1777, 0o4755, 0o2755, 0o100644),
    "dev": (0, 0x103, 0x105), "addrlen": (16, 110, 2, 28, 0, 128),
    "offset": (0, 0, 1, 10, 100, 4096, -1, 1 << 19, 1 << 40, _LARGEST),
    "int": (0, 0, 1, 1, 2, 3, 5, 16, 64), "uint": (0, 1, 1, 2, 3, 16, 64),
    "long": (0, 1, 2, 16, -1), "ulong": (0, 1, 2, 16, 64, 4096), "flags": (0, 0, 0, 0, 1, 2, 4, 8),
    "size": (0, 1, 8, 8, 16, 16, 64, 64, 128, 256, 512), "any": (0, 0, 1, 2, 16),
}  # fmt: skip
_EDGES = (-1, 0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, _LARGEST, 1 << 63, 4096, 65536)
_BAD_POINTERS = (0, -1, 1, 0xFFFF800000000000, 0x1000)
_ADDRESSES = (REGION_AT, REGION_AT, REGION_AT + 4096, REGION_AT + 8192, 0, REGION_AT + 1, 1 << 46)
_EDGE_ADDRESSES = (-4096, 0xFFFF800000000000, 1, 1 << 47)
_PAGES = (4096, 4096, 8192, 16384, 0, 1)

# What a call's first descriptor should be; other calls take any.
_WANTED: dict[str, tuple[str, ...]] = {
    "epoll_ctl": ("epoll",), "epoll_wait": ("epoll",), "epoll_pwait": ("epoll",),
    "epoll_pwait2": ("epoll",), "timerfd_settime": ("timerfd",), "timerfd_gettime": ("timerfd",),
    "inotify_add_watch": ("inotify",), "inotify_rm_watch": ("inotify",),
    "mq_timedsend": ("queue",), "mq_timedreceive": ("queue",), "mq_notify": ("queue",),
    "mq_getsetattr": ("queue",), "getdents": ("dir",), "getdents64": ("dir",), "fchdir": ("dir",),
    "tee": ("pipe",), "vmsplice": ("pipe",), "splice": ("pipe", "file"),
    "pidfd_send_signal": ("pidfd",), "process_madvise": ("pidfd",), "process_mrelease": ("pidfd",),
    "landlock_add_rule": ("ruleset",), "landlock_restrict_self": ("ruleset",),
    "fallocate": ("file", "memfd"), "ftruncate": ("file", "memfd"), "flock": ("file", "dir"),
}  # fmt: skip
_WANTED_BY_GROUP = {
    "network": ("socket",),
    "metadata": ("file", "dir"),
    "memory": ("file", "memfd"),
}
_KINDS = ("file", "file", "file", "dir", "pipe", "socket", "eventfd", "epoll", "timerfd", "memfd",
          "terminal", "inotify", "signalfd")  # fmt: skip

# What a call's result stands for.
_MAKES = {
    "eventfd": "eventfd", "eventfd2": "eventfd", "epoll_create": "epoll", "epoll_create1": "epoll",
    "timerfd_create": "timerfd", "memfd_create": "memfd", "inotify_init": "inotify",
    "inotify_init1": "inotify", "signalfd": "signalfd", "signalfd4": "signalfd",
    "socket": "socket", "accept": "socket", "accept4": "socket", "pidfd_open": "pidfd",
    "mq_open": "queue", "landlock_create_ruleset": "ruleset", "fork": "pid", "clone": "pid",
    "clone3": "pid", "mmap": "address", "mremap": "address", "shmat": "address", "shmget": "shm",
    "semget": "sem", "msgget": "msg", "inotify_add_watch": "watch", "creat": "file",
}  # fmt: skip
_IDS = {"shmat": "shm", "shmctl": "shm", "semop": "sem", "semctl": "sem", "semtimedop": "sem",
        "msgsnd": "msg", "msgrcv": "msg", "msgctl": "msg", "inotify_rm_watch": "watch",
        "timer_settime": "timer", "timer_gettime": "timer", "timer_getoverrun": "timer",
        "timer_delete": "timer"}  # fmt: skip
_PATH_PLACES = {"open": 0, "openat": 1, "creat": 0}
_NO_WAITING = {"ipcflags": 0o4000, "msgflags": 0x40, "waitflags": 1, "spliceflags": 2}


class Choice(NamedTuple):
    """The calls that a campaign draws from, and how likely each is, added up."""

    rows: tuple[Row, ...]
    weights: tuple[float, ...]
    arch: str


def choose(arch: str, wanted: Collection[str] = ()) -> Choice:
    """Calls by name or group, all that may be tried unless any is given. Raises NothingMatched."""
    known, by_group = {row.name for row in rows()}, groups()
    names: set[str] = set()
    for one in wanted:
        if one in by_group:
            names.update(row.name for row in by_group[one])
        elif one in known:
            names.add(one)
        else:
            raise NothingMatched(
                f"there is no syscall and no group {one!r}", hint=f"groups: {', '.join(by_group)}"
            )
    left_out = rules().leave_out
    if names and names <= set(left_out):
        reasons = "; ".join(f"{name}: {left_out[name]}" for name in sorted(names)[:3])
        raise NothingMatched("none of these calls is ever tried", hint=reasons)
    chosen = tuple(
        row for row in rows()
        if row.number(arch) is not None and row.name not in left_out
        and (row.name in names or not names)
    )  # fmt: skip
    weights = itertools.accumulate(_weight(row, bool(names)) for row in chosen)
    return Choice(chosen, tuple(weights), arch)


def _weight(row: Row, asked_for: bool) -> float:
    if asked_for:
        return 1
    if row.name in rules().seldom:
        return SELDOM
    return REFUSED if row.kind in ("deny", "absent") else 1


def generate(seed: int, index: int, choice: Choice) -> CallSequence:
    """Program ``index`` of a seed."""
    return _Maker(Random(f"{seed}/{index}"), choice).program()  # noqa: S311 - not for secrets


@functools.cache
def _row(name: str) -> Row:
    return lookup(name)


@functools.cache
def _arguments(name: str) -> tuple[str, ...]:
    return lookup(name).arguments


@functools.cache
def _family(role: str, arch: str) -> tuple[Name, ...]:
    return family(role, arch)


class _Maker:
    def __init__(self, rng: Random, choice: Choice) -> None:
        self.rng, self.choice = rng, choice
        self.calls: list[CallStep] = []
        self.image: list[tuple[int, bytes]] = []
        self.has: dict[str, list[Arg]] = {}

    def program(self) -> CallSequence:
        wanted = self.rng.randint(1, 5)
        for _ in range(wanted):
            (row,) = self.rng.choices(self.choice.rows, cum_weights=self.choice.weights)
            self.prepare(row)
            if len(self.calls) < MAX_CALLS:
                self.add(row)
        return CallSequence(tuple(self.calls), tuple(self.image))

    # ---- what a call needs before it

    def prepare(self, row: Row) -> None:
        """Calls that make what this one will want, if there is room for them and for it."""
        roles = _arguments(row.name)
        if "fd" in roles or (row.name in _IDS):
            for kind in self.wanted_kinds(row):
                if not self.has.get(kind) and self.rng.random() < 0.9:
                    self.make(kind)
        if "pid" in roles and not self.has.get("pid") and self.rng.random() < 0.1:
            self.make("pid")

    def wanted_kinds(self, row: Row) -> tuple[str, ...]:
        if row.name in _IDS:
            kinds: tuple[str, ...] = (_IDS[row.name],)
            if row.name == "inotify_rm_watch":
                kinds = ("inotify", "watch")
            return kinds
        wanted = _WANTED.get(row.name) or _WANTED_BY_GROUP.get(row.group)
        if wanted is None or self.rng.random() < 0.2:
            return (self.rng.choice(_KINDS),)
        return (self.rng.choice(wanted),)

    def make(self, kind: str) -> None:
        if len(self.calls) >= MAX_CALLS - 1:
            return
        rng, at = self.rng, slot(len(self.calls), 1)
        nonblock = 0 if rng.random() < 0.1 else 0o4000
        if kind in ("file", "dir", "terminal"):
            places = {"file": ("f", "f", "e", "new", "r", "l"), "dir": ("d", "."),
                      "terminal": ("/dev/ptmx",)}[kind]  # fmt: skip
            self.image.append((at, rng.choice(places).encode() + b"\0"))
            flags = 0o200000 if kind == "dir" else rng.choice((2, 2, 0, 0o102, 0o2002))
            flags |= nonblock if kind == "terminal" else 0
            self.call("openat", AT_FDCWD, Arg(AT, at), flags, 0o644)
            self.gain(kind)
        elif kind == "pipe":
            self.call("pipe2", Arg(AT, slot(len(self.calls), 0)), nonblock)
            self.gain_words("pipe", slot(len(self.calls) - 1, 0))
        elif kind == "socket":
            self.make_socket(nonblock)
        elif kind == "address":
            self.call("mmap", 0, 16384, 3, 0x22, -1, 0)
            self.gain(kind)
        elif kind in _MADE_BY:
            name, args = _MADE_BY[kind]
            self.call(name, *(Arg(AT, slot(len(self.calls), place)) if arg is None else arg
                              for place, arg in enumerate(args)))  # fmt: skip
            if kind == "timer":
                self.gain_words("timer", slot(len(self.calls) - 1, 2), 1)
            else:
                self.fill_made(kind)
                self.gain(kind)

    def make_socket(self, nonblock: int) -> None:
        rng = self.rng
        if rng.random() < 0.6:
            kind = rng.choice((1, 1, 2, 5)) | nonblock
            self.call("socketpair", 1, kind, 0, Arg(AT, slot(len(self.calls), 3)))
            self.gain_words("socket", slot(len(self.calls) - 1, 3))
        else:
            self.call("socket", rng.choice((1, 2, 2, 10, 16)), rng.choice((1, 2)) | nonblock, 0)
            self.gain("socket")

    def fill_made(self, kind: str) -> None:
        at = slot(len(self.calls) - 1, 0)
        if kind in ("memfd", "queue"):
            self.image.append((at, b"m\0" if kind == "memfd" else b"q\0"))
        elif kind == "watch":
            self.image.append((slot(len(self.calls) - 1, 1), b"f\0"))
        elif kind == "ruleset":
            self.image.append((at, contents.words(0x1FFF, 0, 0)))
        elif kind == "signalfd":
            self.image.append((slot(len(self.calls) - 1, 1), contents.words(1 << 9)))

    def call(self, name: str, *args: int | Arg) -> None:
        made = tuple(arg if isinstance(arg, Arg) else Arg(NUMBER, arg) for arg in args)
        self.calls.append(CallStep(name, made))

    def gain(self, kind: str) -> None:
        self.has.setdefault(kind, []).append(Arg(RESULT, len(self.calls) - 1))

    def gain_words(self, kind: str, at: int, count: int = 2) -> None:
        found = self.has.setdefault(kind, [])
        found += [Arg(WORD, at + 4 * i) for i in range(count)]

    # ---- the call itself

    def add(self, row: Row) -> None:
        index = len(self.calls)
        roles = list(_arguments(row.name))
        args: list[Arg] = []
        path = ""
        for place in range(len(roles)):
            role = roles[place]
            if role == "none":
                args.append(Arg(NUMBER, 0))
                continue
            arg, takes = self.argument(row, role, index, place, args)
            if takes:
                roles[place + 1 : place + 1 + len(takes)] = takes[: len(roles) - place - 1]
            if place == _PATH_PLACES.get(row.name) and arg.kind == AT:
                path = dict(self.image).get(arg.value, b"").rstrip(b"\0").decode()
            args.append(arg)
        self.calls.append(CallStep(row.name, tuple(args[:6])))
        self.note_made(row.name, args, path)

    def note_made(self, name: str, args: list[Arg], path: str) -> None:
        if name in _MAKES:
            self.gain(_MAKES[name])
        elif name in ("open", "openat"):
            self.gain(contents.KINDS_OF_PATHS.get(path, "file"))
        elif name in ("dup", "fcntl") and args and args[0].kind in (RESULT, WORD):
            self.gain("copy")
        elif name in ("pipe", "pipe2") and args[0].kind == AT:
            self.gain_words("pipe", args[0].value)
        elif name == "socketpair" and args[3].kind == AT:
            self.gain_words("socket", args[3].value)

    def argument(
        self, row: Row, role: str, index: int, place: int, before: list[Arg]
    ) -> tuple[Arg, tuple[str, ...] | None]:
        rng = self.rng
        kept = rules().only.get((row.name, place))
        if kept is not None and kept.allowed:
            value = rng.choice(kept.allowed)
            return Arg(NUMBER, value), self.takes(role, value)
        if role in FAMILIES:
            value = self.flags(role)
            if kept is not None and value & FAMILIES[role][0] in kept.without:
                value = 0
            return Arg(NUMBER, value), self.takes(role, value)
        if role in POINTERS or (role == "any" and rng.random() < 0.5):
            return self.pointer(row, role, slot(index, place), place), None
        return self.number(row, role, place, before), None

    def takes(self, role: str, value: int) -> tuple[str, ...] | None:
        if role not in FAMILIES:
            return None
        command = value & FAMILIES[role][0]
        named = _family(role, self.choice.arch)
        return next((takes for _, number, takes in named if takes and number == command), None)

    def flags(self, role: str) -> int:
        rng, mask = self.rng, FAMILIES[role][0]
        names = _family(role, self.choice.arch)
        if not names or rng.random() < EDGE / 2:
            return rng.choice((-1, 0, 0x7FFFFFFF, 1 << rng.randrange(32)))
        if mask == WHOLE:
            return rng.choice(names)[1]
        value = 0
        if mask:
            values = [number for _, number, _ in names if number & ~mask == 0]
            value = rng.choice(values) if values else 0
        bits = [number for _, number, _ in names if number & ~mask] or [0]
        for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
            value |= rng.choice(bits)
        if role in _NO_WAITING and rng.random() < 0.9:
            value |= _NO_WAITING[role]
        if role in ("nodemode", "ipcflags"):
            value |= rng.choice((0o644, 0o600, 0))
        return value

    def pointer(self, row: Row, role: str, at: int, place: int) -> Arg:
        rng = self.rng
        if rng.random() < EDGE:
            if rng.random() < 0.5:
                return Arg(NUMBER, rng.choice(_BAD_POINTERS))
            return Arg(
                AT, rng.choice((READ_ONLY_AT, ARENA_BYTES - 4, ARENA_BYTES, ARENA_BYTES - 64))
            )
        if role == "out":
            return Arg(AT, at) if rng.random() < 0.95 else Arg(NUMBER, 0)
        make = contents.BY_PLACE.get((row.name, place)) or contents.BY_ROLE.get(role)
        if role == "str":
            make = contents.text_of(row.name)
        if make is None:
            make = contents.numbers
        if role in ("in", "inout", "sigset") and rng.random() < 0.1:
            return Arg(NUMBER, 0)
        self.image.append((at, make(rng, at)))
        return Arg(AT, at)

    def number(self, row: Row, role: str, place: int, before: list[Arg]) -> Arg:
        rng = self.rng
        if role in ("fd", "dirfd"):
            return self.descriptor(row, role, place)
        if role == "pid":  # never negative: a group, or everybody
            found = self.has.get("pid")
            return rng.choice((Arg(NUMBER, 0), Arg(SELF), Arg(NUMBER, NOBODY),
                               found[-1] if found else Arg(SELF)))  # fmt: skip
        if place == 0 and row.name in _IDS and self.has.get(_IDS[row.name]) and rng.random() < 0.9:
            return rng.choice(self.has[_IDS[row.name]])
        if role == "addr":
            return self.address()
        if role == "size" and (before and self.is_mask(row, place)):
            return Arg(NUMBER, 8 if rng.random() < 0.93 else rng.choice((0, 4, 128)))
        if rng.random() < EDGE:
            return Arg(NUMBER, rng.choice(_EDGES))
        if role == "addrlen":
            return Arg(NUMBER, self.address_length(before))
        if role == "size" and row.group == "memory":
            return Arg(NUMBER, rng.choice(_PAGES))
        if role == "size" and "iovec" in _arguments(row.name):
            return Arg(NUMBER, rng.choice((1, 2, 2, 0)))
        if role == "int" and row.group == "events" and place >= 2:
            return Arg(NUMBER, rng.choice((0, 0, 0, 1)))  # a time to wait
        return Arg(NUMBER, rng.choice(_NUMBERS.get(role, (0, 1))))

    def is_mask(self, row: Row, place: int) -> bool:
        roles = _arguments(row.name)
        return row.name.startswith("rt_sig") or roles[place - 1] == "sigset"

    def address_length(self, before: list[Arg]) -> int:
        written = dict(self.image).get(before[-1].value) if before[-1].kind == AT else None
        return (
            len(written)
            if written and self.rng.random() < 0.8
            else self.rng.choice((16, 2, 0, 110))
        )

    def address(self) -> Arg:
        found = self.has.get("address")
        if found and self.rng.random() < 0.4:
            return self.rng.choice(found)
        if self.rng.random() < EDGE:
            return Arg(NUMBER, self.rng.choice(_EDGE_ADDRESSES))
        return Arg(NUMBER, self.rng.choice(_ADDRESSES))

    def descriptor(self, row: Row, role: str, place: int) -> Arg:
        rng = self.rng
        if role == "dirfd" and rng.random() < 0.7:
            return Arg(NUMBER, AT_FDCWD)
        wanted = ("dir",) if role == "dirfd" else _WANTED.get(row.name) if place == 0 else None
        if wanted is None and place == 0:
            wanted = _WANTED_BY_GROUP.get(row.group)
        fitting = [arg for kind in wanted or () for arg in self.has.get(kind, ())]
        if fitting and rng.random() < 0.85:
            return rng.choice(fitting)
        not_descriptors = ("pid", "address", "shm", "sem", "msg", "watch", "timer")
        every = [
            arg for kind, args in self.has.items() if kind not in not_descriptors for arg in args
        ]
        if every and rng.random() < 0.88:
            return rng.choice(every)
        return Arg(NUMBER, rng.choice((-1, 0, 1, 3, 63, 64, 999, 0x7FFFFFFF)))


_MADE_BY: dict[str, tuple[str, tuple[int | None, ...]]] = {
    "eventfd": ("eventfd2", (1, 0o4000)),
    "epoll": ("epoll_create1", (0,)),
    "timerfd": ("timerfd_create", (1, 0o4000)),
    "memfd": ("memfd_create", (None, 2)),
    "inotify": ("inotify_init1", (0o4000,)),
    "signalfd": ("signalfd4", (-1, None, 8, 0o4000)),
    "pidfd": ("pidfd_open", (0, 0)),
    "queue": ("mq_open", (None, 0o4102, 0o600, 0)),
    "ruleset": ("landlock_create_ruleset", (None, 8, 0)),
    "shm": ("shmget", (0, 4096, 0o1600)),
    "sem": ("semget", (0, 2, 0o1600)),
    "msg": ("msgget", (0, 0o1600)),
    "timer": ("timer_create", (1, 0, None)),
    "watch": ("inotify_add_watch", (3, None, 2)),
    "pid": ("fork", ()),
}
