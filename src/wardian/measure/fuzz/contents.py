"""Memory that pointers refer to: paths, addresses, times, sets, structures; mostly valid, some not.

Each maker gets the random source and the place in the arena, for structures that point on.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random

from wardian.measure.fuzz.program import ARENA_AT

Maker = Callable[[Random, int], bytes]

# What the executor puts into the scratch directory, names that are free, and a few places that
# every root has. A name is drawn as often as it stands here.
TMP = "/tmp"  # noqa: S108 - each side has its own
PATHS = (
    "f", "f", "f", "e", "e", "r", "n", "x", "d", "d", "d/g", "d/g", "d/h", "l", "l", "b", "p",
    "new", "new", "new", "d/new", "gone", "gone/x", "f/x", "l/x", ".", "..", "", "./f", "d/../f",
    "d/", "f/", "/dev/null", "/dev/zero", TMP, "/", "/usr", "/proc/self/fd/3", "/proc/self",
    "N" * 256, "x/" * 60, "é",
)  # fmt: skip
KINDS_OF_PATHS = {"d": "dir", "d/": "dir", "d/h": "dir", ".": "dir", "..": "dir", "/": "dir",
                  TMP: "dir", "/usr": "dir", "p": "fifo", "/dev/null": "device",
                  "/dev/zero": "device", "/dev/ptmx": "terminal"}  # fmt: skip
TEXTS = ("user.a", "user.a", "user.b", "security.a", "trusted.a", "system.a", "user.", "a", "")
TEXTS_OF = {
    "memfd_create": ("m", "m", "", "N" * 250),
    "mq_open": ("q", "q", "q", "/q", "", "a/b"),
    "mq_unlink": ("q", "q", "other"),
    "symlink": ("f", "gone", "d", "", "/", "N" * 256),
    "symlinkat": ("f", "gone", "d", "", "/", "N" * 256),
}
TEXT = b"hello, world; 0123456789 abcdefghij\n"


def words(*values: int) -> bytes:
    """64-bit numbers."""
    return struct.pack(f"<{len(values)}q", *values)


def ints(*values: int) -> bytes:
    """32-bit numbers."""
    return struct.pack(f"<{len(values)}i", *values)


def path(rng: Random, _: int) -> bytes:
    return rng.choice(PATHS).encode() + b"\0"


def text_of(call: str) -> Maker:
    choices = TEXTS_OF.get(call, TEXTS)
    return lambda rng, _: rng.choice(choices).encode() + b"\0"


def timespec(rng: Random, _: int) -> bytes:
    return words(
        *rng.choice(((0, 0), (0, 1000), (0, 1000000), (0, 0), (0, 10**9), (-1, 0), (1, -1)))
    )


def sigset(rng: Random, _: int) -> bytes:
    return struct.pack("<Q", rng.choice((0, 1 << 9, 1 << 11, 1 << 13, 1 << 16, (1 << 64) - 1)))


def sockaddr(rng: Random, _: int) -> bytes:
    kind = rng.randrange(8)
    if kind < 3:
        return struct.pack("<H", 1) + rng.choice(
            (b"sock\0", b"f\0", b"\0wardian", b"gone/s\0", b"")
        )
    if kind < 5:
        port = rng.choice((0, 0, 20001, 80))
        host = rng.choice((b"\x7f\0\0\1", b"\0\0\0\0", b"\x0a\0\0\1"))
        return struct.pack("<H", 2) + struct.pack(">H", port) + host + bytes(8)
    if kind == 5:
        loopback = bytes(15) + b"\1"
        return struct.pack("<H", 10) + struct.pack(">HI", 0, 0) + loopback + bytes(4)
    if kind == 6:
        return struct.pack("<HHII", 16, 0, 0, 0)
    return struct.pack("<H", rng.choice((0, 99))) + bytes(14)


def iovec(rng: Random, at: int) -> bytes:
    """Two buffers in the same slot."""
    first, second = rng.choice(((5, 7), (16, 0), (0, 0), (36, 36), (-1, 8), (64, 1 << 20)))
    head = struct.pack("<QqQq", ARENA_AT + at + 128, first, ARENA_AT + at + 256, second)
    return head.ljust(128, b"\0") + TEXT.ljust(128, b"\0") + TEXT


def message(rng: Random, at: int) -> bytes:
    """A struct msghdr and all that it points to."""
    here = ARENA_AT + at
    control = struct.pack("<QiiiI", 20, 1, rng.choice((1, 2, 99)), rng.choice((0, 1, 63)), 0)
    length = rng.choice((0, 0, 24, 4))
    name = rng.choice((0, 0, 16))
    head = struct.pack(
        "<QIIQQQQII",
        here + 192 if name else 0, name, 0, here + 64, rng.choice((0, 1, 1, 1)),
        here + 224 if length else 0, length, 0, 0,
    )  # fmt: skip
    vector = struct.pack("<Qq", here + 256, rng.choice((0, 5, 36)))
    parts = (
        head.ljust(64, b"\0") + vector.ljust(128, b"\0") + sockaddr(rng, at)[:16].ljust(32, b"\0")
    )
    return parts + control.ljust(32, b"\0") + TEXT


def messages(rng: Random, at: int) -> bytes:
    """One struct mmsghdr; the second is empty."""
    head = message(rng, at)
    return head[:56] + ints(0, 0) + head[64:]


def strings(_: Random, at: int) -> bytes:
    """An argv of one word."""
    return struct.pack("<QQ", ARENA_AT + at + 32, 0).ljust(32, b"\0") + b"x\0"


def open_how(rng: Random, _: int) -> bytes:
    return struct.pack("<QQQ", rng.choice((0, 2, 0o102, 0o200000)), rng.choice((0, 0o644)),
                       rng.choice((0, 0, 8, 4, 1 << 40)))  # fmt: skip


def clone_args(rng: Random, _: int) -> bytes:
    return struct.pack("<11Q", rng.choice((0, 0x200, 0x400)), 0, 0, 0, 17, 0, 0, 0, 0, 0, 0)


def numbers(rng: Random, _: int) -> bytes:
    """Whatever a kernel may read from it: small numbers, text, nothing, ones."""
    kind = rng.randrange(6)
    if kind == 0:
        return bytes(64)
    if kind == 1:
        return TEXT
    if kind == 2:
        return b"\xff" * 64
    if kind == 3:
        return words(*(rng.choice((0, 1, 2, 16, 64, 512, -1)) for _ in range(8)))
    return ints(*(rng.choice((0, 1, 2, 3, 16, 64, 512, -1)) for _ in range(16)))


def lengths(rng: Random, _: int) -> bytes:
    """For what the kernel reads before it writes there: a length, mostly."""
    return ints(rng.choice((16, 16, 64, 110, 0, 2, -1)), 0) + bytes(56)


def polled(rng: Random, _: int) -> bytes:
    """struct pollfd, twice: descriptors that programs have."""
    return b"".join(
        struct.pack("<iHH", rng.choice((0, 3, 4, 5, -1, 63)), rng.choice((1, 4, 5, 0)), 0)
        for _ in range(2)
    )


def locked(rng: Random, _: int) -> bytes:
    """struct flock."""
    return struct.pack("<hh4xqqi4x", rng.choice((0, 1, 2, 9)), rng.choice((0, 0, 2, 9)),
                       rng.choice((0, 1, -1)), rng.choice((0, 10, -1)), 0)  # fmt: skip


def limits(rng: Random, _: int) -> bytes:
    """struct rlimit, lowering."""
    soft = rng.choice((0, 1, 16, 64, 4096))
    return words(soft, rng.choice((soft, soft, 64, -1)))


def intervals(rng: Random, _: int) -> bytes:
    """struct itimerspec that never fires, or at once, or is wrong."""
    return words(*rng.choice(((0, 0, 0, 0), (0, 0, 1000, 0), (0, 0, 0, 10**10), (0, -1, 0, 0))))


def times(rng: Random, _: int) -> bytes:
    """Two times of a file."""
    now, omit = (1 << 30) - 1, (1 << 30) - 2
    return words(*rng.choice(((1, 0, 2, 0), (0, now, 0, omit), (0, omit, 0, omit), (1, 10**9, 1, 0),
                              (-5, 5, 1 << 40, 0))))  # fmt: skip


def events(rng: Random, _: int) -> bytes:
    """struct epoll_event."""
    return struct.pack("<IQ", rng.choice((1, 4, 5, 1 << 31, 1 << 30, 1 << 28)), 77)


def semaphores(rng: Random, _: int) -> bytes:
    """struct sembuf, twice."""
    return b"".join(struct.pack("<Hhh", rng.choice((0, 0, 1, 9)), rng.choice((1, 1, -1, 0)), 0o4000)
                    for _ in range(2))  # fmt: skip


def queued(rng: Random, _: int) -> bytes:
    """struct msgbuf."""
    return words(rng.choice((1, 1, 2, 0, -1))) + TEXT


def action(rng: Random, _: int) -> bytes:
    """struct kernel_sigaction: default or ignored."""
    return words(rng.choice((0, 1)), rng.choice((0, 0x10000000, 4)), 0, 0)


def attributes(rng: Random, _: int) -> bytes:
    """struct mq_attr."""
    return words(rng.choice((0, 0o4000)), rng.choice((1, 2, 10, 0, 99)), rng.choice((8, 64, 0)), 0)


def groups(rng: Random, _: int) -> bytes:
    return ints(1000, 65534, 0, rng.choice((1000, 5)))


def capabilities(rng: Random, _: int) -> bytes:
    """struct __user_cap_header_struct."""
    version = rng.choice((0x20080522, 0x20080522, 0x19980330, 0))
    return struct.pack("<Ii", version, rng.choice((0, 0, 0x3FFFFFFF)))


def ruleset(rng: Random, _: int) -> bytes:
    """struct landlock_ruleset_attr, or a rule."""
    return words(rng.choice((1, 0x1FFF, 0, -1)), rng.choice((0, 3)), 0)


BY_ROLE: dict[str, Maker] = {
    "path": path, "strs": strings, "sockaddr": sockaddr, "msghdr": message, "mmsghdr": messages,
    "iovec": iovec, "timespec": timespec, "sigset": sigset, "openhow": open_how,
    "cloneargs": clone_args, "in": numbers, "inout": lengths,
}  # fmt: skip

BY_PLACE: dict[tuple[str, int], Maker] = {
    ("poll", 0): polled, ("ppoll", 0): polled, ("fcntl", 2): locked, ("setrlimit", 1): limits,
    ("prlimit64", 2): limits, ("timerfd_settime", 2): intervals, ("timer_settime", 2): intervals,
    ("setitimer", 1): intervals, ("utimensat", 2): times, ("utimes", 1): times, ("utime", 1): times,
    ("futimesat", 2): times, ("epoll_ctl", 3): events, ("semop", 1): semaphores,
    ("semtimedop", 1): semaphores, ("msgsnd", 1): queued, ("rt_sigaction", 1): action,
    ("mq_open", 3): attributes, ("mq_getsetattr", 1): attributes, ("setgroups", 1): groups,
    ("capget", 0): capabilities, ("capset", 0): capabilities,
    ("landlock_create_ruleset", 0): ruleset, ("landlock_add_rule", 2): ruleset,
    ("select", 4): timespec,
}  # fmt: skip
