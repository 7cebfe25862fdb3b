"""Run and watch, draft, run again under the draft, widen by what was lacking; a few rounds."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from wardian.errors import NotProven
from wardian.learn.calls import passes
from wardian.learn.draft import Draft, Wider, draft, text
from wardian.learn.needs import NOTHING, Needs, merged
from wardian.learn.places import whole
from wardian.learn.subjects import Attempt, Subject
from wardian.sandbox.policy import Policy
from wardian.sandbox.result import Refusal

ROUNDS = 5
_FIELDS = {
    "time": "time_s", "cpu": "cpu_s", "memory": "memory_bytes", "processes": "processes",
    "files": "files", "disk": "disk_bytes", "output": "output_bytes",
}  # fmt: skip


class Learned(NamedTuple):
    """A proven policy. ``left_out`` are subjects that were not learned from, and why."""

    draft: Draft
    policy: Policy
    subjects: tuple[Subject, ...]
    runs: int
    rounds: int
    left_out: tuple[tuple[str, str], ...]


class Seen(NamedTuple):
    """A subject that passed when it was watched; ``stdout`` if it was the same each time."""

    subject: Subject
    needs: Needs
    stdout: bytes | None


def learn(
    subjects: Sequence[Subject],
    allowed: Policy,
    *,
    runs: int,
    jobs: int,
    say: Callable[[str], None],
) -> Learned:
    """Raises NotProven if nothing could be learned from, or no draft held."""
    with ThreadPoolExecutor(jobs) as pool:
        watched = list(pool.map(lambda one: _watch(one, allowed, runs), subjects))
        seen = [one for one in watched if isinstance(one, Seen)]
        left_out = tuple(one for one in watched if not isinstance(one, Seen))
        for name, why in left_out:
            say(f"wardian: not learned from {name}: {why}")
        if not seen:
            raise NotProven(
                "there is nothing to learn from: no run passes as it is",
                hint="see what happens with `wardian run` or `wardian test`; --exit CODE if a run "
                "is meant to end with another code",
            )
        needs = merged(one.needs for one in seen)
        wider = Wider()
        failures: list[tuple[Seen, Attempt]] = []
        for number in range(1, ROUNDS + 1):
            one = draft(needs, allowed, wider)
            policy = _read(text(one, ()))
            failures = [f for f in pool.map(lambda s: _prove(s, policy, runs), seen) if f]
            if not failures:
                subjects = tuple(known.subject for known in seen)
                return Learned(one, policy, subjects, runs, number, left_out)
            more = _widened(failures, policy, allowed, wider)
            for known, attempt in failures:
                say(f"wardian: round {number}: {known.subject.name} fails: {attempt.problems[0]}")
            if more == wider:
                break
            wider = more
    known, attempt = failures[0]
    raise NotProven(
        f"no policy was found under which {known.subject.name} passes: {attempt.problems[0]}",
        hint="if it does not do the same each time, watch it more often: --runs 5",
    )


def _watch(subject: Subject, allowed: Policy, runs: int) -> Seen | tuple[str, str]:
    needs, outputs = NOTHING, set()
    for _ in range(runs):
        attempt = subject.attempt(allowed, watched=True, learning=True)
        if attempt.skipped:
            return subject.name, attempt.skipped
        if attempt.problems:
            return subject.name, f"it fails as it is: {attempt.problems[0]}"
        needs |= attempt.needs
        outputs.add(attempt.stdout)
    return Seen(subject, needs, outputs.pop() if runs > 1 and len(outputs) == 1 else None)


def _prove(seen: Seen, policy: Policy, runs: int) -> tuple[Seen, Attempt] | None:
    """None if it passes as often as it was watched."""
    for _ in range(runs):
        attempt = seen.subject.attempt(policy, watched=False)
        if not attempt.problems and seen.stdout is not None and attempt.stdout != seen.stdout:
            attempt = attempt._replace(problems=("its output is another than it was each time",))
        if attempt.problems:
            return seen, attempt
    return None


def _read(content: str) -> Policy:
    """The policy as the file will be read, by way of a file."""
    fd, path = tempfile.mkstemp(suffix=".toml")
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(content)
        return Policy.from_toml(path)
    finally:
        os.unlink(path)


# Widening


def _widened(
    failures: Iterable[tuple[Seen, Attempt]], policy: Policy, allowed: Policy, wider: Wider
) -> Wider:
    """By what the refusals say and by what is missed when it is watched again; if that is nothing,
    by what can't be seen: limits first, then variables, then listings."""
    before = wider
    for seen, attempt in failures:
        for result in attempt.results:
            for refusal in result.refusals:
                wider = _by_refusal(wider, refusal, policy, allowed)
        again = seen.subject.attempt(policy, watched=True)
        wider = wider._replace(needs=wider.needs | _lacking(again.needs, policy, allowed))
        for result in again.results:
            for refusal in result.refusals:
                wider = _by_refusal(wider, refusal, policy, allowed)
    if wider != before:
        return wider
    if set(wider.times) != set(_FIELDS.values()):
        return wider._replace(times=dict.fromkeys(_FIELDS.values(), 16) | dict(wider.times))
    if not wider.environment:
        return wider._replace(environment=True)
    return wider._replace(listed=True)


def _by_refusal(wider: Wider, refusal: Refusal, policy: Policy, allowed: Policy) -> Wider:
    name, needs = refusal.action, wider.needs
    if refusal.kind in ("syscall", "process") and name in policy.deny_syscalls:
        if passes(name, allowed):
            return wider._replace(needs=needs._replace(calls=needs.calls | {name}))
    elif refusal.kind == "limit":
        field = _FIELDS[name]
        times: Mapping[str, float] = dict(wider.times) | {field: wider.times.get(field, 1) * 4}
        return wider._replace(times=times)
    elif refusal.kind == "network" and allowed.network != policy.network:
        return wider._replace(network=True)
    elif refusal.kind == "file" and whole().real(refusal.target) is not None:
        files = dict(needs.files) | {refusal.target: frozenset(("read",))}
        return wider._replace(needs=needs._replace(files=files))
    return wider


def _lacking(needs: Needs, policy: Policy, allowed: Policy) -> Needs:
    """Of what it tried this time: what the draft refused, and the runs' own policy would not."""
    files = {}
    for path in needs.missed:
        real = whole().real(path) if policy.base is not None else None
        if real is not None:
            files[path] = frozenset(("listed" if os.path.isdir(real) else "read",))
    calls = {name for name in needs.calls if name in policy.deny_syscalls}
    return NOTHING._replace(
        files=files, calls=frozenset(name for name in calls if passes(name, allowed))
    )
