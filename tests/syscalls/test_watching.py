"""Every allowed call with a path or an address is watched, or has a stated reason not to be."""

from __future__ import annotations

import pytest

from wardian import syscalls
from wardian.syscalls.watching import KINDS, RECORD, SCOPES, unless, watched_calls

REPORTED_BY = {"path", "sockaddr", "msghdr", "mmsghdr", "openhow"}
REASONS = {
    "recvmsg": "receives: the address is the sender's, and nothing is asked for",
    "recvmmsg": "receives",
    "recvfrom": "receives",
    "sendmsg": "the launcher hands the listener over by it, so only traces watch it; a path in its "
    "address is seen where /dev/fuse can be opened (docs/refusals.md)",
    "accept": "its address is written by the kernel",
    "accept4": "its address is written by the kernel",
}
ALLOWED = [row for row in syscalls.rows() if row.kind in ("allow", "when")]


def takes_a_path(row: syscalls.Row) -> bool:
    return bool(REPORTED_BY.intersection(row.arguments))


@pytest.mark.parametrize("row", list(filter(takes_a_path, ALLOWED)), ids=lambda row: row.name)
def test_an_allowed_call_with_a_path_is_watched_or_says_why_not(row: syscalls.Row) -> None:
    """Without /dev/fuse each is looked at; with it, those that only look are seen at the root."""
    watched = row.name in unless("paths")
    assert watched != (row.name in REASONS), row.name


CHANGES = ("set", "remove", "chmod", "chown", "trunc", "utime", "futimes", "mk", "link", "rename")


def test_what_changes_something_is_watched_with_fuse_too() -> None:
    """The root that the supervisor answers sees what is missing, not what is read-only."""
    for row in filter(takes_a_path, ALLOWED):
        if row.name in REASONS or not any(word in row.name for word in CHANGES):
            continue
        if row.name.startswith("readlink"):
            continue
        assert row.name in unless("changes"), row.name


def test_a_stated_reason_is_of_a_call_that_is_allowed() -> None:
    assert set(REASONS) <= {row.name for row in ALLOWED if takes_a_path(row)} | {
        "recvfrom", "accept", "accept4", "recvmmsg",
    }  # fmt: skip


@pytest.mark.parametrize("arch", ["x86_64", "arm64"])
@pytest.mark.parametrize("scope", SCOPES)
def test_every_watched_call_has_its_record(scope: str, arch: str) -> None:
    records = watched_calls(scope, arch)  # type: ignore[arg-type]
    numbers = {number for number, *_ in RECORD.iter_unpack(records)}
    kinds = {kind for _, kind, *_ in RECORD.iter_unpack(records)}
    assert all(1 <= kind <= len(KINDS) for kind in kinds)
    for name in unless(scope):  # type: ignore[arg-type]
        number = syscalls.number(name, arch)
        assert number is None or number in numbers, name
