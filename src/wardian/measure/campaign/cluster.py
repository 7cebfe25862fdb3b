"""Units of work on an existing Dask cluster: results stream back, what a lost worker had is run
again elsewhere, and each worker gets only what it can do as the others would.

The files that units name must lie at the same paths everywhere. Needs the extra ``cluster``.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from wardian.errors import BackendError, UsageError
from wardian.measure.campaign.executing import OnDone
from wardian.measure.campaign.performing import Produced, perform
from wardian.measure.campaign.units import Unit
from wardian.measure.campaign.workbench import (
    Workbench,
    here,
    sandbox_version,
    working_sandboxes,
)
from wardian.measure.outcome import Outcome
from wardian.measure.store.store import now

CONNECT_S = 10
PATIENCE_S = 120.0  # how long a cluster may be without any worker
ASKED_EVERY_S = 2.0
RETRIES = 10  # a case that takes a worker down with it is given up at last
ABSENT = "not installed"
TRIES = 3
_OF_THE_MACHINE = ("kernel", "machine", "user", "sandbox", "wardian")


class Offer(NamedTuple):
    """What a worker is: the machine, and the sandboxes that work there with their versions."""

    workbench: Workbench
    sandboxes: tuple[tuple[str, str], ...]
    threads: int = 1


def offer() -> Offer:
    """Asked of a worker, on the worker."""
    workbench = here()
    return Offer(
        workbench, tuple((name, sandbox_version(name, workbench)) for name in working_sandboxes())
    )


def able(one: Offer, unit: Unit) -> bool:
    """Would this worker measure the same as the one that the unit was made for? Pure."""
    sandboxes, interpreters = dict(one.sandboxes), dict(one.workbench.interpreters)
    common = one.workbench.depends(unit.case.sandbox) if unit.case.sandbox in sandboxes else {}
    for name, wanted in unit.depends.items():
        kind, _, language = name.partition(":")
        if kind in _OF_THE_MACHINE and common.get(name) != wanted:
            return False
        if kind == "interpreter" and wanted and interpreters.get(language) != wanted:
            return False
    return True


def common(offers: Sequence[Offer]) -> tuple[Workbench, tuple[str, ...]]:
    """What most workers are, each interpreter in the version that most have that have it, and the
    sandboxes of any of them. Pure."""
    most = Counter(one.workbench._replace(interpreters=(), host="") for one in offers)
    chosen = most.most_common(1)[0][0]
    languages: dict[str, Counter[str]] = {}
    for one in offers:
        for language, version in one.workbench.interpreters:
            languages.setdefault(language, Counter())[version] += version != ABSENT
    found = tuple((name, counts.most_common(1)[0][0]) for name, counts in languages.items())
    names = dict.fromkeys(name for one in offers for name, _ in one.sandboxes)
    return chosen._replace(interpreters=found, host="cluster"), tuple(names)


class Dask:
    """An executor. ``address`` is that of the scheduler. Raises UsageError, BackendError."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise UsageError(
                "--executor dask://… needs Dask", hint="pip install 'wardian[cluster]'"
            ) from None
        try:
            self._client: Any = Client(
                f"tcp://{address}", timeout=CONNECT_S, set_as_default=False, name="wardian"
            )
        except (OSError, ValueError) as error:
            raise BackendError(f"no scheduler answers at {address}: {error}") from None
        self._offers: dict[str, Offer] = {}
        self._asked = 0.0

    def close(self) -> None:
        """The cluster stays."""
        self._client.close()

    def workbench(self) -> tuple[Workbench, tuple[str, ...]]:
        """Of the workers: what units are made for, and in which sandboxes."""
        self._wait_for_workers()
        return common(list(self._offers.values()))

    # Workers

    def _look(self, *, at_once: bool = False) -> None:
        """Ask those who are new, forget those who are gone."""
        if not at_once and time.monotonic() - self._asked < ASKED_EVERY_S:
            return
        self._asked = time.monotonic()
        workers: Mapping[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        for name in [name for name in self._offers if name not in workers]:
            del self._offers[name]
        for name, about in workers.items():
            if name not in self._offers:
                # One that goes away while it is asked is simply not there.
                with contextlib.suppress(Exception):
                    offered = self._client.run(offer, workers=[name], on_error="ignore")
                    if name in offered:
                        self._offers[name] = offered[name]._replace(threads=about["nthreads"])

    def _wait_for_workers(self) -> None:
        end = time.monotonic() + PATIENCE_S
        self._look(at_once=True)
        while not self._offers:
            if time.monotonic() > end:
                raise BackendError(
                    "the cluster has no worker",
                    hint="what was measured is kept; start workers, then: wardian nightly --resume",
                )
            time.sleep(0.5)
            self._look(at_once=True)

    def _able(self, unit: Unit) -> list[str]:
        return [name for name, one in self._offers.items() if able(one, unit)]

    # Work
    def run(self, units: Sequence[Unit], on_done: OnDone, deadline: float | None) -> list[Unit]:
        """See Executor. What no worker can do is left."""
        waiting, left = deque(units), list[Unit]()
        under_way: dict[Any, Unit] = {}
        tried: Counter[str] = Counter()
        try:
            while waiting or under_way:
                self._look()
                if not self._offers:
                    self._wait_for_workers()
                if deadline is not None and time.monotonic() >= deadline:
                    left += waiting
                    waiting.clear()
                left += self._submit(waiting, under_way)
                for future in self._ended(under_way):
                    unit = under_way.pop(future)
                    tried[unit.key] += future.status == "error"
                    if future.status == "finished":
                        on_done(unit, future.result())
                    elif tried[unit.key] < TRIES:
                        waiting.append(unit)
                    else:
                        on_done(unit, [_given_up(unit, future.exception())])
        finally:
            self._client.cancel(list(under_way))
        return left

    def _submit(self, waiting: deque[Unit], under_way: dict[Any, Unit]) -> Iterable[Unit]:
        """So many that no worker waits, and no more: the order and the deadline stay ours."""
        room = 2 * sum(one.threads for one in self._offers.values()) + 1
        unable = []
        while waiting and len(under_way) < room:
            unit = waiting.popleft()
            workers = self._able(unit)
            if not workers:
                unable.append(unit)
                continue
            future = self._client.submit(
                perform, unit, workers=workers, pure=False, retries=RETRIES,
                key=f"wardian-{unit.key}-{time.monotonic_ns()}",
            )  # fmt: skip
            under_way[future] = unit
        return unable

    def _ended(self, under_way: Mapping[Any, Unit]) -> list[Any]:
        """Those that ended; waits a moment for one."""
        from distributed import wait

        if not under_way:
            return []
        with contextlib.suppress(TimeoutError), self._client.as_current():
            wait(list(under_way), timeout=ASKED_EVERY_S, return_when="FIRST_COMPLETED")
        ended = [future for future in under_way if future.status != "pending"]
        gone = [
            future
            for future, unit in under_way.items()
            if future.status == "pending" and not self._able(unit)
        ]
        for future in gone:  # all who could do it are lost: it is given to others, or left
            future.cancel()
        return [*ended, *gone]


def _given_up(unit: Unit, error: BaseException) -> Produced:
    """The outcome of a unit that crashed every worker that tried it, or could not begin."""
    return Produced(unit.case, Outcome("error", f"no worker could do it: {error}"), 0.0, now())
