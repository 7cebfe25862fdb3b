"""Files that a guest could not have: absent, read-only or masked, and what would share them."""

from __future__ import annotations

import os

from wardian.sandbox.refusals.notes import act_word, args_of, refusal_of, shown, text_of
from wardian.sandbox.refusals.ranking import READING
from wardian.sandbox.refusals.remedies import RefusalContext, to_share
from wardian.sandbox.root.layout import HOME, WORK
from wardian.sandbox.root.shares import is_below
from wardian.sandbox.run.result import Refusal
from wardian.syscalls.effects import SOCKETS, place_of

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any

# fcntl.h, where x86-64 and arm64 agree, and O_DIRECTORY of each
O_ACCMODE, O_CREAT, O_TRUNC, O_TMPFILE_BIT = 3, 0o100, 0o1000, 0o20000000
O_DIRECTORY = {"x86_64": 0o200000, "aarch64": 0o40000}
# These change the directory that a thing is in.
OF_DIRECTORY = ("bind", "create", "delete", "rename", "link")
# These are its owner's to do, whatever its permissions.
OF_OWNER = ("chmod", "chown", "touch")
READ_ONLY = "read-only in the sandbox"


def _action(name: str, event: dict[str, Any], arch: str) -> str:
    """The same, with an open's word from its flags."""
    action = act_word(name)
    if action != "open":
        return action
    flags = _flags(name, event)
    if flags & (O_CREAT | O_TMPFILE_BIT):
        return "create"
    if flags & O_ACCMODE or flags & O_TRUNC:
        return "write"
    return "list" if flags & O_DIRECTORY.get(arch, 0) else "read"


def _flags(name: str, event: dict[str, Any]) -> int:
    at = place_of(name, "oflags")
    return args_of(event)[at] if at >= 0 else O_CREAT  # as creat does


def _place(inside: str, action: str, name: str, event: dict[str, Any]) -> str:
    """What has to be shared for that action on that path: it, or the directory it is in."""
    if action not in OF_DIRECTORY or _flags(name, event) & O_TMPFILE_BIT:
        return inside
    return os.path.dirname(inside)


def by_absence(name: str, event: dict[str, Any], around: RefusalContext) -> Refusal | None:
    raw = text_of(event["text"])
    inside = _normal(raw)
    action = _action(name, event, around.arch)
    outside = _outside(raw, around)
    makes = event["by"] == "c"
    if outside is None or not around.host.exists(
        os.path.dirname(outside) if makes else outside, directory=makes
    ):
        return None  # what it would be made in must be there, or it would fail on the host as well
    target = _with_home(inside)
    reason = "its directory is not shared with the run" if makes else "not shared with the run"
    kind = "file"
    if action in SOCKETS:
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
    return refusal_of(kind, action, target, reason, allow)


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


def _outside(inside: str, around: RefusalContext) -> str | None:
    """Where on the host a program means that asks for this path inside; None: nowhere."""
    if is_below(inside, WORK):
        return None if around.policy.work is not None else around.cwd + inside[len(WORK) :]
    if is_below(inside, HOME) and not is_below(around.home, HOME):
        return around.home + inside[len(HOME) :]
    return None if is_below(inside, "/proc") else inside


def _with_home(inside: str) -> str:
    return shown(f"~{inside[len(HOME) :]}" if is_below(inside, HOME) else inside)


def by_read_only(name: str, event: dict[str, Any], around: RefusalContext) -> Refusal | None:
    inside = _normal(text_of(event["text"]))
    action = _action(name, event, around.arch)
    if is_below(inside, "/proc"):
        return refusal_of(
            "file", action, shown(inside), "the sandbox's /proc can't be written to", None
        )
    outside = _shared_from(inside, around)
    place = _place(inside, action, name, event)
    if action == "create" and os.path.lexists(outside):
        place = inside  # it is there already, and only opened
    allow = None
    if os.path.lexists(_below(outside, inside, place)):
        source = _below(outside, inside, place)
        allow = to_share(source, place, True, around, owned=action in OF_OWNER)
    target, kind = _with_home(inside), "file"
    if action in SOCKETS:
        target, kind = f"unix:{target}", "network"
    return refusal_of(kind, action, target, READ_ONLY, allow)


def _shared_from(inside: str, around: RefusalContext) -> str:
    """The path of the host that stands there inside."""
    above = [source for source in around.sources if is_below(inside, source.at)]
    if not above:
        return inside
    nearest = max(above, key=lambda source: len(source.at))
    return nearest.path + inside[len(nearest.at.rstrip("/")) :]


def by_mask(name: str, event: dict[str, Any], around: RefusalContext) -> Refusal | None:
    action = _action(name, event, around.arch)
    target = shown(_normal(text_of(event["text"])))
    return refusal_of("file", action, target, "masked: this file reveals host details", None)
