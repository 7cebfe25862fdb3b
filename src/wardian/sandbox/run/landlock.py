"""Landlock's rights by ABI version, and the rules that repeat the mounts. Pure."""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from wardian.values import NamedTuple


EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
SCOPE_ABSTRACT_SOCKET, SCOPE_SIGNAL = 1 << 0, 1 << 1

_ABI_1 = (1 << 13) - 1
READ = EXECUTE | READ_FILE | READ_DIR
WRITE = _ABI_1 | REFER | TRUNCATE | IOCTL_DEV
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV  # the rest is refused there
DEVICE = READ_FILE | WRITE_FILE | READ_DIR | TRUNCATE | IOCTL_DEV

# What each ABI added, by the name under which it is shown and degraded; landlock(7).
FEATURES = (
    ("landlock", 1),
    ("landlock.refer", 2),
    ("landlock.truncate", 3),
    ("landlock.ioctl_dev", 5),
    ("landlock.scope_abstract_socket", 6),
    ("landlock.scope_signal", 6),
)


class Ruleset(NamedTuple):
    """What the launcher hands to landlock_create_ruleset."""

    handled_fs: int
    handled_net: int
    scoped: int


def ruleset(abi: int, degraded: frozenset[str] = frozenset()) -> Ruleset:
    """The most that this ABI can handle, less what was given up by name."""
    fs, scoped = _ABI_1, 0
    for name, right in (
        ("landlock.refer", REFER),
        ("landlock.truncate", TRUNCATE),
        ("landlock.ioctl_dev", IOCTL_DEV),
    ):
        if abi >= dict(FEATURES)[name] and name not in degraded:
            fs |= right
    for name, scope in (
        ("landlock.scope_abstract_socket", SCOPE_ABSTRACT_SOCKET),
        ("landlock.scope_signal", SCOPE_SIGNAL),
    ):
        if abi >= dict(FEATURES)[name] and name not in degraded:
            scoped |= scope
    return Ruleset(fs, 0, scoped)


def rules(
    readable: list[str], writable: list[str], devices: list[str], handled_fs: int
) -> list[tuple[str, int]]:
    """Places inside and the rights on them; listing directories is allowed everywhere."""
    rights = [("/", READ_DIR)]
    # A rule holds for all that lies below, mounts included: one for /etc does for /etc/ssl, too.
    above = {path + "/" for path in readable}
    rights += [(path, READ) for path in readable if not any(path.startswith(one) for one in above)]
    rights += [(path, WRITE) for path in writable]
    rights += [(path, DEVICE) for path in devices]
    return [(path, access & handled_fs) for path, access in rights]
