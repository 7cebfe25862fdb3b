"""The effects of a call on paths, sockets and processes: the language of the ``effects`` column.

effects    ``-``, or acts joined by ``; ``
act        a word, for some words a mark, then optionally ``when`` or ``unless`` and a condition
           (see ``conditions``)

Which arguments it is done to is what their roles say. What the words mean for the supervisor, for a
refusal and for a trace is derived from them, so that adding a syscall is adding a row.
"""

from __future__ import annotations

import functools

from wardian.errors import InputError
from wardian.syscalls.conditions import holds, parse_condition
from wardian.syscalls.table import find

TYPE_CHECKING = False  # importing typing takes 2 ms, and this module stands on the start path
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import NamedTuple
else:
    from wardian.values import NamedTuple

# Each word with the kind that the supervisor knows such calls by (``watching.KINDS``), and what it
# means. A refusal has the same word, but for an open, whose flags say what was refused, and for
# ``reach`` and ``trace``, which go by the call's own name.
PATHS: dict[str, tuple[str, str]] = {
    "stat": ("look", "asks about it"),
    "list": ("look", "goes to it, as the current directory"),
    "watch": ("look", "asks to hear of changes"),
    "execute": ("exec", "runs it"),
    "create": ("make", "makes it; fails if it is there"),
    "delete": ("remove", "removes it"),
    "rename": ("move", "moves the first path to the second"),
    "link": ("link", "gives the first path a second name"),
    "write": ("change", "changes its contents"),
    "change": ("change", "changes its attributes"),
    "chmod": ("change", "changes its permissions, as only its owner may"),
    "chown": ("change", "changes its owner, as only its owner may"),
    "touch": ("change", "changes its times, as only its owner may"),
    "open": ("open", "reads, writes or makes it, as its `oflags` say; makes it if it has none"),
}
SOCKETS: dict[str, tuple[str, str]] = {
    "connect": ("connect", "connects to its `sockaddr`"),
    "bind": ("bind", "takes its `sockaddr`; makes the path, if it is one"),
    "send": ("send", "sends to its `sockaddr`, or to those of its `msghdr` or `mmsghdr`"),
}
PROCESSES: dict[str, tuple[str, str]] = {
    "signal": ("signal", "sends a signal to its first argument, a `pid`"),
    "reach": ("signal", "takes hold of its first argument, a `pid`"),
    "trace": ("", "looks into another process, or changes it"),
    "fork": ("fork", "starts a process or a thread"),
    "exit": ("exit", "ends"),
    "map": ("map", "maps memory"),
}
REMEDIES: dict[str, str] = {
    "fails": "what the filter refuses would fail if it were let pass: it needs a capability that "
    "no guest has, or what other walls take away",
    "setting": "the same, unless this setting of the host's (below `/proc/sys`) is so, or missing",
}
DESCRIPTORS = "fd"
MARKS: dict[str, str] = {
    "nofollow": "it means a link itself",
    "link": "it means a link itself, and only a link will do",
    "directory": "its path is a directory",
    "traced": "it is watched in a trace only",
}
NOT_FOLLOWED = ("make", "remove", "move", "link", "bind")  # kinds that mean a link itself
_KINDS = {word: kind for words in (PATHS, SOCKETS, PROCESSES) for word, (kind, _) in words.items()}
_WORDS = frozenset((*_KINDS, *REMEDIES, DESCRIPTORS))


class Act(NamedTuple):
    """One act of a call. ``mark`` is one of MARKS, how many descriptors, or a setting."""

    word: str
    mark: str = ""
    when: str = ""
    unless: str = ""

    def happens(self, args: Sequence[int]) -> bool:
        """With these registers?"""
        if self.when:
            return holds(parse_condition(self.when), args)
        return not self.unless or not holds(parse_condition(self.unless), args)


NOTHING = Act("")


def parse_effects(text: str) -> tuple[Act, ...]:
    """The acts of a row. Raises InputError for what is not of the language; a condition in it is
    parsed when it is needed."""
    return () if text == "-" else tuple(_act(piece) for piece in text.split("; "))


def _act(text: str) -> Act:
    head, _, unless = text.partition(" unless ")
    head, _, when = head.partition(" when ")
    word, _, mark = head.partition(" ")
    if word not in _WORDS:
        raise InputError(f"no call does {word!r}", hint=f"known: {', '.join(sorted(_WORDS))}")
    if not _takes(word, mark) or (when and (unless or word in _KINDS)):
        raise InputError(f"not an act of a call: {text!r}")
    return Act(word, mark, when, unless)


def _takes(word: str, mark: str) -> bool:
    if word == "setting":
        return _setting(mark) is not None
    return not mark or (mark.isdigit() if word == DESCRIPTORS else word in _KINDS and mark in MARKS)


def _setting(text: str) -> tuple[str, str, int] | None:
    """``kernel/yama/ptrace_scope<=2`` in parts; None if it is none."""
    for operator in ("<=", ">="):
        name, found, bound = text.partition(operator)
        if found and bound.isdigit():
            return name, operator, int(bound)
    return None


@functools.cache
def act_of(name: str) -> Act:
    """What the call does to paths, sockets or processes; NOTHING if nothing that is watched."""
    return next((act for act in acts(name) if _KINDS.get(act.word)), NOTHING)


@functools.cache
def kind_of(name: str) -> str:
    """Of ``watching.KINDS``; ``other`` for what does nothing that is watched."""
    kind = _KINDS.get(act_of(name).word, "other")
    return "messages" if kind == "send" and place_of(name, "sockaddr") < 0 else kind


@functools.cache
def place_of(name: str, *roles: str) -> int:
    """Which argument of the call is the first with one of these roles; -1: none."""
    row = find(name)
    arguments = () if row is None else row.arguments
    return next((i for i, role in enumerate(arguments) if role in roles), -1)


@functools.cache
def acts(name: str) -> tuple[Act, ...]:
    """Of the call of that name; none for a name without a row."""
    row = find(name)
    return () if row is None else parse_effects(row.effects)


def does(name: str, word: str) -> bool:
    """Whether that is among its acts."""
    return any(act.word == word for act in acts(name))


def descriptors(name: str) -> int:
    """How many descriptors the call makes."""
    made = [act for act in acts(name) if act.word in (DESCRIPTORS, "open")]
    return sum(int(act.mark) if act.mark.isdigit() else 1 for act in made)


def fails_anyway(name: str, args: Sequence[int]) -> bool:
    """Whether a call that the filter refuses would fail if it were let pass."""
    return any(act.word == "fails" and act.happens(args) for act in acts(name))


def settings_needed(name: str, args: Sequence[int]) -> Iterator[tuple[str, str, int]]:
    """The host's settings that such a call needs: name, ``<=`` or ``>=``, and the bound."""
    for act in acts(name):
        if act.word == "setting" and act.happens(args) and (found := _setting(act.mark)):
            yield found
