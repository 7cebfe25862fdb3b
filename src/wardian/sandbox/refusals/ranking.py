"""Which refusals people need to see, and in which order. Pure."""

from __future__ import annotations

from wardian.sandbox.root.layout import layout
from wardian.sandbox.root.shares import is_below

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wardian.sandbox.run.result import Refusal

READING = ("read", "list", "stat", "watch", "execute")


def likely_first(refusals: Iterable[Refusal]) -> list[Refusal]:
    """The likely cause of a failure first: a limit that was met, else what was refused last; what
    was only looked at after that, and what libraries look for anyway at the end."""

    def rank(one: Refusal) -> tuple[bool, bool, bool, bool, float]:
        looked = one.action == "stat"
        return is_routine(one), is_setting(one), one.kind != "limit", looked, -one.time_s

    return sorted(refusals, key=rank)


def likely_causes(refusals: Iterable[Refusal], *, failed: bool) -> tuple[Refusal, ...]:
    """What mattered, the likeliest cause first. Settings that were looked for are seldom one: only
    where nothing else was refused."""
    news = [one for one in likely_first(refusals) if is_news(one, failed=failed)]
    return tuple([one for one in news if not is_setting(one)] or news)


def is_news(refusal: Refusal, *, failed: bool) -> bool:
    """Whether people need to see it, after a run that failed or one that did not."""
    return not is_routine(refusal) and (failed or not is_setting(refusal))


def is_routine(refusal: Refusal) -> bool:
    """What libraries look for as a matter of course, and do well without."""
    if refusal.kind != "file":
        return False
    # Python makes one beside each module, and goes on where it can't. What is written into one may
    # be an attack.
    bytecode = refusal.action == "create" and refusal.target.endswith("/__pycache__")
    return bytecode or any(is_below(refusal.target, p) for p in layout().routine)


def is_setting(refusal: Refusal) -> bool:
    """A file of settings that programs read if it is there, or a look at a folder above one."""
    if refusal.kind != "file" or refusal.action not in READING:
        return False
    looks = refusal.action == "stat"
    return any(
        is_below(refusal.target, path) or (looks and is_below(path, refusal.target))
        for path in layout().settings
    )
