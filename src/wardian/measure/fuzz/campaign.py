"""A campaign of the fuzzer: batches on host and sandbox, differences classified, new ones
confirmed, minimised and written as specimens. Progress and findings are kept in a state file.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, closing
from typing import Any, NamedTuple

from wardian.measure.fuzz import specimens
from wardian.measure.fuzz.compare import Divergence, difference, end_text, shown
from wardian.measure.fuzz.explain import BYPASS, Explainer
from wardian.measure.fuzz.generate import Choice, choose, generate
from wardian.measure.fuzz.minimise import minimise
from wardian.measure.fuzz.program import CallSequence, text, to_data
from wardian.measure.fuzz.rules import Rules, rules
from wardian.measure.fuzz.sides import PATIENT_MS, TIMEOUT_MS, Side, examined, executor, oracle
from wardian.measure.fuzz.specimens import FuzzFinding
from wardian.measure.fuzz.state import State, save
from wardian.measure.fuzz.wire import Behaviour
from wardian.measure.probes.specimen import shipped
from wardian.measure.target import Target
from wardian.sandbox.run.interrupting import run_pool

FIRST_BATCH, BATCH = 100, 800
BATCH_S = 3.0  # a batch that takes longer is not followed by a larger one
LANES = 4
REPEATS = 3  # a difference is believed when it shows this often
PATIENCE = 3  # so many programs may show a difference that does not hold before it is given up
MAX_NEWS = 50
SAVE_EVERY_S = 5.0
SAME, UNSTABLE, REPEATED = "same", "unstable", "repeated"

_Part = Future[list[Behaviour | None]]
OnProgress = Callable[["State", float], None]


class TimeUpError(Exception):
    """The campaign's time is up."""


class Bounds(NamedTuple):
    """When to stop; None for never."""

    seconds: float | None = None
    programs: int | None = None


class FuzzCampaign:
    """Everything that belongs together while it runs; a context manager."""

    def __init__(self, where: Target, state: State, out: str, arch: str) -> None:
        self.state, self.arch, self.out = state, arch, out
        self.rules: Rules = rules()
        self.choice: Choice = choose(arch, state.calls)
        self.explainer = Explainer(where.name, where.policy, self.rules, arch)
        self.known = specimens.known_signatures(out, os.path.realpath(shipped("probes")))
        self.aliases = {str(one[key]): signature for signature, one in state.news.items()
                        for key in ("signature", "first_seen_as") if key in one}  # fmt: skip
        program = executor()
        with ExitStack() as opened:
            self.host: Side = opened.enter_context(closing(oracle(program, arch)))
            self.sandbox: Side = opened.enter_context(closing(examined(where, program, arch)))
            self.workers = opened.enter_context(run_pool(2 * LANES, name="fuzz"))
            self._opened = opened.pop_all()
        self.batch = FIRST_BATCH
        self.end: float | None = None

    def __enter__(self) -> FuzzCampaign:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def run(self, bounds: Bounds, on_batch: OnProgress, path: str | None = None) -> None:
        """Until a limit is met. KeyboardInterrupt leaves a state that is true and saved; so does
        the end of the time while news is examined."""
        began, before = time.monotonic(), self.state.seconds
        saved = began
        self.end = None if bounds.seconds is None else began + bounds.seconds
        first, end = self.state.position, None
        if bounds.programs is not None:
            end = first + bounds.programs
        try:
            ahead = self._batch(first, end)
            running = self._begin(ahead, TIMEOUT_MS)
            while ahead:
                batch = ahead
                at = self.state.position + len(batch)
                started = time.monotonic()
                ahead = [] if self._late() else self._batch(at, end)
                host, sandbox = _gathered(running)
                if time.monotonic() - started < BATCH_S:
                    self.batch = min(2 * self.batch, BATCH)
                if ahead:
                    running = self._begin(ahead, TIMEOUT_MS)
                self._take(batch, host, sandbox)
                self.state.seconds = before + time.monotonic() - began
                on_batch(self.state, time.monotonic() - began)
                if path is not None and time.monotonic() - saved > SAVE_EVERY_S:
                    save(self.state, path)
                    saved = time.monotonic()
        except TimeUpError:
            pass
        finally:
            self.state.seconds = before + time.monotonic() - began
            if path is not None:
                save(self.state, path)

    def _late(self) -> bool:
        return self.end is not None and time.monotonic() >= self.end

    def _batch(self, first: int, end: int | None) -> list[CallSequence]:
        last = first + self.batch if end is None else min(first + self.batch, end)
        return [generate(self.state.seed, index, self.choice) for index in range(first, last)]

    def _begin(self, programs: list[CallSequence], timeout_ms: int) -> list[list[_Part]]:
        """Both sides at once, each in several lanes: while one program waits, another runs."""
        size = max(1, -(-len(programs) // LANES))
        parts = [programs[at : at + size] for at in range(0, len(programs), size)]
        return [
            [self.workers.submit(side.run, part, timeout_ms) for part in parts]
            for side in (self.host, self.sandbox)
        ]

    def _both(self, programs: list[CallSequence], timeout_ms: int) -> list[list[Behaviour | None]]:
        """What became of each program on either side."""
        return _gathered(self._begin(programs, timeout_ms))

    def _take(
        self,
        batch: list[CallSequence],
        host: list[Behaviour | None],
        sandbox: list[Behaviour | None],
    ) -> None:
        """Classify a batch, program by program, so that the state is consistent at any time."""
        for program, one, other in zip(batch, host, sandbox, strict=True):
            explained: Counter[tuple[str, str]] = Counter()
            kind = self._judge(program, one, other, explained, self.state.position)
            self.state.explained += explained
            self.state.executed_calls += len(other.answers) if other is not None else 0
            self.state.counts[kind] += 1
            self.state.counts["programs"] += 1
            self.state.position += 1

    def _judge(
        self,
        program: CallSequence,
        host: Behaviour | None,
        sandbox: Behaviour | None,
        explained: Counter[tuple[str, str]],
        index: int,
    ) -> str:
        found = self._difference(program, host, sandbox)
        if found is None:
            return SAME
        if sandbox is not None and found.aspect != BYPASS:
            why = self.explainer.explain(program, sandbox, found)
            if why is not None:
                explained[why.wall, why.reason] += 1
                return "explained"
        signature = found.signature
        if signature in self.known:
            explained["known", self.known[signature]] += 1
            return "known"
        if (new := self.aliases.get(signature)) is not None:
            self.state.news[new]["count"] += 1
            return REPEATED
        if self.state.unstable[signature] >= PATIENCE or len(self.state.news) >= MAX_NEWS:
            self.state.unstable[signature] += 1
            return UNSTABLE
        return self._believe(program, found, index)

    def _difference(
        self, program: CallSequence, host: Behaviour | None, sandbox: Behaviour | None
    ) -> Divergence | None:
        if host is None or sandbox is None:
            if host is None and sandbox is None:
                return None
            names = "+".join(sorted(set(program.names)))
            ends = [
                "the executor's end" if one is None else end_text(one) for one in (host, sandbox)
            ]
            return Divergence(-1, names, "", "end", ends[0], ends[1])
        passed = self.explainer.bypass(program, sandbox)
        return passed or difference(program, host, sandbox, self.rules, self.arch)

    def _believe(self, program: CallSequence, found: Divergence, index: int) -> str:
        """See it again, several times, make it small, write it down. Raises TimeUpError."""
        if self._late():
            raise TimeUpError
        again = self.confirm(program)
        if again is None:
            self.state.unstable[found.signature] += 1
            return UNSTABLE
        difference_, _, seen = again
        if difference_.signature != found.signature:
            if difference_.signature in self.aliases or difference_.signature in self.known:
                self.state.unstable[found.signature] += 1
                return REPEATED
            why = self.explainer.explain(program, seen, difference_)
            if why is not None and difference_.aspect != BYPASS:
                return "explained"
        small = self.smallest(program, difference_)
        last = self.confirm(small) or self.confirm(small)
        if last is None:
            small, last = program, again
        finding = FuzzFinding(
            last[0], small, last[1], last[2], self.state.sandbox,
            f"seed {self.state.seed}, program {index}",
        )  # fmt: skip
        self._note(finding, found, index)
        return "news"

    def confirm(self, program: CallSequence) -> tuple[Divergence, Behaviour, Behaviour] | None:
        """The difference, if both sides repeat themselves and still differ in the same way."""
        # Each time in a new process, where addresses are others.
        pairs = [[side[0] for side in self._both([program], PATIENT_MS)] for _ in range(REPEATS)]
        both = list(zip(*pairs, strict=True))
        found: set[str] = set()
        last: Divergence | None = None
        for one, other in zip(*both, strict=True):
            if one is None or other is None:
                return None
            for side, now in zip(both, (one, other), strict=True):
                first = side[0]
                if first is None or difference(program, first, now, self.rules, self.arch):
                    return None
            last = self._difference(program, one, other)
            if last is None:
                return None
            found.add(last.signature)
        host, sandbox = both[0][0], both[1][0]
        if len(found) != 1 or last is None or host is None or sandbox is None:
            return None
        return last, host, sandbox

    def smallest(self, program: CallSequence, found: Divergence) -> CallSequence:
        """The smallest program that shows the same."""

        def shows(candidates: list[CallSequence]) -> list[bool]:
            if self._late():
                return [False] * len(candidates)
            both = self._both(candidates, 4 * TIMEOUT_MS)
            return [
                self._shows(*one, found) for one in zip(candidates, both[0], both[1], strict=True)
            ]

        return minimise(program, shows)

    def _shows(
        self,
        program: CallSequence,
        host: Behaviour | None,
        sandbox: Behaviour | None,
        found: Divergence,
    ) -> bool:
        now = self._difference(program, host, sandbox)
        if now is None or sandbox is None or _kind(now) != _kind(found):
            return False
        return now.aspect == BYPASS or self.explainer.explain(program, sandbox, now) is None

    def _note(self, finding: FuzzFinding, found: Divergence, index: int) -> None:
        signature = finding.difference.signature
        path = self.known.get(signature) or specimens.write(self.out, finding, self.arch)
        results = [shown(answer.result) for answer in finding.host.answers]
        other = [shown(answer.result) for answer in finding.sandbox.answers]
        entry: dict[str, Any] = {
            "signature": signature,
            "first_seen_as": found.signature,
            "program_index": index,
            "count": 1,
            "detail": finding.difference.detail,
            "host": [*text(finding.program, self.arch, results), end_text(finding.host)],
            "sandbox": [*text(finding.program, self.arch, other), end_text(finding.sandbox)],
            "program": to_data(finding.program),
            "specimen": path,
        }
        self.state.news.setdefault(signature, entry)
        self.aliases[found.signature] = self.aliases[signature] = signature


def _gathered(running: list[list[_Part]]) -> list[list[Behaviour | None]]:
    return [[outcome for part in side for outcome in part.result()] for side in running]


def _kind(found: Divergence) -> tuple[str, str, str, str]:
    """What has to stay the same while a program is made smaller."""
    name = found.name if found.call >= 0 else ""
    return name, found.aspect, found.host, found.sandbox
