"""Trace runs, draft a policy, run again under it, widen it by what was missing; a few rounds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from wardian.errors import NotProven
from wardian.learn.adding import addition, widened
from wardian.learn.calls import passes
from wardian.learn.draft import Draft, Wider, draft, text
from wardian.learn.learned import LearnedFile
from wardian.learn.needs import NOTHING, ObservedNeeds, merged
from wardian.learn.places import whole
from wardian.learn.subjects import Attempt, Subject
from wardian.pool import Workers
from wardian.sandbox.policy.file import parse_policy
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.run.interrupting import run_pool
from wardian.sandbox.run.result import Refusal
from wardian.text import printable

ROUNDS = 8
TRIES = 3
# What a proof can fail for without a word, as it is before anything is guessed.
GUESSED: tuple[tuple[str, Any], ...] = (("times", {}), ("environment", False), ("listed", False))
_FIELDS = {
    "time": "time_s", "cpu": "cpu_s", "memory": "memory_bytes", "processes": "processes",
    "files": "files", "disk": "disk_bytes", "output": "output_bytes",
}  # fmt: skip


class Learned(NamedTuple):
    """A proven policy. ``at_another_try`` are subjects that failed before they passed, though
    nothing was refused them; ``left_out`` are those that were not learned from, and why."""

    draft: Draft
    policy: Policy
    subjects: tuple[Subject, ...]
    runs: int
    rounds: int
    at_another_try: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]


class ObservedSubject(NamedTuple):
    """A subject that passed when it was watched; ``stdout`` if it was the same each time."""

    subject: Subject
    needs: ObservedNeeds
    stdout: bytes | None


Failure = tuple[ObservedSubject, Attempt]


class LearningListener(NamedTuple):
    """Called with progress: so many runs more are planned, and a run of this name is done."""

    plan: Callable[[int], None] = lambda count: None
    done: Callable[[str], None] = lambda name: None


def learn(
    subjects: Sequence[Subject],
    allowed: Policy,
    *,
    runs: int,
    jobs: int,
    say: Callable[[str], None],
    add_to: LearnedFile | None = None,
    listener: LearningListener | None = None,
) -> Learned:
    """With ``add_to``, only what that lacks. Raises NotProven if nothing could be learned from, or
    no draft held."""
    heard = listener or LearningListener()
    heard.plan(2 * runs * len(subjects))
    with run_pool(jobs) as workers:
        watched = workers.map(lambda one: _watch(one, allowed, runs, heard.done), subjects)
        seen = [one for one in watched if isinstance(one, ObservedSubject)]
        left_out = tuple(one for one in watched if not isinstance(one, ObservedSubject))
        for name, why in left_out:
            say(printable(f"wardian: not learned from {name}: {why}"))
        if not seen:
            raise NotProven(
                "nothing to learn from: no run passes without a learned policy",
                hint="see what happens with `wardian run` or `wardian test`; --exit CODE if a run "
                "is meant to end with another code",
            )
        return _proven(seen, allowed, runs, left_out, workers, say, add_to, heard)


def _proven(
    seen: Sequence[ObservedSubject],
    allowed: Policy,
    runs: int,
    left_out: tuple[tuple[str, str], ...],
    workers: Workers,
    say: Callable[[str], None],
    add_to: LearnedFile | None,
    heard: LearningListener,
) -> Learned:
    needs, wider = merged(one.needs for one in seen), Wider()
    subjects = tuple(one.subject for one in seen)

    def proven(wider: Wider) -> tuple[Draft, Policy, list[Failure]]:
        one, policy = _drafted(needs, allowed, wider, add_to)
        proofs = workers.map(lambda one: _prove(one, policy, runs, heard.done), seen)
        return one, policy, [proof for proof in proofs if proof is not None]

    failures: list[Failure] = []
    for number in range(1, ROUNDS + 1):
        one, policy, failures = proven(wider)
        more = _explained(failures, policy, allowed, wider)
        failed = tuple(known.subject.name for known, _ in failures)
        if more == wider:  # nothing was refused: perhaps it fails now and then
            failures = [f for f in failures if not _passes_again(f[0], policy, runs)]
        if not failures:
            for field, value in GUESSED:  # not all that was tried was the cause
                less = wider._replace(**{field: value})
                if less != wider:
                    other, narrower, still = proven(less)
                    if not still:
                        one, policy, wider = other, narrower, less
            policy = _drafted(needs, allowed, wider, add_to, own=False)[1]
            return Learned(one, policy, subjects, runs, number, failed, left_out)
        for known, attempt in failures:
            failed_as = f"{known.subject.name} fails: {attempt.problems[0]}"
            say(printable(f"wardian: round {number}: {failed_as}"))
        wider = more if more != wider else _unexplained(wider)
        heard.plan(runs * len(seen))
    known, attempt = failures[0]
    raise NotProven(
        f"no policy was found under which {known.subject.name} passes: {attempt.problems[0]}",
        hint="if it is flaky, trace it more often: --runs 5",
    )


def _drafted(
    needs: ObservedNeeds,
    allowed: Policy,
    wider: Wider,
    add_to: LearnedFile | None,
    *,
    own: bool = True,
) -> tuple[Draft, Policy]:
    """The draft and the policy that its file is read as: with ``own``, with what each caller names
    for a run, the directory at /work and values of variables."""
    if add_to is None:
        one = draft(needs, allowed, wider)
        policy = _read(text(one, ()))
        return one, policy._replace(work=one.work) if own else policy
    one = addition(add_to.policy, needs, allowed, wider)
    policy = parse_policy(widened(add_to, one), add_to.path, Policy.default())
    if not own:
        return one, policy
    named = {*policy.pass_env, *dict(policy.set_env)}
    values = {name: value for name, value in allowed.set_env if name in named}
    return one, policy.with_env(values)._replace(work=one.work)


def _watch(
    subject: Subject, allowed: Policy, runs: int, done: Callable[[str], None]
) -> ObservedSubject | tuple[str, str]:
    needs, outputs = NOTHING, set()
    for _ in range(runs):
        attempt = _watched(subject, allowed)
        done(subject.name)
        if attempt.skipped:
            return subject.name, attempt.skipped
        if attempt.problems:
            return subject.name, f"it fails as it is: {attempt.problems[0]}"
        needs |= attempt.needs
        outputs.add(attempt.stdout)
    return ObservedSubject(
        subject, needs, outputs.pop() if runs > 1 and len(outputs) == 1 else None
    )


def _watched(subject: Subject, allowed: Policy) -> Attempt:
    """To watch takes time, and some runs have none to spare: what passes unwatched is learned from
    all the same, for the proof is what counts."""
    needs = NOTHING
    for _ in range(TRIES):
        attempt = subject.attempt(allowed, watched=True, learning=True)
        needs |= attempt.needs
        if not attempt.problems:
            return attempt
    for _ in range(TRIES):
        attempt = subject.attempt(allowed, watched=False, learning=True)
        if not attempt.problems:
            break
    return attempt._replace(needs=needs)


def _prove(
    seen: ObservedSubject,
    policy: Policy,
    runs: int,
    done: Callable[[str], None] = lambda name: None,
) -> tuple[ObservedSubject, Attempt] | None:
    """None if it passes as often as it was watched."""
    for _ in range(runs):
        attempt = seen.subject.attempt(policy, watched=False)
        done(seen.subject.name)
        if not attempt.problems and seen.stdout is not None and attempt.stdout != seen.stdout:
            attempt = attempt._replace(problems=("its output differs from the traced runs",))
        if attempt.problems:
            return seen, attempt
    return None


def _read(content: str) -> Policy:
    """The policy as the file will be read."""
    return parse_policy(content, "policy.toml", Policy.default())


# Widening


def _passes_again(seen: ObservedSubject, policy: Policy, runs: int) -> bool:
    return any(_prove(seen, policy, runs) is None for _ in range(TRIES - 1))


def _explained(
    failures: Iterable[tuple[ObservedSubject, Attempt]],
    policy: Policy,
    allowed: Policy,
    wider: Wider,
) -> Wider:
    """Wider by what the refusals say, and by what is missed when it is watched again."""
    for seen, attempt in failures:
        again = seen.subject.attempt(policy, watched=True)
        wider = wider._replace(needs=wider.needs | _lacking(again.needs, policy, allowed))
        for result in (*attempt.results, *again.results):
            for refusal in result.refusals:
                wider = _by_refusal(wider, refusal, policy, allowed)
    return wider


def _unexplained(wider: Wider) -> Wider:
    """Wider by what can't be seen: limits first, then variables, then what directories hold."""
    most = max(wider.times.values(), default=1)
    if most < 16:
        return wider._replace(times=dict.fromkeys(_FIELDS.values(), most * 4))
    if not wider.environment:
        return wider._replace(environment=True)
    return wider._replace(listed=True)


def _reach(policy: Policy) -> tuple[str, frozenset[str]]:
    return policy.network, frozenset(policy.allow_hosts)


def _by_refusal(wider: Wider, refusal: Refusal, policy: Policy, allowed: Policy) -> Wider:
    name, needs = refusal.action, wider.needs
    if refusal.kind in ("syscall", "process") and name in policy.deny_syscalls:
        if passes(name, allowed):
            return wider._replace(needs=needs._replace(calls=needs.calls | {name}))
    elif refusal.kind == "limit":
        field = _FIELDS[name]
        times: Mapping[str, float] = dict(wider.times) | {field: wider.times.get(field, 1) * 4}
        return wider._replace(times=times)
    elif refusal.kind == "network" and _reach(allowed) != _reach(policy):
        return wider._replace(network=True)
    elif refusal.kind == "file" and whole().real(refusal.target) is not None:
        files = dict(needs.files) | {refusal.target: frozenset(("read",))}
        return wider._replace(needs=needs._replace(files=files))
    return wider


def _lacking(needs: ObservedNeeds, policy: Policy, allowed: Policy) -> ObservedNeeds:
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
