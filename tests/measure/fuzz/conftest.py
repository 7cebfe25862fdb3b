"""Programs by hand, and the places where they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.measure.probes.conftest import probe
from wardian.measure.fuzz.campaign import FuzzCampaign
from wardian.measure.fuzz.program import AT, NUMBER, Arg, CallSequence, CallStep, slot
from wardian.measure.fuzz.sides import Side, executor, oracle
from wardian.measure.fuzz.state import State
from wardian.measure.fuzz.wire import Behaviour
from wardian.measure.probes.building import compiler
from wardian.measure.target import MakeSandbox, create, target
from wardian.sandbox.host import this_host

__all__ = ["probe"]

ARCH = this_host().arch
MakeCampaign = Callable[..., FuzzCampaign]


@pytest.fixture(scope="session", autouse=True)
def built_executor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compiled once for all of these tests."""
    if compiler() is None:
        pytest.skip("cc is not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        executor()
        yield


@pytest.fixture
def host() -> Iterator[Side]:
    """The oracle."""
    side = oracle(executor(), ARCH)
    yield side
    side.close()


@pytest.fixture
def make_campaign(tmp_path: Path) -> Iterator[MakeCampaign]:
    """``make_campaign("wardian", seed=1)``; all of them are closed after the test."""
    made: list[FuzzCampaign] = []

    def make(
        sandbox: str = "wardian",
        *,
        seed: int = 1,
        calls: tuple[str, ...] = (),
        maker: MakeSandbox = create,
        state: State | None = None,
    ) -> FuzzCampaign:
        where = target(sandbox)._replace(make=maker)
        out = str(tmp_path / "probes")
        made.append(FuzzCampaign(where, state or State(sandbox, seed, calls), out, ARCH))
        return made[-1]

    yield make
    for one in made:
        one.__exit__()


def program(*calls: tuple[object, ...]) -> CallSequence:
    """``program(("openat", -100, b"f", 0))``: bytes are put into memory, numbers are themselves."""
    made, image = [], []
    for index, (name, *values) in enumerate(calls):
        args = []
        for place, value in enumerate(values):
            if isinstance(value, bytes):
                image.append((slot(index, place), value + b"\0"))
                args.append(Arg(AT, slot(index, place)))
            else:
                assert isinstance(value, (int, Arg))
                args.append(value if isinstance(value, Arg) else Arg(NUMBER, value))
        made.append(CallStep(str(name), tuple(args)))
    return CallSequence(tuple(made), tuple(image))


def answers(side: Side, *calls: tuple[object, ...]) -> list[int]:
    """What each call answered."""
    return results(side.run([program(*calls)])[0])


def results(outcome: Behaviour | None) -> list[int]:
    assert outcome is not None
    return [answer.result for answer in outcome.answers]
