"""How much each refusal matters, and in which order people see them. Pure.

A weight follows from what the supervisor saw and from how the run ended: kind, action, the path
without links and dots, time. Nothing that a guest writes or is called decides it, so no guest can
make what it was refused look harmless.
"""

from __future__ import annotations

from wardian.sandbox.root.layout import layout
from wardian.sandbox.root.shares import is_below

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wardian.sandbox.run.result import Refusal, Result
    from wardian.sandbox.run.weight import Weight

    Rank = tuple[bool, ...]

READING = ("read", "list", "stat", "watch", "execute")
# Only looks: what a program executes, it needs.
LOOKING = ("read", "list", "stat", "watch")
NOT_STARTED = (126, 127)  # by a shell's convention: not executable, not found


def weighed(result: Result) -> Result:
    """The result, each of its refusals with its weight."""
    if not result.refusals:
        return result
    causes = set(map(id, _causes(result)))
    return result._replace(
        refusals=tuple(
            one._replace(weight="cause" if id(one) in causes else _plain(one))
            for one in result.refusals
        )
    )


def _plain(refusal: Refusal) -> Weight:
    return "routine" if is_routine(refusal) or is_setting(refusal) else "notable"


def _causes(result: Result) -> list[Refusal]:
    """The likeliest cause of a failure, and what else the same process was refused in that way."""
    if result.exit_code == 0:
        return []
    likely = likely_causes(result)
    if not likely:
        return []
    first, rank = likely[0], _rank_in(result)
    if is_setting(first):
        return list(likely)
    return [one for one in likely if rank(one) == rank(first) and one.process == first.process]


def likely_first(result: Result) -> list[Refusal]:
    """The likely cause of a failure first: a limit that was met; what could not be started, if the
    exit code says so; else what was refused last. What was only looked at follows, then settings,
    then what is routine."""
    rank = _rank_in(result)
    return sorted(result.refusals, key=lambda one: (rank(one), -one.time_s))


def _rank_in(result: Result) -> _Ranking:
    return _Ranking(not_started=result.exit_code in NOT_STARTED)


class _Ranking:
    """Smaller is likelier."""

    def __init__(self, *, not_started: bool) -> None:
        self._not_started = not_started

    def __call__(self, one: Refusal) -> Rank:
        return (
            is_routine(one),
            is_setting(one),
            one.kind != "limit",
            self._not_started and one.action != "execute",
            one.action == "stat",
        )


def likely_causes(result: Result) -> tuple[Refusal, ...]:
    """What mattered, the likeliest cause first. Settings that were read are seldom one: only after
    a failure, and only where nothing else was refused."""
    matter = [one for one in likely_first(result) if not is_routine(one)]
    others = [one for one in matter if not is_setting(one)]
    if others or result.exit_code == 0:
        return tuple(others)
    return tuple(one for one in matter if _is_at(one, layout().settings, LOOKING, above=False))


def is_news(refusal: Refusal, *, failed: bool) -> bool:
    """Whether people need to see it, after a run that failed or one that did not."""
    return not is_routine(refusal) and (failed or not is_setting(refusal))


def is_routine(refusal: Refusal) -> bool:
    """What libraries try as a matter of course, and do well without: a look at one of the paths in
    ``layout.toml``, or a change or a call that it lists besides."""
    if refusal.kind == "syscall":
        return _only_asks(refusal)
    if refusal.kind != "file":
        return False
    # Python makes one beside each module, and goes on where it can't. What is written into one may
    # be an attack.
    if refusal.action == "create" and refusal.target.endswith("/__pycache__"):
        return True
    if _is_at(refusal, layout().routine, LOOKING):
        return True
    if refusal.action not in ("create", "write"):
        return False
    locks = refusal.action == "write" and refusal.allow is None
    return any(
        refusal.target == path or (path.endswith("/*") and is_below(refusal.target, path[:-2]))
        for path in layout().routine_changes
    ) or (locks and any(is_below(refusal.target, path) for path in layout().routine_locks))


def _only_asks(refusal: Refusal) -> bool:
    arguments = refusal.target[len(refusal.action) + 1 : -1].split(", ")
    return any(
        call == refusal.action and constant in arguments
        for call, constant in (one.split() for one in layout().routine_calls)
    )


def is_setting(refusal: Refusal) -> bool:
    """A look at a file of settings that programs read if it is there, or at a folder above one."""
    return refusal.kind == "file" and _is_at(refusal, layout().settings, LOOKING)


def _is_at(
    refusal: Refusal, paths: Iterable[str], actions: tuple[str, ...], *, above: bool = True
) -> bool:
    if refusal.action not in actions:
        return False
    looks = above and refusal.action == "stat"
    return any(
        is_below(refusal.target, path) or (looks and is_below(path, refusal.target))
        for path in paths
    )
